"""Importing letters: equal to the published conversion, for strangers too, and never half written."""

from __future__ import annotations

import errno
import json
import math
import os
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import check, import_letters, load_dataset
from histeval.errors import DatasetError, OutputError
from support import DATA, needs_data

TRUTH = DATA / "rise" / "benchmarks" / "business_letters" / "ground_truths"


def plain(value: Any) -> Any:
    """JSON with NaN as null."""
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain(item) for item in value]
    return None if isinstance(value, float) and math.isnan(value) else value


@needs_data
@pytest.mark.data
def test_equal_to_the_published_files(tmp_path: Path) -> None:
    done = import_letters(TRUTH / "letters.csv", TRUTH / "persons.csv", tmp_path / "out")
    assert (done.letters, done.persons) == (57, 24)
    written = {path.name for path in (tmp_path / "out" / "ground_truths").iterdir()}
    published = {path.name for path in TRUTH.glob("*.json")} - {"letterFALSE.json"}
    assert written == published
    for name in written:
        ours = json.loads((tmp_path / "out" / "ground_truths" / name).read_text(encoding="utf-8"))
        assert ours == plain(json.loads((TRUTH / name).read_text(encoding="utf-8"))), name
    assert "NaN" not in (tmp_path / "out" / "ground_truths" / "persons.json").read_text(encoding="utf-8")
    assert load_dataset("letters", tmp_path / "out").fingerprint == load_dataset("letters", TRUTH.parent).fingerprint
    assert "16 spreadsheet leftovers" in str(done)


LETTERS = (
    "document_number;send_date;sender_persons;sender_persons_inscribed;receiver_persons;cargo;language;has_signatures\n"
    "1;1890-03-04;Sá, Inês;I. Sá;Novák, Petr | <Müller, Änne>;Wein | Öl;pt;TRUE\n"
    "2;1890-03-05;<<Novák, Petr>>;None;Sá, Inês;None;cs;FALSE\n"
)
PERSONS = (
    "identifier_propertyID;identifier_value;name;alternateName;job_name;citation_name\n"
    "VIAF;22;Sá, Inês;Inês Sá, Dona Inês;;\n"
    "local;P1;Novák, Petr;;krejčí;a\nlocal;P1;Novák, Petr;;starosta;a\n"
    ";;Müller, Änne;Ä. Müller;;\n"
)


@pytest.fixture
def tables(tmp_path: Path) -> tuple[Path, Path]:
    (tmp_path / "briefe.csv").write_text(LETTERS, encoding="utf-8-sig")
    (tmp_path / "personen.csv").write_text(PERSONS, encoding="utf-8")
    return tmp_path / "briefe.csv", tmp_path / "personen.csv"


