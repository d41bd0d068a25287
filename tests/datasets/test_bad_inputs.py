"""Datasets that cannot be read: one clear sentence each, never a traceback, never a wrong number."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from dataset_samples import ENTRIES, LETTER, LETTERS_CSV, TRADE
from histeval.datasets import check, load_dataset
from histeval.errors import DatasetError, HistevalError

TABLE = "ground_truth/letters.csv"
LINES = "entries.jsonl"
ONE = "ground_truths/letter01.json"
FOLK = "ground_truths/persons.json"
GOLD = "dataset/41-ner_ref_from_pero/gold.csv"
ALL = "dataset/31-ner_align_pero/all.json"

BAD: list[tuple[str, dict[str, Any], str]] = [
    ("letters", {ONE: b""}, "letter01.json: is empty"),
    ("letters", {ONE: b"\xff\xfe{\x00}\x00"}, "letter01.json: is UTF-16, not UTF-8. Save it as UTF-8"),
    ("letters", {ONE: b'{"a": "\xe9"}'}, "letter01.json, line 1: is not UTF-8 (byte 0xe9). Save it as UTF-8"),
    ("letters", {ONE: '{"send_date": [\n'}, "letter01.json, line 2: is not JSON: Expecting value"),
    ("letters", {ONE: "[]"}, "letter01.json: is not a JSON object"),
    ("letters", {ONE: "[" * 100_000}, "letter01.json: is nested deeper than 100 levels"),
    ("letters", {ONE: {**LETTER, "send_date": [["x"]]}}, "letter01.json, send_date: is not a list of texts"),
    ("letters", {ONE: b"\x00" * 100}, "letter01.json: is a binary file, not UTF-8"),
    ("letters", {FOLK: None}, "ground_truths: holds neither persons.json nor persons.csv. Add the list of persons"),
    ("letters", {FOLK: {"a": 1}}, "persons.json: is not a list of persons"),
    ("letters", {FOLK: [{"alternateName": []}]}, "persons.json, entry 1: has no name"),
    ("letters", {FOLK: [{"name": "X", "alternateName": {"a": 1}}]}, "has an alternateName that is not a list of texts"),
    ("letters", {"dataset.toml": "task ="}, "dataset.toml: is not TOML: Invalid value"),
    ("letters", {"dataset.toml": 'task = "manuscripts"'}, "is a dataset for manuscripts, not for letters"),
    ("letters", {"dataset.toml": 'task = "letters"\ntitle = 1'}, "dataset.toml, line 2, title: is not a text"),
    ("letters", {"dataset.toml": 'task = "letters"\n[truth]\nfile = "x.csv"'}, "x.csv: there is no such file"),
    ("letters", {"dataset.toml": 'task = "letters"\n[truth]\nfile = "../x.csv"'}, "leads out of its folder"),
    ("letters_csv", {TABLE: ""}, "letters.csv: is empty. Write a first row"),
    ("letters_csv", {TABLE: "a,b\n1,2\n"}, "letters.csv, line 1: has no column document_number"),
    ("letters_csv", {TABLE: LETTERS_CSV[TABLE].replace("\n02", "\n01")}, "line 3, letter01: stands a second time"),
    ("letters_csv", {TABLE: LETTERS_CSV[TABLE].replace("\n02", "\n")}, "line 3: has an empty document_number"),
    ("letters_csv", {TABLE: LETTERS_CSV[TABLE] + '03,"open\n'}, "letters.csv, line 4: is not CSV: unexpected end"),
    ("letters_csv", {TABLE: LETTERS_CSV[TABLE].replace("FALSE", "FALSE,1")}, "line 3: has 7 cells where the first"),
    ("letters_csv", {"ground_truth/persons.csv": "id\n1\n"}, "persons.csv, line 1: has no column name"),
    ("letters_csv", {TABLE: None}, "ground_truth: holds neither letterNN.json nor letters.csv"),
    ("letters_csv", {TABLE: LETTERS_CSV[TABLE].split("\n")[0]}, "holds no documents for letters"),
    ("manuscripts", {"ground_truths/image_1.json": {"[1r]": ["x"]}}, "image_1.json, [1r]: is not an object with folio"),
    ("manuscripts", {"ground_truths/image_1.json": {"[1r]": [{"text": []}]}}, "image_1.json, [1r]/text: is not a text"),
    ("manuscripts", {"ground_truths/image_1.json": {}}, "image_1.json, image_1: holds no folio"),
    (
        "manuscripts",
        {"ground_truths/image_1.json": None, "ground_truths/image_2.json": None, "ground_truths/a.txt": ""},
        "holds no image_N.json",
    ),
    (
        "directories",
        {LINES: ENTRIES[LINES] + '{"id": "a", "xml": ""}\n'},
        "line 3, a: stands a second time (first in line 1)",
    ),
    (
        "directories",
        {LINES: '{"id": "a", "xml": "<PER>x"}\n'},
        "line 1, entry a, character 7: the element PER is not closed",
    ),
    ("directories", {LINES: '{"id": "a", "xml": "<NO>x</NO>"}\n'}, "the tag NO is not among the entity types"),
    (
        "directories",
        {LINES: '{"id": "a", "text": "x", "spans": [{"type": "NO", "start": 0, "end": 1}]}\n'},
        "line 1, a: has an entity of type 'NO', which dataset.toml does not name",
    ),
    (
        "directories",
        {LINES: '{"id": "a", "text": "x", "spans": [{"type": "PER", "start": 0, "end": 9}]}\n'},
        "entry a: span 0 (PER, 0 to 9) does not lie in the text of 1 characters",
    ),
    ("directories", {LINES: '{"xml": "x"}\n'}, "line 1: names no document. Give it a text under document or id"),
    ("directories", {LINES: '{"id": "a"}\n'}, "line 1, a: holds no entry. Give it xml, or text and spans"),
    ("directories", {LINES: '{"id": "a", "xml": "x", "attributes": 3}\n'}, "has attributes that are no object"),
    ("directories", {LINES: '{"id": "a", \n'}, "entries.jsonl, line 1: is not JSON"),
    ("directories", {LINES: None, "entries.csv": "id,xml\na,x\na,y\n"}, "line 3, a: stands a second time"),
    ("directories", {LINES: None, "entries.csv": "id,text\na,x\n"}, "has no column of entries. Name it xml"),
    ("directories", {LINES: None}, "holds no documents for directories"),
    ("directories", {"dataset.toml": None}, "holds no directory entries in the published layout"),
    ("trade", {GOLD: None}, "gold.csv: there is no such file. `histeval get trade_directories` fetches it"),
    ("trade", {GOLD: TRADE[GOLD] + "<PER>x</PER>\n"}, 'gold.csv, line 3: is not of the form "XML", "BOOK"'),
    (
        "trade",
        {GOLD: TRADE[GOLD].replace("<PER>Le", "<PERS>Le")},
        "gold.csv, line 2, entry 1, character 1: the tag PERS",
    ),
    ("trade", {ALL: "{}"}, "all.json: is not a list of entries"),
    ("trade", {ALL: "[1]"}, "all.json, entry 0: has no has_valid_ner_xml"),
    ("trade", {ALL: TRADE[ALL][:1]}, "all.json: has 1 valid entries for 2 rows"),
    (
        "trade",
        {ALL: [{**TRADE[ALL][0], "book": "X"}, *TRADE[ALL][1:]]},
        "entry 0: is of book 'X', and row 0 of 'Bon_1801'",
    ),
    ("trade", {"split_indices.json": [1]}, "split_indices.json: is not an object of lists of row numbers"),
    ("trade", {"split_indices.json": {"test": [7]}}, "split_indices.json, test: names a row 7 of 2"),
]


@pytest.mark.parametrize(("base", "changes", "sentence"), BAD)
def test_one_sentence(make: Any, base: str, changes: dict[str, Any], sentence: str) -> None:
    task = {"letters_csv": "letters", "trade": "directories"}.get(base, base)
    folder = make(base, changes)
    with pytest.raises(DatasetError) as caught:
        load_dataset(task, folder)
    words = str(caught.value)
    assert sentence in words
    assert "\n" not in words
    # What cannot be read is a fault for `check` too, or no dataset at all.
    try:
        assert any(fault.error for fault in check(task, folder))
    except HistevalError:
        assert not (folder / "dataset.toml").exists() or "task" in changes["dataset.toml"]


@pytest.mark.parametrize(
    ("kind", "sentence"),
    [
        ("missing", "there is no such folder. `histeval get` fetches the published datasets"),
        ("file", "is a file, not the folder of a dataset"),
        ("pipe", "is a file, not the folder of a dataset"),
        ("name", "there is no such folder"),
        ("empty", "holds neither letterNN.json nor letters.csv"),
    ],
)
def test_what_is_no_folder(tmp_path: Path, kind: str, sentence: str) -> None:
    path = tmp_path / ("x" * 300 if kind == "name" else kind)
    if kind == "file":
        path.write_text("x")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "empty":
        path.mkdir()
    with pytest.raises(DatasetError, match=sentence):
        load_dataset("letters", path)


def test_a_pipe_among_the_letters_does_not_block(make: Any) -> None:
    folder = make("letters")
    (folder / ONE).unlink()
    os.mkfifo(folder / ONE)
    with pytest.raises(DatasetError, match="is not a regular file"):
        load_dataset("letters", folder)


def test_a_folder_that_may_not_be_entered(make: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Root may enter every folder, so the system's refusal is played."""
    folder = make("letters")

    def refuse(name: object) -> list[str]:
        raise PermissionError(13, "Permission denied", str(name))

    monkeypatch.setattr(os, "listdir", refuse)
    with pytest.raises(DatasetError, match="ground_truths: cannot be listed: permission is missing"):
        load_dataset("letters", folder)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_without_permission(make: Any) -> None:
    folder = make("letters")
    (folder / ONE).chmod(0)
    with pytest.raises(DatasetError, match="cannot be read: permission is missing"):
        load_dataset("letters", folder)


@pytest.mark.parametrize(
    "name", ["\u202eתומלא, לוי", "A\u0301mos, \ue001", "<script>", "=cmd|' /C calc'!A0", "a\u0000b"]
)
def test_what_is_merely_unusual_is_read(make: Any, name: str) -> None:
    """Right-to-left names, private-use signs, markup, a formula, a control character: all are text."""
    letter = {**LETTER, "sender_persons": [name]}
    folder = make("letters", {ONE: letter, FOLK: [{"name": name, "alternateName": [name]}]})
    dataset = load_dataset("letters", folder)
    assert dataset.documents["letter01"].truth.fields["sender_persons"] == (name,)
    assert dataset.authorities["persons"][0].alternate_names == (name,)
