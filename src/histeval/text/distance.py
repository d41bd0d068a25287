"""Error rates and similarity: how far a hypothesis is from its reference.

Character error rate (CER), grapheme error rate and word error rate (WER) are the Levenshtein distance (the fewest
insertions, deletions and substitutions, each of cost 1; Levenshtein 1966) divided by the length of the reference.
Over several texts edits and lengths are summed before the division. The similarity is the normalised Indel similarity
2 LCS / (|a| + |b|), where LCS is the length of the longest common subsequence.

Where the reference is empty, the rate is undefined, and None says so (also where the hypothesis is not empty: its edits
are kept and count in every sum). The same holds for the sum over no texts.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache

from histeval.errors import UsageError
from histeval.text.clusters import Folding
from histeval.text.normalise import Profile, Unit
from histeval.text.normalise import profile as _profile

UNITS: tuple[Unit, ...] = ("character", "grapheme", "word")


@dataclass(frozen=True, slots=True)
class ErrorRate:
    """Edits, length of the reference (both in the unit asked for) and rate = edits / length, None where length is 0."""

    edits: int
    length: int

    @property
    def rate(self) -> float | None:
        return self.edits / self.length if self.length else None

    def __add__(self, other: ErrorRate) -> ErrorRate:
        return ErrorRate(self.edits + other.edits, self.length + other.length)


PROBE_FROM = 1000
"""From this length on the result is guessed from the two ends of a pair, each of a twentieth of its length."""

HINT_FROM = 256
"""Below this length a hint gains nothing."""

ALONE_FROM = 4000
"""From this length on a text's own ends foretell its error rate better than the texts before it."""

GROUP = 512
"""How many pairs share one hint at most."""

BATCH = 4096
"""How many pairs of a list are held in normalised form at once."""

FEW = 8
"""Fewer pairs than this are not worth a group."""


@cache
def _levenshtein() -> Callable[..., int]:
    """rapidfuzz's distance, loaded when it is first needed; the import statement each time would cost a text dear."""
    from rapidfuzz.distance.Levenshtein import distance

    return distance


