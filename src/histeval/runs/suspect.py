"""Did the images arrive? Published runs exist whose images never reached the model, and their scores look only bad.

The test needs no provider's word: answers that were read from their own documents fit the truth of these documents
better than the truth of others. With S[i, j] the fit of answer i to the truth of document j, the sum of S[i, i] is
compared with the sums of S[i, s(i)] over random permutations s (Fisher's permutation test, one-sided). Where the
answers have nothing to do with the documents, all permutations are alike and p is uniform; p > 0.01 is suspect.
A fit is a graded similarity, not a hit, since a poor reader hits nothing and still fits its own documents best.
"""

from __future__ import annotations

import hashlib
import heapq
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import permutations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from histeval.entities.spans import Entry
from histeval.tasks.base import Answer, Reading, Scorer
from histeval.tasks.truth import LetterTruth, PageTruth

LEVEL = 0.01
"""A p above this is suspect."""
FEWEST = 5
"""Usable answers the test needs: four have 4! = 24 permutations, so that p cannot fall below 1/24."""
NEARLY_ALL = 0.8
"""A run with at least this share of failed or empty answers has failed nearly throughout."""
LARGEST = 100
"""Above this many usable answers so many of them are tested: those whose ids have the smallest digests."""
CLIP = 2000
"""Of longer texts only so many characters are compared: enough to know a page by, and time stays bounded."""
RESAMPLES = 9999

NOT_ARRIVED = "the images seem not to have reached the model"
"""How the reason begins where the test of arrival speaks against a run."""

_NOTHING = ("", "null", "none", "unknown", "n/a", "-")

Verdict = Literal["arrived", "suspect", "unusable", "few", "untested"]


@dataclass(frozen=True, slots=True)
class Arrival:
    """What can be said of whether documents reached the system.

    `verdict`: `arrived`; `suspect`; `unusable` (failed or empty nearly throughout); `few` (too few usable answers, or
    truths too alike, to tell); `untested` (the task does not start from images). `reason` is a sentence without its
    full stop, empty where nothing is to be said; `p` is the permutation test's, where there was one.
    """

    verdict: Verdict
    reason: str = ""
    p: float | None = None
    usable: int = 0
    documents: int = 0


def suspect(
    scorer: Scorer,
    documents: Mapping[str, Any],
    answers: Mapping[str, Answer | Reading],
    *,
    pages: Mapping[str, int] | None = None,
    tokens: Mapping[str, int] | None = None,
    facts: Mapping[str, Any] | None = None,
) -> str | None:
    """Why this run must not be ranked: its images seem never to have arrived, or it failed nearly throughout.

    None where neither is so; a run too small to tell is not suspect. `facts` is what run.json says. See `arrival`.
    """
    return why_not_ranked(arrival(scorer, documents, answers, pages=pages, tokens=tokens), facts or {})


def why_not_ranked(found: Arrival, facts: Mapping[str, Any]) -> str | None:
    """The reason not to rank a run, None where there is none.

    A system that opened the images itself, as run.json says (`reads_images`), had them, however badly it reads.
    """
    if found.verdict == "suspect" and facts.get("reads_images") == "local":
        return None
    return found.reason if found.verdict in ("suspect", "unusable") else None


def arrival(
    scorer: Scorer,
    documents: Mapping[str, Any],
    answers: Mapping[str, Answer | Reading],
    *,
    pages: Mapping[str, int] | None = None,
    tokens: Mapping[str, int] | None = None,
) -> Arrival:
    """Whether the answers of one run were read from their documents.

    `documents` gives the truth of each document that was asked, `answers` its answer or, cheaper, its reading; one
    without an answer has failed. `pages` (images of each document) and `tokens` (input tokens of each answer; taken
    from the answers where they carry usage) are second evidence: they are named in the reason and decide nothing.
    """
    return evidence(scorer, documents, answers, pages=pages, tokens=tokens).arrival()


@dataclass(frozen=True, slots=True)
class Sampled:
    """A usable answer that is tested: a number that orders the sample (of the id), its place in the run, and the texts
    of the answer and of the ground truth by field."""

    order: int
    place: tuple[int, int]
    found: Mapping[str, str]
    expected: Mapping[str, str]


