"""Differences of two texts for the page: line beside line, each change with its causes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from histeval.overview.page import clean
from histeval.text import CAUSES, Alignment, align, explain
from histeval.text.causes import Elsewhere
from histeval.text.normalise import Unit

LONGEST = 12_000
"""So many characters of a text are compared and shown."""
MOST_CHANGES = 400
LINE_END = "↵"
PLACE = {cause: place for place, cause in enumerate(CAUSES)}

Causes = Mapping[str, int]
Segment = tuple[str, str, Causes]
"""A stretch of the reference, that of the hypothesis, and the causes of their edits (none where they are equal)."""


def differences(reference: str, hypothesis: str, elsewhere: Elsewhere | None = None) -> dict[str, Any]:
    """Both texts by characters (grapheme clusters) and by words, ready to be drawn, with the causes of edits.

    The alignment is the one with the fewest edits, so that the causes sum to the edits. Each has `rows`, one a line of
    the reference: [its parts, those of the hypothesis]; a part is a text, or [text, group of the main cause, causes].
    """
    return {
        "characters": _drawn(align(reference, hypothesis, "grapheme"), elsewhere),
        "words": _drawn(align(reference, hypothesis, "word"), elsewhere),
    }


def segments(alignment: Alignment, elsewhere: Elsewhere | None = None) -> list[Segment]:
    """The equal and changed stretches of an alignment in order; joined they give both texts back.

    By word, words that were only replaced stand one by one, and the white space after a changed stretch is no part of
    it.

    >>> segments(align("Vnd so", "und so"))
    [('V', 'u', {'u_v': 1}), ('nd so', 'nd so', {})]
    >>> segments(align("Vnd daſz so", "und das so", "word"))[:3]
    [('Vnd', 'und', {'u_v': 1}), (' ', ' ', {}), ('daſz', 'das', {'recognition': 1})]
    """
    explained = iter(explain(alignment, elsewhere))
    changes = alignment.changes()
    found: list[Segment] = []
    for run in alignment.runs():
        one, other = alignment.slices(run)
        if run.tag == "equal":
            found.append((one, other, {}))
        elif alignment.unit != "word":
            found.append((one, other, next(explained).causes))
        else:
            found.extend(_by_word(one, other, next(explained).causes, next(changes)))
    # By word, a text of nothing but white space has no block.
    if alignment.reference.isspace() and not any(one for one, _, _ in found):
        found.insert(0, (alignment.reference, "", {}))
    if alignment.hypothesis.isspace() and not any(other for _, other, _ in found):
        found.insert(0, ("", alignment.hypothesis, {}))
    return found


def _by_word(one: str, other: str, causes: Causes, pairs: Sequence[tuple[str, str]]) -> Iterator[Segment]:
    """A changed run of words, cut into single ones where each was replaced by one other."""
    whole = len(pairs) == 1 or not all(mine and theirs for mine, theirs in pairs)
    for mine, theirs in [(one, other)] if whole else pairs:
        bare, their_bare = mine.rstrip(), theirs.rstrip()
        part = causes if whole else _word(bare, their_bare)
        yield bare, their_bare, part
        if len(bare) < len(mine) or len(their_bare) < len(theirs):
            yield mine[len(bare) :], theirs[len(their_bare) :], {}


@lru_cache(maxsize=1 << 15)
def _word(mine: str, theirs: str) -> Mapping[str, int]:
    """The causes of one word read as another; systems misread the same words."""
    found: Counter[str] = Counter()
    for run in explain(align(mine, theirs, "word")):
        found.update(run.causes)
    return dict(found)


def _drawn(alignment: Alignment, elsewhere: Elsewhere | None) -> dict[str, Any]:
    found = segments(alignment, elsewhere)
    causes: Counter[str] = Counter()
    for _, _, part in found:
        causes.update(part)
    changes = Counter((one, other, tuple(sorted(part.items()))) for one, other, part in found if part)
    listed = sorted(changes.items(), key=lambda item: (-item[1], item[0]))
    drawn = {
        "edits": alignment.edits,
        "causes": [[PLACE[cause], causes[cause]] for cause in CAUSES if causes[cause]],
        "rows": rows(found, alignment.unit),
        "changes": [
            [_ends(one), _ends(other), [[PLACE[cause], number] for cause, number in part], times]
            for (one, other, part), times in listed[:MOST_CHANGES]
        ],
    }
    if len(listed) > MOST_CHANGES:
        drawn["more"] = len(listed) - MOST_CHANGES
    return drawn


def rows(found: Iterable[Segment], unit: Unit = "grapheme") -> list[list[list[Any]]]:
    """Segments cut at the line ends of the reference; line ends that only the hypothesis has stay inside a row.

    A line end that is itself part of a change is drawn as a sign.
    """
    lines: list[list[list[Any]]] = [[[], []]]
    for reference, hypothesis, causes in found:
        one, other = reference.split("\n"), hypothesis.split("\n")
        changed = bool(causes)
        if len(one) != len(other):
            other = [(LINE_END + "\n").join(other) if changed else hypothesis, *[""] * (len(one) - 1)]
            signed = True
        else:
            signed = False
        for place, (mine, theirs) in enumerate(zip(one, other, strict=True)):
            if place:
                lines.append([[], []])
            ends = changed and signed and place < len(one) - 1
            _add(lines[-1][0], mine + (LINE_END if ends else ""), causes)
            _add(lines[-1][1], theirs, causes)
    return lines


def _add(parts: list[Any], text: str, causes: Causes) -> None:
    if not text:
        return
    if not causes:
        parts.append(clean(text))
        return
    main = max(causes, key=lambda cause: (causes[cause], -PLACE[cause]))
    parts.append([clean(text), CAUSES[main][0], [[PLACE[cause], number] for cause, number in causes.items()]])


def _ends(text: str) -> str:
    return clean(text[:300]).replace("\n", LINE_END) + ("…" if len(text) > 300 else "")