def test_a_strangers_letters(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    """Other languages, another delimiter, a field more, a column that describes the letter."""
    done = import_letters(*tables, tmp_path / "out")
    dataset = load_dataset("letters", tmp_path / "out")
    assert dataset.documents["letter1"].truth.fields == {
        "send_date": ("1890-03-04",),
        "sender_persons": ("Sá, Inês",),
        "sender_persons_inscribed": ("I. Sá",),
        "receiver_persons": ("Novák, Petr", "<Müller, Änne>"),
        "cargo": ("Wein", "Öl"),
    }
    assert dataset.documents["letter1"].attributes["language"] == "pt"
    kinds = {field.name: (field.kind, field.authority, field.headline) for field in dataset.description.fields}
    assert kinds["cargo"] == ("text", None, False)
    assert kinds["receiver_persons"] == ("person", "persons", True)
    assert done.fields == dataset.description.fields
    persons = {person.name: person for person in dataset.authorities["persons"]}
    assert list(persons) == ["Sá, Inês", "Novák, Petr", "Müller, Änne"]
    assert persons["Sá, Inês"].identifiers == {"VIAF": "22"}
    occupations = json.loads((tmp_path / "out/ground_truths/persons.json").read_text())[1]["hasOccupation"]
    assert [item["name"] for item in occupations] == ["krejčí", "starosta"]
    faults = [fault for fault in check("letters", tmp_path / "out") if fault.error]
    assert [(fault.item, fault.remedy) for fault in faults] == [
        ("Sá, Inês", "The cell to paste: Inês Sá, Dona Inês, I. Sá")
    ]


def test_persons_are_recognised_by_the_list(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    letters = tmp_path / "l.csv"
    letters.write_text('id,witness,place_sent\na,"Sá, Inês",Porto\n', encoding="utf-8")
    fields = import_letters(letters, tables[1], tmp_path / "out").fields
    assert [(field.name, field.kind, field.authority) for field in fields] == [
        ("witness", "person", "persons"),
        ("place_sent", "place", None),
    ]
    dataset = load_dataset("letters", tmp_path / "out")
    assert list(dataset.documents) == ["a"]
    assert all(field.headline for field in dataset.description.fields)


def test_without_persons(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    import_letters(tables[0], None, tmp_path / "out")
    dataset = load_dataset("letters", tmp_path / "out")
    assert dataset.authorities == {}
    assert all(field.authority is None for field in dataset.description.fields)


def test_a_dataset_toml_that_is_there_is_kept(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    out = tmp_path / "out"
    out.mkdir()
    (out / "dataset.toml").write_text('task = "letters"\nname = "mine"\n')
    assert "dataset.toml was there and is kept as it is" in import_letters(*tables, out).notes
    assert load_dataset("letters", out).name == "mine"


def test_truth_that_is_there_is_never_overwritten(tmp_path: Path, tables: tuple[Path, Path]) -> None:
    import_letters(*tables, tmp_path / "out")
    before = snapshot(tmp_path / "out")
    with pytest.raises(OutputError, match="ground_truths is there already; name another folder"):
        import_letters(*tables, tmp_path / "out")
    assert snapshot(tmp_path / "out") == before


@pytest.mark.parametrize("moment", range(1, 6))
@pytest.mark.parametrize("exists", [False, True])
def test_nothing_is_half_written(
    tmp_path: Path, tables: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch, moment: int, exists: bool
) -> None:
    """The disk is full at the first, second ... write, and at the last rename."""
    out = tmp_path / "out"
    if exists:
        (out / "images").mkdir(parents=True)
        (out / "images" / "letter1.jpg").write_bytes(b"x")
    before = snapshot(tmp_path)
    calls = 0

    def full(call: Any) -> Any:
        def wrapped(*arguments: Any) -> Any:
            nonlocal calls
            calls += 1
            if calls == moment:
                raise OSError(errno.ENOSPC, "No space left on device")
            return call(*arguments)

        return wrapped

    monkeypatch.setattr(os, "fsync", full(os.fsync))
    monkeypatch.setattr(os, "rename", full(os.rename))
    with pytest.raises(OutputError, match="could not be written: the disk is full"):
        import_letters(*tables, out)
    monkeypatch.undo()
    assert snapshot(tmp_path) == before
    import_letters(*tables, out)


def snapshot(folder: Path) -> dict[str, bytes | None]:
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None for path in folder.rglob("*")
    }


@pytest.mark.parametrize(
    ("old", "new", "sentence"),
    [
        ("document_number", "number", "line 1: has no column document_number or document or id"),
        ("\n2;", "\n1;", "line 3, letter1: stands a second time"),
        ("\n2;", "\n../../x;", "line 3: has the document_number '../../x', which cannot name a file"),
        ("\n2;", "\n;", "line 3: has the document_number '', which cannot name a file"),
        ("\n2;", "\na\tb;", "line 3: has the document_number"),
        (";cargo;", ";what cargo?;", "line 1: the name 'what cargo\\?' is no field name"),
        ("FALSE", "FALSE;more", "line 3: has 9 cells where the first row names 8"),
        (LETTERS, "document_number,a\nFALSE,FALSE\n", "holds no letter"),
        (LETTERS, "", "is empty"),
    ],
)
def test_tables_that_cannot_be_imported(
    tmp_path: Path, tables: tuple[Path, Path], old: str, new: str, sentence: str
) -> None:
    assert old in LETTERS
    tables[0].write_text(LETTERS.replace(old, new), encoding="utf-8")
    with pytest.raises(DatasetError, match=sentence):
        import_letters(*tables, tmp_path / "out")
    assert not (tmp_path / "out").exists()
