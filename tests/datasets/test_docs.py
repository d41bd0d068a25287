"""The examples of docs/datasets.md are read as they stand."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import load_dataset
from histeval.datasets.settings import examine_settings

DOCS = Path(__file__).resolve().parents[2] / "docs" / "datasets.md"


def blocks() -> list[str]:
    return re.findall(r"```toml\n(.*?)```", DOCS.read_text(encoding="utf-8"), re.DOTALL)


@pytest.mark.parametrize("number", [0, 1])
def test_the_examples_of_dataset_toml_have_no_mistake(make: Any, number: int) -> None:
    text = blocks()[number]
    settings, faults = examine_settings(make({"dataset.toml": text, "prompt.txt": "Read."}))
    assert faults == []
    assert settings.description.name in ("harbour_letters", "bakers")


def test_every_setting_is_documented() -> None:
    from histeval.datasets import settings

    text = "\n".join(blocks())
    for key in {*settings._TOP, *settings._FIELD, *settings._TYPE, *settings._TRUTH} - {
        "extra",
        "prompt",
        "title",
        "text",
    }:
        assert re.search(rf"\b{key}\b", text), key


def test_the_lines_of_entries(make: Any) -> None:
    lines = [line.strip() for line in DOCS.read_text(encoding="utf-8").splitlines() if line.startswith('    {"id"')]
    folder = make(
        {"dataset.toml": 'task = "directories"\nname = "x"\nunit = "page"\n', "entries.jsonl": "\n".join(lines)}
    )
    dataset = load_dataset("directories", folder)
    assert [len(document.truth.spans) for document in dataset.documents.values()] == [3, 1]
    assert {document.unit for document in dataset.documents.values()} == {"3"}
