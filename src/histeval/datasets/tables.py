"""CSV tables as people's programs write them: comma, semicolon or tab, with or without byte order mark."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
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
    """A table with a header: column names in order, and its rows without the blank ones."""

    path: Path
    columns: tuple[str, ...]
    rows: tuple[Row, ...]


def read_table(path: Path, *, required: tuple[str, ...] = (), faults: list[DatasetError] | None = None) -> Table:
    """The table in a CSV file whose first row names the columns.

    The delimiter is the one of comma, semicolon and tab that splits the header into most columns. Cells are kept as
    they stand; a row that is shorter than the header is filled with empty cells. Raises DatasetError where a
    required column is missing, a column name stands twice, or a row is longer than the header; where `faults` is a
    list, faults of rows are appended to it and the row is cut.
    """
    return parse_table(read_text(path), path, required=required, faults=faults)


def parse_table(
    text: str, path: Path, *, required: tuple[str, ...] = (), faults: list[DatasetError] | None = None
) -> Table:
    """Like `read_table`, for text that came from `path`."""
    first = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=first.count)
    records = _records(text, path, delimiter)
    header = next(records, None)
    if header is None:
        raise DatasetError("is empty", file=path, remedy="Write a first row with the names of the columns")
    columns = tuple(name.strip() for name in header[1])
    for name in columns:
        if name and columns.count(name) > 1:
            raise DatasetError("stands twice in the first row", file=path, line=1, item=f"column {name}")
    for name in required:
        if name not in columns:
            raise DatasetError(
                f"has no column {name}", file=path, line=1, remedy=f"Its columns are {', '.join(columns)[:200]}"
            )
    rows = []
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
        cells += [""] * (len(columns) - len(cells))
        rows.append(Row(line, dict(zip(columns, cells, strict=False))))
    return Table(path, columns, tuple(rows))


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
        raise DatasetError(f"is not CSV: {fault}", file=path, line=line) from None


def split_cell(cell: str, separator: str = "|") -> tuple[str, ...]:
    """The values in a cell: split at the separator, trimmed, empty pieces dropped.

    >>> split_cell("Ritter, Fritz |<<Vischer, Max>>| ")
    ('Ritter, Fritz', '<<Vischer, Max>>')
    """
    return tuple(value for piece in cell.split(separator) if (value := piece.strip()))
