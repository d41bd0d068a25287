"""What the pages show: every run under every protocol, and which runs may be ranked with which.

A board holds runs that were scored on the same documents under the same rules; only they are compared. Runs that are
suspect, or were made with another ground truth, stand on no board.
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.errors import UsageError
from histeval.overview.slugs import slug
from histeval.runs.answers import AnswerSet
from histeval.runs.compare import pooled
from histeval.runs.opening import open_answers
from histeval.runs.score import Score, Scorers, score_run, summarise
from histeval.runs.selection import Selection, attribute
from histeval.runs.signature import RESAMPLES, SEED
from histeval.stats.counts import CountTable
from histeval.stats.intervals import intervals_of_systems
from histeval.stats.metrics import Metric
from histeval.stats.significance import LEVEL, compare_all_pairs, compare_with_baseline, rank_intervals
from histeval.tasks.base import PROTOCOLS, Rule, RuleValue, Task

Tell = Callable[[str, int, int], None]
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


def collect(
    task: Task,
    dataset: Dataset,
    paths: Sequence[Path | str],
    *,
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    selection: Selection | None = None,
    remember: Callable[[str, Any, Callable[[], Any]], Any] | None = None,
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
        boards[name], apart[name] = _boards(runs, name, dataset, remember or _forget, memory)
    return Collected(task, dataset, protocol, protocols, selection, tuple(runs), boards, apart, tuple(left_out))


def _forget(name: str, inputs: Any, make: Callable[[], Any]) -> Any:
    return make()


def open_runs(paths: Sequence[Path | str], dataset: Dataset) -> list[Run]:
    """The runs of all paths, each with a name of its own. A folder of run folders stands for all of them."""
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
    """`place`, or the run folders in it where it is a folder of them."""
    if place.is_dir() and not (place / "run.json").is_file() and not (place / "answers.jsonl").is_file():
        inside = sorted(folder for folder in place.iterdir() if (folder / "run.json").is_file())
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
    return (place.stem if place.suffix == ".jsonl" else place.name) if place.exists() else key


def with_intervals(runs: Sequence[Run], protocol: str) -> None:
    """Gives the scores of all runs their intervals, made together: one product of weights and counts."""
    for run, score in zip(runs, intervals_for([run.scores[protocol] for run in runs]), strict=True):
        run.scores[protocol] = score


def intervals_for(scores: Sequence[Score]) -> list[Score]:
    """Scores with intervals. Those of one scorer are made together where the metrics cover the same for all."""
    from histeval.stats.repeats import mean_intervals

    done = list(scores)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, score in enumerate(scores):
        if len(score.tables) > 1:
            found = mean_intervals(score.tables, score.scorer.metrics_on(score.sums), resamples=RESAMPLES, seed=SEED)
            done[place] = replace(score, intervals=found)
            continue
        metrics = score.scorer.metrics_on(score.sums)
        covers = tuple(metric.help for metric in metrics)  # what a macro mean covers is said there
        groups.setdefault((id(score.scorer), len(set(score.tables[0].units)), covers), []).append(place)
    for places in groups.values():
        first = scores[places[0]]
        tables = [scores[place].tables[0] for place in places]
        many = intervals_of_systems(tables, first.scorer.metrics_on(first.sums), resamples=RESAMPLES, seed=SEED)
        for place, one in zip(places, many, strict=True):
            done[place] = replace(scores[place], intervals=one)
    return done


def by_attribute(
    runs: Sequence[Run], protocol: str, key: str, dataset: Dataset, selection: Selection | None = None
) -> dict[str, dict[str, Score]]:
    """Scores of each run on the documents with each value of an attribute: by run, then by value."""
    parts: list[tuple[str, str, Score]] = []
    selection = selection or Selection()
    for run in runs:
        whole = run.scores[protocol]
        groups: dict[str, list[str]] = {}
        for name in whole.rows[0]:
            groups.setdefault(attribute(dataset.documents[name], key) or "(none)", []).append(name)
        for value, names in groups.items():
            rows = [{name: rows[name] for name in names if name in rows} for rows in whole.rows]
            documents = [dataset.documents[name] for name in names]
            where = {key: value}
            parts.append(
                (
                    run.key,
                    value,
                    summarise(
                        run.key,
                        dataset,
                        whole.scorer,
                        selection,
                        documents,
                        rows,
                        group=where,
                        with_intervals=False,
                        listed=bool(whole.signature.subset),
                    ),
                )
            )
    found: dict[str, dict[str, Score]] = {}
    for (run_key, value, _), score in zip(parts, intervals_for([score for *_, score in parts]), strict=True):
        found.setdefault(run_key, {})[value] = score
    return found


def attributes(dataset: Dataset, documents: Sequence[str], most: int = 12) -> list[str]:
    """Attributes worth a view: with two to `most` values among the documents."""
    names = sorted({name for identifier in documents for name in dataset.documents[identifier].attributes})
    found = []
    for name in names:
        values = {dataset.documents[identifier].attributes.get(name) for identifier in documents}
        if 2 <= len(values) <= most and len(values) < len(documents):
            found.append(name)
    return found


def _boards(
    runs: Sequence[Run],
    protocol: str,
    dataset: Dataset,
    remember: Callable[[str, Any, Callable[[], Any]], Any],
    memory: dict[str, Any],
) -> tuple[tuple[Board, ...], tuple[Apart, ...]]:
    groups: dict[tuple[Any, ...], list[Run]] = {}
    apart: list[Apart] = []
    for run in runs:
        score = run.scores[protocol]
        other = run.other_truth(dataset)
        if run.suspect:
            apart.append(Apart(run, score, f"suspect: {run.suspect}"))
        elif other:
            now = dataset.fingerprint[:6]
            apart.append(Apart(run, score, f"made with another ground truth ({other[:6]}, now {now})"))
        else:
            names = score.tables[0].documents
            groups.setdefault((tuple(score.scorer.protocol.rules.items()), tuple(sorted(names))), []).append(run)
    brought = {key: _brought(members[0], protocol) for key, members in groups.items()}
    # The whole dataset without rules of a run's own comes first, then the board with most documents and runs.
    order = sorted(groups, key=lambda key: (bool(brought[key]), -len(key[1]), -len(groups[key])))
    boards = []
    for place, key in enumerate(order):
        standings = _standings(groups[key], protocol, remember, memory)
        names = standings[0].score.tables[0].documents
        boards.append(Board(protocol, brought[key], names, standings, place == 0))
    return tuple(boards), tuple(apart)


def _brought(run: Run, protocol: str) -> tuple[str, ...]:
    """The rules that a run brings along, as the signature shows them."""
    rules = run.scores[protocol].scorer.protocol
    return tuple(f"{name}={Rule.write(rules[name])}" for name in rules.overridden if name in run.answers.rules)


def _standings(
    runs: Sequence[Run],
    protocol: str,
    remember: Callable[[str, Any, Callable[[], Any]], Any],
    memory: dict[str, Any],
) -> tuple[Standing, ...]:
    scorer = runs[0].scores[protocol].scorer
    sums = sum((run.scores[protocol].sums for run in runs[1:]), runs[0].scores[protocol].sums)
    metric = next(metric for metric in scorer.metrics_on(sums) if metric.name == scorer.headline[0])
    sign = -1 if metric.higher_is_better else 1

    def place(run: Run) -> tuple[bool, float, str]:
        value = run.scores[protocol].values[metric.name]
        # equal rounded values keep the order of the sums they were rounded from
        exact = metric.compute(run.scores[protocol].sums.astype(float))
        return value is None, sign * (value or 0.0), f"{sign * float(exact) + 9:.12f}{run.key}"

    ordered = sorted(runs, key=place)
    if len(ordered) == 1:
        return (Standing(ordered[0], ordered[0].scores[protocol], (1, 1)),)
    tables = {run.key: pooled(run.scores[protocol]) for run in ordered}
    found = _tests(tables, metric, ordered[0].key, scorer.protocol.rules, remember, memory)
    standings = []
    for run in ordered:
        low, high = found["ranks"][run.key]
        p = found["p"].get(run.key)
        apart = p is not None and p <= LEVEL
        standings.append(Standing(run, run.scores[protocol], (low, high), p, apart))
    return tuple(standings)


def _tests(
    tables: Mapping[str, CountTable],
    metric: Metric,
    best: str,
    rules: Mapping[str, RuleValue],
    remember: Callable[[str, Any, Callable[[], Any]], Any],
    memory: dict[str, Any],
) -> dict[str, Any]:
    """P-values against the best (Holm) and rank intervals (all pairs, step-down maximum statistic).

    Two protocols that give the same counts, rounding aside, share their tests.
    """
    digest = hashlib.sha256()
    for name, table in tables.items():
        digest.update(repr((name, table.columns, table.units)).encode("utf-8", "surrogatepass"))
        digest.update(table.values.tobytes())
    unrounded = {name: value for name, value in rules.items() if name != "rounding"}
    inputs = [digest.hexdigest(), metric.name, metric.help, best, {k: Rule.write(v) for k, v in unrounded.items()}]

    def make() -> dict[str, Any]:
        against = compare_with_baseline(tables, [metric], best, with_intervals=False)
        pairs = compare_all_pairs(tables, metric, with_intervals=False)
        ranks = rank_intervals(tables, pairs, higher_is_better=metric.higher_is_better)
        return {
            "p": {pair.a: pair.p_corrected for pair in against},
            "ranks": {name: list(rank) for name, rank in ranks.items()},
        }

    key = hashlib.sha256(repr(inputs).encode("utf-8", "surrogatepass")).hexdigest()[:16]
    if key not in memory:
        memory[key] = remember(f"tests-{key}", inputs, make)
    result: dict[str, Any] = memory[key]
    return result
