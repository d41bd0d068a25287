"""Which runs may be ranked with which, and what their tests say."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from histeval.datasets.base import Dataset
from histeval.overview.board import Apart, Board, Remember, Run, Standing
from histeval.runs.compare import pooled
from histeval.stats.counts import CountTable
from histeval.stats.metrics import Metric
from histeval.stats.significance import LEVEL, compare_all_pairs, compare_with_baseline, rank_intervals
from histeval.tasks.base import Rule, RuleValue


def boards_of(
    runs: Sequence[Run],
    protocol: str,
    dataset: Dataset,
    remember: Remember,
    memory: dict[str, Any],
) -> tuple[tuple[Board, ...], tuple[Apart, ...]]:
    groups: dict[tuple[Any, ...], list[Run]] = {}
    apart: list[Apart] = []
    for run in runs:
        score = run.scores[protocol]
        other = run.other_truth(dataset)
        if run.suspect:
            apart.append(Apart(run, score, f"suspect: {run.suspect}"))
        elif other:
            now = dataset.fingerprint[:6]
            apart.append(Apart(run, score, f"made with another ground truth ({other[:6]}, now {now})"))
        else:
            names = score.tables[0].documents
            groups.setdefault((tuple(score.scorer.protocol.rules.items()), tuple(sorted(names))), []).append(run)
    brought = {key: _brought(members[0], protocol) for key, members in groups.items()}
    # The whole dataset without rules of a run's own comes first, then the board with most documents and runs.
    order = sorted(groups, key=lambda key: (bool(brought[key]), -len(key[1]), -len(groups[key])))
    boards = []
    for place, key in enumerate(order):
        standings = _standings(groups[key], protocol, remember, memory)
        names = standings[0].score.tables[0].documents
        boards.append(Board(protocol, brought[key], names, standings, place == 0))
    return tuple(boards), tuple(apart)


def _brought(run: Run, protocol: str) -> tuple[str, ...]:
    """The rules that a run brings along, as the signature shows them."""
    rules = run.scores[protocol].scorer.protocol
    return tuple(f"{name}={Rule.write(rules[name])}" for name in rules.overridden if name in run.answers.rules)


def _standings(
    runs: Sequence[Run],
    protocol: str,
    remember: Remember,
    memory: dict[str, Any],
) -> tuple[Standing, ...]:
    scorer = runs[0].scores[protocol].scorer
    sums = sum((run.scores[protocol].sums for run in runs[1:]), runs[0].scores[protocol].sums)
    metric = next(metric for metric in scorer.metrics_on(sums) if metric.name == scorer.headline[0])
    sign = -1 if metric.higher_is_better else 1

    def place(run: Run) -> tuple[bool, float, str]:
        value = run.scores[protocol].values[metric.name]
        # equal rounded values keep the order of the sums they were rounded from
        exact = metric.compute(run.scores[protocol].sums.astype(float))
        return value is None, sign * (value or 0.0), f"{sign * float(exact) + 9:.12f}{run.key}"

    ordered = sorted(runs, key=place)
    if len(ordered) == 1:
        return (Standing(ordered[0], ordered[0].scores[protocol], (1, 1)),)
    tables = pooled({run.key: run.scores[protocol] for run in ordered})
    found = _tests(tables, metric, ordered[0].key, scorer.protocol.rules, remember, memory)
    standings = []
    for run in ordered:
        low, high = found["ranks"][run.key]
        p = found["p"].get(run.key)
        apart = p is not None and p <= LEVEL
        standings.append(Standing(run, run.scores[protocol], (low, high), p, apart))
    return tuple(standings)


def _tests(
    tables: Mapping[str, CountTable],
    metric: Metric,
    best: str,
    rules: Mapping[str, RuleValue],
    remember: Remember,
    memory: dict[str, Any],
) -> dict[str, Any]:
    """P-values against the best (Holm) and rank intervals (all pairs, step-down maximum statistic).

    Two protocols that give the same counts, rounding aside, share their tests.
    """
    digest = hashlib.sha256()
    for name, table in tables.items():
        digest.update(repr((name, table.columns, table.units)).encode("utf-8", "surrogatepass"))
        digest.update(table.values.tobytes())
    unrounded = {name: value for name, value in rules.items() if name != "rounding"}
    inputs = [digest.hexdigest(), metric.name, metric.help, best, {k: Rule.write(v) for k, v in unrounded.items()}]

    def make() -> dict[str, Any]:
        against = compare_with_baseline(tables, [metric], best, with_intervals=False)
        pairs = compare_all_pairs(tables, metric, with_intervals=False)
        ranks = rank_intervals(tables, pairs, higher_is_better=metric.higher_is_better)
        return {
            "p": {pair.a: pair.p_corrected for pair in against},
            "ranks": {name: list(rank) for name, rank in ranks.items()},
        }

    key = hashlib.sha256(repr(inputs).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if key not in memory:
        memory[key] = remember(f"tests-{key}", inputs, make)
    result: dict[str, Any] = memory[key]
    return result
