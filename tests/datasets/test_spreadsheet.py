"""Letters in spreadsheets of other people: headings in other languages, mappings, kinds, authority lists, XLSX."""

from __future__ import annotations

import datetime
import io
import json
from pathlib import Path
from typing import Any

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_sources import read
from histeval import load_dataset, score
from histeval.cli.app import run
from histeval.datasets import check, import_letters
from histeval.datasets.formats import FORMATS, ImportReport
from histeval.datasets.formats.records import AuthorityList, Item, LetterDocument, authority_entry
from histeval.datasets.transfer import export_dataset, import_answers, import_dataset
from histeval.errors import DatasetError, UsageError
from support import DATA, examples, needs_data

CARTAS: list[list[Any]] = [
    ["Cartas da capitania de Vilar, lista de 2024"],
    ["Cota", "Data", "Remetente", "Destinatário", "Lugares mencionados", "Folhas", "Navio", "Idioma", "Notas internas"],
    ["VL-1", datetime.datetime(1907, 3, 4), "Sá, Inês", "Novák, Petr", "Vilar; Porto", 2, "Aurora", "pt", "ver caixa"],
    ["VL-2", "05.03.1907", "P. Novák", "Sá, Inês; Braga, Rui", "Lisboa", 12.0, "Aurora; Belém", "fr", None],
    ["VL-3", "sem data", "GND 118540238", "Sá, Inês", None, None, None, "pt", None],
]
PESSOAS: list[list[Any]] = [
    ["Nome", "Variantes", "GND"],
    ["Sá, Inês", "Inês Sá; D. Inês de Sá", "118540238"],
    ["Novák, Petr", "P. Novák", None],
    ["Braga, Rui", None, "https://d-nb.info/gnd/100000003"],
]


def workbook(sheets: dict[str, list[list[Any]]]) -> bytes:
    book = openpyxl.Workbook()
    book.remove(book.active)
    for title, rows in sheets.items():
        sheet = book.create_sheet(title)
        for row in rows:
            sheet.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


@pytest.fixture
def cartas(tmp_path: Path) -> Path:
    (tmp_path / "cartas.xlsx").write_bytes(workbook({"Cartas": CARTAS, "Pessoas": PESSOAS, "Rascunho": [["a", "b"]]}))
    return tmp_path / "cartas.xlsx"


def test_a_portuguese_workbook_becomes_a_dataset_without_a_mapping(cartas: Path, tmp_path: Path) -> None:
    report = import_dataset("letters", [cartas], tmp_path / "d")
    found = load_dataset("letters", tmp_path / "d")
    kinds = {field.name: (field.kind, field.authority, field.headline) for field in found.description.fields}
    assert kinds == {
        "send_date": ("date", None, True),
        "sender_persons": ("person", "persons", True),
        "receiver_persons": ("person", "persons", True),
        "mentioned_places": ("place", None, False),
        "folhas": ("number", None, False),
        "navio": ("text", None, False),
        "notas_internas": ("text", None, False),
    }
    truth = {name: document.truth.fields for name, document in found.documents.items()}
    assert truth["VL-1"]["send_date"] == ("1907-03-04",)
    assert truth["VL-2"] == {
        "send_date": ("1907-03-05",),
        "sender_persons": ("Novák, Petr",),
        "receiver_persons": ("Sá, Inês", "Braga, Rui"),
        "mentioned_places": ("Lisboa",),
        "folhas": ("12",),
        "navio": ("Aurora; Belém",),
        "notas_internas": (),
    }
    assert truth["VL-3"]["send_date"] == ("None",)
    assert truth["VL-3"]["sender_persons"] == ("Sá, Inês",)  # by her GND number
    persons = {entry.name: entry for entry in found.authorities["persons"]}
    assert persons["Sá, Inês"].alternate_names == ("Inês Sá", "D. Inês de Sá")
    assert persons["Braga, Rui"].identifiers == {"GND": "100000003"}
    assert {document.attributes["language"] for document in found.documents.values()} == {"pt", "fr"}
    assert "column Remetente is read as sender_persons (person)" in report.notes
    assert report.left_out == {
        "lines above the row of column names": ["Cartas da capitania de Vilar, lista de 2024"],
        "sheets (name another with the option sheet)": ["cartas.xlsx [Rascunho]"],
    }
    assert not [fault for fault in check("letters", tmp_path / "d") if fault.error]


