"""What is no JSON is explained by what its author usually did; a list of documents that is not there is named."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

from histeval.cli.app import run
from histeval.cli.options import document_list
from histeval.datasets.files import read_json
from histeval.errors import DatasetError, UsageError

CASES = {
    '{"a": "1" "b": "2"}': "a comma is missing",
    '{"a": ["x" "y"]}': "a comma is missing",
    '{"a": "er sagte "ja" dazu"}': "a quotation mark inside a text",
    '{"a" "b"}': "a colon is missing",
    "{'a': 1}": "no straight quotation marks",
    "{a: 1}": "no straight quotation marks",
    '{"a": 1,}': "a comma stands after the last entry",
    # Python 3.13 knows this one by name
    '{"a": [1,]}': "a comma is too many" if sys.version_info < (3, 13) else "a comma stands after the last entry",
    '{"a": Sá}': "a text has no quotation marks",
    '{"a": [': "the file is cut off",
    '{"a": "Sá}': "the closing quotation mark of a text is missing",
    '{"a": "eins\nzwei"}': "a line end or tab stands inside a text",
    '{"a": "C:\\Daten"}': "a backslash stands in a text by itself",
    '{"a": 1}\n{"a": 2}': "should be called .jsonl",
    '{"a": „Sá“}': "typographic quotation marks",
    "{“a”: 1}": "typographic quotation marks",
}


@pytest.mark.parametrize("text", CASES)
def test_the_usual_cause_is_named(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text(text, encoding="utf-8")
    with pytest.raises(DatasetError, match="is not JSON") as fault:
        read_json(tmp_path / "a.json")
    assert CASES[text] in fault.value.remedy
    assert fault.value.remedy.startswith("Usually ")


@pytest.mark.parametrize("name", ["ids.txt", "lists/ids.csv", "Meine Liste.TXT"])
def test_a_list_that_is_not_there(name: str, tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no file"):
        document_list(str(tmp_path / name))
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text("a\n\nb c\n", encoding="utf-8")
    assert document_list(str(tmp_path / name)) == ["a", "b c"]


@pytest.mark.parametrize(
    ("text", "ids"), [("letter01", ["letter01"]), ("Ms. 3/5", ["Ms. 3/5"]), ("a.txt,b", ["a.txt", "b"])]
)
def test_ids_are_ids(text: str, ids: list[str]) -> None:
    assert document_list(text) == ids


def test_check_names_faults_before_notes(make: Any, capsys: Any, letter: dict[str, Any]) -> None:
    one, two = "ground_truths/letter01.json", "ground_truths/letter02.json"
    folder = make("letters", {one: {**letter, "send_date": []}, two: {**letter, "send_date": ["May"]}})
    assert run(["check", "letters", str(folder)]) == 1
    lines = capsys.readouterr().out.splitlines()
    marks = [line.split()[0] for line in lines[:-1]]
    assert {"fault", "note"} == set(marks)
    assert marks == sorted(marks)


@pytest.mark.parametrize(("faults", "notes", "said"), [(1, 1, "1 fault, 1 thing"), (2, 0, "2 faults, 0 things")])
def test_one_is_not_many(make: Any, capsys: Any, monkeypatch: Any, faults: int, notes: int, said: str) -> None:
    from histeval import datasets
    from histeval.datasets import Fault

    found = [Fault("a", None, f"w{n}", "r", error=n < faults) for n in range(faults + notes)]
    monkeypatch.setattr(datasets, "check", lambda *_: found)
    run(["check", "letters", str(make("letters"))])
    assert capsys.readouterr().out.splitlines()[-1] == f"{said} worth knowing"
