"""Answers of a published run or of a file, given as a system: the whole way can be replayed without asking anybody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from histeval.datasets.base import Document
from histeval.errors import UsageError
from histeval.runs.answers import AnswerSet
from histeval.runs.opening import open_answers
from histeval.systems.base import Reply, Request
from histeval.tasks.base import FAILURES, Answer


def open_system(name: str, request: Request) -> RecordedSystem:
    """`PATH`, or `PATH#RUN_ID` inside a file of many runs; PATH is whatever `histeval score` reads as ANSWERS.

    Raises AnswersError for what cannot be read, and UsageError where a file of many runs needs a run_id.
    """
    if not name:
        raise UsageError("recorded/ needs the path of answers: recorded/PATH, or recorded/PATH#RUN_ID")
    if request.settings:
        raise UsageError(f"recorded answers have no settings, so {sorted(request.settings)[0]!r} cannot be set")
    return RecordedSystem(name, choose_run(name, request))


def choose_run(name: str, request: Request) -> AnswerSet:
    """The one run that `PATH` or `PATH#RUN_ID` names."""
    path, mark, run_id = name.partition("#")
    runs = open_answers(path, request.dataset)
    if mark:
        for run in runs:
            if run.run == run_id:
                return run
        raise UsageError(f"{path} holds no run {run_id!r}")
    if len(runs) != 1:
        raise UsageError(f"{path} holds {len(runs)} runs; choose one as recorded/{path}#{runs[0].run}")
    return runs[0]


class RecordedSystem:
    """A system that says again what was said before."""

    concurrency = 1
    needs_input = False
    """It looks at no page, so that documents without images can be asked about."""

    def __init__(self, name: str, run: AnswerSet) -> None:
        self.name = f"recorded/{name}"
        self._answers: Mapping[tuple[str, int], Answer] = run.answers
        self.about: dict[str, Any] = {
            "recorded": {
                "run": run.run,
                **{key: run.facts[key] for key in ("provider", "model", "date") if key in run.facts},
            }
        }
        self.notes = list(run.notes)
        self.model = run.facts.get("model")

    def answer(self, document: Document, repeat: int = 0) -> Answer | Reply:
        """The recorded answer of this document; `missing` where there is none."""
        found = self._answers.get((document.id, repeat))
        if found is None:
            return Reply(Answer(document.id, error="missing", repeat=repeat), detail="not among the recorded answers")
        detail = found.error or ""
        error = found.error if found.error is None or found.error in FAILURES else "provider_error"
        answer = Answer(
            document.id, found.text, found.record, error, repeat, found.finish, found.seconds, found.cost, found.usage
        )
        return Reply(answer, detail=detail if error != detail else "", model=self.model)
