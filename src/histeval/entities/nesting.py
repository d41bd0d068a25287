"""Spans without a stated nesting: who stands inside whom, from the offsets alone."""

from __future__ import annotations

from collections.abc import Iterable

from histeval.entities.spans import Span


def nest(spans: Iterable[tuple[str, int, int]]) -> tuple[tuple[Span, ...], tuple[int, ...]]:
    """Spans in document order, each inside the smallest one that holds it whole, and the indices of those that cross.

    `spans` are (type, start, end). Of two spans with the same offsets the one given first is the outer one. A span
    that crosses an earlier one is put beside it, inside what holds it whole.

    >>> spans, crossing = nest([("LOC", 6, 9), ("SPAT", 6, 12), ("X", 8, 14)])
    >>> [(span.type, span.parent) for span in spans], crossing
    ([('SPAT', None), ('LOC', 0), ('X', None)], (2,))
    """
    order = sorted(enumerate(spans), key=lambda item: (item[1][1], -item[1][2], item[0]))
    found: list[Span] = []
    crossing: list[int] = []
    stack: list[int] = []
    for _, (kind, start, end) in order:
        # Within the stack ends never grow, so whatever ends too early to hold this span, or any later one, is on top.
        while stack and found[stack[-1]].end <= start and found[stack[-1]].end < end:
            stack.pop()
        holder = len(stack) - 1
        while holder >= 0 and found[stack[holder]].end < end:
            holder -= 1
        if holder < len(stack) - 1:
            crossing.append(len(found))
        parent = stack[holder] if holder >= 0 else None
        found.append(Span(kind, start, end, parent))
        del stack[holder + 1 :]
        stack.append(len(found) - 1)
    return tuple(found), tuple(crossing)