def test_answers_are_scored_by_kind(cartas: Path, tmp_path: Path) -> None:
    import_dataset("letters", [cartas], tmp_path / "d")
    answers = {
        "VL-1": {"send_date": ["1907-03-04"], "sender_persons": ["D. Inês de Sá"], "receiver_persons": ["Braga, Rui"],
                 "mentioned_places": ["Porto", "Faro"], "folhas": ["2.0"]},
        "VL-2": {"send_date": ["5.3.1907"], "sender_persons": ["P. Novák"], "receiver_persons": ["Inês Sá"],
                 "mentioned_places": "Lisboa", "folhas": 12},
        "VL-3": {"send_date": None, "sender_persons": ["https://d-nb.info/gnd/118540238"],
                 "receiver_persons": ["Sá, Inês"], "folhas": ["1"]},
    }  # fmt: skip
    counts = score("letters", tmp_path / "d", answers).as_json()["counts"]
    fields = ("send_date", "sender_persons", "receiver_persons", "mentioned_places", "folhas")
    assert [tuple(counts[f"{name}_{kind}"] for kind in ("tp", "fp", "fn")) for name in fields] == [
        (1, 1, 1), (2, 1, 1), (2, 1, 2), (2, 1, 1), (2, 1, 0)
    ]  # fmt: skip
    corrected = score("letters", tmp_path / "d", answers, protocol="corrected").as_json()["counts"]
    assert (corrected["send_date_tp"], corrected["send_date_fp"]) == (2, 0)
    assert (corrected["sender_persons_tp"], corrected["sender_persons_fp"]) == (3, 0)  # the identifier is her


def test_a_mapping_in_dataset_toml(cartas: Path, tmp_path: Path) -> None:
    out = tmp_path / "d"
    out.mkdir()
    (out / "dataset.toml").write_text(
        """task = "letters"
name = "vilar"
attributes = ["language"]
[import]
id = "Cota"
[authorities]
people = "ground_truths/people.json"
[[fields]]
name = "send_date"
kind = "date"
column = "Data"
[[fields]]
name = "sender_persons"
kind = "person"
authority = "people"
[[fields]]
name = "ships"
kind = "list"
column = "Navio"
""",
        encoding="utf-8",
    )
    (tmp_path / "people.json").write_text(
        json.dumps([{"name": "Sá, Inês", "alternateName": ["Inês"], "identifier": {"GND": "118540238"}}]), "utf-8"
    )
    report = import_dataset("letters", [cartas, tmp_path / "people.json"], out, options={"sheet": "Cartas"})
    found = load_dataset("letters", out)
    assert found.name == "vilar"
    assert found.documents["VL-2"].truth.fields == {
        "send_date": ("1907-03-05",), "sender_persons": ("P. Novák",), "ships": ("Aurora", "Belém")
    }  # fmt: skip
    assert found.authorities["people"][0].name == "Sá, Inês"
    assert "cartas.xlsx [Cartas]: Destinatário" in report.left_out["columns"]
    assert "dataset.toml was there and is kept as it is" in report.notes


def test_a_mapping_of_options_with_identifiers_beside_the_names() -> None:
    table = (
        "Sig;am;de;de (GND);para;pp\nA 1;03/04/1890;Sá, I.|Lima, J.;118540238|100000003;Novák;12\n"
        "A 2;1890;Sá, Inês;118540238;;7\n"
    )
    items, report = read(
        "spreadsheet", {"lista.csv": table}, id="Sig", dates="month_first",
        columns={
            "send_date": "am",
            "sender_persons": {"column": "de", "separator": "|", "identifiers": "de (GND)"},
            "recipients": {"column": "para", "kind": "person"},
            "pages": {"column": "pp", "kind": "number"},
        },
    )  # fmt: skip
    letters = [item for item in items if isinstance(item, LetterDocument)]
    assert [letter.id for letter in letters] == ["A 1", "A 2"]
    assert letters[0].values == {
        "send_date": ["1890-03-04"], "sender_persons": ["Sá, I.", "Lima, J."], "recipients": ["Novák"], "pages": ["12"]
    }  # fmt: skip
    (persons,) = [item for item in items if isinstance(item, AuthorityList)]
    assert persons.name == "persons"
    assert [(e["name"], e["alternateName"]) for e in persons.entries] == [("Sá, I.", ["Sá, Inês"]), ("Lima, J.", [])]
    assert report.repaired == {"dates written as ISO": ["lista.csv: row 2"]}


