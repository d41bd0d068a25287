"""Entries with entities given as character offsets become `Entry` values, or a fault with its place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from histeval.entities.nesting import nest
from histeval.entities.spans import Entry


def entry_from_offsets(text: str, spans: Sequence[Any]) -> Entry:
    """An entry from its text and spans `{type, start, end}` in any order; nesting follows from the offsets.

    `parent`, where given, is the index of the span around it in the list as given; it decides between spans of equal
    extent. Raises ValueError with one sentence where a span is malformed, empty, past the end, or crosses another.

    >>> entry_from_offsets("Dufay, 5", [{"type": "LOC", "start": 7, "end": 8}, {"type": "SPAT", "start": 7, "end": 8}])
    Entry(text='Dufay, 5', spans=(Span(type='LOC', start=7, end=8, parent=None), Span(type='SPAT', start=7, end=8, \
parent=0)), nodes=None)
    """
    given: list[tuple[int, int, int, str]] = []
    for position, span in enumerate(spans):
        name = span.get("type") if isinstance(span, dict) else None
        start, end = (span.get("start"), span.get("end")) if isinstance(span, dict) else (None, None)
        if not isinstance(name, str) or not name or type(start) is not int or type(end) is not int:
            raise ValueError(f"span {position} is not an object with type, start and end")
        if not 0 <= start < end <= len(text):
            fault = "is empty" if start == end else f"does not lie in the text of {len(text)} characters"
            raise ValueError(f"span {position} ({name[:40]}, {start} to {end}) {fault}")
        given.append((start, -end, position, name))
    depths = [_depth(spans, position) for position in range(len(spans))]
    order = sorted(given, key=lambda item: (item[0], item[1], depths[item[2]], item[2]))
    nested, crossing = nest((name, start, -minus_end) for start, minus_end, _, name in order)
    for index in crossing:
        start, minus_end, position, name = order[index]
        raise ValueError(f"span {position} ({name[:40]}, {start} to {-minus_end}) crosses another")
    return Entry(text, nested)


def _depth(spans: Sequence[Any], position: int) -> int:
    """How many parents a span names, one after another; raises ValueError where they run in a circle."""
    depth, parent = 0, spans[position].get("parent")
    while parent is not None:
        if type(parent) is not int or not 0 <= parent < len(spans):
            raise ValueError(f"span {position} names a parent that there is not")
        depth += 1
        if depth > len(spans):
            raise ValueError(f"span {position} has parents that run in a circle")
        parent = spans[parent].get("parent")
    return depth
