"""Reading answers: whatever `histeval score` accepts as ANSWERS becomes one or more `AnswerSet`.

| what | known by |
| --- | --- |
| a run folder | `run.json` or `answers.jsonl` in it |
| a published RISE results folder of any era | `request_TEST_DOCUMENT.json` files in it |
| a file of many recorded runs | `run_id` in its first line |
| a file of answers | `document` in its first line |
| token and label columns | the ending `.conll` or `.tsv` (directories only) |
"""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path

from histeval.datasets.base import Dataset
from histeval.errors import AnswersError
from histeval.runs import rise
from histeval.runs.answers import REMEDY, AnswerSet, read_json_lines
from histeval.runs.columns import read_columns
from histeval.runs.folder import read_answers, read_run
from histeval.runs.selection import under_known_ids

TOKEN_COLUMNS = (".conll", ".tsv")


def open_answers(path: Path | str, dataset: Dataset) -> list[AnswerSet]:
    """Every run that `path` holds, under the ids of the dataset; raises AnswersError where it cannot be read."""
    return [under_known_ids(run, dataset) for run in _opened(Path(path), dataset)]


def _opened(place: Path, dataset: Dataset) -> list[AnswerSet]:
    if place.is_dir():
        if _is_run(place):
            return [_run_folder(place)]
        if rise.is_results_folder(place):
            return [rise.read_results(place, dataset)]
        inside = _runs_in(place)
        if inside:
            named = ", ".join(str(folder) for folder in inside[:3]) + (", ..." if len(inside) > 3 else "")
            remedy = f"Name the runs that lie in it: {named}"
            raise AnswersError("holds no answers itself", file=place, remedy=remedy)
        raise AnswersError("holds no answers", file=place, remedy=REMEDY)
    if place.suffix.lower() in TOKEN_COLUMNS:
        return [read_columns(place, dataset)]
    return read_json_lines(place)


def _is_run(place: Path) -> bool:
    return (place / "run.json").is_file() or (place / "answers.jsonl").is_file()


def _runs_in(place: Path) -> list[Path]:
    """The runs one or two folders below, as `histeval run` and a published results folder lay them."""
    found: list[Path] = []
    for number, pattern in enumerate(("*/", "*/*/")):
        for folder in islice(sorted(place.glob(pattern)), 200):
            with suppress(AnswersError):  # a folder that may not be entered
                if _is_run(folder) or rise.is_results_folder(folder):
                    found.append(folder)
        if found and not number:
            break
    return found


def _run_folder(place: Path) -> AnswerSet:
    facts = read_run(place) if (place / "run.json").is_file() else {}
    answers = {(answer.document, answer.repeat): answer for answer in read_answers(place)}
    subset = facts.get("documents")
    said = facts.get("notes")
    notes = [note for note in said if isinstance(note, str)] if isinstance(said, list) else []
    return AnswerSet(
        str(place),
        answers,
        subset=tuple(map(str, subset)) if isinstance(subset, list) else None,
        facts=facts,
        notes=(*notes, *([TORN] if _is_torn(place / "answers.jsonl") else [])),
    )


TORN = "the last line of answers.jsonl was torn off and is left out; `histeval run` asks for it again"


def _is_torn(file: Path) -> bool:
    """Whether a file ends inside a line, as where a run was killed while it wrote."""
    if not file.is_file() or not file.stat().st_size:
        return False
    with file.open("rb") as stream:
        stream.seek(-1, 2)
        return stream.read() != b"\n"
