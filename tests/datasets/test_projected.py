"""Datasets carried onto another text: what is written, what is dropped, and wrong input."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pytest

from histeval.datasets import load_dataset
from histeval.datasets.bundled import bundled
from histeval.datasets.projected import project_dataset, read_noisy
from histeval.entities.projection import project
from histeval.errors import DatasetError, UsageError


def noisy_file(folder: Path, texts: dict[str, str]) -> Path:
    path = folder / "noisy.jsonl"
    path.write_text("".join(json.dumps({"id": key, "text": text}) + "\n" for key, text in texts.items()))
    return path


def test_a_dataset_is_carried_over_and_losses_are_listed(tmp_path: Path) -> None:
    data = load_dataset("directories", bundled("directories"), split="all")
    texts = {key: document.text or "" for key, document in data.documents.items()}
    first, second, third = list(texts)[:3]
    texts[first] = texts[first].upper().replace(",", ".")
    texts[second] = "?"
    del texts[third]
    made = project_dataset(bundled("directories"), noisy_file(tmp_path, texts | {"other": "x"}), tmp_path / "out")
    assert made.entries == len(data.documents) - 2
    assert [key for key, _ in made.dropped] == [second, third]
    assert made.notes == ("1 entries have no noisy text", "1 noisy texts belong to no entry: other")
    carried = load_dataset("directories", tmp_path / "out", split="all")
    assert carried.documents[first].truth.spans == project(data.documents[first].truth, texts[first]).attempt.spans
    assert carried.description.types == data.description.types
    assert all(carried.documents[key].unit == data.documents[key].unit for key in carried.documents)
    assert len(load_dataset("directories", tmp_path / "out", split="train").documents) > 10
    with open(tmp_path / "out" / "dropped.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["id"] for row in rows] == [second, third]
    assert "has no text left" in rows[0]["reason"]
    with pytest.raises(UsageError, match="exists already"):
        project_dataset(bundled("directories"), tmp_path / "noisy.jsonl", tmp_path / "out")


def test_texts_from_csv(tmp_path: Path) -> None:
    path = tmp_path / "noisy.csv"
    path.write_text('id,text\n1,"Dufay, r. Denis"\n2,=1+1\n', encoding="utf-8")
    assert read_noisy(path) == {"1": "Dufay, r. Denis", "2": "=1+1"}


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.csv", "id,words\n1,x\n", "has no column text"),
        ("a.csv", "number,text\n1,x\n", "has no column of ids"),
        ("a.csv", "id,text\n1,x\n1,y\n", "line 3.*stands a second time"),
        ("a.csv", "id,text\n,y\n", "an empty id"),
        ("a.jsonl", '{"id": "1"}\n', "line 1.*has no text"),
        ("a.jsonl", '{"id": "1", "text": "a"}\n{"id": "1", "text": "b"}\n', "stands a second time"),
        ("a.jsonl", '{"id": "1", "text": "' + "a" * 1_000_001 + '"}\n', "1000001 characters"),
    ],
)
def test_wrong_texts_are_one_sentence(name: str, content: str, words: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    with pytest.raises(DatasetError, match=words):
        read_noisy(tmp_path / name)


def test_texts_of_other_entries(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no text for any entry"):
        project_dataset(bundled("directories"), noisy_file(tmp_path, {"zzz": "x"}), tmp_path / "out")
    assert not (tmp_path / "out").exists()
