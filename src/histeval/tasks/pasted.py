"""Answers copied out of a chat window: what the copying did to them is undone, and plain lists are read as records.

All of it is guessing at what a text was before, so it is done only where the text as it stands holds no record, and
only where there is nothing to choose. Each step is linear in the length of the text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from histeval.tasks.lenient import TYPOGRAPHIC, LenientError, parse

QUOTED = "quoting marks at the start of the lines taken off"
NUMBERED = "line numbers taken off"
ENTITIES = "HTML entities read as what they stand for"
LIST = "a list of keys and values read as a record"
TABLE = "a table read as a record"
MAX_ROUNDS = 3
"""So often line numbers and quoting marks may stand before one another."""
LONGEST_LIST = 200_000
"""Longer texts are no list of a few fields."""

_TYPOGRAPHIC = re.compile(f"[{''.join(TYPOGRAPHIC)}]")
_QUOTING = re.compile(r"[ \t]*>[ \t]?")
_NUMBER = re.compile(r"[ \t]*(\d{1,6})[.:)|]?(?:[ \t]|(?=\D)|$)")
_ENTITY = re.compile(r"&(?:#\d{1,7}|#[xX][0-9a-fA-F]{1,6}|[A-Za-z][A-Za-z0-9]{1,31});")

_BULLET = re.compile(r"([ \t]*)(?:[-*+•–‣]|\d{1,3}[.)])[ \t]+")
_MARKS = re.compile(r"[*_`\"]{0,5}")
_RULE = re.compile(r"[ \t]*(?:-{3,}|\*{3,}|_{3,}|```\w*|~~~\w*)[ \t]*")
_CELL = re.compile(r"(?:[^\\|]|\\.?)*", re.DOTALL)
_JSON = re.compile(r"[\[{]\s*[\"'{\[]")
_UNDERLINE = re.compile(r":?-+:?")


def restored(text: str) -> Iterator[tuple[str, list[str]]]:
    """The text as it may have been before it was pasted, most likely first, each time with what was undone.

    >>> [undone for _, undone in restored("> {&quot;a&quot;: 1}")][-1] == [QUOTED, ENTITIES]
    True
    """
    stripped, taken = _without_prefixes(text)
    for base, undone in [(text, [])] + ([(stripped, taken)] if taken else []):
        if undone or _TYPOGRAPHIC.search(base):
            yield base, undone
        unescaped = _ENTITY.sub(lambda entity: html.unescape(entity.group()), base)
        if unescaped != base:
            yield unescaped, [*undone, ENTITIES]


def _without_prefixes(text: str) -> tuple[str, list[str]]:
    """The text without quoting marks and line numbers, where every line from the first to the last with one has it."""
    undone: list[str] = []
    for _ in range(MAX_ROUNDS):
        before = text
        for take, words in ((_without_quoting, QUOTED), (_without_numbers, NUMBERED)):
            shorter = take(text)
            if shorter is not None:
                text = shorter
                undone.append(words)
        if text == before:
            break
    return text, list(dict.fromkeys(undone))


def _without_quoting(text: str) -> str | None:
    lines = text.split("\n")
    marks = [_QUOTING.match(line) for line in lines]
    marked = [place for place, mark in enumerate(marks) if mark]
    if not marked:
        return None
    for place in range(marked[0], marked[-1] + 1):
        mark = marks[place]
        if mark:
            lines[place] = lines[place][mark.end() :]
        elif lines[place].strip():
            return None
    return "\n".join(lines)


def _without_numbers(text: str) -> str | None:
    """Line numbers count up by one from line to line, at least over two lines."""
    lines = text.split("\n")
    numbers = [_NUMBER.match(line) for line in lines]
    numbered = [place for place, number in enumerate(numbers) if number]
    if len(numbered) < 2:
        return None
    expected = None
    for place in range(numbered[0], numbered[-1] + 1):
        number = numbers[place]
        if number is None:
            if lines[place].strip():
                return None
            continue
        if expected is not None and int(number[1]) != expected:
            return None
        expected = int(number[1]) + 1
        lines[place] = lines[place][number.end() :]
    return "\n".join(lines)


class NoList(ValueError):
    """A list of keys and values that is not beyond doubt; the message says why."""


def listed(text: str, names: Sequence[str]) -> tuple[dict[str, Any], list[str]] | None:
    """The record that a list or table with exactly these field names as keys spells out, and what to say of it.

    A list has a line for each field (`name: value`; a bullet, bold or quotes around the name) or, below the name, a
    bullet for each value; a table has a row for each field, or a column for each field and one row. Words before and
    after it are left out. None where the text has no such list; NoList where it has one that can be read in more than
    one way.

    >>> listed("- **date:** 1931-05-04\\n- **persons:**\\n  - A\\n  - B", ("date", "persons"))[0]
    {'date': '1931-05-04', 'persons': ['A', 'B']}
    >>> listed("| field | value |\\n|---|---|\\n| date | 1931 |\\n| persons | A |", ("date", "persons"))[0]
    {'date': '1931', 'persons': 'A'}
    >>> listed("The date: 1931. The persons: unknown.", ("date", "persons"))
    """
    if not names or len(text) > LONGEST_LIST:
        return None
    lines = ["" if _RULE.fullmatch(line) else line.rstrip() for line in text.split("\n")]
    found = _table(lines, names) or _list(lines, names)
    if found is None:
        return None
    record, first, last, words = found
    around = [line for place, line in enumerate(lines) if not first <= place <= last and line]
    if any("{" in line or "}" in line or _BULLET.match(line) or line.lstrip().startswith("|") for line in around):
        raise NoList("beside the list of field names stands more that is no running text")
    return record, [words, *(["text around the record left out"] if around else [])]


def _list(lines: Sequence[str], names: Sequence[str]) -> tuple[dict[str, Any], int, int, str] | None:
    pairs = {place: pair for place, line in enumerate(lines) if (pair := _pair(line, tuple(names)))}
    if len({name for _, name, _ in pairs.values()}) < min(2, len(names)):
        return None
    first, last = min(pairs), max(pairs)
    record: dict[str, Any] = {}
    name, margin = "", -1
    values: list[Any] | None = None  # of the field whose values may follow as bullets
    place = first
    while place < len(lines):
        line = lines[place]
        bullet = _BULLET.match(line)
        if place in pairs:
            margin, name, value = pairs[place]
            if name in record:
                raise NoList(f"{name} stands there twice")
            record[name] = _value(value)
            values = [] if not value else None
            last = place
        elif bullet and values is not None and len(bullet[1].expandtabs(4)) > margin:
            values.append(_value(line[bullet.end() :]))
            record[name] = values
            last = place
        elif line and (place < max(pairs) or lines[place - 1]):
            raise NoList(f"{line.strip()[:60]!r} stands among the fields and is none of them")
        elif line:
            break
        place += 1
    return record, first, last, LIST


def _pair(line: str, names: tuple[str, ...]) -> tuple[int, str, str] | None:
    """How far the bullet of a line is indented (-1 without one), the field it names, and the value."""
    bullet = _BULLET.match(line)
    start = bullet.end() if bullet else len(line) - len(line.lstrip(" \t"))
    marks = _MARKS.match(line, start)
    opening = marks.group() if marks else ""
    key = _any_of(names).match(line, start + len(opening))
    if key is None:
        return None
    rest, closing = line[key.end() :], opening[::-1]
    if rest.startswith(closing) and rest[len(closing) :].lstrip(" \t").startswith(":"):
        value = rest[len(closing) :].lstrip(" \t")[1:]
    elif rest.startswith(":" + closing):
        value = rest[1 + len(closing) :]
    else:
        return None
    return len(bullet[1].expandtabs(4)) if bullet else -1, key.group(), value.strip()


@lru_cache(maxsize=64)
def _any_of(names: tuple[str, ...]) -> re.Pattern[str]:
    longest_first = sorted(names, key=len, reverse=True)
    return re.compile(rf"(?:{'|'.join(map(re.escape, longest_first))})(?![\w\-])")


def _value(words: str) -> Any:
    """A value in a list: JSON where it is some, else the words, without marks around all of them."""
    words = words.strip()
    if words in ("", "null", "null,"):
        return None
    if words[0] in '["{':
        bare = words.removesuffix(",").rstrip()
        try:
            value, end, _ = parse(bare)
        except LenientError as fault:
            if fault.at_end or _JSON.match(bare):
                raise NoList(f"{words[:60]!r} is half JSON") from None
            return words
        if end < len(bare) and _JSON.match(bare):
            raise NoList(f"after the JSON of {words[:60]!r} comes something else")
        return value if end == len(bare) else words
    for mark in ("**", "`", "*"):
        if len(words) > 2 * len(mark) and words.startswith(mark) and words.endswith(mark):
            inner = words[len(mark) : -len(mark)]
            return words if mark in inner else inner.strip()
    return words


def _table(lines: Sequence[str], names: Sequence[str]) -> tuple[dict[str, Any], int, int, str] | None:
    """A table of two columns, a field a row; or with a column for each field, and one row."""
    rows = {place: _cells(line) for place, line in enumerate(lines) if line.lstrip().startswith("|")}
    if len(rows) < 2:
        return None
    first, last = min(rows), max(rows)
    if any(line and place not in rows for place, line in enumerate(lines[first:last], start=first)):
        return None
    table = list(rows.values())
    underlined = all(_UNDERLINE.fullmatch(cell) for cell in table[1])
    body = table[2:] if underlined else table
    if underlined and len(body) == 1 and _all_names(table[0], names):
        if len(body[0]) != len(table[0]):
            raise NoList("the row of the table is shorter or longer than its head")
        keys = [_name(cell) for cell in table[0]]
        return {key: _value(cell) for key, cell in zip(keys, body[0], strict=True)}, first, last, TABLE
    if underlined and len(table[0]) == 2 and _name(table[0][0]) in names:
        body = [table[0], *body]  # markdown has no table without a head, so the first field may stand in it
    keys = [_name(row[0]) for row in body if row]
    if len(set(keys) & set(names)) < min(2, len(names)):
        return None
    if any(len(row) != 2 for row in body):
        raise NoList("the table with the field names has more or fewer than two columns")
    if not set(keys) <= set(names):
        raise NoList(f"{next(key for key in keys if key not in names)[:60]!r} stands among the fields and is none")
    if len(set(keys)) != len(keys):
        raise NoList("a field stands twice in the table")
    return {key: _value(row[1]) for key, row in zip(keys, body, strict=True)}, first, last, TABLE


def _all_names(cells: Sequence[str], names: Sequence[str]) -> bool:
    keys = [_name(cell) for cell in cells]
    return len(keys) >= min(2, len(names)) and set(keys) <= set(names) and len(set(keys)) == len(keys)


def _name(cell: str) -> str:
    """The key in a cell, without marks around it."""
    marks = _MARKS.match(cell)
    opening = marks.group() if marks else ""
    bare = cell[len(opening) :]
    return bare.removesuffix(opening[::-1]).strip() if opening else cell


def _cells(line: str) -> list[str]:
    """The cells of a row of a table, whose bars inside a cell have a backslash before them."""
    cells = []
    position = line.index("|") + 1
    while position <= len(line):
        match = _CELL.match(line, position)
        end = match.end() if match else position
        if end == position and position == len(line):
            break
        cells.append(line[position:end].strip().replace("\\|", "|"))
        position = end + 1
    return cells
