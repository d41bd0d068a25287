"""Counts add up: one integer vector a document, summed for a dataset, a subset or a bootstrap replicate."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

FRACTION = 10**10
"""A fraction (the fuzzy score of one text, say) is stored as an integer in units of 1e-10, so that sums are exact."""


@dataclass(frozen=True)
class CountTable:
    """The counts of some documents.

    `values` has the shape (documents, columns) and is int64; `units` names the sampling unit of each document.

    >>> table = CountTable(("tp", "fp"), ("a", "b"), ("page 1", "page 1"), np.array([[1, 0], [2, 3]]))
    >>> table.sums().tolist()
    [3, 3]
    >>> names, matrix = table.by_unit()
    >>> names, matrix.tolist()
    (('page 1',), [[3, 3]])
    """

    columns: tuple[str, ...]
    documents: tuple[str, ...]
    units: tuple[str, ...]
    values: NDArray[np.int64]

    def __post_init__(self) -> None:
        values = np.asarray(self.values, dtype=np.int64).reshape(len(self.documents), len(self.columns))
        object.__setattr__(self, "values", values)

    def __len__(self) -> int:
        return len(self.documents)

    def sums(self) -> NDArray[np.int64]:
        """The sum over documents, shape (columns,), int64."""
        total: NDArray[np.int64] = self.values.sum(axis=0, dtype=np.int64)
        return total

    def by_unit(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Names of the sampling units in order of first appearance, and their counts, shape (units, columns)."""
        index: dict[str, int] = {}
        rows = np.fromiter((index.setdefault(unit, len(index)) for unit in self.units), dtype=np.intp)
        matrix = np.zeros((len(index), len(self.columns)), dtype=np.int64)
        np.add.at(matrix, rows, self.values)
        return tuple(index), matrix

    def select(self, mask: Sequence[bool] | NDArray[np.bool_]) -> CountTable:
        """The documents where `mask` (shape (documents,)) is true."""
        keep = np.flatnonzero(np.asarray(mask, dtype=bool))
        return CountTable(
            self.columns,
            tuple(self.documents[i] for i in keep),
            tuple(self.units[i] for i in keep),
            self.values[keep],
        )
