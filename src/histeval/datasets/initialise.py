"""A dataset from a folder of images or texts: what is there, a commented dataset.toml, truth files to fill in.

Nothing that exists is overwritten. Truth files that are not filled in yet are no truth: their documents wait.
"""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from histeval.datasets.files import (
    atomic_write,
    decode,
    inside,
    list_folder,
    make_folder,
    natural_key,
    read_text,
    shown,
)
from histeval.datasets.formats.pages import dataset_toml as pages_toml
from histeval.datasets.identity import composed, dataset_name
from histeval.datasets.images import SUFFIXES, images_of
from histeval.datasets.importing import toml_text
from histeval.datasets.layout import IIIF, NOT_DOCUMENTS, TRUTH_FOLDERS, find_task
from histeval.datasets.published import AUTHORITIES
from histeval.datasets.settings import FILE, read_settings
from histeval.datasets.sources import IGNORED
from histeval.errors import DatasetError, UsageError
from histeval.tasks.registry import ALIASES

COLUMNS = ("document", "send_date", "sender_persons", "receiver_persons", "has_signatures")
"""Columns of the table of letters to fill in."""
_TASKS = ("letters", "manuscripts", "directories")
_NO_TRUTH = (FILE, "canvases.csv", *(f"{name}.csv" for name in AUTHORITIES), *NOT_DOCUMENTS)
"""Files that may stand beside truth without being any."""
_OWN_FOLDERS = ("images", "texts", "page", "alto", *TRUTH_FOLDERS)
_TRUTH = (".json", ".jsonl", ".csv")


@dataclass(frozen=True)
class Found:
    """What a folder holds: page images by document, text files, truth files, and where the images are."""

    images: Mapping[str, tuple[Path, ...]]
    images_in: str
    texts: tuple[Path, ...]
    truth: tuple[Path, ...]
    others: tuple[str, ...] = ()
    """Files that an import could read (.xml and the like), by name."""
    unread: tuple[str, ...] = ()
    """Files and folders that nothing reads (a PDF, a folder in a folder of images), by name."""


@dataclass(frozen=True)
class Initialised:
    """What `initialise` found and made: `written` and `kept` are paths relative to the folder, `next` the commands
    that come next."""

    path: Path
    task: str
    found: Found
    written: tuple[str, ...]
    kept: tuple[str, ...]
    next: tuple[str, ...]
    notes: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        pages = [len(paths) for paths in self.found.images.values()]
        lines = [f"{shown(self.path)}:"]
        if pages:
            spread = f"{min(pages)}" if min(pages) == max(pages) else f"{min(pages)} to {max(pages)}"
            lines.append(f"  {sum(pages)} images of {len(pages)} documents ({spread} pages each)")
        else:
            lines.append("  no images")
        lines.append(f"  {len(self.found.texts)} texts, {len(self.found.truth)} files of truth")
        if self.found.others:
            lines.append(f"  {len(self.found.others)} files that `histeval import` may read, {self.found.others[0]}")
        if self.found.unread:
            more = f" and {len(self.found.unread) - 5} more" if len(self.found.unread) > 5 else ""
            lines.append(f"  left alone, since nothing reads it: {', '.join(self.found.unread[:5])}{more}")
            if any(name.lower().endswith(".pdf") for name in self.found.unread):
                lines.append("  save the pages of a PDF as images, one a page (pdfimages or pdftoppm do)")
        lines += [f"wrote {name}" for name in self.written]
        lines += [f"kept {name}, which was there" for name in self.kept]
        lines += list(self.notes)
        return "\n".join([*lines, "next:", *(f"  {command}" for command in self.next)])


def initialise(task: str, folder: Path | str) -> Initialised:
    """Makes a dataset of the files in a folder: writes a dataset.toml and truth files to fill in, where none are.

    Raises UsageError for an unknown task, DatasetError where the folder cannot be read or is a dataset for another
    task, OutputError where it cannot be written to.
    """
    task, path = ALIASES.get(task, task), Path(folder)
    if task not in _TASKS:
        raise UsageError(f"there is no task {task!r}; there are {', '.join(_TASKS)}")
    if not os.path.isdir(path):
        what = "is a file, not a folder" if os.path.exists(path) else "there is no such folder"
        raise DatasetError(what, file=shown(path), remedy="Make it and put images or texts into it")
    _refuse_other(task, path)
    found = look(path)
    if task == "manuscripts" and found.texts and not found.images:
        found = replace(found, images_in="images")  # texts alone are a dataset, too; images may come later
    notes: list[str] = []
    files = _truth_files(task, path, found, notes)
    files[FILE] = _settings(task, path, found)
    written, kept = [], []
    for name, text in files.items():
        target = inside(path, name)
        if os.path.lexists(target):
            kept.append(name)
            continue
        make_folder(target.parent)
        atomic_write(target, text)
        written.append(name)
    return Initialised(path, task, found, _short(written), _short(kept), _next(task, path, found), tuple(notes))


