"""Every shape in which answers come, read alike."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.errors import AnswersError
from histeval.runs import open_answers, score
from samples import RIGHT, write_answers, write_letters


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("letters", write_letters(tmp_path / "benchmarks" / "letters"))


def request(folder: Path, document: str, **fields: object) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"request_T0900_{document}.json").write_text(json.dumps(fields), encoding="utf-8")


ERAS = {
    "March 2025, an object": lambda record: {"response_text": record, "test_time": 2.5, "scores": {}},
    "March 2025, a text": lambda record: {"response_text": json.dumps(record), "execution_time": "2025-03-05T10:00:00"},
    "September 2025": lambda record: {"response_text": json.dumps(record), "raw": {}, "usage": {"input_tokens": 7}},
    "migrated, an object": lambda record: {"text": "", "parsed": record, "finish_reason": "stop"},
    "migrated, a text": lambda record: {
        "text": json.dumps(record),
        "duration": 1.0,
        "timestamp": "2025-04-01T14:38:00",
    },
    "November 2025": lambda record: {
        "text": json.dumps(record),
        "parsed": {"metadata": {**record, "document_number": "letter01"}},
        "usage": {"input_tokens": 7, "estimated_cost_usd": 0.01},
        "score": {"send_date_tp": 99},
        "raw_response": "",
    },
    "September 2026": lambda record: {"text": json.dumps(record), "parsed": record, "field_scores": {"send_date": 0}},
}


@pytest.mark.parametrize("era", ERAS)
def test_a_published_folder_of_any_era_scores_alike(era: str, dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "results" / "2025-01-01" / "T0900"
    for document, record in RIGHT.items():
        request(folder, document, **ERAS[era](record))
    (folder / "scoring.json").write_text('{"f1_macro": 0.0}', encoding="utf-8")
    result = score("letters", dataset, folder)
    assert (result.documents, result.failed, result.values["f1_micro"]) == (3, 0, 1.0)


def test_an_error_of_a_published_run_is_a_failure(dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "T0900"
    request(folder, "letter01", response_text="", error=True, error_message="quota exceeded")
    request(folder, "letter02", response_text="", error="JSONDecodeError", error_message="line 1")
    (run,) = open_answers(folder, dataset)
    assert run.answers["letter01", 0].error == "quota exceeded"
    assert run.answers["letter02", 0].error == "JSONDecodeError line 1"
    result = score("letters", dataset, folder)
    assert (result.failed, result.failures) == (3, {"provider_error": 2, "missing": 1})


def test_the_subset_of_a_published_run_comes_from_the_tests_file(dataset: Dataset, tmp_path: Path) -> None:
    table = dataset.path.parent / "benchmarks_tests.csv"
    table.write_text(
        'id,rules\nT0900,"{""skip_signatures"": true, ""skip_non_signatures"": false}"\n', encoding="utf-8"
    )
    folder = tmp_path / "T0900"
    for document, record in RIGHT.items():
        request(folder, document, text=json.dumps(record))
    result = score("letters", dataset, folder, protocol="published")
    assert list(result.tables[0].documents) == ["letter02"]
    assert "skip_signatures=true" in str(result.signature)
    assert "2 answers to documents outside the selection were left out" in result.notes


def test_a_file_of_many_runs(dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "runs.jsonl"
    answers = {name: {"json": record} for name, record in RIGHT.items()}
    runs = [
        {"run_id": "a", "provider": "p", "model": "m", "answers": answers, "final": {"f1_micro": 0.1}},
        {"run_id": "b", "rules": {"skip_non_signatures": True}, "answers": {"letter01": {"error": "timeout"}}},
    ]
    file.write_text("\n".join(map(json.dumps, runs)), encoding="utf-8")
    first, second = open_answers(file, dataset)
    assert (first.run, first.facts) == ("a", {"provider": "p", "model": "m"})
    assert (second.run, second.rules) == ("b", {"skip_non_signatures": True})
    with pytest.raises(Exception, match="holds 2 runs"):
        score("letters", dataset, file)


BROKEN_LINES = {
    "truncated": ('{"document": "letter01", "rec', "line 2"),
    "a list": ("[1]", "is not an object"),
    "no document": ('{"record": {}}', 'has no "document"'),
    "nothing said": ('{"document": "letter02"}', "neither"),
    "answered twice": ('{"document": "letter01", "text": ""}', "second time"),
    "deeply nested": ('{"document": "letter02", "record": ' + "[" * 5000 + "]" * 5000 + "}", "nested"),
    "a run among answers": ('{"run_id": "x", "answers": {}}', 'has no "document"'),
}


@pytest.mark.parametrize("case", BROKEN_LINES)
def test_a_broken_line_is_named(case: str, dataset: Dataset, tmp_path: Path) -> None:
    line, words = BROKEN_LINES[case]
    file = tmp_path / "answers.jsonl"
    file.write_text('{"document": "letter01", "text": "{}"}\n' + line + "\n", encoding="utf-8")
    with pytest.raises(AnswersError, match="line 2") as fault:
        open_answers(file, dataset)
    assert words in str(fault.value)


def test_numbers_as_ids_and_odd_values_are_read(dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_text('{"document": 7, "text": {"a": 1}, "cost": -1, "seconds": true, "usage": [1], "repeat": "x"}\n')
    (run,) = open_answers(file, dataset)
    answer = run.answers["7", 0]
    assert (answer.record, answer.cost, answer.seconds, answer.usage) == ({"a": 1}, None, None, {})


def test_an_empty_folder_and_an_empty_file_are_refused(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "empty.jsonl").write_text("\n")
    for place in ("empty", "empty.jsonl", "absent.jsonl"):
        with pytest.raises(AnswersError, match=place):
            open_answers(tmp_path / place, dataset)


def test_columns_belong_to_directories(dataset: Dataset, tmp_path: Path) -> None:
    file = tmp_path / "answers.conll"
    file.write_text("a\tO\tO\n")
    with pytest.raises(AnswersError, match="directories"):
        open_answers(file, dataset)


def test_answers_in_memory(dataset: Dataset) -> None:
    by_text = score("letters", dataset, {name: json.dumps(record) for name, record in RIGHT.items()})
    by_line = score("letters", dataset, [{"document": name, "record": record} for name, record in RIGHT.items()])
    assert by_text.values == by_line.values
    assert by_text.values["f1_micro"] == 1.0
    with pytest.raises(AnswersError, match="twice"):
        score("letters", dataset, [{"document": "letter01", "text": ""}] * 2)


def test_the_order_of_answers_changes_nothing(dataset: Dataset, tmp_path: Path) -> None:
    forward = write_answers(tmp_path / "a.jsonl")
    backward = write_answers(tmp_path / "b.jsonl", dict(reversed(RIGHT.items())))
    first, second = (score("letters", dataset, file).as_json(per_document=True) for file in (forward, backward))
    assert {**first, "run": ""} == {**second, "run": ""}


@pytest.mark.parametrize("torn", ["", '{"document": "let', '{"document": "letter01", "repeat": 0'])
def test_a_torn_last_line_of_a_run_is_said(torn: str, dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "run.json").write_text("{}")
    whole = {"document": "letter01", "repeat": 0, "state": "answered", "cost": None, "text": "{}"}
    (folder / "answers.jsonl").write_text(json.dumps(whole) + "\n" + torn)
    (run,) = open_answers(folder, dataset)
    assert list(run.answers) == [("letter01", 0)]
    assert any("torn off and is left out" in note for note in run.notes) == bool(torn)


def test_what_a_run_noted_is_said_with_its_scores(dataset: Dataset, tmp_path: Path) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "answers.jsonl").write_text('{"document": "letter01", "text": "{}"}\n', encoding="utf-8")
    facts = {"task": "letters", "system": "a/b", "notes": ["asked without temperature", 7, None]}
    (folder / "run.json").write_text(json.dumps(facts), encoding="utf-8")
    assert open_answers(folder, dataset)[0].notes == ("asked without temperature",)
    assert "asked without temperature" in score("letters", dataset, folder).notes
    (folder / "run.json").write_text(json.dumps({**facts, "notes": "no list"}), encoding="utf-8")
    assert open_answers(folder, dataset)[0].notes == ()


def test_an_error_beside_an_answer_counts_and_is_said(dataset: Dataset, tmp_path: Path) -> None:
    both = [
        {"document": "letter01", "error": "cut_off", "text": "{"},
        {"document": "letter02", "error": "refused", "record": {}},
        {"document": "letter03", "error": "refused", "text": ""},
        {"document": "letter04", "text": "{}"},
    ]
    file = tmp_path / "answers.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in both), encoding="utf-8")
    (run,) = open_answers(file, dataset)
    assert [answer.error for answer in run.answers.values()] == ["cut_off", "refused", "refused", None]
    assert "answers with an error beside a text or record: 2; the error counts" in run.notes
    file.write_text("".join(json.dumps(line) + "\n" for line in both[2:]), encoding="utf-8")
    (run,) = open_answers(file, dataset)
    assert not [note for note in run.notes if "beside" in note]
