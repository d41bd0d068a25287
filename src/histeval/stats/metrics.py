"""A metric is a number made from summed counts, for one vector of sums or for a whole matrix of replicates."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Metric:
    """A number made from summed counts.

    `compute` takes sums of shape (..., columns) and gives values of shape (...); NaN where undefined (0/0).
    `exact`, where given, computes the point value from one int64 vector when the order of operations matters.
    """

    name: str
    compute: Callable[[Floats], Floats]
    higher_is_better: bool = True
    help: str = ""
    exact: Callable[[NDArray[np.int64]], float] | None = None

    def value(self, sums: NDArray[np.int64]) -> float | None:
        """The point value from int64 sums, shape (columns,); None where undefined."""
        number = self.exact(sums) if self.exact else float(self.compute(np.asarray(sums, dtype=np.float64)))
        return None if math.isnan(number) else number


def divide(numerator: Any, denominator: Any, zero: float = math.nan) -> Any:
    """Element-wise division; `zero` where the denominator is 0."""
    numerator, denominator = np.asarray(numerator, dtype=np.float64), np.asarray(denominator, dtype=np.float64)
    empty = denominator == 0
    if not empty.any():  # nearly always; a masked division takes five times as long
        return np.asarray(numerator / denominator)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(empty, zero, numerator / denominator)


def f_score(tp: Any, fp: Any, fn: Any, zero: float = math.nan) -> Any:
    """F1 = 2PR / (P + R), computed in this order since the published values come out bit for bit only so.

    Undefined (`zero`) only where tp, fp and fn are all 0; with tp = 0 otherwise it is 0.

    >>> float(f_score(2, 2, 2))
    0.5
    """
    tp, fp, fn = (np.asarray(x, dtype=np.float64) for x in (tp, fp, fn))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision, recall = tp / (tp + fp), tp / (tp + fn)
        both = precision + recall
        if np.all(both > 0):  # nearly always, and most of the time of an interval is spent here
            return 2 * precision * recall / both
    precision, recall = divide(tp, tp + fp, 0.0), divide(tp, tp + fn, 0.0)
    score = divide(2 * precision * recall, precision + recall, 0.0)
    return np.where(tp + fp + fn == 0, zero, score)


def mean_of(parts: Sequence[Any], zero: float = math.nan) -> Any:
    """Plain mean of several arrays of one shape; a NaN part makes the mean NaN (undefined)."""
    if not parts:
        return np.asarray(zero)
    return sum(np.asarray(part, dtype=np.float64) for part in parts) / len(parts)
