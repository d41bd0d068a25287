"""The record of a letter in what a model sent: `{field: (value, ...)}` with the values as written."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

from histeval.tasks.base import Answer, Reading
from histeval.tasks.description import Field
from histeval.tasks.published_reading import literal, read_published
from histeval.tasks.reading import Wanted, as_text, is_missing, read_tolerant, search_record, shape

NULLS = frozenset({"null", "nan", "nil", "n/a", "undefined", "<null>", "<none>"})
"""Spellings, folded, that say that there is no value."""
EMPTY = frozenset({"", "none"})
"""Spellings, folded, that say the same unless the rule `empty_names` counts them."""
LONGEST_NULL = 40

MANY = ("person", "organisation", "place", "list")
"""Kinds whose text may hold several values, separated by `|`."""
MAX_VALUES = 10_000
_SEPARATORS = re.compile(r"[\s_\-]+")


def read(answer: Answer, fields: Sequence[Field], tolerant: bool) -> Reading:
    """The record of a letter, or a failure; never raises."""
    if not tolerant:
        return _read_published(answer, fields)
    wanted = Wanted(tuple(field.name for field in fields), lists=True)
    return read_tolerant(answer, lambda value, repairs: _find(value, fields, repairs), _merge, wanted)


def _read_published(answer: Answer, fields: Sequence[Field]) -> Reading:
    """As the published code: the member `metadata` if there is one, else the object itself."""
    found = read_published(answer)
    if found.failure:
        return found
    data = found.record
    if isinstance(data, Mapping) and not is_missing(data.get("metadata")):
        data = data["metadata"]
        if isinstance(data, str):
            data = literal(data)
    if not isinstance(data, Mapping):
        return Reading(failure="wrong_shape", detail=f"where the record should be stands {shape(data)}")
    record: dict[str, tuple[str, ...]] = {}
    for field in fields:
        value = data.get(field.name)
        if field.kind == "date":
            first = (value[0] if value else None) if isinstance(value, list) else value
            record[field.name] = () if first is None else (as_text(first),)
        else:
            record[field.name] = _values(value, field, [], ("name",))
    return Reading(record=record)


def _find(value: Any, fields: Sequence[Field], repairs: list[str]) -> dict[str, tuple[str, ...]] | None:
    """The record in a decoded value: wrapped or flat, or an empty object."""
    known = _known(tuple(fields))
    if isinstance(value, Mapping) and (not value or value == {"metadata": {}}):
        repairs.append("an empty record")
        return {}
    found = search_record(value, lambda item: _is_record(item, known), repairs, ("", "metadata"))
    if found is None:
        return None
    record: dict[str, tuple[str, ...]] = {}
    unknown = []
    for key, member in found.items():
        field = known.get(_plain(str(key)))
        if field is None:
            unknown.append(str(key)[:40])
        elif field.name not in record or key == field.name:
            if key != field.name:
                repairs.append(f"key {str(key)[:40]!r} read as {field.name}")
            record[field.name] = _values(member, field, repairs)
    if unknown:
        repairs.append(f"left out what was not asked for: {', '.join(unknown[:5])}")
    return record


@lru_cache(maxsize=64)
def _known(fields: tuple[Field, ...]) -> Mapping[str, Field]:
    return {_plain(field.name): field for field in fields}


def _merge(found: list[tuple[Any, list[str]]]) -> tuple[Any, list[str]] | None:
    """Braces with nothing in them, in the prose around a record, are no record beside it."""
    filled = [(record, repairs) for record, repairs in found if record]
    return filled[0] if len(filled) == 1 else None


def _is_record(item: Any, known: Mapping[str, Field]) -> bool:
    """Whether an object has a field that was asked for, with a value and not with the schema of one."""
    if not isinstance(item, Mapping):
        return False
    members = [member for key, member in item.items() if _plain(str(key)) in known]
    return any(not isinstance(member, Mapping) or _named(member) is not None for member in members)


def _values(
    value: Any, field: Field, repairs: list[str], named: tuple[str, ...] = ("name", "value")
) -> tuple[str, ...]:
    """The values of a field as text. Null is none, a scalar is one, of an object its name counts."""
    if isinstance(value, str):
        if field.kind in MANY:
            return tuple(piece.strip() for piece in value.split("|"))
        return (value,)
    if is_missing(value):
        return ()
    elements = value if isinstance(value, list) else [value]
    if len(elements) > MAX_VALUES:
        repairs.append(f"{field.name}: {len(elements) - MAX_VALUES} values beyond the first {MAX_VALUES} left out")
        elements = elements[:MAX_VALUES]
    texts: list[str] = []
    for element in elements:
        name = _named(element, named) if isinstance(element, Mapping) else element
        if isinstance(name, str):
            texts.append(name)
        elif isinstance(name, int | float) and not isinstance(name, bool) and field.kind not in MANY:
            if not is_missing(name):
                texts.append(as_text(name))
        elif not is_missing(element):
            repairs.append(f"{field.name}: {shape(element)} left out")
    return tuple(texts)


def _named(item: Mapping[str, Any], keys: tuple[str, ...] = ("name", "value")) -> str | None:
    for key in keys:
        name = item.get(key)
        if isinstance(name, str):
            return name
    return None


def _plain(key: str) -> str:
    """A key without case, blanks, hyphens and underscores, since models write `Send Date` and `sendDate`."""
    return _folded(key[:100])


@lru_cache(maxsize=4096)
def _folded(key: str) -> str:
    return _SEPARATORS.sub("", key).casefold()
