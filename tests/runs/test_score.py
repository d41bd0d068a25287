"""Scores of runs: selection, groups, repeats, signatures, notes."""

from __future__ import annotations

import json
import re
import unicodedata
from pathlib import Path

import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.errors import AnswersError, UsageError
from histeval.runs import compare_scores, score, score_paths
from histeval.tasks import get_task
from samples import RIGHT, write_answers, write_letters


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("letters", write_letters(tmp_path / "letters"))


WRONG = {"letter01": {"send_date": ["1931-05-05"], "sender_persons": ["Frau Holm"], "receiver_persons": None}}


def test_a_document_without_an_answer_is_missed(dataset: Dataset) -> None:
    result = score("letters", dataset, WRONG)
    assert result.failures == {"missing": 2}
    counts = result.as_json()["counts"]
    assert [counts[f"send_date_{kind}"] for kind in ("tp", "fp", "fn")] == [0, 1, 3]


def test_failed_answers_can_be_left_out(dataset: Dataset) -> None:
    result = score("letters", dataset, WRONG, rules={"failed_answers": "left_out"})
    assert (result.documents, result.failed) == (1, 0)


def test_selection_by_list_and_attribute(dataset: Dataset) -> None:
    assert score("letters", dataset, RIGHT, documents=["letter02"]).documents == 1
    signed = score("letters", dataset, RIGHT, where={"signed": "true"})
    assert list(signed.tables[0].documents) == ["letter01", "letter03"]
    assert "|where=signed:true|" in str(signed.signature)
    with pytest.raises(UsageError, match="letter99"):
        score("letters", dataset, RIGHT, documents=["letter99"])
    with pytest.raises(UsageError, match="no attribute 'ink'"):
        score("letters", dataset, RIGHT, where={"ink": "red"})
    with pytest.raises(UsageError, match="nothing to score"):
        score("letters", dataset, RIGHT, where={"signed": "perhaps"})


def test_groups_add_up_to_the_whole(dataset: Dataset, tmp_path: Path) -> None:
    file = write_answers(tmp_path / "a.jsonl", {**RIGHT, **WRONG})
    task = get_task("letters")
    (whole,) = score_paths(task, dataset, [file])
    parts = list(score_paths(task, dataset, [file], by="signed"))
    assert [part.group for part in parts] == [{"signed": "true"}, {"signed": "false"}]
    assert sum(part.sums for part in parts).tolist() == whole.sums.tolist()


def test_repeats_are_scored_by_themselves(dataset: Dataset, tmp_path: Path) -> None:
    lines = [{"document": name, "repeat": 0, "record": record} for name, record in RIGHT.items()]
    lines += [{"document": name, "repeat": 1, "record": record} for name, record in {**RIGHT, **WRONG}.items()]
    file = tmp_path / "a.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    result = score("letters", dataset, file)
    alone = score("letters", dataset, {**RIGHT, **WRONG})
    assert result.values["f1_micro"] == pytest.approx((1.0 + alone.values["f1_micro"]) / 2)  # type: ignore[operator]
    assert result.spread["f1_micro"] > 0
    assert result.as_json()["repeats"] == 2
    assert "|repeats=2|" in str(result.signature)


def test_the_signature_is_the_documented_line_and_reads_back(dataset: Dataset) -> None:
    result = score("letters", dataset, RIGHT, rules={"rounding": "2"})
    assert re.fullmatch(
        r"letters\|documented,rounding=2\|letters@[0-9a-f]{6}\|n=3\|unit=document"
        r"\|ci=expanded,10000,seed1\|histeval=\d+\.\d+\.\d+",
        str(result.signature),
    )
    task = get_task("letters")
    protocol = result.scorer.protocol
    long = "|".join(result.signature.long.split("|")[:2])
    assert task.parse_protocol(long) == protocol
    assert task.parse_protocol(protocol.short) == protocol


@pytest.mark.parametrize("name", ["letters", "manuscripts", "directories"])
@pytest.mark.parametrize("protocol", ["documented", "published", "corrected"])
def test_every_protocol_reads_back_from_its_text(name: str, protocol: str) -> None:
    task = get_task(name)
    made = task.protocol(protocol)
    assert task.parse_protocol(made.long) == made
    assert task.parse_protocol(made.short) == made


