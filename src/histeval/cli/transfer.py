"""`histeval init`, `import` and `export`: from the files of other programs to a dataset, and back."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

if TYPE_CHECKING:
    from histeval.datasets.formats import ImportReport

Pairs = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)]


def init(task: str, directory: Path, /) -> None:
    """Make a dataset of a folder of images or texts: say what is there, write dataset.toml and truth files to fill in.

    Nothing that exists is overwritten. Documents whose truth is not filled in yet are asked, and not scored.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    directory
        The folder: images in it, in images/ or in a folder for each document; texts in texts/.
    """
    from histeval.cli.show import console, plain
    from histeval.datasets.initialise import initialise
    from histeval.tasks import get_task

    for line in str(initialise(get_task(task).name, directory)).splitlines():
        console().print(plain(line), soft_wrap=True)


def import_(
    task: str,
    source: list[Path] | None = None,
    /,
    *,
    out: Path | None = None,
    answers: Path | None = None,
    dataset: Path | None = None,
    format: str | None = None,
    option: Pairs = None,
    images: bool = True,
    report: Path | None = None,
) -> None:
    """Make a dataset, or answers, from files of other programs. What was repaired or left out is reported.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    source
        Files, folders or zip archives. Without any, the formats of the task and their options are listed.
    out
        The folder of the new dataset; truth that is there is never overwritten.
    answers
        Instead of a dataset: the .jsonl file of answers to write.
    dataset
        With --answers: the dataset they answer, for its import options and its documents.
    format
        The format of the files (default: found by what is in them).
    option
        An option of the format, as NAME=VALUE (choice=edited, regions.header=folio). Can be repeated.
    images
        Copy page images that lie with the files into the dataset.
    report
        Write the whole report as JSON to this file: the id of everything that was repaired or left out.
    """
    from histeval.cli.options import pairs
    from histeval.datasets import load_dataset
    from histeval.datasets.transfer import import_answers, import_dataset
    from histeval.errors import UsageError
    from histeval.tasks import get_task

    name, options = get_task(task).name, pairs(option or (), "--option")
    if not source:
        _list_formats(name)
        return
    if (out is None) == (answers is None):
        raise UsageError("name either --out DIR for a dataset or --answers FILE.jsonl for answers")
    if out is not None:
        if dataset is not None:
            raise UsageError("--dataset belongs to --answers")
        _tell(import_dataset(name, source, out, format, options, with_images=images), report)
        _next("check", name, out)
        return
    assert answers is not None
    found = load_dataset(name, dataset) if dataset is not None else None
    _tell(import_answers(name, source, answers, format, options, dataset=found), report)
    _next("score", name, dataset or "DATASET", answers)


def export(
    task: str,
    dataset: Path | None = None,
    /,
    *,
    format: str,
    out: Path,
    answers: Path | None = None,
    scheme: str | None = None,
    option: Pairs = None,
    text: str | None = None,
    split: str | None = None,
    report: Path | None = None,
) -> None:
    """Write a dataset, or answers to it, in a format of other programs. What the format cannot say is reported.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities); may be left out.
    dataset
        The folder of the dataset.
    format
        page, alto, plain, conll, hipe ... `histeval import TASK` lists them all.
    out
        A new folder, or a file where the format makes a single one.
    answers
        Write these answers (as `histeval score` takes them) instead of the ground truth.
    scheme
        directories: the tagging scheme, IOB2 say.
    option
        An option of the format, as NAME=VALUE. Can be repeated.
    text
        directories: the text that was read.
    split
        directories: the part that is written.
    report
        Write the whole report as JSON to this file: the id of everything that the format cannot say.
    """
    from histeval.cli.options import open_dataset, pairs, task_and_folder
    from histeval.datasets.transfer import export_dataset

    found, data = open_dataset(*task_and_folder(task, dataset), text, split)
    options = pairs(option or (), "--option")
    if scheme is not None:
        options["scheme"] = scheme
    records: dict[str, Any] | None = None
    failed: list[str] = []
    if answers is not None:
        records, failed = _records(found, data, answers)
    done = export_dataset(data, format, out, options, answers=records)
    if failed:
        done.leave_out("an answer that is a failure", *failed)
    _tell(done, report)


def _records(task: Any, dataset: Any, answers: Path) -> tuple[dict[str, Any], list[str]]:
    """The records in answers by document, read as the protocol `documented` does, and the documents that failed."""
    from histeval.errors import UsageError
    from histeval.runs import open_answers

    runs = open_answers(answers, dataset)
    if len(runs) != 1:
        raise UsageError(f"{answers} holds {len(runs)} runs; export one of them")
    scorer = task.scorer(dataset.context, task.protocol())
    records, failed = {}, []
    for (document, repeat), answer in runs[0].answers.items():
        if repeat == runs[0].repeats[0]:
            reading = scorer.read(answer)
            if reading.failure is None:
                records[document] = reading.record
            else:
                failed.append(f"{document}: {reading.failure}")
    return records, failed


def _tell(done: ImportReport, report: Path | None) -> None:
    from histeval.cli.show import console, plain
    from histeval.datasets.files import atomic_write

    if report is not None:
        atomic_write(report, json.dumps(done.as_json(), indent=2) + "\n")
    for line in str(done).splitlines():
        console().print(plain(line), soft_wrap=True)


def _next(*words: object) -> None:
    from histeval.cli.show import command, console

    console().print(f"next: [bold]{command('histeval', *words)}[/]", soft_wrap=True)


def _list_formats(task: str) -> None:
    from histeval.cli.show import console, plain
    from histeval.datasets.formats import FORMATS

    out = console()
    for item in FORMATS.values():
        if task in item.tasks:
            words = " and ".join(word for word, is_so in (("read", item.reads), ("written", item.writes)) if is_so)
            out.print(f"[bold]{item.name}[/]  {plain(item.help)}: {words}")
            for option in item.options:
                values = f" ({', '.join(option.choices)})" if option.choices else ""
                default = f"; default {option.default}" if option.default else ""
                out.print(f"    --option {option.name}=...  {plain(option.help)}{plain(values)}{plain(default)}")
