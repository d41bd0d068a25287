"""The published letters runs come out exactly: counts of each letter, sums, F1, and every recorded value."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from histeval.tasks import get_task
from histeval.tasks.base import DocumentScore, Scorer
from recorded_runs import answer, letters, run_named, runs
from support import needs_data

pytestmark = [pytest.mark.data, needs_data]

COLUMNS = [f"{f}_{k}" for f in ("send_date", "sender_persons", "receiver_persons") for k in ("tp", "fp", "fn")]


def score_run(
    run: dict[str, Any], protocol: str, rules: dict[str, Any], revision: str = "r4"
) -> tuple[Scorer, dict[str, DocumentScore], dict[str, float | None]]:
    truths, context = letters(revision)
    task = get_task("letters")
    switches = {name: value for name, value in (run["rules"] or {}).items() if value}
    scorer = task.scorer(context, task.protocol(protocol, {**switches, **rules}))
    rows = {}
    for name, recorded in run["answers"].items():
        if not scorer.selects(truths[name]):
            continue
        score = scorer.score(truths[name], scorer.read(answer(name, recorded)))
        if score is not None:
            rows[name] = score
    sums = np.sum([row.counts for row in rows.values()], axis=0)
    return scorer, rows, scorer.values(list(rows.items()), sums)


def nine(scorer: Scorer, row: DocumentScore | None) -> list[int]:
    return [int(row.counts[scorer.columns.index(column)]) if row else 0 for column in COLUMNS]


def test_counts_of_every_letter_and_final_values_of_all_runs() -> None:
    assert len(runs("letters")) == 157
    for run in runs("letters"):
        scorer, rows, values = score_run(run, "published", {})
        for name, expected in run["final_counts"].items():
            assert nine(scorer, rows.get(name)) == expected, (run["run_id"], name)
        assert len(rows) == run["n"]
        assert [sum(column) for column in zip(*(nine(scorer, row) for row in rows.values()), strict=True)] == (
            run["final"]["totals"]
        )
        for name in ("f1_micro", "f1_macro"):
            assert values[name] == round(run["final"][name], 2)
        _, _, unrounded = score_run(run, "published", {"rounding": "none"})
        for name in ("f1_micro", "f1_macro"):
            assert unrounded[name] == pytest.approx(run["final"][name], abs=1e-12)


def test_recorded_values_of_all_runs_with_the_settings_of_their_day() -> None:
    for run in runs("letters"):
        settings = run["reproduces_with"]
        rules = {
            "empty_names": settings["empty_names"],
            "failed_answers": {"fn": "missed", "skip": "left_out"}[settings["errors"]],
            "inferred_from_function": settings["inferred_from_function"],
            "inferred_from_correspondence": settings["inferred_from_correspondence"],
            "rounding": settings["round"],
        }
        _, _, values = score_run(run, "published", rules, settings["gt"])
        for name, expected in run["expected"].items():
            if settings["round"] is None:
                assert values[name] == pytest.approx(expected, abs=1e-12), run["run_id"]
            else:
                assert values[name] == expected, run["run_id"]


def test_the_worked_example_of_the_documentation() -> None:
    run = run_named("letters", "2025-04-01/T0017")
    scorer, rows, _ = score_run(run, "documented", {})
    row = rows["letter01"]
    assert nine(scorer, row) == [1, 0, 0, 0, 1, 2, 1, 1, 0]
    values = scorer.values([("letter01", row)], row.counts)
    assert values["f1_micro"] == 0.5
    assert values["f1_macro"] == pytest.approx(0.5556, abs=5e-5)
    codes = {reason["name"]: reason["code"] for reason in row.fields["receiver_persons"]["reasons"]}
    assert codes == {"Herr Christ": "alias", "i/Fa. Paravicini, Christ & Co.": "unknown"}


def test_the_whole_example_run() -> None:
    run = run_named("letters", "2025-04-01/T0017")
    scorer, rows, values = score_run(run, "published", {"rounding": "none"}, "r3")
    totals = [sum(column) for column in zip(*(nine(scorer, row) for row in rows.values()), strict=True)]
    assert totals == [42, 15, 15, 6, 43, 49, 19, 41, 8]
    assert values["f1_micro"] == pytest.approx(0.439344262, abs=1e-9)
    assert values["f1_macro"] == pytest.approx(0.429669443, abs=1e-9)


def test_tolerant_reading_reads_all_that_published_reading_does_and_says_the_same_of_it() -> None:
    """Of 6231 recorded answers one more is read, three null spellings are seen; nothing else changes."""
    differing = []
    for run in runs("letters"):
        _, published, _ = score_run(run, "published", {})
        _, tolerant, _ = score_run(run, "published", {"reading": "tolerant"})
        for name, row in published.items():
            assert not (tolerant[name].failure and not row.failure)
            if (row.counts != tolerant[name].counts).any():
                differing.append((run["run_id"], name))
    assert differing == [
        ("2025-04-11/T0060", "letter21"),  # JSON, then prose, without a fence
        ("2025-04-17/T0073", "letter15"),  # "none"
        ("2025-11-24/T0197", "letter36"),  # "Null"
        ("2026-01-24/T0427", "letter24"),  # a date that is ""
    ]


def test_all_runs_score() -> None:
    count = 0
    for run in runs("letters"):
        _, rows, _ = score_run(run, "documented", {})
        count += len(rows)
    assert count == 6231
