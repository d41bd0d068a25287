"""Whatever is done to a file of a dataset: it is read, or it is refused with one sentence; never a traceback."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dataset_samples import WHOLE
from histeval.datasets import check, import_letters, load_dataset
from histeval.errors import HistevalError
from support import examples

SNIPPETS = [
    *(b"", b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc3", b"\n", b"\r", b'"', b"'", b",", b"|", b"<", b">", b"</PER>"),
    *(b"<<", b"&#0;", b"&amp;", b"{", b"}", b"[", b"]", b"null", b"NaN", b"1e999", b"true", b"[[[[", b'{"a":', b"-1"),
    *(b"../", b"FALSE", b"None", b"#VALUE!", b"\\u0000", b"\\ud800", "\u202e\u2029\U0010ffff".encode(), b"= 1\n"),
    *(b"[[fields]]\n", b"9" * 50, b"9" * 5000),
]


def mutate(data: bytes, seed: int) -> bytes:
    """Some bytes cut out, doubled, or replaced by what readers stumble over."""
    source = random.Random(seed)
    for _ in range(source.randint(1, 4)):
        start = source.randint(0, len(data))
        end = min(len(data), start + source.choice((0, 0, 1, 2, 9, 40)))
        piece = source.choice(SNIPPETS) if source.random() < 0.8 else data[start:end] * 2
        data = data[:start] + piece + data[end:]
    return data


def write(files: Any, folder: Path) -> None:
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(content, bytes):
            path.write_bytes(content)
        else:
            text = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
            path.write_bytes(text.encode())


def words(call: Callable[[], Any]) -> list[str]:
    """What a call says: its faults, or the one it raises."""
    try:
        result = call()
    except HistevalError as fault:
        return [str(fault)]
    return [fault.what for fault in result] if isinstance(result, list) else []


@pytest.mark.parametrize("base", WHOLE)
@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_mutated_files(base: str, seed: int) -> None:
    task = {"letters_csv": "letters", "trade": "directories"}.get(base, base)
    source = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(WHOLE[base], folder)
        victims = sorted(path for path in folder.rglob("*") if path.is_file())
        for path in source.sample(victims, source.randint(1, 2)):
            path.write_bytes(mutate(path.read_bytes(), seed))
        said = words(lambda: load_dataset(task, folder, split="all"))
        said += words(lambda: check(task, folder))
        assert [sentence for sentence in said if "\n" in sentence or len(sentence) > 1000] == []


@settings(max_examples=examples(60), deadline=None)
@given(seed=st.integers(0, 2**32))
def test_mutated_tables_are_imported_or_refused(seed: int) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write(WHOLE["letters_csv"], folder)
        for table in ("letters.csv", "persons.csv"):
            path = folder / "ground_truth" / table
            path.write_bytes(mutate(path.read_bytes(), seed))
        out = folder / "out"
        tables = folder / "ground_truth/letters.csv", folder / "ground_truth/persons.csv"
        said = words(lambda: import_letters(*tables, out))
        assert not any("\n" in sentence for sentence in said)
        assert out.exists() is not bool(said)
        if not said:
            assert load_dataset("letters", out).documents
