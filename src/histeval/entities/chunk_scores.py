"""Chunks of gold and predicted tag sequences compared, counted and scored, on arrays.

What a chunk is in which reading: `chunks`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.entities.chunks import Chunks, Encoded, encode
from histeval.errors import UsageError

_MANY = 1 << 18  # positions from which a second thread costs less than it saves


@dataclass(frozen=True, slots=True)
class Counts:
    """True positives, false positives, false negatives, and what follows from them; None where undefined."""

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None

    @classmethod
    def of(cls, tp: int, fp: int, fn: int, zero_division: float | None = 0.0) -> Counts:
        """The scores of three counts. `zero_division` stands for 0/0 (None or NaN: undefined).

        F1 is undefined only where there is nothing in gold and prediction.
        """
        zero = None if zero_division is None or math.isnan(zero_division) else float(zero_division)
        precision = tp / (tp + fp) if tp + fp else zero
        recall = tp / (tp + fn) if tp + fn else zero
        if not tp + fp + fn:
            f1 = zero
        elif not tp or precision is None or recall is None:
            f1 = 0.0
        else:
            f1 = 2 * precision * recall / (precision + recall)
        return cls(tp, fp, fn, precision, recall, f1)


@dataclass(frozen=True, slots=True)
class EntityScore:
    """The score of entities: summed counts, scores, and the same for each type.

    `malformed_gold` and `malformed_predicted` count by type the chunks that the scheme does not allow (strict only).
    """

    tp: int
    fp: int
    fn: int
    precision: float | None
    recall: float | None
    f1: float | None
    by_type: Mapping[str, Counts]
    malformed_gold: Mapping[str, int] = field(default_factory=dict)
    malformed_predicted: Mapping[str, int] = field(default_factory=dict)


def score_tags(
    gold: Encoded | Iterable[Sequence[str]],
    predicted: Encoded | Iterable[Sequence[str]],
    scheme: str = "IOB2",
    strict: bool = False,
    zero_division: float | None = 0.0,
) -> EntityScore:
    """Chunk F1 of predicted tag sequences against gold ones, micro-averaged over all types.

    `gold` and `predicted` are lists of sequences of labels (a single sequence is taken too), or what `encode` made of
    them. Lenient reading is the same in every scheme, but for BILOU's own letters. Raises UsageError where the two
    differ in number or length of sequences.

    >>> score = score_tags([["B-LOC", "I-LOC", "O"]], [["I-LOC", "I-LOC", "O"]])
    >>> score.tp, score.f1
    (1, 1.0)
    >>> score = score_tags([["B-LOC", "I-LOC", "O"]], [["I-LOC", "I-LOC", "O"]], strict=True)
    >>> score.tp, score.fp, score.fn, dict(score.malformed_predicted)
    (0, 1, 1, {'LOC': 1})
    """
    if not isinstance(gold, Encoded):
        gold = encode(gold, predicted.vocabulary if isinstance(predicted, Encoded) else None)
    if not isinstance(predicted, Encoded):
        predicted = encode(predicted, gold.vocabulary)
    ours, theirs, hit, types = match_chunks(gold, predicted, scheme, strict)
    size = len(types)
    tp = np.bincount(theirs.types[hit], minlength=size)
    n_gold = np.bincount(ours.types, minlength=size)
    n_predicted = np.bincount(theirs.types, minlength=size)
    by_type = {
        types[index]: Counts.of(
            int(tp[index]), int(n_predicted[index] - tp[index]), int(n_gold[index] - tp[index]), zero_division
        )
        for index in np.flatnonzero(n_gold + n_predicted).tolist()
    }
    hits = int(tp.sum())
    total = Counts.of(hits, len(theirs.ends) - hits, len(ours.ends) - hits, zero_division)
    return EntityScore(
        total.tp,
        total.fp,
        total.fn,
        total.precision,
        total.recall,
        total.f1,
        dict(sorted(by_type.items())),
        _by_type(ours.types[ours.malformed], types),
        _by_type(theirs.types[theirs.malformed], types),
    )


def _by_type(kinds: NDArray[np.int32], types: Sequence[str]) -> dict[str, int]:
    counts = np.bincount(kinds, minlength=len(types))
    return {types[index]: int(counts[index]) for index in np.flatnonzero(counts).tolist()}


def match_chunks(
    gold: Encoded, predicted: Encoded, scheme: str = "IOB2", strict: bool = False
) -> tuple[Chunks, Chunks, NDArray[np.bool_], tuple[str, ...]]:
    """Gold and predicted chunks, which predicted ones are right (shape (predicted,)), and the types by index.

    A chunk is right where gold has one of the same type, start and end, and neither is malformed.
    """
    if len(gold.codes) != len(predicted.codes) or not np.array_equal(gold.lengths, predicted.lengths):
        raise UsageError(_mismatch(gold, predicted))
    ours, theirs = _both_chunks(gold, predicted, scheme, strict)
    types = gold.types
    if predicted.vocabulary is not gold.vocabulary:
        index = {kind: place for place, kind in enumerate(types)}
        translate = np.array([index.setdefault(kind, len(index)) for kind in predicted.types], dtype=np.int32)
        theirs = Chunks(translate[theirs.types], theirs.starts, theirs.ends, theirs.malformed)
        types = tuple(index)
    elif len(predicted.types) > len(types):
        types = predicted.types
    # A position ends at most one chunk of a side, so that length and type, as one number that is never 0, tell there
    # whether both sides have the same.
    places = len(gold.codes) + 1
    at_end = np.zeros(places, dtype=np.int32 if places * len(types) < 1 << 31 else np.int64)

    def packed(chunks: Chunks) -> NDArray[np.signedinteger[Any]]:
        found = (chunks.ends - chunks.starts).astype(at_end.dtype)
        found *= len(types)
        found += chunks.types
        return found

    at_end[ours.ends] = packed(ours)
    if strict:
        at_end[ours.ends[ours.malformed]] = 0
    hit = at_end[theirs.ends] == packed(theirs)
    if strict:
        hit &= ~theirs.malformed
    return ours, theirs, hit, types


def _both_chunks(gold: Encoded, predicted: Encoded, scheme: str, strict: bool) -> tuple[Chunks, Chunks]:
    """The chunks of both sides, side by side where there are many: numpy works outside Python's lock."""
    if len(gold.codes) < _MANY or predicted is gold:
        return gold.chunks(scheme, strict), predicted.chunks(scheme, strict)
    with ThreadPoolExecutor(1) as other:
        theirs = other.submit(predicted.chunks, scheme, strict)
        return gold.chunks(scheme, strict), theirs.result()


