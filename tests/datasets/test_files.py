"""Reading and writing files: encodings, limits, and nothing half written."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.files import (
    atomic_write,
    inside,
    natural_key,
    nesting,
    parse_json,
    read_json,
    read_lines,
    read_text,
)
from histeval.errors import AnswersError, DatasetError, OutputError
from support import examples


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        ("Zürich".encode("utf-16"), "is UTF-16, not UTF-8. Save it as UTF-8"),
        ("Zürich".encode("utf-16-be"), "is UTF-16, not UTF-8"),
        ("Zürich".encode("utf-32"), "is UTF-32, not UTF-8"),
        (b"Basel\nZ\xfcrich", r"line 2: is not UTF-8 \(byte 0xfc\)"),
        (b"\x00\x01\x02\x03" * 9, "is a binary file, not UTF-8"),
    ],
)
def test_other_encodings_are_named(tmp_path: Path, data: bytes, sentence: str) -> None:
    file = tmp_path / "truth.csv"
    file.write_bytes(data)
    with pytest.raises(DatasetError, match=sentence):
        read_text(file)
    with pytest.raises(AnswersError, match=sentence):
        list(read_lines(file, error=AnswersError))


def test_a_mark_is_removed_and_line_ends_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "truth.csv"
    file.write_bytes("\ufeffä\r\n\u2029b\n".encode())
    assert read_text(file) == "ä\r\n\u2029b\n"
    assert list(read_lines(file)) == [(1, "ä"), (2, "\u2029b")]


def test_only_files_are_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path, sentence in [
        (tmp_path, "is a folder, not a file"),
        (tmp_path / "pipe", "is not a regular file"),
        (tmp_path / "none", "cannot be read: there is no such file"),
        (tmp_path / "nul\0", "cannot be read: its name cannot be used"),
        (tmp_path / ("x" * 5000), r"x\.\.\.: cannot be read: file name too long"),
    ]:
        with pytest.raises(DatasetError, match=sentence):
            read_text(path)


def test_limits(tmp_path: Path) -> None:
    file = tmp_path / "long"
    file.write_bytes(b"x" * (3 << 20))
    with pytest.raises(DatasetError, match="is larger than 2 MB"):
        read_text(file, limit=2 << 20)
    with pytest.raises(DatasetError, match="line 1: is longer than 2 MB"):
        list(read_lines(file, limit=2 << 20))


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "is empty"),
        ('{"a":\n}', "line 2: is not JSON: "),
        ("[" * 200 + "]" * 200, "is nested deeper than 100 levels"),
        ("[" * 100_000, "is nested deeper than 100 levels"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "is nested deeper than 100 levels"),
        ("1" * 5000, "holds a number too long to read"),
    ],
)
def test_json_that_cannot_be_read(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "truth.json"
    file.write_text(text)
    with pytest.raises(DatasetError, match=sentence):
        read_json(file)


def test_what_is_no_number_is_null_and_counted() -> None:
    assert parse_json('[NaN, Infinity, -Infinity, 1e999, 1.5, "NaN"]', "f") == ([None, None, None, None, 1.5, "NaN"], 4)
    twice: list[str] = []
    assert parse_json('{"a": 1, "b": {"c": 1, "c": 2}, "a": 3}', "f", duplicate_keys=twice)[0]["a"] == 3
    assert twice == ["c", "a"]


json_values = st.recursive(
    st.none() | st.integers() | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner, max_size=3),
    max_leaves=20,
)


@settings(max_examples=examples(50), deadline=None)
@given(json_values)
def test_nesting_equals_its_recursive_twin(value: object) -> None:
    def depth(item: object) -> int:
        if isinstance(item, dict):
            return 1 + max((depth(child) for child in item.values()), default=0)
        return 1 + max((depth(child) for child in item), default=0) if isinstance(item, list) else 0

    assert nesting(value) == depth(value)


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.integers(0, 10**6), max_size=8), st.text(max_size=3))
def test_natural_order_is_that_of_the_numbers(numbers: list[int], stem: str) -> None:
    names = [f"{stem}_p{number}x" for number in numbers]
    assert sorted(names, key=natural_key) == [f"{stem}_p{number}x" for number in sorted(numbers)]


@settings(max_examples=examples(100), deadline=None)
@given(st.lists(st.text(alphabet="ab01²٣/ .", max_size=6)))
def test_any_names_can_be_ordered(names: list[str]) -> None:
    backwards = names[::-1]
    backwards.sort(key=natural_key)
    assert sorted(names, key=natural_key) == backwards


@pytest.mark.parametrize("name", ["../a", "a/../../b", "/etc/passwd", "c:x", "a\\b", "", "a\0b"])
def test_a_name_never_leaves_its_folder(tmp_path: Path, name: str) -> None:
    with pytest.raises(DatasetError, match="leads out of its folder"):
        inside(tmp_path, name)
    assert inside(tmp_path, "a/b.json") == tmp_path / "a" / "b.json"


def test_writing_is_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "persons.json"
    atomic_write(file, "alt ü")
    assert file.read_bytes() == "alt ü".encode()
    assert file.stat().st_mode & 0o777 == 0o666 & ~_umask()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OutputError, match=r"persons\.json could not be written: the disk is full"):
        atomic_write(file, "neu")
    monkeypatch.undo()
    assert [path.name for path in tmp_path.iterdir()] == ["persons.json"]
    assert file.read_bytes() == "alt ü".encode()
    with pytest.raises(OutputError, match="could not be written: there is no such file"):
        atomic_write(tmp_path / "none" / "a", "x")
    atomic_write(tmp_path / ("n" * 255), "a name of 255 characters")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
