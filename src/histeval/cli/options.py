"""Options that several commands share, read alike everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from histeval.errors import UsageError

if TYPE_CHECKING:
    from histeval.datasets.base import Dataset
    from histeval.runs.selection import Selection
    from histeval.tasks.base import Task

_LISTS = (".txt", ".csv", ".tsv", ".lst", ".list")
"""Endings by which a word is a file, not the id of a document."""
Split = Literal["train", "dev", "test", "all"]


def pairs(words: Sequence[str], option: str) -> dict[str, str]:
    """`NAME=VALUE` words as a mapping; raises UsageError for a word without `=` or a name given twice."""
    result: dict[str, str] = {}
    for word in words:
        name, equals, value = word.partition("=")
        if not equals or not name:
            raise UsageError(f"{option} takes NAME=VALUE, not {word!r}")
        if name in result:
            raise UsageError(f"{option} names {name!r} twice")
        result[name] = value
    return result


def task_and_folder(task: str, dataset: Path | None) -> tuple[str, Path]:
    """The task and the folder of a dataset, where the task may be left out: the dataset says what it is for."""
    if dataset is not None:
        return task, dataset
    from histeval.datasets.layout import find_task
    from histeval.tasks import task_names

    if task in task_names():
        raise UsageError(f"name the folder of the dataset after {task}")
    return find_task(Path(task)), Path(task)


def open_dataset(task: str, path: Path, text: str | None = None, split: str | None = None) -> tuple[Task, Dataset]:
    """The task and the dataset that a command line names."""
    from histeval.datasets import load_dataset
    from histeval.tasks import get_task

    found = get_task(task)
    options = {key: value for key, value in (("text", text), ("split", split)) if value is not None}
    if options and found.name != "directories":
        raise UsageError(f"--{next(iter(options))} belongs to the task directories, not to {found.name}")
    return found, load_dataset(found.name, path, **options)


def selection(documents: str | None, where: Sequence[str], unit: str | None) -> Selection:
    """The documents that --documents, --where and --unit choose.

    `documents` is a file with one id a line, or ids with commas between.
    """
    from histeval.runs.selection import Selection

    names: tuple[str, ...] | None = None
    if documents is not None:
        names = tuple(document_list(documents))
        if not names:
            raise UsageError("--documents names no document")
    return Selection(names, pairs(where, "--where"), unit)


def document_list(text: str) -> list[str]:
    """Ids from a file (one a line) or from a text with commas; raises UsageError for a file that is not there."""
    from histeval.datasets.files import read_lines

    place = Path(text)
    if "," not in text and place.is_file():
        return [line.strip() for _, line in read_lines(place) if line.strip()]
    if "," not in text and place.suffix.lower() in _LISTS:
        raise UsageError(
            f"there is no file {text}; --documents takes a file with an id a line, or ids with commas between"
        )
    return [name.strip() for name in text.split(",") if name.strip()]