def test_few_units_are_said(dataset: Dataset) -> None:
    assert any("only 3 sampling units" in note for note in score("letters", dataset, RIGHT).notes)


def test_unknown_answers_are_counted_in_a_note(dataset: Dataset) -> None:
    notes = score("letters", dataset, {**RIGHT, "letter77": {}}).notes
    assert any(note.startswith("1 answers for documents that letters does not have") for note in notes)


def test_json_is_never_nan_and_holds_the_contract(dataset: Dataset) -> None:
    value = score("letters", dataset, RIGHT, protocol="corrected").as_json(per_document=True)
    again = json.loads(json.dumps(value, allow_nan=False))
    for key in [
        "run",
        "task",
        "dataset",
        "protocol",
        "signature",
        "documents",
        "failed",
        "units",
        "suspect",
        "metrics",
        "counts",
        "per_document",
    ]:
        assert key in again
    assert set(again["per_document"]["letter01"]) >= {"counts", "failure", "fields"}
    assert set(again["metrics"]["f1_macro"]) == {"value", "low", "high"}


def test_comparison(dataset: Dataset, tmp_path: Path) -> None:
    files = [write_answers(tmp_path / "a.jsonl"), write_answers(tmp_path / "b.jsonl", {**RIGHT, **WRONG})]
    scores = list(score_paths(get_task("letters"), dataset, files))
    result = compare_scores(scores)
    assert [(pair.a, pair.b) for pair in result.pairs] == [(str(files[1]), str(files[0]))] * len(result.pairs)
    assert set(result.pairs[0].as_json()) == {"a", "b", "metric", "difference", "low", "high", "p", "p_corrected"}
    assert result.pairs[0].difference is not None
    assert result.pairs[0].difference < 0
    every = compare_scores(scores, all_pairs=True)
    assert set(every.ranks) == {str(file) for file in files}
    with pytest.raises(UsageError, match="at least two"):
        compare_scores(scores[:1])
    with pytest.raises(UsageError, match="given twice"):
        compare_scores([scores[0], scores[0]])
    with pytest.raises(UsageError, match="baseline"):
        compare_scores(scores, baseline="nobody")


def test_other_documents_are_not_compared(dataset: Dataset, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for folder, names in ((one, list(RIGHT)), (two, ["letter01"])):
        folder.mkdir()
        (folder / "run.json").write_text(json.dumps({"documents": names}))
        write_answers(folder / "answers.jsonl", {name: RIGHT[name] for name in names})
    scores = list(score_paths(get_task("letters"), dataset, [one, two]))
    assert [found.documents for found in scores] == [3, 1]
    with pytest.raises(UsageError, match="not scored on the same documents"):
        compare_scores(scores)


def test_listed_documents_stand_in_the_signature(dataset: Dataset) -> None:
    one, other, whole = (
        str(score("letters", dataset, RIGHT, documents=names).signature)
        for names in (["letter01", "letter02"], ["letter02", "letter03"], list(RIGHT))
    )
    assert "|documents=" in one
    assert one != other
    assert "|documents=" not in whole


SPELLINGS = [
    "letter1", "Letter01", "letter01.jpg", "letter01_p1.jpg", "01", "1", " letter01 ", "images/letter01.json",
]  # fmt: skip


@pytest.mark.parametrize("name", SPELLINGS)
def test_an_id_in_another_spelling_is_named(name: str, dataset: Dataset) -> None:
    notes = score("letters", dataset, {**RIGHT, name: {}}).notes
    assert any(f"{name!r} (is it 'letter01'?)" in note for note in notes)


def test_ids_differ_in_how_accents_are_stored(tmp_path: Path) -> None:
    letters = {unicodedata.normalize("NFC", "fólio1"): RIGHT["letter01"]}
    accented = load_dataset("letters", write_letters(tmp_path / "accented", letters))
    result = score("letters", accented, {unicodedata.normalize("NFD", "fólio1"): RIGHT["letter01"]})
    assert result.failed == 0
    assert any("in accents, blanks or signs alone were matched: 1" in note for note in result.notes)


def test_answers_of_another_dataset_are_no_score(dataset: Dataset) -> None:
    with pytest.raises(AnswersError, match="none of its 2 answers is for a document of letters"):
        score("letters", dataset, {"image_1": {}, "image_2": {}})
