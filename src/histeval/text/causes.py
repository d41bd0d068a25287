"""Why a text is wrong: the edits of an alignment, each given one named cause.

Every changed run of an alignment (the fewest edits) is brought through a fixed sequence of normalisations. What a
normalisation saves in edits is what its cause cost; what is left is missing text, invented text, or recognition. So the
causes of an alignment sum to its edits exactly. The scheme is our own; its names follow what editors of historical
texts normalise.

Text that stands in the wrong field is a matter of layout, which one alignment cannot see: a caller that knows the other
fields passes `elsewhere`.
"""

from __future__ import annotations

import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

from histeval.text.align import Alignment, Block
from histeval.text.distance import edits, units
from histeval.text.normalise import HYPHENS, STEPS, Unit

Group = Literal["recognition", "layout", "normalisation", "missing", "invented"]

CAUSES: Mapping[str, tuple[Group, str]] = {
    "recognition": ("recognition", "other characters were read"),
    "layout": ("layout", "the text stands in another field"),
    "encoding": ("normalisation", "the same character, encoded otherwise (Unicode NFC)"),
    "line_breaks": ("normalisation", "white space, line breaks, hyphens at the end of a line"),
    "punctuation": ("normalisation", "punctuation"),
    "case": ("normalisation", "upper or lower case"),
    "long_s": ("normalisation", "long s or s"),
    "u_v": ("normalisation", "u or v"),
    "i_j": ("normalisation", "i or j"),
    "abbreviations": ("normalisation", "signs of abbreviation or their expansion"),
    "accents": ("normalisation", "accents and other combining marks"),
    "missing": ("missing", "words of the reference that the hypothesis does not have"),
    "invented": ("invented", "words of the hypothesis that the reference does not have"),
}
"""The causes, each with its group and what it means."""

Side = Literal["missing", "invented"]
Elsewhere = Callable[[Side, str], bool]
"""Whether words missing here stand in another field of the answer, or words invented here in another of the truth."""


@dataclass(frozen=True, slots=True)
class Explained:
    """A changed run of an alignment, and how many of its edits have which cause (those with none are left out)."""

    run: Block
    causes: Mapping[str, int]


_HYPHEN_BREAK = tuple(hyphen + "\n" for hyphen in HYPHENS)


def _without_white_space(text: str) -> str:
    text = STEPS["line_ends"].function(text)
    for hyphen in _HYPHEN_BREAK:
        text = text.replace(hyphen, "\n")
    return "".join(text.split())


_NASAL = "\u0303\u0304\u0305"


def _nasal(letter: str) -> Callable[[str], str]:
    """Signs written out, and a tilde, macron or overline over a letter read as a nasal after it."""
    write_out = STEPS["abbreviations"].function

    def expand(text: str) -> str:
        parts = unicodedata.normalize("NFD", write_out(text))
        return unicodedata.normalize("NFC", "".join(letter if c in _NASAL else c for c in parts))

    return expand


_STEPS: tuple[tuple[str, tuple[Callable[[str], str], ...]], ...] = (
    ("encoding", (STEPS["NFC"].function,)),
    ("line_breaks", (_without_white_space,)),
    # A sign may stand on either side alone; a nasal is m or n; a mark may also be a plain accent, which comes last.
    ("abbreviations", (STEPS["abbreviations"].function, _nasal("n"), _nasal("m"))),
    ("punctuation", (STEPS["unpunctuated"].function,)),
    ("case", (STEPS["folded"].function,)),
    ("long_s", (STEPS["long_s"].function,)),
    ("u_v", (STEPS["uv"].function,)),
    ("i_j", (STEPS["ij"].function,)),
    ("accents", (STEPS["unaccented"].function,)),
)


@lru_cache(maxsize=4096)
def _peel(reference: str, hypothesis: str, unit: Unit, cost: int) -> tuple[tuple[tuple[str, int], ...], int]:
    """What each normalisation saves of the cost of a run, and what is left."""
    saved: list[tuple[str, int]] = []
    for cause, functions in _STEPS:
        ways = [(function(reference), function(hypothesis)) for function in functions]
        costs = [edits(*units(one, other, unit)) for one, other in ways]
        best = costs.index(min(costs))
        if unit == "word" and cause == "line_breaks" and costs[best]:
            continue  # without white space all is one word: that explains words split or joined, but no other edit
        if costs[best] < cost:
            saved.append((cause, cost - costs[best]))
        # What saves nothing alone may help the next ("V" is "u" by case and by letter); a guess must save something.
        if costs[best] < cost or (costs[best] == cost and len(functions) == 1):
            cost, (reference, hypothesis) = costs[best], ways[best]
        if not cost:
            break
    return tuple(saved), cost


def _surplus(reference: str, hypothesis: str, unit: Unit) -> int:
    """By how many units one side of a changed run exceeds the other, where that is text left out or added rather than
    misread: it has two words more, and twice the letters."""
    sizes = sorted(len("".join(text.split())) for text in (reference, hypothesis))
    if abs(len(reference.split()) - len(hypothesis.split())) < 2 or sizes[1] < 2 * sizes[0]:
        return 0
    one, other = units(reference, hypothesis, unit)
    return abs(len(one) - len(other))


