"""Answers meet their documents however accents are stored and blanks are written, and never two the same one."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable
from pathlib import Path

import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.datasets.identity import without_blanks
from histeval.errors import AnswersError
from histeval.runs import score

NAMES = ("Blatt ü10", "Seite 1", "Seite 2")


def folder(place: Path, form: str) -> Path:
    (place / "ground_truths").mkdir(parents=True)
    (place / "dataset.toml").write_text('task = "manuscripts"\n')
    for name in NAMES:
        file = place / "ground_truths" / f"{unicodedata.normalize(form, name)}.json"
        file.write_text(json.dumps({"folios": [{"folio": "", "text": name, "addition1": ""}]}))
    return place


@pytest.fixture(params=["NFC", "NFD"])
def dataset(request: pytest.FixtureRequest, tmp_path: Path) -> Dataset:
    return load_dataset("manuscripts", folder(tmp_path / "pages", request.param))


def right(names: list[str]) -> list[dict[str, object]]:
    return [
        {"document": given, "record": {"folios": [{"text": name}]}} for given, name in zip(names, NAMES, strict=True)
    ]


@pytest.mark.parametrize(
    "written",
    [
        lambda name: unicodedata.normalize("NFC", name),
        lambda name: unicodedata.normalize("NFD", name),
        without_blanks,
        lambda name: unicodedata.normalize("NFD", without_blanks(name)),
    ],
)
def test_spelling_of_ids_costs_no_answer(written: Callable[[str], str], dataset: Dataset, tmp_path: Path) -> None:
    answers = right([written(name) for name in NAMES])
    file = tmp_path / "answers.jsonl"
    file.write_text("\n".join(map(json.dumps, answers)))
    for given in (answers, file):
        result = score("manuscripts", dataset, given)
        assert (result.values["fuzzy"], result.failed) == (1.0, 0)
        other = sum(answer["document"] not in dataset.documents for answer in answers)
        said = [note for note in result.notes if "were matched" in note]
        assert len(said) == (other > 0)
        shown = [note.split("matched")[1].split("'")[1::2] for note in said]
        assert all(one != other and (one.isascii() or " " in other) for one, other in shown)
        assert all(f"alone were matched: {other}, " in note for note in said)


def test_two_answers_never_become_those_of_one_document(dataset: Dataset) -> None:
    answers = [*right(list(dataset.documents)), {"document": "Seite_1", "record": {"folios": []}}]
    result = score("manuscripts", dataset, answers)
    assert result.values["fuzzy"] == 1.0
    assert any("Seite_1" in note and "left out" in note for note in result.notes)
    alike = [{"document": name, "text": "{}"} for name in ("Seite_1", "Seite\u00a01")]
    with pytest.raises(AnswersError, match="none of its 2 answers"):
        score("manuscripts", dataset, alike)


def test_ids_that_differ_in_more_stay_unknown(dataset: Dataset) -> None:
    with pytest.raises(AnswersError, match="Seite 3"):
        score("manuscripts", dataset, [{"document": "Seite 3", "text": "{}"}])
