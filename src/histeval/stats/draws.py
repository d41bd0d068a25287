"""Random draws that all systems share: bootstrap weights of sampling units, and swaps of whole units.

Draws depend on the number of units, the number of draws and the seed, and on nothing else: not on the system, not on
the machine, not on the version of numpy. They are made from the raw 64-bit output of PCG64 (which numpy keeps stable):
a unit index is the upper half of (32-bit word x number of units), a swap is one bit. An index computed so is uneven by
less than 20 000 / 2^32, five in a million, of its probability.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError
from histeval.stats.counts import CountTable

MOST_UNITS = 20_000
"""Above so many sampling units, units are hashed into so many blocks, and blocks are resampled."""

_KEEP_BYTES = 24 * 2**20  # draws up to this size are kept, larger ones are drawn again for each use
_DRAWN_AT_ONCE = 2**16  # numbers drawn at a time, so that all steps of drawing stay in the cache
_EXACT = 2**53  # integers below are exact in float64
_LOW_BITS = 26


@lru_cache(maxsize=8)
def _rows(units: tuple[str, ...], most: int) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    """Sorted names of the sampling units (or blocks of them), and the index of each document's unit among them."""
    names = sorted(set(units))
    if len(names) > most:
        block = {
            name: int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")
            % most
            for name in names
        }
        used = sorted(set(block.values()))
        place = {number: index for index, number in enumerate(used)}
        index = {name: place[number] for name, number in block.items()}
        names = [f"block {number}" for number in used]
    else:
        index = {name: row for row, name in enumerate(names)}
    return tuple(names), np.fromiter((index[unit] for unit in units), dtype=np.intp, count=len(units))


