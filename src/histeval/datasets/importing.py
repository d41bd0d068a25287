"""Importing letters: spreadsheets of letters and persons become letterNN.json, persons.json and a dataset.toml.

Equal to the published conversion of the RISE benchmark as parsed, save that blank cells become null (not a bare NaN)
and spreadsheet leftovers become nothing (not letterFALSE.json).
"""

from __future__ import annotations

import json
import os
import re
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.datasets.authorities import alternate_names, group_rows, named
from histeval.datasets.files import atomic_write, make_folder, natural_key, reason, shown
from histeval.datasets.identity import composed, dataset_name
from histeval.datasets.letters import ID_COLUMNS, is_leftover
from histeval.datasets.published import optional_fields, published_fields
from histeval.datasets.settings import FILE
from histeval.datasets.tables import Row, Table, read_table, split_cell
from histeval.errors import DatasetError, OutputError
from histeval.tasks.description import Field

ATTRIBUTES = ("language", "period", "archive", "collection", "shelfmark")
"""Columns of a table of letters that describe the document and are not asked for."""
_UNSAFE = re.compile(r'[\x00-\x1f\x7f/\\<>:"|?*]|^[. ]|[. ]$')
_KINDS = (("date", "date"), ("person", "person"), ("place", "place"), ("organi", "organisation"))