def edits(reference: Sequence[object], hypothesis: Sequence[object], hint: int | None = None) -> int:
    """Levenshtein distance of two strings, or of two lists of non-negative integers, with unit costs.

    `hint` is a guess of the result; it changes the time, never the result. The matrix is computed in a band around the
    diagonal as wide as the guess, which proves itself where the result lies within; else the band grows. Without a
    hint, texts of a thousand characters and more guess from their own ends.

    >>> edits("Vnd ein pferit", "und ein pferd")
    3
    """
    distance = _levenshtein()
    longest = max(len(reference), len(hypothesis))
    if hint is None and longest >= PROBE_FROM:
        end = longest // 20
        sample = distance(reference[:end], hypothesis[:end]) + distance(reference[-end:], hypothesis[-end:])
        hint = 10 * sample + 40
    if hint is None or longest < HINT_FROM:
        return distance(reference, hypothesis)
    if longest < ALONE_FROM:  # rapidfuzz doubles a band that was too narrow, which costs little here
        return distance(reference, hypothesis, score_hint=hint)
    # Here a band that was too narrow costs a whole second pass.
    band = max(hint + hint // 10, abs(len(reference) - len(hypothesis)), 31)
    while 2 * band < longest:
        found = distance(reference, hypothesis, score_cutoff=band)
        if found <= band:
            return found
        band = int(band * 1.5)
    return distance(reference, hypothesis)


def edits_many(
    references: Sequence[Sequence[object]], hypotheses: Sequence[Sequence[object]], workers: int = 1
) -> list[int]:
    """`edits` of many pairs, in their order; the result never depends on the grouping or on `workers` (threads).

    Short texts go to rapidfuzz in one call; longer ones by length, in groups that take their hint from the error rate
    of the groups before; the longest make their own guesses one by one, unless there are several workers.

    >>> edits_many(["ab", "cd"], ["ab", "c"])
    [0, 1]
    """
    sizes = [max(len(a), len(b)) for a, b in zip(references, hypotheses, strict=True)]
    found = [0] * len(sizes)
    if len(sizes) < FEW:
        running = length = 0
        for i in sorted(range(len(sizes)), key=sizes.__getitem__):
            hint = int(1.2 * running / length * sizes[i]) + 8 if length and sizes[i] < ALONE_FROM else None
            found[i] = edits(references[i], hypotheses[i], hint)
            running, length = running + found[i], length + sizes[i]
        return found

    import numpy as np
    from rapidfuzz.process import cpdist

    order = sorted(range(len(sizes)), key=sizes.__getitem__)
    done = running = length = 0
    while done < len(order):
        # Texts of one group are of like length, since they share a hint.
        longest = sizes[order[done]]
        limit = next((step - 1 for step in (HINT_FROM, ALONE_FROM) if longest < step), 2 * longest)
        last = bisect_right(order, min(limit, max(2 * longest, HINT_FROM - 1)), lo=done, key=sizes.__getitem__)
        group = order[done : min(last, done + GROUP)]
        if longest >= HINT_FROM and not length:
            group = group[:4]  # the first of the longer texts: no error rate to go by yet
        if (longest >= ALONE_FROM and workers == 1) or len(group) < FEW:
            results = [edits(references[i], hypotheses[i]) for i in group]
        else:
            hint = int(1.2 * running / length * sizes[group[-1]]) + 8 if length else None
            results = cpdist(
                [references[i] for i in group],
                [hypotheses[i] for i in group],
                scorer=_levenshtein(),
                score_hint=hint,
                workers=workers,
                dtype=np.int64,
            ).tolist()
        for i, result in zip(group, results, strict=True):
            found[i] = result
        done += len(group)
        if longest >= HINT_FROM:
            running += sum(results)
            length += sum(sizes[i] for i in group)
    return found


def fuzzy_ratio(a: str, b: str) -> float:
    """Normalised Indel similarity of two strings by code point, 2 LCS / (|a| + |b|): 1 where equal, 0 where nothing is
    shared, 1 where both are empty. Raises UsageError for what is no text.

    Equal bit for bit to rapidfuzz's `fuzz.ratio(a, b) / 100`, which the published scores are made with.

    >>> round(fuzzy_ratio("Vnd ein pferit die mir vnd", "und ein pferit die mir vnd"), 6)
    0.961538
    """
    from rapidfuzz.fuzz import ratio

    if not isinstance(a, str) or not isinstance(b, str):
        raise _no_text(b if isinstance(a, str) else a)
    return float(ratio(a, b)) / 100


def _words(reference: str, hypothesis: str) -> tuple[Sequence[object], Sequence[object]]:
    numbers: dict[str, int] = {}
    return (
        [numbers.setdefault(word, len(numbers)) for word in reference.split()],
        [numbers.setdefault(word, len(numbers)) for word in hypothesis.split()],
    )


def units(reference: str, hypothesis: str, unit: Unit) -> tuple[Sequence[object], Sequence[object]]:
    """Two texts as sequences of which each item is one unit, and equal where the units are equal: strings where one
    code point can stand for one unit, else lists of integers. Words are what white space parts."""
    if unit == "character":
        return reference, hypothesis
    if unit == "grapheme":
        return Folding().pair(reference, hypothesis)
    if unit == "word":
        return _words(reference, hypothesis)
    raise UsageError(f"there is no unit {unit!r}; there are {', '.join(UNITS)}")


def _listed(texts: str | Iterable[str]) -> list[str]:
    if isinstance(texts, bytes) or not isinstance(texts, Iterable):
        raise _no_text(texts)
    return [texts] if isinstance(texts, str) else list(texts)


def _no_text(found: object, place: int | None = None) -> UsageError:
    where = "" if place is None else f" in place {place} (from 0)"
    return UsageError(f"a text must be a str, not {found!r:.60}{where}")


def error_rate(
    reference: str | Iterable[str],
    hypothesis: str | Iterable[str],
    profile: str | Profile = "raw",
    unit: Unit = "character",
    workers: int = 1,
) -> ErrorRate:
    """Edits, reference length and error rate of one pair of texts, or summed over two lists of texts.

    `profile` is applied to both sides first; lengths are those after it. A profile with the step `graphemes` counts by
    grapheme where `unit` is left at `character`. The rate is None where the reference is empty. Raises UsageError for
    lists of unequal length, for unknown names and for what is no text.

    >>> error_rate("Vnd ein pferit die mir vnd", "und ein pferit die mir vnd")
    ErrorRate(edits=1, length=26)
    >>> error_rate("Vnd ein pferit", "vnd ein pferit", profile="folded").rate
    0.0
    >>> error_rate(["ab", ""], ["ab", "cd"]).rate
    1.0
    >>> error_rate("", "abc").rate is None
    True
    >>> error_rate("a\\u0304b", "ab"), error_rate("a\\u0304b", "ab", unit="grapheme")
    (ErrorRate(edits=1, length=3), ErrorRate(edits=1, length=2))
    """
    rules = _profile(profile)
    if unit not in UNITS:
        raise UsageError(f"there is no unit {unit!r}; there are {', '.join(UNITS)}")
    if unit == "character":
        unit = rules.unit
    if isinstance(reference, str) and isinstance(hypothesis, str):
        a, b = units(rules.apply(reference), rules.apply(hypothesis), unit)
        return ErrorRate(edits(a, b), len(a))
    references, hypotheses = _listed(reference), _listed(hypothesis)
    if len(references) != len(hypotheses):
        raise UsageError(
            f"there are {len(references)} references and {len(hypotheses)} hypotheses; give one hypothesis for each"
        )
    for texts in (references, hypotheses):
        if set(map(type, texts)) - {str}:
            wrong = next(((place, text) for place, text in enumerate(texts) if not isinstance(text, str)), None)
            if wrong is not None:
                raise _no_text(wrong[1], wrong[0])
    total = length = 0
    for start in range(0, len(references), BATCH):
        pairs = [
            units(rules.apply(a), rules.apply(b), unit)
            for a, b in zip(references[start : start + BATCH], hypotheses[start : start + BATCH], strict=True)
        ]
        total += sum(edits_many([a for a, _ in pairs], [b for _, b in pairs], workers))
        length += sum(len(a) for a, _ in pairs)
    return ErrorRate(total, length)


def cer(
    reference: str | Iterable[str], hypothesis: str | Iterable[str], profile: str | Profile = "raw"
) -> float | None:
    """Character error rate; None where the reference is empty.

    What jiwer gives for texts without white space at their ends, which it takes off both sides before it counts;
    here it counts (the profile `collapsed` takes it off).

    >>> cer("pferit", "pferd")
    0.3333333333333333
    """
    return error_rate(reference, hypothesis, profile).rate


def wer(
    reference: str | Iterable[str], hypothesis: str | Iterable[str], profile: str | Profile = "raw"
) -> float | None:
    """Word error rate, words being what white space parts; None where the reference has no word.

    >>> wer("Vnd ein pferit", "und ein pferit")
    0.3333333333333333
    """
    return error_rate(reference, hypothesis, profile, "word").rate
