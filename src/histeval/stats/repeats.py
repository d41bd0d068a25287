"""Intervals of a mean over repeats: one system asked several times for the same documents."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from histeval.stats.counts import CountTable
from histeval.stats.draws import shared_draws, unit_counts
from histeval.stats.intervals import (
    RESAMPLES,
    SEED,
    Interval,
    intervals,
    quantile_intervals,
    replicates,
    tail_probability,
)
from histeval.stats.metrics import Metric


def mean_intervals(
    tables: Sequence[CountTable], metrics: Sequence[Metric], *, resamples: int = RESAMPLES, seed: int = SEED
) -> dict[str, Interval]:
    """The interval of each metric's mean over repeats, by name.

    Units are what varies: a unit drawn is drawn in every repeat, so that repeats never pass for more documents.
    A unit missing from one repeat (its failures left out) counts nothing there.

    >>> from histeval.stats.metrics import divide
    >>> share = Metric("share", lambda sums: divide(sums[..., 0], sums[..., 1]))
    >>> table = CountTable(("hit", "all"), tuple("abcd"), tuple("abcd"), np.array([[1, 1], [0, 1], [1, 1], [1, 1]]))
    >>> mean_intervals([table, table], [share]) == mean_intervals([table], [share])
    True
    """
    if len(tables) == 1:
        return intervals(tables[0], metrics, resamples=resamples, seed=seed)
    units = sorted({unit for table in tables for unit in table.units})
    zeros = np.zeros((len(units), len(tables[0].columns)), dtype=np.int64)
    padded = [
        CountTable(
            table.columns,
            (*table.documents, *(f"\0{unit}" for unit in units)),
            (*table.units, *units),
            np.concatenate([table.values, zeros]),
        )
        for table in tables
    ]
    counts = [unit_counts(table)[1] for table in padded]
    size = len(counts[0])
    if size < 2:
        return {metric.name: Interval(None, None) for metric in metrics}
    draws = shared_draws(size, resamples, seed)
    values = np.mean([replicates(draws.sums(matrix), metrics) for matrix in counts], axis=0)
    found = quantile_intervals(values, tail_probability(size))
    return {metric.name: interval for metric, interval in zip(metrics, found, strict=True)}