def _whole_words(text: str, start: int, end: int) -> bool:
    """Whether text[start:end] holds a whole word of the text.

    Which of several equal places a deletion is given is chance ("a b" from "a b a b"): all of them are looked at.
    """
    length = end - start
    low = start
    while low and start - low < 80 and text[low - 1] == text[low - 1 + length]:
        low -= 1
    high = start
    while high + length < len(text) and high - start < 80 and text[high] == text[high + length]:
        high += 1
    return any(_holds_word(text, at, at + length) for at in range(low, high + 1))


def _holds_word(text: str, start: int, end: int) -> bool:
    # A piece of a word at either end is no whole word; what lies between them is.
    while start and start < end and not text[start - 1].isspace() and not text[start].isspace():
        start += 1
    while end < len(text) and start < end and not text[end].isspace() and not text[end - 1].isspace():
        end -= 1
    return any(c.isalnum() for c in text[start:end])


def _side(missing: bool, text: str, elsewhere: Elsewhere | None) -> str:
    side: Side = "missing" if missing else "invented"
    return "layout" if elsewhere is not None and elsewhere(side, text) else side


def explain(alignment: Alignment, elsewhere: Elsewhere | None = None) -> list[Explained]:
    """The changed runs of an alignment in order, each with the causes of its edits.

    Missing or invented is text where only one side has any and it holds a whole word, and what one side of a changed
    run has more than the other where that is much: two words and as many letters again. `elsewhere` is asked once for
    each of these texts.
    """
    found = []
    for run in alignment.runs():
        if run.tag == "equal":
            continue
        one, other = alignment.slices(run)
        whole = alignment.unit == "word" or (
            (run.tag == "delete" and _whole_words(alignment.reference, run.reference_start, run.reference_end))
            or (run.tag == "insert" and _whole_words(alignment.hypothesis, run.hypothesis_start, run.hypothesis_end))
        )
        if run.tag != "replace" and whole:
            found.append(Explained(run, {_side(run.tag == "delete", one or other, elsewhere): run.edits}))
            continue
        surplus = _surplus(one, other, alignment.unit)
        if surplus:
            causes = {_side(len(one) > len(other), max(one, other, key=len), elsewhere): surplus}
            left = run.edits - surplus
        else:
            saved, left = _peel(one, other, alignment.unit, run.edits)
            causes = dict(saved)
        if left:
            causes["recognition"] = left
        found.append(Explained(run, causes))
    return found


def count_causes(alignments: Alignment | Iterable[Alignment], elsewhere: Elsewhere | None = None) -> dict[str, int]:
    """Edits by cause, all of `CAUSES` in their order; the values sum to the edits of the alignments.

    >>> from histeval.text.align import align
    >>> found = count_causes(align("Vnd daſz ein pfer-\\nd", "und dasz ain pferd"))
    >>> {cause: number for cause, number in found.items() if number}
    {'recognition': 1, 'line_breaks': 2, 'long_s': 1, 'u_v': 1}
    >>> count_causes(align("der man sprach do", "der man"))["missing"]
    10
    """
    total = dict.fromkeys(CAUSES, 0)
    for alignment in [alignments] if isinstance(alignments, Alignment) else alignments:
        for explained in explain(alignment, elsewhere):
            for cause, number in explained.causes.items():
                total[cause] += number
    return total


def groups(found: Mapping[str, int]) -> dict[Group, int]:
    """Edits by group of causes.

    >>> groups({"case": 2, "u_v": 1, "missing": 4})
    {'recognition': 0, 'layout': 0, 'normalisation': 3, 'missing': 4, 'invented': 0}
    """
    total: dict[Group, int] = {"recognition": 0, "layout": 0, "normalisation": 0, "missing": 0, "invented": 0}
    for cause, number in found.items():
        total[CAUSES[cause][0]] += number
    return total


def confusions(alignments: Alignment | Iterable[Alignment]) -> Counter[tuple[str, str]]:
    """How often which unit of the reference became which of the hypothesis; the empty string is nothing.

    A run of unequal sides of at most three units each counts as one confusion ("m" became "rn"), others unit by unit.

    >>> from histeval.text.align import align
    >>> confusions(align("am turm", "om turrn")).most_common()
    [(('a', 'o'), 1), (('m', 'rn'), 1)]
    """
    table: Counter[tuple[str, str]] = Counter()
    for alignment in [alignments] if isinstance(alignments, Alignment) else alignments:
        for pairs in alignment.changes():
            replaced = [pair for pair in pairs if all(pair)]
            if replaced and len(replaced) < len(pairs) <= 3:
                table["".join(one for one, _ in pairs), "".join(other for _, other in pairs)] += 1
            else:
                table.update(pairs)
    return table
