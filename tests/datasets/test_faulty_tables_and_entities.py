"""Faulty files of entities and letters: one sentence each, and nothing half written."""

from __future__ import annotations

import io
import json
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import openpyxl
import pytest

from histeval.cli.app import INTERNAL, run
from histeval.datasets.formats import spacy_docbin, workbook

Content = str | bytes | Callable[[], bytes]


def sheet(*rows: list[Any]) -> bytes:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def changed(data: bytes, part: str, change: Callable[[bytes], bytes], *, level: int = 9) -> bytes:
    """A workbook with one part made into another."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(data)) as old, zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, True, level) as new:
        for item in old.infolist():
            content = old.read(item)
            new.writestr(item.filename, change(content) if item.filename == part else content)
    return out.getvalue()


SHEET = "xl/worksheets/sheet1.xml"
LETTERS = sheet(["id", "date", "sender"], ["1", "1890-03-04", "Sá"])
BOMB = changed(LETTERS, SHEET, lambda data: data.replace(b"</sheetData>", b" " * (40 << 20) + b"</sheetData>"))
MANY_PARTS = io.BytesIO()
with zipfile.ZipFile(MANY_PARTS, "w") as _archive:
    for _number in range(60):
        _archive.writestr(f"xl/{_number}.xml", "<a/>")
LAUGHS = b'<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]>'

FAULTS: dict[str, tuple[str, dict[str, Content], str]] = {
    "zip bomb in a workbook": ("letters", {"a.xlsx": BOMB}, "a.xlsx: unpacks to more than 32 MB"),
    "too many parts": ("letters", {"a.xlsx": MANY_PARTS.getvalue()}, "has more than 50 parts"),
    "entities in a workbook": (
        "letters", {"a.xlsx": changed(LETTERS, SHEET, lambda d: d.replace(b"<worksheet", LAUGHS + b"<worksheet", 1))},
        "sheet1.xml: declares a document type",
    ),
    "a row at the end of the world": (
        "letters", {"a.xlsx": changed(LETTERS, SHEET, lambda d: d.replace(b'<row r="2"', b'<row r="99999999999"'))},
        "has more than 200000 rows",
    ),
    "a column at the end of the world": (
        "letters", {"a.xlsx": changed(LETTERS, SHEET, lambda d: d.replace(b'r="C2"', b'r="XFD2"'))},
        "has more than 1000 columns",
    ),
    "a workbook cut off": ("letters", {"a.xlsx": LETTERS[:-200]}, "is no workbook: File is not a zip file"),
    "a workbook that is text": ("letters", {"a.xlsx": b"PK\x03\x04 not one"}, "is no workbook"),
    "an old workbook": ("letters", {"a.xls": b"\xd0\xcf\x11\xe0" + bytes(600)}, "is an old .xls workbook"),
    "a workbook of other parts": (
        "letters", {"a.xlsx": changed(LETTERS, SHEET, lambda d: b"<worksheet><sheetData><row>")},
        "is no workbook that can be read",
    ),
    "an empty sheet": ("letters", {"a.xlsx": sheet()}, "holds no table"),
    "a heading twice": ("letters", {"a.xlsx": sheet(["id", "date", "date"])}, "column date: stands twice"),
    "two letters with one id": ("letters", {"a.csv": "id,date\n1,1890\n1,1891\n"}, "line 3, 1: stands a second time"),
    "two letters with one id but for its case": ("letters", {"a.csv": "id,date\na,1\nA,2\n"}, "stands a second time"),
    "a letter without an id": ("letters", {"a.csv": "id,date\n,1890\n"}, "line 2: has an empty id"),
    "a row with a cell too many": ("letters", {"a.csv": "id,date\n1,1890,x\n"}, "line 2: has 3 cells where"),
    "quotes that never end": ("letters", {"a.csv": 'id,date\n1,"1890\n'}, "a.csv, line 2: is not CSV"),
    "a list without a name": ("letters", {"a.csv": "id,date\n1,1\n", "p.json": '[{"name": "A"}, {}]'}, "not a list of"),
    "a person without a name": (
        "letters", {"a.csv": "id,date\n1,1890\n", "persons.csv": "name,alternateName\n,B\n"}, "line 2: has no name"
    ),
    "two lists of persons": (
        "letters", {"a.csv": "id,date\n1,2\n", "persons.csv": "name,gnd\nA,1\n", "people.csv": "name,gnd\nB,2\n"},
        "is a second list of persons",
    ),
    "TEI without a letter": ("letters", {"a.xml": '<TEI xmlns="http://www.tei-c.org/ns/1.0"/>'}, "has no correspDesc"),
    "TEI with entities": (
        "letters", {"a.xml": LAUGHS.decode().replace(" a ", " TEI ") + "<TEI>&c;</TEI>"}, "declares the entity b"
    ),
    "mixed column counts": ("directories", {"a.conll": "a\tB-X\nb\tO\nc\n"}, "line 3: has 1 columns where"),
    "no labels": ("directories", {"a.tsv": "TOKEN\tNE-COARSE-LIT\n"}, "holds no token"),
    "offsets past the end": ("directories", {"a.txt": "ab", "a.ann": "T1\tX 1 9\tb\n"}, "in a text of 2 characters"),
    "overlapping entities": (
        "directories", {"a.jsonl": '{"text": "abcd", "label": [[0, 3, "X"], [2, 4, "Y"]]}'}, "crosses another"
    ),
    "two documents with one id": (
        "directories", {"a.jsonl": '{"id": 1, "text": "a", "spans": []}\n{"id": "1", "text": "b", "spans": []}\n'},
        "line 2, 1: stands a second time (first in line 1)",
    ),
    "an entity that is no object": ("directories", {"a.jsonl": '{"text": "a", "spans": [3]}'}, "has an entity without"),
    "JSON cut off": ("directories", {"a.jsonl": '{"text": "a", "spans": []}\n{"te'}, "a.jsonl, line 2: is not JSON"),
    "JSON without a bottom": (
        "directories", {"a.jsonl": '{"text": "a", "spans": []}\n' + '{"a":' * 5000}, "line 2: is"
    ),
    "a label that is half": ("directories", {"a.jsonl": '{"text": "a", "label": [[0, 1, "X"]]}\n'
                                             '{"text": "a", "label": [[0, 1]]}'}, "labels that are not [start, end"),
    "negative offsets": ("directories", {"a.jsonl": '{"text": "a", "label": [[-1, 1, "X"]]}'}, "has an entity without"),
    "a region of another text": (
        "directories",
        {"a.json": json.dumps([{"id": 1, "data": {"text": "abc"}, "annotations": [{"result": [
            {"type": "labels", "value": {"start": 0, "end": 2, "text": "bc", "labels": ["X"]}}]}]}])},
        "task 1: has a region with the text 'bc' where the text has 'ab'",
    ),
    "markup that crosses": ("directories", {"a.txt": "<A>a<B>b</A></B>\n"}, "a.txt, line 1, character 9"),
    "markup with entities": (
        "directories", {"a.xml": "<?xml version='1.0'?>" + LAUGHS.decode() + "<a>&c;</a>"}, "declares the entity b"
    ),
    "a DocBin bomb": ("directories", {"a.spacy": zlib.compress(bytes(40 << 20))}, "unpacks to more than 32 MB"),
    "a DocBin cut off": ("directories", {"a.spacy": zlib.compress(bytes(999))[:-4]}, "is cut off"),
    "UTF-16": ("directories", {"a.conll": "a\tB-X\n".encode("utf-16")}, "a.conll: is UTF-16, not UTF-8"),
}  # fmt: skip


@pytest.fixture(autouse=True)
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """The limits of the code are larger than a test should unpack."""
    monkeypatch.setattr(workbook, "UNPACKED_LIMIT", 32 << 20)
    monkeypatch.setattr(workbook, "PARTS_LIMIT", 50)
    monkeypatch.setattr(spacy_docbin, "UNPACKED_LIMIT", 32 << 20)


@pytest.mark.parametrize("name", FAULTS)
def test_one_sentence_and_nothing_written(name: str, tmp_path: Path, capsys: Any) -> None:
    task, files, sentence = FAULTS[name]
    (tmp_path / "in").mkdir()
    for file, content in files.items():
        assert not callable(content)
        data = content.encode() if isinstance(content, str) else content
        (tmp_path / "in" / file).write_bytes(data)
    out = tmp_path / "out"
    sources = [str(tmp_path / "in" / file) for file in files]
    for target in (["--out", str(out)], ["--answers", str(tmp_path / "answers.jsonl")]):
        status = run(["import", task, *sources, *target])
        said = capsys.readouterr()
        if name == "overlapping entities" and "--answers" in target:
            assert status == 0  # an answer may cross; it is the truth that may not
            continue
        assert status == 2, said
        assert sentence in said.err
        assert len(said.err.strip().split("\n")) == 1
        assert INTERNAL not in said.err
        assert not said.out.strip()
    assert sorted(path.name for path in tmp_path.iterdir()) in (["in"], ["answers.jsonl", "in"])


def test_there_are_enough() -> None:
    assert len(FAULTS) >= 30
