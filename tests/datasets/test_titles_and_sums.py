"""What a spreadsheet has around its table: titles above the header, sums below, columns without a name."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import openpyxl
import pytest

from format_sources import read
from histeval.datasets import check
from histeval.datasets.formats.records import AuthorityList, LetterDocument

HEADER = ["Nr", "Datum", "Absender", "Empfänger"]
ROWS = [["1", "5.4.1931", "Kovács, Ágnes", "Nagy, Pál"], ["2", "6.4.1931", "Nagy, Pál", "Kovács, Ágnes"]]


def as_csv(rows: list[list[str]], delimiter: str = ";") -> bytes:
    width = max(map(len, rows))
    padded = [row + [""] * (width - len(row)) for row in rows]
    return "\r\n".join(delimiter.join(row) for row in padded).encode("utf-8-sig")


def unpadded(rows: list[list[str]]) -> bytes:
    return "\n".join("\t".join(row) for row in rows).encode()


def as_xlsx(rows: list[list[str]]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


FORMS: dict[str, tuple[str, Callable[[list[list[str]]], bytes]]] = {
    "semicolons, padded as Excel does": ("a.csv", as_csv),
    "tabs, not padded": ("a.tsv", unpadded),
    "a workbook": ("a.xlsx", as_xlsx),
}
TITLES = {
    "none": [],
    "one and an empty line": [["Briefe Bestand 12"], []],
    "with a comma": [["Briefe, Bestand 12"]],
    "of two cells": [["Briefe Bestand 12", "", "", "Stand 2024"], ["bearbeitet von N. N."]],
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("title", TITLES)
def test_titles_above_the_header_are_left_out_and_named(form: str, title: str) -> None:
    name, write = FORMS[form]
    items, report = read("spreadsheet", {name: write([*TITLES[title], HEADER, *ROWS, ["Summe", "2"]])})
    letters = [item for item in items if isinstance(item, LetterDocument)]
    assert [letter.id for letter in letters] == ["1", "2"]
    assert letters[0].values == {
        "send_date": ["1931-04-05"], "sender_persons": ["Kovács, Ágnes"], "receiver_persons": ["Nagy, Pál"]
    }  # fmt: skip
    named = [" ".join(filter(None, row)) for row in TITLES[title] if any(row)]
    assert report.left_out.get("lines above the row of column names", []) == named
    (total,) = report.left_out["rows of sums at the end"]
    assert total.endswith("Summe 2")


@pytest.mark.parametrize("form", FORMS)
def test_headings_that_nobody_knows_are_found_below_a_title(form: str) -> None:
    name, write = FORMS[form]
    items, report = read("spreadsheet", {name: write([["Levelek, 12"], ["alfa", "beta", "gamma"], ["x", "y", "z"]])})
    assert [item.values for item in items if isinstance(item, LetterDocument)] == [
        {"alfa": ["x"], "beta": ["y"], "gamma": ["z"]}
    ]
    assert report.left_out == {"lines above the row of column names": ["Levelek, 12"]}


@pytest.mark.parametrize("form", FORMS)
def test_a_column_without_a_name_is_named(form: str) -> None:
    name, write = FORMS[form]
    rows = [["Nr", "", "Datum", "", "Absender"], ["1", "a", "1931", "", "Nagy, Pál"], ["2", "", "1932", "b", "X"]]
    items, report = read("spreadsheet", {name: write(rows)})
    assert len(items) == 2
    (unnamed,) = report.left_out.values()
    assert [text.rpartition(": ")[2] for text in unnamed] == ["column 2", "column 4"]


def test_titles_above_a_list_of_persons() -> None:
    persons = as_csv([["Personen des Bestandes"], ["Name", "GND"], ["Nagy, Pál", "118540238"]])
    items, report = read("spreadsheet", {"a.csv": as_csv([HEADER, *ROWS]), "personen.csv": persons})
    (found,) = [item for item in items if isinstance(item, AuthorityList)]
    assert [entry["name"] for entry in found.entries] == ["Nagy, Pál"]
    assert report.left_out == {"lines above the row of column names": ["Personen des Bestandes"]}


def test_a_letter_is_no_sum() -> None:
    items, report = read("spreadsheet", {"a.csv": "Nr;Absender;Seiten\n1;Total, Jean;3\n2;Total;x\n"})
    assert [item.id for item in items if isinstance(item, LetterDocument)] == ["1", "2"]
    assert report.left_out == {}


def test_check_names_a_column_without_a_name(make: Any) -> None:
    table = "document_number,send_date,sender_persons,receiver_persons,has_signatures,\n01,None,None,None,TRUE,x\n"
    folder = make("letters_csv", {"ground_truth/letters.csv": table})
    assert [fault.what for fault in check("letters", folder) if "column 6" in fault.what] == [
        "column 6 has cells and no name, and is not read"
    ]
