"""The demo datasets that come with the package: invented, small, and readable offline."""

from __future__ import annotations

from pathlib import Path

from histeval.errors import UsageError

DATASETS = ("letters", "manuscripts", "directories")
"""The bundled datasets; each is named as the task it is for."""
ANSWERS = ("careful", "hasty")
"""The sets of invented example answers that each dataset has."""

_HERE = Path(__file__).resolve().parent


def bundled(name: str) -> Path:
    """The folder of a bundled dataset, or the file of its example answers.

    `name` is a dataset (`letters`) or a dataset and a set of answers (`letters/careful`). Raises UsageError for
    any other name.

    >>> bundled("letters").name, bundled("letters/careful").name
    ('letters', 'careful.jsonl')
    """
    dataset, _, answers = name.partition("/")
    if dataset not in DATASETS or (answers and answers not in ANSWERS) or name.endswith("/"):
        known = [*DATASETS, *(f"{task}/{kind}" for task in DATASETS for kind in ANSWERS)]
        raise UsageError(f"there is no bundled data {name!r}; there are {', '.join(known)}")
    return _HERE / "answers" / dataset / f"{answers}.jsonl" if answers else _HERE / dataset
