"""Swaps of whole sampling units between two systems, and how often they reach the difference that was observed.

The tests themselves, with their sources, are in `significance`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from histeval.stats.draws import Draws, Product
from histeval.stats.intervals import MOST_UNDEFINED
from histeval.stats.metrics import Metric

TIE = 1e-12
"""A swap counts as extreme from this little below the observed difference: equal fractions may round differently."""

_SCALE_DRAWS = 1_000  # the first swaps, from which the standard error of each pair is estimated
_SUMS_NUMBERS = 2**22  # float64 numbers of the sums of all systems for some swaps: 32 MiB
_CHUNK_NUMBERS = 2**17  # float64 numbers of the sums of some pairs for some swaps: 1 MiB, stays in the cache

Pairs = Sequence[tuple[int, int]]


def swapped_differences(
    counts: Sequence[NDArray[np.int64]], metric: Metric, pairs: Pairs, swaps: Draws
) -> Iterator[NDArray[np.float64]]:
    """Differences of each pair under each swap, in blocks of shape (pairs, swaps of the block); NaN where undefined.

    A unit that changes places moves from the sums of one system to those of the other, so the sums of any pair follow
    from one product a system: with P the sums over swapped units, a has S_a - P_a + P_b and b has S_b - P_b + P_a.
    """
    systems, columns = len(counts), counts[0].shape[1]
    product = Product(np.concatenate(counts, axis=1))
    totals = np.concatenate([matrix.sum(axis=0) for matrix in counts]).astype(np.float64)
    left, right = (np.array([pair[side] for pair in pairs], dtype=np.intp) for side in (0, 1))
    used: list[int] | None = None
    for _, drawn in swaps.blocks():
        moved = product(drawn).reshape(systems, columns, -1)
        kept = totals.reshape(systems, columns, 1) - moved
        if used is None:
            used = _used_columns(metric, np.moveaxis(kept[:, :, :64], 1, -1))
        width = moved.shape[2]
        chunk = max(1, _CHUNK_NUMBERS // (width * max(1, len(used))))
        sums = np.zeros((columns, min(chunk, len(pairs)), width))
        out = np.empty((len(pairs), width))
        for start in range(0, len(pairs), chunk):
            a, b = left[start : start + chunk], right[start : start + chunk]
            view = np.moveaxis(sums[:, : len(a)], 0, -1)
            block = out[start : start + chunk]
            for column in used:
                np.add(kept[a, column], moved[b, column], out=sums[column, : len(a)])
            with np.errstate(all="ignore"):
                block[:] = metric.compute(view)
            for column in used:
                np.add(kept[b, column], moved[a, column], out=sums[column, : len(a)])
            with np.errstate(all="ignore"):
                block -= metric.compute(view)
        yield out


def _used_columns(metric: Metric, sums: NDArray[np.float64]) -> list[int]:
    """The columns that the metric reads, found on real sums: those where NaN, or one more, changes a value.

    Columns that it does not read (a letter has 45, micro F1 reads 9) need not be summed for every pair.
    """
    used = []
    with np.errstate(all="ignore"):
        plain = np.array(metric.compute(sums))
        for column in range(sums.shape[-1]):
            for spoilt_by in (np.nan, 1.0):
                spoilt = sums.copy()
                spoilt[..., column] += spoilt_by
                if not np.array_equal(plain, np.asarray(metric.compute(spoilt)), equal_nan=True):
                    used.append(column)
                    break
    return used


def _observed(counts: Sequence[NDArray[np.int64]], metric: Metric, pairs: Pairs) -> NDArray[np.float64]:
    """The difference of each pair, made just as under the swaps, so that equal sums give equal bits."""
    sums = np.array([matrix.sum(axis=0) for matrix in counts], dtype=np.float64)
    with np.errstate(all="ignore"):
        values = np.broadcast_to(np.asarray(metric.compute(sums), dtype=np.float64), len(counts))
    return np.array([values[a] - values[b] for a, b in pairs])


def _threshold(observed: NDArray[np.float64]) -> NDArray[np.float64]:
    size = np.abs(observed)
    return np.asarray(size - TIE * np.maximum(1.0, size))


def _swaps(counts: Sequence[NDArray[np.int64]], resamples: int, seed: int, pairs: int) -> Draws:
    """Swaps in blocks so small that the sums of all systems and the differences of all pairs fit in memory."""
    numbers = max(len(counts) * counts[0].shape[1], pairs, 1)
    return Draws(len(counts[0]), resamples, seed, "swap", block=max(1, _SUMS_NUMBERS // max(numbers, len(counts[0]))))


def swap_test(
    counts: Sequence[NDArray[np.int64]], metric: Metric, pairs: Pairs, resamples: int, seed: int
) -> list[tuple[float | None, float]]:
    """The p-value of each pair alone, and the share of undefined swaps."""
    observed = _observed(counts, metric, pairs)
    threshold = _threshold(observed)[:, None]
    extreme, undefined = np.zeros(len(pairs), dtype=np.int64), np.zeros(len(pairs), dtype=np.int64)
    for differences in swapped_differences(counts, metric, pairs, _swaps(counts, resamples, seed, len(pairs))):
        extreme += np.count_nonzero(np.abs(differences) >= threshold, axis=1)
        undefined += np.count_nonzero(np.isnan(differences), axis=1)
    return [
        (_p_value(int(count), int(missing), resamples, float(value)), int(missing) / resamples)
        for count, missing, value in zip(extreme, undefined, observed, strict=True)
    ]


def step_down_test(
    counts: Sequence[NDArray[np.int64]], metric: Metric, pairs: Pairs, resamples: int, seed: int
) -> list[tuple[float | None, float | None, float]]:
    """For each pair: p-value alone, p-value by the step-down maximum statistic, share of undefined swaps."""
    results: list[tuple[float | None, float | None, float]] = [(None, None, 0.0)] * len(pairs)
    observed = _observed(counts, metric, pairs)
    tested = np.flatnonzero(~np.isnan(observed))
    if not len(tested):
        return results
    scale = _standard_errors(
        counts, metric, [pairs[place] for place in tested.tolist()], resamples, seed, observed[tested]
    )
    order = tested[np.argsort(-np.abs(observed[tested]) / scale, kind="stable")]
    scales = np.empty(len(pairs))
    scales[tested] = scale
    ordered = [pairs[place] for place in order.tolist()]
    threshold = _threshold(observed[order])[:, None]
    ordered_scale = scales[order][:, None]
    alone, together, undefined = (np.zeros(len(order), dtype=np.int64) for _ in range(3))
    for differences in swapped_differences(counts, metric, ordered, _swaps(counts, resamples, seed, len(pairs))):
        statistic = np.abs(differences, out=differences)
        alone += np.count_nonzero(statistic >= threshold, axis=1)
        undefined += np.count_nonzero(np.isnan(statistic), axis=1)
        statistic /= ordered_scale
        np.nan_to_num(statistic, copy=False, nan=0.0)
        np.maximum.accumulate(statistic[::-1], axis=0, out=statistic[::-1])  # the largest among this pair and later
        together += np.count_nonzero(statistic >= threshold / ordered_scale, axis=1)
    corrected = np.maximum.accumulate((together + 1) / (resamples + 1))
    for step, place in enumerate(order.tolist()):
        missing = int(undefined[step])
        p = _p_value(int(alone[step]), missing, resamples, float(observed[place]))
        results[place] = (p, None if p is None else max(p, float(corrected[step])), missing / resamples)
    return results


def _standard_errors(
    counts: Sequence[NDArray[np.int64]],
    metric: Metric,
    pairs: Pairs,
    resamples: int,
    seed: int,
    observed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Root mean square difference of each pair under the first swaps and the observed one; 1 where all are 0."""
    squares, number = observed**2, np.ones(len(pairs))
    few = min(_SCALE_DRAWS, resamples)
    for differences in swapped_differences(counts, metric, pairs, _swaps(counts, few, seed, len(pairs))):
        squares += np.nansum(differences**2, axis=1)
        number += np.count_nonzero(~np.isnan(differences), axis=1)
    return np.where(squares > 0, np.sqrt(squares / number), 1.0)


def _p_value(extreme: int, undefined: int, resamples: int, observed: float) -> float | None:
    if np.isnan(observed) or undefined / resamples > MOST_UNDEFINED:
        return None
    return (extreme + 1) / (resamples - undefined + 1)
