"""The view of a directory entry: nested entities drawn over its text, gold above, predicted below, errors classed."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

from histeval.datasets.base import Document
from histeval.entities.errors import KINDS, classify, count_errors
from histeval.entities.matching import Placed, placed, trimmed
from histeval.overview.documents.views import View, short
from histeval.overview.page import clean
from histeval.tasks.base import DocumentScore, Reading, Scorer
from histeval.tasks.description import Context

SIGNS = {"right": "✓", "boundary": "↔", "type": "≠", "nesting": "⇅", "missed": "○", "invented": "✗"}
LEGEND = tuple((f"key k-{kind}", f"{SIGNS[kind]} {kind}", meaning) for kind, meaning in KINDS.items())
MOST_ENTITIES = 400
LONGEST = 20_000

Bar = list[str] | None
"""What one lane shows over one piece: [class of error, label where the entity begins, "begin", "end"], or nothing."""


def truth(document: Document, context: Context) -> dict[str, Any]:
    """The entry's text and entities, for the page without script."""
    entry = document.truth
    return {
        "text": _shown(entry.text),
        "entities": [
            {"level": one.level, "type": clean(one.type), "text": _shown(entry.text[one.start : one.end])}
            for one in placed(entry)
        ],
    }


def view(scorer: Scorer, document: Document, row: DocumentScore, reading: Reading) -> View:
    """Pieces of the text with the bars above and below them, and every entity with what became of it."""
    entry = document.truth
    text = entry.text[:LONGEST]
    gold = placed(entry)
    located: Any = getattr(scorer, "located", None)
    found = [] if row.failure or located is None else _trim(located(entry, reading)[:MOST_ENTITIES], text)
    errors = classify(gold, found)
    kinds_gold = {error.gold: error.kind for error in errors if error.gold is not None}
    kinds_found = {error.predicted: error.kind for error in errors if error.predicted is not None}
    above = _lanes(gold, kinds_gold)
    below = _lanes(found, kinds_found)
    bounds = _bounds(text, [*gold, *found])
    pieces = []
    for start, end in pairwise(bounds):
        pieces.append(
            [
                _shown(text[start:end]),
                [_bar(lane, start, end) for lane in above],
                [_bar(lane, start, end) for lane in below],
            ]
        )
    listed = []
    for error in errors:
        one = gold[error.gold] if error.gold is not None else None
        other = found[error.predicted] if error.predicted is not None else None
        listed.append(
            [error.kind, SIGNS[error.kind], error.kind, _side(one, text), _side(other, text), _why(one, other)]
        )
    counted = {kind: number for kind, number in count_errors(errors).items() if number}
    summary = ", ".join(f"{number} {kind}" for kind, number in counted.items()) or "no entity on either side"
    return {"pieces": pieces, "entities": listed, "summary": f"{summary}. Compared by characters."}


def _trim(entities: Sequence[Placed], text: str) -> list[Placed]:
    """Entities without white space at their edges, as they are compared."""
    done = []
    for one in entities:
        start, end = trimmed(text, one.start, one.end) if 0 <= one.start < one.end else (one.start, one.end)
        done.append(one._replace(start=start, end=end))
    return done


def _lanes(entities: Sequence[Placed], kinds: dict[int, Any]) -> list[list[tuple[int, int, str, str]]]:
    """Entities as (start, end, label, class of error) in lanes: one a level, further ones where entities overlap."""
    lanes: dict[tuple[int, int], list[tuple[int, int, str, str]]] = {}
    for index, one in enumerate(entities):
        if not 0 <= one.start < one.end:
            continue
        extra = 0
        while any(start < one.end and one.start < end for start, end, _, _ in lanes.get((one.level, extra), ())):
            extra += 1
        kind = str(kinds[index])
        label = f"{SIGNS[kind]} {clean(one.type[:40])}"
        lanes.setdefault((one.level, extra), []).append((one.start, one.end, label, kind))
    return [lanes[key] for key in sorted(lanes)]


def _bar(lane: Sequence[tuple[int, int, str, str]], start: int, end: int) -> Bar:
    for first, last, label, kind in lane:
        if first < end and start < last:
            edges = " ".join(word for word, there in (("begin", first == start), ("end", last == end)) if there)
            return [kind, label if first == start else "", edges]
    return None


def _bounds(text: str, entities: Sequence[Placed]) -> list[int]:
    """Where pieces begin and end: at the edges of entities, and after the white space between words."""
    size = len(text)
    bounds = {0, size}
    for one in entities:
        bounds.update(place for place in (one.start, one.end) if 0 <= place <= size)
    bounds.update(i for i in range(1, size) if text[i - 1].isspace() and not text[i].isspace())
    return sorted(bounds)


def _side(one: Placed | None, text: str) -> list[str] | None:
    if one is None:
        return None
    words = text[one.start : one.end] if 0 <= one.start < one.end else "(no place in the text)"
    return [short(one.type, 60), f"level {one.level}", short(_shown(words))]


def _why(one: Placed | None, other: Placed | None) -> str:
    """What the class leaves open."""
    if other is not None and other.malformed:
        return "malformed"
    if one is None or other is None:
        return ""
    return f"level {other.level} instead of {one.level}" if one.level != other.level else ""


def _shown(text: str) -> str:
    """A text of the dataset, paragraph separators as a sign."""
    return clean(text.replace("\u2029", "¶ ").replace("\u2028", "¶ "))
