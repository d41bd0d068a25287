"""A reader of almost-JSON: what language models write where JSON was asked for.

It takes JSON, and beside it trailing commas, Python literals, single quotes, comments, bare NaN, raw line breaks in
texts and the two characters backslash-n between tokens; where it is asked to, also typographic quotes in the place of
JSON's. It evaluates nothing, is linear in the length, and stops at `MAX_DEPTH` levels.
"""

from __future__ import annotations

import math
import re
import sys
from functools import lru_cache
from typing import Any

MAX_DEPTH = 64

_SPACE = re.compile(r"(?:[\s\ufeff]++|\\[nrt])*+")
_COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
_WORD = re.compile(r"-?[A-Za-z]+")
_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
_PLAIN = {'"': re.compile(r'[^"\\]*'), "'": re.compile(r"[^'\\]*")}
_HEXADECIMAL = re.compile(r"[0-9a-fA-F]+")
_ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "/": "/", "\\": "\\", '"': '"', "'": "'"}
_WORDS: dict[str, tuple[Any, str]] = {
    "true": (True, ""),
    "false": (False, ""),
    "null": (None, ""),
    "True": (True, "Python literal"),
    "False": (False, "Python literal"),
    "None": (None, "Python literal"),
    "NaN": (None, "bare NaN read as null"),
    "nan": (None, "bare NaN read as null"),
    "undefined": (None, "undefined read as null"),
    "Infinity": (math.inf, ""),
    "-Infinity": (-math.inf, ""),
}
_CLOSING = {"{": "}", "[": "]", "(": ")"}

TYPOGRAPHIC = {
    "“": "”", "”": "”", "„": "“”", "»": "«", "«": "»", "″": "″", "＂": "＂",
    "‘": "’", "’": "’", "‚": "‘’", "›": "‹", "‹": "›",
}  # fmt: skip
"""Quotes that editors and chat windows put in the place of straight ones, with those that close them."""
_NARROW = "\u00a0\u202f\u2009 "
_ENDS = ("}", "]", "`")
_KEY, _MEMBER, _ELEMENT = range(3)
"""What a text can be: a key, the value of a member, an element of a list."""


class _Style:
    """One kind of typographic quotes: what opens and closes a text, the longest run without either, and what follows
    the quote that closes a key, the value of a member, an element of a list."""

    def __init__(self, opening: str, closing: str) -> None:
        self.opening, self.closing = opening, closing
        self.within = re.compile(rf"[^\\{opening}{closing}]*")
        self.after = (
            re.compile(r"\s*:"),
            re.compile(rf"\s*(?:\}}|,\s*[\"'}}{opening}])"),
            re.compile(
                rf"\s*(?:[\])]|,\s*(?:[\"'{{\[\](){opening}]|[-+]?\d|(?:true|false|null|None|True|False|NaN)\b))"
            ),
        )


@lru_cache(maxsize=64)
def _style(opening: str, closing: str) -> _Style:
    return _Style(opening, closing)


class LenientError(ValueError):
    """Not even almost JSON. `position` is where reading stopped, `at_end` whether the text ended too early."""

    def __init__(self, message: str, position: int, at_end: bool = False) -> None:
        super().__init__(f"{message} at character {position}")
        self.position, self.at_end = position, at_end


def parse(text: str, start: int = 0, typographic: bool = False) -> tuple[Any, int, tuple[str, ...]]:
    """The value that begins at `start`, the position after it, and what had to be mended, in words.

    With `typographic`, typographic quotes are read as JSON quotes where JSON expects one, if it is beyond doubt which
    ones open and close a text. Raises LenientError where there is no value.

    >>> parse("{'a': [1, None,],}")[0]
    {'a': [1, None]}
    >>> parse("{'a': 1,}")[2]
    ('single quotes', 'trailing comma')
    >>> parse("{“a”: “he says “no””, “b”: [“x”]}", typographic=True)
    ({'a': 'he says “no”', 'b': ['x']}, 33, ('typographic quotes',))
    """
    parser = _Parser(text, typographic)
    value, end = parser.value(parser.space(start), 0)
    return value, end, tuple(dict.fromkeys(parser.repairs))


