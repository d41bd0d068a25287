"""Text profiles: what two texts may differ in without that counting as an error.

A profile is data: a set of named steps, always applied in the order of `STEPS`, so that one set of steps has one name,
one hash and one meaning. `profile("NFC+folded+collapsed")` reads the text form back that `Profile.name` gives.

A step only ever removes differences. A text under a profile is for comparison, not for reading.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

from histeval.errors import UsageError
from histeval.text.signs import ABBREVIATIONS, LONG_S

Unit = Literal["character", "grapheme", "word"]


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a profile: its name, what it does in words, and the function.

    `data` is whatever decides the result beside the code (tables, the characters of a pattern); it is part of the hash,
    so that two versions of a table never share a signature.
    """

    name: str
    help: str
    function: Callable[[str], str]
    data: str = ""


LINE_ENDS = ("\r\n", "\r", "\x85", "\u2028", "\u2029")
"""What the step `line_ends` turns into a line feed; the last is the paragraph separator of the trade directories."""

HYPHENS = "-¬\u00ad\u2010\u2e17"
"""Hyphens at the end of a line: hyphen-minus, the not sign of many transcripts, soft hyphen, hyphen, double oblique."""


def _line_ends(text: str) -> str:
    for end in LINE_ENDS:
        text = text.replace(end, "\n")
    return text


@lru_cache(maxsize=1)
def _broken_word() -> Callable[[str, str], str]:
    import regex

    # Letters with their marks, and the private-use letters of MUFI: between digits a hyphen is a range, not a break.
    letter = r"[\p{L}\p{M}\p{Co}]"
    return regex.compile(rf"(?<={letter})[{re.escape(HYPHENS)}][^\S\n]*\n\s*(?={letter})").sub  # type: ignore[no-any-return]


def _hyphens(text: str) -> str:
    return _broken_word()("", _line_ends(text)) if not HYPHEN_SET.isdisjoint(text) else text


HYPHEN_SET = frozenset(HYPHENS)


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _nfkc(text: str) -> str:
    return unicodedata.normalize("NFKC", text)


def _table(table: Mapping[str, str]) -> Callable[[str], str]:
    keys, numbers = frozenset(table), str.maketrans(dict(table))
    return lambda text: text if keys.isdisjoint(text) else text.translate(numbers)


def _written(table: Mapping[str, str]) -> str:
    return ";".join(f"{ord(sign):04X}={expansion}" for sign, expansion in sorted(table.items()))


def _uv(text: str) -> str:
    return text.replace("v", "u").replace("V", "U")


def _ij(text: str) -> str:
    return text.replace("j", "i").replace("J", "I")


def _unaccented(text: str) -> str:
    if text.isascii():
        return text
    parts = unicodedata.normalize("NFD", text)
    return unicodedata.normalize("NFC", "".join(c for c in parts if unicodedata.category(c) != "Mn"))


def _unpunctuated(text: str) -> str:
    # Unicode counts the ampersand and Tironian et among punctuation; here they are words. The not sign is a hyphen.
    return "".join(c for c in text if c in ABBREVIATIONS or (unicodedata.category(c)[0] != "P" and c != "¬"))


def _collapsed(text: str) -> str:
    return " ".join(text.split())


def _same(text: str) -> str:
    return text


STEPS: Mapping[str, Step] = {
    step.name: step
    for step in (
        Step("line_ends", "CR LF, CR, NEL, line and paragraph separator become a line feed", _line_ends),
        Step("hyphens", "a word broken by a hyphen at the end of a line is joined", _hyphens, HYPHENS),
        Step("NFC", "Unicode normalisation form C: composed and decomposed letters are the same", _nfc),
        Step("NFKC", "Unicode normalisation form KC: ligatures, superscripts, full-width forms are plain", _nfkc),
        Step(
            "abbreviations",
            "signs of abbreviation (Unicode and MUFI) are written out, letter variants plain",
            _table(ABBREVIATIONS),
            _written(ABBREVIATIONS),
        ),
        Step("long_s", "long s is s", _table(LONG_S), _written(LONG_S)),
        Step("unaccented", "combining marks are dropped, also those of composed letters", _unaccented),
        Step("unpunctuated", "punctuation is dropped, also the not sign; signs of abbreviation stay", _unpunctuated),
        Step("folded", "lower case, letter for letter (sharp s and long s stay)", str.lower),
        Step("casefolded", "full Unicode case folding (sharp s is ss, long s is s)", str.casefold),
        Step("uv", "v is u", _uv),
        Step("ij", "j is i", _ij),
        Step("collapsed", "each run of white space is one blank, none at the ends", _collapsed),
        Step("graphemes", "counted by grapheme cluster (letter with its marks), not by code point", _same),
    )
}
"""All steps by name, in the order in which they are applied."""

