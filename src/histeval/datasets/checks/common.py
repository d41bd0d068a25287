"""What all checks share: collecting faults, reading on after one, and the mistakes of dataset.toml."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

from histeval.datasets.base import Fault
from histeval.datasets.files import list_folder, natural_key, parse_json, read_lines, read_text
from histeval.datasets.identity import composed
from histeval.datasets.layout import Folder, folder_at, open_folder
from histeval.datasets.records import ID_KEYS, NOT_AN_OBJECT, Record
from histeval.datasets.settings import FILE, Settings, examine_settings
from histeval.datasets.tables import Table, read_table
from histeval.errors import DatasetError, InputError, printable
from histeval.tasks.description import Description

Result = TypeVar("Result")
_NOT_A_NUMBER = re.compile(r"(?<![\w\"])(?:NaN|-?Infinity)(?![\w\"])")


class Faults:
    """Faults of one dataset, files named relative to its folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.found: list[Fault] = []

    def add(
        self,
        file: Path | str,
        what: str,
        remedy: str = "",
        *,
        line: int | None = None,
        item: str = "",
        error: bool = True,
    ) -> None:
        """Notes a fault; with `error` false it is merely worth knowing."""
        words = printable(what), printable(remedy, 2000), printable(item, 300)
        self.found.append(Fault(printable(self.name(file), 300), line, *words, error))

    def name(self, file: Path | str) -> str:
        """A file relative to the dataset."""
        path = Path(file)
        try:
            return path.relative_to(self.folder).as_posix() or "."
        except ValueError:
            return str(file)

    def take(self, fault: InputError, file: Path | str = "") -> None:
        """Notes what an error says."""
        self.add(fault.file or file, fault.what, fault.remedy, line=fault.line, item=fault.item)

    def attempt(self, call: Callable[[], Result], file: Path | str = "") -> Result | None:
        """The result of a call; None and a fault where it raises a DatasetError."""
        try:
            return call()
        except InputError as fault:
            self.take(fault, file)
            return None

    def sorted(self) -> list[Fault]:
        """The faults by file and line, files in natural order."""
        unique = dict.fromkeys(self.found)
        return sorted(unique, key=lambda f: (natural_key(f.file), f.line or 0, not f.error, f.item, f.what))


def begin(task: str, path: Path | str) -> tuple[Faults, Folder]:
    """The collector and the folder of a dataset, the mistakes of its dataset.toml noted.

    Raises DatasetError where `path` is no folder or its dataset.toml cannot be read at all, since then nothing else
    can be checked.
    """
    folder = folder_at(path, task)
    settings: Settings | None = None
    mistakes: list[Fault] = []
    if (folder / FILE).is_file():
        settings, mistakes = examine_settings(folder)
    found = open_folder(folder, task, settings=settings)
    faults = Faults(found.path)
    if settings is None and (found.path / FILE).is_file():  # `path` was the folder above
        settings, mistakes = examine_settings(found.path)
        found = open_folder(found.path, task, settings=settings)
    faults.found += mistakes
    if settings is not None:
        check_description(faults, settings.description)
        if settings.attributes_file:
            read_table_on(faults, found.path / settings.attributes_file, ("document",))
    return faults, found


def check_description(faults: Faults, description: Description) -> None:
    """What a reader of results would miss in a description."""
    for name, value in (("licence", description.licence), ("languages", description.languages)):
        if not value:
            faults.add(FILE, f"names no {name}", f"Add a line {name} = ... for those who use the results", error=False)


def read_json_text(faults: Faults, path: Path, text: str, line: int | None = None) -> Any:
    """The value of a JSON text, its bare NaN and its keys that stand twice noted; None where it is no JSON."""
    twice: list[str] = []
    parsed = faults.attempt(lambda: parse_json(text, path, line=line, duplicate_keys=twice), path)
    if parsed is None:
        return None
    value, not_numbers = parsed
    if not_numbers:
        lines = [line or text.count("\n", 0, match.start()) + 1 for match in _NOT_A_NUMBER.finditer(text)]
        shown = ", ".join(map(str, lines[:30])) + (" ..." if len(lines) > 30 else "")
        first = lines[0] if lines else line
        what = f"holds {not_numbers} bare NaN, which is not JSON (lines {shown})"
        faults.add(path, what, "Write null; it is read as null", line=first)
    for key in dict.fromkeys(twice):
        faults.add(
            path, f"the key {key[:80]!r} stands twice in one object; the last one counts", "Remove one", line=line
        )
    return value