class _Parser:
    def __init__(self, text: str, typographic: bool = False) -> None:
        self.text = text
        self.typographic = typographic
        self.style: _Style | None = None
        self.repairs: list[str] = []

    def space(self, position: int) -> int:
        """The position after white space, literal backslash-n and comments."""
        text = self.text
        while True:
            match = _SPACE.match(text, position)
            end = match.end() if match else position
            if "\\" in text[position:end]:
                self.repairs.append("literal backslash-n between tokens")
            position = end
            if text.startswith(("//", "/*"), position):
                comment = _COMMENT.match(text, position)
                if comment is None:
                    raise LenientError("comment without end", len(text), at_end=True)
                self.repairs.append("comment")
                position = comment.end()
                continue
            return position

    def value(self, position: int, depth: int, role: int = _ELEMENT) -> tuple[Any, int]:
        if position >= len(self.text):
            raise LenientError("the text ends", position, at_end=True)
        character = self.text[position]
        if character in _CLOSING:
            if depth >= MAX_DEPTH:
                raise LenientError(f"nested more than {MAX_DEPTH} levels deep", position)
            if character == "{":
                return self.object(position + 1, depth)
            if character == "(":
                self.repairs.append("Python literal")
            return self.list(position + 1, _CLOSING[character], depth)
        if self.quotes(character):
            return self.string(position, role)
        word = _WORD.match(self.text, position)
        if word and word.group() in _WORDS:
            value, repair = _WORDS[word.group()]
            if repair:
                self.repairs.append(repair)
            return value, word.end()
        number = _NUMBER.match(self.text, position)
        if number:
            return _number(number.group()), number.end()
        raise LenientError("no value", position)

    def list(self, position: int, closing: str, depth: int) -> tuple[list[Any], int]:
        items: list[Any] = []
        while True:
            position = self.space(position)
            if self.text.startswith(closing, position):
                if items:
                    self.repairs.append("trailing comma")
                return items, position + 1
            item, position = self.value(position, depth + 1)
            items.append(item)
            position = self.space(position)
            if self.text.startswith(closing, position):
                return items, position + 1
            position = self.comma(position)

    def object(self, position: int, depth: int) -> tuple[dict[str, Any], int]:
        members: dict[str, Any] = {}
        while True:
            position = self.space(position)
            if self.text.startswith("}", position):
                if members:
                    self.repairs.append("trailing comma")
                return members, position + 1
            if position >= len(self.text):
                raise LenientError("the text ends", position, at_end=True)
            if not self.quotes(self.text[position]):
                raise LenientError("no key", position)
            key, position = self.string(position, _KEY)
            position = self.space(position)
            if not self.text.startswith(":", position):
                raise LenientError("no colon after a key", position, at_end=position >= len(self.text))
            value, position = self.value(self.space(position + 1), depth + 1, _MEMBER)
            if key in members:
                self.repairs.append(f"key {key[:60]!r} given twice, the last one read")
            members[key] = value
            position = self.space(position)
            if self.text.startswith("}", position):
                return members, position + 1
            position = self.comma(position)

    def comma(self, position: int) -> int:
        if self.text.startswith(",", position):
            return position + 1
        raise LenientError("no comma", position, at_end=position >= len(self.text))

    def quotes(self, character: str) -> bool:
        """Whether a text can begin with this character."""
        return character in _PLAIN or (self.typographic and character in TYPOGRAPHIC)

    def string(self, position: int, role: int) -> tuple[str, int]:
        text, quote = self.text, self.text[position]
        if quote not in _PLAIN:
            return self.quoted(position, role)
        if quote == "'":
            self.repairs.append("single quotes")
        position += 1
        pieces: list[str] = []
        while True:
            match = _PLAIN[quote].match(text, position)
            piece = match.group() if match else ""
            position += len(piece)
            if "\n" in piece:
                self.repairs.append("raw line break in a text")
            pieces.append(piece)
            if position >= len(text):
                raise LenientError("a text without end", position, at_end=True)
            if text[position] == quote:
                return "".join(pieces), position + 1
            piece, position = self.escape(position + 1)
            pieces.append(piece)

    def quoted(self, position: int, role: int) -> tuple[str, int]:
        """A text in typographic quotes, of the same kind as all others in the value. They may stand in pairs inside it
        too; the one that closes it must be the only one that could."""
        text, opening = self.text, self.text[position]
        self.repairs.append("typographic quotes")
        if self.style is None:
            self.style = self.choose(position)
        style = self.style
        if opening != style.opening:
            raise LenientError("quotes of several kinds", position)
        position += 1
        pieces: list[str] = []
        depth = 0
        while True:
            match = style.within.match(text, position)
            piece = match.group() if match else ""
            position += len(piece)
            if "\n" in piece:
                self.repairs.append("raw line break in a text")
            pieces.append(piece)
            if position >= len(text):
                raise LenientError("a text without end", position, at_end=not text.rstrip().endswith(_ENDS))
            character = text[position]
            if character == "\\":
                piece, position = self.escape(position + 1)
                pieces.append(piece)
                continue
            apostrophe = (
                character == "’" and text[position - 1].isalnum() and text[position + 1 : position + 2].isalnum()
            )
            if character == style.closing and not apostrophe:
                could_close = style.after[role].match(text, position + 1) is not None
                if could_close != (depth == 0):
                    raise LenientError("quotes inside a text that could be its end, or the reverse", position)
                if depth == 0:
                    words = "".join(pieces)
                    spaced = opening in "«‹" and len(words) > 1 and words[0] in _NARROW and words[-1] in _NARROW
                    return words[1:-1] if spaced else words, position + 1
                depth -= 1
            elif not apostrophe:
                depth += 1
            pieces.append(character)
            position += 1

    def choose(self, position: int) -> _Style:
        """The kind of the quotes of which the first opens here; where two could close it, the one that comes first."""
        opening = self.text[position]
        closing = TYPOGRAPHIC[opening]
        if len(closing) > 1:
            places = {self.text.find(quote, position): quote for quote in closing}
            places.pop(-1, None)
            closing = places[min(places)] if places else closing[0]
        return _style(opening, closing)

    def escape(self, position: int) -> tuple[str, int]:
        """What the escape after a backslash stands for; an unknown one stands for itself."""
        character = self.text[position : position + 1]
        if self.typographic and character and character in TYPOGRAPHIC:
            self.repairs.append("typographic quotes")
            return '"', position + 1
        if character in _ESCAPES:
            return _ESCAPES[character], position + 1
        digits = {"u": 4, "x": 2, "U": 8}.get(character, 0)
        code = self.text[position + 1 : position + 1 + digits]
        if digits and len(code) == digits and _HEXADECIMAL.fullmatch(code):
            end = position + 1 + digits
            low = self.text[end + 2 : end + 6]
            high_surrogate = 0xD800 <= int(code, 16) < 0xDC00
            if high_surrogate and self.text.startswith("\\u", end) and re.fullmatch("[dD][c-fC-F][0-9a-fA-F]{2}", low):
                return chr(0x10000 + ((int(code, 16) - 0xD800) << 10) + int(low, 16) - 0xDC00), end + 6
            if int(code, 16) <= sys.maxunicode:
                return chr(int(code, 16)), end
        self.repairs.append("unknown escape kept as it stands")
        return "\\" + character, position + len(character)


def _number(word: str) -> Any:
    """An int or a float; one too long for either stays text."""
    try:
        return int(word) if re.fullmatch(r"[-+]?\d+", word) and len(word) < 300 else float(word)
    except (ValueError, OverflowError):
        return word
