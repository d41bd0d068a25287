"""The directories task on the published data, and against seqeval at every level."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from seqeval.metrics.sequence_labeling import get_entities

from histeval.datasets.trade import TEXTS, read_rows
from histeval.entities import (
    Entry,
    Grammar,
    joint_tags,
    level_tags,
    parse_markup,
    published_tokens,
    score_tags,
    write_markup,
)
from histeval.tasks.base import Answer
from histeval.tasks.description import Context
from histeval.tasks.directories import PUBLISHED_TYPES, DirectoriesScorer, DirectoriesTask
from support import DATA, needs_data

pytestmark = [pytest.mark.data, needs_data]

TASK = DirectoriesTask()
CONTEXT = Context(TASK.default_description())
GRAMMAR = Grammar.of(PUBLISHED_TYPES)
GOLD = {  # gold chunks by level: All, L1, L2, L1+L2, P-L1+P-L2, Flat
    ("reference", "IO"): (8233, 4542, 3691, 8295, 8295, 6408),
    ("ocr", "IO"): (8232, 4542, 3690, 8271, 8271, 6407),
    ("reference", "IOB2"): (8234, 4542, 3692, 8296, 10466, 6408),
    ("ocr", "IOB2"): (8234, 4542, 3692, 8273, 10454, 6407),
}
FLAT = {
    ("PER", ""): "PER", ("PER", "TITREH"): "TITRE", ("DESC", "TITREP"): "TITRE", ("TITRE", ""): "TITRE",
    ("ACT", ""): "ACT", ("DESC", "ACT"): "ACT", ("SPAT", "LOC"): "LOC", ("SPAT", "CARDINAL"): "CARDINAL",
    ("SPAT", "FT"): "FT", ("DESC", ""): "", ("SPAT", ""): "", ("", ""): "",
}  # fmt: skip


@cache
def test_entries(name: str) -> tuple[Entry, ...]:
    rows = read_rows(DATA / "directories" / "dataset" / TEXTS[name])
    split = json.loads((DATA / "directories" / "split_indices.json").read_text())
    return tuple(parse_markup(rows[row].markup, GRAMMAR) for row in split["test"])


test_entries.__test__ = False  # type: ignore[attr-defined]


def sums_of(scorer: DirectoriesScorer, name: str, record: Callable[[Entry], object]) -> np.ndarray:
    total = np.zeros(len(scorer.columns), dtype=np.int64)
    for entry in test_entries(name):
        total += scorer.score(entry, scorer.read(Answer("1", record=record(entry)))).counts
    return total


def by_level(scorer: DirectoriesScorer, sums: np.ndarray) -> dict[str, tuple[int, int, int]]:
    return {
        level: tuple(int(sum(sums[place + offset] for place in places.values())) for offset in range(3))  # type: ignore[misc]
        for level, places in scorer.levels.places.items()
    }


def test_published_f1_of_single_entries() -> None:
    lines = (DATA / "directories" / "entry_f1.jsonl").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 106
    for line in lines:
        one = json.loads(line)
        score = score_tags([one["gold"]], [one["pred"]], scheme="IO")
        assert score.f1 == pytest.approx(one["published_f1"], abs=1e-9)
        assert (score.tp, score.tp + score.fn, score.tp + score.fp) == (one["tp"], one["n_gold"], one["n_pred"])


@pytest.mark.parametrize(("name", "scheme"), list(GOLD))
def test_gold_against_itself_and_published_gold_sums(name: str, scheme: str) -> None:
    scorer = TASK.scorer(CONTEXT, TASK.protocol("published", {"scheme": scheme}))
    sums = sums_of(scorer, name, lambda entry: {"xml": write_markup(entry)})
    found = by_level(scorer, sums)
    assert tuple(tp for tp, _, _ in found.values()) == GOLD[name, scheme]
    assert all(fp == fn == 0 for _, fp, fn in found.values())
    values = scorer.values([], sums)
    assert {values[headline] for headline in scorer.headline} == {1.0}


@pytest.mark.parametrize(
    ("protocol", "rules"),
    [
        ("published", {"scheme": "IOBES"}),
        ("published", {"scheme": "IOBES", "chunks": "strict"}),
        ("published", {"scheme": "IOB2", "chunks": "strict", "sibling_continues": "false"}),
        ("documented", {"span_unit": "characters"}),
        ("corrected", {}),
    ],
)
@pytest.mark.parametrize("name", ["reference", "ocr"])
def test_gold_against_itself_in_other_rules(name: str, protocol: str, rules: dict[str, str]) -> None:
    scorer = TASK.scorer(CONTEXT, TASK.protocol(protocol, rules))
    scheme = scorer.scheme

    def as_tags(entry: Entry) -> object:
        tokens = published_tokens(entry)
        levels = level_tags(entry, tokens, scheme)
        return {"tokens": [token.text for token in tokens], "level1": levels[0], "level2": levels[1]}

    def as_markup(entry: Entry) -> object:
        return {"xml": write_markup(entry)}

    # IO tags cannot say where one LOC ends and the next begins, which characters can.
    for record in (as_tags, as_markup) if scheme != "IO" else (as_markup,):
        found = by_level(scorer, sums_of(scorer, name, record))
        assert all(fp == fn == 0 for _, fp, fn in found.values())
        assert (found["L1"][0], found["L2"][0], found["All"][0]) == (4542, 3692, 8234)


def test_gold_sums_of_the_published_runs() -> None:
    scorer = TASK.scorer(CONTEXT, TASK.protocol("published", {"scheme": "IOB2"}))
    sums = sums_of(scorer, "ocr", lambda entry: {"spans": []})
    missed = {level: fn for level, (_, _, fn) in by_level(scorer, sums).items()}
    by_type = {
        (level, kind): int(sums[place + 2])
        for level, places in scorer.levels.places.items()
        for kind, place in places.items()
    }
    lines = (DATA / "directories" / "published_counts.jsonl").read_text().splitlines()
    assert len(lines) == 5
    for run in map(json.loads, lines):
        assert {level: counts["n_gold"] for level, counts in run["levels"].items()} == missed
        for name, counts in run["types"].items():
            kind, _, level = name.partition("_")
            assert by_type[level or "All", kind] == counts["n_gold"]


def as_seqeval(scheme: str, level1: list[str], level2: list[str]) -> dict[str, list[str]]:
    """The sequences that the published code hands to seqeval, for one entry (written from its description)."""
    joined, prefixed, flat = [], [], []
    for a, b in zip(level1, level2, strict=True):
        x, y = a[2:] if a != "O" else "", b[2:] if b != "O" else ""
        if scheme == "IO":
            label = f"{'I-' + x if x else 'O'}+{'i_' + y if y else 'O'}"
            joined.append(label)
            prefixed.append(label)
        else:
            joined.append("O+O" if not x and not y else f"{b[0] if y else a[0]}-{y or 'O'}+{x or 'O'}")
            outer = f"I-{a[0].lower()}_{x}" if x else "O"
            prefixed.append(f"{outer}+{b[0].lower() + '_' + y if y else 'O'}")
        kind = FLAT.get((x, y), "NO")
        flat.append(f"I-{kind}" if kind else "O")
    return {"L1": level1, "L2": level2, "L1+L2": joined, "P-L1+P-L2": prefixed, "Flat": flat}


@pytest.mark.parametrize(("name", "scheme"), [("reference", "IO"), ("ocr", "IOB2")])
@pytest.mark.filterwarnings("ignore")
def test_every_level_is_that_of_seqeval_on_wrong_predictions(name: str, scheme: str) -> None:
    """Gold tags with a fifth of the tokens changed at random, orphans and wrong parents among them."""
    chance = random.Random(7)
    labels = ["O", *(f"{p}-{t}" for t in ("PER", "ACT", "DESC", "SPAT", "LOC", "CARDINAL") for p in ("B", "I"))]
    scorer = TASK.scorer(CONTEXT, TASK.protocol("published", {"scheme": scheme}))
    total = np.zeros(len(scorer.columns), dtype=np.int64)
    want: dict[str, list[int]] = {level: [0, 0, 0] for level in scorer.levels.types}
    for number, entry in enumerate(test_entries(name)[:500]):
        tokens = published_tokens(entry)
        gold = level_tags(entry, tokens, scheme, sibling_continues=True)
        predicted = [[tag if chance.random() < 0.8 else chance.choice(labels) for tag in row] for row in gold]
        if scheme == "IO":
            predicted = [[tag if tag == "O" else "I" + tag[1:] for tag in row] for row in predicted]
        words = [token.text for token in tokens]
        record = {"tokens": words, "level1": predicted[0], "level2": predicted[1]}
        if number % 2:
            record = {"tokens": words, "joint": joint_tags(predicted, scheme)}
        total += scorer.score(entry, scorer.read(Answer("1", record=record))).counts
        ours, theirs = as_seqeval(scheme, *gold), as_seqeval(scheme, *predicted)
        for level in ours:
            g, p = set(get_entities(ours[level])), set(get_entities(theirs[level]))
            for column in ("All", level) if level in ("L1", "L2") else (level,):
                for place, size in enumerate((len(g & p), len(p - g), len(g - p))):
                    want[column][place] += size
    assert by_level(scorer, total) == {level: tuple(row) for level, row in want.items()}
    assert min(min(row) for row in want.values()) > 50


def test_plain_tokens_cost_what_the_edges_inside_words_cost() -> None:
    """A system that reads the plain text cannot place the entities that begin or end inside one of its tokens."""
    from histeval.entities import plain_tokens

    def as_plain(entry: Entry) -> object:
        tokens = plain_tokens(entry.text)
        levels = level_tags(entry, tokens, "IO")
        return {"tokens": [token.text for token in tokens], "level1": levels[0], "level2": levels[1]}

    scorer = TASK.scorer(CONTEXT, TASK.protocol("published"))
    values = {name: scorer.values([], sums_of(scorer, name, as_plain))["f1[All]"] for name in ("reference", "ocr")}
    assert values["reference"] == pytest.approx(0.999757, abs=1e-6)
    assert values["ocr"] == pytest.approx(0.993496, abs=1e-6)
