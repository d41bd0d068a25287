"""The trade directories as published: three files of entries, the pages they come from, and the split.

The published CSV files do not escape quotes, so that a CSV reader breaks three of their rows; their line pattern is
`"XML", "BOOK"`. See Tual et al. 2023 (arXiv:2302.10204) and the repository soduco/paper-nestedner-icdar23-code.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from histeval.datasets.files import read_json, read_text
from histeval.errors import DatasetError, UsageError

TEXTS = {
    "reference": "41-ner_ref_from_pero/gold.csv",
    "ocr": "31-ner_align_pero/gold.csv",
    "complete": "10-ner_ref/gold_soduco_2023.csv",
}
"""The readings of the entries by name, and their files. `complete` holds also what was lost on the way to `ocr`."""
PAGES = "31-ner_align_pero/all.json"
SPLITS = ("train", "dev", "test", "all")
SPLIT_FILE = "split_indices.json"

PUBLISHED_ROWS = 8445
TEST_BOOKS = ("Didot_1851a", "La_Tynna_1813", "Duverneuil_et_La_Tynna_1806")
"""Fold 0 of the published grouping by book."""

_LINE = re.compile(r'"(.*)", "([^"]*)"', re.DOTALL)


@dataclass(frozen=True, slots=True)
class Row:
    """An entry as published: its line in the file (from 1), its markup and its book."""

    line: int
    markup: str
    book: str


def read_rows(path: Path, faults: list[DatasetError] | None = None) -> list[Row]:
    """The rows of one of the three files, told apart by the form of the first line.

    Raises DatasetError where a line has neither form; where `faults` is a list, the fault is appended to it and the
    line is left out.
    """
    text = read_text(path)
    first = text.split("\n", 1)[0].rstrip("\r")
    return _lines(text, path, faults) if _LINE.fullmatch(first) else _table(text, path, faults)


def _lines(text: str, path: Path, faults: list[DatasetError] | None) -> list[Row]:
    rows = []
    for number, line in enumerate(text.split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line:
            continue
        match = _LINE.fullmatch(line)
        if match is None:
            _report(DatasetError('is not of the form "XML", "BOOK"', file=path, line=number), faults)
            continue
        rows.append(Row(number, match[1], match[2]))
    return rows


def _table(text: str, path: Path, faults: list[DatasetError] | None) -> list[Row]:
    rows = []
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    line = 1
    try:
        for cells in reader:
            if cells:
                if len(cells) == 2:
                    rows.append(Row(line, cells[0], cells[1]))
                else:
                    _report(DatasetError(f"has {len(cells)} cells, not markup and book", file=path, line=line), faults)
            line = reader.line_num + 1
    except csv.Error as fault:
        raise DatasetError(f"is not CSV: {fault}", file=path, line=line) from None
    return rows


def _report(fault: DatasetError, faults: list[DatasetError] | None) -> None:
    if faults is None:
        raise fault
    faults.append(fault)


@dataclass(frozen=True)
class Pages:
    """The pages of the rows of files 41 and 31, and how many entries were projected and dropped."""

    pages: tuple[str, ...]
    entries: int
    dropped: int


def read_pages(folder: Path, rows: Sequence[Row]) -> Pages | None:
    """The page of each row from all.json, whose valid entries are the rows in order; None where it is not there.

    Raises DatasetError where it does not fit the rows.
    """
    path = folder / PAGES
    if not path.is_file():
        return None
    value, _ = read_json(path)
    if not isinstance(value, list):
        raise DatasetError("is not a list of entries", file=path)
    pages: list[str] = []
    for position, item in enumerate(value):
        if not isinstance(item, dict) or not isinstance(item.get("has_valid_ner_xml"), bool):
            raise DatasetError("has no has_valid_ner_xml", file=path, item=f"entry {position}")
        if item["has_valid_ner_xml"]:
            row = len(pages)
            if row < len(rows) and item.get("book") != rows[row].book:
                what = f"is of book {str(item.get('book'))[:80]!r}, and row {row} of {rows[row].book[:80]!r}"
                raise DatasetError(what, file=path, item=f"entry {position}")
            pages.append(f"{item.get('book')}/{item.get('page')}")
    if len(pages) != len(rows):
        raise DatasetError(f"has {len(pages)} valid entries for {len(rows)} rows", file=path)
    return Pages(tuple(pages), len(value), len(value) - len(pages))


def read_split(folder: Path, rows: Sequence[Row], named: Path | None = None) -> dict[str, str] | None:
    """The part (train, dev, test) of each row by its id; None where no split is known.

    A split file (`{"train": [row, ...], "dev": ..., "test": ...}`) counts first; the published split is built in.
    """
    for path in (named,) if named is not None else (folder / SPLIT_FILE, folder.parent / SPLIT_FILE):
        if named is not None or path.is_file():
            return split_of(read_json(path)[0], len(rows), path)
    if len(rows) != PUBLISHED_ROWS or sum(row.book in TEST_BOOKS for row in rows) != 1685:
        return None
    dev = read_published_dev()
    return {
        str(index): "test" if row.book in TEST_BOOKS else "dev" if index in dev else "train"
        for index, row in enumerate(rows)
    }


def split_of(value: Any, rows: int, path: Path) -> dict[str, str]:
    """The part of each row from a split file; raises DatasetError where a row has two parts or does not exist."""
    if not isinstance(value, Mapping) or not all(isinstance(numbers, list) for numbers in value.values()):
        raise DatasetError("is not an object of lists of row numbers", file=path)
    found: dict[str, str] = {}
    for part, numbers in value.items():
        for number in numbers:
            if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < rows:
                raise DatasetError(f"names a row {str(number)[:40]} of {rows}", file=path, item=str(part)[:80])
            if str(number) in found:
                what = f"names row {number}, which {found[str(number)]} has too"
                raise DatasetError(what, file=path, item=str(part)[:80])
            found[str(number)] = str(part)
    return found


def read_published_dev() -> frozenset[int]:
    """Row numbers of the published development part.

    It was drawn by scikit-learn's train_test_split (random_state 42, stratified by book) from the rows outside the
    test books; all that is neither is training.
    """
    import json

    text = (files("histeval.datasets") / "data" / "trade_directories_dev_rows.json").read_text(encoding="utf-8")
    return frozenset(json.loads(text))


def choose(parts: Mapping[str, str] | None, split: str, file: Path) -> frozenset[str] | None:
    """Ids of the rows of one part; None means every row.

    Raises UsageError for an unknown part, DatasetError where the dataset has no such part.
    """
    if split == "all" or (parts is None and split == "test"):
        return None
    chosen = frozenset(row for row, part in (parts or {}).items() if part == split)
    if not chosen:
        known = sorted(set((parts or {}).values()))
        if split not in SPLITS and split not in known:
            raise UsageError(f"there is no split {split!r}; there are {', '.join(dict.fromkeys((*known, *SPLITS)))}")
        raise DatasetError(f"has no entries of split {split}", file=file, remedy="Use --split all")
    return chosen
