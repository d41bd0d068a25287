"""Readers by task. A reader is imported when it is asked for; others come in through the entry point group."""

from __future__ import annotations

import os
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Fault
from histeval.datasets.files import reason, shown
from histeval.datasets.settings import FILE as SETTINGS_FILE
from histeval.errors import DatasetError, InputError, UsageError
from histeval.tasks.registry import ALIASES

ENTRY_POINTS = "histeval.datasets"
"""The entry point group of readers from outside: the name is the task's, the value a function like `load_dataset`
without its first argument."""

READERS = {
    "letters": "histeval.datasets.letters:load",
    "manuscripts": "histeval.datasets.manuscripts:load",
    "directories": "histeval.datasets.directories:load",
}
CHECKS = {
    "letters": "histeval.datasets.checks.letters:check_letters",
    "manuscripts": "histeval.datasets.checks.manuscripts:check_manuscripts",
    "directories": "histeval.datasets.checks.directories:check_directories",
}


def load_dataset(task: str, path: Path | str, *, text: str = "reference", split: str = "test") -> Dataset:
    """The dataset in a folder, read for a task (by its name or alias).

    `text` (`reference`, `ocr`) and `split` (`train`, `dev`, `test`, `all`) choose among directory entries. Images are
    listed, never opened. Raises DatasetError where the folder cannot be read, with file, line and remedy; UsageError
    for an unknown task, text or split. What is repaired or left out stands in the dataset's notes.
    """
    try:
        found = _reader(task)(path, text=text, split=split)
    except OSError as fault:  # a folder that may not be entered, say
        raise DatasetError(f"cannot be read: {reason(fault)}", file=shown(fault.filename or path)) from None
    except DatasetError as fault:
        raise _or_another_folder(fault, ALIASES.get(task, task), Path(path)) from None
    if not isinstance(found, Dataset):
        raise UsageError(f"the reader of {task!r} gives no dataset")
    return found


def _or_another_folder(fault: DatasetError, task: str, path: Path) -> DatasetError:
    """The fault, or what is behind it: a folder that is a dataset for another task, or none at all."""
    from histeval.datasets.layout import TRUTH_FOLDERS, find_task

    if task not in READERS or not os.path.isdir(path) or os.path.exists(path / SETTINGS_FILE):
        return fault
    try:
        other = find_task(path)
    except InputError:
        if any((path / name).is_dir() for name in TRUTH_FOLDERS) or path.resolve().name in TRUTH_FOLDERS:
            return fault
        doubt = f"Is {shown(path)} the folder of a dataset? It has neither {SETTINGS_FILE} nor ground_truths/"
        remedy = f"{fault.remedy}. {doubt}" if fault.remedy else doubt
        return DatasetError(fault.what, file=fault.file, line=fault.line, item=fault.item, remedy=remedy)
    if other == task:
        return fault
    return DatasetError(f"is a dataset for {other}, not for {task}", file=shown(path))


def check(task: str, path: Path | str) -> list[Fault]:
    """Every fault of a dataset at once, by file and line; empty where there is none.

    What is merely worth knowing has `error` false. Raises DatasetError only where `path` is no dataset folder at all,
    UsageError for an unknown task. A dataset of a task from outside is read, and the first fault is reported.
    """
    name = ALIASES.get(task, task)
    found: list[Fault] = []
    try:
        if name in CHECKS:
            module, _, function = CHECKS[name].partition(":")
            checker: Callable[[Path | str], list[Fault]] = getattr(import_module(module), function)
            found = checker(path)
    except OSError as fault:
        raise DatasetError(f"cannot be read: {reason(fault)}", file=shown(fault.filename or path)) from None
    except InputError as fault:
        if fault.file is None or Path(fault.file).name != SETTINGS_FILE:
            raise
        return [_fault(fault, path)]
    if not any(fault.error for fault in found):
        # Whatever a check overlooks, reading does not.
        try:
            _reader(name)(path, text="reference", split="all")
        except InputError as fault:
            found.append(_fault(fault, path))
    return found


def _fault(fault: InputError, path: Path | str) -> Fault:
    file = Path(fault.file) if fault.file is not None else Path(path)
    name = file.relative_to(path).as_posix() if file.is_relative_to(path) else str(file)
    return Fault(name, fault.line, fault.what, fault.remedy, fault.item)


def _reader(task: str) -> Callable[..., Any]:
    name = ALIASES.get(task, task)
    if name in READERS:
        module, _, function = READERS[name].partition(":")
        reader: Callable[..., Any] = getattr(import_module(module), function)
        return reader
    points = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if name not in points:
        known = ", ".join((*READERS, *sorted(points)))
        raise UsageError(f"no reader of datasets knows the task {name!r}; there are {known}")
    try:
        loaded: Callable[..., Any] = points[name].load()
    except Exception as fault:
        raise UsageError(f"the reader {name!r} from {points[name].value} cannot be loaded: {fault}") from fault
    return loaded
