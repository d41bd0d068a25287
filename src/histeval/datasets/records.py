"""Truth as JSON: one file a document, one JSON Lines file, or one JSON file with all documents."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.datasets.files import list_folder, parse_json, read_json, read_lines
from histeval.errors import DatasetError

ID_KEYS = ("document", "id")
"""Keys that may hold the id of a document in JSON Lines."""


@dataclass(frozen=True, slots=True)
class Record:
    """The truth of one document as decoded JSON, with the file and line it stands in."""

    id: str
    value: dict[str, Any]
    file: Path
    line: int | None = None


@dataclass
class Records:
    """Documents' truth in order, and what was repaired while reading it."""

    items: list[Record]
    notes: list[str]


def read_records(path: Path, *, id_key: str = "", leave_out: frozenset[str] = frozenset()) -> Records:
    """The records in a folder (`ID.json`, one a document; names in `leave_out` are no documents) or in a file.

    Raises DatasetError where one cannot be read, is no object, or has an id that another has too.
    """
    found = Records([], [])
    seen: dict[str, Record] = {}
    for record, not_numbers in _records(path, id_key, leave_out):
        if not_numbers:
            found.notes.append(f"{record.file.name}: {not_numbers} bare NaN read as null")
        if record.id in seen:
            first = seen[record.id]
            where = f"line {first.line}" if first.line else first.file.name
            what, remedy = f"stands a second time (first in {where})", "Give each document an id of its own"
            raise DatasetError(what, file=path, line=record.line, item=record.id, remedy=remedy)
        seen[record.id] = record
        found.items.append(record)
    return found


def _records(path: Path, id_key: str, leave_out: frozenset[str]) -> Iterator[tuple[Record, int]]:
    if path.is_dir():
        for name in list_folder(path):
            if name.endswith(".json") and not name.startswith(".") and name not in leave_out:
                value, not_numbers = read_json(path / name)
                yield Record(name.removesuffix(".json"), _object(value, path / name), path / name), not_numbers
    elif path.suffix.lower() in (".jsonl", ".ndjson"):
        for line, text in read_lines(path):
            if text.strip():
                value, not_numbers = parse_json(text, path, line=line)
                record = _object(value, path, line)
                yield Record(_identifier(record, id_key, path, line), record, path, line), not_numbers
    else:
        value, not_numbers = read_json(path)
        if isinstance(value, dict):
            pairs = [(str(key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pairs = [(_identifier(_object(item, path), id_key, path, None), item) for item in value]
        else:
            raise DatasetError("holds neither an object nor a list of documents", file=path)
        for position, (identifier, item) in enumerate(pairs):
            yield Record(identifier, _object(item, path, item=identifier), path), not_numbers if position == 0 else 0


NOT_AN_OBJECT = "Write an object, {...}; a file that is no document belongs elsewhere"
"""The remedy where the truth of a document is a list, a number or a text."""


def _object(value: Any, path: Path, line: int | None = None, item: str = "") -> dict[str, Any]:
    if not isinstance(value, dict):
        raise DatasetError("is not a JSON object", file=path, line=line, item=item, remedy=NOT_AN_OBJECT)
    return value


def _identifier(record: dict[str, Any], id_key: str, path: Path, line: int | None) -> str:
    for key in (id_key,) if id_key else ID_KEYS:
        value = record.get(key)
        if isinstance(value, (str, int)) and not isinstance(value, bool) and str(value).strip():
            return str(value)
    wanted = id_key or " or ".join(ID_KEYS)
    raise DatasetError("names no document", file=path, line=line, remedy=f"Give it a text under {wanted}")
