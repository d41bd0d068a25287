"""Swaps of whole sampling units between two systems, and how often they reach the difference that was observed.

The tests themselves, with their sources, are in `significance`.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import numpy as np
from numpy.typing import NDArray

from histeval.stats.draws import Draws, Product
from histeval.stats.intervals import MOST_UNDEFINED
from histeval.stats.metrics import Metric

TIE = 1e-12
"""A swap counts as extreme from this little below the observed difference: equal fractions may round differently."""

_SCALE_DRAWS = 1_000  # the first swaps, from which the standard error of each pair is estimated
_SUMS_NUMBERS = 2**22  # float64 numbers of the sums of all systems for some swaps: 32 MiB
_CHUNK_NUMBERS = 2**17  # float64 numbers of the sums of a run of pairs for some swaps: 1 MiB, stays in the cache

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
    used: list[int] | None = None
    with ThreadPoolExecutor(len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else 1) as threads:
        for _, drawn in swaps.blocks(systems * columns):
            moved = product(drawn).reshape(systems, columns, -1)
            kept = totals.reshape(systems, columns, 1) - moved
            if used is None:
                used = _used_columns(metric, np.moveaxis(kept[:, :, :64], 1, -1))
            most = max(1, _CHUNK_NUMBERS // (moved.shape[2] * max(1, len(used))))
            out = np.empty((len(pairs), moved.shape[2]))
            work = partial(_run_differences, kept=kept, moved=moved, metric=metric, used=used, out=out)
            deque(threads.map(work, _runs(pairs, most)), maxlen=0)  # raises what a thread raised
            yield out


def _run_differences(
    run: tuple[int, slice, slice],
    *,
    kept: NDArray[np.float64],
    moved: NDArray[np.float64],
    metric: Metric,
    used: Sequence[int],
    out: NDArray[np.float64],
) -> None:
    """The differences of the pairs of one run, written into their rows of `out`."""
    start, a, b = run
    length = max(a.stop - a.start, b.stop - b.start)
    sums = np.zeros((kept.shape[1], length, kept.shape[2]))
    view = np.moveaxis(sums, 0, -1)
    block = out[start : start + length]
    with np.errstate(all="ignore"):
        for column in used:
            np.add(kept[a, column], moved[b, column], out=sums[column])
        block[:] = metric.compute(view)
        for column in used:
            np.add(kept[b, column], moved[a, column], out=sums[column])
        block -= metric.compute(view)


def _runs(pairs: Pairs, most: int) -> Iterator[tuple[int, slice, slice]]:
    """Runs of at most `most` pairs of one system with consecutive others: (first pair, systems a, systems b).

    Slices, where a list of indices would copy the sums of every pair.

    >>> list(_runs([(0, 1), (0, 2), (1, 2)], most=10))
    [(0, slice(0, 1, None), slice(1, 3, None)), (2, slice(1, 2, None), slice(2, 3, None))]
    """
    start = 0
    while start < len(pairs):
        (a, b), length_a, length_b = pairs[start], 1, 1
        for next_a, next_b in pairs[start + 1 : start + most]:
            if length_a == 1 and (next_a, next_b) == (a, b + length_b):
                length_b += 1
            elif length_b == 1 and (next_a, next_b) == (a + length_a, b):
                length_a += 1
            else:
                break
        yield start, slice(a, a + length_a), slice(b, b + length_b)
        start += max(length_a, length_b)


def _used_columns(metric: Metric, sums: NDArray[np.float64]) -> list[int]:
    """The columns that the metric reads: those where NaN changes a value, on real sums or on some without a 0.

    Columns that it does not read (a letter has 45, micro F1 reads 9) need not be summed for every pair.
    """
    real = sums.reshape(-1, sums.shape[-1])
    dense = np.random.Generator(np.random.PCG64(0)).integers(1, 1_000, (8, real.shape[1]))
    sums, used = np.concatenate([real, dense]), []
    with np.errstate(all="ignore"):
        plain = np.array(metric.compute(sums))
        for column in range(sums.shape[-1]):
            spoilt = sums.copy()
            spoilt[:, column] = np.nan
            if not np.array_equal(plain, np.asarray(metric.compute(spoilt)), equal_nan=True):
                used.append(column)
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
    chosen, observed = [pairs[place] for place in tested.tolist()], observed[tested]
    threshold, scale = _threshold(observed), _standard_errors(counts, metric, chosen, resamples, seed, observed)
    order = np.argsort(-np.abs(observed) / scale, kind="stable")  # the largest statistic first
    alone, together, undefined = (np.zeros(len(chosen), dtype=np.int64) for _ in range(3))
    for differences in swapped_differences(counts, metric, chosen, _swaps(counts, resamples, seed, len(chosen))):
        size = np.abs(differences, out=differences)
        alone += np.count_nonzero(size >= threshold[:, None], axis=1)
        missing = np.isnan(size)
        undefined += np.count_nonzero(missing, axis=1)
        size /= scale[:, None]
        size[missing] = 0.0
        largest = np.maximum.accumulate(size[order[::-1]], axis=0)[::-1]  # of this pair and all later ones
        together += np.count_nonzero(largest >= (threshold / scale)[order, None], axis=1)
    corrected = np.maximum.accumulate((together + 1) / (resamples + 1))
    for step, index in enumerate(order.tolist()):
        share = int(undefined[index]) / resamples
        p = _p_value(int(alone[index]), int(undefined[index]), resamples, float(observed[index]))
        results[tested[index]] = (p, None if p is None else max(p, float(corrected[step])), share)
    return results


def _standard_errors(
    counts: Sequence[NDArray[np.int64]],
    metric: Metric,
    pairs: Pairs,
    resamples: int,
    seed: int,
    observed: NDArray[np.float64],
) -> NDArray[np.float64]:
    """Root mean square difference of each pair under the first swaps and the observed one; 1 where all are 0.

    What rounding leaves of equal values counts as 0: divided by its own size it would look like a difference.
    """
    squares, number = observed**2, np.ones(len(pairs))
    few = min(_SCALE_DRAWS, resamples)
    for differences in swapped_differences(counts, metric, pairs, _swaps(counts, few, seed, len(pairs))):
        squares += np.nansum(differences**2, axis=1)
        number += np.count_nonzero(~np.isnan(differences), axis=1)
    errors = np.sqrt(squares / number)
    return np.where(errors > TIE, errors, 1.0)


def _p_value(extreme: int, undefined: int, resamples: int, observed: float) -> float | None:
    if np.isnan(observed) or undefined / resamples > MOST_UNDEFINED:
        return None
    return (extreme + 1) / (resamples - undefined + 1)
