"""A span is an entity in a text, by character offsets; an entry is a text with its spans."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Span:
    """An entity: its type, its first character and the one after its last (offsets in code points of the entry's
    text), and the index of the span directly around it in the entry's list (None at the root)."""

    type: str
    start: int
    end: int
    parent: int | None = None


@dataclass(frozen=True, slots=True)
class Entry:
    """A text with nested entities, spans in document order (a parent before its children).

    `nodes` are the (start, end) offsets of the text nodes that inline markup cuts the text into, in order and without
    gaps; the published tokenisation works on each of them alone. An entry that never was markup has None there.
    """

    text: str
    spans: tuple[Span, ...]
    nodes: tuple[tuple[int, int], ...] | None = None

    def depth(self, index: int) -> int:
        """Level of a span: 1 at the root, 2 inside it, and so on."""
        level, parent = 1, self.spans[index].parent
        while parent is not None:
            level, parent = level + 1, self.spans[parent].parent
        return level
