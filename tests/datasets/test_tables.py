"""CSV: cells as people write them."""

from __future__ import annotations

import csv
import io
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.letters import is_leftover
from histeval.datasets.tables import Row, read_table, split_cell
from histeval.errors import DatasetError
from support import examples

cells = st.text(st.characters(exclude_characters="\0\r", exclude_categories=["Cs"]), max_size=6)


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.lists(cells, min_size=2, max_size=2), max_size=5), st.sampled_from(",;\t"), st.booleans())
def test_cells_come_back_as_written(rows: list[list[str]], delimiter: str, mark: bool) -> None:
    stream = io.StringIO()
    writer = csv.writer(stream, delimiter=delimiter)
    writer.writerow(["name", "alternateName"])
    writer.writerows(rows)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "table.csv"
        path.write_bytes(stream.getvalue().encode("utf-8-sig" if mark else "utf-8"))
        table = read_table(path)
    expected = [row for row in rows if any(cell.strip() for cell in row)]
    assert [[row.get("name"), row.get("alternateName")] for row in table.rows] == expected


@settings(max_examples=examples(100), deadline=None)
@given(st.text(alphabet="aé |<>\t,\n"), st.sampled_from("|;"))
def test_split_cell_equals_its_slow_twin(cell: str, separator: str) -> None:
    values, value = [], ""
    for letter in cell + separator:
        if letter == separator:
            if value.strip():
                values.append(value.strip())
            value = ""
        else:
            value += letter
    assert split_cell(cell, separator) == tuple(values)


def test_lines_are_where_rows_begin(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('a,b\n"one\ntwo",x\n\n  ,\nlast,"q""q"\n')
    assert [(row.line, row.get("a"), row.get("b")) for row in read_table(path).rows] == [
        (2, "one\ntwo", "x"),
        (6, "last", 'q"q'),
    ]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty. Write a first row"),
        ("a,a\n", "line 1, column a: stands twice"),
        ("b\n1\n", "line 1: has no column a. Its columns are b"),
        ("a,b\n1,2,3\n", "line 2: has 3 cells where the first row names 2"),
        ('a,b\n1,2\n"open,3\n', "line 3: is not CSV: unexpected end of data"),
        ('a,b\n"x"y,2\n', "line 2: is not CSV: "),
        ("a\n" + "x" * 200_000, "line 2: is not CSV: field larger than field limit"),
    ],
)
def test_tables_that_cannot_be_read(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DatasetError, match=sentence):
        read_table(path, required=("a",))


@pytest.mark.parametrize(
    ("cells", "leftover"),
    [
        (["#VALUE!", "FALSE", "FALSE"], True),
        (["FALSE", "FALSE", ""], True),
        (["#NV", "FALSE", "FALSE"], True),
        (["12", "FALSE", "FALSE"], False),
        (["#VALUE!", "", ""], False),
        (["#VALUE!", "07", "FALSE"], False),
    ],
)
def test_spreadsheet_leftovers(cells: list[str], leftover: bool) -> None:
    assert is_leftover(Row(1, dict(zip("abc", cells, strict=True)))) is leftover
