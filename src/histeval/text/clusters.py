"""Grapheme clusters (Unicode Standard Annex 29) as single code points, so that fast string distances count them.

A cluster of several code points (a letter with its combining marks, CR LF, a Hangul syllable in parts) is replaced by a
code point of the supplementary private use planes 15 and 16, the same one for the same cluster on both sides. The
private use area of the BMP is never touched: MUFI puts medieval letters there. Texts that hold characters of planes 15
or 16 themselves, or more kinds of clusters than there is room for, become lists of integers instead: slower, equally
exact.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any

SPARE = range(0xF0000, 0x110000)
"""Planes 15 and 16, with the four code points at their ends that are no characters: Python strings carry them too."""

_plain: set[str] = set()
"""Characters seen that never join a cluster, whatever stands beside them."""
_marks: set[str] = set()
"""Characters seen that join the character before them and have no other effect."""
_joiners: set[str] = set()
"""Characters seen with rules of their own: Hangul, flags, prepended marks, viramas, zero-width joiner, CR."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[Any, Any, Any]:
    import regex

    # A virama (combining class 9) may link two Indic consonants, so it is more than a mark.
    mark = regex.compile(r"(?V1)[[\p{GCB=Extend}\p{GCB=SpacingMark}]--\p{ccc=9}]")
    joiner = regex.compile(
        r"[\p{GCB=Extend}\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=LV}\p{GCB=LVT}\r]"
    )
    return mark, joiner, regex.compile(r"\X")


def _learn(characters: set[str]) -> None:
    mark, joiner, _ = _patterns()
    for character in characters:
        kind = _marks if mark.match(character) else _joiners if joiner.match(character) else _plain
        kind.add(character)


@lru_cache(maxsize=256)
def _marked(marks: frozenset[str]) -> re.Pattern[str]:
    return re.compile(f"(?s)(.[{''.join(re.escape(mark) for mark in sorted(marks))}]+)")


def graphemes(text: str) -> list[str]:
    """The grapheme clusters of a text.

    >>> [len(cluster) for cluster in graphemes("a\\u0304b\\r\\n")]
    [2, 1, 2]
    """
    clusters: list[str] = _patterns()[2].findall(text)
    return clusters


def _pieces(text: str, characters: set[str]) -> list[str]:
    """The text in pieces: those at even positions hold no cluster of several code points, those at odd positions are
    whole clusters, most of them of several code points, or a mark with what stands before it."""
    unknown = characters - _plain - _marks - _joiners
    if unknown:
        _learn(unknown)
    joiners = characters & _joiners
    if joiners and not (joiners == {"\r"} and "\r\n" not in text):
        pieces = [""]
        for cluster in graphemes(text):
            if len(cluster) == 1:
                pieces[-1] += cluster
            else:
                pieces += [cluster, ""]
        return pieces
    marks = characters & _marks
    return _marked(frozenset(marks)).split(text) if marks else [text]


class Folding:
    """One assignment of spare code points to clusters, for one pair of texts (or several, while there is room)."""

    def __init__(self) -> None:
        self.clusters: dict[str, str] = {}
        self._pieces: dict[str, str] = {}

    def _sign(self, piece: str) -> str:
        """What stands for a piece; a mark after a control character joins nothing, which gives two clusters."""
        signs = ""
        for cluster in graphemes(piece):
            if len(cluster) > 1 and cluster not in self.clusters:
                if len(self.clusters) == len(SPARE):
                    raise OverflowError
                self.clusters[cluster] = chr(SPARE[len(self.clusters)])
            signs += self.clusters.get(cluster, cluster)
        self._pieces[piece] = signs
        return signs

    def fold(self, text: str, characters: set[str]) -> str:
        """The text with one code point a cluster. `characters` is the set of its characters."""
        pieces = _pieces(text, characters)
        if len(pieces) == 1:
            return text
        known = self._pieces
        for i in range(1, len(pieces), 2):
            pieces[i] = known.get(pieces[i]) or self._sign(pieces[i])
        return "".join(pieces)

    def pair(self, a: str, b: str) -> tuple[Sequence[object], Sequence[object]]:
        """Both texts as sequences with one item a cluster, equal where the clusters are equal."""
        if a.isascii() and b.isascii() and "\r\n" not in a and "\r\n" not in b:
            return a, b
        ours, theirs = set(a), set(b)
        if max(ours, default="") < "\U000f0000" and max(theirs, default="") < "\U000f0000":
            try:
                return self.fold(a, ours), self.fold(b, theirs)
            except OverflowError:
                pass
        numbers: dict[str, int] = {}
        return (
            [numbers.setdefault(cluster, len(numbers)) for cluster in graphemes(a)],
            [numbers.setdefault(cluster, len(numbers)) for cluster in graphemes(b)],
        )
