"""Intervals against a plain loop, and what must never change them."""

from __future__ import annotations

import math
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.stats import CountTable, Interval, Metric, divide, f_score, intervals, intervals_of_systems
from histeval.stats.draws import Draws
from histeval.stats.intervals import _groups, quantile_intervals, tail_probability
from support import examples

F1 = Metric("f1", lambda sums: f_score(sums[..., 0], sums[..., 1], sums[..., 2]))
RECALL = Metric("recall", lambda sums: divide(sums[..., 0], sums[..., 0] + sums[..., 2]))
COUNT = st.integers(0, 3)
ROWS = st.lists(st.tuples(st.integers(0, 5), st.tuples(COUNT, COUNT, COUNT)), min_size=2, max_size=25)


def table_of(rows: list[tuple[int, tuple[int, int, int]]]) -> CountTable:
    return CountTable(
        ("tp", "fp", "fn"),
        tuple(map(str, range(len(rows)))),
        tuple(f"page {unit}" for unit, _ in rows),
        np.array([counts for _, counts in rows], dtype=np.int64),
    )


def slow_interval(
    table: CountTable, metric: str, resamples: int, seed: int
) -> tuple[float | None, float | None, float]:
    """Units, sums, values and quantiles as a person would do them, and Student's t by numerical integration."""
    units = sorted(set(table.units))
    size = len(units)
    if size < 2:
        return None, None, 0.0
    values = []
    for weights in Draws(size, resamples, seed).weights().tolist():
        tp = fp = fn = 0
        for unit, row in zip(table.units, table.values.tolist(), strict=True):
            times = weights[units.index(unit)]
            tp, fp, fn = tp + times * row[0], fp + times * row[1], fn + times * row[2]
        if metric == "recall" and tp + fn:
            values.append(tp / (tp + fn))
        if metric == "f1" and tp + fp + fn:
            precision, recall = tp / (tp + fp) if tp + fp else 0.0, tp / (tp + fn) if tp + fn else 0.0
            values.append(2 * precision * recall / (precision + recall) if tp else 0.0)
    undefined = (resamples - len(values)) / resamples
    if undefined > 0.05:
        return None, None, undefined
    values.sort()
    ends = []
    for share in (slow_tail(size), 1 - slow_tail(size)):
        place = share * (len(values) - 1)
        below = math.floor(place)
        above = min(below + 1, len(values) - 1)
        ends.append(values[below] * (1 - (place - below)) + values[above] * (place - below))
    return ends[0], ends[1], undefined


def slow_tail(size: int) -> float:
    points = {2: 12.706204736, 3: 4.302652730, 4: 3.182446305, 5: 2.776445105, 6: 2.570581836}
    return math.erfc(math.sqrt(size / (size - 1)) * points[size] / math.sqrt(2)) / 2


@settings(max_examples=examples(60), deadline=None)
@given(ROWS, st.integers(0, 50))
def test_intervals_equal_a_plain_loop(rows: list[tuple[int, tuple[int, int, int]]], seed: int) -> None:
    table = table_of(rows)
    found = intervals(table, [F1, RECALL], resamples=60, seed=seed)
    for name, interval in found.items():
        low, high, undefined = slow_interval(table, name, 60, seed)
        assert interval.undefined == undefined
        assert (interval.low is None, interval.high is None) == (low is None, high is None)
        if low is not None:
            assert (interval.low, interval.high) == (pytest.approx(low, abs=1e-9), pytest.approx(high, abs=1e-9))


@settings(max_examples=examples(40), deadline=None)
@given(ROWS, st.randoms(use_true_random=False))
def test_the_order_of_documents_changes_no_bit(rows: list[tuple[int, tuple[int, int, int]]], random: object) -> None:
    before = intervals(table_of(rows), [F1, RECALL], resamples=200)
    random.shuffle(rows)  # type: ignore[attr-defined]
    assert intervals(table_of(rows), [F1, RECALL], resamples=200) == before


@settings(max_examples=examples(30), deadline=None)
@given(ROWS)
def test_documents_or_their_sums_by_unit_give_the_same(rows: list[tuple[int, tuple[int, int, int]]]) -> None:
    table = table_of(rows)
    names, counts = table.by_unit()
    whole = CountTable(table.columns, names, names, counts)
    assert intervals(whole, [F1], resamples=200) == intervals(table, [F1], resamples=200)


def many_systems(systems: int, units: int) -> list[CountTable]:
    rng = np.random.default_rng(units)
    names = tuple(f"letter{number:03}" for number in range(units))
    columns = ("tp", "fp", "fn")
    return [CountTable(columns, names, names, rng.integers(0, 4, (units, 3))) for _ in range(systems)]


