"""CSV tables as people's programs write them: comma, semicolon or tab, with or without byte order mark."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

from histeval.datasets.files import read_text
from histeval.errors import DatasetError


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: the line it starts on (from 1) and its cells by column name, as they stand."""

    line: int
    cells: Mapping[str, str]

    def get(self, column: str) -> str:
        """The cell of a column, empty where the table has no such column."""
        return self.cells.get(column, "")


@dataclass(frozen=True)
class Table:
    """A table with a header: column names in order, and its rows without the blank ones.

    `above` are lines that stand above the header, `unnamed` the numbers (from 1) of columns that have cells and no
    name: neither is read, and whoever reads the table says so.
    """

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    above: tuple[str, ...] = ()
    unnamed: tuple[int, ...] = ()


def read_table(path: Path, *, required: tuple[str, ...] = (), faults: list[DatasetError] | None = None) -> Table:
    """The table in a CSV file whose first row names the columns.

    The delimiter is the one of comma, semicolon and tab that splits the header into most columns. Cells are kept as
    they stand; a row that is shorter than the header is filled with empty cells. Raises DatasetError where a
    required column is missing, a column name stands twice, or a row is longer than the header; where `faults` is a
    list, faults of rows are appended to it and the row is cut.
    """
    return parse_table(read_text(path), path, required=required, faults=faults)


def parse_table(
    text: str,
    path: Path,
    *,
    required: tuple[str, ...] = (),
    faults: list[DatasetError] | None = None,
    known: Callable[[str], bool] | None = None,
) -> Table:
    """Like `read_table`, for text that came from `path`.

    Where `known` is given (whether a cell is a usual heading), titles may stand above the header: what `header_of`
    finds is the header, and the lines above it are in `above`.
    """
    delimiter, place = _layout(text, path, known) if known is not None else (_delimiter(text), 0)
    records = _records(text, path, delimiter)
    above = [" ".join(filter(None, map(str.strip, cells))) for _, cells in islice(records, place)]
    header = next(records, None)
    if header is None:
        raise DatasetError("is empty", file=path, remedy="Write a first row with the names of the columns")
    columns = tuple(name.strip() for name in header[1])
    for name in columns:
        if name and columns.count(name) > 1:
            what, remedy = "stands twice in the row of column names", "Rename one of them"
            raise DatasetError(what, file=path, line=header[0], item=f"column {name}", remedy=remedy)
    for name in required:
        if name not in columns:
            raise DatasetError(
                f"has no column {name}", file=path, line=header[0], remedy=f"Its columns are {', '.join(columns)[:200]}"
            )
    rows = []
    unnamed: set[int] = set()
    for line, cells in records:
        if not any(cell.strip() for cell in cells):
            continue
        if len(cells) > len(columns) and any(cell.strip() for cell in cells[len(columns) :]):
            fault = DatasetError(
                f"has {len(cells)} cells where the first row names {len(columns)} columns",
                file=path,
                line=line,
                remedy="Put quotes around a cell that holds the delimiter",
            )
            if faults is None:
                raise fault
            faults.append(fault)
        unnamed.update(unnamed_cells(columns, cells))
        cells += [""] * (len(columns) - len(cells))
        rows.append(Row(line, dict(zip(columns, cells, strict=False))))
    return Table(path, columns, tuple(rows), tuple(filter(None, above)), tuple(sorted(unnamed)))


def unnamed_cells(columns: Sequence[str], cells: Sequence[str]) -> list[int]:
    """The numbers (from 1) of the columns without a name in which a row has something."""
    pairs = enumerate(zip(columns, cells, strict=False), start=1)
    return [number for number, (name, cell) in pairs if not name and cell.strip()]


def header_of(rows: Sequence[Sequence[str]], known: Callable[[str], bool]) -> int | None:
    """Which of the first rows of a table names the columns: the first that has two cells or more, and either a usual
    heading or more than half as many cells as the fullest row; None where there is none.

    >>> rows = [["Letters, box 12", "", ""], ["No", "Date", "From"], ["1", "1931", "X"]]
    >>> header_of(rows, {"No"}.__contains__)
    1
    """
    full = [sum(bool(cell.strip()) for cell in row) for row in rows]
    for number, row in enumerate(rows):
        usual = any(known(cell) for cell in row if cell.strip())
        if full[number] >= 2 and (usual or full[number] * 2 > max(full)):
            return number
    return None


LOOKED_AT = 40
"""So many rows are looked at for the header and the delimiter."""


def _delimiter(text: str) -> str:
    return max(",;\t", key=text.split("\n", 1)[0].count)


def _layout(text: str, path: Path, known: Callable[[str], bool]) -> tuple[str, int]:
    """The delimiter of a table that may have titles above its header, and the number of records above that."""
    found = []
    for delimiter in ",;\t":
        try:
            rows = [cells for _, cells in islice(_records(text, path, delimiter), LOOKED_AT)]
        except DatasetError:  # broken quotes, which the reading itself reports
            continue
        place = header_of(rows, known)
        if place is not None:
            header, below = rows[place], [row for row in rows[place + 1 :] if any(cell.strip() for cell in row)]
            fitting = sum(len(row) == len(header) for row in below) / len(below) if below else 1.0
            found.append((sum(map(known, header)), fitting, sum(map(bool, header)), delimiter, place))
    if not found:
        return _delimiter(text), 0
    *_, delimiter, place = max(found, key=lambda one: one[:3])
    return delimiter, place


def _records(text: str, path: Path, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """The records of a CSV text with the line each starts on."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                yield line, cells
            line = reader.line_num + 1
    except csv.Error as fault:
        raise DatasetError(
            f"is not CSV: {fault}",
            file=path,
            line=line,
            remedy="Close every quotation mark, and double those inside a cell",
        ) from None


def split_cell(cell: str, separator: str = "|") -> tuple[str, ...]:
    """The values in a cell: split at the separator, trimmed, empty pieces dropped.

    >>> split_cell("Ritter, Fritz |<<Vischer, Max>>| ")
    ('Ritter, Fritz', '<<Vischer, Max>>')
    """
    return tuple(value for piece in cell.split(separator) if (value := piece.strip()))