def read_records_on(faults: Faults, source: Path, id_key: str, leave_out: Iterable[str]) -> list[Record]:
    """The records of a folder or file of JSON, going on after each fault."""
    found: dict[str, Record] = {}
    if source.is_dir():
        for name in faults.attempt(lambda: list_folder(source), source) or ():
            if name.endswith(".json") and not name.startswith(".") and name not in leave_out:
                value = read_json_file(faults, source / name)
                if value is not None:
                    _keep(faults, found, Record(name.removesuffix(".json"), value, source / name))
    elif source.suffix.lower() in (".jsonl", ".ndjson"):
        lines = faults.attempt(lambda: list(read_lines(source)), source) or ()
        for line, text in lines:
            value = read_json_text(faults, source, text, line) if text.strip() else None
            if value is not None:
                identifier = _identifier(faults, value, id_key, source, line)
                if identifier:
                    _keep(faults, found, Record(identifier, value, source, line))
    else:
        value = read_json_file(faults, source)
        pairs: list[tuple[str, Any]] = []
        if isinstance(value, dict):
            pairs = [(str(key), item) for key, item in value.items()]
        elif isinstance(value, list):
            pairs = [(_identifier(faults, item, id_key, source, None), item) for item in value]
        elif value is not None:
            faults.add(source, "holds neither an object nor a list of documents")
        for identifier, item in pairs:
            if identifier:
                _keep(faults, found, Record(identifier, item, source))
    return list(found.values())


def read_json_file(faults: Faults, path: Path) -> Any:
    """The value in a JSON file; None and a fault where there is none."""
    text = faults.attempt(lambda: read_text(path), path)
    if text is None:
        return None
    if not text.strip():
        faults.add(path, "is empty", "Fill it or remove it")
        return None
    return read_json_text(faults, path, text)


def read_table_on(faults: Faults, path: Path, required: tuple[str, ...] = ()) -> Table | None:
    """A CSV table, going on after a faulty row; None where it is no table."""
    rows: list[DatasetError] = []
    table = faults.attempt(lambda: read_table(path, required=required, faults=rows), path)
    for fault in rows:
        faults.take(fault)
    for number in table.unnamed if table is not None else ():
        faults.add(path, f"column {number} has cells and no name, and is not read", "Name it in the first row", line=1)
    return table


def line_of(path: Path, word: str) -> int | None:
    """The first line of a file in which a word stands; None where it does not, or where the file cannot be read."""
    try:
        text = read_text(path)
    except InputError:
        return None
    place = text.find(word)
    return text.count("\n", 0, place) + 1 if place >= 0 else None


def _keep(faults: Faults, found: dict[str, Record], record: Record) -> None:
    """Adds a record by its id, in which case and the way accents are stored make no difference, as for file systems."""
    if not isinstance(record.value, dict):
        faults.add(record.file, "is not a JSON object", NOT_AN_OBJECT, line=record.line, item=record.id)
        return
    first = found.setdefault(composed(record.id).casefold(), record)
    if first is not record:
        where = f"line {first.line}" if first.line else first.file.name
        what = f"stands a second time (first in {where})"
        faults.add(record.file, what, "Give each document its own id", line=record.line, item=record.id)


def _identifier(faults: Faults, value: Any, id_key: str, path: Path, line: int | None) -> str:
    if not isinstance(value, dict):
        faults.add(path, "is not a JSON object", NOT_AN_OBJECT, line=line)
        return ""
    for key in (id_key,) if id_key else ID_KEYS:
        identifier = value.get(key)
        if isinstance(identifier, (str, int)) and not isinstance(identifier, bool) and str(identifier).strip():
            return str(identifier)
    wanted = id_key or " or ".join(ID_KEYS)
    faults.add(path, "names no document", f"Give it a text under {wanted}", line=line)
    return ""
