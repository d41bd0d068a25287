"""Directories: the published trade directories, or entries of any kind with a dataset.toml.

Without the published layout, entries are read from JSON Lines (inline markup or character offsets), from CSV rows
with a column of inline markup, or from a text file with one entry of inline markup a line.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from histeval.datasets import trade
from histeval.datasets.assemble import Draft, assemble
from histeval.datasets.base import Dataset
from histeval.datasets.files import read_lines
from histeval.datasets.layout import Folder, open_folder, trade_folder
from histeval.datasets.published import entity_types, published_description
from histeval.datasets.records import read_records
from histeval.datasets.spans import entry_from_offsets
from histeval.datasets.tables import read_table
from histeval.entities.grammar import Grammar
from histeval.entities.spans import Entry
from histeval.errors import DatasetError, UsageError
from histeval.tasks.description import Description, EntityType

FILES = ("entries.jsonl", "entries.csv", "entries.xml", "entries.txt", "truth.jsonl")
MARKUP_COLUMNS = ("xml", "markup", "entry")
UNCERTAIN = ("unknown", "crossing", "unclosed", "unopened")
"""Faults in markup that leave open what the truth is; the others are mended, counted and reported."""


@dataclass
class RawEntry:
    """An entry before its markup is read: inline markup, or a text with spans."""

    id: str
    file: Path
    line: int | None
    markup: str | None = None
    text: str = ""
    spans: Sequence[Any] | None = ()
    """None where the entry waits for its truth."""
    attributes: dict[str, str] = field(default_factory=dict)


def load(path: Path | str, *, text: str = "reference", split: str = "test") -> Dataset:
    """The entries in a folder: one reading of the text (`reference`, `ocr` ...) and one part of the split."""
    folder = open_folder(path, "directories")
    published = trade_folder(folder.path)
    own_file = folder.settings is not None and folder.settings.truth.file
    if published is not None and not own_file:
        return _load_trade(folder, published, text, split)
    if folder.settings is None:
        remedy = "The published layout has 41-ner_ref_from_pero/gold.csv; other entries need a dataset.toml"
        raise DatasetError("holds no directory entries in the published layout", file=folder.path, remedy=remedy)
    return _load_entries(folder, text, split)


def _load_trade(folder: Folder, files: Path, text: str, split: str) -> Dataset:
    if text not in trade.TEXTS:
        raise UsageError(f"there is no text {text!r}; there are {', '.join(trade.TEXTS)}")
    path = files / trade.TEXTS[text]
    if not path.is_file():
        raise DatasetError("there is no such file", file=path, remedy="`histeval get trade_directories` fetches it")
    rows = trade.read_rows(path)
    paired = text != "complete"
    pages = trade.read_pages(files, rows) if paired else None
    named = folder.path / folder.settings.split if folder.settings is not None and folder.settings.split else None
    parts = trade.read_split(files, rows, named) if paired else None
    notes = []
    if pages is not None and pages.dropped:
        notes.append(f"{len(rows)} of {pages.entries} entries: {pages.dropped} were dropped where OCR lost an entity")
    if not paired:
        notes.append(f"{len(rows)} entries before projection onto OCR; their pages and a split are not published")
    elif pages is None:
        notes.append(f"{trade.PAGES} is not there, so pages are unknown and the book is the sampling unit")
    if parts is None and split != "all":
        notes.append(f"no split is known: all {len(rows)} entries are read")
    chosen = trade.choose(parts, split, files)
    if chosen is not None:
        notes.append(f"split {split}: {len(chosen)} of {len(rows)} entries")
    description = description_for(folder)
    reader = EntryReader(Grammar.of(description.types))
    drafts = []
    for index, row in enumerate(rows):
        identifier = str(index)
        if chosen is not None and identifier not in chosen:
            continue
        entry = reader.read(RawEntry(identifier, path, row.line, row.markup))
        attributes = {"book": row.book}
        if pages is not None:
            attributes["page"] = pages.pages[index]
        if parts is not None and identifier in parts:
            attributes["split"] = parts[identifier]
        unit = attributes.get("page", row.book)
        drafts.append(Draft(identifier, entry, attributes, entry.text, unit))
    notes += reader.notes()
    if pages is None:
        description = replace(description, unit="book")
    elif description.unit not in ("document", "page"):
        drafts = [replace(draft, unit="") for draft in drafts]
    if text != "reference":
        description = replace(description, name=f"{description.name}-{text}")
    return assemble(folder, description, drafts, notes=notes, with_images=False)


def _load_entries(folder: Folder, text: str, split: str) -> Dataset:
    assert folder.settings is not None
    path = entries_file(folder, text)
    entries = read_entries(path, folder) if path is not None else []
    description = folder.settings.description
    rows = {raw.id: str(index) for index, raw in enumerate(entries)}
    if folder.settings.split:
        named = folder.path / folder.settings.split
        by_row = trade.read_split(folder.path, [trade.Row(0, "", "")] * len(entries), named) or {}
        for raw in entries:
            if rows[raw.id] in by_row:
                raw.attributes["split"] = by_row[rows[raw.id]]
    parts = {raw.id: raw.attributes["split"] for raw in entries if "split" in raw.attributes}
    chosen = trade.choose(parts or None, split, path or folder.path)
    notes = [] if chosen is None else [f"split {split}: {len(chosen)} of {len(entries)} entries"]
    if not parts and split != "all":
        notes.append(f"no split is known: all {len(entries)} entries are read")
    reader = EntryReader(Grammar.of(description.types) if description.types else None)
    drafts = []
    for raw in entries:
        if (chosen is None or raw.id in chosen) and raw.markup is None and raw.spans is None:
            drafts.append(Draft(raw.id, None, raw.attributes, raw.text))
        elif chosen is None or raw.id in chosen:
            entry = reader.read(raw)
            drafts.append(Draft(raw.id, entry, raw.attributes, entry.text))
    waiting = sum(draft.truth is None for draft in drafts)
    if waiting:
        notes.append(f"{waiting} entries have spans that are null: they wait for their truth")
    notes += reader.notes()
    if not description.types:
        description = replace(description, types=types_in([draft.truth for draft in drafts if draft.truth]))
        notes.append(f"dataset.toml names no types; the truth has {', '.join(t.name for t in description.types)}")
    known = {item.name for item in description.types}
    for raw, draft in zip((raw for raw in entries if chosen is None or raw.id in chosen), drafts, strict=True):
        for span in draft.truth.spans if draft.truth is not None else ():
            if span.type not in known:
                what = f"has an entity of type {span.type[:80]!r}, which dataset.toml does not name"
                raise DatasetError(
                    what, file=raw.file, line=raw.line, item=raw.id, remedy="Add a [[types]] table for it"
                )
    if text != "reference":
        description = replace(description, name=f"{description.name}-{text}")
    return assemble(folder, description, drafts, notes=notes, with_images=False)


def entries_file(folder: Folder, text: str) -> Path | None:
    """The file with one reading of the entries; None where there is no truth yet."""
    settings = folder.settings
    assert settings is not None
    if text != "reference":
        if text not in settings.truth.texts:
            known = ", ".join(("reference", *settings.truth.texts))
            raise UsageError(f"the dataset {settings.description.name} has no text {text!r}; it has {known}")
        named = settings.truth.texts[text]
    else:
        named = settings.truth.file
    if named:
        if not (folder.path / named).is_file():
            remedy = "Mend it under [truth] in dataset.toml"
            raise DatasetError("there is no such file", file=folder.path / named, remedy=remedy)
        return folder.path / named
    return next(
        (place / name for place in (folder.truth, folder.path) for name in FILES if (place / name).is_file()), None
    )


def read_entries(path: Path, folder: Folder) -> list[RawEntry]:
    """The entries in a file, by its ending: `.jsonl` and `.json`, `.csv`, or one entry a line.

    Raises DatasetError where an entry is malformed or two have one id.
    """
    settings = folder.settings
    assert settings is not None
    suffix = path.suffix.lower()
    if suffix in (".jsonl", ".ndjson", ".json"):
        return [entry_from_record(record.id, record.value, path, record.line) for record in
                read_records(path, id_key=settings.truth.id).items]  # fmt: skip
    if suffix == ".csv":
        return _from_table(path, settings.truth.id, settings.truth.markup)
    return [
        RawEntry(str(index), path, line, text)
        for index, (line, text) in enumerate((line, text) for line, text in read_lines(path) if text.strip())
    ]


def entry_from_record(identifier: str, value: dict[str, Any], path: Path, line: int | None) -> RawEntry:
    """An entry from JSON: `{xml}`, or `{text, spans}`; raises DatasetError where it is neither."""
    attributes = value.get("attributes", {})
    if not isinstance(attributes, dict):
        raise DatasetError("has attributes that are no object", file=path, line=line, item=identifier)
    plain = {str(key): str(item) for key, item in attributes.items() if isinstance(item, (str, int, float))}
    if isinstance(value.get("split"), str):
        plain["split"] = value["split"]
    if isinstance(value.get("xml"), str):
        return RawEntry(identifier, path, line, value["xml"], attributes=plain)
    text, spans = value.get("text"), value.get("spans", [])
    if not isinstance(text, str) or not (spans is None or isinstance(spans, list)):
        remedy = "Give it xml, or text and spans"
        raise DatasetError("holds no entry", file=path, line=line, item=identifier, remedy=remedy)
    return RawEntry(identifier, path, line, None, text, spans, plain)


def _from_table(path: Path, id_column: str, markup_column: str) -> list[RawEntry]:
    table = read_table(path, required=tuple(name for name in (id_column, markup_column) if name))
    markup = markup_column or next((name for name in MARKUP_COLUMNS if name in table.columns), "")
    if not markup:
        remedy = f'Name it {MARKUP_COLUMNS[0]}, or write [truth] markup = "COLUMN"'
        raise DatasetError("has no column of entries", file=path, line=1, remedy=remedy)
    identifier = id_column or next((name for name in ("document", "id") if name in table.columns), "")
    entries, seen = [], dict[str, int]()
    for index, row in enumerate(table.rows):
        name = row.get(identifier).strip() if identifier else str(index)
        if not name or name in seen:
            what = f"stands a second time (first in line {seen[name]})" if name else f"has an empty {identifier}"
            raise DatasetError(what, file=path, line=row.line, item=name, remedy="Give each entry an id of its own")
        seen[name] = row.line
        others = {key: cell.strip() for key, cell in row.cells.items() if key not in ("", identifier, markup)}
        attributes = {key: cell for key, cell in others.items() if cell}
        entries.append(RawEntry(name, path, row.line, row.get(markup), attributes=attributes))
    return entries


@dataclass
class EntryReader:
    """Reads entries by a grammar (None: every tag is taken) and counts what had to be mended."""

    grammar: Grammar | None
    mended: Counter[str] = field(default_factory=Counter)

    def read(self, raw: RawEntry) -> Entry:
        """The entry with its entities; raises DatasetError with file, line and id where its truth is not certain."""
        if raw.markup is None:
            try:
                return entry_from_offsets(raw.text, raw.spans or ())
            except ValueError as wrong:
                raise DatasetError(str(wrong), file=raw.file, line=raw.line, item=f"entry {raw.id}") from None
        from histeval.entities.markup import read_markup

        entry, faults = read_markup(raw.markup, self.grammar)
        for fault in faults:
            if fault.kind in UNCERTAIN:
                item = f"entry {raw.id}, character {fault.offset + 1}"
                remedy = "Mend the markup; `histeval check` lists every fault"
                raise DatasetError(fault.what, file=raw.file, line=raw.line, item=item, remedy=remedy)
            self.mended[fault.kind] += 1
        return entry

    def notes(self) -> list[str]:
        """What was mended, one sentence for each kind of fault."""
        from histeval.entities.markup import FAULTS

        return [f"{FAULTS[kind]}: {number} times in the ground truth" for kind, number in self.mended.items()]


def types_in(entries: Sequence[Entry]) -> tuple[EntityType, ...]:
    """The types of some entries and their nesting, as they occur; each keeps its name where nesting is dropped."""
    children: dict[str, dict[str, None]] = {}
    roots: set[str] = set()
    for entry in entries:
        for span in entry.spans:
            children.setdefault(span.type, {})
            if span.parent is None:
                roots.add(span.type)
            else:
                children[entry.spans[span.parent].type][span.type] = None
    return tuple(EntityType(name, tuple(inner), name in roots, name) for name, inner in sorted(children.items()))


def description_for(folder: Folder) -> Description:
    """The description of a folder; in the published layout with the published types, unless it names its own."""
    if folder.settings is None:
        return published_description("directories")
    description = folder.settings.description
    if not description.types and trade_folder(folder.path) is not None:
        # How the tags of the published layout are spelled belongs to its types.
        known = published_description("directories")
        return replace(description, types=entity_types(), extra={**known.extra, **description.extra})
    return description
