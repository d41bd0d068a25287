"""Entities: Histeval beside seqeval and nervaluate, in one run on the same generated sentences.

Alone: `python benchmarks/entities.py [SENTENCES]`, 100 000 by default. Peers are optional: one that is not installed
gives a row without figures. Medians of five.
"""

from __future__ import annotations

import random
import sys
import tempfile
import time
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from histeval.entities import Encoded, Vocabulary, encode, encode_parquet, score_partial, score_tags

TYPES = ("PER", "LOC", "ORG", "MISC")
Sentences = list[list[str]]


def sentences(chance: random.Random, number: int) -> Sentences:
    """Sentences of 5 to 25 labels in IOB2, two fifths of the places beginning an entity."""
    found = []
    for _ in range(number):
        labels: list[str] = []
        size = chance.randint(5, 25)
        while len(labels) < size:
            if chance.random() < 0.6:
                labels.append("O")
            else:
                kind = chance.choice(TYPES)
                labels += [f"B-{kind}", *[f"I-{kind}"] * chance.randint(0, 2)]
        found.append(labels)
    return found


def predictions(chance: random.Random, gold: Sentences) -> Sentences:
    """The gold labels with one in ten replaced."""
    return [
        [chance.choice(["O", "B-PER", "I-LOC"]) if chance.random() < 0.1 else label for label in labels]
        for labels in gold
    ]


CLOCK = time.perf_counter


def seconds(call: Callable[[], Any]) -> tuple[float, Any]:
    begin = CLOCK()
    result = call()
    return CLOCK() - begin, result


def compared(
    what: str, peer: str, wanted: float, ours: Callable[[], Any], theirs: Callable[[], Any] | None, equal: bool = True
) -> dict[str, Any]:
    """Medians of both, taken in turn so that a busy machine slows both alike; where `equal`, results must agree."""
    row: dict[str, Any] = {"what": what, "peer": peer, "wanted": wanted, "ours_seconds": None}
    row |= {"peer_seconds": None, "ratio": None, "runs": 0}
    ours()
    mine: list[float] = []
    others: list[float] = []
    runs = 5
    while len(mine) < runs:
        took, result = seconds(ours)
        mine.append(took)
        if theirs is not None:
            took, other = seconds(theirs)
            others.append(took)
            if equal and abs(result - other) > 1e-12:
                raise AssertionError(f"{what}: {result} is not {other}")
    row |= {"ours_seconds": median(mine), "runs": runs}
    if others:
        row |= {"peer_seconds": median(others), "ratio": median(others) / median(mine)}
    return row


def against_seqeval(gold: Sentences, predicted: Sentences) -> list[dict[str, Any]]:
    default, strict = None, None
    try:
        from seqeval.metrics import f1_score
        from seqeval.scheme import IOB2
    except ImportError:
        peer = "seqeval (not installed)"
    else:
        peer = "seqeval"

        def default() -> float:
            return float(f1_score(gold, predicted))

        def strict() -> float:
            return float(f1_score(gold, predicted, mode="strict", scheme=IOB2))

    vocabulary = Vocabulary()
    ours, theirs = encode(gold, vocabulary), encode(predicted, vocabulary)

    def from_codes() -> float | None:
        # fresh values, so that no chunks are remembered from the run before
        return score_tags(*(Encoded(side.codes, side.lengths, vocabulary) for side in (ours, theirs))).f1

    size = f"{len(gold):,} sentences".replace(",", " ")
    return [
        compared(
            f"entity F1 from lists, {size}", f"{peer}, default", 10, lambda: score_tags(gold, predicted).f1, default
        ),
        # seqeval drops malformed chunks in silence, ours are false positives: the same work, not the same number
        compared(
            f"entity F1 from lists, strict, {size}",
            f"{peer}, strict",
            25,
            lambda: score_tags(gold, predicted, strict=True).f1,
            strict,
            equal=False,
        ),
        compared(f"entity F1, already encoded, {size}", f"{peer}, default", 45, from_codes, default),
        *from_parquet(gold, predicted, peer, default),
    ]


def from_parquet(
    gold: Sentences, predicted: Sentences, peer: str, theirs: Callable[[], Any] | None
) -> list[dict[str, Any]]:
    """Both read the same file; the peer needs lists."""
    try:
        import polars as pl
    except ImportError:
        return []
    labels = sorted({label for side in (gold, predicted) for row in side for label in row})
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, inner in (("numbered labels", pl.Enum(labels)), ("text", pl.String)):
            file = Path(folder) / "tags.parquet"
            schema = {"gold": pl.List(inner), "predicted": pl.List(inner)}
            pl.DataFrame({"gold": gold, "predicted": predicted}, schema=schema).write_parquet(file)

            def ours(file: Path = file) -> float | None:
                return score_tags(*encode_parquet(file, "gold", "predicted")).f1

            def peer_run(file: Path = file) -> Any:
                from seqeval.metrics import f1_score

                table = pl.read_parquet(file)
                return float(f1_score(table["gold"].to_list(), table["predicted"].to_list()))

            what = f"entity F1 from Parquet, {name}"
            wanted = 45 if name == "numbered labels" else 10
            rows.append(compared(what, f"{peer}, default", wanted, ours, peer_run if theirs else None))
    return rows


def against_nervaluate(gold: Sentences, predicted: Sentences) -> dict[str, Any]:
    theirs, peer = None, "nervaluate (not installed)"
    try:
        from nervaluate import Evaluator
    except ImportError:
        pass
    else:
        peer = "nervaluate"

        def theirs() -> float:
            found = Evaluator(gold, predicted, tags=list(TYPES), loader="list").evaluate()
            return float(found["overall"]["strict"].actual)

    def ours() -> float:
        vocabulary = Vocabulary()
        scores = score_partial(encode(gold, vocabulary), encode(predicted, vocabulary))
        return float(scores["strict"].counts.actual)

    size = f"{len(gold):,} sentences".replace(",", " ")
    # the classes differ where nervaluate's first match is not the best; the number of entities must not
    return compared(f"four partial-match regimes and all types, {size}", peer, 10, ours, theirs)


def measure(number: int = 100_000, busy: bool = False) -> list[dict[str, Any]]:
    """One row a comparison: what, peer, ours_seconds, peer_seconds, ratio (None without the peer), wanted, runs.

    With `busy` in processor seconds of all threads, which hold on a machine that does other things as well.
    """
    global CLOCK
    CLOCK = time.process_time if busy else time.perf_counter
    chance = random.Random(1)
    gold = sentences(chance, number)
    predicted = predictions(chance, gold)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return [*against_seqeval(gold, predicted), against_nervaluate(gold, predicted)]


if __name__ == "__main__":
    for found in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000):
        ratio = f"{found['ratio']:6.1f} times" if found["ratio"] else "not measured"
        peer = f"{found['peer']}, wanted {found['wanted']}"
        took = f"{found['ours_seconds'] * 1e3:8.1f} ms"
        print(f"{found['what']:66} {took}  {ratio:13} {peer}, median of {found['runs']}")
