"""Tests between systems, against every possible swap enumerated by hand, and against worked examples."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.stats import (
    Comparison,
    CountTable,
    Metric,
    compare_all_pairs,
    compare_with_baseline,
    divide,
    f_score,
    holm,
    rank_intervals,
)
from histeval.stats.draws import Draws
from histeval.stats.swaps import _used_columns, step_down_test, swap_test, swapped_differences
from support import examples

F1 = Metric("f1", lambda sums: f_score(sums[..., 0], sums[..., 1], sums[..., 2]))
RECALL = Metric("recall", lambda sums: divide(sums[..., 0], sums[..., 0] + sums[..., 2]))
COLUMNS = ("tp", "fp", "fn")
COUNTS = st.lists(st.tuples(*[st.integers(0, 3)] * 3), min_size=8, max_size=8)
Rows = list[tuple[int, int, int]]


class EverySwap(Draws):
    """All 2^n swaps instead of random ones."""

    def __init__(self, units: int) -> None:
        super().__init__(units, 2**units, kind="swap", block=50)
        self._kept = np.array(list(itertools.product((0, 1), repeat=units)), dtype=np.uint8)


@pytest.fixture
def every_swap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("histeval.stats.swaps._swaps", lambda counts, *_: EverySwap(len(counts[0])))


def slow_f1(rows: Rows) -> float:
    tp, fp, fn = (sum(row[place] for row in rows) for place in range(3))
    if not tp + fp + fn:
        return math.nan
    return 2 * tp / (2 * tp + fp + fn)


def slow_differences(a: Rows, b: Rows) -> list[float]:
    """The difference of a pair under each of the 2^n swaps, no swap first."""
    found = []
    for swap in itertools.product((False, True), repeat=len(a)):
        left = [y if swapped else x for x, y, swapped in zip(a, b, swap, strict=True)]
        right = [x if swapped else y for x, y, swapped in zip(a, b, swap, strict=True)]
        found.append(slow_f1(left) - slow_f1(right))
    return found


def slow_test(a: Rows, b: Rows) -> float | None:
    differences = slow_differences(a, b)
    defined = [value for value in differences if not math.isnan(value)]
    if math.isnan(differences[0]) or len(defined) < 0.95 * len(differences):
        return None
    extreme = sum(abs(value) >= abs(differences[0]) - 1e-9 for value in defined)
    return (extreme + 1) / (len(defined) + 1)


def arrays(*systems: Rows) -> list[np.ndarray]:
    return [np.array(rows, dtype=np.int64) for rows in systems]


def table_of(rows: Rows, units: str | None = None) -> CountTable:
    names = tuple(units or "abcdefghijklmnopqrstuvwxyz"[: len(rows)])
    return CountTable(COLUMNS, tuple(map(str, range(len(rows)))), names, np.array(rows, dtype=np.int64))


@pytest.mark.usefixtures("every_swap")
@settings(max_examples=examples(40), deadline=None)
@given(a=COUNTS, b=COUNTS)
def test_p_values_equal_those_of_all_256_swaps(a: Rows, b: Rows) -> None:
    (p, undefined), (swapped_p, _) = swap_test(arrays(a, b), F1, [(0, 1), (1, 0)], 256, 1)
    assert p == swapped_p  # two-sided
    assert p == (pytest.approx(wanted) if (wanted := slow_test(a, b)) is not None else None)
    assert undefined == pytest.approx(sum(map(math.isnan, slow_differences(a, b))) / 256)


@pytest.mark.usefixtures("every_swap")
@settings(max_examples=examples(15), deadline=None)
@given(st.lists(COUNTS, min_size=2, max_size=4))
def test_step_down_p_values_equal_those_of_all_256_swaps(systems: list[Rows]) -> None:
    pairs = [(a, b) for a, b in itertools.combinations(range(len(systems)), 2)]
    found = step_down_test(arrays(*systems), F1, pairs, 256, 1)
    assert [p for p, _, _ in found] == [
        None if (p := slow_test(systems[a], systems[b])) is None else pytest.approx(p) for a, b in pairs
    ]
    wanted = slow_step_down([slow_differences(systems[a], systems[b]) for a, b in pairs])
    for (p, corrected, _), value in zip(found, wanted, strict=True):
        if p is not None:
            assert corrected == pytest.approx(max(value, p))


def slow_step_down(differences: list[list[float]]) -> list[float]:
    """Westfall and Young's step-down maximum in their own words: for each hypothesis the maximum over those left."""
    scales = []
    for values in differences:
        squares = [value**2 for value in [*values, values[0]] if not math.isnan(value)]
        scales.append(math.sqrt(sum(squares) / len(squares)) if squares and sum(squares) else 1.0)
    left = [place for place, values in enumerate(differences) if not math.isnan(values[0])]
    left.sort(key=lambda place: -round(abs(differences[place][0]) / scales[place], 9))
    corrected, largest = [math.nan] * len(differences), 0.0
    while left:
        place = left[0]
        statistic = abs(differences[place][0]) / scales[place]
        reached = 0
        for swap in range(len(differences[0])):
            values = [abs(differences[other][swap]) / scales[other] for other in left]
            reached += max((value for value in values if not math.isnan(value)), default=0.0) >= statistic - 1e-9
        largest = max(largest, (reached + 1) / (len(differences[0]) + 1))
        corrected[place] = largest
        left = left[1:]
    return corrected


