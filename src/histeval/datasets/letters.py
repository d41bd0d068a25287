"""Letters: letterNN.json and persons.json, or letters.csv and persons.csv, or a folder with a dataset.toml."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from histeval.datasets.assemble import Draft, assemble
from histeval.datasets.authorities import read_authority
from histeval.datasets.base import Dataset
from histeval.datasets.files import natural_key
from histeval.datasets.layout import NOT_DOCUMENTS, Folder, described, open_folder
from histeval.datasets.published import AUTHORITIES, description_of, optional_fields, published_fields
from histeval.datasets.records import read_records
from histeval.datasets.settings import AuthoritySettings, Settings, TruthSettings
from histeval.datasets.tables import Row, Table, read_table, split_cell
from histeval.errors import DatasetError
from histeval.tasks.description import AuthorityEntry, Description, Field
from histeval.tasks.truth import LetterTruth

ID_COLUMNS = ("document_number", "document", "id")
"""What the column of ids is called, unless dataset.toml names it."""
BOGUS = "letterFALSE"
"""The document that the published conversion made of spreadsheet leftovers."""
_YEAR = re.compile(r"(?<!\d)(1\d{3}|20\d{2})(?!\d)")


@dataclass
class LetterRecord:
    """A letter as it stands in the truth, before any attribute is derived."""

    id: str
    truth: LetterTruth
    attributes: dict[str, str]
    file: Path
    line: int | None = None


@dataclass
class Plan:
    """What of a letter is read, and how: from the dataset.toml, or as published."""

    fields: tuple[Field, ...]
    inscribed: tuple[str, ...]
    truth: TruthSettings
    columns: Mapping[str, str]
    attributes: tuple[str, ...]
    skipped: dict[str, int] = field(default_factory=dict)
    """Keys and columns that are not read, with how often they occurred."""

    @property
    def names(self) -> tuple[str, ...]:
        """Every field that is read, the inscribed forms included."""
        return (*(item.name for item in self.fields), *self.inscribed)


def load(path: Path | str, *, text: str = "reference", split: str = "test") -> Dataset:
    """The letters in a folder; `text` and `split` belong to directories and change nothing here."""
    folder = open_folder(path, "letters")
    description = described(folder, description_of("letters", folder.name))
    plan = plan_of(folder.settings, description)
    records, notes = read_letters(folder, plan)
    description = replace(description, fields=occurring_fields(folder.settings, description, records))
    authorities, more = read_authorities(folder, description)
    drafts = [Draft(record.id, record.truth, _attributes(record, description)) for record in records]
    if folder.settings is not None:
        waiting = [draft for draft in drafts if is_waiting(draft.truth)]
        for draft in waiting:
            draft.truth = None
        if waiting:
            more = [*more, f"{len(waiting)} letters have nothing filled in: they wait for their truth"]
    return assemble(folder, description, drafts, authorities=authorities, notes=[*notes, *more])


def is_waiting(truth: LetterTruth) -> bool:
    """Whether nothing is filled in, as in the table that `histeval init` writes: a letter without a date has `None`
    there, and an empty cell says nothing."""
    return bool(truth.fields) and truth.signed is None and not any(truth.fields.values())


def plan_of(settings: Settings | None, description: Description) -> Plan:
    """What is read of a letter."""
    if settings is None or not settings.own_fields:
        fields = (*published_fields(), *optional_fields())
        if settings is None:
            return Plan(fields, (), TruthSettings(), {}, ())
        return Plan(fields, (), settings.truth, settings.columns, settings.attributes)
    names = {item.name for item in description.fields}
    inscribed = tuple(f"{f.name}_inscribed" for f in description.fields if f.authority is not None)
    return Plan(
        description.fields,
        tuple(name for name in inscribed if name not in names),
        settings.truth,
        settings.columns,
        settings.attributes,
    )


def occurring_fields(
    settings: Settings | None, description: Description, records: Sequence[LetterRecord]
) -> tuple[Field, ...]:
    """The described fields; where no dataset.toml names them, also the optional ones that occur in the truth."""
    if settings is not None and settings.own_fields:
        return description.fields
    occurring = {name for record in records for name in record.truth.fields}
    return tuple(item for item in (*description.fields, *optional_fields()) if item.headline or item.name in occurring)


def read_letters(folder: Folder, plan: Plan) -> tuple[list[LetterRecord], list[str]]:
    """The letters of a folder in natural order of their ids, and notes on what was repaired or left out."""
    source = truth_source(folder, plan)
    if source is None:
        return [], []
    if source.is_file() and source.suffix.lower() == ".csv":
        records, notes = letters_from_table(read_table(source), plan)
    else:
        records, notes = letters_from_json(source, plan, authority_names(folder))
        if folder.settings is None and (folder.truth / "letters.csv").is_file():
            notes.append("letters.csv is there too; the JSON files were read, and `histeval check` compares them")
    for name, number in plan.skipped.items():
        notes.append(f"{name} is not read ({number} times); name it under [[fields]] or attributes in dataset.toml")
    return sorted(records, key=lambda record: natural_key(record.id)), notes


def truth_source(folder: Folder, plan: Plan) -> Path | None:
    """The file or folder the letters are read from: as named, else JSON files, else letters.csv; None without truth."""
    if plan.truth.file:
        named = folder.path / plan.truth.file
        if not named.exists():
            raise DatasetError("there is no such file", file=named, remedy="Mend file under [truth] in dataset.toml")
        return named
    leave_out = authority_names(folder)
    if any(path.name not in leave_out for path in folder.truth.glob("*.json")):
        return folder.truth
    for place in (folder.truth, folder.path):
        for name in ("letters.csv", "letters.jsonl"):
            if (place / name).is_file():
                return place / name
    if folder.settings is not None:
        return None
    raise DatasetError(
        "holds neither letterNN.json nor letters.csv", file=folder.truth, remedy="See docs/datasets.md for the layouts"
    )


def authority_names(folder: Folder) -> frozenset[str]:
    """Names of JSON files in the folder of truth that are no letters."""
    files = folder.settings.authorities.values() if folder.settings is not None else ()
    return frozenset((*NOT_DOCUMENTS, *(Path(item.file).name for item in files)))


def is_leftover(row: Row) -> bool:
    """Whether a row is what a spreadsheet formula left over: FALSE in every cell but the first, which may hold
    an error word such as `#VALUE!`."""
    cells = [cell.strip() for cell in row.cells.values()]
    return len(cells) > 1 and "FALSE" in cells and all(cell in ("", "FALSE") or cell.startswith("#") for cell in cells)


def id_column_of(table: Table, plan: Plan) -> str:
    """The column of ids: the one that dataset.toml names, else the first of the usual ones that is there."""
    return plan.truth.id or next((name for name in ID_COLUMNS if name in table.columns), ID_COLUMNS[0])


def letters_from_table(table: Table, plan: Plan) -> tuple[list[LetterRecord], list[str]]:
    """The letters in a CSV table, one a row."""
    id_column, prefix = id_column_of(table, plan), plan.truth.prefix
    if id_column == "document_number" and not prefix:
        prefix = "letter"
    if id_column not in table.columns:
        remedy = 'Name the column of the document\'s id in dataset.toml: [truth] id = "..."'
        raise DatasetError(f"has no column {id_column}", file=table.path, line=1, remedy=remedy)
    columns = {name: plan.columns.get(name, name) for name in plan.names}
    for name, column in columns.items():
        if name in plan.columns and column not in table.columns:
            raise DatasetError(f"has no column {column}", file=table.path, line=1, item=f"field {name}")
    present = {name: column for name, column in columns.items() if column in table.columns}
    read = {*present.values(), *plan.attributes, id_column, plan.truth.signed, "transkribus_id"}
    plan.skipped.update({f"column {name}": len(table.rows) for name in table.columns if name and name not in read})
    records, dropped, seen = [], 0, dict[str, int]()
    for row in table.rows:
        if is_leftover(row):
            dropped += 1
            continue
        number = row.get(id_column).strip()
        if not number:
            raise DatasetError(f"has an empty {id_column}", file=table.path, line=row.line, remedy="Number the letter")
        identifier = f"{prefix}{number}"
        if identifier in seen:
            what = f"stands a second time (first in line {seen[identifier]})"
            remedy = "Give each letter a number of its own"
            raise DatasetError(what, file=table.path, line=row.line, item=identifier, remedy=remedy)
        seen[identifier] = row.line
        fields = {name: split_cell(row.get(column), plan.truth.separator) for name, column in present.items()}
        signed = _signed(row.get(plan.truth.signed).strip() or None)
        attributes = {name: row.get(name).strip() for name in plan.attributes if row.get(name).strip()}
        records.append(LetterRecord(identifier, LetterTruth(fields, signed), attributes, table.path, row.line))
    notes = [f"{table.path.name}: {dropped} spreadsheet leftovers (rows of FALSE) left out"] if dropped else []
    return records, notes


def letters_from_json(source: Path, plan: Plan, leave_out: frozenset[str]) -> tuple[list[LetterRecord], list[str]]:
    """The letters in a folder of JSON files, or in one JSON or JSON Lines file."""
    found = read_records(source, id_key=plan.truth.id, leave_out=leave_out)
    known = {*plan.names, plan.truth.signed, *plan.attributes, "transkribus_id", "document_number", "document", "id"}
    notes = [note for note in found.notes if not note.startswith(BOGUS)]
    records = []
    for item in found.items:
        if item.id == BOGUS:
            notes.append(f"{item.file.name} left out: a spreadsheet leftover, not a letter")
            continue
        fields = {}
        for name in plan.names:
            if name in item.value:
                where = f"{item.id}, {name}" if item.line else name
                fields[name] = json_values(item.value[name], file=item.file, line=item.line, item=where)
        for key in item.value:
            if key not in known:
                plan.skipped[f"key {key[:80]}"] = plan.skipped.get(f"key {key[:80]}", 0) + 1
        attributes = {name: _word(item.value.get(name)) for name in plan.attributes}
        attributes = {name: word for name, word in attributes.items() if word}
        signed = _signed(item.value.get(plan.truth.signed))
        records.append(LetterRecord(item.id, LetterTruth(fields, signed), attributes, item.file, item.line))
    return records, notes


def json_values(value: Any, *, file: Path, line: int | None = None, item: str = "") -> tuple[str, ...]:
    """The values of a field in JSON: a list of texts, or one; null is no value; numbers are read as text."""
    values = []
    for part in value if isinstance(value, list) else [value]:
        if part is None:
            continue
        if isinstance(part, (dict, list, bool)):
            raise DatasetError("is not a list of texts", file=file, line=line, item=item)
        values.append(_word(part))
    return tuple(values)


def read_authorities(
    folder: Folder, description: Description
) -> tuple[dict[str, tuple[AuthorityEntry, ...]], list[str]]:
    """The authority lists of a folder by name, and notes.

    Without a dataset.toml, persons.json or persons.csv must be there, since without it no variant of a name counts.
    """
    notes: list[str] = []
    found: dict[str, tuple[AuthorityEntry, ...]] = {}
    for name, item in authority_files(folder, description).items():
        found[name], more = read_authority(folder.path / item.file, separator=item.separator)
        notes += more
    return found, notes


def authority_files(folder: Folder, description: Description) -> dict[str, AuthoritySettings]:
    """The files of the authority lists, relative to the dataset folder."""
    if folder.settings is not None and folder.settings.authorities:
        return dict(folder.settings.authorities)
    found = {}
    for name in AUTHORITIES:
        if any(item.authority == name for item in description.fields):
            for file in (folder.truth / f"{name}.json", folder.truth / f"{name}.csv"):
                if file.is_file():
                    found[name] = AuthoritySettings(file.relative_to(folder.path).as_posix())
                    break
    if "persons" not in found and any(item.authority == "persons" for item in description.fields):
        raise DatasetError(
            "holds neither persons.json nor persons.csv",
            file=folder.truth,
            remedy="Add the list of persons; without it no variant of a name can count",
        )
    return found


def _attributes(record: LetterRecord, description: Description) -> dict[str, str]:
    """Attributes of a letter: those read, whether it is signed, and year and decade of its first date."""
    attributes = dict(record.attributes)
    if record.truth.signed is not None:
        attributes.setdefault("signed", "true" if record.truth.signed else "false")
    dates = [record.truth.fields.get(item.name, ()) for item in description.fields if item.kind == "date"]
    for values in dates[:1]:
        match = _YEAR.search(values[0]) if values else None
        if match is not None:
            attributes.setdefault("year", match[0])
            attributes.setdefault("period", f"{match[0][:3]}0s")
    return attributes


def _signed(value: Any) -> bool | None:
    """Whether a letter is signed, by TRUE or FALSE; None where the truth does not say, or not in these words."""
    if isinstance(value, bool):
        return value
    return {"TRUE": True, "FALSE": False}.get(value) if isinstance(value, str) else None


def _word(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else value if isinstance(value, str) else str(value)
