"""Doubts about the ground truth: where most systems agree with each other against it.

A doubt is a proposal that at least half of the trusted systems make, and at least three of them: the same name or date
that the ground truth does not have, the same other words in a text, the same entity. It is a reason to look at the
image again, not a verdict: systems of one kind also share their mistakes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from histeval.datasets.base import Document
from histeval.overview.board import Collected, Run
from histeval.overview.page import clean
from histeval.tasks.base import Answer, DocumentScore, Reading, Scorer

LEAST = 3
SHARE = 0.5
LONGEST = 12_000


@dataclass(frozen=True)
class Doubt:
    """A proposal against the ground truth, and who makes it. `truth` is what stands there now, empty for nothing."""

    document: str
    where: str
    truth: str
    proposal: str
    agree: int
    of: int
    runs: tuple[str, ...]

    @property
    def share(self) -> float:
        """The share of the systems asked that agree."""
        return self.agree / self.of


@dataclass(frozen=True)
class _Seen:
    """A run's answer to a document, as scored."""

    run: Run
    scorer: Scorer
    row: DocumentScore
    answer: Answer


Proposal = tuple[str, str, str]
"""Where, what stands there, and what a system has instead."""


def doubts(collected: Collected) -> list[Doubt]:
    """All doubts of a dataset, those that most systems share first."""
    propose = {"letters": _letters, "manuscripts": _manuscripts, "directories": _directories}.get(collected.task.name)
    if propose is None:
        return []
    runs = collected.trusted()
    found: list[Doubt] = []
    for name, document in collected.dataset.documents.items():
        seen = []
        for run in runs:
            score = run.scores[collected.protocol]
            row = score.rows[0].get(name)
            answer = run.answers.answers.get((name, run.answers.repeats[0]))
            if row is not None and not row.failure and answer is not None:
                seen.append(_Seen(run, score.scorer, row, answer))
        if len(seen) < LEAST:
            continue
        by: dict[Proposal, dict[str, None]] = {}
        spelt: dict[Proposal, Counter[Proposal]] = {}
        cache: dict[Any, list[tuple[Proposal, Proposal]]] = {}
        for one in seen:
            key = (id(one.scorer), one.answer.text, repr(one.answer.record))
            if key not in cache:
                cache[key] = list(propose(one, document))
            for compared, shown in cache[key]:
                by.setdefault(compared, {})[one.run.key] = None
                spelt.setdefault(compared, Counter())[shown] += 1
        for compared, who in by.items():
            if len(who) >= LEAST and len(who) >= SHARE * len(seen):
                where, truth, proposal = spelt[compared].most_common(1)[0][0]
                found.append(Doubt(name, where, truth, proposal, len(who), len(seen), tuple(who)))
    return sorted(found, key=lambda doubt: (-doubt.share, -doubt.agree))


def _letters(seen: _Seen, document: Document) -> Iterator[tuple[Proposal, Proposal]]:
    """Names and dates that count as wrong; a name that the ground truth infers is no doubt, the protocol leaves it out.

    Names are compared without case, order of first and last name, and punctuation.
    """
    from histeval.tasks.names import name_key

    fields: Sequence[str] = getattr(seen.scorer, "headline_fields", ())
    titles = {
        field.name: field.title or field.name.replace("_", " ") for field in seen.scorer.context.description.fields
    }
    dates = {field.name for field in seen.scorer.context.description.fields if field.kind == "date"}
    for name in fields:
        shown = seen.row.fields.get(name)
        if not shown:
            continue
        missed = [reason["name"] for reason in shown["reasons"] if reason["counts"] == "fn"]
        right = [reason["name"] for reason in shown["reasons"] if reason["counts"] == "tp"]
        truth = "; ".join(map(str, shown["expected"]))
        wrong = [r["name"] for r in shown["reasons"] if r["counts"] == "fp" and r["code"] != "inferred"]
        for value in wrong:
            key = value.strip() if name in dates else " ".join(name_key(value[:200]))
            yield (name, "", key), (titles.get(name, name), truth, value)
        if not wrong and not right and missed and not any(r["side"] == "found" for r in shown["reasons"]):
            yield (name, "", ""), (titles.get(name, name), truth, "")


def _manuscripts(seen: _Seen, document: Document) -> Iterator[tuple[Proposal, Proposal]]:
    """Words that were read otherwise, where the letters differ and not only how they are written (u and v, case)."""
    from histeval.overview.documents.manuscripts import compare
    from histeval.text import align

    reading = seen.scorer.read(seen.answer)
    for compared in compare(seen.scorer, document.truth, reading):
        where = compared.text.name
        if where not in seen.row.fields:
            continue
        alignment = align(compared.reference[:LONGEST], compared.hypothesis[:LONGEST], "word")
        for run in alignment.runs():
            if run.tag == "equal":
                continue
            one, other = (" ".join(text.split()) for text in alignment.slices(run))
            if _plain(one) == _plain(other) or len(one) > 200 or len(other) > 200:
                continue
            if not other and compared.elsewhere("missing", one):
                continue  # the systems have it in another field
            yield (where, f"{run.reference_start}", _plain(other)), (clean(where), one, other)


def _plain(text: str) -> str:
    """A text without what editions write in several ways: case, u and v, i and j, long s, punctuation, signs."""
    from histeval.text.normalise import STEPS

    for step in ("NFC", "abbreviations", "folded", "long_s", "uv", "ij", "unaccented", "unpunctuated"):
        text = STEPS[step].function(text)
    return "".join(text.split())


def _directories(seen: _Seen, document: Document) -> Iterator[tuple[Proposal, Proposal]]:
    """Predicted entities that are not in the ground truth, with the gold entity that each was taken for."""
    from histeval.entities.errors import classify
    from histeval.entities.matching import placed

    entry = document.truth
    gold = placed(entry)
    reading: Reading = seen.scorer.read(seen.answer)
    found = seen.scorer.located(entry, reading)  # type: ignore[attr-defined]
    for error in classify(gold, found):
        if error.kind == "right" or error.predicted is None:
            continue
        one = found[error.predicted]
        if not 0 <= one.start < one.end:
            continue
        other = gold[error.gold] if error.gold is not None else None
        proposal = f"{one.type} “{entry.text[one.start : one.end]}” (level {one.level})"
        truth = f"{other.type} “{entry.text[other.start : other.end]}” (level {other.level})" if other else ""
        key = (f"{one.start}-{one.end}", str(one.level), one.type)
        yield key, (f"characters {one.start} to {one.end}", truth, proposal)