@pytest.mark.usefixtures("every_swap")
def test_rounding_is_no_difference() -> None:
    """Two systems with the same F1 under every swap, but for the last digit: found at 10 000 generated cases."""
    none = [(0, 0, 0)] * 7 + [(1, 1, 0)]
    one = [(2, 2, 2), (0, 0, 2), (2, 0, 2), (1, 1, 2), (1, 0, 2), (0, 1, 2), (2, 1, 1), (2, 2, 1)]
    other = [(2, 2, 2), (0, 1, 1), (2, 0, 2), (1, 1, 2), (1, 0, 2), (0, 1, 2), (2, 0, 2), (2, 1, 2)]
    found = step_down_test(arrays(none, one, other), F1, [(0, 1), (0, 2), (1, 2)], 256, 1)
    assert [corrected for _, corrected, _ in found] == [pytest.approx(43 / 257), pytest.approx(43 / 257), 1.0]


@pytest.mark.usefixtures("every_swap")
def test_a_case_worked_out_by_hand() -> None:
    """x finds everything, y half, z nothing: 8 letters of one name each; accuracy only."""
    right, wrong = (1, 0, 0), (0, 0, 1)
    x, y, z = [right] * 8, [right] * 4 + [wrong] * 4, [wrong] * 8
    pairs = [(0, 1), (0, 2), (1, 2)]
    alone = [p for p, _ in swap_test(arrays(x, y, z), RECALL, pairs, 256, 1)]
    # x and y differ on four letters: all four coins alike, 2 of 16 times 16 of 256 swaps; x and z on all: 2 of 256
    assert alone == [33 / 257, 3 / 257, 33 / 257]
    corrected = [p for _, p, _ in step_down_test(arrays(x, y, z), RECALL, pairs, 256, 1)]
    # In standard errors: x-z 8 / sqrt(8) = 2.83; x-y and y-z 4 / sqrt(4) = 2. First x-z: only all coins alike: 2.
    # Then x-y, together with y-z: four heads or tails on letters 5 to 8, or on 1 to 4: 32 + 32 - 4 = 60.
    # The last, y-z alone, needs 32; but p-values never decrease along the order: 60 as well.
    assert corrected == [61 / 257, 3 / 257, 61 / 257]


def test_random_swaps_approach_all_swaps() -> None:
    rng = np.random.default_rng(11)
    for _ in range(5):
        a, b = (list(map(tuple, rng.integers(0, 4, (8, 3)).tolist())) for _ in range(2))
        p = swap_test(arrays(a, b), F1, [(0, 1)], 10_000, 1)[0][0]
        assert p == pytest.approx(slow_test(a, b), abs=0.015)


