"""What belongs to a part of a run is said of that part: costs, failures, notes; and repeats weigh alike."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.runs import compare_scores, score, score_paths
from histeval.runs.score import Score
from histeval.tasks import get_task
from samples import LETTERS, RIGHT, write_letters

LEFT_OUT = {"failed_answers": "left_out"}


@pytest.fixture
def dataset(tmp_path: Path) -> Dataset:
    return load_dataset("letters", write_letters(tmp_path / "letters"))


def lines(place: Path, values: list[dict[str, Any]]) -> Path:
    place.write_text("\n".join(map(json.dumps, values)))
    return place


def priced(name: str, repeat: int = 0, **more: Any) -> dict[str, Any]:
    number = int(name[-2:])
    answer = {"document": name, "repeat": repeat, "cost": number / 8, "seconds": number, "usage": {"input_tokens": 1}}
    return {**answer, **({"record": RIGHT[name]} if "error" not in more else {}), **more}


def totals(result: Score) -> dict[str, Any]:
    return {key: result.as_json()[key] for key in ("cost", "seconds", "usage")}


def test_costs_seconds_and_tokens_of_groups_add_up_to_those_of_the_run(dataset: Dataset, tmp_path: Path) -> None:
    file = lines(tmp_path / "a.jsonl", [priced(name) for name in RIGHT])
    task = get_task("letters")
    (whole,) = score_paths(task, dataset, [file])
    for key in ("signed", "document", "unit"):
        parts = [totals(part) for part in score_paths(task, dataset, [file], by=key)]
        assert len(parts) > 1
        assert math.fsum(part["cost"] for part in parts) == totals(whole)["cost"] == sum(range(1, len(RIGHT) + 1)) / 8
        assert math.fsum(part["seconds"] for part in parts) == totals(whole)["seconds"]
        assert sum(part["usage"]["input_tokens"] for part in parts) == len(RIGHT)


def test_failures_left_out_are_counted_in_every_repeat_and_in_their_group(dataset: Dataset, tmp_path: Path) -> None:
    answers = [priced(name, repeat) for name in RIGHT for repeat in (0, 1)]
    answers = [a for a in answers if (a["document"], a["repeat"]) not in {("letter01", 1), ("letter02", 0)}]
    answers += [priced("letter01", 1, error="timeout"), priced("letter02", 0, error="timeout")]
    file = lines(tmp_path / "a.jsonl", answers)
    task = get_task("letters")
    (whole,) = score_paths(task, dataset, [file], rules=LEFT_OUT)
    assert "2 failed answers were left out (failed_answers=left_out)" in whole.notes
    assert whole.documents == whole.units == 3
    assert set(whole.as_json(per_document=True)["per_document"]) == set(RIGHT)
    assert "|n=3|repeats=2|" in str(whole.signature)
    signed, unsigned = score_paths(task, dataset, [file], rules=LEFT_OUT, by="signed")
    for part in (signed, unsigned):
        assert "1 failed answers were left out (failed_answers=left_out)" in part.notes


@pytest.mark.parametrize(
    ("chosen", "said"),
    [
        (["letter01"], "only one sampling unit (document): from one alone there is neither an interval nor a test"),
        (["letter01", "letter02"], "only 2 sampling units (document): intervals and tests are rough below 20"),
    ],
)
def test_few_units_are_said_as_what_they_are(chosen: list[str], said: str, dataset: Dataset) -> None:
    assert [note for note in score("letters", dataset, RIGHT, documents=chosen).notes if "unit" in note] == [said]


def test_nothing_left_to_score_is_said(dataset: Dataset) -> None:
    result = score("letters", dataset, [{"document": "letter01", "error": "x"}], rules=LEFT_OUT, documents=["letter01"])
    assert (result.documents, result.units) == (0, 0)
    assert "no answer is left to be scored: the numbers say nothing" in result.notes


def test_runs_of_unequal_repeats_weigh_alike_in_a_test(tmp_path: Path) -> None:
    """The slow twin: every run written down as if asked six times."""
    rng = np.random.default_rng(8)
    ids = [f"letter{number:02}" for number in range(1, 13)]
    letters = {name: {**LETTERS["letter01"], "letter_title": ["None"]} for name in ids}
    dataset = load_dataset("letters", write_letters(tmp_path / "twelve", letters))

    def answers(repeats: int, right: float) -> list[dict[str, Any]]:
        return [
            {"document": name, "repeat": n, "record": RIGHT["letter01"] if rng.random() < right else {"send_date": "x"}}
            for n in range(repeats)
            for name in ids
        ]

    def as_six(values: list[dict[str, Any]]) -> list[dict[str, Any]]:
        asked = max(line["repeat"] for line in values) + 1
        return [{**line, "repeat": line["repeat"] + asked * n} for line in values for n in range(6 // asked)]

    def found(name: str, *runs: list[dict[str, Any]]) -> list[tuple[Any, ...]]:
        files = [lines(tmp_path / f"{name}{number}.jsonl", values) for number, values in enumerate(runs)]
        pairs = compare_scores(list(score_paths(get_task("letters"), dataset, files))).pairs
        return [(pair.metric, pair.difference, pair.low, pair.high, pair.p, pair.p_corrected) for pair in pairs]

    runs = answers(1, 0.8), answers(3, 0.5), answers(2, 0.4)
    assert found("as_asked", *runs) == found("six", *map(as_six, runs))


def test_a_failure_is_told_with_its_words_in_every_task(tmp_path: Path) -> None:
    from histeval.tasks.description import Context

    bad = {
        "letters": ({"error": "429: too many requests"}, "429: too many requests"),
        "manuscripts": ({"text": '{"pages": []}'}, "pages"),
        "directories": ({"record": {"tokens": ["a", "b"], "level1": ["O"]}}, "level1 has 1 tags for 2 tokens"),
    }
    for name, (answer, words) in bad.items():
        task = get_task(name)
        from histeval.runs.answers import answer_from

        scorer = task.scorer(Context(task.default_description()), task.protocol())
        reading = scorer.read(answer_from({"document": "1", **answer}, tmp_path, 1))
        assert reading.failure
        assert words in reading.detail


def test_the_words_of_a_failure_and_what_was_mended_stand_in_the_json(dataset: Dataset) -> None:
    found = score(
        "letters",
        dataset,
        [
            {"document": "letter01", "error": "429: too many requests"},
            {"document": "letter02", "text": '```json\n{"send_date": ["1931-05-09"],}\n```'},
        ],
    ).as_json(per_document=True)["per_document"]
    assert found["letter01"]["failure"] == "provider_error"
    assert found["letter01"]["detail"] == "429: too many requests"
    assert "trailing comma" in found["letter02"]["notes"]
    assert "detail" not in found["letter02"]
    assert found["letter03"]["detail"]
