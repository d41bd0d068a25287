"""Import from, and export to, the formats of other programs: datasets and answers.

An import writes everything or nothing. Empty truth files, as `histeval init` makes them, are filled; truth that is
there is never overwritten.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
from collections.abc import Iterable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.files import atomic_write, inside, make_folder, reason, shown
from histeval.datasets.formats import FORMATS, MODELS, Format, ImportReport, Options, Source, find_format, format_named
from histeval.datasets.formats.base import AS_KNOWN
from histeval.datasets.identity import DocumentIds, composed
from histeval.datasets.settings import FILE, read_settings
from histeval.datasets.sources import open_sources
from histeval.errors import DatasetError, OutputError, UsageError
from histeval.tasks.registry import ALIASES

_HOLDS = {
    "letters": "A table has a row of column names and, below it, a row for each letter",
    "manuscripts": "A page has regions with lines of text",
    "directories": "An entry is a text with its entities",
}


def import_dataset(
    task: str,
    sources: Iterable[Path | str],
    out: Path | str,
    format: str | None = None,
    options: Options | None = None,
    *,
    with_images: bool = True,
) -> ImportReport:
    """Makes a dataset in the folder `out` from files of other programs (paths of files, folders or zip archives).

    The format is found by content unless it is named. `options` count before those under [import] in the dataset.toml
    of `out`, where it has one; that file is kept. Images that lie with the files are copied. Raises DatasetError where
    a file cannot be read, UsageError for an unknown format or option, OutputError where `out` has other truth for
    one of the documents or cannot be written to; then `out` is as it was.
    """
    task, out = ALIASES.get(task, task), Path(out)
    chosen, files, images, merged = _prepare(task, sources, out, format, options)
    merged = {**merged, "documents": _documents_of(task, out)}
    report = ImportReport(task, chosen.name, out)
    files = _without_companions(chosen, files, report)
    documents = list(chosen.read(files, merged, report))
    if not documents:
        raise DatasetError(f"holds no document for {task}", file=files[0].path, remedy=_HOLDS[task])
    model = import_module(MODELS[task])
    written: dict[str, str | bytes | Source] = dict(
        model.dataset_files(documents, out.resolve().name or task, merged, report)
    )
    if (out / FILE).exists():
        written.pop(FILE, None)
        report.note(f"{FILE} was there and is kept as it is")
    if with_images and hasattr(model, "images"):
        written.update(_images(model.images(documents, merged, report), images, report))
    _place(out, written)
    return report


def import_answers(
    task: str,
    sources: Iterable[Path | str],
    out: Path | str,
    format: str | None = None,
    options: Options | None = None,
    *,
    dataset: Dataset | None = None,
) -> ImportReport:
    """Writes the same files as answers of a system: a `.jsonl` file that `histeval score` takes.

    `dataset`, where given, brings its [import] options, and the report names answers it has no document for. Raises
    as `import_dataset` does, and OutputError where `out` is there already.
    """
    task, out = ALIASES.get(task, task), Path(out)
    chosen, files, _, merged = _prepare(task, sources, dataset.path if dataset is not None else None, format, options)
    ids = DocumentIds(dataset.documents if dataset is not None else ())
    merged = {**merged, "documents": ids}
    report = ImportReport(task, chosen.name, out)
    files = _without_companions(chosen, files, report)
    documents = list(chosen.read(files, merged, report))
    lines, unknown = [], []
    for answer in import_module(MODELS[task]).answers(documents, merged, report):
        given = str(answer["document"])
        found = ids.find(given)
        if found is not None and found != given:
            report.repair(AS_KNOWN, f"{given} is {found}")
            answer = {**answer, "document": found}
        elif found is None and dataset is not None:
            unknown.append(given)
        lines.append(json.dumps(answer, ensure_ascii=False))
    if not lines:
        raise DatasetError(f"holds no document for {task}", file=files[0].path, remedy=_HOLDS[task])
    if unknown and dataset is not None:
        report.repair(f"an answer for a document that {dataset.name} does not have", *unknown)
    if out.exists():
        raise OutputError(f"{shown(out)} is there already; name another file, or move it away")
    make_folder(out.parent)
    atomic_write(out, "\n".join(lines) + "\n")
    return report


def export_dataset(
    dataset: Dataset,
    format: str,
    out: Path | str,
    options: Options | None = None,
    *,
    answers: Mapping[str, Any] | None = None,
) -> ImportReport:
    """Writes a dataset's ground truth, or the records of `answers` by document id, in a format of other programs.

    `out` is a new or empty folder; a format that makes a single file may also be given a file name. What the format
    cannot say is in the report. Raises UsageError for a format that is only read, OutputError where `out` has files.
    """
    out = Path(out)
    chosen = format_named(format, dataset.task)
    if not chosen.writes:
        known = ", ".join(f.name for f in FORMATS.values() if f.writes and dataset.task in f.tasks)
        raise UsageError(f"the format {format} is only read; written are {known}")
    merged = _merged(dataset.path, dataset.task, chosen, options)
    report = ImportReport(dataset.task, chosen.name, out, "written")
    model = import_module(MODELS[dataset.task])
    taken = model.from_dataset(dataset, report) if answers is None else model.from_answers(dataset, answers, report)
    files = chosen.write(taken, merged, report)
    if not files:
        raise DatasetError(
            "holds nothing that could be written",
            file=dataset.path,
            remedy="Fill in the truth of a document first, or name --answers",
        )
    if out.suffix and len(files) == 1:
        if out.exists():
            raise OutputError(f"{shown(out)} is there already; name another file, or move it away")
        make_folder(out.parent)
        atomic_write(out, next(iter(files.values())))
        return report
    if out.exists() and (not out.is_dir() or any(out.iterdir())):
        raise OutputError(f"{shown(out)} is there already and not empty; name another folder")
    _place(out, dict(files))
    return report


def _documents_of(task: str, out: Path) -> DocumentIds:
    """The ids that a dataset has already, as `histeval init` found them."""
    from histeval.datasets.registry import load_dataset

    if not (out / FILE).is_file():
        return DocumentIds(())
    try:
        return DocumentIds(load_dataset(task, out, split="all").documents)
    except DatasetError:  # no document yet, or truth that is no truth: `check` tells
        return DocumentIds(())


def _prepare(
    task: str, sources: Iterable[Path | str], folder: Path | None, format: str | None, options: Options | None
) -> tuple[Format, list[Source], list[Source], Options]:
    """The format, the files, the images, and the options."""
    if task not in MODELS:
        raise UsageError(f"nothing can be imported for the task {task!r}; there are {', '.join(MODELS)}")
    if format is not None:
        format_named(format, task)
    files, images = open_sources(list(sources))
    chosen = format_named(format, task) if format is not None else find_format(task, files)
    if format is not None and not any(chosen.sniff(source) or _is_named_so(chosen, source) for source in files):
        raise DatasetError(f"is not {chosen.help.split(' (')[0]}", file=files[0].path, remedy="Leave --format away")
    return chosen, files, images, _merged(folder, task, chosen, options)


def _is_named_so(chosen: Format, source: Source) -> bool:
    """Whether a file is called as files of the format are: then reading it says what is wrong, and in which line."""
    return source.suffix in chosen.suffixes and source.suffix not in (".xml", ".txt")


def _without_companions(chosen: Format, files: list[Source], report: ImportReport) -> list[Source]:
    """The files without those that lie beside them (README, LICENSE, a log), which are reported: no files of the format
    by content, and called otherwise than all that are. Formats of pages do so themselves."""
    if report.task == "manuscripts":
        return files
    known = {source.name for source in files if chosen.sniff(source)}
    suffixes = {source.suffix for source in files if source.name in known}
    suffixes |= {".txt"} if chosen.name == "brat" else set()
    beside = [source.name for source in files if source.name not in known and source.suffix not in suffixes]
    if not known or not beside:
        return files
    report.leave_out(f"a file that is no {chosen.name}", *beside)
    return [source for source in files if source.name not in beside]


def _merged(folder: Path | None, task: str, chosen: Format, options: Options | None) -> Options:
    """The options given, over those of the dataset.toml in `folder`. `regions.header` is the key header in regions."""
    settings = read_settings(folder) if folder is not None and folder.is_dir() else None
    if settings is not None and settings.description.task != task:
        raise DatasetError(
            f"is a dataset for {settings.description.task}, not for {task}",
            file=shown(folder or ""),
            remedy=f"Name the task {settings.description.task}, or another folder",
        )
    merged: dict[str, Any] = dict(settings.imports) if settings is not None else {}
    if settings is not None and settings.own_fields:
        # What [[fields]] says of columns is the mapping of a table of letters.
        merged |= {"fields": settings.description.fields, "field_columns": settings.columns}
    known = {option.name for option in chosen.options} | {"regions", "columns", "types"}
    for name, value in (options or {}).items():
        table, _, key = name.partition(".")
        if table not in known:
            raise UsageError(f"the format {chosen.name} has no option {name[:80]!r}; it has {', '.join(sorted(known))}")
        if key:
            inner = merged.get(table, {})
            merged[table] = {**(inner if isinstance(inner, dict) else {}), key: value}
        else:
            merged[name] = value
    return merged


def _images(
    wanted: Mapping[str, tuple[str, str]], images: list[Source], report: ImportReport
) -> dict[str, str | bytes | Source]:
    """The image files to copy, by their path in the dataset. What a page names is matched by the last part of its
    name, as exports keep images in a folder of their own; of several the one nearest to the page is its image."""
    if not images:
        return {}
    by_name: dict[str, list[Source]] = {}
    for image in images:
        by_name.setdefault(composed(image.name).split("/")[-1].casefold(), []).append(image)
    found: dict[str, str | bytes | Source] = {}
    for document, (name, file) in wanted.items():
        matching = by_name.get(composed(name).replace("\\", "/").split("/")[-1].casefold(), [])
        if len(matching) > 1:
            near = [len(os.path.commonpath([os.path.abspath(image.path), os.path.abspath(file)])) for image in matching]
            matching = [image for image, shared in zip(matching, near, strict=True) if shared == max(near)]
        if len(matching) == 1:
            found[f"images/{document}{matching[0].suffix}"] = matching[0]
        elif matching:
            report.leave_out("an image whose name two files have", f"{document}: {name}")
        else:
            report.leave_out("an image that a page names and that is not there", f"{document}: {name}")
    used = {id(source) for source in found.values()}
    report.count("images", len(used))
    left = [image.name for image in images if id(image) not in used]
    if left:
        report.leave_out("an image that no page names", *left)
    return found


def _place(out: Path, files: Mapping[str, str | bytes | Source]) -> None:
    """Writes files into `out`: all under other names first, then each renamed; after a fault all is as it was."""
    targets = {name: inside(out, name) for name in files}
    for name, target in targets.items():
        if target.exists() and not _may_fill(target, files[name]):
            raise OutputError(f"{shown(target)} is there already; name another folder, or move it away")
    made = not out.exists()
    make_folder(out)
    stage = out / f".{secrets.token_hex(8)}.part"
    done: list[Path] = []
    folders: list[Path] = []
    try:
        make_folder(stage)
        for number, content in enumerate(files.values()):
            atomic_write(stage / f"{number}.new", content.data if isinstance(content, Source) else content)
        for number, target in enumerate(targets.values()):
            _make_folders(target.parent, folders)
            if target.exists():
                os.replace(target, stage / f"{number}.old")
            os.replace(stage / f"{number}.new", target)
            done.append(target)
    except BaseException as fault:
        for number, target in enumerate(targets.values()):
            if (stage / f"{number}.old").exists():
                os.replace(stage / f"{number}.old", target)
            elif target in done:
                target.unlink(missing_ok=True)
        for folder in reversed(folders):
            folder.rmdir()
        if made:
            shutil.rmtree(out, ignore_errors=True)
        if isinstance(fault, OSError):
            raise OutputError(f"{shown(out)} could not be written: {reason(fault)}") from None
        raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _make_folders(folder: Path, made: list[Path]) -> None:
    """Makes a folder and those above it, noting which are new."""
    missing = []
    while not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for new in reversed(missing):
        new.mkdir()
        made.append(new)


def _may_fill(target: Path, content: str | bytes | Source) -> bool:
    """Whether a file that is there may be replaced: by the same content, or because nothing was filled in yet."""
    from histeval.datasets.initialise import is_unfilled

    try:
        there = target.read_bytes()
    except OSError:
        return False
    data = content.data if isinstance(content, Source) else content
    return there == (data.encode("utf-8", "surrogatepass") if isinstance(data, str) else data) or is_unfilled(there)
