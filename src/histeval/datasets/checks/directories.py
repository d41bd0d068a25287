"""Checks of directory entries: markup, nesting, offsets, the published files against each other, and the split."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from histeval.datasets import trade
from histeval.datasets.base import Fault
from histeval.datasets.checks.common import Faults, begin, read_json_file, read_records_on, read_table_on
from histeval.datasets.directories import (
    MARKUP_COLUMNS,
    RawEntry,
    description_for,
    entries_file,
    entry_from_record,
)
from histeval.datasets.files import read_lines
from histeval.datasets.layout import Folder, trade_folder
from histeval.datasets.spans import entry_from_offsets
from histeval.entities.grammar import Grammar
from histeval.entities.markup import FAULTS, read_markup
from histeval.entities.spans import Entry
from histeval.errors import DatasetError, HistevalError

_MILD = ("stray", "spelling")
"""Faults in markup that are read without doubt."""
_MANY = 20
"""Faults of one kind in one file are listed one by one up to so many, then counted."""


def check_directories(path: Path | str) -> list[Fault]:
    """Every fault of a dataset of entries; raises DatasetError where it is no folder of one."""
    faults, folder = begin("directories", path)
    files = trade_folder(folder.path)
    own_file = folder.settings is not None and folder.settings.truth.file
    if files is not None and not own_file:
        _check_trade(faults, folder, files)
    elif folder.settings is None:
        remedy = "The published layout has 41-ner_ref_from_pero/gold.csv; other entries need a dataset.toml"
        raise DatasetError("holds no directory entries in the published layout", file=folder.path, remedy=remedy)
    else:
        _check_entries(faults, folder)
    return faults.sorted()


def grammar_for(faults: Faults, folder: Folder) -> Grammar | None:
    """The grammar of the described types; None where there are none, or where they contradict each other."""
    types = description_for(folder).types
    try:
        return Grammar.of(types) if types else None
    except HistevalError as fault:
        faults.add("dataset.toml", str(fault), "Mend the [[types]]")
        return None


# The published trade directories


def _check_trade(faults: Faults, folder: Folder, files: Path) -> None:
    grammar = grammar_for(faults, folder)
    rows: dict[str, list[trade.Row]] = {}
    for name, relative in trade.TEXTS.items():
        path = files / relative
        if not path.is_file():
            if folder.settings is None or name == "reference":
                remedy = "`histeval get trade_directories` fetches it"
                faults.add(path, "there is no such file", remedy, error=name == "reference")
            continue
        found = _trade_rows(faults, path)
        if found is None:
            continue
        rows[name] = found
        entries = [RawEntry(str(index), path, row.line, row.markup) for index, row in enumerate(found)]
        _check_markup(faults, path, entries, grammar)
        if name != "complete":
            _check_quotes(faults, path, found)
    if "reference" in rows and "ocr" in rows:
        _check_pairs(faults, files, rows["reference"], rows["ocr"])
    paired = rows.get("reference") or rows.get("ocr")
    if paired is not None:
        _check_projection(faults, files, rows, paired)
        named = folder.path / folder.settings.split if folder.settings is not None and folder.settings.split else None
        parts = faults.attempt(lambda: trade.read_split(files, paired, named))
        if parts is not None:
            _check_split(faults, files / trade.TEXTS["reference"], paired, parts)


def _trade_rows(faults: Faults, path: Path) -> list[trade.Row] | None:
    wrong: list[DatasetError] = []
    rows = faults.attempt(lambda: trade.read_rows(path, wrong), path)
    for fault in wrong:
        faults.take(fault)
    if rows is not None:
        for row in rows:
            if not row.book.strip():
                faults.add(path, "names no book", "The split and the pages need it", line=row.line)
    return rows


def _check_quotes(faults: Faults, path: Path, rows: Sequence[trade.Row]) -> None:
    """Rows with quotes that are not doubled: read rightly here, and wrongly by a CSV reader."""
    for row in rows:
        if '"' in row.markup:
            what = "has quotes that are not doubled"
            try:
                cells = len(next(csv.reader([f'"{row.markup}", "{row.book}"'], skipinitialspace=True)))
            except (csv.Error, StopIteration):
                cells = 0
            if cells != 2:
                what += f"; a CSV reader breaks it into {cells} cells" if cells else "; a CSV reader cannot read it"
            faults.add(path, what, "Double them; the line is read whole", line=row.line, error=False)


def _check_pairs(faults: Faults, files: Path, reference: Sequence[trade.Row], ocr: Sequence[trade.Row]) -> None:
    path = files / trade.TEXTS["ocr"]
    if len(reference) != len(ocr):
        remedy = "Rows of the two files belong together one by one"
        faults.add(path, f"has {len(ocr)} rows, and the reference {len(reference)}", remedy)
        return
    for index, (first, second) in enumerate(zip(reference, ocr, strict=True)):
        if first.book != second.book:
            what = f"is of book {second.book[:80]!r}, and of {first.book[:80]!r} in the reference"
            faults.add(path, what, "Rows of the two files belong together", line=second.line, item=f"entry {index}")
        elif _tags(first.markup) != _tags(second.markup):
            what = "has other entities than the reference"
            faults.add(path, what, "Project its annotation again", line=second.line, item=f"entry {index}")


def _tags(markup: str) -> list[str]:
    return [span.type for span in read_markup(markup)[0].spans]


def _check_projection(
    faults: Faults, files: Path, rows: Mapping[str, Sequence[trade.Row]], paired: Sequence[trade.Row]
) -> None:
    path = files / trade.PAGES
    if not path.is_file():
        faults.add(path, "there is no such file", "Without it the pages are unknown", error=False)
        return
    value = read_json_file(faults, path)
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        faults.add(path, "is not a list of entries")
        return
    valid = [item for item in value if item.get("has_valid_ner_xml") is True]
    if len(valid) != len(paired):
        faults.add(path, f"has {len(valid)} valid entries, and the tables {len(paired)} rows", "Export it again")
    else:
        _compare_projection(faults, path, valid, rows)
    empty: Counter[str] = Counter()
    for item in value:
        if item.get("has_valid_ner_xml") is False:
            found = {fault.kind for fault in read_markup(str(item.get("nested_ner_xml", "")))[1]}
            empty["empty element" if "empty" in found else "other reason"] += 1
    if empty:
        reasons = ", ".join(f"{number} with an {why}" for why, number in empty.items())
        what = f"{len(value) - len(valid)} of {len(value)} entries are marked invalid and left out ({reasons})"
        faults.add(path, what, "The hardest failures of OCR are missing from both texts", error=False)
    complete = rows.get("complete")
    if complete is not None and len(complete) != len(value):
        more = Counter(row.book for row in complete) - Counter(str(item.get("book")) for item in value)
        books = ", ".join(f"{book}: {number}" for book, number in more.items())
        what = f"has {len(complete)} entries, and {trade.PAGES} {len(value)} (more here: {books[:200]})"
        faults.add(files / trade.TEXTS["complete"], what, "They were never projected onto OCR", error=False)


def _compare_projection(
    faults: Faults, path: Path, valid: Sequence[Mapping[str, Any]], rows: Mapping[str, Sequence[trade.Row]]
) -> None:
    for name in ("ocr", "reference"):
        for index, (item, row) in enumerate(zip(valid, rows.get(name, ()), strict=False)):
            if item.get("book") != row.book:
                what = f"is of book {str(item.get('book'))[:80]!r}, and of {row.book[:80]!r} in {trade.TEXTS[name]}"
                faults.add(path, what, "Export it again", item=f"entry {index}")
            elif name == "ocr" and item.get("nested_ner_xml") != row.markup:
                faults.add(path, f"differs from {trade.TEXTS[name]}", "Export it again", item=f"entry {index}")


def _check_split(faults: Faults, path: Path, rows: Sequence[trade.Row], parts: Mapping[str, str]) -> None:
    without = [index for index in range(len(rows)) if str(index) not in parts]
    if without:
        what = f"{len(without)} rows belong to no part of the split (the first is {without[0]})"
        faults.add(path, what, "Add them, or leave them out with purpose", error=False)
    training = {row.markup for index, row in enumerate(rows) if parts.get(str(index)) == "train"}
    leaked = [index for index, row in enumerate(rows) if parts.get(str(index)) == "test" and row.markup in training]
    if leaked:
        shown = ", ".join(map(str, leaked[:10]))
        what = f"{len(leaked)} test entries stand word for word in the training part (rows {shown})"
        faults.add(path, what, "A system may know them by heart", error=False)


# Entries with a dataset.toml


def _check_entries(faults: Faults, folder: Folder) -> None:
    grammar = grammar_for(faults, folder)
    settings = folder.settings
    assert settings is not None
    identifiers: dict[str, set[str]] = {}
    for text in ("reference", *settings.truth.texts):
        path = faults.attempt(lambda text=text: entries_file(folder, text))  # type: ignore[misc]
        if path is None:
            if text == "reference":
                faults.add(folder.truth, "holds no entries", "Write entries.jsonl, as docs/datasets.md shows")
            continue
        entries = _raw_entries(faults, folder, path)
        _check_markup(faults, path, entries, grammar)
        waiting = [entry.id for entry in entries if entry.spans is None and entry.markup is None]
        if waiting:
            names = ", ".join(waiting[:5]) + (" ..." if len(waiting) > 5 else "")
            what = f"{len(waiting)} of {len(entries)} entries wait for their truth: spans is null ({names})"
            faults.add(path, what, "Fill in their spans, or xml with tags", error=False)
        identifiers[text] = {entry.id for entry in entries}
        missing = identifiers.get("reference", set()) ^ identifiers[text]
        if missing:
            what = f"has other entries than the reference ({', '.join(sorted(missing)[:10])})"
            faults.add(path, what, "Give the same ids to the same entries")


def _raw_entries(faults: Faults, folder: Folder, path: Path) -> list[RawEntry]:
    settings = folder.settings
    assert settings is not None
    suffix = path.suffix.lower()
    entries = []
    if suffix in (".jsonl", ".ndjson", ".json"):
        for record in read_records_on(faults, path, settings.truth.id, ()):
            entry = faults.attempt(
                lambda record=record: entry_from_record(record.id, record.value, path, record.line)  # type: ignore[misc]
            )
            if entry is not None:
                entries.append(entry)
    elif suffix == ".csv":
        table = read_table_on(faults, path)
        columns = table.columns if table is not None else ()
        markup = settings.truth.markup or next((name for name in MARKUP_COLUMNS if name in columns), "")
        if table is not None and markup not in columns:
            remedy = f'Name it {MARKUP_COLUMNS[0]}, or write [truth] markup = "COLUMN"'
            faults.add(path, "has no column of entries", remedy, line=1)
            return []
        identifier = settings.truth.id or next((name for name in ("document", "id") if name in columns), "")
        seen: dict[str, int] = {}
        for index, row in enumerate(table.rows if table is not None else ()):
            name = row.get(identifier).strip() if identifier else str(index)
            if not name or name in seen:
                what = f"stands a second time (first in line {seen[name]})" if name else f"has an empty {identifier}"
                faults.add(path, what, "Give each entry its own id", line=row.line, item=name)
                continue
            seen[name] = row.line
            entries.append(RawEntry(name, path, row.line, row.get(markup)))
    else:
        lines = faults.attempt(lambda: [(line, text) for line, text in read_lines(path) if text.strip()], path) or []
        entries = [RawEntry(str(index), path, line, text) for index, (line, text) in enumerate(lines)]
    if not entries:
        faults.add(path, "holds no entry")
    return entries


# Both


def _check_markup(faults: Faults, path: Path, entries: Sequence[RawEntry], grammar: Grammar | None) -> None:
    listed: Counter[str] = Counter()
    edges = replaced = 0
    for raw in entries:
        entry = _check_entry(faults, raw, grammar, listed)
        if entry is None:
            continue
        if not entry.text.strip():
            faults.add(path, "is empty", "Remove the entry", line=raw.line, item=f"entry {raw.id}")
        replaced += entry.text.count("\ufffd")
        edges += sum(
            entry.text[span.start].isspace() or entry.text[span.end - 1].isspace()
            for span in entry.spans
            if span.start < span.end and entry.text[span.start : span.end].strip()
        )
    for kind, number in listed.items():
        if number > _MANY:
            faults.add(path, f"{number} faults of this kind, {_MANY} of them listed: {kind}", "Mend them by program")
    if replaced:
        what = f"holds {replaced} replacement characters (U+FFFD), left by a lost encoding"
        faults.add(path, what, "Convert the source again, if it is yours", error=False)
    if edges:
        what = f"{edges} entities begin or end with white space"
        faults.add(path, what, "Exact scoring wants the same edges of a system", error=False)


def _check_entry(faults: Faults, raw: RawEntry, grammar: Grammar | None, listed: Counter[str]) -> Entry | None:
    def note(kind: str, what: str, item: str, error: bool = True) -> None:
        listed[kind] += 1
        if listed[kind] <= _MANY:
            faults.add(raw.file, what, "Mend the entry", line=raw.line, item=item, error=error)

    if raw.markup is not None:
        entry, found = read_markup(raw.markup, grammar)
        for fault in found:
            # Where an element stands is known in the markup only of faults of its tags.
            place = "" if fault.kind in ("nesting", "empty") else f", character {fault.offset + 1}"
            item = f"entry {raw.id}{place}"
            note(FAULTS[fault.kind], fault.what, item, fault.kind not in _MILD)
        return entry
    try:
        entry = entry_from_offsets(raw.text, raw.spans or ())
    except ValueError as fault:
        note("a malformed span", str(fault), f"entry {raw.id}")
        return None
    for span in entry.spans:
        parent = entry.spans[span.parent].type if span.parent is not None else None
        if grammar is not None and span.type not in grammar.types:
            note(FAULTS["unknown"], f"the type {span.type[:80]!r} is not among the entity types", f"entry {raw.id}")
        elif grammar is not None and not grammar.allows(parent, span.type):
            place = f"inside {parent}" if parent is not None else "at the root"
            note(FAULTS["nesting"], f"the entity {span.type} may not stand {place}", f"entry {raw.id}")
        if not entry.text[span.start : span.end].strip():
            note(FAULTS["empty"], f"the entity {span.type} holds nothing but white space", f"entry {raw.id}")
    return entry
