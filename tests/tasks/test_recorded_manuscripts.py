"""The published manuscript runs come out exactly: every text, every page, every collection."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from histeval.stats.counts import FRACTION
from histeval.tasks import get_task
from histeval.tasks.base import DocumentScore, Scorer
from recorded_runs import answer, pages, run_named, runs
from support import needs_data

pytestmark = [pytest.mark.data, needs_data]


def score_run(
    run: dict[str, Any], protocol: str, rules: dict[str, Any] | None = None
) -> tuple[Scorer, dict[str, DocumentScore], dict[str, float | None]]:
    truths, context = pages()
    task = get_task("manuscripts")
    scorer = task.scorer(context, task.protocol(protocol, rules))
    rows = {}
    for name, recorded in run["pages"].items():
        row = scorer.score(truths[name], scorer.read(answer(name, recorded)))
        assert row is not None
        rows[name] = row
    sums = np.sum([row.counts for row in rows.values()], axis=0)
    return scorer, rows, scorer.values(list(rows.items()), sums)


def test_every_text_page_and_run() -> None:
    assert len(runs("medieval")) == 36
    for run in runs("medieval"):
        scorer, rows, values = score_run(run, "published")
        place = scorer.columns.index("page_fuzzy")
        for name, expected in run["pages"].items():
            found = [[key.rsplit("/", 1)[-1], text["fuzzy"], text["cer"]] for key, text in rows[name].fields.items()]
            assert found == expected["fields"], (run["run_id"], name)
            page = rows[name].counts[place : place + 2] / FRACTION
            assert page.tolist() == [expected["fuzzy"], expected["cer"]], (run["run_id"], name)
        if run["reproduces"]:
            assert {name: values[name] for name in ("fuzzy", "cer")} == run["expected"]


def test_documented_means_over_texts() -> None:
    _, _, values = score_run(run_named("medieval", "2026-01-26/T0277"), "documented")
    assert values["fuzzy"] == pytest.approx(0.776, abs=5e-4)
    assert values["cer"] == pytest.approx(0.245, abs=6e-4)
    _, _, rounded = score_run(run_named("medieval", "2026-01-26/T0277"), "published", {"average": "texts"})
    # a doubly empty main text occurs on no page, so that only the mean differs
    assert (rounded["fuzzy"], rounded["cer"]) == (0.776, 0.245)


def test_tolerant_reading_unwraps_one_page() -> None:
    differing = []
    for run in runs("medieval"):
        _, published, _ = score_run(run, "published")
        _, tolerant, _ = score_run(run, "published", {"reading": "tolerant"})
        differing += [
            (run["run_id"], name)
            for name, row in published.items()
            if (row.counts != tolerant[name].counts).any() or row.failure != tolerant[name].failure
        ]
    assert differing == [("2025-10-24/T0293", "image_7")]  # wrapped in {"schema": ...}


def test_the_order_of_rows_does_not_matter() -> None:
    run = run_named("medieval", "2025-10-24/T0277")
    scorer, rows, values = score_run(run, "published")
    sums = np.sum([row.counts for row in rows.values()], axis=0)
    assert scorer.values(list(rows.items())[::-1], sums) == values