def test_many_systems_at_once_equal_each_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    tables = many_systems(7, 57) + many_systems(2, 13) + many_systems(1, 1)
    alone = [intervals(table, [F1, RECALL]) for table in tables]
    assert intervals_of_systems(tables, [F1, RECALL]) == alone
    module = sys.modules["histeval.stats.intervals"]  # the package also has a function of this name
    monkeypatch.setattr(module, "_SUMS_BYTES", 3 * 8 * 10_000)  # one system at a time
    assert intervals_of_systems(tables, [F1, RECALL]) == alone


def test_groups_hold_every_system_once() -> None:
    assert _groups([3] * 5, 1_000) == [[0, 1, 2, 3, 4]]
    assert [len(group) for group in _groups([300] * 5, 10_000)] == [1, 1, 1, 1, 1]
    assert _groups([], 10) == []


def test_one_unit_or_none_has_no_interval() -> None:
    missing = {"f1": Interval(None, None, 0.0)}
    assert intervals(table_of([(1, (1, 0, 0)), (1, (0, 1, 0))]), [F1]) == missing
    assert intervals(table_of([]), [F1]) == missing
    assert intervals_of_systems([], [F1]) == []


@pytest.mark.parametrize(("rows_with_names", "given_interval"), [(1, False), (2, False), (3, True), (8, True)])
def test_undefined_replicates_are_left_out_up_to_5_percent(rows_with_names: int, given_interval: bool) -> None:
    """Of 10 units, k hold something: a resample holds nothing with the chance (1 - k/10)^10."""
    rows = [(unit, (1, 0, 1) if unit < rows_with_names else (0, 0, 0)) for unit in range(10)]
    found = intervals(table_of(rows), [RECALL])["recall"]
    assert found.undefined == pytest.approx((1 - rows_with_names / 10) ** 10, abs=0.015)
    assert (found.low is not None, found.high is not None) == (given_interval, given_interval)
    if given_interval:
        assert (found.low, found.high) == (0.5, 0.5)


def test_a_metric_that_is_never_defined_has_no_interval() -> None:
    rows = [(unit, (0, 1, 0)) for unit in range(5)]
    assert intervals(table_of(rows), [RECALL])["recall"] == Interval(None, None, 1.0)


def test_quantiles_equal_those_of_numpy() -> None:
    values = np.random.default_rng(4).normal(size=(5, 999))
    for tail in (0.0, 0.0107, 0.025, 0.2):
        wanted = np.quantile(values, [tail, 1 - tail], axis=1).T
        found = np.array([(one.low, one.high) for one in quantile_intervals(values, tail)])
        assert np.allclose(found, wanted, rtol=0, atol=1e-15)


def test_fewer_units_make_wider_intervals_than_the_plain_percentile() -> None:
    table = many_systems(1, 12)[0]
    expanded = intervals(table, [F1])["f1"]
    plain = intervals(table, [F1], method="percentile")["f1"]
    assert expanded.low is not None
    assert plain.low is not None
    assert expanded.high is not None
    assert plain.high is not None
    assert expanded.low < plain.low < plain.high < expanded.high
    wider = intervals(table, [F1], confidence=0.99)["f1"]
    assert wider.low is not None
    assert wider.low < expanded.low


def test_the_interval_of_a_mean_is_as_wide_as_that_of_student() -> None:
    """For a well-behaved mean the expanded percentile is the t interval, which any textbook gives."""
    rng = np.random.default_rng(8)
    scores = np.rint(rng.normal(0.8, 0.05, 57) * 10**10).astype(np.int64)
    names = tuple(map(str, range(57)))
    table = CountTable(("score", "pages"), names, names, np.stack([scores, np.ones(57, dtype=np.int64)], axis=1))
    mean = Metric("mean", lambda sums: sums[..., 0] / sums[..., 1] / 1e10)
    found = intervals(table, [mean])["mean"]
    half = 2.0032 * (scores / 1e10).std(ddof=1) / math.sqrt(57)
    centre = (scores / 1e10).mean()
    assert found.low == pytest.approx(centre - half, abs=0.06 * half)
    assert found.high == pytest.approx(centre + half, abs=0.06 * half)


def test_wrong_use_is_one_sentence() -> None:
    table = many_systems(1, 5)[0]
    with pytest.raises(UsageError, match="confidence lies between 0 and 1"):
        intervals(table, [F1], confidence=95)
    with pytest.raises(UsageError, match="expanded or percentile"):
        intervals(table, [F1], method="bca")  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="at least one resample"):
        intervals(table, [F1], resamples=0)
    assert tail_probability(20, 0.9, "percentile") == pytest.approx(0.05)
