"""F1 and division against their definitions written as plain Python, bit for bit."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.stats import divide, f_score, mean_of
from support import examples

COUNTS = st.integers(0, 30)
ROWS = st.lists(st.tuples(COUNTS, COUNTS, COUNTS), min_size=1, max_size=40)


def slow_f1(tp: int, fp: int, fn: int, zero: float) -> float:
    if tp + fp + fn == 0:
        return zero
    precision = tp / (tp + fp) if tp + fp else 0.0
    recall = tp / (tp + fn) if tp + fn else 0.0
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0


def same(a: float, b: float) -> bool:
    return (math.isnan(a) and math.isnan(b)) or a == b


@settings(max_examples=examples(150), deadline=None)
@given(ROWS, st.sampled_from([math.nan, 0.0, 1.0]))
def test_f1_of_a_matrix_equals_f1_of_its_rows(rows: list[tuple[int, int, int]], zero: float) -> None:
    tp, fp, fn = np.array(rows).T
    found = f_score(tp, fp, fn, zero)
    assert all(same(float(a), slow_f1(*row, zero)) for a, row in zip(found, rows, strict=True))
    assert all(same(float(f_score(*row, zero)), slow_f1(*row, zero)) for row in rows)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.tuples(COUNTS, COUNTS), min_size=1, max_size=40), st.sampled_from([math.nan, 0.0]))
def test_division_equals_plain_division(rows: list[tuple[int, int]], zero: float) -> None:
    top, bottom = np.array(rows).T
    assert all(same(float(a), n / d if d else zero) for a, (n, d) in zip(divide(top, bottom, zero), rows, strict=True))


def test_what_is_not_a_number_stays_so() -> None:
    assert math.isnan(f_score(math.nan, 1, 1))
    assert math.isnan(divide(math.nan, 1, 0.0))
    assert np.isnan(mean_of([np.array([0.5, math.nan]), np.array([1.0, 1.0])])).tolist() == [False, True]


def test_a_scalar_divides_a_row() -> None:
    assert divide([1, 2], 2).tolist() == [0.5, 1.0]
    assert divide([1, 2], 0, 0.0).tolist() == [0.0, 0.0]
