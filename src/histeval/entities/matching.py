"""Entities counted by their character offsets: exact type, start and end, at each level or with all that is around.

White space at the edges of an entity does not count: annotators and systems differ in it, and tags cannot say it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Sequence
from typing import NamedTuple, TypeAlias

from histeval.entities.chunk_scores import Counts, EntityScore
from histeval.entities.grammar import NO_CLASS, Grammar
from histeval.entities.nesting import nest
from histeval.entities.spans import Entry, Span
from histeval.entities.tags import depths
from histeval.errors import UsageError

SpansLike: TypeAlias = Entry | Sequence[Span] | Sequence[tuple[str, int, int]]


class Placed(NamedTuple):
    """An entity with its level stated, since an answer can put one inside nothing: `parent` is the index of the one
    around it in the list it stands in (None: none). A malformed one matches nothing."""

    level: int
    type: str
    start: int
    end: int
    parent: int | None = None
    malformed: bool = False


class Item(NamedTuple):
    """What is counted: a name (the type of its column) and what must be equal to match; None matches nothing."""

    name: str
    key: Hashable


def placed(entry: Entry, *, trim: bool = True) -> list[Placed]:
    """The entities of an entry with their levels, white space at their edges taken off unless `trim` is false."""
    return [
        Placed(
            level,
            span.type,
            *(trimmed(entry.text, span.start, span.end) if trim else (span.start, span.end)),
            span.parent,
        )
        for span, level in zip(entry.spans, depths(entry.spans), strict=True)
    ]


def trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    """Offsets without the white space at the edges; as given where nothing else is inside.

    >>> trimmed("r. du Pont ", 2, 11)
    (3, 10)
    """
    held = text[start:end]
    bare = held.strip()
    if len(bare) == len(held) or not bare:
        return start, end
    start += len(held) - len(held.lstrip())
    return start, start + len(bare)


def level_items(entities: Iterable[Placed], level: int) -> list[Item]:
    """The entities of one level, by type, start and end; whatever is around them."""
    return [
        Item(one.type, None if one.malformed else (one.type, one.start, one.end))
        for one in entities
        if one.level == level
    ]


def path_items(entities: Sequence[Placed], depth: int) -> list[Item]:
    """All entities, each with everything around it: it matches only where its ancestors match too.

    The name is the path from the innermost level outwards, `LOC+SPAT` or, at level 1 of 2, `O+SPAT`.

    >>> path_items([Placed(1, "SPAT", 0, 9), Placed(2, "LOC", 0, 5, 0), Placed(2, "LOC", 11, 14)], 2)[1:]
    [Item(name='LOC+SPAT', key=(('SPAT', 0, 9), ('LOC', 0, 5))), Item(name='LOC+O', key=None)]
    """
    found: list[Item] = []
    for one in entities:
        chain = _chain(entities, one)
        names = ["O"] * depth
        for outer in chain:
            if outer.level <= depth:
                names[outer.level - 1] = outer.type
        whole = len(chain) == one.level <= depth and not any(outer.malformed for outer in chain)
        key = tuple((outer.type, outer.start, outer.end) for outer in reversed(chain)) if whole else None
        found.append(Item("+".join(reversed(names)), key))
    return found


def flat_items(entities: Sequence[Placed], text: str, grammar: Grammar, *, flat: bool = False) -> list[Item]:
    """What remains where nesting is dropped: of each entity the parts that no inner one covers, under its flat type.

    With `flat` the entities come from a system that knows no nesting (see `Grammar.flat_type`).
    """
    children: dict[int, list[tuple[int, int]]] = {}
    for one in entities:
        if one.parent is not None:
            children.setdefault(one.parent, []).append((one.start, one.end))
    found: list[Item] = []
    for index, one in enumerate(entities):
        chain = _chain(entities, one)
        path = tuple(outer.type for outer in reversed(chain))
        kind = grammar.flat_type(path, flat=flat) if len(chain) == one.level else NO_CLASS
        if kind is None:
            continue
        place = one.start
        pieces = []
        for start, end in sorted(children.get(index, ())):
            pieces.append((place, start))
            place = max(place, end)
        pieces.append((place, one.end))
        for start, end in pieces:
            if start < end and not text[start:end].isspace():
                start, end = trimmed(text, start, end)
                found.append(Item(kind, None if one.malformed else (kind, start, end)))
    return found


def _chain(entities: Sequence[Placed], one: Placed) -> list[Placed]:
    """An entity and those around it, from the inside out."""
    chain = [one]
    while (parent := chain[-1].parent) is not None:
        chain.append(entities[parent])
    return chain


def count_items(gold: Sequence[Item], predicted: Sequence[Item]) -> dict[str, list[int]]:
    """tp, fp and fn by name. Of two equal predictions one is right at most.

    >>> count_items([Item("A", 1), Item("A", 2)], [Item("A", 1), Item("A", 1), Item("B", None)])
    {'A': [1, 1, 1], 'B': [0, 1, 0]}
    """
    counts: dict[str, list[int]] = {}
    open_keys = Counter(item.key for item in gold if item.key is not None)
    for name, _ in gold:
        counts.setdefault(name, [0, 0, 0])[2] += 1
    for name, key in predicted:
        row = counts.setdefault(name, [0, 0, 0])
        if key is not None and open_keys[key] > 0:
            open_keys[key] -= 1
            row[0] += 1
            row[2] -= 1
        else:
            row[1] += 1
    return counts


def score_entities(
    gold_spans: SpansLike | Sequence[SpansLike],
    predicted_spans: SpansLike | Sequence[SpansLike],
    level: str | int = "All",
    *,
    grammar: Grammar | None = None,
    zero_division: float | None = 0.0,
) -> EntityScore:
    """F1 of predicted entities against gold ones, by characters: exact type, start and end.

    Both are one document or a list of documents (counts are summed); a document is an `Entry`, a list of `Span`, or a
    list of (type, start, end), nested by their offsets. `level` is a number or name of a level (`L1`, `L2` ...), `All`
    for all levels together, `L1+L2` for entities together with all that is around them, or `Flat`, which needs a
    `grammar` and entries. Raises UsageError.

    >>> gold = [("SPAT", 0, 14), ("LOC", 0, 10), ("CARDINAL", 12, 14)]
    >>> predicted = [("SPAT", 0, 10), ("LOC", 0, 10)]
    >>> [score_entities(gold, predicted, level).tp for level in ("L1", "L2", "All", "L1+L2")]
    [0, 1, 1, 0]
    """
    ours, theirs = _documents(gold_spans, predicted_spans)
    if len(ours) != len(theirs):
        raise UsageError(f"there are {len(ours)} gold documents and {len(theirs)} predicted ones; give one for each")
    depth = max((one.level for side in (ours, theirs) for entry in side for one in placed(entry)), default=1)
    counts: Counter[tuple[str, int]] = Counter()
    for one, other in zip(ours, theirs, strict=True):
        for items in _items(one, other, str(level), depth, grammar):
            for name, row in count_items(*items).items():
                for place, number in enumerate(row):
                    counts[name, place] += number
    names = sorted({name for name, _ in counts})
    by_type = {name: Counts.of(counts[name, 0], counts[name, 1], counts[name, 2], zero_division) for name in names}
    total = Counts.of(
        sum(row.tp for row in by_type.values()),
        sum(row.fp for row in by_type.values()),
        sum(row.fn for row in by_type.values()),
        zero_division,
    )
    return EntityScore(total.tp, total.fp, total.fn, total.precision, total.recall, total.f1, by_type)


def _items(
    gold: Entry, predicted: Entry, level: str, depth: int, grammar: Grammar | None
) -> Iterable[tuple[list[Item], list[Item]]]:
    ours, theirs = placed(gold), placed(predicted)
    number = level.removeprefix("L")
    if level == "All":
        for place in range(1, depth + 1):
            yield level_items(ours, place), level_items(theirs, place)
    elif number.isdecimal() and int(number) >= 1:
        yield level_items(ours, int(number)), level_items(theirs, int(number))
    elif level.startswith("L1+"):
        yield path_items(ours, depth), path_items(theirs, depth)
    elif level == "Flat":
        if grammar is None:
            raise UsageError("the level Flat needs a grammar, which says what remains where nesting is dropped")
        yield flat_items(ours, gold.text, grammar), flat_items(theirs, predicted.text, grammar)
    else:
        raise UsageError(f"there is no level {level!r}; there are All, L1, L2 ..., L1+L2 and Flat")


def _documents(gold: object, predicted: object) -> tuple[list[Entry], list[Entry]]:
    single = any(_is_document(side) for side in (gold, predicted)) or (not gold and not predicted)
    sides = []
    for side in (gold, predicted):
        if not isinstance(side, Entry | Iterable) or isinstance(side, str | bytes):
            raise UsageError(f"{_SHAPE}, not {side!r:.60}")
        rows = [side] if single or isinstance(side, Entry) else list(side)
        sides.append([_entry(row, exact=side is gold) for row in rows])
    return sides[0], sides[1]


def _is_document(side: object) -> bool:
    if isinstance(side, Entry):
        return True
    first = next(iter(side), None) if isinstance(side, Sequence) else None
    return isinstance(first, Span) or (isinstance(first, tuple) and bool(first) and isinstance(first[0], str))


_SHAPE = "a document is an Entry, or a list of Span or of (type, start, end)"


def _entry(row: object, exact: bool) -> Entry:
    """A document as an entry; a prediction (not `exact`) may have offsets that hold nothing, which match nothing."""
    if isinstance(row, Entry):
        return row
    if not isinstance(row, Iterable) or isinstance(row, str | bytes):
        raise UsageError(f"{_SHAPE}, not {row!r:.60}")
    spans = list(row)
    if all(isinstance(span, Span) for span in spans):
        return Entry("", tuple(spans))
    try:
        triples = [(kind, start.__index__(), end.__index__()) for kind, start, end in spans]
    except (TypeError, ValueError, AttributeError) as error:
        raise UsageError(_SHAPE) from error
    for kind, start, end in triples:
        if not isinstance(kind, str) or (exact and not 0 <= start < end):
            raise UsageError(f"a gold span is (type, start, end) with 0 <= start < end, not {(kind, start, end)!r:.80}")
    return Entry("", nest(triples)[0])
