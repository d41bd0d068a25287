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
from histeval.runs.selection import Selection, under_known_ids
from histeval.tasks import get_task
from histeval.tasks.base import Answer, RuleValue

GIVEN = (
    "Give a path, a mapping of document ids to texts or records, or an iterable of "
    '{"document": ..., "text" or "record" or "error": ...}'
)


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
    for an unknown task, protocol, rule or document and for arguments of another kind, AnswersError for answers that
    cannot be read.
    """
    found = get_task(task)
    for name, value in (("rules", rules), ("where", where)):
        if value is not None and not isinstance(value, Mapping):
            raise UsageError(f"{name} is a mapping of names to values, not {value!r:.60}")
    names = (documents,) if isinstance(documents, str) else documents
    data = dataset if isinstance(dataset, Dataset) else load_dataset(found.name, dataset)
    if isinstance(answers, list) and answers and all(isinstance(one, str | Path) for one in answers):
        if len(answers) != 1:
            raise UsageError("histeval.score takes one run; score several with histeval.runs.score_paths")
        answers = answers[0]
    if isinstance(answers, str | Path):
        runs = open_answers(answers, data)
    else:
        runs = [under_known_ids(_in_memory(answers), data)]
    if len(runs) != 1:
        raise UsageError(f"{answers} holds {len(runs)} runs; score them one by one with histeval.runs.score_paths")
    wanted = {
        key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in (where or {}).items()
    }
    chosen = Selection(tuple(names) if names is not None else None, wanted, unit)
    chosen.check(data)
    scorer = Scorers(found, data, protocol, rules or {}).for_run(runs[0])
    return next(score_run(data, runs[0], scorer, chosen))


def _in_memory(answers: Mapping[str, Any] | Iterable[Mapping[str, Any] | Answer]) -> AnswerSet:
    place = Path("answers")
    given: list[Answer] = []
    if isinstance(answers, Mapping):
        for name, value in answers.items():
            given.append(Answer(str(name), text=value) if isinstance(value, str) else Answer(str(name), record=value))
    elif isinstance(answers, Iterable) and not isinstance(answers, bytes):
        for number, value in enumerate(answers, 1):
            if not isinstance(value, Answer | Mapping):
                raise AnswersError(f"is {value!r:.60}, not an answer", file=place, line=number, remedy=GIVEN)
            given.append(value if isinstance(value, Answer) else answer_from(value, place, number))
    else:
        raise AnswersError(f"are {answers!r:.60}", file=place, remedy=GIVEN)
    found: dict[tuple[str, int], Answer] = {}
    for answer in given:
        if (answer.document, answer.repeat) in found:
            raise AnswersError(f"the document {answer.document!r} is answered twice")
        found[answer.document, answer.repeat] = answer
    return AnswerSet("answers", found)
