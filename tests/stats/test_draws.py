"""Draws and exact sums: shared, stable, the same in blocks of any size."""

from __future__ import annotations

import hashlib
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.stats import CountTable
from histeval.stats.draws import MOST_UNITS, Draws, Product, same_units, shared_draws, unit_counts
from support import examples


def slow_resample(units: int, draws: int, seed: int) -> list[list[int]]:
    """The documented recipe, one number at a time."""
    generator = np.random.PCG64(seed)
    rows = []
    for _ in range(draws):
        halves: list[int] = []
        while len(halves) < units:
            word = int(generator.random_raw())
            halves += [word & 0xFFFFFFFF, word >> 32]
        row = [0] * units
        for half in halves[:units]:
            row[half * units >> 32] += 1
        rows.append(row)
    return rows


def slow_swap(units: int, draws: int, seed: int) -> list[list[int]]:
    generator = np.random.PCG64(seed)
    rows = []
    for _ in range(draws):
        bits: list[int] = []
        while len(bits) < units:
            word = int(generator.random_raw())
            bits += [word >> place & 1 for place in range(64)]
        rows.append(bits[:units])
    return rows


@settings(max_examples=examples(60), deadline=None)
@given(st.integers(1, 300), st.integers(1, 12), st.integers(0, 2**40), st.integers(1, 14))
def test_draws_follow_the_documented_recipe_in_blocks_of_any_size(
    units: int, draws: int, seed: int, block: int
) -> None:
    assert Draws(units, draws, seed, block=block).weights().tolist() == slow_resample(units, draws, seed)
    assert Draws(units, draws, seed, "swap", block=block).weights().tolist() == slow_swap(units, draws, seed)


def test_the_first_draws_of_seed_1_are_pinned() -> None:
    """Published intervals must come out again in ten years."""
    assert Draws(8, 3, 1).weights().tolist() == slow_resample(8, 3, 1)
    drawn = Draws(57, 10_000, 1).weights()
    assert drawn.dtype == np.uint8
    assert hashlib.sha256(drawn.tobytes()).hexdigest()[:16] == "37d8d180ee8e0579"


def test_every_unit_is_drawn_as_often_as_any_other() -> None:
    drawn = Draws(57, 20_000, 3).weights().astype(np.int64)
    assert (drawn.sum(axis=1) == 57).all()
    assert drawn.mean(axis=0).min() > 0.97  # standard error 0.007
    assert drawn.mean(axis=0).max() < 1.03
    assert drawn.var(axis=0).mean() == pytest.approx(56 / 57, abs=0.01)
    swaps = Draws(57, 20_000, 3, "swap").weights()
    assert np.abs(swaps.mean(axis=0) - 0.5).max() < 0.015
    assert np.abs(np.corrcoef(swaps.T.astype(float)) - np.eye(57)).max() < 0.05


NUMBERS = st.one_of(st.integers(-5, 5), st.integers(-(2**40), 2**40), st.integers(-(2**60), 2**60))


@settings(max_examples=examples(80), deadline=None)
@given(st.data())
def test_sums_equal_a_plain_loop(data: st.DataObject) -> None:
    units, columns, draws = (data.draw(st.integers(1, most)) for most in (9, 4, 7))
    row = st.lists(NUMBERS, min_size=columns, max_size=columns)
    counts = np.array(data.draw(st.lists(row, min_size=units, max_size=units)), dtype=np.int64)
    seed, kind = data.draw(st.integers(0, 99)), data.draw(st.sampled_from(["bootstrap", "swap"]))
    slow = (slow_resample if kind == "bootstrap" else slow_swap)(units, draws, seed)
    wanted = [
        [float(sum(weight * int(counts[u, c]) for u, weight in enumerate(row))) for c in range(columns)] for row in slow
    ]
    for block in (1, 3, None):
        assert Draws(units, draws, seed, kind, block).sums(counts).tolist() == wanted


