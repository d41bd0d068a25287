"""What is left of a scored part of a corpus: sums that add up in any order, and nothing of the size of the corpus but
eight bytes a document (so that none counts twice).

Where there are at most 20 000 sampling units their counts are kept by name; beyond, by the block they are hashed into
(`histeval.stats.draws`), so that intervals are those of one machine bit for bit. The scores of pages are kept only for
a protocol that rounds them on the way (`Scorer.needs_rows`).
"""

from __future__ import annotations

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.datasets.fingerprint import fingerprint
from histeval.errors import AnswersError, UsageError
from histeval.runs.parts import Corpus, Piece
from histeval.runs.score import Score, few_units
from histeval.runs.selection import Selection, attribute
from histeval.runs.signature import RESAMPLES, SEED, Signature
from histeval.runs.suspect import Evidence, evidence, why_not_ranked
from histeval.stats.counts import CountTable
from histeval.stats.draws import MOST_UNITS
from histeval.stats.repeats import mean_intervals
from histeval.tasks.base import DocumentScore, Reading, Scorer

_MODULUS = 2**256
_NUMBER = re.compile(r"\d+")
_ITEM = re.compile(r"(\d+) ([^\d,:][^,:]*)")


def digest(name: str) -> int:
    """Eight bytes that stand for a name (BLAKE2b): documents are told apart by them, and units are hashed by them."""
    return int.from_bytes(hashlib.blake2b(name.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


@dataclass
class Units:
    """Counts by sampling unit, int64, shape (units, columns): by name up to `MOST_UNITS` of them, then by block.

    `digests` hold those of all units, some perhaps in several arrays; with `names` None, row b of `counts` is block b.
    """

    names: dict[str, int] | None
    counts: NDArray[np.int64]
    digests: list[NDArray[np.uint64]]

    @property
    def seen(self) -> NDArray[np.uint64]:
        """The digests of all units, each once, in order."""
        if len(self.digests) != 1:
            self.digests = [np.unique(np.concatenate([np.empty(0, dtype=np.uint64), *self.digests]))]
        return self.digests[0]

    def _see(self, other: Units) -> None:
        """Take in the digests of `other`. Sorting them with each part would make the cost of a corpus the square of its
        parts: they wait until they are as many as those that are sorted."""
        self.digests.append(other.seen)
        if sum(map(len, self.digests[1:])) > max(len(self.digests[0]), MOST_UNITS):
            self.digests = [self.seen]

    @staticmethod
    def of(names: Sequence[str], values: NDArray[np.int64]) -> Units:
        """The counts of documents, of which `names` are the units."""
        index: dict[str, int] = {}
        rows = np.fromiter((index.setdefault(name, len(index)) for name in names), dtype=np.intp, count=len(names))
        counts = np.zeros((len(index), values.shape[1]), dtype=np.int64)
        np.add.at(counts, rows, values)
        digests = np.fromiter((digest(name) for name in index), dtype=np.uint64, count=len(index))
        return Units(index, counts, [np.unique(digests)])

    def add(self, other: Units) -> None:
        """Take in the counts of `other`, which stays as it is."""
        if self.names is not None and other.names is not None:
            new = [name for name in other.names if name not in self.names]
            if len(self.names) + len(new) <= MOST_UNITS:
                for name in new:
                    self.names[name] = len(self.names)
                grown = np.zeros((len(self.names), other.counts.shape[1]), dtype=np.int64)
                grown[: len(self.counts)] = self.counts
                places = np.fromiter((self.names[name] for name in other.names), dtype=np.intp, count=len(other.names))
                grown[places] += other.counts
                self.counts = grown
                self._see(other)
                return
        self._to_blocks()
        self.counts += other._blocks()
        self._see(other)

    def _blocks(self) -> NDArray[np.int64]:
        if self.names is None:
            return self.counts
        blocks = np.zeros((MOST_UNITS, self.counts.shape[1]), dtype=np.int64)
        places = (digest(name) % MOST_UNITS for name in self.names)
        np.add.at(blocks, np.fromiter(places, dtype=np.intp, count=len(self.names)), self.counts)
        return blocks

    def _to_blocks(self) -> None:
        self.counts, self.names = self._blocks(), None

    def table(self, columns: tuple[str, ...]) -> CountTable:
        """The counts as a table whose rows come in the order in which intervals take them."""
        if self.names is not None:
            names = tuple(self.names)
            return CountTable(columns, names, names, self.counts)
        used = np.unique(self.seen % np.uint64(MOST_UNITS)).astype(np.intp)
        names = tuple(f"block {block:05}" for block in used.tolist())
        return CountTable(columns, names, names, self.counts[used])


@dataclass(frozen=True)
class Said:
    """A sentence of a scorer's report, of one part or added up over several.

    `numbers` are those that add up: that at its beginning (by the name ""), or those of a list after a colon
    (`...: 3 L1 PER, 2 L2 LOC`). `place` is the first part that says it, and where; `times` how many parts do.
    """

    place: tuple[int, int]
    sentence: str
    numbers: Mapping[str, int]
    times: int = 1

    @staticmethod
    def of(place: tuple[int, int], sentence: str) -> tuple[str, Said]:
        """A sentence and the key under which it adds up.

        >>> a, b = (Said.of((n, 0), f"IO merges: {n} PER, 2 LOC") for n in (1, 2))
        >>> a[0] == b[0], (a[1] + b[1]).words
        (True, 'IO merges: 4 LOC, 3 PER')
        """
        head, colon, tail = sentence.partition(": ")
        items = [_ITEM.fullmatch(item) for item in tail.split(", ")] if colon else []
        if items and all(items):
            return head, Said(place, head, {item[2]: int(item[1]) for item in items if item})
        first = _NUMBER.match(sentence)
        return _NUMBER.sub("#", sentence), Said(place, sentence, {"": int(first[0])} if first else {})

    def __add__(self, other: Said) -> Said:
        place, sentence = min((self.place, self.sentence), (other.place, other.sentence))
        return Said(place, sentence, Counter(self.numbers) + Counter(other.numbers), self.times + other.times)

    @property
    def words(self) -> str:
        """The sentence with its numbers added up; numbers that do not add up are those of the first part."""
        if self.numbers and "" not in self.numbers:
            return f"{self.sentence}: " + ", ".join(f"{n} {name}" for name, n in sorted(self.numbers.items()))
        sentence = _NUMBER.sub(str(self.numbers[""]), self.sentence, count=1) if self.numbers else self.sentence
        more = len(_NUMBER.findall(sentence)) > len(self.numbers)
        return f"{sentence} (so the first of {self.times} parts that say it)" if more and self.times > 1 else sentence


@dataclass
class Summary:
    """A scored part of a corpus, or the sum of several.

    `ids` are digests of all documents' ids; `rows` are ids and counts of scored documents where the scorer needs them;
    `said` are the scorer's sentences (`Said`) by their words without numbers; `truth` is the sum of the documents'
    fingerprints modulo 2^256, so that order and parts do not matter.
    """

    units: Units
    documents: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    without_truth: int = 0
    outside: int = 0
    ids: list[NDArray[np.uint64]] = field(default_factory=list)
    rows: list[tuple[list[str], NDArray[np.int64]]] = field(default_factory=list)
    said: dict[str, Said] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    cost: Fraction | None = Fraction(0)
    paid: int = 0
    seconds: Fraction | None = None
    usage: Counter[str] = field(default_factory=Counter)
    truth: int = 0

    def add(self, other: Summary) -> None:
        """Take in another part; the order of parts changes nothing."""
        self.units.add(other.units)
        self.documents += other.documents
        self.failures += other.failures
        self.without_truth += other.without_truth
        self.outside += other.outside
        self.ids += other.ids
        self.rows += other.rows
        for key, one in other.said.items():
            self.said[key] = self.said[key] + one if key in self.said else one
        self.evidence = self.evidence + other.evidence
        self.cost = None if self.cost is None or other.cost is None else self.cost + other.cost
        self.paid += other.paid
        if other.seconds is not None:
            self.seconds = other.seconds + (self.seconds or 0)
        self.usage += other.usage
        self.truth = (self.truth + other.truth) % _MODULUS

    def check(self, corpus: str) -> None:
        """Raises AnswersError where a document occurs twice."""
        every = np.concatenate(self.ids) if self.ids else np.empty(0, dtype=np.uint64)
        twice = len(every) - len(np.unique(every))
        if twice:
            raise AnswersError(f"holds {twice} documents a second time", file=corpus, remedy="Keep one row of each")


def empty(scorer: Scorer) -> Summary:
    """The summary of nothing, to which parts are added."""
    columns = len(scorer.columns)
    return Summary(Units({}, np.zeros((0, columns), dtype=np.int64), [np.empty(0, dtype=np.uint64)]))


@dataclass(frozen=True)
class PieceScorer:
    """Scores a piece: what every worker, of whatever engine, does."""

    corpus: Corpus
    scorer: Scorer
    selection: Selection

    def __call__(self, piece: Piece) -> Summary:
        scorer, selection = self.scorer, self.selection
        wanted = set(selection.documents) if selection.documents is not None else None
        summary = empty(scorer)
        scored: list[tuple[str, DocumentScore]] = []
        units: list[str] = []
        truths: list[Any] = []
        readings: dict[str, Reading] = {}
        tokens: dict[str, int] = {}
        answered_truths: dict[str, Any] = {}
        ids: list[int] = []
        costs: list[float | None] = []
        for document, answer in self.corpus.documents(piece):
            ids.append(digest(document.id))
            if (wanted is not None and document.id not in wanted) or not selection.takes(document):
                summary.outside += 1
                continue
            if document.truth is None:
                summary.without_truth += 1
                continue
            summary.truth = (summary.truth + int(fingerprint([(document.id, document.truth)]), 16)) % _MODULUS
            if not scorer.selects(document.truth):
                summary.outside += 1
                continue
            reading = scorer.read(answer)
            row = scorer.score(document.truth, reading)
            readings[document.id], answered_truths[document.id] = reading, document.truth
            if answer.usage.get("input_tokens"):
                tokens[document.id] = answer.usage["input_tokens"]
            if answer.error is None or answer.cost is not None:  # a failed one counts with what it says it cost
                costs.append(answer.cost)
            if answer.seconds is not None:
                summary.seconds = Fraction(answer.seconds) + (summary.seconds or 0)
            summary.usage.update(answer.usage)
            if row is None:
                continue
            scored.append((document.id, row))
            truths.append(document.truth)
            units.append(_unit(document, selection))
            if row.failure:
                summary.failures[row.failure] += 1
        values = np.array([row.counts for _, row in scored], dtype=np.int64).reshape(len(scored), len(scorer.columns))
        summary.units = Units.of(units, values)
        summary.documents = len(scored)
        summary.ids = [np.array(ids, dtype=np.uint64)]
        if scorer.needs_rows:
            summary.rows = [([name for name, _ in scored], values)]
        for position, sentence in enumerate(scorer.report(truths, scored)):
            key, one = Said.of((piece.number, position), sentence)
            summary.said[key] = summary.said[key] + one if key in summary.said else one
        summary.evidence = evidence(scorer, answered_truths, readings, tokens=tokens, part=piece.number)
        summary.paid = len(costs)
        known = all(cost is not None for cost in costs)
        summary.cost = sum((Fraction(cost) for cost in costs if cost is not None), Fraction(0)) if known else None
        return summary


def _unit(document: Any, selection: Selection) -> str:
    if selection.unit is None:
        return str(document.unit)
    value = attribute(document, selection.unit)
    if value is None:
        raise UsageError(f"the document {document.id!r} has no attribute {selection.unit!r} to be its sampling unit")
    return value


@dataclass(frozen=True)
class CorpusScore(Score):
    """A score without its rows; what `Score` counts from rows is in `summary`."""

    summary: Summary | None = None

    @property
    def documents(self) -> int:
        """Documents scored."""
        assert self.summary is not None
        return self.summary.documents

    @property
    def failed(self) -> int:
        """Documents that failed."""
        return sum(self.failures.values())

    @property
    def failures(self) -> dict[str, int]:
        """How many failures of each reason."""
        assert self.summary is not None
        return dict(sorted(self.summary.failures.items(), key=lambda item: (-item[1], item[0])))

    @property
    def units(self) -> int:
        """Sampling units among the documents scored."""
        assert self.summary is not None
        return len(self.summary.units.seen)


def conclude_corpus(
    run: str, corpus: Corpus, scorer: Scorer, selection: Selection, summary: Summary, facts: Mapping[str, Any]
) -> CorpusScore:
    """The score of a whole corpus; raises AnswersError where it holds a document twice, UsageError where nothing."""
    summary.check(run)
    if not summary.documents:
        raise UsageError(f"no document of {run} is selected, so there is nothing to score")
    dataset = replace(corpus.dataset, fingerprint=f"{summary.truth:064x}")
    table = summary.units.table(scorer.columns)
    sums = table.sums()
    rows = (
        [
            (name, DocumentScore(counts))
            for names, values in summary.rows
            for name, counts in zip(names, values, strict=True)
        ]
        if scorer.needs_rows
        else []
    )
    values = scorer.values(rows, sums)
    intervals = mean_intervals((table,), scorer.metrics_on(sums), resamples=RESAMPLES, seed=SEED)
    unit = selection.unit or dataset.description.unit
    signature = Signature(scorer.protocol, dataset, summary.documents, unit, dict(selection.where), RESAMPLES, SEED, 1)
    suspect = why_not_ranked(summary.evidence.arrival(), facts)
    totals = {
        "cost": float(summary.cost) if summary.paid and summary.cost is not None else None,
        "seconds": None if summary.seconds is None else float(summary.seconds),
        "usage": dict(sorted(summary.usage.items())),
    }
    notes = list(_notes(summary))
    notes += few_units(len(summary.units.seen), unit)
    return CorpusScore(
        run, dataset, scorer, signature, ({},), (table,), values, intervals, {}, tuple(notes), suspect,
        {**facts, "totals": totals}, {}, summary,
    )  # fmt: skip


def _notes(summary: Summary) -> Iterable[str]:
    """What was left out, and what the parts said."""
    if summary.without_truth:
        yield f"{summary.without_truth} documents without ground truth were left out"
    if summary.outside:
        yield f"{summary.outside} answers to documents outside the selection were left out"
    for one in sorted(summary.said.values(), key=lambda one: (one.place, one.sentence)):
        yield one.words