def _mismatch(gold: Encoded, predicted: Encoded) -> str:
    if len(gold) != len(predicted):
        return f"there are {len(gold)} gold sequences and {len(predicted)} predicted ones; give one for each"
    place = int(np.flatnonzero(gold.lengths != predicted.lengths)[0])
    return (
        f"sequence {place} (from 0) has {gold.lengths[place]} gold labels and {predicted.lengths[place]} predicted "
        "ones; give one label for each token"
    )


def count_table(
    gold: Encoded, predicted: Encoded, scheme: str = "IOB2", strict: bool = False
) -> tuple[tuple[str, ...], NDArray[np.int64]]:
    """Types, and counts of each sequence and type: shape (sequences, types, 3) with tp, fp, fn. What a resample sums.

    >>> from histeval.entities import Vocabulary
    >>> both = Vocabulary()
    >>> gold, predicted = encode([["B-A"], ["B-B"]], both), encode([["B-A"], ["O"]], both)
    >>> types, counts = count_table(gold, predicted)
    >>> types, counts.sum(axis=0).tolist()
    (('A', 'B'), [[1, 0, 0], [0, 0, 1]])
    """
    ours, theirs, hit, types = match_chunks(gold, predicted, scheme, strict)
    used = np.unique(np.concatenate((ours.types, theirs.types)))
    place = np.zeros(len(types), dtype=np.int64)
    place[used] = np.arange(len(used))
    first, size = gold.first_positions, len(used)

    def table(chunks: Chunks, mask: NDArray[np.bool_] | None = None) -> NDArray[np.int64]:
        ends, kinds = (chunks.ends, chunks.types) if mask is None else (chunks.ends[mask], chunks.types[mask])
        rows = np.searchsorted(first, ends - 1, side="right") - 1
        flat = np.bincount(rows * size + place[kinds], minlength=len(gold) * size)
        return flat.reshape(len(gold), size).astype(np.int64)

    tp = table(theirs, hit)
    counts = np.stack((tp, table(theirs) - tp, table(ours) - tp), axis=-1)
    return tuple(types[index] for index in used.tolist()), counts
