"""Confidence intervals by the bootstrap over sampling units, from summed counts.

Units are drawn with replacement, as many as there are, and each metric is computed from the sums of what was drawn;
repeated 10 000 times that shows how far the number could have fallen elsewhere with other letters or pages of the same
kind. Source: B. Efron, "Bootstrap Methods: Another Look at the Jackknife", Annals of Statistics 7 (1979); the expanded
percentile: T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError
from histeval.stats.counts import CountTable
from histeval.stats.draws import Draws, shared_draws, unit_counts
from histeval.stats.metrics import Metric
from histeval.stats.student import expanded_tail

RESAMPLES = 10_000
SEED = 1
MOST_UNDEFINED = 0.05
"""The share of undefined replicates above which an interval, or a p-value, is missing."""

Method = Literal["expanded", "percentile"]
_SUMS_BYTES = 32 * 2**20  # sums of replicates held at a time


@dataclass(frozen=True, slots=True)
class Interval:
    """An interval; `low` and `high` are None where it is missing, `undefined` is the share of replicates left out.

    Missing: fewer than two sampling units, or more than 5 % of the replicates undefined (0/0).
    """

    low: float | None
    high: float | None
    undefined: float = 0.0


def intervals(
    table: CountTable,
    metrics: Sequence[Metric],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = 0.95,
    method: Method = "expanded",
) -> dict[str, Interval]:
    """The interval of each metric for one system, by name of the metric.

    >>> from histeval.stats.metrics import f_score
    >>> f1 = Metric("f1", lambda sums: f_score(sums[..., 0], sums[..., 1], sums[..., 2]))
    >>> counts = np.array([[3, 0, 0], [2, 1, 0], [3, 0, 1], [1, 2, 2]])
    >>> table = CountTable(("tp", "fp", "fn"), ("a", "b", "c", "d"), ("a", "b", "c", "d"), counts)
    >>> found = intervals(table, [f1])["f1"]
    >>> f1.value(table.sums()), round(found.low, 4), found.high
    (0.75, 0.3333, 1.0)
    """
    return intervals_of_systems([table], metrics, resamples=resamples, seed=seed, confidence=confidence, method=method)[
        0
    ]


def intervals_of_systems(
    tables: Sequence[CountTable],
    metrics: Sequence[Metric],
    *,
    resamples: int = RESAMPLES,
    seed: int = SEED,
    confidence: float = 0.95,
    method: Method = "expanded",
) -> list[dict[str, Interval]]:
    """The intervals of several systems, in their order; systems with as many units share their draws.

    The sums of many systems are made in one matrix product, a few at a time, so that memory stays bounded.
    """
    results: list[dict[str, Interval]] = [{} for _ in tables]
    counts = [unit_counts(table)[1] for table in tables]
    by_size: dict[int, list[int]] = {}
    for position, matrix in enumerate(counts):
        by_size.setdefault(len(matrix), []).append(position)
    for units, positions in by_size.items():
        if units < 2:
            for position in positions:
                results[position] = {metric.name: Interval(None, None) for metric in metrics}
            continue
        tail = tail_probability(units, confidence, method)
        draws = shared_draws(units, resamples, seed)
        many = replicates_of_systems([counts[position] for position in positions], metrics, draws)
        for position, values in zip(positions, many, strict=True):
            found = quantile_intervals(values, tail)
            results[position] = {metric.name: interval for metric, interval in zip(metrics, found, strict=True)}
    return results


def tail_probability(units: int, confidence: float = 0.95, method: Method = "expanded") -> float:
    """The share of replicates below an interval of `units` sampling units (and above it).

    >>> round(tail_probability(12), 5), round(tail_probability(12, method="percentile"), 5)
    (0.01076, 0.025)
    """
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence lies between 0 and 1, not at {confidence}")
    if method == "expanded":
        return expanded_tail(units, confidence)
    if method == "percentile":
        return (1 - confidence) / 2
    raise UsageError(f"an interval is made by the method expanded or percentile, not {method!r}")


def replicates(sums: NDArray[np.float64], metrics: Sequence[Metric]) -> NDArray[np.float64]:
    """Values of the metrics, shape (metrics, draws), for sums of shape (draws, columns); NaN where undefined."""
    values = np.empty((len(metrics), len(sums)))
    with np.errstate(all="ignore"):  # 0/0 is NaN, and NaN is counted
        for row, metric in zip(values, metrics, strict=True):
            row[:] = metric.compute(sums)
    return values


def replicates_of_systems(
    counts: Sequence[NDArray[np.int64]], metrics: Sequence[Metric], draws: Draws
) -> Iterator[NDArray[np.float64]]:
    """The `replicates` of each system, one after the other, for counts of shape (units, columns) each."""
    for group in _groups([matrix.shape[1] for matrix in counts], draws.draws):
        sums = draws.sums(np.concatenate([counts[position] for position in group], axis=1))
        start = 0
        for position in group:
            stop = start + counts[position].shape[1]
            yield replicates(sums[:, start:stop], metrics)
            start = stop


def quantile_intervals(values: NDArray[np.float64], tail: float) -> list[Interval]:
    """The interval between the quantiles `tail` and 1 - `tail` of each row of `values`, shape (metrics, draws).

    A quantile q of m sorted values is read at position q (m - 1), counted from 0, linearly between neighbours
    (type 7 of Hyndman and Fan 1996, the default of numpy and R). NaN values are left out; above 5 % there is none.

    >>> quantile_intervals(np.array([[4.0, 1.0, 2.0, 3.0, 5.0]]), 0.125)
    [Interval(low=1.5, high=4.5, undefined=0.0)]
    """
    ordered = np.sort(values, axis=1)  # NaN comes last
    total = values.shape[1]
    defined = total - np.isnan(ordered).sum(axis=1)
    found = []
    for row, count in zip(ordered, defined.tolist(), strict=True):
        undefined = (total - count) / total
        if undefined > MOST_UNDEFINED:
            found.append(Interval(None, None, undefined))
        else:
            found.append(Interval(_quantile(row, count, tail), _quantile(row, count, 1 - tail), undefined))
    return found


def _quantile(ordered: NDArray[np.float64], count: int, share: float) -> float:
    position = share * (count - 1)
    below = int(position)
    low, high = float(ordered[below]), float(ordered[min(below + 1, count - 1)])
    return low + (high - low) * (position - below) if high != low else low


def _groups(columns: Sequence[int], resamples: int) -> list[list[int]]:
    """Consecutive systems whose sums fit the memory set aside for them; at least one a group."""
    groups: list[list[int]] = []
    used = 0
    for position, width in enumerate(columns):
        size = width * resamples * 8
        if not groups or used + size > _SUMS_BYTES:
            groups.append([])
            used = 0
        groups[-1].append(position)
        used += size
    return groups
