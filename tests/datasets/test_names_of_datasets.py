"""Datasets are called as their people call them, in any script; what stands in signatures and paths is refused."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval import load_dataset, score
from histeval.datasets import check, initialise
from histeval.datasets.identity import dataset_name, is_dataset_name
from histeval.datasets.transfer import import_dataset
from support import examples

GOOD = ("pekárny", "Ægir.2", "ベーカリー", "мукá", "बेकरी", "מאפייה", "rope-1_a", "1931")
BAD = ("a|b", "a/b", "..", "../x", "a\\b", "a b", "a@b", "a\u202eb", "-x", ".x", "x" * 81, "a\tb", "a\u200db")


@pytest.mark.parametrize("name", GOOD)
def test_any_script(make: Any, name: str) -> None:
    name = unicodedata.normalize("NFC", name)
    toml = f'task = "manuscripts"\nname = "{name}"\nlicence = "CC0"\nlanguages = ["cs"]\n'
    folder = make({"dataset.toml": toml, "ground_truths/a.json": {"folios": [{"folio": "", "text": "x"}]}})
    assert [fault for fault in check("manuscripts", folder) if fault.error] == []
    found = load_dataset("manuscripts", folder)
    assert found.name == name
    answer = {"a": {"folios": [{"folio": "", "text": "x"}]}}
    assert f"|{name}@" in score("manuscripts", found, answer).as_json()["signature"]


@pytest.mark.parametrize("name", [*BAD, unicodedata.normalize("NFD", "pekárny")])
def test_what_no_name_can_be(make: Any, name: str) -> None:
    escaped = "".join(c if c.isascii() and c.isprintable() and c != "\\" else f"\\u{ord(c):04x}" for c in name)
    folder = make({"dataset.toml": f'task = "manuscripts"\nname = "{escaped}"\n'})
    (fault,) = [fault for fault in check("manuscripts", folder) if fault.item == "name"]
    usable = fault.remedy.removeprefix('Write name = "').removesuffix('"')
    assert is_dataset_name(usable)


@pytest.mark.parametrize("task", ["letters", "manuscripts", "directories"])
def test_folders_keep_their_accents(tmp_path: Path, task: str) -> None:
    folder = tmp_path / unicodedata.normalize("NFD", "Böse Briefe 1")
    folder.mkdir()
    initialise(task, folder)
    assert 'name = "Böse_Briefe_1"\ntitle = "Böse Briefe 1"\n' in (folder / "dataset.toml").read_text("utf-8")


def test_imports_keep_them_too(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Nr;Absender\n1;Sá\n", encoding="utf-8")
    (tmp_path / "a.txt").write_text("Sá\n", encoding="utf-8")
    (tmp_path / "a.conll").write_text("Sá\tB-PER\n", encoding="utf-8")
    for task, name in (("letters", "a.csv"), ("manuscripts", "a.txt"), ("directories", "a.conll")):
        out = tmp_path / f"Žďár nad {task}"
        import_dataset(task, [tmp_path / name], out)
        assert load_dataset(task, out).name == f"Žďár_nad_{task}"


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=100))
def test_a_made_name_can_always_be_one(text: str) -> None:
    assert is_dataset_name(dataset_name(text, "letters"))
    if is_dataset_name(text) and text[-1] not in "._-":
        assert dataset_name(text, "letters") == text