def test_sums_above_2_to_the_53_are_rounded_once() -> None:
    counts = np.array([[2**53 - 1], [2], [2**54 + 2]], dtype=np.int64)
    exact = Fraction(3 * (2**53 - 1) + 2 * 2 + 2**54 + 2)
    assert Product(counts)(np.array([[3, 2, 1]], dtype=np.uint8)).tolist() == [[float(exact)]]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.tuples(st.integers(0, 6), st.integers(-9, 9)), max_size=30), st.randoms(use_true_random=False))
def test_counts_by_unit_equal_a_plain_loop_in_any_order(rows: list[tuple[int, int]], random: object) -> None:
    wanted: dict[str, int] = {}
    for unit, value in rows:
        wanted[f"p{unit}"] = wanted.get(f"p{unit}", 0) + value
    for _ in range(2):
        random.shuffle(rows)  # type: ignore[attr-defined]
        table = CountTable(
            ("x",),
            tuple(map(str, range(len(rows)))),
            tuple(f"p{unit}" for unit, _ in rows),
            np.array([[value] for _, value in rows], dtype=np.int64),
        )
        names, counts = unit_counts(table)
        assert dict(zip(names, counts[:, 0].tolist(), strict=True)) == wanted
        assert list(names) == sorted(names)


def test_very_many_units_become_blocks() -> None:
    names = tuple(f"page {number}" for number in range(MOST_UNITS + 5_000))
    values = np.arange(len(names), dtype=np.int64)[:, None]
    blocks, counts = unit_counts(CountTable(("x",), names, names, values))
    wanted: dict[str, int] = {}
    for number, name in enumerate(names):
        hashed = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big") % 20_000
        wanted[f"block {hashed}"] = wanted.get(f"block {hashed}", 0) + number
    assert dict(zip(blocks, counts[:, 0].tolist(), strict=True)) == wanted
    assert counts.sum() == values.sum()
    backwards = unit_counts(CountTable(("x",), names[::-1], names[::-1], values[::-1]))
    assert backwards[0] == blocks
    assert (backwards[1] == counts).all()
    exactly = names[:MOST_UNITS]
    assert len(unit_counts(CountTable(("x",), exactly, exactly, values[:MOST_UNITS]))[0]) == MOST_UNITS


def test_more_units_than_are_kept_are_drawn_again_and_alike() -> None:
    counts = np.arange(20_000 * 2, dtype=np.int64).reshape(20_000, 2)
    large = Draws(20_000, 1_500, 5)
    once, again = large.sums(counts), large.sums(counts)
    assert large._kept is None
    assert (once == again).all()
    assert (once == Draws(20_000, 1_500, 5, block=333).sums(counts)).all()


def test_draws_are_shared() -> None:
    assert shared_draws(57, 100, 1) is shared_draws(57, 100, 1)
    assert shared_draws(57, 100, 1) is not shared_draws(57, 100, 2)


def table(units: str, columns: tuple[str, ...] = ("x",)) -> CountTable:
    return CountTable(columns, tuple(units), tuple(units), np.ones((len(units), len(columns)), dtype=np.int64))


def test_systems_on_other_units_or_columns_are_refused() -> None:
    assert [matrix.tolist() for matrix in same_units([table("ab"), table("ba")])[1]] == [[[1], [1]], [[1], [1]]]
    with pytest.raises(UsageError, match="'c' is in one only"):
        same_units([table("ab"), table("abc")])
    with pytest.raises(UsageError, match="different columns"):
        same_units([table("ab"), table("ab", ("x", "y"))])
    with pytest.raises(UsageError, match="at least one system"):
        same_units([])


@pytest.mark.parametrize(
    "wrong", [{"units": 0}, {"units": 3, "draws": 0}, {"units": 3, "seed": -1}, {"units": 3, "kind": "jackknife"}]
)
def test_impossible_draws_are_refused(wrong: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        Draws(**wrong)  # type: ignore[arg-type]
