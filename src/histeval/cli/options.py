"""Options that several commands share, read alike everywhere."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Parameter

from histeval.errors import UsageError

if TYPE_CHECKING:
    from histeval.datasets.base import Dataset
    from histeval.runs.selection import Selection
    from histeval.tasks.base import Task

_LISTS = (".txt", ".csv", ".tsv", ".lst", ".list")
"""Endings by which a word is a file, not the id of a document."""
ProtocolName = Literal["documented", "published", "corrected"]
Text = Literal["reference", "ocr"]
Split = Literal["train", "dev", "test", "all"]
Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)]
"""An option that can be repeated."""


def _help(text: str) -> Parameter:
    return Parameter(help=text)


@Parameter(name="*")
@dataclass(frozen=True, kw_only=True)
class ScoringOptions:
    """Under which rules answers are scored, and on which documents: options of `score`, `compare` and `overview`."""

    protocol: Annotated[ProtocolName, _help("The named set of scoring rules.")] = "documented"
    set_: Annotated[
        Names,
        Parameter(name="--set", help="Override one rule, as RULE=VALUE; it shows in the signature. Can be repeated."),
    ] = None
    where: Annotated[Names, _help("Only documents with this attribute, as KEY=VALUE. Can be repeated.")] = None
    documents: Annotated[str | None, _help("Only these: a file with one id a line, or ids with commas between.")] = None
    unit: Annotated[
        str | None,
        _help("What is resampled and swapped: an attribute such as book, or document. The dataset names its own."),
    ] = None
    text: Annotated[Text | None, _help("directories: the text that was read.")] = None
    split: Annotated[Split | None, _help("directories: the part that is scored (default test).")] = None

    @property
    def rules(self) -> dict[str, str]:
        """The overridden rules; raises UsageError for a word that is no RULE=VALUE."""
        return pairs(self.set_ or (), "--set")

    @property
    def selection(self) -> Selection:
        """The documents that --documents, --where and --unit choose."""
        from histeval.runs.selection import Selection

        names: tuple[str, ...] | None = None
        if self.documents is not None:
            names = tuple(document_list(self.documents))
            if not names:
                raise UsageError("--documents names no document")
        return Selection(names, pairs(self.where or (), "--where"), self.unit)


DEFAULTS = ScoringOptions()


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
