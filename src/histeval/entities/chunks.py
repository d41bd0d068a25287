"""Chunks of tag sequences, extracted on arrays.

Labels are encoded once to integers, all sequences one after another with an outside label between; a chunk's edges then
depend only on two neighbouring codes and are looked up in a table. An `Encoded` is reused for every scheme and
resample.

Two readings. *Lenient* is that of the conlleval script and of seqeval 1.2.2 in its default mode, which needs no scheme.
*Strict* takes the scheme at its word: a chunk that it does not allow is malformed. seqeval's strict mode leaves
malformed chunks out in silence, so that a prediction of `I-` tags alone costs nothing; here a malformed chunk never
matches, and counts as a false positive in the prediction and as a false negative in the gold standard. Where nothing is
malformed, the two are equal.

Sources: Tjong Kim Sang and Buchholz 2000 (conlleval); seqeval 1.2.2.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import chain, repeat
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from histeval.errors import UsageError

Codes = NDArray[np.integer[Any]]
Flags = NDArray[np.uint8]
Ints = NDArray[np.int64]

STRICT_SCHEMES = ("IO", "IOB1", "IOB2", "IOE2", "IOBES", "BILOU")
"""The schemes that strict reading knows."""

_START, _END, _BAD_START, _BAD_END = 1, 2, 4, 8
_TABLE_LIMIT = 1024  # with more labels than this, edges are computed pair by pair instead of in a table
_BLOCK = 1 << 15  # positions looked up at once, so that the work stays in the processor's cache
_OUTSIDE = "O"

_INSIDE = {  # pairs of prefixes that continue a chunk of one type
    "IO": ("II",),
    "IOB1": ("BI", "II"),
    "IOB2": ("BI", "II"),
    "IOE2": ("II", "IE"),
    "IOBES": ("BI", "BE", "II", "IE"),
    "BILOU": ("BI", "BL", "II", "IL"),
}
_FIRST = {"IO": "I", "IOB1": "BI", "IOB2": "B", "IOE2": "IE", "IOBES": "BS", "BILOU": "BU"}
_LAST = {"IO": "I", "IOB1": "BI", "IOB2": "BI", "IOE2": "E", "IOBES": "ES", "BILOU": "LU"}


class Chunk(NamedTuple):
    """A chunk: its sequence, type, first token, the token after its last, and whether the scheme does not allow it."""

    sequence: int
    type: str
    start: int
    end: int
    malformed: bool


class Vocabulary(dict[str, int]):
    """Labels and their codes in order of first appearance; code 0 is the outside label."""

    def __init__(self) -> None:
        super().__init__({_OUTSIDE: 0})

    def __missing__(self, label: str) -> int:
        if not isinstance(label, str):
            raise UsageError(f"a label must be text such as B-PER or O, not {label!r}")
        code = self[label] = len(self)
        return code


@dataclass(frozen=True)
class _Labels:
    """What the labels of a vocabulary mean: prefix (a code point), type (an index of `types`) of each."""

    prefixes: NDArray[np.int32]
    type_of: NDArray[np.int32]
    types: tuple[str, ...]


def _label_parts(labels: Iterable[str]) -> _Labels:
    types: dict[str, int] = {}
    prefixes, kinds = [], []
    for label in labels:
        # As seqeval: the prefix is the first character, the type what follows the first hyphen after it, else `_`.
        prefixes.append(ord(label[0]) if label else ord(_OUTSIDE))
        kinds.append(types.setdefault(label[1:].split("-", 1)[-1] or "_", len(types)))
    return _Labels(np.array(prefixes, dtype=np.int32), np.array(kinds, dtype=np.int32), tuple(types))


@dataclass(frozen=True)
class Chunks:
    """Chunks by position in the joined sequences: type, first position, position after the last; shape (chunks,)."""

    types: NDArray[np.int32]
    starts: NDArray[np.int64]
    ends: NDArray[np.int64]
    malformed: NDArray[np.bool_]


@dataclass(frozen=True)
class Encoded:
    """Tag sequences as integers.

    `codes` holds the codes of all labels, each sequence followed by one outside code, shape (tokens + sequences,);
    `lengths` the number of tokens of each sequence, shape (sequences,). Made by `encode` or `Encoded.of_codes`.
    """

    codes: Codes
    lengths: Ints
    vocabulary: Vocabulary
    _cache: dict[Any, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of_codes(cls, codes: Codes, lengths: Ints, labels: Sequence[str]) -> Encoded:
        """From codes without gaps, shape (tokens,), into `labels`, as a Parquet file or a tagger gives them."""
        vocabulary = Vocabulary()
        translate = np.array([vocabulary[label] for label in labels] or [0], dtype=np.int32)
        lengths = np.asarray(lengths, dtype=np.int64)
        if len(codes) != lengths.sum():
            raise UsageError(f"{len(codes)} codes do not fill sequences of {lengths.sum()} tokens in all")
        joined = np.zeros(len(codes) + len(lengths), dtype=_code_type(len(vocabulary)))
        held = np.ones(len(joined), dtype=bool)
        held[np.cumsum(lengths + 1) - 1] = False
        joined[held] = translate.astype(joined.dtype).take(codes)
        return cls(joined, lengths, vocabulary)

    def __len__(self) -> int:
        return len(self.lengths)

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_cache": {}}

    @property
    def first_positions(self) -> Ints:
        """Where each sequence begins in `codes`, shape (sequences,)."""
        positions: Ints | None = self._cache.get("first")
        if positions is None:
            positions = np.zeros(len(self.lengths), dtype=np.int64)
            np.cumsum(self.lengths[:-1] + 1, out=positions[1:])
            self._cache["first"] = positions
        return positions

    @property
    def _labels(self) -> _Labels:
        key = ("labels", len(self.vocabulary))
        found: _Labels | None = self._cache.get(key)
        if found is None:
            found = self._cache[key] = _label_parts(self.vocabulary)
        return found

    @property
    def types(self) -> tuple[str, ...]:
        """The types of all labels in the vocabulary; `Chunks.types` are indices of it."""
        return self._labels.types

    def chunks(self, scheme: str = "IOB2", strict: bool = False) -> Chunks:
        """The chunks of all sequences in order of their ends; computed once for each reading."""
        key = (_reading(scheme, strict), len(self.vocabulary))
        found: Chunks | None = self._cache.get(key)
        if found is None:
            found = self._cache[key] = self._extract(key[0], strict)
        return found

    def _extract(self, reading: str, strict: bool) -> Chunks:
        labels = self._labels
        flags = self._edges(labels, reading)
        ends = np.flatnonzero(flags & _END != 0)  # numpy finds true values much faster than non-zero ones
        starts = np.flatnonzero(flags & _START != 0)
        paired = len(starts) == len(ends) and bool((starts < ends).all() and (starts[1:] >= ends[:-1]).all())
        if not paired:  # prefixes outside B, I, E, S can end a chunk that never began; seqeval's offsets are followed
            last = np.searchsorted(starts, ends) - 1
            starts = np.where(last >= 0, starts[last], 0) if len(starts) else np.zeros_like(ends)
        kinds = labels.type_of[self.codes[ends - 1]]
        if strict:
            malformed = (flags[starts] & _BAD_START != 0) | (flags[ends] & _BAD_END != 0)
        else:
            malformed = np.zeros(len(ends), dtype=bool)
        return Chunks(kinds, starts, ends, malformed)

    def _edges(self, labels: _Labels, reading: str) -> Flags:
        """What happens between each position and the one before it, as bits; shape of `codes`."""
        codes, size = self.codes, len(labels.prefixes)
        flags = np.empty(len(codes), dtype=np.uint8)
        if not len(codes):
            return flags
        before = np.zeros(1, dtype=codes.dtype)
        if size <= _TABLE_LIMIT:
            table_key = ("table", reading, size)
            table: Flags | None = self._cache.get(table_key)
            if table is None:
                grid = np.arange(size)
                table = _transitions(labels, reading, np.repeat(grid, size), np.tile(grid, size))
                self._cache[table_key] = table
            pairs = np.empty(_BLOCK, dtype=np.intp)
            for first in range(0, len(codes), _BLOCK):
                part = codes[first : first + _BLOCK]
                row = pairs[: len(part)]
                row[0] = codes[first - 1] if first else 0
                row[1:] = part[:-1]
                row *= size
                row += part
                np.take(table, row, out=flags[first : first + len(part)], mode="clip")
            return flags
        return _transitions(labels, reading, np.concatenate((before, codes[:-1])), codes)

    def listed(self, scheme: str = "IOB2", strict: bool = False) -> list[Chunk]:
        """The chunks one by one, with their sequence and token numbers."""
        chunks = self.chunks(scheme, strict)
        first = self.first_positions
        sequences = np.searchsorted(first, chunks.ends - 1, side="right") - 1
        types = self.types
        rows = zip(
            sequences.tolist(),
            chunks.types.tolist(),
            (chunks.starts - first[sequences]).tolist(),
            (chunks.ends - first[sequences]).tolist(),
            chunks.malformed.tolist(),
            strict=True,
        )
        return [Chunk(sequence, types[kind], start, end, bad) for sequence, kind, start, end, bad in rows]


def _reading(scheme: str, strict: bool) -> str:
    if strict:
        if scheme not in STRICT_SCHEMES:
            raise UsageError(f"there is no tag scheme {scheme!r}; there are {', '.join(STRICT_SCHEMES)}")
        return scheme
    if scheme not in STRICT_SCHEMES:
        raise UsageError(f"there is no tag scheme {scheme!r}; there are {', '.join(STRICT_SCHEMES)}")
    return "lenient BILOU" if scheme == "BILOU" else "lenient"


def _transitions(labels: _Labels, reading: str, before: Codes, after: Codes) -> Flags:
    """The bits for each pair of neighbouring labels; `before` and `after` are codes of one shape."""
    p, q = labels.prefixes[before], labels.prefixes[after]
    same = labels.type_of[before] == labels.type_of[after]
    if reading.startswith("lenient"):
        if reading == "lenient BILOU":  # U and L mean what S and E mean in IOBES
            p, q = _as_iobes(p), _as_iobes(q)
        return _lenient(p, q, same)
    return _strict(reading, p, q, same)


def _among(prefixes: NDArray[np.int32], letters: str) -> NDArray[np.bool_]:
    return np.isin(prefixes, [ord(letter) for letter in letters])


def _as_iobes(prefixes: NDArray[np.int32]) -> NDArray[np.int32]:
    return np.where(prefixes == ord("U"), ord("S"), np.where(prefixes == ord("L"), ord("E"), prefixes))


def _lenient(p: NDArray[np.int32], q: NDArray[np.int32], same: NDArray[np.bool_]) -> Flags:
    outside_before, outside_after = p == ord("O"), q == ord("O")
    no_chunk_before, no_chunk_after = _among(p, "O."), _among(q, "O.")
    end = _among(p, "ES") | (_among(p, "BI") & _among(q, "BSO")) | (~no_chunk_before & ~same)
    start = (
        _among(q, "BS")
        | (_among(p, "ES") & _among(q, "EI"))
        | (outside_before & _among(q, "EI"))
        | (~no_chunk_after & ~same)
    )
    start &= ~outside_after
    end &= ~outside_before
    return _bits((start, _START), (end, _END))


def _strict(scheme: str, p: NDArray[np.int32], q: NDArray[np.int32], same: NDArray[np.bool_]) -> Flags:
    pairs = np.array([ord(pair[0]) * 0x110000 + ord(pair[1]) for pair in _INSIDE[scheme]], dtype=np.int64)
    inside = same & np.isin(p.astype(np.int64) * 0x110000 + q, pairs)
    start, end = (q != ord("O")) & ~inside, (p != ord("O")) & ~inside
    good_start, good_end = _among(q, _FIRST[scheme]), _among(p, _LAST[scheme])
    if scheme == "IOB1":  # B- stands only where a chunk of the same type ends just before
        good_start &= (q == ord("I")) | ((p != ord("O")) & same)
    return _bits((start, _START), (end, _END), (start & ~good_start, _BAD_START), (end & ~good_end, _BAD_END))


def _bits(*parts: tuple[NDArray[np.bool_], int]) -> Flags:
    flags = np.zeros(len(parts[0][0]), dtype=np.uint8)
    for mask, bit in parts:
        flags[mask] |= np.uint8(bit)
    return flags


def _code_type(size: int) -> type[np.unsignedinteger[Any]]:
    return np.uint8 if size <= 256 else np.uint16 if size <= 65536 else np.uint32


def encode(sequences: Iterable[Sequence[str]], vocabulary: Vocabulary | None = None) -> Encoded:
    """Encode sequences of labels; a shared `vocabulary` saves a translation when two are compared.

    >>> encode([["B-PER", "I-PER", "O"], ["B-LOC"]]).listed()
    [Chunk(sequence=0, type='PER', start=0, end=2, malformed=False), \
Chunk(sequence=1, type='LOC', start=0, end=1, malformed=False)]
    """
    vocabulary = Vocabulary() if vocabulary is None else vocabulary
    if isinstance(sequences, str | bytes) or not isinstance(sequences, Iterable):
        raise UsageError(
            f"tags are a list of sequences, each a list of labels such as B-PER or O, not {sequences!r:.60}"
        )
    rows = sequences if isinstance(sequences, list | tuple) else list(sequences)
    if rows and isinstance(rows[0], str):
        rows = [rows]
    try:
        lengths = np.fromiter(map(len, rows), dtype=np.int64, count=len(rows))
        codes = _codes(rows, vocabulary, int(lengths.sum()) + len(rows))
    except TypeError as error:
        raise UsageError("tags are a list of sequences, each a list of labels such as B-PER or O") from error
    return Encoded(codes, lengths, vocabulary)


def _codes(rows: Sequence[Sequence[str]], vocabulary: Vocabulary, size: int) -> Codes:
    def stream() -> Iterable[int]:
        joined = chain.from_iterable(chain.from_iterable(zip(rows, repeat((_OUTSIDE,)))))
        return map(vocabulary.__getitem__, joined)

    if len(vocabulary) <= 200:
        try:
            return np.frombuffer(bytes(stream()), dtype=np.uint8)
        except ValueError:  # more than 256 labels
            pass
    return np.fromiter(stream(), dtype=np.int32, count=size)
