"""Comparing scored runs: only what was scored on the same documents, under the same rules, is compared."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from difflib import get_close_matches
from typing import Any

import numpy as np

from histeval.errors import UsageError
from histeval.runs.score import Score
from histeval.stats.counts import CountTable
from histeval.stats.metrics import Metric
from histeval.stats.significance import Comparison as Pair
from histeval.stats.significance import compare_all_pairs, compare_with_baseline, rank_intervals

MANY = 12
"""With more metrics than this, a message names only some."""
PAIR_COLUMNS = ("a", "b", "metric", "difference", "low", "high", "p", "p_corrected")


@dataclass(frozen=True)
class Compared:
    """Two runs compared by one metric, with the names of the columns that `compare` prints."""

    a: str
    b: str
    metric: str
    difference: float | None
    low: float | None
    high: float | None
    p: float | None
    p_corrected: float | None

    def as_json(self) -> dict[str, Any]:
        """The object that `compare --format json` prints."""
        return {name: getattr(self, name) for name in PAIR_COLUMNS}


@dataclass(frozen=True)
class Comparison:
    """What `compare` shows: pairs, the rank interval of each run (all pairs only), notes, and the signature."""

    pairs: tuple[Compared, ...]
    ranks: dict[str, tuple[int, int]] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    signature: str = ""


def compare_scores(
    scores: Sequence[Score],
    *,
    baseline: str | None = None,
    all_pairs: bool = False,
    metrics: Sequence[str] | None = None,
) -> Comparison:
    """Every run against the baseline (Holm), or every pair (step-down maximum statistic) with rank intervals.

    Raises UsageError where fewer than two runs are given, where two carry one name, or where they were not scored on
    the same documents under the same rules. A run of several repeats is compared by the counts of all its repeats.
    """
    if len(scores) < 2:
        raise UsageError("a comparison needs at least two runs")
    _comparable(scores)
    tables = pooled({score.run: score for score in scores})
    chosen = _metrics(scores, metrics)
    if baseline is not None and baseline not in tables:
        raise UsageError(f"the baseline {baseline!r} is not among the runs {', '.join(tables)}")
    if all_pairs and baseline is not None:
        raise UsageError("--baseline and --all-pairs exclude each other")
    notes = [f"not to be trusted: {score.run}: {score.suspect}" for score in scores if score.suspect]
    for score in scores:
        if score.failed and not score.suspect:
            reasons = ", ".join(f"{count} {reason}" for reason, count in score.failures.items())
            notes.append(f"{score.run}: {score.failed} of {score.documents} failed ({reasons})")
    ranks: dict[str, tuple[int, int]] = {}
    if all_pairs:
        found = [pair for metric in chosen for pair in compare_all_pairs(tables, metric)]
        trusted = [score.run for score in scores if not score.suspect]
        first = [p for p in found if p.metric == chosen[0].name and p.a in trusted and p.b in trusted]
        ranks = rank_intervals(trusted, first, higher_is_better=chosen[0].higher_is_better)
        left_out = "; runs not to be trusted have none" if len(trusted) < len(scores) else ""
        notes.append(f"rank intervals are by {chosen[0].name}{left_out}")
    else:
        found = compare_with_baseline(tables, chosen, baseline)
    if any(len(score.tables) > 1 for score in scores):
        notes.append("runs of several repeats are compared by the summed counts of their repeats")
    single = [score for score in scores if len(score.tables) == 1]
    if any(score.values[m.name] != m.value(score.sums) for score in single for m in chosen):
        notes.append("differences, intervals and tests use unrounded sums")
    units = scores[0].units
    if units == 1:
        notes.append("from one sampling unit alone nothing can be told apart")
    elif units <= 10:
        notes.append(f"with {units} sampling units no p-value can be below {2 / 2**units:.2g}")
    correction = "maximum statistic of all pairs" if all_pairs else "Holm"
    signature = f"{scores[0].signature}|test=paired randomisation of units,10000,seed1|corrected={correction}"
    return Comparison(tuple(_compared(pair) for pair in found), ranks, tuple(notes), signature)


def pooled(scores: Mapping[str, Score]) -> dict[str, CountTable]:
    """The counts of runs for tests that swap them: one row a document and repeat, by the names given.

    What is swapped must weigh alike, so that runs of two and of three repeats both count as if asked six times.
    """
    asked = math.lcm(*(len(score.tables) for score in scores.values()))
    return {
        name: score.tables[0]
        if asked == 1
        else CountTable(
            score.tables[0].columns,
            tuple(document for table in score.tables for document in table.documents),
            tuple(unit for table in score.tables for unit in table.units),
            np.concatenate([table.values for table in score.tables]) * (asked // len(score.tables)),
        )
        for name, score in scores.items()
    }


def _comparable(scores: Sequence[Score]) -> None:
    first = scores[0]
    names: set[str] = set()
    for score in scores:
        if score.run in names:
            raise UsageError(f"the run {score.run!r} is given twice")
        names.add(score.run)
        if score.scorer.protocol.rules != first.scorer.protocol.rules:
            raise UsageError(f"{score.run} and {first.run} bring different rules along, so they are not compared")
        if _documents(score) != _documents(first):
            raise UsageError(
                f"{score.run} and {first.run} were not scored on the same documents, so they are not compared; "
                "--documents chooses those that both answered"
            )


def _documents(score: Score) -> set[frozenset[str]]:
    """The documents of each repeat (failures may be left out of some); of runs without failures it is one set."""
    return {frozenset(table.documents) for table in score.tables}


def no_metric(name: str, known: Iterable[str]) -> UsageError:
    """The error for a metric that there is not, with all there are, or those most like it where they are many."""
    names = list(known)
    if len(names) <= MANY:
        return UsageError(f"there is no metric {name!r}; there are {', '.join(names)}")
    near = [*get_close_matches(name, names, MANY), *(one for one in names if name.lower() in one.lower()), *names]
    shown = list(dict.fromkeys(near))[:MANY]
    return UsageError(
        f"there is no metric {name!r}; there are {', '.join(shown)} and {len(names) - len(shown)} more, which "
        "`histeval score ... --format csv` lists"
    )


def _metrics(scores: Sequence[Score], names: Sequence[str] | None) -> list[Metric]:
    scorer = scores[0].scorer
    sums = sum((score.sums for score in scores[1:]), scores[0].sums)
    known = {metric.name: metric for metric in scorer.metrics_on(sums)}
    for name in names or ():
        if name not in known:
            raise no_metric(name, known)
    return [known[name] for name in names or scorer.headline]


def _compared(pair: Pair) -> Compared:
    return Compared(pair.a, pair.b, pair.metric, pair.difference, pair.low, pair.high, pair.p, pair.p_corrected)
