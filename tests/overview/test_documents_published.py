"""Document pages of the recorded runs of the published benchmarks: their numbers sum to the scores of the runs."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from document_pages import pages
from support import DATA, needs_data

RISE = DATA / "rise" / "benchmarks"
RECORDED = DATA / "recorded_answers"


def some_runs(kind: str, file: Path, every: int) -> Path:
    """Every so manieth recorded run, as a file of its own."""
    lines = (RECORDED / kind / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    file.write_text("\n".join(lines[::every]) + "\n", encoding="utf-8")
    return file


@needs_data
@pytest.mark.data
def test_counts_on_the_pages_of_letters_sum_to_those_of_each_run(tmp_path: Path) -> None:
    runs = some_runs("letters", tmp_path / "runs.jsonl", 12)
    made = pages("letters", RISE / "business_letters", [runs], tmp_path / "out")
    assert len(made.scores) >= 13
    totals: list[Counter[str]] = [Counter() for _ in made.scores]
    failed: Counter[int] = Counter()
    for document in made.dataset.documents:
        data = made.data(document)
        for run, place in enumerate(data["of"]):
            if place < 0:
                continue
            view = data["views"][place]
            failed[run] += "failure" in view
            for field in view["fields"]:
                for kind, number in zip(("tp", "fp", "fn"), field["counts"], strict=True):
                    totals[run][f"{field['name']}_{kind}"] += number
    for run, score in enumerate(made.scores):
        wanted = dict(zip(score.scorer.columns, score.sums.tolist(), strict=True))
        assert {column: totals[run][column] for column in wanted} == wanted
        assert failed[run] == score.failed


@needs_data
@pytest.mark.data
def test_edits_on_the_pages_of_manuscripts_are_those_of_each_run(tmp_path: Path) -> None:
    runs = some_runs("medieval", tmp_path / "runs.jsonl", 6)
    made = pages("manuscripts", RISE / "medieval_manuscripts", [runs], tmp_path / "out")
    assert len(made.scores) >= 6
    for document in made.dataset.documents:
        data = made.data(document)
        for score, place in zip(made.scores, data["of"], strict=True):
            fields = score.rows[0][document].fields
            shown = {text["name"]: text for text in data["views"][place]["texts"] if "numbers" in text}
            assert {name: dict(text["numbers"])["edits"] for name, text in shown.items()} == {
                name: f"{field['edits']} of {field['length']}" for name, field in fields.items()
            }
            for text in shown.values():
                for level in ("characters", "words"):
                    assert sum(number for _, number in text[level]["causes"]) == text[level]["edits"]
