"""Readers by name, built in and from outside."""

from __future__ import annotations

from importlib.metadata import EntryPoint, EntryPoints
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets import Dataset, Document, check, load_dataset, registry
from histeval.datasets.fingerprint import fingerprint
from histeval.datasets.layout import find_task
from histeval.errors import DatasetError, UsageError
from histeval.tasks.description import Description
from histeval.tasks.truth import PageTruth


@pytest.mark.parametrize(
    ("base", "task"),
    [
        ("letters", "letters"),
        ("letters_csv", "letters"),
        ("manuscripts", "manuscripts"),
        ("directories", "directories"),
        ("trade", "directories"),
    ],
)
def test_the_task_of_a_folder(make: Any, base: str, task: str) -> None:
    assert find_task(make(base)) == task


def test_a_folder_of_no_task(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match=r"is no dataset in a known layout\. Write a dataset\.toml"):
        find_task(tmp_path)


@pytest.mark.parametrize(
    ("alias", "base"), [("metadata", "letters"), ("transcription", "manuscripts"), ("entities", "trade")]
)
def test_aliases(make: Any, alias: str, base: str) -> None:
    folder = make(base)
    assert load_dataset(alias, folder).documents
    assert not any(fault.error for fault in check(alias, folder))


def test_an_unknown_task(tmp_path: Path) -> None:
    for call in (load_dataset, check):
        with pytest.raises(
            UsageError, match="no reader of datasets knows the task 'maps'; there are letters, manuscripts"
        ):
            call("maps", tmp_path)


def read_maps(path: Path, *, text: str, split: str) -> Dataset:
    if not (path / "maps").is_dir():
        raise DatasetError("holds no maps", file=path)
    documents = {"m": Document("m", {"scale": 1}, "m")}
    return Dataset("maps", "x", path, Description("maps", "x"), documents, {}, fingerprint([("m", {"scale": 1})]))


def test_a_reader_from_outside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    outside = {"maps": read_maps, "wrong": lambda path, **options: {}}
    points = [
        EntryPoint("maps", f"{__name__}:read_maps", registry.ENTRY_POINTS),
        EntryPoint("broken", "no.such.module:read", registry.ENTRY_POINTS),
        EntryPoint("wrong", "builtins:print", registry.ENTRY_POINTS),
    ]
    monkeypatch.setattr(registry, "entry_points", lambda group: EntryPoints(points).select(group=group))
    monkeypatch.setattr(EntryPoint, "load", lambda self: outside.get(self.name) or load(self))
    assert check("maps", tmp_path)[0].what == "holds no maps"
    (tmp_path / "maps").mkdir()
    assert load_dataset("maps", tmp_path).documents["m"].truth == {"scale": 1}
    assert check("maps", tmp_path) == []
    with pytest.raises(UsageError, match=r"the reader 'broken' from no\.such\.module:read cannot be loaded"):
        load_dataset("broken", tmp_path)
    with pytest.raises(UsageError, match="the reader of 'wrong' gives no dataset"):
        load_dataset("wrong", tmp_path)


load = EntryPoint.load


def test_fingerprints_see_text_and_not_line_ends() -> None:
    def of(text: str) -> str:
        return fingerprint([("a", PageTruth((("[1r]", {"text": text}),)))])

    assert of("x\r\ny") == of("x\ny")
    assert len({of(text) for text in ("x\ny", "x\\r\ny", "x\\r\\ny", "x\\\ny", "x\\ny", "x y", "\ud800")}) == 7
    assert fingerprint([("a", None)]) == fingerprint([])
