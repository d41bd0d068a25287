"""A reader of almost-JSON: what language models write where JSON was asked for.

It takes JSON, and beside it trailing commas, Python literals, single quotes, comments, bare NaN, raw line breaks in
texts and the two characters backslash-n between tokens. It evaluates nothing, is linear in the length, and stops at
`MAX_DEPTH` levels.
"""

from __future__ import annotations

import math
import re
import sys
from typing import Any

MAX_DEPTH = 64

_SPACE = re.compile(r"(?:[\s\ufeff]+|\\[nrt])*")
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


class LenientError(ValueError):
    """Not even almost JSON. `position` is where reading stopped, `at_end` whether the text ended too early."""

    def __init__(self, message: str, position: int, at_end: bool = False) -> None:
        super().__init__(f"{message} at character {position}")
        self.position, self.at_end = position, at_end


def parse(text: str, start: int = 0) -> tuple[Any, int, tuple[str, ...]]:
    """The value that begins at `start`, the position after it, and what had to be mended, in words.

    Raises LenientError where there is none.

    >>> parse("{'a': [1, None,],}")[0]
    {'a': [1, None]}
    >>> parse("{'a': 1,}")[2]
    ('single quotes', 'trailing comma')
    """
    parser = _Parser(text)
    value, end = parser.value(parser.space(start), 0)
    return value, end, tuple(dict.fromkeys(parser.repairs))


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
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

    def value(self, position: int, depth: int) -> tuple[Any, int]:
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
        if character in _PLAIN:
            return self.string(position)
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
            if self.text[position] not in _PLAIN:
                raise LenientError("no key", position)
            key, position = self.string(position)
            position = self.space(position)
            if not self.text.startswith(":", position):
                raise LenientError("no colon after a key", position, at_end=position >= len(self.text))
            value, position = self.value(self.space(position + 1), depth + 1)
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

    def string(self, position: int) -> tuple[str, int]:
        text, quote = self.text, self.text[position]
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

    def escape(self, position: int) -> tuple[str, int]:
        """What the escape after a backslash stands for; an unknown one stands for itself."""
        character = self.text[position : position + 1]
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
