"""Did the images arrive? Published runs exist whose images never reached the model, and their scores look only bad.

The test needs no provider's word: answers that were read from their own documents fit the truth of these documents
better than the truth of others. With S[i, j] the fit of answer i to the truth of document j, the sum of S[i, i] is
compared with the sums of S[i, s(i)] over random permutations s (Fisher's permutation test, one-sided). Where the
answers have nothing to do with the documents, all permutations are alike and p is uniform; p > 0.01 is suspect.
A fit is a graded similarity, not a hit, since a poor reader hits nothing and still fits its own documents best.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
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
LARGEST = 300
"""Above this many usable answers a fixed random sample of them is tested."""
RESAMPLES = 9999

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
) -> str | None:
    """Why this run must not be ranked: its images seem never to have arrived, or it failed nearly throughout.

    None where neither is so; a run too small to tell is not suspect. See `arrival`.
    """
    found = arrival(scorer, documents, answers, pages=pages, tokens=tokens)
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
    total = len(documents)
    read = {
        document: answer if isinstance(answer, Reading) else scorer.read(answer)
        for document, answer in answers.items()
        if document in documents
    }
    failed = total - sum(reading.failure is None for reading in read.values())
    if any(isinstance(truth, Entry) for truth in documents.values()):
        if total and failed >= NEARLY_ALL * total:
            return Arrival("unusable", _unusable(total, failed, 0, read), None, total - failed, total)
        return Arrival("untested", usable=total - failed, documents=total)
    usable: list[str] = []
    for document, reading in read.items():
        if reading.failure is None and any(_parts(reading.record).values()):
            usable.append(document)
    empty = total - failed - len(usable)
    if total and total - len(usable) >= NEARLY_ALL * total:
        return Arrival("unusable", _unusable(total, failed, empty, read), None, len(usable), total)
    if len(usable) < FEWEST:
        return Arrival("few", f"only {len(usable)} of {total} answers are usable, too few to tell whether the images "
                       "arrived", None, len(usable), total)  # fmt: skip
    sample = _sample(usable)
    fit = _fit([read[document].record for document in sample], [documents[document] for document in sample])
    if fit is None:
        return Arrival("few", "the ground truths are too alike to tell whether the images arrived", None,
                       len(usable), total)  # fmt: skip
    p = permutation_p(fit)
    if p <= LEVEL:
        return Arrival("arrived", "", p, len(usable), total)
    reason = (
        "the images seem not to have reached the model: its answers fit their own documents no better than others "
        f"(p = {p:.2g}, {len(usable)} answers)"
    )
    second = _tokens(answers, pages or {}, tokens)
    return Arrival("suspect", f"{reason}; {second}" if second else reason, p, len(usable), total)


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


def _sample(usable: list[str]) -> list[str]:
    if len(usable) <= LARGEST:
        return usable
    chosen = np.random.default_rng(len(usable)).choice(len(usable), LARGEST, replace=False)
    return [usable[index] for index in sorted(chosen)]


def _fit(records: list[Any], truths: list[Any]) -> NDArray[np.float64] | None:
    """Similarity of each record (rows) to each truth (columns), summed over fields; None where all truths agree."""
    from rapidfuzz import fuzz
    from rapidfuzz.process import cdist

    expected = [_parts(truth) for truth in truths]
    if all(parts == expected[0] for parts in expected):
        return None
    found = [_parts(record) for record in records]
    total = np.zeros((len(records), len(truths)))
    for name in sorted({name for parts in expected for name in parts}):
        rows, columns = [parts.get(name, "") for parts in found], [parts.get(name, "") for parts in expected]
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


def _unusable(total: int, failed: int, empty: int, read: Mapping[str, Reading]) -> str:
    reasons: dict[str, int] = {}
    for reading in read.values():
        if reading.failure is not None:
            reasons[reading.failure] = reasons.get(reading.failure, 0) + 1
    if failed > sum(reasons.values()):
        reasons["missing"] = reasons.get("missing", 0) + failed - sum(reasons.values())
    parts = []
    if failed:
        named = ", ".join(f"{count} {name}" for name, count in sorted(reasons.items(), key=lambda item: -item[1]))
        parts.append(f"{failed} of {total} answers failed ({named})")
    if empty:
        parts.append(f"{empty} of {total} answers are empty")
    return f"{' and '.join(parts)}, so that nothing shows whether the images reached the model"


def _tokens(answers: Mapping[str, Answer | Reading], pages: Mapping[str, int], tokens: Mapping[str, int] | None) -> str:
    """Second evidence, in words: input tokens that do not grow with the number of pages."""
    counted = dict(tokens or {})
    for document, answer in answers.items():
        if isinstance(answer, Answer) and answer.usage.get("input_tokens"):
            counted.setdefault(document, answer.usage["input_tokens"])
    known = [document for document in answers if document in counted and document in pages]
    numbers = {pages[document] for document in known}
    if len(known) < FEWEST or len(numbers) < 2:
        return ""
    few, many = min(numbers), max(numbers)
    mean = {n: float(np.mean([counted[d] for d in known if pages[d] == n])) for n in (few, many)}
    if mean[many] > 1.05 * mean[few]:
        return ""
    return (
        f"nor do its input tokens grow with the pages ({mean[few]:.0f} for {few} and {mean[many]:.0f} for {many} pages)"
    )
