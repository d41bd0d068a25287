"""What the pages show, as data: runs, the boards they stand on, and the runs that stand on none.

A board holds runs that were scored on the same documents under the same rules; only they are compared. Runs that are
suspect, or were made with another ground truth, stand on no board.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from histeval.datasets.base import Dataset
from histeval.runs.answers import AnswerSet
from histeval.runs.score import Score
from histeval.runs.selection import Selection
from histeval.stats.metrics import Metric
from histeval.tasks.base import Task

Tell = Callable[[str, int, int], None]
Remember = Callable[[str, Any, Callable[[], Any]], Any]
"""Keeps a result that takes long: its name, what it depends on, and how to make it."""
_DAY = re.compile(r"(20[12]\d)-?(0[1-9]|1[0-2])-?(0[1-9]|[12]\d|3[01])(?!\d)")


@dataclass
class Run:
    """A run and its scores by protocol. `key` is the run's own name, `name` what pages call it."""

    key: str
    name: str
    slug: str
    provider: str
    model: str
    date: str
    answers: AnswerSet
    scores: dict[str, Score] = field(default_factory=dict)

    @property
    def model_date(self) -> str:
        """The day in the model's own name (`gpt-4o-2024-08-06`), else empty."""
        match = _DAY.search(self.model)
        return "-".join(match.groups()) if match else ""

    @property
    def suspect(self) -> str | None:
        """Why the run is not ranked, where its answers look as if the documents never arrived."""
        return next(iter(self.scores.values())).suspect

    def other_truth(self, dataset: Dataset) -> str | None:
        """The fingerprint of the ground truth the run was made with, where it is another one."""
        made = self.answers.facts.get("dataset")
        before = made.get("fingerprint") if isinstance(made, dict) else None
        return before if isinstance(before, str) and before != dataset.fingerprint else None


@dataclass(frozen=True)
class Standing:
    """A run on a board: its score, best and worst rank, and the test against the best (None for the best itself)."""

    run: Run
    score: Score
    ranks: tuple[int, int]
    p: float | None = None
    told_apart: bool = False

    @property
    def with_best(self) -> bool:
        """Whether it is the best or cannot be told apart from it."""
        return not self.told_apart


@dataclass(frozen=True)
class Board:
    """Runs that may be ranked with one another, the best first."""

    protocol: str
    rules: tuple[str, ...]
    documents: tuple[str, ...]
    standings: tuple[Standing, ...]
    main: bool

    @property
    def first(self) -> Score:
        """The score of the best run."""
        return self.standings[0].score

    @property
    def metric(self) -> Metric:
        """The metric that ranks."""
        scorer = self.first.scorer
        return next(metric for metric in scorer.metrics if metric.name == scorer.headline[0])


@dataclass(frozen=True)
class Apart:
    """A run that is ranked with none, and why."""

    run: Run
    score: Score
    reason: str


@dataclass(frozen=True)
class Collected:
    """All that the pages of one dataset show."""

    task: Task
    dataset: Dataset
    protocol: str
    protocols: tuple[str, ...]
    selection: Selection
    runs: tuple[Run, ...]
    boards: Mapping[str, tuple[Board, ...]]
    apart: Mapping[str, tuple[Apart, ...]]
    left_out: tuple[str, ...] = ()
    """Runs that were asked none of the selected documents, with the reason."""

    @property
    def main(self) -> Board | None:
        """The board that the dataset's page opens with, None where no run may be ranked."""
        boards = self.boards[self.protocol]
        return boards[0] if boards else None

    def scores(self) -> list[Score]:
        """The score of every run under the first protocol."""
        return [run.scores[self.protocol] for run in self.runs]

    def trusted(self) -> list[Run]:
        """The runs that stand on a board."""
        boards = self.boards[self.protocol]
        return [standing.run for board in boards for standing in board.standings]
