"""Scoring a run: rows (one a document), their sum, and every number with its interval and signature."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.datasets.base import Dataset, Document
from histeval.errors import UsageError
from histeval.runs.answers import AnswerSet
from histeval.runs.opening import open_answers
from histeval.runs.selection import Selection, choose, groups_of, is_listed, known_attribute, unit_of
from histeval.runs.signature import RESAMPLES, SEED, Signature, digest_of
from histeval.stats.counts import CountTable
from histeval.stats.intervals import Interval
from histeval.stats.repeats import mean_intervals
from histeval.tasks.base import Answer, DocumentScore, Protocol, Reading, RuleValue, Scorer, Task

FEW_UNITS = 20
MISSING = "missing"


@dataclass(frozen=True)
class Score:
    """A run scored under one protocol.

    `rows` holds a document score by document for each repeat; `tables` their counts; `values` and `intervals` one
    number a metric (the mean over repeats), `spread` its standard deviation between repeats. `group` is the value of
    the attribute a breakdown was made by.
    """

    run: str
    dataset: Dataset
    scorer: Scorer
    signature: Signature
    rows: tuple[Mapping[str, DocumentScore], ...]
    tables: tuple[CountTable, ...]
    values: Mapping[str, float | None]
    intervals: Mapping[str, Interval]
    spread: Mapping[str, float]
    notes: tuple[str, ...] = ()
    suspect: str | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    group: Mapping[str, str] = field(default_factory=dict)

    @property
    def answered(self) -> int:
        """Answers that were scored and are there, in all repeats, failed ones among them."""
        return sum(row.failure != MISSING for rows in self.rows for row in rows.values())

    def carrying(self, what: str) -> int:
        """Answers, in all repeats, that carry a `cost` or `seconds`."""
        count: int = self.facts.get("carrying", {}).get(what, 0)
        return count

    def spent(self, what: str) -> float | None:
        """The whole `cost` (US dollars) or `seconds` of the answers; None where unknown."""
        total: float | None = self.facts.get("totals", {}).get(what)
        return total

    def spent_each(self, what: str) -> float | None:
        """`cost` or `seconds` of an answer, on average over those that carry it; None where unknown."""
        total, count = self.spent(what), self.carrying(what)
        return None if total is None or not count else total / count

    @property
    def documents(self) -> int:
        """Documents scored, in any of the repeats."""
        return len(_named(self.tables))

    @property
    def sums(self) -> NDArray[np.int64]:
        """The summed counts over all repeats, shape (columns,)."""
        return sum((table.sums() for table in self.tables[1:]), self.tables[0].sums())

    @property
    def failed(self) -> int:
        """Documents that failed, in any of the repeats, among those scored."""
        return len({name for rows in self.rows for name, row in rows.items() if row.failure})

    @property
    def failures(self) -> dict[str, int]:
        """How many failures of each reason, over all repeats."""
        return dict(Counter(row.failure for rows in self.rows for row in rows.values() if row.failure))

    @property
    def units(self) -> int:
        """Sampling units among the documents scored."""
        return len({unit for table in self.tables for unit in table.units})

    def as_json(self, per_document: bool = False) -> dict[str, Any]:
        """The object that `score --format json` prints."""
        sums = self.sums
        result: dict[str, Any] = {
            "run": self.run,
            "task": self.scorer.task.name,
            "dataset": self.dataset.name,
            "protocol": self.scorer.protocol.short,
            "signature": str(self.signature),
            "documents": self.documents,
            "failed": self.failed,
            "failures": self.failures,
            "units": self.units,
            "suspect": self.suspect,
            **({"group": dict(self.group)} if self.group else {}),
            **{key: self.facts[key] for key in ("provider", "model", "date") if key in self.facts},
            **self.facts.get("totals", {}),
            "notes": list(self.notes),
            "metrics": {
                name: {
                    "value": value,
                    "low": self.intervals[name].low,
                    "high": self.intervals[name].high,
                    **({"spread": self.spread[name]} if name in self.spread else {}),
                }
                for name, value in self.values.items()
            },
            "counts": dict(zip(self.scorer.columns, sums.tolist(), strict=True)),
        }
        if len(self.tables) > 1:
            result["repeats"] = len(self.tables)
        if per_document:
            result["per_document"] = {name: self._document(name) for name in _named(self.tables)}
        return result

    def _document(self, name: str) -> dict[str, Any]:
        """One document: counts summed over the repeats, failure and fields of the first, the others beside it."""
        found = [rows[name] for rows in self.rows if name in rows]
        counts = sum((row.counts for row in found[1:]), found[0].counts)
        result: dict[str, Any] = {
            "counts": dict(zip(self.scorer.columns, counts.tolist(), strict=True)),
            "failure": found[0].failure,
            "fields": found[0].fields,
        }
        result |= _words(found[0])
        if len(self.rows) > 1:
            result["repeats"] = [{"failure": row.failure, "fields": row.fields, **_words(row)} for row in found]
        return result


def _named(tables: Sequence[CountTable]) -> list[str]:
    """The documents of all repeats: one may be left out of some of them."""
    return list(dict.fromkeys(name for table in tables for name in table.documents))


def _words(row: DocumentScore) -> dict[str, Any]:
    """Why an answer failed, and what was mended to read it, where there is something to say."""
    detail = {"detail": row.detail} if row.failure and row.detail else {}
    return {**detail, **({"notes": list(row.notes)} if row.notes else {})}


def score_paths(
    task: Task,
    dataset: Dataset,
    paths: Sequence[Path | str],
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    selection: Selection | None = None,
    by: str | None = None,
    suspicion: bool = True,
    outcomes_of: Outcomes | None = None,
) -> Iterator[Score]:
    """Every run in `paths`, scored. Rules given here go before those a run brings along."""
    selection = selection or Selection()
    selection.check(dataset)
    if by is not None:
        known_attribute(dataset, by)
    twice = next((path for number, path in enumerate(paths) if path in paths[:number]), None)
    if twice is not None:
        raise UsageError(f"{twice} is given twice")
    task.protocol(protocol, rules)  # a wrong rule is said before any answer is read
    scorers = Scorers(task, dataset, protocol, rules or {})
    for path in paths:
        for answers in open_answers(path, dataset):
            scorer = scorers.for_run(answers)
            yield from score_run(dataset, answers, scorer, selection, by, suspicion, outcomes_of=outcomes_of)


@dataclass
class Scorers:
    """One scorer for each set of rules that runs bring along."""

    task: Task
    dataset: Dataset
    protocol: str
    rules: Mapping[str, RuleValue]
    made: dict[tuple[tuple[str, bool], ...], Scorer] = field(default_factory=dict)

    def for_run(self, answers: AnswerSet) -> Scorer:
        """The scorer for a run: its own rules, where the task knows them, under those given."""
        known = {rule.name for rule in self.task.rules}
        brought = {name: value for name, value in answers.rules.items() if name in known and name not in self.rules}
        key = tuple(sorted(brought.items()))
        if key not in self.made:
            rules: Protocol = self.task.protocol(self.protocol, {**brought, **self.rules})
            self.made[key] = self.task.scorer(self.dataset.context, rules)
        return self.made[key]


def score_run(
    dataset: Dataset,
    answers: AnswerSet,
    scorer: Scorer,
    selection: Selection | None = None,
    by: str | None = None,
    suspicion: bool = True,
    with_intervals: bool = True,
    outcomes_of: Outcomes | None = None,
) -> Iterator[Score]:
    """One run scored, once or, with `by`, once for each value of that attribute.

    `with_intervals=False` leaves intervals missing, for callers that make those of many runs together; `outcomes_of`
    scores the answers elsewhere (`histeval.runs.engine`).
    """
    selection = selection or Selection()
    chosen, notes = choose(dataset, answers, scorer, selection)
    pairs = [
        (document.truth, answers.answers.get((document.id, repeat)) or Answer(document.id, error=MISSING))
        for repeat in answers.repeats
        for document in chosen
    ]
    outcomes = (outcomes_of or score_pairs)(scorer, pairs)
    listed = is_listed(dataset, scorer, selection, chosen)
    yield from conclude(
        dataset, answers, scorer, selection, chosen, notes, outcomes, by, suspicion, with_intervals, listed
    )


Pair = tuple[Any, Answer]
"""A truth and the answer to be scored against it."""
Outcome = tuple[Reading, DocumentScore | None]
"""An answer as read and its score; None where the protocol leaves failed answers out."""
Outcomes = Callable[[Scorer, Sequence[Pair]], Iterable[Outcome]]
"""What scores pairs, one outcome a pair in their order: this process, several, or a cluster."""


def score_pairs(scorer: Scorer, pairs: Sequence[Pair]) -> Iterator[Outcome]:
    """Every pair scored in this process."""
    for truth, answer in pairs:
        reading = scorer.read(answer)
        yield reading, scorer.score(truth, reading)


def conclude(
    dataset: Dataset,
    answers: AnswerSet,
    scorer: Scorer,
    selection: Selection,
    chosen: Sequence[Document],
    notes: Sequence[str],
    outcomes: Iterable[Outcome],
    by: str | None = None,
    suspicion: bool = True,
    with_intervals: bool = True,
    listed: bool = False,
) -> Iterator[Score]:
    """The score of a run from the outcomes of its answers: those of all chosen documents, repeat by repeat."""
    found = iter(outcomes)
    repeats = answers.repeats
    readings: dict[str, Any] = {}
    rows: list[dict[str, DocumentScore]] = []
    for repeat in repeats:
        scored: dict[str, DocumentScore] = {}
        for document in chosen:
            reading, row = next(found)
            if row is not None:
                scored[document.id] = row
            if repeat == repeats[0]:
                readings[document.id] = reading
        rows.append(scored)
    suspect = _suspect(scorer, chosen, answers, readings) if suspicion else None
    said = [*notes, *answers.notes, *_fingerprint_note(dataset, answers)]
    for group, part in groups_of(chosen, by):
        ids = {document.id for document in part}
        kept = [{d.id: found[d.id] for d in part if d.id in found} for found in rows]
        left_out = len(part) * len(repeats) - sum(map(len, kept))
        lines = [*said, f"{left_out} failed answers were left out (failed_answers=left_out)"] if left_out else said
        facts = {
            **answers.facts,
            **_spent([answer for (name, _), answer in answers.answers.items() if name in ids]),
        }
        yield summarise(
            answers.run, dataset, scorer, selection, part, kept, lines, suspect, facts, group, with_intervals, listed
        )


def summarise(
    run: str,
    dataset: Dataset,
    scorer: Scorer,
    selection: Selection,
    documents: Sequence[Document],
    rows: Sequence[Mapping[str, DocumentScore]],
    notes: Sequence[str] = (),
    suspect: str | None = None,
    facts: Mapping[str, Any] | None = None,
    group: Mapping[str, str] | None = None,
    with_intervals: bool = True,
    listed: bool = False,
) -> Score:
    """The score of rows that are there: sums, values, intervals (unless left missing), notes and signature.

    `listed` says that the documents were chosen one by one, which the signature then shows.
    """
    unit = selection.unit or dataset.description.unit
    by_id = {document.id: document for document in documents}
    tables = tuple(_table(scorer, found, by_id, selection.unit) for found in rows)
    point = [scorer.values(list(found.items()), table.sums()) for found, table in zip(rows, tables, strict=True)]
    values = {name: _mean([values[name] for values in point]) for name in point[0]}
    spread = {name: _deviation([v[name] for v in point]) for name in point[0]} if len(rows) > 1 else {}
    full = sum((table.sums() for table in tables[1:]), tables[0].sums())
    metrics = scorer.metrics_on(full)
    intervals = (
        mean_intervals(tables, metrics, resamples=RESAMPLES, seed=SEED)
        if with_intervals
        else {metric.name: Interval(None, None) for metric in metrics}
    )
    where = {**selection.where, **(group or {})}
    subset = digest_of(document.id for document in documents) if listed else ""
    signature = Signature(
        scorer.protocol, dataset, len(_named(tables)), unit, where, RESAMPLES, SEED, len(rows), subset
    )
    said = [*notes, *scorer.report([by_id[name].truth for name in rows[0]], list(rows[0].items()))]
    said += scorer.report_of_counts(tables[0].values)
    said += few_units(len({name for table in tables for name in table.units}), unit)
    return Score(
        run, dataset, scorer, signature, tuple(rows), tables, values, intervals, spread, tuple(said), suspect,
        facts or {}, group or {},
    )  # fmt: skip


def few_units(units: int, unit: str) -> list[str]:
    """What is to be said of a score from few sampling units, of one, and of none."""
    if units >= FEW_UNITS:
        return []
    if units > 1:
        return [f"only {units} sampling units ({unit}): intervals and tests are rough below {FEW_UNITS}"]
    if units:
        return [f"only one sampling unit ({unit}): from one alone there is neither an interval nor a test"]
    return ["no answer is left to be scored: the numbers say nothing"]


def _table(
    scorer: Scorer, rows: Mapping[str, DocumentScore], by_id: Mapping[str, Document], unit: str | None
) -> CountTable:
    values = np.array([row.counts for row in rows.values()], dtype=np.int64)
    units = tuple(unit_of(by_id[name], unit) for name in rows)
    return CountTable(scorer.columns, tuple(rows), units, values)


def _suspect(scorer: Scorer, chosen: Sequence[Document], answers: AnswerSet, readings: Mapping[str, Any]) -> str | None:
    from histeval.runs.suspect import suspect

    truths = {document.id: document.truth for document in chosen}
    pages = {document.id: len(document.images) for document in chosen if document.images}
    given = ((name, answers.answers.get((name, answers.repeats[0]))) for name in truths)
    tokens = {name: answer.usage["input_tokens"] for name, answer in given if answer and "input_tokens" in answer.usage}
    return suspect(scorer, truths, readings, pages=pages, tokens=tokens, facts=answers.facts)


def _fingerprint_note(dataset: Dataset, answers: AnswerSet) -> list[str]:
    made = answers.facts.get("dataset")
    before = made.get("fingerprint") if isinstance(made, dict) else None
    if isinstance(before, str) and before != dataset.fingerprint:
        return [f"the run was made with another ground truth ({before[:6]}, now {dataset.fingerprint[:6]})"]
    return []


def _spent(answers: Sequence[Answer]) -> dict[str, Any]:
    """`totals`: cost, seconds and tokens of the answers that were scored; `carrying`: how many say what they cost and
    took. The cost is None as soon as that of an answer that is no failure is unknown; a failed one, which was cut off
    perhaps, counts with what it says it cost."""
    costs = [answer.cost for answer in answers if answer.error is None or answer.cost is not None]
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    usage: Counter[str] = Counter()
    for answer in answers:
        usage.update(answer.usage)
    known = costs and all(cost is not None for cost in costs)
    totals = {
        "cost": math.fsum(cost for cost in costs if cost is not None) if known else None,
        "seconds": math.fsum(seconds) if seconds else None,
        "usage": dict(usage),
    }
    return {"totals": totals, "carrying": {"cost": len(costs) if known else 0, "seconds": len(seconds)}}


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    if len(there) != len(values):
        return None
    return there[0] if len(there) == 1 else math.fsum(there) / len(there)


def _deviation(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return float(np.std(there, ddof=1)) if len(there) > 1 else 0.0
