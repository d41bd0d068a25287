"""Where the entities of an answer stand in the text of the document, which the answer may repeat with changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from histeval.entities.matching import Placed
from histeval.entities.tags import runs, strict_runs
from histeval.entities.tokens import Token

_QUOTES = ("``", "''", '"')
NOWHERE = -1
"""Start and end of an entity that has no place in the document's text; it matches nothing."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """For each character of an answer's text the one it stands for in the document's, or -1; shape (characters,).

    `share` is the part of the document's characters, white space left out, that the answer repeats.
    """

    places: Sequence[int]
    share: float


def anchor(answer: str, text: str) -> Anchors:
    """Align an answer's text with the document's by characters, with the fewest edits.

    >>> anchor("Dufay,  5", "Dufay, 5").places
    [0, 1, 2, 3, 4, 5, -1, 6, 7]
    """
    if answer == text:
        return Anchors(range(len(text)), 1.0)
    core = answer.strip()
    at = text.find(core) if core and core == text.strip() else -1
    if at >= 0:
        skip = len(answer) - len(answer.lstrip())
        tail = len(answer) - skip - len(core)
        return Anchors([-1] * skip + list(range(at, at + len(core))) + [-1] * tail, 1.0)
    from rapidfuzz.distance import Levenshtein

    places = [-1] * len(answer)
    equal = 0
    for tag, first, last, start, end in Levenshtein.opcodes(answer, text):
        if tag in ("equal", "replace"):
            places[first:last] = range(start, end)
        if tag == "equal":
            equal += sum(not sign.isspace() for sign in text[start:end])
    size = sum(not sign.isspace() for sign in text)
    return Anchors(places, equal / size if size else 1.0)


def place_spans(entities: Sequence[Placed], places: Sequence[int]) -> list[Placed]:
    """Entities of an answer's text moved to the document's; one without a character there goes `NOWHERE`."""
    moved = []
    for one in entities:
        start, end = _reach(places, max(one.start, 0), min(one.end, len(places)))
        outside = one.start < 0 or one.end > len(places)
        if start == NOWHERE and one.start == one.end and not outside:
            moved.append(one._replace(malformed=True))
        else:
            moved.append(one._replace(start=start, end=end, malformed=one.malformed or outside or start == NOWHERE))
    return moved


def _reach(places: Sequence[int], start: int, end: int) -> tuple[int, int]:
    """First place and the one after the last that the characters [start, end) stand for."""
    if isinstance(places, range):
        return (start, end) if start < end else (NOWHERE, NOWHERE)
    found = [place for place in places[start:end] if place >= 0]
    return (found[0], found[-1] + 1) if found else (NOWHERE, NOWHERE)


def find_tokens(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """Offsets of tokens that fill a text but for white space, in order; None where they do not.

    Quotation marks may be written in another way, as the published tokenisation does.

    >>> find_tokens(["r.", "du", "Pont"], "r. du Pont")
    [(0, 2), (3, 5), (6, 10)]
    """
    found: list[tuple[int, int]] = []
    place, size = 0, len(text)
    for token in tokens:
        while place < size and text[place].isspace():
            place += 1
        written = token
        if not text.startswith(token, place):
            written = next((mark for mark in _QUOTES if token in _QUOTES and text.startswith(mark, place)), "")
            if not written:
                return None
        found.append((place, place + len(written)))
        place += len(written)
    return found if not text[place:].strip() else None


def align_tokens(tokens: Sequence[str], text: str) -> tuple[list[tuple[int, int]], float]:
    """Offsets of tokens in a text that differs from them, and the share of the text's characters that they repeat."""
    joined = " ".join(tokens)
    anchors = anchor(joined, text)
    found, begin = [], 0
    for token in tokens:
        found.append(_reach(anchors.places, begin, begin + len(token)))
        begin += len(token) + 1
    return found, anchors.share


def place_tags(
    levels: Sequence[Sequence[str]], offsets: Sequence[tuple[int, int]], scheme: str, strict: bool
) -> list[Placed]:
    """The entities that tags say, at the offsets of their tokens; each inside the one of the level above that holds
    all its tokens, if there is one."""
    found: list[Placed] = []
    above: list[tuple[int, int, int]] = []
    for level, tags in enumerate(levels, start=1):
        here: list[tuple[int, int, int]] = []
        chunks = strict_runs(tags, scheme) if strict else [(*chunk, False) for chunk in runs(tags)]
        place = 0
        for kind, start, end, malformed in chunks:
            while place < len(above) and above[place][1] <= start:
                place += 1
            holds = place < len(above) and above[place][0] <= start and end <= above[place][1]
            parent = above[place][2] if holds else None
            held = [offset for offset in offsets[start:end] if offset[0] != NOWHERE]
            first, last = (held[0][0], held[-1][1]) if held else (NOWHERE, NOWHERE)
            here.append((start, end, len(found)))
            found.append(Placed(level, kind, first, last, parent, malformed or not held))
        above = here
    return found


def tag_rows(
    entities: Sequence[Placed], tokens: Sequence[Token], depth: int, scheme: str, sibling_continues: bool
) -> tuple[list[list[str]], list[int]]:
    """Tags of the document's tokens at each level, and the indices of the entities that hold none of them.

    A token belongs to the entity that holds its first character; where two of one level do, to the first. What is
    malformed is written so that it stays malformed.
    """
    from histeval.entities.tags import owner_tags

    starts = [token[1] for token in tokens]
    types = [one.type for one in entities]
    rows: list[list[str]] = []
    unheld: list[int] = []
    for level in range(1, depth + 1):
        owners = [-1] * len(starts)
        here = sorted((one.start, index) for index, one in enumerate(entities) if one.level == level)
        kind_before, end_before, owner_before = "", NOWHERE, -1
        first = 0
        bad: list[int] = []
        for start, index in here:
            one = entities[index]
            owner = index
            if sibling_continues and start == end_before and one.type == kind_before:
                owner = owner_before
            kind_before, end_before, owner_before = one.type, one.end, owner
            while first < len(starts) and starts[first] < start:
                first += 1
            place, taken = first, False
            while place < len(starts) and starts[place] < one.end:
                if owners[place] < 0:
                    owners[place], taken = owner, True
                place += 1
            if not taken:
                unheld.append(index)
            elif one.malformed:
                bad.append(owner)
        row = owner_tags(owners, types, scheme)
        for owner in bad:
            row = [f"I-{types[owner]}" if held == owner else tag for tag, held in zip(row, owners, strict=True)]
        rows.append(row)
    unheld.extend(index for index, one in enumerate(entities) if one.level > depth)
    return rows, unheld
