"""Annotations carried from one text to another version of it: onto OCR, or from a model's wording to the original.

The rule is that of the published data (Tual et al. 2023; the projection of their OCR set): both texts are folded
without changing their length, aligned by characters over their whole length, and an element runs from the place of its
first character to the place of its last one. With the folding and the order of ties below it reproduces all 8765
published projections; `docs/taggers.md` shows what each part of the rule is worth.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from histeval.entities.spans import Entry, Span
from histeval.errors import InputError

LARGEST_ALIGNMENT = 4 * 10**8
"""Most cells (characters of one text times characters of the other) that are aligned; 100 MB of memory."""

_CLASSES = {
    " ": "\n\u2029",
    ".": ",:",
    "[": "(",
    "]": ")",
    "-": "—–",
    "'": "’‘",
    '"': "“”«»",
    "F": "ſ",  # OCR of French type reads the f of `fab.` as a long s, not the other way round
}
_FOLDED = {ord(member): leader for leader, members in _CLASSES.items() for member in members}


def _accents(last: int) -> dict[int, str]:
    """Letters up to code point `last` to their base letter in upper case, where that is one character."""
    table = {}
    for point in range(0x61, last + 1):
        base = unicodedata.normalize("NFD", chr(point))[:1].upper()
        if len(base) == 1 and base != chr(point):
            table[point] = base
    return table


# Only the accents of Latin-1 are folded: the published projections treat the Czech letters of the OCR model's
# alphabet as letters of their own.
_NARROW = _accents(0xFF) | _FOLDED
_BROAD = _accents(0x2FFF) | _FOLDED | {ord("œ"): "O", ord("æ"): "A", ord("Œ"): "O", ord("Æ"): "A"}


def fold(text: str, *, broad: bool = False) -> str:
    """`text` without accents, case and look-alike punctuation, of the same length in code points.

    `broad` folds the accents of all scripts and ligatures to their first letter as well.

    >>> fold("Élig. (r. d’Orléans),\\n34")
    "ELIG. [R. D'ORLEANS]. 34"
    """
    return text.translate(_BROAD if broad else _NARROW)


@dataclass(frozen=True, slots=True)
class Alignment:
    """Where each character of a reference stands in another text.

    `starts` and `ends` have one offset a reference character: it stands for the other text between them, which is
    empty for a character without counterpart. `equal` says whether the (folded) characters are the same.
    """

    starts: Sequence[int]
    ends: Sequence[int]
    equal: Sequence[bool]


def align(reference: str, noisy: str, *, broad: bool = False) -> Alignment:
    """The character alignment with the fewest edits (Levenshtein) of two folded texts.

    Of several such alignments the one is taken whose agreeing pairs stand as early as possible in both texts: a full
    stop that OCR kept once is the first of two. A run of edits between two agreeing characters is one block, whose
    characters are paired from its left; what the longer side has left over stands alone. Raises InputError for texts
    too long to align.

    >>> alignment = align("r. Denis, 97.", "r. Denis.")
    >>> alignment.starts[8:], alignment.ends[8:]
    ([8, 9, 9, 9, 9], [9, 9, 9, 9, 9])
    """
    from rapidfuzz.distance import Levenshtein

    rows, columns = len(reference), len(noisy)
    if rows * columns > LARGEST_ALIGNMENT:
        raise InputError(f"two texts of {rows} and {columns} characters are too long to be aligned")
    # The library cuts off a common ending before it aligns, which would pair final characters as late as possible.
    # With two marks after one text and one after the other there is no common ending, and the marks change nothing:
    # the second is always deleted, the first always paired.
    blocks = Levenshtein.opcodes(fold(reference, broad=broad) + "\ufdd0\ufdd1", fold(noisy, broad=broad) + "\ufdd0")
    starts, ends, equal = [0] * rows, [0] * rows, [False] * rows
    first = [0, 0]  # where the block of edits that is being read began
    for block in blocks:
        if block.tag == "equal":
            _pair(first[0], block.src_start, first[1], block.dest_start, starts, ends)
            for row in range(block.src_start, min(block.src_end, rows)):
                starts[row] = column = row - block.src_start + block.dest_start
                ends[row] = column + 1
                equal[row] = True
            first = [block.src_end, block.dest_end]
    _pair(first[0], rows, first[1], columns, starts, ends)
    return Alignment(starts, ends, equal)


def _pair(row: int, last_row: int, column: int, last_column: int, starts: list[int], ends: list[int]) -> None:
    """Pairs the characters of an unequal block from its left."""
    for offset in range(last_row - row):
        starts[row + offset] = min(column + offset, last_column)
        ends[row + offset] = min(column + offset + 1, last_column)


@dataclass(frozen=True, slots=True)
class Projection:
    """An entry on another text: `entry`, or None with the `reason` why it was dropped.

    `attempt` is the entry as projected in either case, so that a dropped one can be looked at.
    """

    entry: Entry | None
    reason: str | None
    attempt: Entry


def project(entry: Entry, noisy: str) -> Projection:
    """The annotations of `entry` on `noisy`, another version of its text.

    Dropped (entry None) where an element would be empty or white space, or the text itself has nothing to align.

    >>> entry = Entry("Dufay, r. Denis, 97", (Span("PER", 0, 5), Span("SPAT", 7, 19), Span("CARDINAL", 17, 19, 1)))
    >>> [(span.type, span.start, span.end) for span in project(entry, "DUFAY. r Denis, 9").entry.spans]
    [('PER', 0, 5), ('SPAT', 7, 17), ('CARDINAL', 16, 17)]
    >>> project(entry, "Dufay, r. Denis").reason
    "CARDINAL '97' has no text left"
    """
    alignment = align(entry.text, noisy)
    spans = tuple(_carry(span, alignment, len(noisy)) for span in entry.spans)
    attempt = Entry(noisy, spans, text_nodes(len(noisy), spans))
    lost = [
        f"{old.type} {_shown(entry.text[old.start : old.end])} has no text left"
        for old, new in zip(entry.spans, spans, strict=True)
        if not noisy[new.start : new.end].strip()
    ]
    return Projection(None, "; ".join(lost), attempt) if lost else Projection(attempt, None, attempt)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:39] + "…")


def _carry(span: Span, alignment: Alignment, length: int) -> Span:
    if span.start >= span.end:  # an empty element of the reference stays empty, at the place it had
        place = alignment.starts[span.start] if span.start < len(alignment.starts) else length
        return Span(span.type, place, place, span.parent)
    start = alignment.starts[span.start]
    return Span(span.type, start, max(start, alignment.ends[span.end - 1]), span.parent)


def text_nodes(length: int, spans: Iterable[Span]) -> tuple[tuple[int, int], ...]:
    """The text nodes that inline markup of `spans` would cut a text of `length` characters into.

    >>> text_nodes(9, [Span("PER", 0, 4), Span("ACT", 6, 9)])
    ((0, 4), (4, 6), (6, 9))
    """
    cuts = sorted({0, length, *(offset for span in spans for offset in (span.start, span.end))})
    return tuple(pairwise(cuts))


def project_all(
    entries: Mapping[str, Entry], noisy: Mapping[str, str]
) -> tuple[dict[str, Projection], tuple[str, ...], tuple[str, ...]]:
    """Projections of the entries that have a noisy text, the ids without one, and the noisy ids without an entry."""
    done = {key: project(entry, noisy[key]) for key, entry in entries.items() if key in noisy}
    return done, tuple(key for key in entries if key not in noisy), tuple(key for key in noisy if key not in entries)


def anchor(answer: Entry, text: str) -> tuple[Entry, float]:
    """The spans of a model's answer on the original text, and the share of both texts that could not be anchored.

    A model that repeats a text with inline tags changes spacing, accents and quotes, leaves words out or adds some.
    The share is 1 - 2m / (a + t): m characters (white space aside) agree after folding, of a in the answer and t in
    the text; it is 0 where both are empty. Every span is kept, in order, so that parents stay valid: one of which
    nothing is found has no width (start = end), for the caller to count. Never raises: texts that are too long to be
    aligned have share 1 and spans without width.

    >>> answer = Entry("Dufay , r. d'Orleans", (Span("PER", 0, 5), Span("LOC", 8, 20)))
    >>> entry, share = anchor(answer, "Dufay, r. d’Orléans.")
    >>> [(span.start, span.end) for span in entry.spans], round(share, 3)
    ([(0, 5), (7, 19)], 0.029)
    """
    if answer.text == text:
        return Entry(text, answer.spans, text_nodes(len(text), answer.spans)), 0.0
    try:
        alignment = align(answer.text, text, broad=True)
    except InputError:
        return Entry(text, tuple(Span(span.type, 0, 0, span.parent) for span in answer.spans)), 1.0
    spans = []
    for span in answer.spans:
        carried = _carry(span, alignment, len(text))
        start, end = carried.start, carried.end
        inside = range(max(0, span.start), min(span.end, len(answer.text)))
        if not any(alignment.equal[row] and not answer.text[row].isspace() for row in inside):
            end = start
        # Spaces that the answer put elsewhere must not widen an entity.
        content = answer.text[span.start : span.end]
        while start < end and text[start].isspace() and not content[:1].isspace():
            start += 1
        while start < end and text[end - 1].isspace() and not content[-1:].isspace():
            end -= 1
        spans.append(Span(span.type, start, end, span.parent))
    visible = sum(not character.isspace() for character in answer.text)
    total = visible + sum(not character.isspace() for character in text)
    agreed = sum(same and not character.isspace() for same, character in zip(alignment.equal, answer.text, strict=True))
    share = 1 - 2 * agreed / total if total else 0.0
    return Entry(text, tuple(spans), text_nodes(len(text), spans)), share
