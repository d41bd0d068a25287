"""Whether a letter is signed, as people write it; what says neither yes nor no is named and never read as no."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from format_sources import read
from histeval.datasets import check, load_dataset
from histeval.datasets.formats.records import LetterDocument
from histeval.datasets.transfer import import_dataset

WORDS = {
    "TRUE": ("TRUE", "WAHR", "VRAI", "VERO", "VERDADERO", "VERDADEIRO", "WAAR", "ja", "Ja", "oui", "sì", "Sí", "sim",
             "yes", "x", "X", "1", "1.0", "✓", "j", "Y", "True", "unterschrieben"),
    "FALSE": ("FALSE", "FALSCH", "FAUX", "FALSO", "ONWAAR", "nein", "non", "no", "não", "nee", "0", "false", "n"),
}  # fmt: skip


@pytest.mark.parametrize("value", WORDS)
def test_words_of_seven_languages(value: str) -> None:
    cells = WORDS[value]
    table = "\n".join(["Nr;Absender;Unterschrift", *(f"{n};Sá;{cell}" for n, cell in enumerate(cells))])
    items, report = read("spreadsheet", {"a.csv": table})
    assert [item.signed for item in items if isinstance(item, LetterDocument)] == [value] * len(cells)
    assert len(report.repaired["words in Unterschrift read as TRUE or FALSE"]) == len(cells) - 1


def test_what_is_not_understood_is_kept_and_named(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(
        "Nr;Datum;Absender;Empfänger;signiert\n1;1931;A;B;ja\n2;1931;A;B;vielleicht\n", "utf-8"
    )
    report = import_dataset("letters", [tmp_path / "a.csv"], tmp_path / "d")
    what = "cells of signiert that say neither yes nor no, kept as they are: mend them"
    assert report.repaired[what] == ["a.csv: row 3: vielleicht"]
    (fault,) = [fault for fault in check("letters", tmp_path / "d") if fault.error]
    assert fault.what == "'vielleicht' is neither TRUE nor FALSE: it is not known whether the letter is signed"
    signed = {
        name: document.truth.signed for name, document in load_dataset("letters", tmp_path / "d").documents.items()
    }
    assert signed == {"1": True, "2": None}


@pytest.mark.parametrize(
    ("cell", "remedy"), [("WAHR", "Write TRUE"), ("nein", "Write FALSE"), ("?", "Write TRUE or FALSE")]
)
def test_a_table_that_is_read_as_it_is(make: Any, cell: str, remedy: str) -> None:
    table = f"document_number,send_date,sender_persons,receiver_persons,has_signatures\n01,None,None,None,{cell}\n"
    folder = make("letters_csv", {"ground_truth/letters.csv": table})
    (fault,) = [fault for fault in check("letters", folder) if "neither TRUE nor FALSE" in fault.what]
    assert (fault.error, fault.line, fault.item, fault.remedy) == (True, 2, "letter01, has_signatures", remedy)
    assert load_dataset("letters", folder).documents["letter01"].truth.signed is None


@pytest.mark.parametrize(("heading", "cells"), [("Signature", ("Ms 12", "Ms 13")), ("Firma", ("Hofer & Co", "Sá"))])
def test_a_heading_that_means_something_else(heading: str, cells: tuple[str, str]) -> None:
    table = f"Nr;Absender;{heading}\n1;Sá;{cells[0]}\n2;Sá;{cells[1]}\n"
    items, _ = read("spreadsheet", {"a.csv": table})
    letters = [item for item in items if isinstance(item, LetterDocument)]
    assert [letter.signed for letter in letters] == ["", ""]
    assert [letter.values[heading.lower()] for letter in letters] == [[cell] for cell in cells]
