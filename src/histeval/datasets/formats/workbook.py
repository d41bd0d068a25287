"""Tables in XLSX workbooks, read with openpyxl and with limits: what is unpacked, how many rows, columns and cells."""

from __future__ import annotations

import datetime
import io
import re
import zipfile
from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from histeval.datasets.formats import headings
from histeval.datasets.formats.base import ImportReport, Source
from histeval.datasets.tables import LOOKED_AT, Row, Table, header_of, unnamed_cells
from histeval.errors import DatasetError, MissingExtraError

UNPACKED_LIMIT = 128 * 1024 * 1024
"""Bytes of all parts of a workbook together, unpacked."""
PARTS_LIMIT = 2000
ROWS_LIMIT, COLUMNS_LIMIT, CELLS_LIMIT = 200_000, 1000, 4_000_000

_PACKED, _OLD, _OPEN_DOCUMENT = b"PK\x03\x04", b"\xd0\xcf\x11\xe0", b"mimetypeapplication/vnd.oasis.opendocument"
_ROW = re.compile(rb"<(?:\w+:)?row\b[^>]*?\br=[\"'](\d+)[\"']")
_CELL = re.compile(rb"<(?:\w+:)?c\b[^>]*?\br=[\"']([A-Za-z]+)\d+[\"']")
_MERGED = re.compile(rb"<(?:\w+:)?mergeCell\b[^>]*?\bref=[\"']([A-Za-z]{1,3})(\d{1,7}):[A-Za-z]{1,3}(\d{1,7})[\"']")
_CELL_START = re.compile(rb"<(?:\w+:)?c[\s/>]")


def is_workbook(source: Source) -> bool:
    """Whether a file is a workbook, one that can be read or one of the old or open formats that cannot."""
    if source.suffix in (".xls", ".ods"):
        return True
    return source.suffix in (".xlsx", ".xlsm") and source.head[:4] in (_PACKED, _OLD)


def read_workbook(source: Source, report: ImportReport) -> Iterator[tuple[str, Table]]:
    """The sheets with something in them: their names and their tables, formulas as the values last computed.

    Dates become ISO dates, whole numbers lose their `.0`. Raises DatasetError where the file is no workbook, is
    encrypted, or larger than the limits, MissingExtraError without openpyxl.
    """
    data = source.data
    if data[:4] == _OLD:
        what = "is an old .xls workbook, or one with a password"
        raise DatasetError(what, file=source.path, remedy="Save it as .xlsx without a password, or as CSV")
    if data[30:73].startswith(_OPEN_DOCUMENT[:20]) or source.suffix == ".ods":
        raise DatasetError("is an OpenDocument spreadsheet", file=source.path, remedy="Save it as .xlsx or CSV")
    formulas, merged = _check(data, source)
    try:
        import openpyxl
    except ImportError:
        remedy = "install it with `pip install 'histeval[import]'`, or save the sheet as CSV"
        raise MissingExtraError(f"{source.name} is a workbook, and openpyxl is not installed: {remedy}") from None
    try:
        book = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=True)
        written = openpyxl.load_workbook(io.BytesIO(data), read_only=True, data_only=False) if formulas else None
        for sheet in book.worksheets:
            if sheet.sheet_state != "visible" and any(s.sheet_state == "visible" for s in book.worksheets):
                report.leave_out("hidden sheets", f"{source.name} [{sheet.title}]")
                continue
            sheet.reset_dimensions()
            table = _table(sheet, source, report, merged.get(getattr(sheet, "_worksheet_path", ""), ()))
            if written is not None:
                _report_formulas(sheet, written[sheet.title], source, report)
            if table is not None:
                yield str(sheet.title), table
    except (DatasetError, GeneratorExit):
        raise
    except Exception as fault:  # whatever openpyxl and the XML parser say of damaged content
        what = f"is no workbook that can be read: {type(fault).__name__} {fault}"
        raise DatasetError(what, file=source.path, remedy="Save it again as .xlsx, or as CSV") from None


Merged = tuple[int, int, int]
"""The column of a merged cell, its first row and its last."""


def _check(data: bytes, source: Source) -> tuple[bool, dict[str, list[Merged]]]:
    """Whether a workbook has formulas, and the merged cells of each part that span rows; raises DatasetError where it
    exceeds a limit, before anything is built of it."""
    size, formulas = 0, False
    merged: dict[str, list[Merged]] = {}
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            parts = archive.infolist()
            if len(parts) > PARTS_LIMIT:
                raise DatasetError(f"has more than {PARTS_LIMIT} parts", file=source.path, remedy="Save it as CSV")
            for part in parts:
                if part.flag_bits & 1:
                    raise DatasetError("has a password", file=source.path, remedy="Save it without one")
                content = bytearray()
                with archive.open(part) as file:
                    while piece := file.read(1 << 20):
                        size += len(piece)
                        if size > UNPACKED_LIMIT:
                            what = f"unpacks to more than {UNPACKED_LIMIT >> 20} MB"
                            raise DatasetError(what, file=source.path, remedy="Save the sheet as CSV")
                        content += piece
                if part.filename.lower().endswith((".xml", ".rels")):
                    formulas = _check_part(bytes(content), part.filename, source) or formulas
                    if found := _merged_in(bytes(content)):
                        merged[part.filename] = found
    except DatasetError:
        raise
    except Exception as fault:  # zipfile raises errors of many kinds for damaged archives
        what = f"is no workbook: {fault}"
        raise DatasetError(what, file=source.path, remedy="Save it again as .xlsx") from None
    return formulas, merged


