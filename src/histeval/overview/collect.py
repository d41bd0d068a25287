"""Every run under every protocol, and the boards they make."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.overview.board import Apart, Board, Collected, Remember, Tell
from histeval.overview.opening import open_runs
from histeval.overview.parts import with_intervals
from histeval.overview.ranking import boards_of
from histeval.runs.score import Scorers, score_run
from histeval.runs.selection import Selection
from histeval.tasks.base import PROTOCOLS, RuleValue, Task


def collect(
    task: Task,
    dataset: Dataset,
    paths: Sequence[Path | str],
    *,
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    selection: Selection | None = None,
    remember: Remember | None = None,
    tell: Tell | None = None,
) -> Collected:
    """Every run of `paths` under every protocol, `protocol` first, and the boards they make.

    `remember` keeps results that take long: it takes a name, what the result depends on, and how to make it.
    Raises UsageError where two runs carry one name or a rule is unknown, AnswersError for unreadable answers.
    """
    selection = selection or Selection()
    selection.check(dataset)
    protocols = (protocol, *(name for name in PROTOCOLS if name != protocol))
    made = {name: Scorers(task, dataset, name, rules or {}) for name in protocols}
    runs = open_runs(paths, dataset)
    left_out: list[str] = []
    for place, name in enumerate(protocols):
        for number, run in enumerate(list(runs)):
            if tell:
                tell(f"{name}: {run.name}", place * len(runs) + number, len(protocols) * len(runs))
            scorer = made[name].for_run(run.answers)
            try:
                found = score_run(dataset, run.answers, scorer, selection, suspicion=place == 0, with_intervals=False)
                score = next(found)
            except UsageError as fault:
                # a run of unsigned letters has nothing to show among the signed ones; the others have
                runs.remove(run)
                left_out.append(f"{run.name} is left out: {fault}")
                if not runs:
                    raise
                continue
            run.scores[name] = replace(score, suspect=run.scores[protocol].suspect) if place else score
        with_intervals(runs, name)
    boards: dict[str, tuple[Board, ...]] = {}
    apart: dict[str, tuple[Apart, ...]] = {}
    memory: dict[str, Any] = {}
    for name in protocols:
        if tell:
            tell(f"{name}: comparing the systems", len(protocols) * len(runs), len(protocols) * len(runs))
        boards[name], apart[name] = boards_of(runs, name, dataset, remember or _forget, memory)
    return Collected(task, dataset, protocol, protocols, selection, tuple(runs), boards, apart, tuple(left_out))


def _forget(name: str, inputs: Any, make: Callable[[], Any]) -> Any:
    return make()
