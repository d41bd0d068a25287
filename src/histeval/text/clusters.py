"""Grapheme clusters (Unicode Standard Annex 29) as single code points, so that fast string distances count them.

A cluster of several code points (a letter with its combining marks, CR LF, a Hangul syllable in parts) is replaced by a
code point of the supplementary private use planes 15 and 16, the same one for the same cluster on both sides. The
private use area of the BMP is never touched: MUFI puts medieval letters there. Texts that hold characters of planes 15
or 16 themselves, or more kinds of clusters than there is room for, become lists of integers instead: slower, equally
exact.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SPARE = range(0xF0000, 0x110000)
"""Planes 15 and 16, with the four code points at their ends that are no characters: Python strings carry them too."""

LONG = 100
"""From this length on the arrays of `_fold_marks` are faster than cutting the text into clusters."""

PLAIN, CONTROL, MARK, JOINER, TAKEN, UNKNOWN = range(6)
"""Kinds of characters: those that a mark joins and that join nothing; those that no mark joins; the marks; those with
rules of their own (Hangul, flags, prepended marks, viramas, zero-width joiner, CR); those of planes 15 and 16."""


@lru_cache(maxsize=1)
def _patterns() -> tuple[Any, Any, Any, Any]:
    import regex

    # A virama (combining class 9) may link two Indic consonants, so it is more than a mark.
    mark = regex.compile(r"(?V1)[[\p{GCB=Extend}\p{GCB=SpacingMark}]--\p{ccc=9}]")
    joiner = regex.compile(
        r"[\p{GCB=Extend}\p{GCB=Prepend}\p{GCB=ZWJ}\p{GCB=RI}\p{GCB=L}\p{GCB=V}\p{GCB=T}\p{GCB=LV}\p{GCB=LVT}\r]"
    )
    return regex.compile(r"\X"), mark, joiner, regex.compile(r"[\p{GCB=Control}\n]")


@lru_cache(maxsize=1)
def _kinds() -> NDArray[np.uint8]:
    """The kind of each code point, filled in as code points turn up."""
    import numpy as np

    kinds = np.full(0x110000, UNKNOWN, dtype=np.uint8)
    kinds[SPARE.start :] = TAKEN
    return kinds


def _learn(codes: set[int]) -> None:
    _, mark, joiner, control = _patterns()
    for code in codes:
        sign = chr(code)
        _kinds()[code] = (
            MARK if mark.match(sign) else JOINER if joiner.match(sign) else CONTROL if control.match(sign) else PLAIN
        )


def graphemes(text: str) -> list[str]:
    """The grapheme clusters of a text.

    >>> [len(cluster) for cluster in graphemes("a\\u0304b\\r\\n")]
    [2, 1, 2]
    """
    clusters: list[str] = _patterns()[0].findall(text)
    return clusters


class NoRoomError(Exception):
    """The text needs the spare code points itself, or more of them than there are."""


class Folding:
    """One assignment of spare code points to clusters, for one pair of texts (or several, while there is room)."""

    def __init__(self) -> None:
        self._signs: dict[str, str] = {}
        self._marked: dict[int, int] = {}

    def _sign(self, cluster: str) -> str:
        """The one code point that stands for a cluster."""
        if len(cluster) == 1:
            return cluster
        sign = self._signs.get(cluster)
        if sign is None:
            if len(self._signs) == len(SPARE):
                raise NoRoomError
            sign = self._signs[cluster] = chr(SPARE[len(self._signs)])
        return sign

    def fold(self, text: str) -> str:
        """The text with one code point a cluster; raises NoRoomError."""
        if text.isascii() and "\r\n" not in text:
            return text
        if len(text) >= LONG:
            folded = self._fold_marks(text)
            if folded is not None:
                return folded
        elif max(text) >= "\U000f0000":
            raise NoRoomError
        return "".join(map(self._sign, graphemes(text)))

    def _fold_marks(self, text: str) -> str | None:
        """`fold` where marks after letters are the only clusters of several code points; else None."""
        import numpy as np

        codes = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype=np.uint32)
        kinds = _kinds()[codes]
        most = kinds.max()
        if most == UNKNOWN:
            _learn(set(codes[kinds == UNKNOWN].tolist()))
            kinds = _kinds()[codes]
            most = kinds.max()
        if most == TAKEN:
            raise NoRoomError
        if most <= CONTROL:
            return text
        marks = kinds == MARK
        if most == JOINER or marks[0]:
            return None
        bases = np.flatnonzero(marks[1:] & ~marks[:-1])
        if (kinds[bases] == CONTROL).any():
            return None
        keys = (codes[bases].astype(np.int64) << 21 | codes[bases + 1]).tolist()
        signs = [self._marked.get(key) or self._mark(key) for key in keys]
        if len(bases) < np.count_nonzero(marks):
            # Some letters have several marks: their clusters are looked up as texts.
            ends = np.flatnonzero(marks & ~np.append(marks[1:], False)) + 1
            for i in np.flatnonzero(ends - bases > 2).tolist():
                signs[i] = ord(self._sign(text[bases[i] : ends[i]]))
        folded = codes.copy()
        folded[bases] = signs
        return str(folded[~marks].tobytes().decode("utf-32-le", "surrogatepass"))

    def _mark(self, key: int) -> int:
        """The sign of a letter with one mark."""
        self._marked[key] = ord(self._sign(chr(key >> 21) + chr(key & 0x1FFFFF)))
        return self._marked[key]

    def pair(self, a: str, b: str) -> tuple[Sequence[object], Sequence[object]]:
        """Both texts as sequences with one item a cluster, equal where the clusters are equal."""
        try:
            return self.fold(a), self.fold(b)
        except NoRoomError:
            numbers: dict[str, int] = {}
            return (
                [numbers.setdefault(cluster, len(numbers)) for cluster in graphemes(a)],
                [numbers.setdefault(cluster, len(numbers)) for cluster in graphemes(b)],
            )