@dataclass(frozen=True)
class Imported:
    """What an import made: the folder, how many letters and persons, the fields, and what was left out."""

    path: Path
    letters: int
    persons: int
    fields: tuple[Field, ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        lines = [f"{self.letters} letters and {self.persons} persons in {shown(self.path)}"]
        lines.append(f"fields: {', '.join(field.name for field in self.fields)}")
        return "\n".join([*lines, *self.notes])


def import_letters(letters: Path | str, persons: Path | str | None, out: Path | str) -> Imported:
    """Writes a dataset of letters to the folder `out` from a table of letters and one of persons.

    `out` gets `ground_truths/` with a JSON file for each letter and persons.json, and a dataset.toml unless it has
    one. Every column of `letters` beside the id, has_signatures and `ATTRIBUTES` becomes a field. Raises DatasetError
    where a table cannot be read, OutputError where nothing can be written or `out` has letters already; then `out`
    is as it was.
    """
    out = Path(out)
    table = read_table(Path(letters))
    id_column = next((name for name in ID_COLUMNS if name in table.columns), "")
    if not id_column:
        remedy = f"Name the column of the letter's number {ID_COLUMNS[0]}"
        raise DatasetError(f"has no column {' or '.join(ID_COLUMNS)}", file=table.path, line=1, remedy=remedy)
    rows = [row for row in table.rows if not is_leftover(row)]
    records = _letter_records(table, rows, id_column)
    people = persons_json(read_table(Path(persons), required=("name",))) if persons is not None else []
    fields = fields_of(table, rows, id_column, {person["name"].strip() for person in people}, persons is not None)
    notes = []
    if len(rows) < len(table.rows):
        notes.append(f"{table.path.name}: {len(table.rows) - len(rows)} spreadsheet leftovers (rows of FALSE) left out")
    if not rows:
        raise DatasetError(
            "holds no letter", file=table.path, remedy="Below the row of column names stands a row for each letter"
        )
    attributes = tuple(name for name in table.columns if name in ATTRIBUTES)
    files: dict[str, Any] = {f"{name}.json": record for name, record in records.items()}
    if persons is not None:
        files["persons.json"] = people
    settings = (
        None
        if (out / FILE).exists()
        else dataset_toml(out.resolve().name, fields, attributes, ("persons",) if people else ())
    )
    if settings is None:
        notes.append(f"{FILE} was there and is kept as it is")
    _write(
        out, {name: json.dumps(value, ensure_ascii=False, indent=4) + "\n" for name, value in files.items()}, settings
    )
    return Imported(out, len(records), len(people), fields, tuple(notes))


def _letter_records(table: Table, rows: Sequence[Row], id_column: str) -> dict[str, dict[str, Any]]:
    """The letters as JSON by document id, in natural order."""
    prefix = "letter" if id_column == "document_number" else ""
    found: dict[str, dict[str, Any]] = {}
    lines: dict[str, int] = {}
    skipped = {id_column, "transkribus_id", "has_signatures", *ATTRIBUTES, ""}
    for row in rows:
        number = row.get(id_column).strip()
        identifier = f"{prefix}{number}"
        if not number or _UNSAFE.search(number) or not can_name_file(identifier):
            what = f"has the {id_column} {number[:80]!r}, which cannot name a file"
            raise DatasetError(what, file=table.path, line=row.line, remedy="Use letters, digits, - and _")
        # File systems of two of three operating systems do not tell case apart.
        if identifier.casefold() in lines:
            what = f"stands a second time (first in line {lines[identifier.casefold()]})"
            remedy = "Give each letter a number of its own"
            raise DatasetError(what, file=table.path, line=row.line, item=identifier, remedy=remedy)
        lines[identifier.casefold()] = row.line
        record: dict[str, Any] = {
            name: list(split_cell(row.get(name))) for name in table.columns if name not in skipped
        }
        if "has_signatures" in table.columns:
            record["has_signatures"] = row.get("has_signatures").strip()
        record.update({name: row.get(name).strip() for name in ATTRIBUTES if row.get(name).strip()})
        found[identifier] = record
    return {name: found[name] for name in sorted(found, key=natural_key)}


def can_name_file(identifier: str) -> bool:
    """Whether a document's id can be the name of its JSON file on every system.

    >>> can_name_file("letter01"), can_name_file("Ms. 3/5"), can_name_file("persons")
    (True, False, False)
    """
    return not (_UNSAFE.search(identifier) or len(identifier) > 100 or identifier in ("", "persons", "meta"))


def persons_json(table: Table) -> list[dict[str, Any]]:
    """Persons in schema.org JSON from the table persons.csv: one object a person, one occupation a row.

    The column `comment` is for the editors and is not carried over, as in the published conversion.
    """
    found = []
    for group in group_rows(table.rows):
        first = named(group, table.path)
        citations = list(dict.fromkeys((_blank(row, "citation_name"), _blank(row, "citation_url")) for row in group))
        found.append(
            {
                "@context": "http://schema.org",
                "@type": "Person",
                "identifier": [_property(first, "identifier")],
                "name": first.get("name"),
                "alternateName": list(alternate_names(first)),
                "birthDate": _blank(first, "birthDate"),
                "deathDate": _blank(first, "deathDate"),
                "description": _blank(first, "description") or "",
                "hasOccupation": [
                    {
                        "@type": "Occupation",
                        "name": _blank(row, "job_name"),
                        "startDate": _blank(row, "job_startDate"),
                        "endDate": _blank(row, "job_endDate"),
                        "employer": {
                            "@type": "Organization",
                            "name": _blank(row, "employer_name"),
                            "identifier": [_property(row, "employer_identifier")],
                        },
                    }
                    for row in group
                ],
                "citation": [{"@type": "CreativeWork", "name": name, "url": url} for name, url in citations],
            }
        )
    return found


def _property(row: Row, prefix: str) -> dict[str, str | None]:
    scheme, value = _blank(row, f"{prefix}_propertyID"), _blank(row, f"{prefix}_value")
    return {"@type": "PropertyValue", "propertyID": scheme, "value": value}


def _blank(row: Row, column: str) -> str | None:
    cell = row.get(column)
    return cell if cell.strip() else None


def fields_of(
    table: Table, rows: Sequence[Row], id_column: str, names: set[str], has_persons: bool
) -> tuple[Field, ...]:
    """The fields that the columns of a table hold, published ones as published, others by their name and content.

    A column of which most values are names of the list of persons holds persons.
    """
    known = {item.name: item for item in (*published_fields(), *optional_fields())}
    skipped = {id_column, "transkribus_id", "has_signatures", *ATTRIBUTES, ""}
    fields = []
    for column in table.columns:
        if column in skipped:
            continue
        if not re.fullmatch(r"[^\W\d]\w*", column):
            remedy = "Use letters, digits and _"
            raise DatasetError(f"the name {column[:80]!r} is no field name", file=table.path, line=1, remedy=remedy)
        field = known.get(column)
        if field is None:
            values = [value.strip("<> ") for row in rows for value in split_cell(row.get(column)) if value != "None"]
            matching = sum(value in names for value in values)
            kind = next((kind for part, kind in _KINDS if part in column.lower()), "text")
            if values and matching * 2 > len(values):
                kind = "person"
            field = Field(column, kind, "persons" if kind == "person" and not column.endswith("_inscribed") else None)
        if field.authority is not None and not (field.authority == "persons" and has_persons):
            field = Field(field.name, field.kind, None, field.headline, field.title)
        fields.append(field)
    return tuple(sorted(fields, key=lambda field: not field.headline))


def dataset_toml(name: str, fields: Sequence[Field], attributes: Sequence[str], authorities: Sequence[str]) -> str:
    """A commented dataset.toml for imported letters; `authorities` names the lists beside them, as JSON."""
    lines = [
        "# What this dataset says of itself. docs/datasets.md explains every setting.",
        'task = "letters"',
        f"name = {toml_text(dataset_name(name, 'letters'))}",
        f"title = {toml_text(composed(name))}",
        '# languages = ["de"]            # of the letters, as ISO codes',
        '# period = "1926-1935"',
        '# licence = "CC BY 4.0"',
        '# citation = ""',
        "# published = 2026-01-31       # the day the ground truth became public, if it did",
    ]
    if attributes:
        lines += ["", "# Columns that describe a letter: `score --by` and `--where` take them.",
                  f"attributes = [{', '.join(map(toml_text, attributes))}]"]  # fmt: skip
    if authorities:
        lines += ["", "[authorities]", *(f'{key} = "ground_truths/{key}.json"' for key in authorities)]
    lines += ["", "# What is asked of each letter. headline = true: it counts in the F1 that ranks."]
    for field in fields:
        lines += ["", "[[fields]]", f"name = {toml_text(field.name)}", f"kind = {toml_text(field.kind)}"]
        if field.authority is not None:
            lines.append(f"authority = {toml_text(field.authority)}")
        if field.headline:
            lines.append("headline = true")
        if field.title:
            lines.append(f"title = {toml_text(field.title)}")
    return "\n".join(lines) + "\n"


def toml_text(text: str) -> str:
    """A text as TOML writes it.

    >>> toml_text("Zürich")
    '"Zürich"'
    """
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _write(out: Path, truth: Mapping[str, str], settings: str | None) -> None:
    """Everything under another name first; one rename makes the truth appear whole."""
    target = out / "ground_truths"
    if target.exists() or (out / "ground_truth").exists():
        there = target if target.exists() else out / "ground_truth"
        raise OutputError(f"{shown(there)} is there already; name another folder, or move it away")
    made = not out.exists()
    make_folder(out)
    stage = out / f".{secrets.token_hex(8)}.part"
    try:
        make_folder(stage)
        for name, text in truth.items():
            atomic_write(stage / name, text)
        if settings is not None:
            atomic_write(out / FILE, settings)
        os.rename(stage, target)
    except BaseException as fault:
        shutil.rmtree(stage, ignore_errors=True)
        if settings is not None:
            (out / FILE).unlink(missing_ok=True)
        if made:
            shutil.rmtree(out, ignore_errors=True)
        if isinstance(fault, OSError):
            raise OutputError(f"{shown(target)} could not be written: {reason(fault)}") from None
        raise
