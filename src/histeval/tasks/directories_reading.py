"""The entities in what a system sent for a directory entry: inline markup, spans with offsets, or tokens with tags."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from histeval.entities.grammar import Grammar
from histeval.entities.markup import describe, known_type, read_markup
from histeval.entities.matching import Placed, placed
from histeval.entities.nesting import nest
from histeval.entities.spans import Entry
from histeval.entities.tags import SCHEMES, depths, split_joint, split_tag
from histeval.tasks.base import Answer, Reading
from histeval.tasks.reading import by_finish, read_tolerant, refuses, repeats, search_record, shape

MAX_CHARACTERS = 1_000_000
"""Longer answers are not read: the longest directory entry is far below a thousandth of that."""
MAX_ENTITIES = 20_000
"""An answer with more entities repeats itself: entries have a dozen."""
MAX_LEVELS = 16
WRAPPERS = frozenset({"entry", "xml", "document", "doc", "text", "answer", "result", "output", "root", "line", "body"})
"""Names of an element that some models put around the whole answer; it is taken off."""

_FENCE = re.compile(r"```[A-Za-z]*[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_JSON = re.compile(r"\A\s*[{\[]|```json|[\"'](?:xml|spans|tokens)[\"']\s*:")
_LEVEL = re.compile(r"level_?([1-9][0-9]?)")
_NO_TAG = frozenset({"", "_", "-", "o", "O", "none", "None", "null"})


@dataclass(frozen=True, slots=True)
class SpanAnswer:
    """Entities by character offsets: of `text`, or of the document's own text where `text` is None.

    `parent` of a `Placed` is an index of `entities`, in any order.
    """

    entities: tuple[Placed, ...]
    text: str | None = None


@dataclass(frozen=True, slots=True)
class TagAnswer:
    """Tokens and their tags at each level; `scheme` is what the answer says of itself."""

    tokens: tuple[str, ...]
    levels: tuple[tuple[str, ...], ...]
    scheme: str | None = None


Prediction = SpanAnswer | TagAnswer


class _WrongShape(ValueError):
    """A record of the right kind with something in it that cannot be read; the message is the detail."""


def read_answer(answer: Answer, grammar: Grammar) -> Reading:
    """The entities of an answer, or a failure with one named reason; never raises.

    >>> from types import SimpleNamespace as Type
    >>> grammar = Grammar.of([Type(name="PER", children=(), root=True, flat=None, flat_in={})])
    >>> read_answer(Answer("1", text="<PER>Dufay</PER>, 5"), grammar).record.entities
    (Placed(level=1, type='PER', start=0, end=5, parent=None, malformed=False),)
    >>> read_answer(Answer("1", record={"tokens": ["a"], "level1": []}), grammar).detail
    'level1 has 0 tags for 1 tokens'
    """
    text = answer.record if answer.record is not None else answer.text
    if answer.error is None and isinstance(text, str) and text.strip():
        if len(text) > MAX_CHARACTERS:
            return Reading(failure="runaway", detail=f"{len(text)} characters; more than {MAX_CHARACTERS} are not read")
        if not _JSON.search(text):
            return _read_text(text, answer, grammar)
    detail: list[str] = []

    def find(value: Any, repairs: list[str]) -> Prediction | None:
        record = search_record(value, _is_record, repairs)
        if record is None:
            return None
        try:
            return _prediction(record, grammar, repairs)
        except _WrongShape as fault:
            detail.append(str(fault))
            return None

    reading = read_tolerant(answer, find)
    if reading.failure is None:
        many = len(reading.record.entities) if isinstance(reading.record, SpanAnswer) else 0
        return reading if many <= MAX_ENTITIES else _too_many(many)
    if detail:
        return Reading(failure="wrong_shape", detail=detail[-1])
    if reading.failure == "cut_off" and (by_finish(answer) or str(text).lstrip().startswith(("{", "["))):
        return reading  # what stands before the cut is no whole answer, also where its tags happen to be closed
    if isinstance(text, str) and reading.failure in ("not_json", "wrong_shape", "cut_off", "refused"):
        as_text = _read_text(text, answer, grammar)
        if as_text.record is not None and as_text.record.entities:
            return as_text
    return reading


def _too_many(number: int) -> Reading:
    return Reading(failure="runaway", detail=f"{number} entities in one answer; more than {MAX_ENTITIES} are not read")


def _read_text(text: str, answer: Answer, grammar: Grammar) -> Reading:
    """The entities of inline markup, perhaps in a fence and with words around."""
    repairs: list[str] = []
    fenced = [match[1] for match in _FENCE.finditer(text)] if "```" in text else []
    if fenced:
        marked = [part for part in fenced if "<" in part]
        text = (marked or fenced)[-1]
        repairs.append("text around the fenced answer left out")
    bare = text.strip().strip("\ufeff")
    entry, faults = read_markup(bare, grammar)
    entities, wrapper = _without_wrapper(entry)
    if wrapper is not None:
        repairs.append(f"the element {wrapper} around the whole answer taken off")
        faults = tuple(fault for fault in faults if fault.kind != "unknown" or wrapper not in fault.what)
    if len(entities) > MAX_ENTITIES:
        return _too_many(len(entities))
    if any(fault.kind == "unclosed" for fault in faults) and by_finish(answer):
        return by_finish(answer) or Reading(failure="cut_off")
    if not entities:
        failed = by_finish(answer)
        if repeats(bare):
            return Reading(failure="runaway", detail=f"{len(bare)} characters that repeat themselves")
        if failed:
            return failed
        if refuses(bare):
            return Reading(failure="refused", detail="the answer begins as a refusal does and holds no entity")
        repairs.append("no tag in the answer")
    repairs.extend(describe(faults))
    return Reading(record=SpanAnswer(_bounded(entities), entry.text), repairs=tuple(repairs))


def _without_wrapper(entry: Entry) -> tuple[tuple[Placed, ...], str | None]:
    """The entities, without one that only wraps the whole answer, and the name of that one."""
    entities = placed(entry, trim=False)
    first = entities[0] if entities else None
    if (
        first is None
        or first.type.casefold() not in WRAPPERS
        or entry.text[: first.start].strip()
        or entry.text[first.end :].strip()
        or any(one.parent is None for one in entities[1:])
    ):
        return tuple(entities), None
    inner = (one._replace(level=one.level - 1, parent=one.parent - 1 if one.parent else None) for one in entities[1:])
    return tuple(inner), first.type


def _is_record(value: Any) -> bool:
    if isinstance(value, list):
        return bool(value) and all(_is_span(item) for item in value)
    if not isinstance(value, Mapping):
        return False
    return bool(_forms(value))


def _forms(record: Mapping[str, Any]) -> list[str]:
    """The forms in which a record gives its entities, the one that is read first."""
    tagged = isinstance(record.get("tokens"), list) and any(
        key == "joint" or _LEVEL.fullmatch(str(key)) for key in record
    )
    there = {
        "spans": isinstance(record.get("spans"), list),
        "tokens": tagged,
        "xml": isinstance(record.get("xml"), str),
    }
    return [form for form, given in there.items() if given]


def _is_span(value: Any) -> bool:
    return isinstance(value, Mapping) and {"type", "start", "end"} <= value.keys()


def _prediction(record: Any, grammar: Grammar, repairs: list[str]) -> Prediction:
    if isinstance(record, list):
        record = {"spans": record}
    forms = _forms(record)
    if len(forms) > 1:
        repairs.append(f"the answer gives {' and '.join(forms)}; {forms[0]} are read")
    if forms[0] == "spans":
        text = record.get("text")
        spans = _spans(record["spans"], grammar, repairs)
        return SpanAnswer(_bounded(spans), text if isinstance(text, str) else None)
    if forms[0] == "tokens":
        return _tags(record, grammar, repairs)
    entry, faults = read_markup(record["xml"].strip(), grammar)
    entities, wrapper = _without_wrapper(entry)
    if wrapper is not None:
        repairs.append(f"the element {wrapper} around the whole answer taken off")
        faults = tuple(fault for fault in faults if fault.kind != "unknown" or wrapper not in fault.what)
    repairs.extend(describe(faults))
    return SpanAnswer(_bounded(entities), entry.text)


def _spans(rows: Sequence[Any], grammar: Grammar, repairs: list[str]) -> tuple[Placed, ...]:
    read: list[tuple[str, int, int]] = []
    for place, row in enumerate(rows):
        if not isinstance(row, Mapping):
            raise _WrongShape(f"span {place} is {shape(row)}, not an object with type, start and end")
        kind, start, end = row.get("type"), _offset(row.get("start")), _offset(row.get("end"))
        if not isinstance(kind, str) or start is None or end is None:
            raise _WrongShape(f"span {place} lacks a type (a text) or a start or end (a number of characters)")
        name, fault = known_type(kind.strip(), grammar)
        if fault:
            repairs.append(f"the type {kind[:40]!r} is " + (f"read as {name}" if fault == "spelling" else "unknown"))
        read.append((name, start, max(end, start)))
    if any("parent" in row for row in rows):
        return _with_parents(read, [row.get("parent") for row in rows], repairs)
    nested, crossing = nest(read)
    if crossing:
        repairs.append(f"{len(crossing)} spans cross another")
    levels = depths(nested)
    return tuple(
        Placed(level, span.type, span.start, span.end, span.parent) for span, level in zip(nested, levels, strict=True)
    )


def _offset(value: Any) -> int | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    if not abs(value) < 1 << 53 or value != int(value):
        return None
    return int(value)


def _with_parents(
    read: Sequence[tuple[str, int, int]], parents: Sequence[Any], repairs: list[str]
) -> tuple[Placed, ...]:
    """Entities with the parents that the answer states, by their place in the list or by their type; one that is not
    there, or runs in a circle, is no parent."""
    above: list[int | None] = []
    for place, parent in enumerate(parents):
        number = _around(read, place, parent) if isinstance(parent, str) else _offset(parent)
        valid = number is not None and 0 <= number < len(read) and number != place
        if parent is not None and not valid:
            repairs.append(f"span {place} names a parent that there is not; it is read as standing alone")
        above.append(number if valid else None)
    levels = [0] * len(read)
    for place in range(len(read)):
        trail: dict[int, None] = {}
        current: int | None = place
        while current is not None and not levels[current] and current not in trail:
            trail[current] = None
            current = above[current]
        if current is not None and not levels[current]:
            repairs.append(f"the parents of span {place} run in a circle; it is read as standing alone")
            above[list(trail)[-1]] = current = None
        level = levels[current] if current is not None else 0
        for number in reversed(trail):
            level += 1
            levels[number] = level
    return tuple(Placed(level, *row, parent) for level, row, parent in zip(levels, read, above, strict=True))


def _around(read: Sequence[tuple[str, int, int]], place: int, parent: str) -> int | None:
    """The place of the shortest other span of the type `parent` that holds the span at `place`; `"3"` is place 3."""
    word = parent.strip()
    if word.isascii() and word.isdigit() and len(word) < 10:
        return int(word)
    _, start, end = read[place]
    key = word.replace("-", "").casefold()
    holding = [
        (last - first, number)
        for number, (kind, first, last) in enumerate(read)
        if number != place and first <= start and end <= last and kind.replace("-", "").casefold() == key
    ]
    return min(holding)[1] if holding else None


def _bounded(entities: Sequence[Placed]) -> tuple[Placed, ...]:
    """Entities deeper than any grammar is are kept as predictions that match nothing, without their long ancestry."""
    return tuple(
        one if one.level <= MAX_LEVELS else one._replace(level=MAX_LEVELS + 1, parent=None, malformed=True)
        for one in entities
    )


def _tags(record: Mapping[str, Any], grammar: Grammar, repairs: list[str]) -> TagAnswer:
    tokens = record["tokens"]
    for place, token in enumerate(tokens):
        if not isinstance(token, str):
            raise _WrongShape(f"token {place} is {shape(token)}, not a text")
    found: dict[int, tuple[str, ...]] = {}
    for key, row in record.items():
        match = _LEVEL.fullmatch(str(key))
        if match:
            found[int(match[1])] = _row(row, len(tokens), str(key))
    if found:
        if max(found) > MAX_LEVELS:
            raise _WrongShape(f"the answer has level {max(found)}; more than {MAX_LEVELS} are not read")
        blank = ("O",) * len(tokens)
        levels = tuple(found.get(level, blank) for level in range(1, max(found) + 1))
        if "joint" in record:
            repairs.append("the answer gives levels and joint labels; the levels are read")
    else:
        labels = _row(record["joint"], len(tokens), "joint")
        depth = min(max((label.count("+") for label in labels), default=0) + 1, MAX_LEVELS)
        levels = tuple(tuple(row) for row in split_joint(labels, depth, types=grammar.types))
    scheme = record.get("scheme")
    if scheme is not None and scheme not in SCHEMES:
        raise _WrongShape(f"the scheme {str(scheme)[:40]!r} is not one of {', '.join(SCHEMES)}")
    return TagAnswer(tuple(tokens), _known_tags(levels, grammar), scheme)


def _row(row: Any, size: int, name: str) -> tuple[str, ...]:
    if not isinstance(row, list):
        raise _WrongShape(f"{name} is {shape(row)}, not a list of tags")
    if len(row) != size:
        raise _WrongShape(f"{name} has {len(row)} tags for {size} tokens")
    tags = []
    for place, tag in enumerate(row):
        if tag is not None and not isinstance(tag, str):
            raise _WrongShape(f"tag {place} of {name} is {shape(tag)}, not a text")
        tags.append("O" if tag is None or tag.strip() in _NO_TAG else tag.strip())
    return tuple(tags)


def _known_tags(levels: Iterable[Sequence[str]], grammar: Grammar) -> tuple[tuple[str, ...], ...]:
    """The tags with their types as the grammar spells them (`B-TITRE-H` is B-TITREH)."""
    known: dict[str, str] = {"O": "O"}
    found = []
    for row in levels:
        for tag in row:
            if tag not in known:
                prefix, kind = split_tag(tag)
                known[tag] = f"{prefix}-{known_type(kind, grammar)[0]}" if kind else "O"
        found.append(tuple([known[tag] for tag in row]))
    return tuple(found)
