"""Reading answers exactly as far as the code of the published benchmarks did."""

from __future__ import annotations

import ast
import json
import re
from typing import Any

from histeval.tasks.base import Answer, Reading
from histeval.tasks.reading import (
    MAX_CHARACTERS,
    MAX_NESTING,
    decode_all,
    failed_before_reading,
    too_long,
    unreadable,
)

MAX_LITERAL = 100_000
_BRACKET = re.compile(r"[{\[]")


def read_published(answer: Answer) -> Reading:
    """The decoded value as the published benchmarks found it: structured answers as they are; of a text the first
    object or list in a fence opened by three backticks and `json`, else the whole text, as JSON."""
    failed = failed_before_reading(answer)
    if failed:
        return failed
    text = answer.text if answer.record is None else answer.record
    if not isinstance(text, str):
        return Reading(record=text)
    if len(text) > MAX_CHARACTERS:
        return too_long(text)
    try:
        value = json.loads(fenced(text))
    except (ValueError, RecursionError):
        _, at_end = decode_all(text, [])
        return unreadable(answer, text, [], at_end)
    return Reading(record=value)


def literal(text: str) -> Any:
    """A record printed as text: JSON, else a Python literal (which allows a trailing comma); None if neither."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if len(text) > MAX_LITERAL or _nesting(text) > MAX_NESTING * 8:
        return None
    try:
        return ast.literal_eval(text.strip())
    except (ValueError, SyntaxError, RecursionError, MemoryError, TypeError):
        return None


def fenced(text: str) -> str:
    """What the first fence opened by three backticks and `json` holds, from its first bracket to the shortest span
    that ends at a closing fence; the whole text where there is none.

    >>> fenced('So: ```json {"a": {}} ``` and more')
    '{"a": {}}'
    """
    closing_of = {"{": "}", "[": "]"}
    hopeless: set[str] = set()
    opening = text.find("```json")
    while opening >= 0:
        closing_fence = text.find("```", opening + 7)
        first = _BRACKET.search(text, opening + 7, closing_fence if closing_fence >= 0 else len(text))
        if first and first.group() not in hopeless:
            fence = closing_fence
            while fence >= 0:
                end = fence
                while text[end - 1].isspace():
                    end -= 1
                if end > first.start() and text[end - 1] == closing_of[first.group()]:
                    return text[first.start() : end]
                fence = text.find("```", fence + 3)
            hopeless.add(first.group())
        opening = text.find("```json", opening + 7)
    return text


def _nesting(text: str) -> int:
    """How deep brackets nest, at most."""
    deep = most = 0
    for match in re.finditer(r"[\[\](){}]", text):
        deep += 1 if match.group() in "[({" else -1
        most = max(most, deep)
    return most