@dataclass
class Evidence:
    """What the verdict on a run is made from. Evidence of parts of a run adds up to that of the whole.

    `failures` are by reason, documents without an answer among them; `sample` holds at most `LARGEST` usable answers,
    those with the smallest digests of their ids, so that it depends on nothing else; `tokens` are the answers with
    known input tokens and these tokens, by number of pages.
    """

    documents: int = 0
    failures: Counter[str] = field(default_factory=Counter)
    empty: int = 0
    usable: int = 0
    from_text: bool = False
    sample: list[Sampled] = field(default_factory=list)
    tokens: dict[int, tuple[int, int]] = field(default_factory=dict)

    def __add__(self, other: Evidence) -> Evidence:
        tokens = dict(self.tokens)
        for pages, (answers, total) in other.tokens.items():
            before = tokens.get(pages, (0, 0))
            tokens[pages] = before[0] + answers, before[1] + total
        return Evidence(
            self.documents + other.documents,
            self.failures + other.failures,
            self.empty + other.empty,
            self.usable + other.usable,
            self.from_text or other.from_text,
            _smallest([*self.sample, *other.sample]),
            tokens,
        )

    def arrival(self) -> Arrival:
        """The verdict."""
        total, failed, usable = self.documents, sum(self.failures.values()), self.usable
        if self.from_text:
            if total and failed >= NEARLY_ALL * total:
                return Arrival("unusable", self._unusable(), None, total - failed, total)
            return Arrival("untested", usable=total - failed, documents=total)
        if total and total - usable >= NEARLY_ALL * total:
            return Arrival("unusable", self._unusable(), None, usable, total)
        if usable < FEWEST:
            reason = f"only {usable} of {total} answers are usable, too few to tell whether the images arrived"
            return Arrival("few", reason, None, usable, total)
        sample = sorted(self.sample, key=lambda one: one.place)
        fit = _fit([one.found for one in sample], [one.expected for one in sample])
        if fit is None:
            reason = "the ground truths are too alike to tell whether the images arrived"
            return Arrival("few", reason, None, usable, total)
        p = permutation_p(fit)
        if p <= LEVEL:
            return Arrival("arrived", "", p, usable, total)
        reason = (
            f"{NOT_ARRIVED}: its answers fit their own documents no better than others (p = {p:.2g}, {usable} answers)"
        )
        second = self._tokens()
        return Arrival("suspect", f"{reason}; {second}" if second else reason, p, usable, total)

    def _unusable(self) -> str:
        parts = []
        if failed := sum(self.failures.values()):
            ordered = sorted(self.failures.items(), key=lambda item: (-item[1], item[0]))
            named = ", ".join(f"{count} {name}" for name, count in ordered)
            parts.append(f"{failed} of {self.documents} answers failed ({named})")
        if self.empty:
            parts.append(f"{self.empty} of {self.documents} answers are empty")
        return f"{' and '.join(parts)}: nearly nothing of this run can be read, so it is not ranked"

    def _tokens(self) -> str:
        """Second evidence, in words: input tokens that do not grow with the number of pages."""
        if sum(answers for answers, _ in self.tokens.values()) < FEWEST or len(self.tokens) < 2:
            return ""
        few, many = min(self.tokens), max(self.tokens)
        mean = {pages: self.tokens[pages][1] / self.tokens[pages][0] for pages in (few, many)}
        if mean[many] > 1.05 * mean[few]:
            return ""
        return (
            f"nor do its input tokens grow with the pages ({mean[few]:.0f} for {few} and {mean[many]:.0f} for {many} "
            "pages)"
        )


def evidence(
    scorer: Scorer,
    documents: Mapping[str, Any],
    answers: Mapping[str, Answer | Reading],
    *,
    pages: Mapping[str, int] | None = None,
    tokens: Mapping[str, int] | None = None,
    part: int = 0,
) -> Evidence:
    """The evidence of a run, or of one part of it (its number among the parts orders the sample), as `arrival`."""
    found = Evidence(len(documents), from_text=any(isinstance(truth, Entry) for truth in documents.values()))
    usable: list[tuple[int, int, str]] = []
    records: dict[str, Any] = {}
    for number, (document, answer) in enumerate(answers.items()):
        if document not in documents:
            continue
        reading = answer if isinstance(answer, Reading) else scorer.read(answer)
        records[document] = reading.record
        if reading.failure is not None:
            found.failures[reading.failure] += 1
        elif found.from_text:
            continue
        elif any(_parts(reading.record).values()):
            usable.append((_digest(document), number, document))
        else:
            found.empty += 1
        counted = (tokens or {}).get(document)
        if counted is None and isinstance(answer, Answer):
            counted = answer.usage.get("input_tokens") or None
        if counted is not None and pages and document in pages:
            before = found.tokens.get(pages[document], (0, 0))
            found.tokens[pages[document]] = before[0] + 1, before[1] + counted
    if len(records) < len(documents):
        found.failures["missing"] += len(documents) - len(records)
    found.usable = len(usable)
    found.sample = [
        Sampled(order, (part, number), _parts(records[document]), _parts(documents[document]))
        for order, number, document in heapq.nsmallest(LARGEST, usable)
    ]
    return found


