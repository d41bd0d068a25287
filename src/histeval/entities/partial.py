"""Partial matches: the five classes of SemEval-2013 task 9 in its four regimes, with best matching.

Each entity takes part in at most one pair of a gold and a predicted entity that overlap. What a pair counts as:

| regime  | same type, same edges | other type, same edges | same type, overlap | other type, overlap |
| ------- | --------------------- | ---------------------- | ------------------ | ------------------- |
| strict  | correct               | incorrect              | incorrect          | incorrect           |
| exact   | correct               | correct                | incorrect          | incorrect           |
| partial | correct               | correct                | partial            | partial             |
| type    | correct               | incorrect              | correct            | incorrect           |

Gold entities without a pair are missed, predicted ones spurious. Among all ways to pair them, in each regime, one is
taken with the most correct pairs and among those one with the most pairs. nervaluate pairs each prediction with the
first gold entity it meets instead, so that its counts depend on the order, and it ignores an overlap below 1 % of the
gold entity. For each type by itself only the entities of that type are paired, as nervaluate does.

Source: Segura-Bedmar, Martinez and Herrero-Zazo 2013; the classes go back to MUC-5 (Chinchor and Sundheim 1993).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from histeval.entities.chunks import Encoded
from histeval.entities.spans import Entry, Span
from histeval.errors import UsageError

REGIMES = ("strict", "exact", "partial", "type")
Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]
Spans = Entry | Iterable[Span | tuple[str, int, int]]

_CORRECT = 1 << 32  # one correct pair weighs more than any number of pairs
_EXACT_LIMIT = 300  # beyond so many entities in one knot of overlapping ones, the pairing is greedy


@dataclass(frozen=True, slots=True)
class PartialCounts:
    """The five classes in one regime, and the scores that follow; None where undefined (0/0)."""

    correct: int
    incorrect: int
    partial: int
    missed: int
    spurious: int

    @property
    def possible(self) -> int:
        """The number of gold entities."""
        return self.correct + self.incorrect + self.partial + self.missed

    @property
    def actual(self) -> int:
        """The number of predicted entities."""
        return self.correct + self.incorrect + self.partial + self.spurious

    @property
    def precision(self) -> float | None:
        """(correct + partial / 2) / predicted entities."""
        return (self.correct + self.partial / 2) / self.actual if self.actual else None

    @property
    def recall(self) -> float | None:
        """(correct + partial / 2) / gold entities."""
        return (self.correct + self.partial / 2) / self.possible if self.possible else None

    @property
    def f1(self) -> float | None:
        """Harmonic mean of precision and recall; undefined only where there is no entity at all."""
        size = self.possible + self.actual
        return (2 * self.correct + self.partial) / size if size else None


@dataclass(frozen=True, slots=True)
class PartialScore:
    """The counts of one regime, over all types and for each type by itself."""

    counts: PartialCounts
    by_type: Mapping[str, PartialCounts]


@dataclass(frozen=True)
class _Side:
    """Entities of one side on one axis, in order of their starts; `disjoint` if none overlaps another."""

    kinds: Ints
    starts: Ints
    ends: Ints
    disjoint: bool = field(init=False)

    def __post_init__(self) -> None:
        order = np.argsort(self.starts, kind="stable")
        if len(order) and not bool((order == np.arange(len(order))).all()):
            for name in ("kinds", "starts", "ends"):
                object.__setattr__(self, name, getattr(self, name)[order])
        object.__setattr__(self, "disjoint", bool((self.starts[1:] >= self.ends[:-1]).all()))

    def __len__(self) -> int:
        return len(self.starts)


def score_partial(gold: Encoded | Sequence[Spans], predicted: Encoded | Sequence[Spans]) -> dict[str, PartialScore]:
    """The partial-match counts in each regime, summed over documents.

    `gold` and `predicted` hold one item a document: an `Entry`, or spans, or (type, start, end); or both are encoded
    tag sequences, read leniently. Raises UsageError where the numbers of documents differ.

    >>> scores = score_partial([[("PER", 0, 5), ("LOC", 7, 12)]], [[("PER", 0, 4), ("ACT", 7, 12)]])
    >>> scores["strict"].counts
    PartialCounts(correct=0, incorrect=2, partial=0, missed=0, spurious=0)
    >>> scores["partial"].counts
    PartialCounts(correct=1, incorrect=0, partial=1, missed=0, spurious=0)
    >>> scores["type"].counts.correct, scores["type"].by_type["PER"].f1
    (1, 1.0)
    """
    ours, theirs, types = _sides(gold, predicted)
    pairs = _overlaps(ours, theirs)
    edges = (ours.starts[pairs[0]] == theirs.starts[pairs[1]]) & (ours.ends[pairs[0]] == theirs.ends[pairs[1]])
    alike = ours.kinds[pairs[0]] == theirs.kinds[pairs[1]]
    disjoint = ours.disjoint and theirs.disjoint
    one = np.zeros(len(alike), dtype=np.int64)

    def best(correct: Mask) -> tuple[int, int]:
        total = _best(pairs, correct, one, 1, disjoint)[0]
        return int(total) // _CORRECT, int(total) % _CORRECT

    by_strict, by_exact, by_type = best(edges & alike), best(edges), best(alike)
    n_gold, n_predicted = len(ours), len(theirs)
    totals = {
        "strict": _classes("strict", *by_strict, n_gold, n_predicted),
        "exact": _classes("exact", *by_exact, n_gold, n_predicted),
        "partial": _classes("partial", *by_exact, n_gold, n_predicted),
        "type": _classes("type", *by_type, n_gold, n_predicted),
    }
    # Within one type, pairs only differ by their edges, so that strict, exact and partial take the same pairs.
    same = (pairs[0][alike], pairs[1][alike])
    kinds = ours.kinds[same[0]]
    by_edges = _best(same, edges[alike], kinds, len(types), disjoint)
    by_kind = _best(same, np.ones(len(kinds), dtype=bool), kinds, len(types), disjoint)
    gold_of = np.bincount(ours.kinds, minlength=len(types))
    predicted_of = np.bincount(theirs.kinds, minlength=len(types))
    result = {}
    for regime in REGIMES:
        values = (by_kind if regime == "type" else by_edges).tolist()
        result[regime] = PartialScore(
            totals[regime],
            {
                types[index]: _classes(
                    regime,
                    values[index] // _CORRECT,
                    values[index] % _CORRECT,
                    int(gold_of[index]),
                    int(predicted_of[index]),
                )
                for index in sorted(range(len(types)), key=types.__getitem__)
                if gold_of[index] or predicted_of[index]
            },
        )
    return result


def _classes(regime: str, correct: int, paired: int, n_gold: int, n_predicted: int) -> PartialCounts:
    rest = paired - correct
    partial = rest if regime == "partial" else 0
    return PartialCounts(correct, rest - partial, partial, n_gold - paired, n_predicted - paired)


def _sides(
    gold: Encoded | Sequence[Spans], predicted: Encoded | Sequence[Spans]
) -> tuple[_Side, _Side, tuple[str, ...]]:
    types: dict[str, int] = {}
    if isinstance(gold, Encoded) and isinstance(predicted, Encoded):
        if not np.array_equal(gold.lengths, predicted.lengths):
            raise UsageError("gold and predicted tags differ in the number or the length of sequences")
        sides = []
        for side in (gold, predicted):
            chunks = side.chunks()
            names = np.array([types.setdefault(name, len(types)) for name in side.types] or [0], dtype=np.int64)
            sides.append(_Side(names[chunks.types], chunks.starts, chunks.ends))
        return sides[0], sides[1], tuple(types)
    if isinstance(gold, Encoded) or isinstance(predicted, Encoded):
        raise UsageError("give tags on both sides or spans on both sides")
    ours, theirs = [_triples(item) for item in gold], [_triples(item) for item in predicted]
    if len(ours) != len(theirs):
        raise UsageError(f"there are {len(ours)} gold documents and {len(theirs)} predicted ones; give one for each")
    columns: tuple[list[list[int]], list[list[int]]] = ([[], [], []], [[], [], []])
    shift = 0
    for documents in zip(ours, theirs, strict=True):
        furthest = 0
        for (kinds, starts, ends), triples in zip(columns, documents, strict=True):
            for kind, start, end in triples:
                kinds.append(types.setdefault(kind, len(types)))
                starts.append(start + shift)
                ends.append(end + shift)
                furthest = max(furthest, end)
        shift += furthest + 1
    left, right = (_Side(*(np.array(column, dtype=np.int64) for column in side)) for side in columns)
    return left, right, tuple(types)


def _triples(spans: Spans) -> list[tuple[str, int, int]]:
    held = spans.spans if isinstance(spans, Entry) else spans
    return [
        (item.type, item.start, item.end) if isinstance(item, Span) else (item[0], item[1], item[2]) for item in held
    ]


def _overlaps(ours: _Side, theirs: _Side) -> tuple[Ints, Ints]:
    """Indices of the gold and predicted entities that share at least one position, by prediction, then gold."""
    if ours.disjoint:
        low = np.searchsorted(ours.ends, theirs.starts, side="right")
        high = np.searchsorted(ours.starts, theirs.ends, side="left")
        # An empty entity overlaps nothing.
        often = np.where(theirs.ends > theirs.starts, np.maximum(high - low, 0), 0)
        predicted = np.repeat(np.arange(len(theirs)), often)
        offset = np.arange(len(predicted)) - np.repeat(np.cumsum(often) - often, often)
        gold = np.repeat(low, often) + offset
        solid = ours.ends[gold] > ours.starts[gold]
        return gold[solid], predicted[solid]
    found: list[tuple[int, int]] = []
    high = np.searchsorted(ours.starts, theirs.ends, side="left").tolist()
    reach = np.maximum.accumulate(ours.ends) if len(ours) else ours.ends
    low = np.searchsorted(reach, theirs.starts, side="right").tolist()
    gold_starts, gold_ends = ours.starts.tolist(), ours.ends.tolist()
    for index, (start, end) in enumerate(zip(theirs.starts.tolist(), theirs.ends.tolist(), strict=True)):
        found.extend(
            (place, index)
            for place in range(low[index], high[index])
            if max(gold_starts[place], start) < min(gold_ends[place], end)
        )
    table = np.array(found, dtype=np.int64).reshape(-1, 2)
    return table[:, 0], table[:, 1]


def _best(pairs: tuple[Ints, Ints], correct: Mask, groups: Ints, size: int, disjoint: bool) -> Ints:
    """Value of the best pairing in each group, shape (size,): `_CORRECT` for a correct pair, and 1 for any pair."""
    gold, predicted = pairs
    totals = np.zeros(size, dtype=np.int64)
    if not len(gold):
        return totals
    worth = correct * _CORRECT + 1
    if not disjoint:
        for group, value in _best_by_knots(gold.tolist(), predicted.tolist(), worth.tolist(), groups.tolist()):
            totals[group] += value
        return totals
    order = np.lexsort((gold, predicted, groups)) if size > 1 else np.arange(len(gold))
    gold, predicted, worth, groups = gold[order], predicted[order], worth[order], groups[order]
    # Neighbouring pairs that share an entity form chains, since intervals without overlaps are met in order.
    shares_predicted, shares_gold = np.zeros(len(gold), dtype=bool), np.zeros(len(gold), dtype=bool)
    same_group = groups[1:] == groups[:-1]
    shares_predicted[1:] = (predicted[1:] == predicted[:-1]) & same_group
    shares_gold[1:] = (gold[1:] == gold[:-1]) & same_group
    first = np.flatnonzero(~(shares_predicted | shares_gold))
    lengths = np.diff(np.append(first, len(gold)))
    values = _chains(worth, shares_predicted, first, lengths)
    np.add.at(totals, groups[first], values)
    return totals


def _chains(worth: Ints, shares_predicted: Mask, first: Ints, lengths: Ints) -> Ints:
    """Value of the best choice of pairs in each chain, no two of them sharing an entity; shape (chains,).

    All chains advance by one pair at a time. What matters of the past is whether the entities of the last pair are
    taken: the predicted one, the gold one, both or neither.
    """
    values = worth[first].copy()
    order = np.argsort(-lengths, kind="stable")
    longest = int(lengths[order[0]])
    active = order[: int(np.searchsorted(-lengths[order], -1, side="left"))]
    if longest == 1 or not len(active):
        return values
    low = -(1 << 62)
    neither, by_predicted = np.zeros(len(active), dtype=np.int64), np.full(len(active), low)
    by_gold, both = np.full(len(active), low), worth[first[active]]
    sizes = lengths[active]
    for step in range(1, longest):
        keep = int(np.searchsorted(-sizes, -step, side="left"))
        if keep < len(active):
            done = active[keep:]
            values[done] = np.maximum(
                np.maximum(neither[keep:], by_predicted[keep:]), np.maximum(by_gold[keep:], both[keep:])
            )
            active, sizes = active[:keep], sizes[:keep]
            neither, by_predicted, by_gold, both = neither[:keep], by_predicted[:keep], by_gold[:keep], both[:keep]
        place = first[active] + step
        holds_predicted = shares_predicted[place]
        # The entity that the next pair does not share is forgotten: it can take no further part.
        free = np.maximum(neither, np.where(holds_predicted, by_gold, by_predicted))
        taken = np.maximum(both, np.where(holds_predicted, by_predicted, by_gold))
        neither = free
        by_predicted = np.where(holds_predicted, taken, low)
        by_gold = np.where(holds_predicted, low, taken)
        both = free + worth[place]
    values[active] = np.maximum(np.maximum(neither, by_predicted), np.maximum(by_gold, both))
    return values


def _best_by_knots(
    gold: list[int], predicted: list[int], worth: list[int], groups: list[int]
) -> Iterable[tuple[int, int]]:
    """(group, value) of the best pairing in each connected knot of entities, in whatever way they overlap."""
    by_group: dict[int, list[int]] = defaultdict(list)
    for index, group in enumerate(groups):
        by_group[group].append(index)
    for group, members in by_group.items():
        parent: dict[int, int] = {}

        def root(node: int, parent: dict[int, int] = parent) -> int:
            parent.setdefault(node, node)
            while parent[node] != node:
                parent[node] = parent[parent[node]]
                node = parent[node]
            return node

        for index in members:
            parent[root(gold[index])] = root(-1 - predicted[index])
        knots: dict[int, list[tuple[int, int, int]]] = defaultdict(list)
        for index in members:
            knots[root(gold[index])].append((gold[index], predicted[index], worth[index]))
        for edges in knots.values():
            yield group, edges[0][2] if len(edges) == 1 else _assign(edges)


def _assign(edges: list[tuple[int, int, int]]) -> int:
    """The largest total worth of edges without a common end (the Hungarian method; greedy for very large knots)."""
    left = {node: place for place, node in enumerate(dict.fromkeys(edge[0] for edge in edges))}
    right = {node: place for place, node in enumerate(dict.fromkeys(edge[1] for edge in edges))}
    if len(left) + len(right) > _EXACT_LIMIT:
        total, used_left, used_right = 0, set(), set()
        for one, other, value in sorted(edges, key=lambda edge: -edge[2]):
            if one not in used_left and other not in used_right:
                used_left.add(one)
                used_right.add(other)
                total += value
        return total
    rows, columns = len(left), len(left) + len(right)  # spare columns of worth 0: a row may stay without a pair
    costs = [[0] * columns for _ in range(rows)]
    for one, other, value in edges:
        row = costs[left[one]]
        row[right[other]] = min(row[right[other]], -value)
    u, v, owner = [0] * (rows + 1), [0] * (columns + 1), [0] * (columns + 1)
    for row_index in range(1, rows + 1):
        owner[0] = row_index
        column = 0
        slack: list[float] = [float("inf")] * (columns + 1)
        way, seen = [0] * (columns + 1), [False] * (columns + 1)
        while True:
            seen[column] = True
            current, delta, following = owner[column], float("inf"), 0
            for place in range(1, columns + 1):
                if seen[place]:
                    continue
                reduced = costs[current - 1][place - 1] - u[current] - v[place]
                if reduced < slack[place]:
                    slack[place], way[place] = reduced, column
                if slack[place] < delta:
                    delta, following = slack[place], place
            step = int(delta)
            for place in range(columns + 1):
                if seen[place]:
                    u[owner[place]] += step
                    v[place] -= step
                else:
                    slack[place] -= step
            column = following
            if not owner[column]:
                break
        while column:
            owner[column] = owner[way[column]]
            column = way[column]
    return -sum(costs[owner[place] - 1][place - 1] for place in range(1, columns + 1) if owner[place])