def _merged_in(content: bytes) -> list[Merged]:
    """The cells of a sheet that span several rows."""
    if b"\x00" in content[:200]:
        content = content.decode("utf-16", "replace").encode()
    found = ((_column(column), int(first), int(last)) for column, first, last in _MERGED.findall(content))
    return [cell for cell in found if cell[1] < cell[2]]


def _check_part(content: bytes, name: str, source: Source) -> bool:
    """Whether a part is a sheet with formulas; raises DatasetError for a document type (entities) or a vast sheet."""
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\x00" in content[:200]:
        content = content.decode("utf-16", "replace").encode()
    if b"<!DOCTYPE" in content or b"<!ENTITY" in content:
        raise DatasetError(
            "declares a document type, which no workbook does",
            file=source.path,
            item=name,
            remedy="Save it again as .xlsx, or as CSV",
        )
    if "worksheets/" not in name:
        return False
    rows = max((int(match[1][:12]) for match in _ROW.finditer(content)), default=0)
    columns = max((_column(match[1][:6]) for match in _CELL.finditer(content)), default=0)
    cells = sum(1 for _ in _CELL_START.finditer(content))
    for number, limit, what in (
        (rows, ROWS_LIMIT, "rows"), (columns, COLUMNS_LIMIT, "columns"), (cells, CELLS_LIMIT, "cells")
    ):  # fmt: skip
        if number > limit:
            raise DatasetError(f"has more than {limit} {what}", file=source.path, item=name, remedy="Save it in parts")
    return re.search(rb"<(?:\w+:)?f[\s/>]", content) is not None


def _column(letters: bytes) -> int:
    """The number of a column from its letters.

    >>> _column(b"A"), _column(b"AB")
    (1, 28)
    """
    number = 0
    for letter in letters.upper():
        number = number * 26 + letter - 64
    return number


def _table(sheet: Any, source: Source, report: ImportReport, merged: Sequence[Merged]) -> Table | None:
    """A sheet as a table: `header_of` says which row names the columns; None where the sheet is empty."""
    path = Path(f"{source.path} [{sheet.title}]")
    filled: list[tuple[int, list[str]]] = []
    for number, cells in enumerate(sheet.iter_rows(), start=1):
        texts = [_text(cell, f"{source.name} [{sheet.title}]", report) for cell in cells]
        if any(texts):
            filled.append((number, texts))
    place = header_of([texts for _, texts in filled[:LOOKED_AT]], headings.is_usual)
    if place is None:  # empty, or a single column
        if filled:
            report.leave_out("sheets without a row of column names", f"{source.name} [{sheet.title}]")
        return None
    line, texts = filled[place]
    while not texts[-1]:
        texts.pop()
    columns = tuple(text.strip() for text in texts)
    for name in columns:
        if name and columns.count(name) > 1:
            what, remedy = "stands twice in the row of column names", "Rename one of them"
            raise DatasetError(what, file=path, line=line, item=f"column {name}", remedy=remedy)
    _fill_merged(filled[place + 1 :], merged, path, report)
    rows: list[Row] = []
    unnamed: set[int] = set()
    for number, texts in filled[place + 1 :]:
        if any(texts[len(columns) :]):
            what = f"has a cell beyond the {len(columns)} columns that the first row names"
            raise DatasetError(what, file=path, line=number, remedy="Name the column, or empty the cell")
        unnamed.update(unnamed_cells(columns, texts))
        texts += [""] * (len(columns) - len(texts))
        rows.append(Row(number, dict(zip(columns, texts, strict=False))))
    above = tuple(" ".join(filter(None, texts)) for _, texts in filled[:place])
    return Table(path, columns, tuple(rows), above, tuple(sorted(unnamed)))


def _fill_merged(
    filled: Sequence[tuple[int, list[str]]], merged: Sequence[Merged], path: Path, report: ImportReport
) -> None:
    """Puts what stands in a cell that spans rows into each of them, as a reader sees it."""
    numbers = [number for number, _ in filled]
    done = 0
    for column, first, last in merged:
        start, end = bisect_left(numbers, first), bisect_right(numbers, last)
        if start == end or numbers[start] != first or len(filled[start][1]) < column:
            continue  # in the header or above it, or empty
        value = filled[start][1][column - 1]
        done += end - start
        if done > CELLS_LIMIT:
            raise DatasetError(f"merges more than {CELLS_LIMIT} cells", file=path, remedy="Save it as CSV")
        for _, texts in filled[start + 1 : end]:
            if value:
                texts += [""] * (column - len(texts))
                texts[column - 1] = value
        if value and end - start > 1:
            report.repair(
                "cells that span rows, read in each of them", f"{path.name}: rows {first} to {last}: {value[:40]}"
            )


def _text(cell: Any, place: str, report: ImportReport) -> str:
    """A cell as text."""
    value = cell.value
    if value is None:
        return ""
    if cell.data_type == "e":
        report.leave_out(f"cells with an error ({value})", f"{place}: row {cell.row}")
        return ""
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, datetime.datetime):
        midnight = value.time() == datetime.time()
        return value.date().isoformat() if midnight else value.isoformat(sep=" ", timespec="minutes")
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    if isinstance(value, float) and abs(value) < 1e15 and value == int(value):
        return str(int(value))
    return str(value).strip()


def _report_formulas(values: Any, formulas: Any, source: Source, report: ImportReport) -> None:
    """Names the formulas that have no value, since the program that saved them does not compute."""
    formulas.reset_dimensions()
    for computed, written in zip(values.iter_rows(), formulas.iter_rows(), strict=False):
        for value, formula in zip(computed, written, strict=False):
            if formula.data_type == "f" and value.value is None:
                place = f"{source.name} [{values.title}]: row {formula.row}"
                report.leave_out("formulas without a value (open and save the file in a spreadsheet program)", place)