def look(folder: Path) -> Found:
    """What a folder holds. Images lie in `images/`, in the folder itself, or in a folder for each document."""
    images_in = "images" if (folder / "images").is_dir() else "."
    images = images_of(folder / images_in, subfolders=True)
    texts: list[Path] = []
    truth: list[Path] = []
    others: list[str] = []
    for place in (folder, *(folder / name for name in (*TRUTH_FOLDERS, "texts", "page", "alto"))):
        for name in list_folder(place) if place.is_dir() else ():
            file, suffix = place / name, os.path.splitext(name)[1].lower()
            if name.startswith(".") or name in _NO_TRUTH or not file.is_file():
                continue
            if suffix == ".txt":
                texts.append(file)
            elif suffix in _TRUTH and not is_unfilled(file.read_bytes()[: 1 << 22]):
                truth.append(file)
            elif suffix in (".xml", ".hocr", ".zip", ".xlsx", ".conll", ".tsv", ".ann", ".tei"):
                others.append(file.relative_to(folder).as_posix())
    unread = tuple(_unread(folder, images_in, others))
    return Found(images, images_in, tuple(texts), tuple(truth), tuple(others), unread)


def _unread(folder: Path, images_in: str, others: Sequence[str]) -> Iterator[str]:
    """What lies among images and texts and is none: other files, and folders with images that lie too deep."""
    read = {*SUFFIXES, *_TRUTH, ".txt", ".toml", ".md"}
    for name in list_folder(folder):
        path = folder / name
        if name.startswith(".") or name.casefold() in IGNORED or name in others or not path.is_file():
            continue
        if os.path.splitext(name)[1].lower() not in read:
            yield name
    images = folder / images_in
    for document in (images, *(path for path in map(images.joinpath, list_folder(images)) if path.is_dir())):
        if document == folder or (document.parent == folder and document.name in _OWN_FOLDERS and document != images):
            continue
        inside = [document / name for name in list_folder(document) if not name.startswith(".")]
        has_images = any(path.suffix.lower() in SUFFIXES for path in inside)
        for path in inside:
            name = path.relative_to(folder).as_posix()
            if path.is_dir():
                if document != images and any(inner.suffix.lower() in SUFFIXES for inner in path.iterdir()):
                    yield f"{name}/"
            elif has_images and path.suffix.lower() not in SUFFIXES and path.name.casefold() not in IGNORED:
                yield name


def _truth_files(task: str, folder: Path, found: Found, notes: list[str]) -> dict[str, str]:
    """Truth files to fill in, by name; none where there is truth already."""
    if found.truth:
        notes.append(f"truth is there ({found.truth[0].name}); nothing is added to it")
        return {}
    documents = sorted(found.images, key=natural_key)
    if not documents and task != "directories" and not (task == "manuscripts" and found.texts):
        how = "NAME_p1.jpg, NAME_p2.jpg ..., or a folder for each document"
        notes.append(f"no image is there yet: put {how} into {shown(folder)} and init again")
    if task == "manuscripts":
        record = {"folios": [{"folio": None, "text": None, "addition1": None}]}
        words = json.dumps(record, indent=2) + "\n"
        return {f"ground_truths/{name}.json": words for name in documents}
    if task == "letters":
        files = {"ground_truths/letters.csv": _csv([COLUMNS, *((name, "", "", "", "") for name in documents)])}
        persons = ("identifier_propertyID", "identifier_value", "name", "alternateName")
        return {**files, "ground_truths/persons.csv": _csv([persons])}
    lines = []
    for text in found.texts:
        for number, line in enumerate(read_text(text).splitlines(), start=1):
            if line.strip():
                entry = {"id": f"{text.stem}_{number}", "text": line.strip(), "spans": None}
                lines.append(json.dumps({**entry, "attributes": {"page": text.stem}}, ensure_ascii=False))
    if not lines:
        notes.append("no text is there yet: put a .txt file for each page, an entry a line, into texts/ and init again")
        return {}
    return {"entries.jsonl": "\n".join(lines) + "\n"}


def _csv(rows: Sequence[Sequence[str]]) -> str:
    out = io.StringIO()
    csv.writer(out, lineterminator="\n").writerows(rows)
    return out.getvalue()


def is_unfilled(data: bytes) -> bool:
    """Whether a file is a truth file in which nothing was filled in yet: all texts and spans are null, or all cells
    but the first are empty."""
    from histeval.datasets.manuscripts import is_waiting

    try:
        text = decode(data, "")
    except DatasetError:
        return False
    if not text.strip():
        return True
    if not text.lstrip().startswith(("{", "[")):
        rows = list(csv.reader(io.StringIO(text)))
        return rows[0][0] in (COLUMNS[0], "identifier_propertyID") and not any(
            cell.strip() for row in rows[1:] for cell in row[1:]
        )
    with suppress(ValueError, RecursionError):
        if is_waiting(json.loads(text)):
            return True
    values: list[Any] = []
    for line in text.splitlines():
        try:
            values.append(json.loads(line) if line.strip() else None)
        except (ValueError, RecursionError):
            return False
    entries = [value for value in values if value is not None]
    return all(
        isinstance(entry, dict) and "spans" in entry and entry["spans"] is None and "xml" not in entry
        for entry in entries
    )