def test_p_values_are_uniform_where_systems_are_equally_good() -> None:
    """500 pairs of equally good systems: p at most 0.05 about 25 times (standard deviation 4.9), never far more."""
    rng = np.random.default_rng(12)
    counts = list(rng.integers(0, 4, (1_000, 30, 3)))
    p_values = [p for p, _ in swap_test(counts, F1, [(2 * i, 2 * i + 1) for i in range(500)], 2_000, 1)]
    small = sum(p <= 0.05 for p in p_values if p is not None)
    assert 10 <= small <= 40
    assert sum(p <= 0.5 for p in p_values if p is not None) == pytest.approx(250, abs=40)


def test_familywise_error_of_all_pairs_is_near_5_percent() -> None:
    """150 times six equally good systems: any pair told apart in about 7 (standard deviation 2.7), and not in none."""
    rng = np.random.default_rng(13)
    pairs = list(itertools.combinations(range(6), 2))
    wrong = sum(
        min(p for _, p, _ in step_down_test(list(rng.integers(0, 4, (6, 30, 3))), F1, pairs, 500, 1) if p) <= 0.05
        for _ in range(150)
    )
    assert 1 <= wrong <= 16


@settings(max_examples=examples(30), deadline=None)
@given(st.lists(COUNTS, min_size=2, max_size=4), st.integers(1, 50))
def test_swapped_differences_are_alike_in_blocks_of_any_size(systems: list[Rows], block: int) -> None:
    pairs = list(itertools.combinations(range(len(systems)), 2))
    whole = np.concatenate(list(swapped_differences(arrays(*systems), F1, pairs, Draws(8, 40, 1, "swap"))), axis=1)
    parts = np.concatenate(
        list(swapped_differences(arrays(*systems), F1, pairs, Draws(8, 40, 1, "swap", block))), axis=1
    )
    assert np.array_equal(whole, parts, equal_nan=True)