def test_answers_from_a_spreadsheet_with_the_same_headings(cartas: Path, tmp_path: Path) -> None:
    import_dataset("letters", [cartas], tmp_path / "d")
    data = load_dataset("letters", tmp_path / "d")
    report = import_answers("letters", [cartas], tmp_path / "a.jsonl", dataset=data)
    result = score("letters", data, tmp_path / "a.jsonl").as_json()
    assert (result["counts"]["sender_persons_tp"], result["counts"]["sender_persons_fp"]) == (2, 1)
    # The identifier in the third letter stays what the answer says; only `corrected` takes it for the name.
    corrected = score("letters", data, tmp_path / "a.jsonl", protocol="corrected").as_json()
    assert corrected["metrics"]["f1_micro"]["value"] == 1.0
    assert report.left_out["authority lists, which answer nothing"] == ["persons"]


@needs_data
@pytest.mark.data
def test_published_tables_give_the_same_as_their_own_import(tmp_path: Path) -> None:
    truth = DATA / "rise" / "benchmarks" / "business_letters" / "ground_truths"
    import_letters(truth / "letters.csv", truth / "persons.csv", tmp_path / "a")
    report = import_dataset("letters", [truth / "letters.csv", truth / "persons.csv"], tmp_path / "b")
    for path in (tmp_path / "a" / "ground_truths").iterdir():
        assert json.loads((tmp_path / "b" / "ground_truths" / path.name).read_text("utf-8")) == json.loads(
            path.read_text("utf-8")
        ), path.name
    assert load_dataset("letters", tmp_path / "a").fingerprint == load_dataset("letters", tmp_path / "b").fingerprint
    assert len(report.left_out["spreadsheet leftovers (rows of FALSE)"]) == 16


def test_export_gives_every_value_back(cartas: Path, tmp_path: Path) -> None:
    import_dataset("letters", [cartas], tmp_path / "d")
    data = load_dataset("letters", tmp_path / "d")
    report = export_dataset(data, "spreadsheet", tmp_path / "e")
    assert report.lost == {}
    import_dataset("letters", [tmp_path / "e"], tmp_path / "again", options={"dates": "keep"})
    again = load_dataset("letters", tmp_path / "again")
    assert {k: dict(d.truth.fields) for k, d in again.documents.items()} == {
        k: dict(d.truth.fields) for k, d in data.documents.items()
    }
    assert again.authorities == data.authorities


WORDS = st.text(alphabet="aÉ ,;<>\"'\n=-#1", min_size=1, max_size=8).map(str.strip).filter(bool)


@settings(max_examples=examples(40), deadline=None)
@given(st.lists(st.tuples(st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=2)), min_size=1, max_size=4))
def test_what_is_written_is_read_again(rows: list[tuple[list[str], list[str]]]) -> None:
    given: list[Item] = [
        LetterDocument(
            f"L{number}", {"sender_persons": senders, "mentioned_places": places}, "TRUE", {"language": "pt"}
        )
        for number, (senders, places) in enumerate(rows)
    ]
    persons = AuthorityList("persons", [authority_entry("Sá, Inês", ["Inês"], {"GND": "118540238"})])
    report = ImportReport("letters", "spreadsheet", verb="written")
    written = FORMATS["spreadsheet"].write([*given, persons], {}, report)
    assert report.lost == {}
    files: dict[str, str | bytes] = dict(written)
    items, _ = read("spreadsheet", files, separator="|")
    back = {item.id: item for item in items if isinstance(item, LetterDocument)}
    assert {k: (v.values, v.signed, v.attributes) for k, v in back.items()} == {
        one.id: (one.values, one.signed, one.attributes) for one in given if isinstance(one, LetterDocument)
    }
    assert [item.entries for item in items if isinstance(item, AuthorityList)] == [persons.entries]


