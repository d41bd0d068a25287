"""Nothing of a spreadsheet is dropped without a word: cells that span rows, columns that are no fields, lists."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from format_sources import read
from histeval import load_dataset
from histeval.datasets.formats import ImportReport
from histeval.datasets.formats import workbook as workbooks
from histeval.datasets.formats.records import Item, LetterDocument
from histeval.datasets.transfer import export_dataset, import_dataset
from histeval.errors import DatasetError

HEAD = ["Signatur", "Datum", "Absender", "Empfänger", "GND Absender", "Sprache", "Schiff"]
ROWS: list[list[Any]] = [
    ["A1", "1901-02-03", "Kern, Emma", "Vogt, Hans", "118500001", "de", "Aurora"],
    ["A2", None, None, "Vogt, Hans", "118500001", "de", None],
    ["A3", "1901-02-05", "Vogt, Hans", "Kern, Emma", "118500003", "fr", None],
    ["A4", None, "Vogt, Hans", None, None, None, None],
]


def workbook(*merged: str, above: int = 0, sheets: dict[str, list[list[Any]]] | None = None) -> bytes:
    """The rows under `above` lines of titles, some of the cells merged, and further sheets."""
    book = openpyxl.Workbook()
    sheet = book.active
    for _ in range(above):
        sheet.append(["Briefe", None])
    for row in (HEAD, *ROWS):
        sheet.append(row)
    for cells in merged:
        sheet.merge_cells(cells)
    for title, rows in (sheets or {}).items():
        other = book.create_sheet(title)
        for row in rows:
            other.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def imported(data: bytes, **options: Any) -> tuple[list[Item], ImportReport]:
    return read("spreadsheet", {"a.xlsx": data}, **options)


def letters(items: list[Item]) -> dict[str, dict[str, list[str]]]:
    return {item.id: item.values for item in items if isinstance(item, LetterDocument)}


def test_a_cell_that_spans_rows_counts_in_each_of_them() -> None:
    items, report = imported(workbook("B2:B3", "C2:C3"))
    found = letters(items)
    assert (found["A2"]["send_date"], found["A2"]["sender_persons"]) == (["1901-02-03"], ["Kern, Emma"])
    assert found["A4"]["send_date"] == []
    (places,) = (ids for what, ids in report.repaired.items() if what.startswith("cells that span rows"))
    assert sorted(places) == ["a.xlsx [Sheet]: rows 2 to 3: 1901-02-03", "a.xlsx [Sheet]: rows 2 to 3: Kern, Emma"]


@pytest.mark.parametrize("cells", ["A1:B1", "D5:G5", "G3:G5", "A2:B2"])
def test_cells_that_span_columns_only_or_hold_nothing_change_nothing(cells: str) -> None:
    above = 1 if cells == "A1:B1" else 0
    plain = letters(imported(workbook(above=above))[0])
    if cells == "A2:B2":  # what stood under the merged cell is gone from the file itself
        plain["A1"]["send_date"] = []
    items, report = imported(workbook(cells, above=above))
    assert letters(items) == plain
    assert not [what for what in report.repaired if what.startswith("cells that span rows")]


def test_titles_that_span_rows_above_the_header_are_no_values() -> None:
    items, _ = imported(workbook("A1:A2", above=2))
    assert letters(items) == letters(imported(workbook())[0])


def test_more_merged_cells_than_cells_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """Cells that overlap, as no spreadsheet program writes them."""
    monkeypatch.setattr(workbooks, "CELLS_LIMIT", 40)
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(workbook("B2:B5"))) as given, zipfile.ZipFile(out, "w") as archive:
        for name in given.namelist():
            archive.writestr(name, re.sub(rb"<mergeCell [^>]*/>", lambda cell: cell[0] * 11, given.read(name)))
    with pytest.raises(DatasetError, match="merges more than 40 cells"):
        imported(out.getvalue())


def test_identifiers_are_no_field_until_somebody_says_whose_they_are() -> None:
    items, report = imported(workbook())
    assert all("gnd_absender" not in values for values in letters(items).values())
    (places,) = (ids for what, ids in report.left_out.items() if what.startswith("columns of identifiers"))
    assert places == ["a.xlsx [Sheet]: GND Absender"]
    columns = {"sender_persons": {"column": "Absender", "identifiers": "GND Absender"}}
    items, report = imported(workbook("B2:B3", "C2:C3"), columns=columns)
    assert not [what for what in report.left_out if what.startswith("columns of identifiers")]
    (persons,) = (item for item in items if not isinstance(item, LetterDocument))
    assert [entry["name"] for entry in persons.entries] == ["Kern, Emma", "Vogt, Hans"]


def test_columns_that_describe_a_letter_and_columns_of_a_list_are_named() -> None:
    persons = {"Personen": [["Name", "Varianten", "Geburt", "Beruf"], ["Kern, Emma", "E. Kern", 1870, "Lehrerin"]]}
    items, report = imported(workbook(sheets=persons))
    assert "column Sprache is read as language, which describes a letter" in report.notes
    assert report.left_out["columns of the list persons"] == ["a.xlsx [Personen]: Geburt", "a.xlsx [Personen]: Beruf"]
    assert letters(items)["A1"]["schiff"] == ["Aurora"]


def test_a_list_keeps_what_its_entries_are(tmp_path: Path) -> None:
    sheets = {
        "Personen": [["Name", "Varianten"], ["Kern, Emma", "E. Kern"], ["Vogt, Hans", ""]],
        "Orte": [["Name", "GeoNames"], ["Basel", "2661604"]],
    }
    (tmp_path / "a.xlsx").write_bytes(workbook(sheets=sheets))
    import_dataset("letters", [tmp_path / "a.xlsx"], tmp_path / "d")
    export_dataset(load_dataset("letters", tmp_path / "d"), "spreadsheet", tmp_path / "back")
    for name, kind in (("persons", "Person"), ("places", "Place")):
        back = json.loads((tmp_path / "back" / f"{name}.json").read_text(encoding="utf-8"))
        assert {entry["@type"] for entry in back} == {kind}
        assert back == json.loads((tmp_path / "d" / "ground_truths" / f"{name}.json").read_text(encoding="utf-8"))


def test_a_table_without_a_letter_says_what_a_table_has(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("Signatur,Datum,Absender\n", encoding="utf-8")
    with pytest.raises(DatasetError, match=r"holds no document for letters\. A table has a row of column names"):
        import_dataset("letters", [tmp_path / "a.csv"], tmp_path / "d")


@pytest.mark.parametrize("word", ["unbekannt", "Unknown", "date inconnue", "s.d.", "desconhecida", "o. D."])
def test_words_for_a_date_nobody_knows(word: str) -> None:
    items, _ = read("spreadsheet", {"a.csv": f"Signatur,Datum\nA1,{word}\nA2,1901-01-01\n".encode()})
    assert letters(items)["A1"]["send_date"] == ["None"]


def test_sheets_that_nobody_sees_give_way_to_those_that_are_seen() -> None:
    book = openpyxl.load_workbook(io.BytesIO(workbook(sheets={"Seen": [["Signatur", "Datum"], ["B1", "1901-01-01"]]})))
    book["Sheet"].sheet_state = "hidden"
    book.active = 1
    out = io.BytesIO()
    book.save(out)
    items, report = imported(out.getvalue())
    assert list(letters(items)) == ["B1"]
    assert report.left_out["hidden sheets"] == ["a.xlsx [Sheet]"]


@pytest.mark.parametrize(
    ("written", "read_as"),
    [("1890/02/03", "1890-02-03"), ("1890.2.3", "1890-02-03"), ("1890-2-3", "1890-02-03"),
     ("<1890/12/31>", "<1890-12-31>"),
     ("1890/13/01", "1890/13/01"), ("1890/2-3", "1890/2-3")],
)  # fmt: skip
def test_the_year_first_is_followed_by_the_month(written: str, read_as: str) -> None:
    items, _ = read("spreadsheet", {"a.csv": f"Signatur,Datum\nA1,{written}\nA2,1901-01-01\n".encode()})
    assert letters(items)["A1"]["send_date"] == [read_as]