def test_every_pair_in_any_order_and_any_run_length(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    counts = list(rng.integers(0, 4, (6, 10, 3)))
    pairs = list(itertools.permutations(range(6), 2))
    swaps = Draws(10, 64, 1, "swap")
    together = next(swapped_differences(counts, F1, pairs, swaps))
    for place, pair in enumerate(pairs):
        assert (next(swapped_differences(counts, F1, [pair], swaps))[0] == together[place]).all()
    monkeypatch.setattr("histeval.stats.swaps._CHUNK_NUMBERS", 1)
    assert (next(swapped_differences(counts, F1, pairs, swaps)) == together).all()


def test_only_columns_that_a_metric_reads_are_summed() -> None:
    sums = np.random.default_rng(1).integers(1, 9, (3, 20, 7)).astype(float)
    assert _used_columns(Metric("m", lambda s: divide(s[..., 2], s[..., 5])), sums) == [2, 5]
    assert _used_columns(Metric("m", lambda s: divide(s[..., 2], s[..., 5])), np.zeros((3, 20, 7))) == [2, 5]


def test_units_are_swapped_not_documents() -> None:
    """Sixteen documents on two pages: only four swaps are possible, and every one of them has the same size."""
    a, b = table_of([(1, 0, 0)] * 16, "pq" * 8), table_of([(0, 0, 1)] * 16, "pq" * 8)
    assert compare_with_baseline({"a": a, "b": b}, [RECALL])[0].p == pytest.approx(0.5, abs=0.02)
    one_page = {"a": table_of([(1, 0, 0)] * 4, "pppp"), "b": table_of([(0, 0, 1)] * 4, "pppp")}
    only = compare_with_baseline(one_page, [RECALL])[0]
    assert (only.p, only.low, only.high, only.difference) == (1.0, None, None, -1.0)


def systems_of(number: int, units: int = 20) -> dict[str, CountTable]:
    rng = np.random.default_rng(5)
    names = tuple(f"u{place:02}" for place in range(units))
    found = {}
    for place in range(number):
        hits = rng.binomial(3, 0.3 + 0.6 * place / number, units)
        values = np.stack([hits, rng.poisson(0.4, units), 3 - hits], axis=1)
        found[f"system{place}"] = CountTable(COLUMNS, names, names, values)
    return found


def test_baseline_comparisons() -> None:
    systems = systems_of(5)
    found = compare_with_baseline(systems, [F1, RECALL], "system2")
    assert [(one.metric, one.a, one.b) for one in found] == [
        (metric, f"system{place}", "system2") for metric in ("f1", "recall") for place in (0, 1, 3, 4)
    ]
    assert [one.p_corrected for one in found[:4]] == holm([one.p for one in found[:4]])
    assert [one.p_corrected for one in found[4:]] == holm([one.p for one in found[4:]])
    for one in found:
        metric = F1 if one.metric == "f1" else RECALL
        a, b = (metric.value(systems[name].sums()) for name in (one.a, one.b))
        assert a is not None
        assert b is not None
        assert one.difference == a - b
        assert one.low is not None
        assert one.high is not None
        assert one.low < one.difference < one.high
    bare = compare_with_baseline(systems, [F1], "system2", with_intervals=False)
    assert [(one.p, one.low) for one in bare] == [(one.p, None) for one in found[:4]]


def test_a_pair_is_the_same_alone_against_a_baseline_and_among_all() -> None:
    systems = systems_of(4)
    among = {(one.a, one.b): one for one in compare_all_pairs(systems, F1)}
    assert list(among) == list(itertools.combinations(systems, 2))
    for base in systems:
        for one in compare_with_baseline(systems, [F1], base):
            other = among.get((one.a, one.b))
            if other is None:
                other = among[one.b, one.a]
                assert other.difference == pytest.approx(-(one.difference or 0))
                assert (other.low, other.high) == (pytest.approx(-(one.high or 0)), pytest.approx(-(one.low or 0)))
            else:
                assert (one.difference, one.low, one.high) == (other.difference, other.low, other.high)
            assert one.p == other.p
    two = dict(list(systems.items())[1:3])
    alone = compare_all_pairs(two, F1)[0]
    assert alone.p == among["system1", "system2"].p == alone.p_corrected


def test_the_interval_of_a_difference_equals_a_plain_loop() -> None:
    a, b = list(systems_of(2, units=6).values())
    found = compare_with_baseline({"b": b, "a": a}, [F1], resamples=200)[0]
    values = []
    for weights in Draws(6, 200, 1).weights().tolist():
        drawn = [unit for unit, times in enumerate(weights) for _ in range(times)]
        left, right = ([tuple(table.values[unit]) for unit in drawn] for table in (a, b))
        values.append(slow_f1(left) - slow_f1(right))
    tail = math.erfc(math.sqrt(6 / 5) * 2.570581836 / math.sqrt(2)) / 2
    assert found.low == pytest.approx(np.quantile(values, tail), abs=1e-9)
    assert found.high == pytest.approx(np.quantile(values, 1 - tail), abs=1e-9)


def test_order_of_systems_and_documents_changes_nothing() -> None:
    systems = systems_of(4)
    mixed = {}
    for place, (name, table) in enumerate(reversed(systems.items())):
        order = np.random.default_rng(place).permutation(len(table))
        mixed[name] = CountTable(
            COLUMNS,
            tuple(table.documents[i] for i in order),
            tuple(table.units[i] for i in order),
            table.values[order],
        )
    forward = {frozenset((one.a, one.b)): one for one in compare_all_pairs(systems, F1)}
    for one in compare_all_pairs(mixed, F1):
        same = forward[frozenset((one.a, one.b))]
        assert (one.p, one.p_corrected) == (same.p, same.p_corrected)


def test_identical_systems_and_undefined_metrics() -> None:
    rows: Rows = [(1, 0, 1)] * 5 + [(0, 0, 0)] * 3
    nothing: Rows = [(0, 1, 0)] * 8
    systems = {"a": table_of(rows), "same": table_of(rows), "nothing": table_of(nothing)}
    same, undefined, also_undefined = compare_all_pairs(systems, RECALL)
    assert (same.difference, same.p, same.p_corrected, same.low, same.high) == (0.0, 1.0, 1.0, 0.0, 0.0)
    for one in (undefined, also_undefined):
        assert (one.difference, one.p, one.p_corrected, one.low, one.high) == (None, None, None, None, None)
    ranks = rank_intervals(systems, [same, undefined, also_undefined])
    assert ranks == {"a": (1, 3), "same": (1, 3), "nothing": (1, 3)}


def test_swaps_that_leave_a_metric_undefined_are_left_out_up_to_5_percent() -> None:
    """One system has all names of its recall on k units; if all k are swapped away its recall is 0/0."""
    for units, given_p in ((2, False), (6, True)):
        a: Rows = [(1, 0, 0) if place < units else (0, 0, 0) for place in range(8)]
        b: Rows = [(0, 0, 0)] * 7 + [(1, 0, 1)]
        p, undefined = swap_test(arrays(a, b), RECALL, [(0, 1)], 10_000, 1)[0]
        assert (p is not None) == given_p
        # both sums are empty of names when the coins of a's units fall apart from that of b's unit
        assert undefined == pytest.approx(2 * 0.5 ** (units + 1), abs=0.02)


def test_holm_worked_out_by_hand() -> None:
    # sorted 0.005, 0.01, 0.03, 0.04: times 4, 3, 2, 1 = 0.02, 0.03, 0.06, 0.04; never below the one before
    assert holm([0.01, 0.04, 0.03, 0.005]) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.6, 0.7]) == [1.0, 1.0]
    assert holm([]) == []
    assert holm([None, 0.02, None]) == [None, 0.02, None]
    assert holm([0.01, 0.01, 0.01]) == pytest.approx([0.03, 0.03, 0.03])


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.floats(0.0001, 1.0), max_size=12))
def test_holm_equals_its_definition(p_values: list[float]) -> None:
    """Rejected at a level exactly where Holm's step-down procedure rejects."""
    corrected = holm(p_values)
    for level in (0.01, 0.05, 0.2):
        rejected: set[int] = set()
        for step, place in enumerate(sorted(range(len(p_values)), key=lambda i: p_values[i])):
            if p_values[place] * (len(p_values) - step) > level:
                break
            rejected.add(place)
        assert {place for place, p in enumerate(corrected) if p is not None and p <= level} == rejected


