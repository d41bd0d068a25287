"""Checks of manuscript pages."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from histeval.datasets.base import Fault
from histeval.datasets.checks.common import Faults, begin, line_of, read_records_on
from histeval.datasets.checks.images import check_images
from histeval.datasets.layout import NOT_DOCUMENTS, Folder
from histeval.datasets.manuscripts import is_waiting
from histeval.datasets.records import Record

_REFERENCE = re.compile(r"\[(\d+)([rv]?)\]")
_ADDITION = re.compile(r"addition([1-9]\d{0,3})")


def check_manuscripts(path: Path | str) -> list[Fault]:
    """Every fault of a dataset of manuscript pages; raises DatasetError where it is no folder of one."""
    faults, folder = begin("manuscripts", path)
    records = read_records_on(faults, *_source(folder))
    seen: dict[str, str] = {}
    for record in records:
        _check_page(faults, record, seen, folder)
    if not records:
        faults.add(folder.truth, "holds no page with ground truth", "Write image_1.json, as docs/datasets.md shows")
    check_images(faults, folder, {record.id for record in records})
    return faults.sorted()


def _source(folder: Folder) -> tuple[Path, str, tuple[str, ...]]:
    named = folder.settings.truth if folder.settings is not None else None
    if named is not None and named.file:
        return folder.path / named.file, named.id, NOT_DOCUMENTS
    for name in ("pages.jsonl", "truth.jsonl"):
        if (folder.truth / name).is_file():
            return folder.truth / name, "", NOT_DOCUMENTS
    return folder.truth, "", NOT_DOCUMENTS


def _check_page(faults: Faults, record: Record, seen: dict[str, str], folder: Folder) -> None:
    skipped = {"document", "id", *(folder.settings.attributes if folder.settings is not None else ())}
    if folder.settings is None and not re.search(r"\d", record.id):
        faults.add(record.file, "has no number in its name", "Name it as its image, image_N.json", item=record.id)
    if folder.settings is not None and is_waiting(record.value):
        faults.add(record.file, "waits for its truth: every text is null", "Fill it in", line=record.line, error=False)
        return
    if isinstance(record.value.get("folios"), list):
        pairs = [(f"folio {number}", item) for number, item in enumerate(record.value["folios"], start=1)]
    else:
        pairs = []
        for reference, folios in record.value.items():
            if reference in skipped:
                continue
            line = _line(record, reference)
            if not _REFERENCE.fullmatch(reference):
                what = "is not a folio like [3r]"
                faults.add(
                    record.file, what, "Write the folio in brackets", line=line, item=reference[:80], error=False
                )
            if reference in seen and seen[reference] != record.id:
                what = f"is the folio of {seen[reference]} too"
                faults.add(record.file, what, "Mend the folio of one of them", line=line, item=reference[:80])
            seen.setdefault(reference, record.id)
            items = folios if isinstance(folios, list) else [folios]
            if not isinstance(folios, list):
                faults.add(record.file, "is not a list of folios", "Put it in [ ]", line=line, item=reference[:80])
            if len(items) > 1:
                what = "has several entries; the published protocol scores only the first"
                faults.add(record.file, what, "Give each its own folio", line=line, item=reference[:80], error=False)
            pairs += [(reference, item) for item in items]
    if not pairs:
        faults.add(record.file, "holds no folio", 'Write {"[3r]": [{"folio": "3", "text": "..."}]}', line=record.line)
    for reference, item in pairs:
        _check_folio(faults, record, reference, item)


def _check_folio(faults: Faults, record: Record, reference: str, folio: Any) -> None:
    place: dict[str, Any] = {"line": _line(record, reference), "item": reference[:80]}
    if not isinstance(folio, dict):
        faults.add(record.file, "is not an object with folio and text", 'Write {"folio": "", "text": ""}', **place)
        return
    for key in ("folio", "text"):
        if key not in folio:
            faults.add(record.file, f"has no {key}", 'Write "" where there is none', **place)
    numbers = []
    for key, value in folio.items():
        match = _ADDITION.fullmatch(key)
        if match is not None:
            numbers.append(int(match[1]))
        elif key not in ("folio", "text"):
            remedy = "Use folio, text, addition1, addition2 ..."
            faults.add(record.file, f"has the unknown key {key[:80]!r}", remedy, **place)
        if value is None:
            faults.add(record.file, f"{key[:80]} is null and read as empty", 'Write ""', **place, error=False)
        elif not isinstance(value, str):
            faults.add(record.file, f"{key[:80]} is not a text", "Put it in quotes", **place)
    missing = sorted(set(range(1, max(numbers, default=0))) - set(numbers))
    if missing:
        what = f"has addition{max(numbers)} and no addition{missing[0]}; the published protocol stops at the gap"
        faults.add(record.file, what, "Number the additions without gaps", **place)
    text, number = folio.get("text"), folio.get("folio")
    if isinstance(text, str) and not text.strip():
        faults.add(record.file, "has an empty text", "Is the page really blank?", **place, error=False)
    match = _REFERENCE.fullmatch(reference)
    if match is not None and isinstance(number, str) and number.strip() and number.strip() != match[1]:
        what = f"has the folio number {number[:40]!r}"
        # Other digits contradict; what a page itself has, iii say, may be right.
        remedy = f'Write "{match[1]}", or "" where none is on the page'
        faults.add(record.file, what, remedy, **place, error=number.strip().isdecimal())


def _line(record: Record, reference: str) -> int | None:
    """The line of a folio, where the page has a file of its own or a line of its own."""
    if record.line is None and record.file.stem == record.id:
        return line_of(record.file, f'"{reference}"')
    return record.line
