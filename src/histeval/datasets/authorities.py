"""Authority lists: persons (organisations, places ...) with every form of the name, from CSV or schema.org JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from histeval.datasets.files import read_json
from histeval.datasets.tables import Row, read_table
from histeval.errors import DatasetError
from histeval.tasks.description import AuthorityEntry
from histeval.tasks.identifiers import SCHEMES, identifier

_SCHEMES = frozenset(map(str.casefold, SCHEMES))


def read_authority(path: Path, *, separator: str = ",") -> tuple[tuple[AuthorityEntry, ...], tuple[str, ...]]:
    """The entries of an authority file, `.csv` or JSON, and notes on what was read as something else.

    `separator` splits the cell alternateName of a CSV file. Raises DatasetError where the file is neither.
    """
    if path.suffix.lower() == ".csv":
        return entries_from_rows(read_table(path, required=("name",)).rows, path, separator), ()
    return entries_from_json(path)


def entries_from_rows(rows: Sequence[Row], path: Path, separator: str = ",") -> tuple[AuthorityEntry, ...]:
    """Entries from rows of persons.csv: several rows with one identifier are one person, named by the first. Columns
    called GND, VIAF, Wikidata, GeoNames, ORCID or ISNI hold identifiers too.

    Names are kept as they stand, blanks included; so is an empty alternate name after a trailing separator.
    """
    entries = []
    for group in group_rows(rows):
        first = named(group, path)
        identifiers = {}
        if first.get("identifier_value").strip():
            identifiers[first.get("identifier_propertyID").strip() or "identifier"] = first.get("identifier_value")
        for column, cell in first.cells.items():
            known = identifier(cell, column) if column.casefold() in _SCHEMES else None
            if known is not None:
                identifiers.setdefault(*known)
        entries.append(AuthorityEntry(first.get("name"), alternate_names(first, separator), identifiers))
    return tuple(entries)


def group_rows(rows: Sequence[Row]) -> list[list[Row]]:
    """Rows of one person together, persons sorted by identifier as text; rows without identifier go by name, last."""
    groups: dict[tuple[int, str], list[Row]] = {}
    for row in rows:
        identifier = row.get("identifier_value")
        key = (0, identifier) if identifier.strip() else (1, row.get("name"))
        groups.setdefault(key, []).append(row)
    return [groups[key] for key in sorted(groups)]


def named(group: Sequence[Row], path: Path) -> Row:
    """The first row of a person, which names the person; raises DatasetError where it has no name."""
    first = group[0]
    if not first.get("name").strip():
        raise DatasetError("has no name", file=path, line=first.line, remedy="Fill the column name")
    return first


def alternate_names(row: Row, separator: str = ",") -> tuple[str, ...]:
    """The alternate names in a row: split, trimmed; none where the cell is blank."""
    cell = row.get("alternateName")
    return tuple(piece.strip() for piece in cell.split(separator)) if cell.strip() else ()


def entries_from_json(path: Path) -> tuple[tuple[AuthorityEntry, ...], tuple[str, ...]]:
    """Entries from schema.org JSON: a list of objects with name, alternateName and identifier (or a `@graph`);
    addresses of authorities under sameAs and @id are identifiers too."""
    value, not_numbers = read_json(path)
    if isinstance(value, dict):
        value = value.get("@graph", [value] if "name" in value else None)
    if not isinstance(value, list):
        raise DatasetError(
            "is not a list of persons", file=path, remedy="It should be a JSON list of objects with name"
        )
    entries = []
    for position, item in enumerate(value, start=1):
        where = f"entry {position}"
        if not isinstance(item, dict) or not isinstance(item.get("name"), str) or not item["name"].strip():
            raise DatasetError("has no name", file=path, item=where, remedy="Give each entry a text under name")
        alternates = item.get("alternateName")
        alternates = [alternates] if isinstance(alternates, str) else alternates or []
        if not isinstance(alternates, list) or not all(isinstance(name, str) for name in alternates):
            raise DatasetError("has an alternateName that is not a list of texts", file=path, item=where)
        identifiers = _identifiers(item.get("identifier"))
        same = item.get("sameAs")
        for address in (*(same if isinstance(same, list) else [same]), item.get("@id")):
            known = identifier(address) if isinstance(address, str) else None
            if known is not None:
                identifiers.setdefault(*known)
        entries.append(AuthorityEntry(item["name"], tuple(alternates), identifiers))
    notes = (f"{path.name}: {not_numbers} bare NaN read as null",) if not_numbers else ()
    return tuple(entries), notes


def _identifiers(value: Any) -> dict[str, str]:
    """Identifiers by the name of their scheme, from PropertyValue objects, `{"GND": "..."}` or a plain text."""
    found: dict[str, str] = {}
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and "value" in item:
            if item["value"] not in (None, ""):
                found[str(item.get("propertyID") or "identifier")] = str(item["value"])
        elif isinstance(item, dict):
            found.update({str(key): str(text) for key, text in item.items() if isinstance(text, (str, int)) and text})
        elif isinstance(item, (str, int)) and item:
            found["identifier"] = str(item)
    return found