def pair(a: str, b: str, difference: float, p: float | None) -> Comparison:
    return Comparison(a, b, "m", difference, p_corrected=p)


def test_rank_intervals_for_scores_and_for_error_rates() -> None:
    pairs = [pair("a", "b", 0.1, 0.2), pair("a", "c", 0.3, 0.01), pair("b", "c", 0.2, 0.05), pair("a", "d", 0.4, None)]
    assert rank_intervals("abcd", pairs) == {"a": (1, 3), "b": (1, 3), "c": (3, 4), "d": (1, 4)}
    assert rank_intervals("abcd", pairs, higher_is_better=False) == {"a": (2, 4), "b": (2, 4), "c": (1, 2), "d": (1, 4)}
    assert rank_intervals("abcd", pairs, level=0.02)["b"] == (1, 4)


def test_clearly_ordered_systems_have_clear_ranks() -> None:
    systems = systems_of(3, units=200)
    assert rank_intervals(systems, compare_all_pairs(systems, F1, with_intervals=False)) == {
        "system2": (1, 1),
        "system1": (2, 2),
        "system0": (3, 3),
    }


def test_wrong_use_is_one_sentence() -> None:
    systems = systems_of(2)
    with pytest.raises(UsageError, match="'best' is not among the systems system0, system1"):
        compare_with_baseline(systems, [F1], "best")
    with pytest.raises(UsageError, match="score them on the same documents"):
        compare_all_pairs(systems | {"other": table_of([(1, 0, 0)] * 3)}, F1)
    with pytest.raises(UsageError, match="at least one system"):
        compare_all_pairs({}, F1)
    assert compare_all_pairs({"one": systems["system0"]}, F1) == []
    assert compare_with_baseline({"one": systems["system0"]}, [F1]) == []