COMMON: Mapping[str, str] = {
    "benchmark": "folded+collapsed",
    "diplomatic": "line_ends+NFC+graphemes",
    "running_text": "line_ends+hyphens+NFC+collapsed",
    "plain": "line_ends+hyphens+NFC+long_s+folded+collapsed",
    "reading": "line_ends+hyphens+NFC+abbreviations+long_s+unaccented+unpunctuated+folded+uv+ij+collapsed",
}
"""Combinations in common use: `benchmark` is the CER text of the RISE manuscripts, `diplomatic` keeps all but encoding,
`running_text` ignores the lines, `plain` also case and long s, `reading` all that a modern reader would overlook."""


@dataclass(frozen=True)
class Profile:
    """A frozen, named set of steps.

    >>> clean = profile("collapsed+folded+NFC")
    >>> clean.name, clean.hash
    ('NFC+folded+collapsed', '0aee1a74')
    >>> clean.apply("  Zu\\u0308rich  den ")
    'zürich den'
    >>> profile(clean.name) == clean
    True
    """

    steps: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        unknown = [step for step in self.steps if step not in STEPS]
        if unknown:
            raise UsageError(
                f"there is no text profile or step {unknown[0]!r}; there are raw, {', '.join([*COMMON, *STEPS])}, "
                "joined by +"
            )
        object.__setattr__(self, "steps", tuple(step for step in STEPS if step in self.steps))

    @property
    def name(self) -> str:
        """The steps joined by `+`, `raw` where there are none; `profile` reads it back."""
        return "+".join(self.steps) or "raw"

    @cached_property
    def hash(self) -> str:
        """Eight hexadecimal digits over the steps and the tables they use."""
        text = "\n".join(f"{step}\t{STEPS[step].help}\t{STEPS[step].data}" for step in self.steps)
        return hashlib.sha256(text.encode()).hexdigest()[:8]

    @property
    def unit(self) -> Unit:
        """What is counted unless told otherwise: `grapheme` where the profile has that step, else `character`."""
        return "grapheme" if "graphemes" in self.steps else "character"

    def apply(self, text: str) -> str:
        """The text as it is compared."""
        for step in self.steps:
            text = STEPS[step].function(text)
        return text

    def __str__(self) -> str:
        return self.name


@lru_cache(maxsize=256)
def _parse(text: str) -> Profile:
    steps: list[str] = []
    for word in text.replace(",", "+").split("+"):
        word = word.strip()
        if word in COMMON:
            steps.extend(COMMON[word].split("+"))
        elif word != "raw" or not word:
            steps.append(word)
    return Profile(tuple(steps))


def profile(name: str | Profile | Iterable[str]) -> Profile:
    """The profile of a name: `raw`, steps joined by `+`, a name of `COMMON`, or several of these joined by `+`.

    Raises UsageError for an unknown name.

    >>> profile("raw").apply("Vnd ") == "Vnd "
    True
    >>> profile("benchmark").name
    'folded+collapsed'
    >>> profile("reading").apply("der Haupt¬\\nmann Johānes, ſampt")
    'der hauptmann iohanes sampt'
    >>> profile("tidy")
    Traceback (most recent call last):
    histeval.errors.UsageError: there is no text profile or step 'tidy'; there are raw, benchmark, ...
    """
    if isinstance(name, Profile):
        return name
    return _parse(name if isinstance(name, str) else "+".join(name))
