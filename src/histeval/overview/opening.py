"""The runs of an overview, opened, each with a name and a file name of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.overview.board import Run
from histeval.overview.slugs import slug
from histeval.runs.answers import AnswerSet
from histeval.runs.opening import open_answers


def open_runs(paths: Sequence[Path | str], dataset: Dataset) -> list[Run]:
    """The runs of all paths, each with a name of its own. A folder of runs stands for all of them."""
    sets = [answers for path in paths for place in _unfold(Path(path)) for answers in open_answers(place, dataset)]
    if not sets:
        raise UsageError(f"the overview of {dataset.name} has no run to show; name answers after DATASET=")
    keys = Counter(answers.run for answers in sets)
    twice = next((key for key, number in keys.items() if number > 1), None)
    if twice is not None:
        raise UsageError(f"the run {twice!r} is given twice")
    models = [
        _fact(answers, "model") or _system(_fact(answers, "system")) or Path(answers.run).stem for answers in sets
    ]
    several = Counter(models)
    shorts = Counter(_short(answers.run) for answers in sets)

    def short(key: str) -> str:
        """Folders of one name in different places are told apart by their whole path."""
        return key if shorts[_short(key)] > 1 else _short(key)

    return [
        Run(
            answers.run,
            model if several[model] == 1 else f"{model} ({short(answers.run)})",
            slug(short(answers.run)),
            _fact(answers, "provider") or (_fact(answers, "system").split("/")[0] if _fact(answers, "system") else ""),
            model,
            (_fact(answers, "date") or _fact(answers, "start"))[:10],
            answers,
        )
        for answers, model in zip(sets, models, strict=True)
    ]


LOCAL = ("recorded", "crf", "bilstm", "crf+bilstm", "transformer")
"""Kinds of systems that are named by a path."""


def _system(name: str) -> str:
    """What a system is called where it names no model: a path gives its last part only.

    >>> _system("crf/models/paris"), _system("tesseract/deu")
    ('crf/paris', 'tesseract/deu')
    """
    kind, _, place = name.partition("/")
    return f"{kind}/{Path(place).stem}" if kind in LOCAL and place else name


def _unfold(place: Path) -> Iterator[Path]:
    """`place`, or the runs in it where it is a folder of run folders, of files of answers, or of both."""
    if place.is_dir() and not (place / "run.json").is_file() and not (place / "answers.jsonl").is_file():
        inside = sorted(
            found for found in place.iterdir() if found.suffix == ".jsonl" or (found / "run.json").is_file()
        )
        if inside:
            yield from inside
            return
    yield place


def _fact(answers: AnswerSet, name: str) -> str:
    value = answers.facts.get(name)
    return value if isinstance(value, str) else ""


def _short(key: str) -> str:
    """A run's own name without the folders of this machine: a path's last part, a run_id as it is."""
    place = Path(key)
    try:
        there = place.exists()
    except (OSError, ValueError):  # longer than any path, or with a sign that none may have
        return key
    return (place.stem if place.suffix == ".jsonl" else place.name) if there else key
