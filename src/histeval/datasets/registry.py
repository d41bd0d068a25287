"""Readers by task. A reader is imported when it is asked for; others come in through the entry point group."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.tasks.registry import ALIASES

ENTRY_POINTS = "histeval.datasets"
"""The entry point group of readers from outside: the name is the task's, the value a function like `load_dataset`
without its first argument."""

READERS = {
    "letters": "histeval.datasets.letters:load",
    "manuscripts": "histeval.datasets.manuscripts:load",
    "directories": "histeval.datasets.directories:load",
}


def load_dataset(task: str, path: Path | str, *, text: str = "reference", split: str = "test") -> Dataset:
    """The dataset in a folder, read for a task (by its name or alias).

    `text` (`reference`, `ocr`) and `split` (`train`, `dev`, `test`, `all`) choose among directory entries. Images are
    listed, never opened. Raises DatasetError where the folder cannot be read, with file, line and remedy; UsageError
    for an unknown task, text or split. What is repaired or left out stands in the dataset's notes.
    """
    name = ALIASES.get(task, task)
    if name in READERS:
        module, _, function = READERS[name].partition(":")
        reader: Callable[..., Any] = getattr(import_module(module), function)
    else:
        points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
        if name not in points:
            known = ", ".join((*READERS, *sorted(points)))
            raise UsageError(f"no reader of datasets knows the task {name!r}; there are {known}")
        try:
            reader = points[name].load()
        except Exception as fault:
            raise UsageError(f"the reader {name!r} from {points[name].value} cannot be loaded: {fault}") from fault
    found = reader(path, text=text, split=split)
    if not isinstance(found, Dataset):
        raise UsageError(f"the reader of {name!r} gives no dataset")
    return found