def _settings(task: str, folder: Path, found: Found) -> str:
    """The commented dataset.toml; what a IIIF manifest says of title, source and licence stands in it."""
    name = folder.resolve().name
    known = _manifest(folder)
    if task == "manuscripts":
        extra = ['attributes_file = "canvases.csv"'] if (folder / "canvases.csv").is_file() else []
        text = pages_toml(name, found.images_in, extra)
    elif task == "letters":
        text = _letters_toml(name, found.images_in)
    else:
        text = _entries_toml(name)
    for key, value in known.items():
        line = f"{key} = {toml_text(value)}"
        found_line = re.search(rf"^(# )?{key} = .*$", text, re.MULTILINE)
        if found_line is not None:
            text = text[: found_line.start()] + line + text[found_line.end() :]
        else:
            text = text.replace("\ntitle = ", f"\n{line}\ntitle = ", 1)
    return text


def _manifest(folder: Path) -> dict[str, str]:
    try:
        value = json.loads(read_text(folder / IIIF, limit=1 << 26))
    except (DatasetError, ValueError, RecursionError):
        return {}
    pairs = {"source": "manifest", "licence": "rights", "title": "label"}
    found = {key: value.get(name) for key, name in pairs.items()} if isinstance(value, dict) else {}
    return {key: text[:500] for key, text in found.items() if isinstance(text, str) and text}


def _head(task: str, name: str) -> list[str]:
    return [
        "# What this dataset says of itself. docs/datasets.md explains every setting.",
        f"task = {toml_text(task)}",
        f"name = {toml_text(dataset_name(name, task))}",
        f"title = {toml_text(composed(name))}",
        '# languages = ["de"]            # as ISO codes',
        '# period = "1890-1905"',
        '# licence = "CC BY 4.0"',
        '# citation = ""',
        "# published = 2026-01-31       # the day the ground truth became public, if it did",
    ]


def _letters_toml(name: str, images_in: str) -> str:
    lines = _head("letters", name)
    if images_in != "images":
        lines.append(f"images = {toml_text(images_in)}")
    lines += [
        "",
        "# The truth is ground_truths/letters.csv: a letter a row, | between several values of a cell, None where a",
        "# letter has none. The persons are ground_truths/persons.csv: a name, and in alternateName every other form",
        "# of it, with commas between. Files that `histeval import` makes (.json) count before these tables.",
        "[truth]",
        'id = "document"',
        "",
        "# What is asked of each letter. headline = true: it counts in the F1 that ranks.",
    ]
    for field_name, kind in (("send_date", "date"), ("sender_persons", "person"), ("receiver_persons", "person")):
        lines += ["", "[[fields]]", f'name = "{field_name}"', f'kind = "{kind}"', "headline = true"]
        if kind == "person":
            lines.append('authority = "persons"')
    return "\n".join(lines) + "\n"


def _entries_toml(name: str) -> str:
    lines = _head("directories", name)
    lines += [
        'unit = "page"                   # what was drawn independently: document, or an attribute such as page',
        "",
        "# The entity types and how they nest. Without [[types]] they are taken from the truth.",
        "# [[types]]",
        '# name = "PER"',
        "#",
        "# [[types]]",
        '# name = "SPAT"',
        '# children = ["LOC"]            # what may stand directly inside',
        "#",
        "# [[types]]",
        '# name = "LOC"',
        "# root = false                  # stands only inside others",
    ]
    return "\n".join(lines) + "\n"


def _short(names: Sequence[str]) -> tuple[str, ...]:
    """Names for a message: many files of one folder are one line."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(name.rpartition("/")[0], []).append(name)
    short: list[str] = []
    for folder, inner in folders.items():
        short += inner if len(inner) <= 3 else [f"{folder}/ with {len(inner)} files"]
    return tuple(short)


def _next(task: str, folder: Path, found: Found) -> tuple[str, ...]:
    """The three commands that come next, quoted as a shell wants them."""

    def command(*words: object) -> str:
        return shlex.join(["histeval", *map(str, words)])

    check = command("check", task, folder)
    if found.others and not found.truth:
        source = command("import", task, folder / found.others[0], "--out", folder)
        return (source, check, command("run", task, folder, "--system", "SYSTEM"))
    run = command("run", task, folder, "--system", "SYSTEM", "--out", "answers")
    if task == "manuscripts" and found.texts and not found.truth:
        # Texts of pages are what somebody transcribed: they become the truth.
        return (command("import", task, found.texts[0].parent, "--out", folder), check, run)
    return (check, run, command("score", task, folder, "answers"))


def _refuse_other(task: str, path: Path) -> None:
    """Raises DatasetError where the folder is a dataset for another task, by its dataset.toml or its layout."""
    settings = read_settings(path)
    other = settings.description.task if settings is not None else ""
    if settings is None:
        with suppress(DatasetError):
            other = find_task(path)
    if other not in ("", task):
        remedy = f"Name that task, `{shlex.join(['histeval', 'init', other, str(path)])}`, or another folder"
        raise DatasetError(f"is a dataset for {other}, not for {task}", file=shown(path), remedy=remedy)