def unit_counts(table: CountTable, most: int = MOST_UNITS) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Names of the sampling units in sorted order and their counts, int64, shape (units, columns).

    Sorted, so that the order of documents changes no draw. More units than `most` are hashed by name (BLAKE2b, 8 bytes,
    modulo `most`) into blocks; empty blocks are left out.

    >>> table = CountTable(("tp",), ("a", "b", "c"), ("p2", "p1", "p2"), np.array([[1], [2], [3]]))
    >>> names, counts = unit_counts(table)
    >>> names, counts.tolist()
    (('p1', 'p2'), [[2], [4]])
    """
    names, rows = _rows(table.units, most)
    if len(names) == len(rows):
        matrix = np.empty_like(table.values)
        matrix[rows] = table.values
        return names, matrix
    order = np.argsort(rows, kind="stable")
    starts = np.flatnonzero(np.diff(rows[order], prepend=-1))
    return names, np.add.reduceat(table.values[order], starts, axis=0, dtype=np.int64)


def same_units(tables: Sequence[CountTable]) -> tuple[tuple[str, ...], list[NDArray[np.int64]]]:
    """The counts of several systems by their common sampling units, as `unit_counts`.

    Raises UsageError where units or columns differ: such systems cannot be compared pair by pair.
    """
    if not tables:
        raise UsageError("a comparison needs at least one system")
    names, first = unit_counts(tables[0])
    matrices = [first]
    known = set(tables[0].units)
    for table in tables[1:]:
        if table.columns != tables[0].columns:
            raise UsageError("these systems were scored under different rules: their counts have different columns")
        if table.units != tables[0].units and set(table.units) != known:
            example = min(set(table.units) ^ known)
            raise UsageError(
                f"these systems were not scored on the same sampling units ({example!r} is in one only); "
                "score them on the same documents"
            )
        matrices.append(unit_counts(table)[1])
    return names, matrices


Weights = NDArray[np.uint8] | NDArray[np.uint16]


class Draws:
    """Whole numbers drawn for each unit, shape (draws, units), multiplied with counts.

    `kind` is "bootstrap" (how often each unit was drawn in a resample of as many units as there are) or "swap"
    (whether the two systems of a pair change places in this unit). `block` bounds how many draws are multiplied at a
    time; it changes memory and time, and no number.

    >>> Draws(3, 2, seed=1).weights().sum(axis=1).tolist()
    [3, 3]
    """

    def __init__(
        self, units: int, draws: int = 10_000, seed: int = 1, kind: str = "bootstrap", block: int | None = None
    ) -> None:
        if units < 1 or draws < 1:
            raise UsageError("draws need at least one sampling unit and at least one resample")
        if kind not in ("bootstrap", "swap"):
            raise UsageError(f"draws are of the kind bootstrap or swap, not {kind!r}")
        if seed < 0:
            raise UsageError(f"a seed is a whole number from 0, not {seed}")
        self.units, self.draws, self.seed, self.kind = units, draws, seed, kind
        self.block = block
        self._kept: Weights | None = None

    def weights(self) -> Weights:
        """All draws at once, shape (draws, units); uint8 wherever the numbers fit."""
        if self._kept is not None:
            return self._kept
        return next(self._drawn(self.draws))

    def blocks(self, columns: int = 1) -> Iterator[tuple[slice, Weights]]:
        """The draws in consecutive blocks, with the place of each: (slice, shape (block, units)).

        Blocks suit a product with `columns` columns: small for few columns, since BLAS then stays on one core and in
        its cache (its threads wait for each other dearly on a busy machine), larger for many.
        """
        numbers = min(max(columns * 2**13, 2**16), 2**20)
        block = max(1, min(self.draws, self.block or numbers // self.units))
        if self._kept is None and self.draws * self.units <= _KEEP_BYTES:
            self._kept = self.weights()
        if self._kept is not None:
            for start in range(0, self.draws, block):
                place = slice(start, min(start + block, self.draws))
                yield place, self._kept[place]
            return
        start = 0
        for part in self._drawn(block):
            yield slice(start, start + len(part)), part
            start += len(part)

    def sums(self, counts: NDArray[np.int64]) -> NDArray[np.float64]:
        """Sums of each draw: draws x counts, float64, shape (draws, columns) for counts of shape (units, columns).

        Whole numbers, exact below 2^53 and rounded once above. In memory each column is contiguous.
        """
        product = Product(counts)
        out = np.empty((counts.shape[1], self.draws))
        for place, drawn in self.blocks(counts.shape[1]):
            out[:, place] = product(drawn)
        return out.T

    def _drawn(self, block: int) -> Iterator[Weights]:
        """The draws from the first on, `block` at a time; their numbers do not depend on `block`."""
        generator = np.random.PCG64(self.seed)
        make = _resample if self.kind == "bootstrap" else _swap
        step = max(1, _DRAWN_AT_ONCE // self.units)
        for first in range(0, self.draws, block):
            size = min(block, self.draws - first)
            out: Weights = np.empty((size, self.units), dtype=np.uint8)
            for start in range(0, size, step):
                part = make(generator, min(step, size - start), self.units)
                if part.dtype != out.dtype:  # a unit drawn more than 255 times at once
                    out = out.astype(np.result_type(out, part))
                out[start : start + len(part)] = part
            yield out


class Product:
    """Multiplies draws with one matrix of counts, exactly.

    Counts so large that a sum could pass 2^53 are split into high and low halves, whose products are exact; adding
    them rounds once. So no order of summation can show in the result.
    """

    def __init__(self, counts: NDArray[np.int64]) -> None:
        units = len(counts)
        largest = max(abs(int(counts.max(initial=0))), abs(int(counts.min(initial=0))))
        self.halves: list[tuple[float, NDArray[np.float64]]]
        if units * largest < _EXACT:
            self.halves = [(1.0, np.ascontiguousarray(counts.T, dtype=np.float64))]
        else:
            high = counts >> _LOW_BITS
            low = counts - (high << _LOW_BITS)
            self.halves = [
                (float(2**_LOW_BITS), np.ascontiguousarray(high.T, dtype=np.float64)),
                (1.0, np.ascontiguousarray(low.T, dtype=np.float64)),
            ]

    def __call__(self, drawn: Weights) -> NDArray[np.float64]:
        """Sums of shape (columns, draws) for draws of shape (draws, units)."""
        drawn_float = drawn.astype(np.float64).T
        total: NDArray[np.float64] | None = None
        for scale, half in self.halves:
            part = half @ drawn_float if scale == 1.0 else (half @ drawn_float) * scale
            total = part if total is None else total + part
        assert total is not None
        return total


@lru_cache(maxsize=4)
def shared_draws(units: int, draws: int, seed: int, kind: str = "bootstrap") -> Draws:
    """The draws for this number of units, kept for the next system."""
    return Draws(units, draws, seed, kind)


def _resample(generator: np.random.PCG64, draws: int, units: int) -> Weights:
    """How often each unit is drawn when `units` units are drawn with replacement, `draws` times."""
    words = -(-units // 2)  # 64-bit words for a draw; the last half of an odd draw is thrown away
    raw = generator.random_raw(draws * words).astype("<u8", copy=False).view("<u4").reshape(draws, 2 * words)
    picked = raw[:, :units].astype(np.uint64)
    picked *= np.uint64(units)
    picked >>= np.uint64(32)
    index = picked.view(np.int64)
    index += (np.arange(draws, dtype=np.int64) * units)[:, None]
    counts = np.bincount(index.ravel(), minlength=draws * units).reshape(draws, units)
    if units < 256 or counts.max() < 256:
        return counts.astype(np.uint8)
    return counts.astype(np.uint16)


def _swap(generator: np.random.PCG64, draws: int, units: int) -> Weights:
    """0 or 1 for each unit with equal chance, `draws` times."""
    words = -(-units // 64)
    raw = generator.random_raw(draws * words).astype("<u8", copy=False).view(np.uint8).reshape(draws, 8 * words)
    return np.unpackbits(raw, axis=1, count=units, bitorder="little")
