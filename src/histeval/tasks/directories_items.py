"""What is counted of an entry at each level, from tags of tokens or from offsets, and what is odd about it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from typing import Any

from histeval.entities.grammar import Grammar
from histeval.entities.matching import Placed, flat_items, level_items, path_items
from histeval.entities.tags import (
    Tags,
    combined_tags,
    flat_tags,
    inconsistent_pairs,
    joint_tags,
    runs,
    strict_runs,
)
from histeval.tasks.directories_levels import OTHER, Levels
from histeval.tasks.directories_places import NOWHERE

Items = dict[str, list[tuple[str, Hashable]]]
"""For each level what is counted: the type of a column, and what must be equal to match (None matches nothing)."""


def token_items(
    rows: Sequence[Tags],
    levels: Levels,
    scheme: str,
    strict: bool,
    entities: Sequence[Placed],
    unheld: Sequence[int],
    *,
    flat: bool = False,
) -> Items:
    """Chunks of the tags of each level; strict reading holds for the single levels, since the others are derived.

    `unheld` are indices of `entities` that hold no token: they are counted too, and match where gold has the very same.
    `flat` says that the tags come from a system that knows no nesting.
    """
    items: Items = {}
    for level, row in zip(levels.single, rows, strict=True):
        if strict:
            items[level] = [
                (kind, None if malformed else (kind, start, end))
                for kind, start, end, malformed in strict_runs(row, scheme)
            ]
        else:
            items[level] = [(chunk[0], chunk) for chunk in runs(row)]
    if levels.joined and levels.with_prefixes:
        items[levels.joined] = [(chunk[0], chunk) for chunk in runs(combined_tags(rows, scheme))]
        if scheme == "IO":
            items[levels.with_prefixes] = list(items[levels.joined])
        else:
            labels = ["O" if label[0] == "O" else label for label in joint_tags(rows, scheme)]
            items[levels.with_prefixes] = [(_without_prefixes(chunk[0]), chunk) for chunk in runs(labels)]
    items["Flat"] = [(chunk[0], chunk) for chunk in runs(flat_tags(rows, levels.grammar, flat=flat))]
    if unheld:
        _add_unheld(items, levels, entities, unheld, flat)
    return items


def _without_prefixes(kind: str) -> str:
    """The path of a joint label's type: `b_SPAT+i_LOC` is LOC+SPAT."""
    return "+".join(part if part == "O" else part[2:] for part in reversed(kind.split("+")))


def _add_unheld(items: Items, levels: Levels, entities: Sequence[Placed], unheld: Sequence[int], flat: bool) -> None:
    paths = path_items(entities, levels.depth)
    for index in unheld:
        one, (name, path) = entities[index], paths[index]
        key = None if one.malformed or one.start == NOWHERE else ("no token", one.type, one.start, one.end)
        if one.level > levels.depth:
            items[levels.single[-1]].append((OTHER, None))
            continue
        items[levels.single[one.level - 1]].append((one.type, key))
        for joint in levels.joint:
            items[joint].append((name, None if key is None or path is None else ("no token", path)))
        types = tuple(kind for kind in reversed(name.split("+")) if kind != "O")
        kind = levels.grammar.flat_type(types, flat=flat)
        if kind is not None:
            items["Flat"].append((kind, key))


def character_items(entities: Sequence[Placed], text: str, levels: Levels, *, flat: bool = False) -> Items:
    """Entities by their offsets. The joint levels are one: an entity counts there with everything around it."""
    items: Items = {level: list(level_items(entities, number)) for number, level in enumerate(levels.single, start=1)}
    items[levels.single[-1]].extend((OTHER, None) for one in entities if one.level > levels.depth)
    for joint in levels.joint:
        items[joint] = list(path_items(entities, levels.depth))
    items["Flat"] = list(flat_items(entities, text, levels.grammar, flat=flat))
    return items


def odd_tags(rows: Sequence[Tags], grammar: Grammar, scheme: str, strict: bool) -> dict[str, Any]:
    """Malformed chunks (strict only) and inconsistent pairs of levels, where there are any."""
    malformed = [
        f"L{level} {kind} at token {start}"
        for level, row in enumerate(rows, start=1)
        for kind, start, _, bad in (strict_runs(row, scheme) if strict else ())
        if bad
    ]
    return _odd(malformed, Counter(pair.kind for pair in inconsistent_pairs(rows, grammar)))


def odd_entities(entities: Sequence[Placed], grammar: Grammar) -> dict[str, Any]:
    """The same of entities with offsets."""
    malformed = [
        f"L{one.level} {one.type} at character {one.start}"
        for one in entities
        if one.malformed and one.start != NOWHERE
    ]
    pairs: Counter[str] = Counter()
    for one in entities:
        above = entities[one.parent].type if one.parent is not None else None
        if one.level > 1 and above is None:
            pairs["orphan"] += 1
        elif above is not None and one.type not in grammar.children.get(above, ()):
            pairs["wrong_parent"] += 1
    return _odd(malformed, pairs)


def _odd(malformed: list[str], pairs: Counter[str]) -> dict[str, Any]:
    found: dict[str, Any] = dict(pairs)
    if malformed:
        found["malformed"] = malformed
    return found
