"""Tasks by name. A task is imported when it is asked for; others come in through the entry point group."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points

from histeval.errors import UsageError
from histeval.tasks.base import Task

ENTRY_POINTS = "histeval.tasks"
"""The entry point group of tasks from outside; the name is the task's, the value `module:Class` or `module:object`."""

BUILT_IN = {
    "letters": "histeval.tasks.letters:LettersTask",
    "manuscripts": "histeval.tasks.manuscripts:ManuscriptsTask",
    "directories": "histeval.tasks.directories:DirectoriesTask",
}
ALIASES = {"metadata": "letters", "transcription": "manuscripts", "entities": "directories"}


def task_names() -> tuple[str, ...]:
    """Names of all tasks: the three that come with Histeval, then those installed from outside, by name.

    >>> task_names()[:3]
    ('letters', 'manuscripts', 'directories')
    """
    return (*BUILT_IN, *sorted(name for name in _outside() if name not in BUILT_IN))


@cache
def get_task(name: str) -> Task:
    """The task called `name`, by its name or its alias.

    Raises UsageError where there is none, or where one from outside cannot be imported or is no task.

    >>> get_task("metadata").name
    'letters'
    """
    outside = _outside()
    key = ALIASES.get(name, name)
    if key in BUILT_IN:
        module, _, attribute = BUILT_IN[key].partition(":")
        found = getattr(import_module(module), attribute)
    elif key in outside:
        try:
            found = outside[key].load()
        except Exception as error:
            raise UsageError(f"the task {key!r} from {outside[key].value} cannot be loaded: {error}") from error
    else:
        for other in outside:
            task = get_task(other)
            if task.alias == name:
                return task
        raise UsageError(f"there is no task {name!r}; there are {', '.join(task_names())}")
    task = found() if isinstance(found, type) else found
    if not isinstance(task, Task):
        raise UsageError(f"the entry point {key!r} gives no task: {outside[key].value}")
    return task


def _outside() -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=ENTRY_POINTS)}