def test_values_that_hold_the_separator_are_reported() -> None:
    report = ImportReport("letters", "spreadsheet", verb="written")
    FORMATS["spreadsheet"].write([LetterDocument("1", {"a": ["x|y"], "b": ["z"]})], {}, report)
    assert report.lost == {"values that hold | or blanks at an edge": ["1: a"]}


def test_cells_of_a_workbook() -> None:
    rows: list[list[Any]] = [
        ["id", "date", "pages", "signed", "place"],
        [1, datetime.date(1926, 2, 16), 2.5, True, "=A2"],
        [2, datetime.datetime(1926, 2, 17, 9, 30), 3, False, "#N/A"],
    ]
    items, report = read("spreadsheet", {"a.xlsx": workbook({"Letters": rows})})
    assert [(item.id, item.values["date" if "date" in item.values else "send_date"]) for item in items] == [
        ("1", ["1926-02-16"]), ("2", ["1926-02-17"])
    ]  # fmt: skip
    assert [item.values["pages"] for item in items] == [["2.5"], ["3"]]
    assert [item.signed for item in items] == ["TRUE", "FALSE"]
    assert report.left_out == {
        "formulas without a value (open and save the file in a spreadsheet program)": ["a.xlsx [Letters]: row 2"],
        "cells with an error (#N/A)": ["a.xlsx [Letters]: row 3"],
    }


def test_encodings_and_delimiters() -> None:
    text = "Nr;Datum;Absender;Empfänger\n1;16. Februar 1926;Müller, Änne;Sá\n"
    with pytest.raises(DatasetError, match="is not UTF-8"):
        read("spreadsheet", {"a.csv": text.encode("windows-1252")})
    (letter,), _ = read("spreadsheet", {"a.csv": text.encode("windows-1252")}, encoding="windows-1252")
    assert letter.values == {
        "send_date": ["1926-02-16"],
        "sender_persons": ["Müller, Änne"],
        "receiver_persons": ["Sá"],
    }
    with pytest.raises(UsageError, match="there is no encoding 'klingon'"):
        read("spreadsheet", {"a.csv": text}, encoding="klingon")


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"columns": {"send_date": "Datum"}}, DatasetError, "field send_date: has no column 'Datum'. Its columns are"),
        ({"columns": {"send-date": "b"}}, UsageError, "names the field 'send-date'"),
        ({"columns": {"x": {"column": "b", "kind": "colour"}}}, UsageError, "has the kind 'colour'"),
        ({"columns": {"x": 3}}, UsageError, "columns.x takes a heading"),
        ({"columns": ["a"]}, UsageError, "the option columns is a table"),
        ({"id": "Cota"}, DatasetError, "id: has no column 'Cota'"),
        ({"attributes": "Idioma"}, DatasetError, "attributes: has no column 'Idioma'"),
        ({"dates": "guess"}, UsageError, "the option dates takes"),
    ],
)
def test_mappings_that_fit_nothing(options: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence.replace(".", r"\.")):
        read("spreadsheet", {"a.csv": "id,date,b\n1,3.4.1890,x\n"}, **options)


def test_by_the_command_line(cartas: Path, tmp_path: Path, capsys: Any) -> None:
    data, answers = str(tmp_path / "d"), tmp_path / "a.jsonl"
    answers.write_text('{"document": "VL-1", "record": {"send_date": ["1907-03-04"]}}\n', encoding="utf-8")
    assert run(["import", "metadata", str(cartas), "--out", data, "--option", "columns.ships=Navio"]) == 0
    assert "Navio" in capsys.readouterr().out
    assert run(["check", "letters", data]) == 0
    assert run(["score", "letters", data, str(answers), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out.strip().split("\n")[-1])["documents"] == 3
