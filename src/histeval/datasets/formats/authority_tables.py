"""Authority lists in tables of any columns, from columns of identifiers, and values given as identifiers."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path

from histeval.datasets.formats import headings
from histeval.datasets.formats.base import ImportReport
from histeval.datasets.formats.records import TYPES, AuthorityList, authority_entry
from histeval.datasets.importing import persons_json
from histeval.datasets.tables import Row, Table, split_cell
from histeval.errors import DatasetError
from histeval.tasks.description import Field
from histeval.tasks.identifiers import identifier

LIST_OF_KIND = {"person": "persons", "place": "places", "organisation": "organizations", "list": "things"}


def is_authority(title: str, table: Table) -> bool:
    """Whether a table is an authority list: it has a column of names, and alternate names or identifiers, or is called
    like a list, and has no date, sender or receiver of letters."""
    words = {headings.folded(name) for name in table.columns}
    if not words & set(headings.NAMES) or "document number" in words:
        return False
    if any(headings.field_for(name) in ("send_date", "sender_persons", "receiver_persons") for name in table.columns):
        return False
    identifiers = {word for known in headings.SCHEMES.values() for word in known} | {"identifier value"}
    return bool(words & (set(headings.ALTERNATES) | identifiers)) or headings.list_for(title) is not None


def list_name(title: str, wanted: Collection[str]) -> str:
    """What a list in a file or sheet of this title is called: as a field asks for it, else by what it holds."""
    return title if title in wanted else headings.list_for(title) or "persons"


def authority_from_table(name: str, table: Table, report: ImportReport) -> AuthorityList:
    """The authority list in a table; persons.csv of the published layout becomes the published persons.json.

    Commas part the forms of a name there; a cell without one and with `;` is parted at these, which is reported.
    """
    if {"identifier_propertyID", "identifier_value", "name"} <= set(table.columns):
        rows = [_with_commas(row, table, report) for row in table.rows]
        return AuthorityList(name, persons_json(replace(table, rows=tuple(rows))), table.path)
    folded = {headings.folded(column): column for column in reversed(table.columns)}
    named = next(folded[word] for word in headings.NAMES if word in folded)
    alternates = next((folded[word] for word in headings.ALTERNATES if word in folded), "")
    schemes = {
        scheme: next((folded[word] for word in words if word in folded), "")
        for scheme, words in headings.SCHEMES.items()
    }
    unread = [column for column in table.columns if column and column not in {named, alternates, *schemes.values()}]
    if unread:
        report.leave_out(f"columns of the list {name}", *(f"{table.path.name}: {column}" for column in unread))
    cells = [row.get(alternates) for row in table.rows] if alternates else []
    separator = next((sign for sign in ("|", ";") if any(sign in cell for cell in cells)), ",")
    entries = []
    for row in table.rows:
        if not row.get(named).strip():
            raise DatasetError("has no name", file=table.path, line=row.line, remedy=f"Fill the column {named}")
        forms = split_cell(row.get(alternates), separator) if alternates else ()
        identifiers = _identifiers(row, schemes)
        entries.append(authority_entry(row.get(named).strip(), forms, identifiers, TYPES.get(name, "Thing")))
    return AuthorityList(name, entries, table.path)


def _with_commas(row: Row, table: Table, report: ImportReport) -> Row:
    cell = row.get("alternateName")
    if ";" not in cell:
        return row
    place = f"{table.path.name}: row {row.line}"
    if "," in cell:
        report.note(f"{place}: alternateName holds both ; and commas; only the commas part forms: {cell[:60]!r}")
        return row
    report.repair("forms in alternateName parted at ;", place)
    return replace(row, cells={**row.cells, "alternateName": ", ".join(split_cell(cell, ";"))})


def _identifiers(row: Row, schemes: Mapping[str, str]) -> dict[str, str]:
    found: dict[str, str] = {}
    for scheme, column in schemes.items():
        cell = row.get(column).strip() if column else ""
        if cell:
            known = identifier(cell, scheme)
            found[known[0] if known else scheme] = known[1] if known else cell
    return found


class Collected:
    """Authority lists made of names and the identifiers that stand beside them."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        self.names: dict[str, dict[tuple[str, str], list[str]]] = {}

    def add(self, field: Field, values: list[str], cell: str, separator: str) -> None:
        """Names and their identifiers, as many of each as of the other; the first name of an identifier is its own."""
        given = [piece.strip() for piece in cell.split(separator)] if separator else [cell.strip()]
        if len(given) != len(values):
            if any(given):
                self.report.leave_out("identifiers that are not as many as the names", ", ".join(values)[:60])
            return
        for value, text in zip(values, given, strict=True):
            self.note(field, value, text, "GND")

    def note(self, field: Field, name: str, text: str, scheme: str) -> None:
        """One name and the identifier beside it; a bare one is of the scheme, where one is given."""
        found = identifier(text, scheme)
        if found is not None:
            known = self.names.setdefault(field.authority or LIST_OF_KIND.get(field.kind, "things"), {})
            forms = known.setdefault(found, [])
            if name not in forms:
                forms.append(name)

    def lists(self, file: Path | None) -> list[AuthorityList]:
        """The lists: an entry for each identifier, the first of its names first."""
        lists = []
        for name, known in self.names.items():
            kind = TYPES.get(name, "Thing")
            entries = [authority_entry(forms[0], forms[1:], dict([key]), kind) for key, forms in known.items()]
            lists.append(AuthorityList(name, entries, file, made=True))
        return lists
