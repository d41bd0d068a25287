"""Text: Histeval beside jiwer, rapidfuzz without a hint and dinglehopper, in one run on the same generated pages.

Alone: `python benchmarks/text.py`. Peers are optional: one that is not installed gives a row without figures.
"""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from functools import partial
from statistics import median
from timeit import Timer
from typing import Any

from histeval.text import edits, error_rate

RUNS = 7
LETTERS = "eeeeeennnnniiiirrrssttaahhdduullcgmobwfkzvpjyx,.      üöäßſ"
MARKS = "\u0304\u0364\u0303"


def page(chance: random.Random, size: int, marks: float = 0.0) -> str:
    """A page of letters in about the frequency of German; the share `marks` of them carries a combining mark."""
    out: list[str] = []
    while len(out) < size:
        out.append(chance.choice(LETTERS))
        if chance.random() < marks:
            out.append(chance.choice(MARKS))
    return "".join(out[:size])


def noisy(chance: random.Random, text: str, rate: float) -> str:
    """Substitutions, deletions and insertions in equal parts, all over the text."""
    out = []
    for character in text:
        kind = chance.random() * 3
        if kind >= 2 * rate:
            out.append(character)
        elif kind < rate:
            out.append(chance.choice(LETTERS))
        if 2 * rate <= kind < 3 * rate:
            out.append(chance.choice(LETTERS))
    return "".join(out)


def compared(ours: Callable[[], Any], peer: Callable[[], Any]) -> tuple[float, float]:
    """Median processor seconds of a call of each, over `RUNS` samples taken in turn; both work in one thread.

    A sample repeats a quick call until it takes some 20 ms, as timeit does. The results of both must be equal.
    """
    if ours() != peer():
        raise AssertionError("the results differ")
    timers = [Timer(call, timer=time.process_time) for call in (ours, peer)]
    repeats = []
    for timer in timers:
        timer.timeit(1)
        repeats.append(max(1, int(0.02 / min(timer.repeat(3, 1)))))
    times: list[list[float]] = [[], []]
    for _ in range(RUNS):
        for timer, number, found in zip(timers, repeats, times, strict=True):
            found.append(timer.timeit(number) / number)
    return median(times[0]), median(times[1])


def row(what: str, peer: str, wanted: float, ours: float | None, theirs: float | None) -> dict[str, Any]:
    return {
        "what": what,
        "peer": peer,
        "ours_seconds": ours,
        "peer_seconds": theirs,
        "ratio": theirs / ours if ours and theirs else None,
        "wanted": wanted,
    }


def against_jiwer(chance: random.Random) -> list[dict[str, Any]]:
    names = ["CER 2 000 characters, one pair", "CER 2 000 characters, 100 pairs in one call"]
    try:
        import jiwer
    except ImportError:
        return [row(name, "jiwer (not installed)", 20, None, None) for name in names]
    references = [page(chance, 2000).strip() for _ in range(100)]
    hypotheses = [noisy(chance, text, 0.08).strip() for text in references]
    one = (references[0], hypotheses[0])
    found = [
        compared(lambda: error_rate(*one).rate, lambda: jiwer.cer(*one)),
        compared(lambda: error_rate(references, hypotheses).rate, lambda: jiwer.cer(references, hypotheses)),
    ]
    return [row(name, "jiwer", 20, *times) for name, times in zip(names, found, strict=True)]


def each(distance: Callable[[str, str], int], pairs: list[tuple[str, str]]) -> list[int]:
    return [distance(*pair) for pair in pairs]


def grapheme_rate(reference: str, hypothesis: str) -> float | None:
    return error_rate(reference, hypothesis, "NFC", "grapheme").rate


def against_rapidfuzz(chance: random.Random) -> list[dict[str, Any]]:
    from rapidfuzz.distance.Levenshtein import distance

    rows = []
    for rate, wanted in ((0.08, 5), (0.30, 2.5)):
        pairs = [(text, noisy(chance, text, rate)) for text in (page(chance, 20_000) for _ in range(5))]
        name = f"CER 20 000 characters, error {rate:.2f}, 5 pairs"
        rows.append(
            row(
                name,
                "rapidfuzz without hint",
                wanted,
                *compared(partial(each, edits, pairs), partial(each, distance, pairs)),
            )
        )
    return rows


def against_dinglehopper(chance: random.Random) -> list[dict[str, Any]]:
    rows = []
    for marks in (0.05, 0.0):
        name = f"CER by grapheme, 2 000 characters, {marks:.0%} with marks"
        try:
            from dinglehopper.character_error_rate import character_error_rate  # type: ignore[import-not-found]
        except ImportError:
            rows.append(row(name, "dinglehopper (not installed)", 240, None, None))
            continue
        text = page(chance, 2000, marks)
        other = noisy(chance, text, 0.08)
        # dinglehopper brings both sides to NFC, so ours does too.
        rates = compared(partial(grapheme_rate, text, other), partial(character_error_rate, text, other))
        rows.append(row(name, "dinglehopper", 240, *rates))
    return rows


def measure() -> list[dict[str, Any]]:
    """One row a comparison: what, peer, ours_seconds, peer_seconds, ratio (None without the peer), wanted."""
    chance = random.Random(1)
    return [*against_jiwer(chance), *against_rapidfuzz(chance), *against_dinglehopper(chance)]


if __name__ == "__main__":
    for found in measure():
        ratio = f"{found['ratio']:6.1f} times" if found["ratio"] else "not measured"
        ours = f"{found['ours_seconds'] * 1e3:9.3f} ms" if found["ours_seconds"] else " " * 12
        print(f"{found['what']:52} {ours}  {ratio:13} {found['peer']}, wanted {found['wanted']}")