def _smallest(sample: list[Sampled]) -> list[Sampled]:
    return heapq.nsmallest(LARGEST, sample, key=lambda one: (one.order, one.place))


def _digest(document: str) -> int:
    return int.from_bytes(hashlib.blake2b(document.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def permutation_p(fit: NDArray[np.float64]) -> float:
    """The p of the sum of the diagonal of `fit`, shape (n, n), among the sums over permutations of its columns.

    All permutations up to n = 7, else 9999 random ones from a fixed seed (b + 1) / (R + 1). Where the diagonal lies
    so far out that Cantelli's inequality alone puts p below 0.01 / 4, the inequality's bound is returned.

    >>> permutation_p(np.eye(5)) == 1 / 120
    True
    >>> permutation_p(np.ones((5, 5)))
    1.0
    """
    n = len(fit)
    observed = float(np.trace(fit))
    # Mean and variance of the sum over all permutations (Hoeffding 1951).
    centred = fit - fit.mean(axis=0) - fit.mean(axis=1)[:, None] + fit.mean()
    variance = float((centred**2).sum()) / (n - 1)
    slack = 1e-9 * max(1.0, abs(observed))
    if variance > 0:
        distance = (observed - n * float(fit.mean())) / variance**0.5
        if distance >= 20:
            return float(1 / (1 + distance**2))
    orders = _orders(n)
    sums = fit[np.arange(n), orders].sum(axis=1)
    hits = int((sums >= observed - slack).sum())
    return hits / len(orders) if n <= 7 else (hits + 1) / (len(orders) + 1)


@lru_cache(maxsize=64)
def _orders(n: int) -> NDArray[np.intp]:
    """Permutations of n things, one a row: all of them up to 7, else random ones, the same for every run."""
    if n <= 7:
        return np.array(list(permutations(range(n))), dtype=np.intp)
    draws: NDArray[np.intp] = np.argsort(np.random.default_rng(n).random((RESAMPLES, n)), axis=1)
    return draws


def _fit(found: list[Mapping[str, str]], expected: list[Mapping[str, str]]) -> NDArray[np.float64] | None:
    """Similarity of each answer (rows) to each truth (columns), summed over fields; None where all truths agree."""
    from rapidfuzz import fuzz
    from rapidfuzz.process import cdist

    if all(parts == expected[0] for parts in expected):
        return None
    total = np.zeros((len(found), len(expected)))
    for name in sorted({name for parts in expected for name in parts}):
        rows, columns = ([parts.get(name, "")[:CLIP] for parts in side] for side in (found, expected))
        scores = cdist(rows, columns, scorer=fuzz.ratio, dtype=np.float64)
        scores[[not text for text in rows], :] = 0.0  # nothing said is no evidence, also where nothing was due
        total += scores
    return total


def _parts(value: Any) -> dict[str, str]:
    """A truth or a record as comparable texts by field; what says nothing ("null", blanks) is empty."""
    if isinstance(value, LetterTruth):
        return {name: _text(values) for name, values in value.fields.items()}
    if isinstance(value, PageTruth):
        return {"text": _page(fields for _, fields in value.folios)}
    if isinstance(value, (list, tuple)):
        return {"text": _page(folio for folio in value if isinstance(folio, Mapping))}
    if isinstance(value, Mapping):
        if isinstance(value.get("metadata"), Mapping):
            return _parts(value["metadata"])
        if isinstance(value.get("folios"), (list, tuple)):
            return {"text": _page(folio for folio in value["folios"] if isinstance(folio, Mapping))}
        return {str(name): _text(item) for name, item in value.items()}
    return {}


def _page(folios: Any) -> str:
    """The texts of a page, folio numbers apart: they are easy to guess, and a page that has nothing else is empty."""
    return " ".join(
        " ".join(value.split()).lower()
        for folio in folios
        for name, value in folio.items()
        if isinstance(value, str) and name != "folio" and value.strip()
    )


def _text(value: Any) -> str:
    items = value if isinstance(value, (list, tuple)) else [value]
    words = (str(item).strip("<> \n\t").lower() for item in items if isinstance(item, (str, int)))
    return " | ".join(word for word in words if word not in _NOTHING)
