"""Scoring a run: rows (one a document), their sum, and every number with its interval and signature."""

from __future__ import annotations

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.datasets.base import Dataset, Document
from histeval.errors import AnswersError, UsageError
from histeval.runs.answers import AnswerSet
from histeval.runs.opening import open_answers
from histeval.runs.signature import RESAMPLES, SEED, Signature, digest_of
from histeval.stats.counts import CountTable
from histeval.stats.intervals import Interval
from histeval.stats.repeats import mean_intervals
from histeval.tasks.base import Answer, DocumentScore, Protocol, Reading, RuleValue, Scorer, Task

FEW_UNITS = 20
MISSING = "missing"
NO_VALUE = "(none)"
"""The group of documents that do not have the attribute a breakdown is made by."""


@dataclass(frozen=True)
class Selection:
    """Which documents of a dataset are scored: a list of ids, and attributes with the value they must have."""

    documents: tuple[str, ...] | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None

    def check(self, dataset: Dataset) -> None:
        """Raises UsageError for an id or attribute that the dataset does not have."""
        for name in self.documents or ():
            if name not in dataset.documents:
                raise UsageError(f"the dataset {dataset.name} has no document {name!r}")
        for key in self.where:
            known_attribute(dataset, key)

    def takes(self, document: Document) -> bool:
        """Whether a document is selected by its attributes."""
        return all(attribute(document, key) == value for key, value in self.where.items())


def attribute(document: Document, key: str) -> str | None:
    """An attribute of a document; `unit` and `document` are attributes too."""
    if key == "document":
        return document.id
    return document.attributes.get(key, document.unit if key == "unit" else None)


