"""Letters in a spreadsheet, CSV or XLSX, with any columns; authority lists in further files or sheets.

A table with a column `document_number` is read as the published letters.csv is. Of any other the mapping says which
column holds which field: [[fields]] with `column` in the dataset.toml, or [import.columns]; without one, columns are
known by their headings in several languages, and every other column becomes a field of its own.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from histeval.datasets.files import decode, foreign_encoding, parse_json, program_of
from histeval.datasets.formats import headings
from histeval.datasets.formats.authority_tables import (
    Collected,
    authority_from_table,
    is_authority,
    list_name,
)
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.dates import date_orders, iso_date
from histeval.datasets.formats.json_lines import first_object
from histeval.datasets.formats.mapping import PUBLISHED_ID, Column, map_columns, wanted_lists
from histeval.datasets.formats.records import TWO_SIGNS, AuthorityList, Item, LetterDocument, json_text, split
from histeval.datasets.formats.workbook import is_workbook, read_workbook
from histeval.datasets.identity import composed
from histeval.datasets.letters import is_leftover
from histeval.datasets.tables import LOOKED_AT, Row, Table, parse_table
from histeval.errors import DatasetError, UsageError

_IDENTIFIERS = (
    "columns of identifiers, which no letter shows; say under [import.columns] whose they are: "
    'FIELD = { column = "NAMES", identifiers = "IDENTIFIERS" }'
)


def sniff(source: Source) -> bool:
    """Whether a file is a workbook, a CSV table with a row of headings, or an authority list in JSON."""
    if is_workbook(source):
        return True
    if source.suffix == ".json":
        return isinstance(first_object(source).get("name"), str)
    if source.suffix not in (".csv", ".tsv", ".txt"):
        return False
    if program_of(source.head) or foreign_encoding(source.head) in ("UTF-16", "UTF-32"):
        return True  # reading it says what it is
    lines = source.head.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")[:LOOKED_AT]
    if "\x00" in "".join(lines):
        return False
    # A title may stand above the header.
    return any(line.strip(" \r,;\t") and any(sign in line for sign in ",;\t") for line in lines)


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Item]:
    """The letters and authority lists in some files.

    Options: `columns` (field to heading, or to a table with column, kind, authority, separator, identifiers), `others`
    (columns that the mapping does not name: keep, unless a dataset.toml names the fields), `id` (the column of ids),
    `prefix`, `separator` (between values in a cell), `dates` (auto, day_first, month_first, keep), `sheet`, `signed`,
    `attributes` (headings of what describes a letter), `encoding` (of CSV files).
    """
    letters: list[LetterDocument] = []
    lists: list[AuthorityList] = []
    wanted = wanted_lists(options)
    for source in sources:
        report.count("files")
        for title, table in _tables(source, options, wanted, report):
            if isinstance(table, AuthorityList):
                lists.append(table)
                continue
            table = _trimmed(_composed(table, report), report)
            if is_authority(title, table):
                lists.append(authority_from_table(list_name(title, wanted), table, report))
            else:
                found, made = _letters(table, options, report)
                letters += found
                lists += made
    known, merged = split(_merged(lists))
    assert not known
    yield from _with_authorities(letters, merged)
    yield from merged


def _tables(
    source: Source, options: Options, wanted: set[str], report: ImportReport
) -> Iterator[tuple[str, Table | AuthorityList]]:
    if source.suffix == ".json":
        value, _ = parse_json(decode(source.data, source.path), source.path)
        entries = value if isinstance(value, list) else value.get("@graph", [value]) if isinstance(value, dict) else []
        if not entries or not all(isinstance(entry, dict) and isinstance(entry.get("name"), str) for entry in entries):
            remedy = "It should be a JSON list of objects with name"
            raise DatasetError("is not a list of persons, places or the like", file=source.path, remedy=remedy)
        yield source.stem, AuthorityList(list_name(source.stem, wanted), entries, source.path)
        return
    if not is_workbook(source):
        if source.suffix in (".xlsx", ".xlsm") and foreign_encoding(source.head):
            raise DatasetError("is no workbook, whatever its name says", file=source.path,
                               remedy="Save it again as .xlsx, or as CSV")  # fmt: skip
        text = _decoded(source, str(options.get("encoding", "")))
        yield source.stem, parse_table(text, source.path, known=headings.is_usual)
        return
    asked = str(options.get("sheet", ""))
    sheets = list(read_workbook(source, report))
    if asked and asked not in [title for title, _ in sheets]:
        names = ", ".join(title for title, _ in sheets)
        raise DatasetError(f"has no sheet {asked[:80]!r}", file=source.path, remedy=f"Its sheets are {names}")
    if not sheets:
        raise DatasetError("holds no table", file=source.path, remedy="The first row names the columns")
    chosen = asked
    for title, table in sheets:
        if is_authority(title, table):
            yield title, table
        elif not chosen or title == chosen:
            chosen = chosen or title
            yield title, table
        else:
            report.leave_out("sheets (name another with the option sheet)", f"{source.name} [{title}]")


def _composed(table: Table, report: ImportReport) -> Table:
    """A table with accents as one sign (NFC), headings and cells, so that the same words are the same."""
    if all(composed(text) == text for row in table.rows for text in (*row.cells, *row.cells.values())):
        return table
    report.repair(TWO_SIGNS, table.path.name)
    rows = [Row(row.line, {composed(key): composed(cell) for key, cell in row.cells.items()}) for row in table.rows]
    return replace(table, columns=tuple(map(composed, table.columns)), rows=tuple(rows))


def _trimmed(table: Table, report: ImportReport) -> Table:
    """A table without sums at its end; they, the lines above the header and columns without a name are reported."""
    if table.above:
        report.leave_out("lines above the row of column names", *(text[:60] for text in table.above))
    for number in table.unnamed:
        report.leave_out("columns without a name (name them in the first row)", f"{table.path.name}: column {number}")
    rows = list(table.rows)
    while rows and _is_sum(rows[-1]):
        row = rows.pop()
        words = " ".join(filter(None, map(str.strip, row.cells.values())))
        report.leave_out("rows of sums at the end", f"{table.path.name}: row {row.line}: {words[:60]}")
    return replace(table, rows=tuple(rows))


def _is_sum(row: Row) -> bool:
    """Whether a row says `Total`, or the like, and holds nothing else but numbers."""
    cells = [cell for cell in row.cells.values() if cell.strip()]
    others = [cell for cell in cells if not headings.is_total(cell)]
    return len(others) < len(cells) and all(re.fullmatch(r"[-\d\s.,']+", cell) for cell in others)


def _decoded(source: Source, encoding: str) -> str:
    if not encoding:
        try:
            return decode(source.data, source.path)
        except DatasetError as fault:
            if program_of(source.data) or "binary" in fault.what:
                raise
            usual = "utf-16" if foreign_encoding(source.data) else "windows-1252"
            remedy = f"Say what it is with --option encoding={usual}, or s{fault.remedy[1:]}"
            raise DatasetError(fault.what, file=fault.file, line=fault.line, remedy=remedy) from None
    try:
        return source.data.decode(encoding).removeprefix("\ufeff")
    except LookupError:
        raise UsageError(f"there is no encoding {encoding[:40]!r}; try windows-1252") from None
    except (UnicodeError, ValueError):
        raise DatasetError(
            f"is not {encoding[:40]}", file=source.path, remedy="Save it as UTF-8, or name another encoding"
        ) from None


def _letters(table: Table, options: Options, report: ImportReport) -> tuple[list[LetterDocument], list[AuthorityList]]:
    """The letters of a table, and the authority lists that its columns of identifiers make."""
    mapped = map_columns(table, options)
    for heading in mapped.left_out:
        of_names = PUBLISHED_ID not in table.columns and headings.holds_identifiers(heading)
        report.leave_out(_IDENTIFIERS if of_names else "columns", f"{table.path.name}: {heading}")
    for column in mapped.columns:
        if PUBLISHED_ID not in table.columns:
            report.note(f"column {column.heading} is read as {column.field.name} ({column.field.kind})")
    for name, heading in mapped.attributes.items():
        if PUBLISHED_ID not in table.columns and heading != name:
            report.note(f"column {heading} is read as {name}, which describes a letter")
    if not mapped.id:
        report.note(f"{table.path.name}: no column of ids is known, so letters are numbered by their row")
    fields = tuple(column.field for column in mapped.columns)
    collected = Collected(report)
    orders = {
        column.heading: date_orders(table, column.heading, str(options.get("dates", "auto")), report)
        for column in mapped.columns
        if column.field.kind == "date"
    }
    letters = []
    for row in table.rows:
        if is_leftover(row):
            report.leave_out("spreadsheet leftovers (rows of FALSE)", f"{table.path.name}: row {row.line}")
            continue
        identifier = row.get(mapped.id).strip() if mapped.id else str(row.line)
        if not identifier:
            raise DatasetError(f"has an empty {mapped.id}", file=table.path, line=row.line, remedy="Number the letter")
        values = {column.field.name: _values(row, column, table, orders, report) for column in mapped.columns}
        for column in mapped.columns:
            if column.identifiers:
                collected.add(column.field, values[column.field.name], row.get(column.identifiers), column.separator)
        attributes = {name: row.get(h).strip() for name, h in mapped.attributes.items() if row.get(h).strip()}
        signed = _signed(row, mapped.signed, table, report) if mapped.signed else ""
        letters.append(
            LetterDocument(f"{mapped.prefix}{identifier}", values, signed, attributes, fields, table.path, row.line)
        )
    return letters, collected.lists(table.path)


def _signed(row: Row, heading: str, table: Table, report: ImportReport) -> str:
    """TRUE or FALSE for what a cell says; a cell that says neither stays, and is named here and by `check`."""
    cell = row.get(heading).strip()
    if cell in ("", "TRUE", "FALSE"):
        return cell
    said = headings.says(cell)
    place = f"{table.path.name}: row {row.line}: {cell[:40]}"
    if said is None:
        report.repair(f"cells of {heading} that say neither yes nor no, kept as they are: mend them", place)
        return cell
    report.repair(f"words in {heading} read as TRUE or FALSE", place)
    return str(said).upper()


def _values(
    row: Row, column: Column, table: Table, orders: Mapping[str, Mapping[str, str]], report: ImportReport
) -> list[str]:
    cell = row.get(column.heading)
    pieces = cell.split(column.separator) if column.separator else [cell]
    values = [value for piece in pieces if (value := piece.strip())]
    if column.field.kind != "date":
        return values
    place = f"{table.path.name}: row {row.line}"
    return [iso_date(value, orders[column.heading], place, report) for value in values]


def _merged(lists: Iterable[AuthorityList]) -> list[AuthorityList]:
    """Lists made of columns of identifiers give way to a list of the same name that was given."""
    found: dict[str, AuthorityList] = {}
    result: list[AuthorityList] = []
    for item in lists:
        first = found.get(item.name)
        if first is not None and (item.made or first.made):
            by_name = {entry["name"] for entry in first.entries}
            first.entries += [entry for entry in item.entries if entry["name"] not in by_name]
            continue
        found.setdefault(item.name, item)
        result.append(item)
    return result


def _with_authorities(letters: list[LetterDocument], lists: Sequence[AuthorityList]) -> Iterator[LetterDocument]:
    """The letters, their fields with the authority list of their kind where none is named."""
    by_kind = {"person": "persons", "place": "places", "organisation": "organizations"}
    known = {item.name for item in lists}
    for letter in letters:
        fields = []
        for item in letter.fields:
            usual = by_kind.get(item.kind) if not item.name.endswith("_inscribed") else None
            authority = item.authority or (usual if usual in known else None)
            fields.append(replace(item, authority=authority))
        letter.fields = tuple(fields)
        yield letter


def write(items: Iterable[Item], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`letters.csv` with the fields as columns and `|` between values, and a JSON file for each authority list."""
    letters, lists = split(items)
    attributes = list(dict.fromkeys(key for letter in letters for key in letter.attributes))
    names = list(dict.fromkeys(name for letter in letters for name in letter.values))
    out = io.StringIO(newline="")
    writer = csv.writer(out, lineterminator="\n")
    signed = ["has_signatures"] if any(letter.signed for letter in letters) else []
    writer.writerow(["document", *names, *signed, *attributes])
    for letter in letters:
        cells = []
        for name in names:
            values = letter.values.get(name, [])
            if any("|" in value or value != value.strip() or not value for value in values):
                report.lose("values that hold | or blanks at an edge", f"{letter.id}: {name}")
            cells.append("|".join(values))
        more = [letter.attributes.get(key, "") for key in attributes]
        writer.writerow([letter.id, *cells, *([letter.signed] if signed else []), *more])
        report.count("letters")
    files = {f"{item.name}.json": json_text(item.entries).encode() for item in lists}
    return {"letters.csv": out.getvalue().encode(), **files}
