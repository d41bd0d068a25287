"""The metrics of letters: F1 of counts added up, and its mean over fields.

Sums have the shape (..., columns); a group names the columns of TP, FP and FN of one field.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.stats.metrics import Floats, divide, f_score, mean_of

Groups = tuple[tuple[int, int, int], ...]


def _pick(sums: Any, columns: Sequence[int]) -> Any:
    return sum(sums[..., column] for column in columns)


def ratio(over: Sequence[int], under: Sequence[int], zero: float, sums: Floats) -> Floats:
    """The sum of some columns divided by the sum of others; sums have the shape (..., columns)."""
    result: Floats = divide(_pick(sums, over), _pick(sums, under), zero)
    return result


def f1_micro(groups: Groups, zero: float, sums: Floats) -> Floats:
    """F1 of the counts (TP, FP, FN) of several fields added up; sums have the shape (..., columns).

    >>> float(f1_micro(((0, 1, 2), (3, 4, 5), (6, 7, 8)), 0.0, np.array([1, 0, 0, 0, 1, 2, 1, 1, 0])))
    0.5
    """
    tp, fp, fn = (_pick(sums, [group[i] for group in groups]) for i in range(3))
    result: Floats = f_score(tp, fp, fn, zero)
    return result


def f1_macro(groups: Groups, zero: float, sums: Floats) -> Floats:
    """The plain mean of the F1 of several fields; sums have the shape (..., columns)."""
    if not groups:
        return np.full(np.shape(sums)[:-1], zero)
    parts = [f_score(sums[..., tp], sums[..., fp], sums[..., fn], zero) for tp, fp, fn in groups]
    return np.asarray(mean_of(parts, zero))


def _f1(tp: int, fp: int, fn: int, zero: float) -> float:
    """F1 = 2PR/(P+R) in this order, since the published values come out bit for bit only so."""
    if tp + fp + fn == 0:
        return zero
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def f1_micro_exact(groups: Groups, zero: float, digits: int | None, sums: NDArray[np.int64]) -> float:
    """The point value of micro F1, rounded as Python rounds where the protocol says so."""
    tp, fp, fn = (sum(int(sums[group[i]]) for group in groups) for i in range(3))
    value = _f1(tp, fp, fn, zero)
    return value if digits is None else round(value, digits)


def f1_macro_exact(groups: Groups, zero: float, digits: int | None, sums: NDArray[np.int64]) -> float:
    """The point value of macro F1: the exactly rounded sum of the fields' F1, divided by their number.

    >>> f1_macro_exact(((0, 1, 2), (3, 4, 5), (6, 7, 8)), 0.0, 4, np.array([1, 0, 0, 0, 1, 2, 1, 1, 0]))
    0.5556
    """
    if not groups:
        return zero
    value = math.fsum(_f1(int(sums[tp]), int(sums[fp]), int(sums[fn]), zero) for tp, fp, fn in groups) / len(groups)
    return value if digits is None else round(value, digits)
