"""`histeval.score`: scoring from Python, for answers in memory or on disk."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from histeval.datasets import Dataset, load_dataset
from histeval.errors import AnswersError, UsageError
from histeval.runs.answers import AnswerSet, answer_from
from histeval.runs.opening import open_answers
from histeval.runs.score import Score, Scorers, score_run
from histeval.runs.selection import Selection
from histeval.tasks import get_task
from histeval.tasks.base import Answer, RuleValue


def score(
    task: str,
    dataset: Dataset | Path | str,
    answers: Path | str | Mapping[str, Any] | Iterable[Mapping[str, Any] | Answer],
    *,
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    documents: Iterable[str] | None = None,
    where: Mapping[str, str] | None = None,
    unit: str | None = None,
) -> Score:
    """The score of one run; `as_json()` gives what the command prints.

    `dataset` is a loaded dataset or its folder. `answers` is a path that holds one run, a mapping of document ids to
    a text or a record, or an iterable of `{"document": ..., "text" or "record" or "error": ...}`. Raises UsageError
    for an unknown task, protocol, rule or document, AnswersError for answers that cannot be read.
    """
    found = get_task(task)
    data = dataset if isinstance(dataset, Dataset) else load_dataset(found.name, dataset)
    if isinstance(answers, list) and answers and all(isinstance(one, str | Path) for one in answers):
        if len(answers) != 1:
            raise UsageError("histeval.score takes one run; score several with histeval.runs.score_paths")
        answers = answers[0]
    runs = open_answers(answers, data) if isinstance(answers, str | Path) else [_in_memory(answers)]
    if len(runs) != 1:
        raise UsageError(f"{answers} holds {len(runs)} runs; score them one by one with histeval.runs.score_paths")
    chosen = Selection(tuple(documents) if documents is not None else None, where or {}, unit)
    chosen.check(data)
    scorer = Scorers(found, data, protocol, rules or {}).for_run(runs[0])
    return next(score_run(data, runs[0], scorer, chosen))


def _in_memory(answers: Mapping[str, Any] | Iterable[Mapping[str, Any] | Answer]) -> AnswerSet:
    place = Path("answers")
    given: list[Answer] = []
    if isinstance(answers, Mapping):
        for name, value in answers.items():
            given.append(Answer(str(name), text=value) if isinstance(value, str) else Answer(str(name), record=value))
    else:
        for number, value in enumerate(answers, 1):
            given.append(value if isinstance(value, Answer) else answer_from(value, place, number))
    found: dict[tuple[str, int], Answer] = {}
    for answer in given:
        if (answer.document, answer.repeat) in found:
            raise AnswersError(f"the document {answer.document!r} is answered twice")
        found[answer.document, answer.repeat] = answer
    return AnswerSet("answers", found)
