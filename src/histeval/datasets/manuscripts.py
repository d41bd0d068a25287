"""Manuscripts: a JSON file a page with its folios, `{"[3r]": [{"folio", "text", "addition1", ...}]}`."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from histeval.datasets.assemble import Draft, assemble
from histeval.datasets.base import Dataset
from histeval.datasets.files import natural_key
from histeval.datasets.images import split_page
from histeval.datasets.layout import NOT_DOCUMENTS, Folder, described, open_folder
from histeval.datasets.published import description_of
from histeval.datasets.records import Record, Records, read_records
from histeval.errors import DatasetError
from histeval.tasks.truth import PageTruth

_NUMBER = re.compile(r"(\d+)\D*$")
_SIDE = {"r": "recto", "v": "verso"}


def load(path: Path | str, *, text: str = "reference", split: str = "test") -> Dataset:
    """The manuscript pages in a folder; `text` and `split` belong to directories and change nothing here."""
    folder = open_folder(path, "manuscripts")
    description = described(folder, description_of("manuscripts", folder.name))
    records = read_pages(folder)
    chosen = folder.settings.attributes if folder.settings is not None else ()
    drafts, notes = [], records.notes
    waiting = {record.id for record in records.items if folder.settings is not None and is_waiting(record.value)}
    if waiting:
        notes = [*notes, f"{len(waiting)} documents have truth files with nothing but null: they wait for their truth"]
    for record in sorted(records.items, key=lambda record: natural_key(record.id)):
        if record.id in waiting:
            drafts.append(Draft(record.id, None))
            continue
        truth = page_truth(record, chosen)
        unit = record.id if description.unit == "page" else ""
        drafts.append(Draft(record.id, truth, _attributes(record, truth, chosen), unit=unit))
    return assemble(folder, description, drafts, notes=notes)


def is_waiting(value: Any) -> bool:
    """Whether the truth of a page is what `histeval init` writes, nothing filled in: every text null."""
    folios = value.get("folios") if isinstance(value, dict) else None
    if not isinstance(folios, list) or not folios:
        return False
    return all(isinstance(folio, dict) and all(text is None for text in folio.values()) for folio in folios)


def read_pages(folder: Folder) -> Records:
    """The pages' truth as JSON, in file order."""
    named = folder.settings.truth if folder.settings is not None else None
    if named is not None and named.file:
        source = folder.path / named.file
        if not source.exists():
            raise DatasetError("there is no such file", file=source, remedy="Mend file under [truth] in dataset.toml")
        return read_records(source, id_key=named.id, leave_out=frozenset(NOT_DOCUMENTS))
    if any(path.name not in NOT_DOCUMENTS for path in folder.truth.glob("*.json")):
        return read_records(folder.truth, leave_out=frozenset(NOT_DOCUMENTS))
    for name in ("pages.jsonl", "truth.jsonl"):
        if (folder.truth / name).is_file():
            return read_records(folder.truth / name)
    if folder.settings is not None:
        return Records([], [])
    raise DatasetError("holds no image_N.json", file=folder.truth, remedy="See docs/datasets.md for the layouts")


def page_truth(record: Record, attributes: tuple[str, ...] = ()) -> PageTruth:
    """The folios in the truth of one page: `{reference: [folio, ...]}`, or `{"folios": [...]}` as an answer has it.

    Raises DatasetError where a folio is no object or one of its texts no text.
    """
    value = record.value
    found: list[tuple[str, dict[str, str]]] = []
    if isinstance(value.get("folios"), list):
        pairs = [(_reference(folio, position), folio) for position, folio in enumerate(value["folios"], start=1)]
    else:
        pairs = []
        for reference, folios in value.items():
            if reference not in ("document", "id", *attributes):
                pairs += [(reference, folio) for folio in (folios if isinstance(folios, list) else [folios])]
    for reference, folio in pairs:
        if not isinstance(folio, dict):
            raise DatasetError(
                "is not an object with folio and text", file=record.file, line=record.line, item=reference[:80]
            )
        found.append((reference, {key: _text(text, record, f"{reference}/{key}") for key, text in folio.items()}))
    if not found:
        raise DatasetError("holds no folio", file=record.file, line=record.line, item=record.id)
    return PageTruth(tuple(found))


def _reference(folio: Any, position: int) -> str:
    name = folio.get("folio") if isinstance(folio, dict) else None
    return f"[{name}]" if isinstance(name, str) and name else f"[{position}]"


def _text(value: Any, record: Record, item: str) -> str:
    if value is None:
        return ""
    if isinstance(value, (dict, list, bool)):
        raise DatasetError("is not a text", file=record.file, line=record.line, item=item[:120])
    return value if isinstance(value, str) else str(value)


def _attributes(record: Record, truth: PageTruth, chosen: tuple[str, ...]) -> dict[str, str]:
    """Attributes of a page: its number, its folio with recto or verso, and whether it has additions."""
    attributes = {name: str(record.value[name]) for name in chosen if isinstance(record.value.get(name), (str, int))}
    stem, part = split_page(record.id)
    number = _NUMBER.search(stem)
    attributes.setdefault("page", str(part) if part is not None else number[1] if number else record.id)
    references = [reference.strip("[] ") for reference, _ in truth.folios]
    attributes.setdefault("folio", ", ".join(references))
    sides = {_SIDE.get(reference[-1:], "") for reference in references}
    if len(sides) == 1 and "" not in sides:
        attributes.setdefault("side", sides.pop())
    additions = any(
        key.startswith("addition") and text.strip() for _, folio in truth.folios for key, text in folio.items()
    )
    attributes.setdefault("additions", "true" if additions else "false")
    return attributes
