"""What is doubtful in cells of names is said by the import already, and by check with the likely remedy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets import check
from histeval.datasets.formats.headings import folded
from histeval.datasets.transfer import import_dataset
from histeval.datasets.values import Nearest
from support import examples

PERSONS = "Name;Varianten\nKovács, Ágnes;\nNagy, Pál;\nRoth, Emil;\nSá, Inês;\n"


def letters(tmp_path: Path, rows: list[str], head: str = "Nr|Datum|Absender|Empfänger") -> tuple[str, list[Any]]:
    table = "\n".join([head, *rows]).replace("|", "\t")
    (tmp_path / "briefe.tsv").write_text(table, encoding="utf-8")
    (tmp_path / "personen.csv").write_text(PERSONS, encoding="utf-8")
    report = import_dataset("letters", [tmp_path / "briefe.tsv", tmp_path / "personen.csv"], tmp_path / "d")
    return "\n".join(report.notes), check("letters", tmp_path / "d")


def test_doubts_are_told_by_the_import(tmp_path: Path) -> None:
    notes, faults = letters(
        tmp_path,
        ["1|1931|<Roth, Emil|Nagy, Pál", "2|1931|Nagy, Pál / None|Roth, Emil;Nagy, Pál", "3|1931|Roth, Emil|Roth, Emi"],
    )
    assert "to mend: values whose marker is not <Name> or <<Name>> (1, sender_persons)" in notes
    assert "to mend: cells with None beside other values (2, sender_persons)" in notes
    assert "to mend: names in receiver_persons that are not in the list of persons (3, receiver_persons)" in notes
    assert "`histeval check` says where each of them is" in notes
    assert {fault.item for fault in faults if fault.error} == {
        "1, sender_persons", "2, sender_persons", "3, receiver_persons"
    }  # fmt: skip


def test_a_semicolon_that_parts_nothing(tmp_path: Path) -> None:
    rows = ["1|1931|Roth, Emil / Sá, Inês|Nagy, Pál", "2|1931|Roth, E.; Unbekannt, X.|Nagy, Pál"]
    (tmp_path / "d").mkdir()
    head = "document_number|send_date|sender_persons|receiver_persons"
    notes, faults = letters(tmp_path, rows, head)
    assert "to mend: cells of names with a ; in them, read as one name (letter2, sender_persons)" in notes
    (remedy,) = [fault.remedy for fault in faults if "'Roth, E.; Unbekannt, X.'" in fault.what]
    assert remedy.startswith("If these are several, part them")


def test_an_import_without_doubts_says_nothing(tmp_path: Path) -> None:
    notes, faults = letters(tmp_path, ["1|1931|<Roth, Emil>|Nagy, Pál", "2|None|None|<<Sá, Inês>>"])
    assert "to mend" not in notes
    assert [fault for fault in faults if fault.error] == []


@pytest.mark.parametrize(
    ("written", "remedy"),
    [
        ("Kovács, Agnes", "Is it Kovács, Ágnes? Else add it to the list of persons"),
        ("KOVACS, AGNES", "Is it Kovács, Ágnes? Else add it to the list of persons"),
        ("Rot, Emil", "Is it Roth, Emil? Else add it to the list of persons"),
        ("Farkas, Béla", "Add it to the list of persons"),
    ],
)
def test_the_nearest_name_is_proposed(tmp_path: Path, written: str, remedy: str) -> None:
    _, faults = letters(tmp_path, [f"1|1931|{written}|Nagy, Pál"])
    assert [fault.remedy for fault in faults if fault.error and repr(written) in fault.what] == [remedy]


def test_columns_that_are_swapped(tmp_path: Path) -> None:
    rows = [f"{n}|Roth, Emil|{n}.4.1931|Nagy, Pál" for n in range(1, 6)]
    notes, faults = letters(tmp_path, rows)
    assert "most names in sender_persons are unknown: are the columns swapped?" in notes
    (fault,) = [fault for fault in faults if "columns swapped" in fault.remedy]
    assert (fault.what, fault.item) == ("5 of 5 names are not in the list of persons", "sender_persons")


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.text("abcáé, ", min_size=1, max_size=8), min_size=1, max_size=5), st.text("abcáé, ", max_size=8))
def test_nearest_is_one_of_the_names_and_finds_them(names: list[str], name: str) -> None:
    found = Nearest(names).find(name)
    assert found is None or found in names
    if folded(name) and folded(name) in {folded(one) for one in names}:
        assert found is not None
        assert folded(found) == folded(name)
