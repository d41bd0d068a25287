"""Intervals: Histeval beside scipy's percentile bootstrap, and two absolute limits, on the same generated counts.

Alone: `python benchmarks/intervals.py`. scipy is optional: without it its row has no figures.
"""

from __future__ import annotations

from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from histeval.stats import CountTable, Metric, f_score, intervals, intervals_of_systems
from histeval.stats.draws import shared_draws

RUNS = 5
COLUMNS = ("tp", "fp", "fn")


def documents(number: int, parts: int = 1, seed: int = 1) -> CountTable:
    """Generated counts of `number` documents, each its own sampling unit: tp, fp and fn of each of `parts` fields."""
    rng = np.random.default_rng(seed)
    names = tuple(f"document {place:06}" for place in range(number))
    columns = tuple(f"{part}_{column}" for part in range(parts) for column in COLUMNS)
    return CountTable(columns, names, names, rng.poisson([3.0, 0.6, 1.0] * parts, (number, 3 * parts)))


def f1_of(part: int) -> Metric:
    """F1 of one field."""
    tp, fp, fn = range(3 * part, 3 * part + 3)
    return Metric(f"f1 of {part}", lambda sums: f_score(sums[..., tp], sums[..., fp], sums[..., fn]))


def seconds(*calls: Callable[[], Any]) -> list[float]:
    """Median seconds of each call over `RUNS` rounds, in turn, so that a busy machine slows all alike."""
    times: list[list[float]] = [[] for _ in calls]
    for _ in range(RUNS):
        for call, found in zip(calls, times, strict=True):
            start = perf_counter()
            call()
            found.append(perf_counter() - start)
    return [median(found) for found in times]


def row(what: str, peer: str, wanted: float, ours: float, theirs: float | None) -> dict[str, Any]:
    """One line of the table; a limit in seconds stands where a peer's seconds would."""
    ratio = None if theirs is None else theirs / ours
    return {
        "what": what,
        "peer": peer,
        "ours_seconds": ours,
        "peer_seconds": theirs,
        "ratio": ratio,
        "wanted": wanted,
    }


def beside_scipy() -> dict[str, Any]:
    """One interval of micro F1. Ours draws anew each time, as scipy must; scipy runs at the faster of two batches."""
    table, metric = documents(10_000), f1_of(0)

    def ours() -> tuple[float, float]:
        shared_draws.cache_clear()
        found = intervals(table, [metric], resamples=1_000, method="percentile")[metric.name]
        assert found.low is not None
        assert found.high is not None
        return found.low, found.high

    what = "interval of micro F1, 10 000 documents, 1 000 resamples"
    try:
        import scipy  # type: ignore[import-untyped, unused-ignore]
        from scipy import stats
    except ImportError:
        return row(what, "scipy (not installed: pip install scipy)", 2.0, seconds(ours)[0], None)
    data = tuple(table.values.astype(np.float64).T)

    def statistic(tp: Any, fp: Any, fn: Any, axis: int = -1) -> Any:
        return f_score(tp.sum(axis=axis), fp.sum(axis=axis), fn.sum(axis=axis))

    def peer(batch: int | None) -> tuple[float, float]:
        found = stats.bootstrap(
            data, statistic, paired=True, vectorized=True, n_resamples=1_000, method="percentile", rng=1, batch=batch
        ).confidence_interval
        return float(found.low), float(found.high)

    if np.abs(np.subtract(ours(), peer(None))).max() > 0.001:
        raise AssertionError("the intervals differ by more than two bootstraps can")
    mine, whole, batches = seconds(ours, lambda: peer(None), lambda: peer(20))
    return row(what, f"scipy {scipy.__version__} percentile bootstrap", 2.0, mine, min(whole, batches))


def many_systems() -> dict[str, Any]:
    """Twenty systems by ten metrics, one draw of weights and one product for all."""
    tables = [documents(10_000, 10, seed) for seed in range(20)]
    metrics = [f1_of(part) for part in range(10)]

    def ours() -> None:
        shared_draws.cache_clear()
        intervals_of_systems(tables, metrics, resamples=1_000)

    return row(
        "20 systems x 10 metrics x 10 000 documents x 1 000 resamples", "limit of 1 s", 1.0, seconds(ours)[0], 1.0
    )


def recorded_runs() -> dict[str, Any]:
    """As many intervals as all recorded letters runs have: 157 runs of 57 letters, ten fields, 10 000 resamples."""
    tables = [documents(57, 10, seed) for seed in range(157)]
    metrics = [f1_of(part) for part in range(10)]

    def ours() -> None:
        shared_draws.cache_clear()
        intervals_of_systems(tables, metrics)

    what = "157 systems x 10 metrics x 57 documents x 10 000 resamples"
    return row(what, "limit of 3 s", 1.0, seconds(ours)[0], 3.0)


def measure() -> list[dict[str, Any]]:
    """Rows with what, peer, ours_seconds, peer_seconds, ratio (theirs by ours) and the ratio wanted at least."""
    return [beside_scipy(), many_systems(), recorded_runs()]


def main() -> None:
    """Print the table."""
    for one in measure():
        ratio = "-" if one["ratio"] is None else f"{one['ratio']:.1f}"
        print(f"{one['what']}: {one['ours_seconds']:.3f} s; {one['peer']}: ratio {ratio}, wanted {one['wanted']:g}")


if __name__ == "__main__":
    main()
