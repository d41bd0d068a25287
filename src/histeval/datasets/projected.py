"""A dataset of entries on another version of its texts, OCR usually: annotations carried over, losses listed."""

from __future__ import annotations

import csv
import io
import json
import os
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.files import atomic_write, make_folder, reason, shown
from histeval.datasets.importing import toml_text
from histeval.datasets.records import ID_KEYS, read_records
from histeval.datasets.registry import load_dataset
from histeval.datasets.settings import FILE
from histeval.datasets.tables import read_table
from histeval.entities.projection import Projection, project_all
from histeval.entities.spans import Entry
from histeval.errors import DatasetError, OutputError, UsageError
from histeval.tasks.description import Description

ENTRIES, DROPPED = "entries.jsonl", "dropped.csv"
LONGEST_TEXT = 1_000_000


@dataclass(frozen=True)
class ProjectedDataset:
    """What was written: the folder, how many entries, those dropped with the reason, and what else is to be known."""

    folder: Path
    entries: int
    dropped: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]

    def __str__(self) -> str:
        whole = self.entries + len(self.dropped)
        return f"{self.folder}: {self.entries} of {whole} entries; {len(self.dropped)} dropped, see {DROPPED}"


def project_dataset(
    path: Path | str, noisy: Path | str, out: Path | str, *, text: str = "reference", split: str = "all"
) -> ProjectedDataset:
    """Carry the annotations of a dataset of directories onto other texts of its entries; write a dataset to `out`.

    `noisy` is a .jsonl file of `{"id": ..., "text": ...}` or a CSV file with the columns id and text. An entry is
    dropped where an element has no text left (the published rule); `dropped.csv` lists each with the reason, also
    those without a noisy text. Raises DatasetError, UsageError or OutputError.
    """
    dataset = load_dataset("directories", path, text=text, split=split)
    texts = read_noisy(noisy)
    entries = {key: item.truth for key, item in dataset.documents.items() if isinstance(item.truth, Entry)}
    done, without_text, without_entry = project_all(entries, texts)
    if not done:
        remedy = f"Ids of the dataset look like {', '.join(list(entries)[:3])}"
        raise DatasetError("has no text for any entry of the dataset", file=noisy, remedy=remedy)
    dropped = [(key, found.reason) for key, found in done.items() if found.reason is not None]
    dropped += [(key, "there is no noisy text for it") for key in without_text]
    notes = []
    if without_text:
        notes.append(f"{len(without_text)} entries have no noisy text")
    if without_entry:
        notes.append(f"{len(without_entry)} noisy texts belong to no entry: {', '.join(without_entry[:5])}")
    kept = {key: found.entry for key, found in done.items() if found.entry is not None}
    _write(Path(out), dataset, done, dropped)
    return ProjectedDataset(Path(out), len(kept), tuple(dropped), tuple(notes))


def read_noisy(path: Path | str) -> dict[str, str]:
    """Texts by id, from a .jsonl or a CSV file; raises DatasetError with file and line for anything else."""
    path = Path(path)
    found: dict[str, str] = {}
    if path.suffix.lower() == ".csv":
        table = read_table(path, required=("text",))
        column = next((name for name in ID_KEYS if name in table.columns), None)
        if column is None:
            raise DatasetError("has no column of ids", file=path, line=1, remedy="Name it id")
        for row in table.rows:
            key = row.get(column).strip()
            if not key or key in found:
                fault = "stands a second time" if key else "has an empty id"
                raise DatasetError(fault, file=path, line=row.line, item=key[:80])
            found[key] = row.get("text")
    else:
        for record in read_records(path).items:
            value = record.value.get("text")
            if not isinstance(value, str):
                raise DatasetError("has no text", file=path, line=record.line, item=record.id[:80])
            found[record.id] = value
    for key, value in found.items():
        if len(value) > LONGEST_TEXT:
            raise DatasetError(f"is a text of {len(value)} characters, no entry", file=path, item=key[:80])
    return found


def _write(out: Path, dataset: Dataset, done: Mapping[str, Projection], dropped: list[tuple[str, str]]) -> None:
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise UsageError(f"{shown(out)} exists already; name another folder, or move it away")
    lines = []
    for key, found in done.items():
        if found.entry is not None:
            document = dataset.documents[key]
            record: dict[str, Any] = {"id": key, "text": found.entry.text, "spans": _spans(found.entry)}
            record["attributes"] = dict(document.attributes)
            lines.append(json.dumps(record, ensure_ascii=True))
    table = io.StringIO()
    writer = csv.writer(table, lineterminator="\n")
    writer.writerow(("id", "reason"))
    writer.writerows((key, _one_line(why)) for key, why in dropped)
    part = out.parent / f".{out.name}-{secrets.token_hex(4)}.part"
    try:
        make_folder(part)
        atomic_write(part / ENTRIES, "".join(line + "\n" for line in lines))
        atomic_write(part / DROPPED, table.getvalue())
        atomic_write(part / FILE, dataset_toml(dataset.description))
        if out.exists():
            out.rmdir()
        os.rename(part, out)
    except OSError as fault:
        raise OutputError(f"{shown(out)} could not be written: {reason(fault)}") from None
    finally:
        shutil.rmtree(part, ignore_errors=True)


def _one_line(text: str) -> str:
    # A spreadsheet takes a cell that begins so for a formula.
    line = " ".join(text.split())
    return "'" + line if line[:1] in ("=", "+", "-", "@") else line


def _spans(entry: Entry) -> list[dict[str, Any]]:
    found = []
    for span in entry.spans:
        item: dict[str, Any] = {"type": span.type, "start": span.start, "end": span.end}
        if span.parent is not None:
            item["parent"] = span.parent
        found.append(item)
    return found


def dataset_toml(description: Description) -> str:
    """The settings of a projected dataset: those of the dataset it came from, under another name."""
    lines = [
        "# Annotations carried over by `histeval project`; docs/taggers.md explains the rule.",
        'task = "directories"',
        f"name = {toml_text(description.name[:70] + '-projected')}",
    ]
    for key in ("title", "text", "period", "unit", "licence", "citation", "published", "source"):
        value = getattr(description, key)
        if value:
            lines.append(f"{key} = {toml_text(value)}")
    if description.languages:
        lines.append(f"languages = [{', '.join(map(toml_text, description.languages))}]")
    lines += ["", "[truth]", f"file = {toml_text(ENTRIES)}"]
    for kind in description.types:
        lines += ["", "[[types]]", f"name = {toml_text(kind.name)}", f"root = {str(kind.root).lower()}"]
        lines.append(f"children = [{', '.join(map(toml_text, kind.children))}]")
        lines.append(f"flat = {toml_text(kind.flat or '')}")
        if kind.flat_in:
            inner = ", ".join(f"{toml_text(key)} = {toml_text(value or '')}" for key, value in kind.flat_in.items())
            lines.append(f"flat_in = {{ {inner} }}")
        if kind.title:
            lines.append(f"title = {toml_text(kind.title)}")
    return "\n".join(lines) + "\n"