def known_attribute(dataset: Dataset, key: str) -> None:
    """Raises UsageError where no document has the attribute `key`."""
    if not any(attribute(document, key) is not None for document in dataset.documents.values()):
        names = sorted({name for document in dataset.documents.values() for name in document.attributes})
        raise UsageError(f"the dataset {dataset.name} has no attribute {key!r}; it has {', '.join([*names, 'unit'])}")


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
    def documents(self) -> int:
        """Documents scored."""
        return len(self.tables[0])

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
        return len(set(self.tables[0].units))

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
            result["per_document"] = {name: self._document(name) for name in self.tables[0].documents}
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
        if found[0].notes:
            result["notes"] = list(found[0].notes)
        if len(self.rows) > 1:
            result["repeats"] = [{"failure": row.failure, "fields": row.fields} for row in found]
        return result


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
    left_out = sum(reading.failure is not None for reading in readings.values()) - sum(
        row.failure is not None for row in rows[0].values()
    )
    if left_out > 0:
        said.append(f"{left_out} failed answers were left out (failed_answers=left_out)")
    totals = _totals([answers.answers[key] for key in answers.answers if key[0] in readings])
    facts = {**answers.facts, "totals": totals}
    for group, part in _groups(chosen, by):
        kept = [{d.id: found[d.id] for d in part if d.id in found} for found in rows]
        yield summarise(
            answers.run, dataset, scorer, selection, part, kept, said, suspect, facts, group, with_intervals, listed
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
    signature = Signature(scorer.protocol, dataset, len(tables[0]), unit, where, RESAMPLES, SEED, len(rows), subset)
    said = [*notes, *scorer.report([by_id[name].truth for name in rows[0]], list(rows[0].items()))]
    units = len(set(tables[0].units))
    if units < FEW_UNITS:
        said.append(f"only {units} sampling units ({unit}): intervals and tests are rough below {FEW_UNITS}")
    return Score(
        run, dataset, scorer, signature, tuple(rows), tables, values, intervals, spread, tuple(said), suspect,
        facts or {}, group or {},
    )  # fmt: skip


def is_listed(dataset: Dataset, scorer: Scorer, selection: Selection, chosen: Sequence[Document]) -> bool:
    """Whether documents were chosen one by one: they are fewer than the rules and attributes select."""
    whole = sum(
        document.truth is not None and selection.takes(document) and scorer.selects(document.truth)
        for document in dataset.documents.values()
    )
    return len(chosen) < whole


def choose(
    dataset: Dataset, answers: AnswerSet, scorer: Scorer, selection: Selection
) -> tuple[list[Document], list[str]]:
    """The documents a run is scored on, and notes on what is left out."""
    asked = selection.documents if selection.documents is not None else answers.subset
    wanted = set(asked) if asked is not None else None
    notes: list[str] = []
    chosen: list[Document] = []
    without_truth = 0
    for document in dataset.documents.values():
        if (wanted is not None and document.id not in wanted) or not selection.takes(document):
            continue
        if document.truth is None:
            without_truth += 1
        elif scorer.selects(document.truth):
            chosen.append(document)
    if not chosen:
        raise UsageError(
            f"no document of {dataset.name} is selected, so there is nothing to score for {answers.run}"
            + _values_there(dataset, selection)
        )
    if without_truth:
        notes.append(f"{without_truth} documents without ground truth were left out")
    ids = {document.id for document in chosen}
    unknown = sorted({name for name, _ in answers.answers if name not in dataset.documents})
    outside = {name for name, _ in answers.answers if name not in ids} - set(unknown)
    if unknown and not outside and len(unknown) == len({name for name, _ in answers.answers}):
        wanted_ids = ", ".join(repr(name[:60]) for name in list(dataset.documents)[:2])
        raise AnswersError(
            f"none of its {len(unknown)} answers is for a document of {dataset.name}",
            file=answers.run,
            item=likely(unknown[0], dataset.documents) or f"{unknown[0]!r:.80} is not a document",
            remedy=f"The ids of the dataset look like {wanted_ids}",
        )
    if unknown:
        shown = "; ".join(likely(name, dataset.documents) or repr(name[:60]) for name in unknown[:3])
        more = " ..." if len(unknown) > 3 else ""
        notes.append(
            f"{len(unknown)} answers for documents that {dataset.name} does not have were left out: {shown}{more}"
        )
    if outside:
        notes.append(f"{len(outside)} answers to documents outside the selection were left out")
    return chosen, notes


def likely(name: str, documents: Mapping[str, Document]) -> str:
    """`'letter1' (is it letter01?)`, where an unknown id is a known one but for its spelling; else empty.

    Case, blanks around it, leading zeros, a folder, a file ending, a page number and the way accents are stored are
    spelling.
    """
    wanted = _spelling(name)
    found = [known for known in documents if _spelling(known) == wanted] if wanted else []
    if not found:
        tail = [known for known in documents if wanted.isdigit() and _spelling(known).endswith(f" {wanted}")]
        found = tail if len(tail) == 1 else []
    return f"{name[:60]!r} (is it {found[0]!r}?)" if found else ""


def _spelling(name: str) -> str:
    base = unicodedata.normalize("NFC", name).strip().replace("\\", "/").rsplit("/", 1)[-1].casefold()
    base = re.sub(r"\.(jpe?g|png|tiff?|webp|jp2|json|xml|txt)$", "", base)
    base = re.sub(r"_p\d{1,4}$", "", base)
    words = re.findall(r"\d+|[^\W\d_]+", base)
    return " ".join(word.lstrip("0") or "0" if word.isdigit() else word for word in words)


def _values_there(dataset: Dataset, selection: Selection) -> str:
    """The values that the attributes asked for have, for a message."""
    said = []
    for key in selection.where:
        values = sorted({attribute(document, key) or NO_VALUE for document in dataset.documents.values()})
        said.append(f"{key} has the values {', '.join(values[:8])}{' ...' if len(values) > 8 else ''}")
    return f"; {'; '.join(said)}" if said else ""


def _table(
    scorer: Scorer, rows: Mapping[str, DocumentScore], by_id: Mapping[str, Document], unit: str | None
) -> CountTable:
    values = np.array([row.counts for row in rows.values()], dtype=np.int64)
    units = tuple(_unit(by_id[name], unit) for name in rows)
    return CountTable(scorer.columns, tuple(rows), units, values)


def _unit(document: Document, unit: str | None) -> str:
    if unit is None:
        return document.unit
    value = attribute(document, unit)
    if value is None:
        raise UsageError(f"the document {document.id!r} has no attribute {unit!r} to be its sampling unit")
    return value


def _groups(documents: Sequence[Document], by: str | None) -> Iterator[tuple[dict[str, str], list[Document]]]:
    if by is None:
        yield {}, list(documents)
        return
    groups: dict[str, list[Document]] = {}
    for document in documents:
        groups.setdefault(attribute(document, by) or NO_VALUE, []).append(document)
    for value, part in groups.items():
        yield {by: value}, part


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


def _totals(answers: Sequence[Answer]) -> dict[str, Any]:
    """Cost (None as soon as one is unknown), seconds and tokens of the answers that were scored."""
    costs = [answer.cost for answer in answers if answer.error is None]
    seconds = [answer.seconds for answer in answers if answer.seconds is not None]
    usage: Counter[str] = Counter()
    for answer in answers:
        usage.update(answer.usage)
    known = costs and all(cost is not None for cost in costs)
    return {
        "cost": math.fsum(cost for cost in costs if cost is not None) if known else None,
        "seconds": math.fsum(seconds) if seconds else None,
        "usage": dict(usage),
    }


def _mean(values: Sequence[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    if len(there) != len(values):
        return None
    return there[0] if len(there) == 1 else math.fsum(there) / len(there)


def _deviation(values: Sequence[float | None]) -> float:
    there = [value for value in values if value is not None]
    return float(np.std(there, ddof=1)) if len(there) > 1 else 0.0
