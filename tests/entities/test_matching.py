"""Entities by their characters, at each level, against a slow twin."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import Entry, Grammar, Placed, Span, nest, parse_markup, score_entities
from histeval.entities.matching import flat_items, level_items, path_items, placed
from histeval.errors import UsageError
from histeval.tasks.directories import PUBLISHED_TYPES
from support import examples

GRAMMAR = Grammar.of(PUBLISHED_TYPES)
GOLD = parse_markup("<PER>Dulay</PER>, <SPAT><LOC>r. du Pont</LOC>, <CARDINAL>15</CARDINAL></SPAT>.")


def counts(score: object) -> tuple[int, int, int]:
    return score.tp, score.fp, score.fn  # type: ignore[attr-defined]


@pytest.mark.parametrize("level", ["All", "L1", "L2", "L1+L2", "Flat"])
def test_gold_against_itself(level: str) -> None:
    score = score_entities(GOLD, GOLD, level, grammar=GRAMMAR)
    assert (score.f1, score.fp, score.fn) == (1.0, 0, 0)
    assert score.tp == {"All": 4, "L1": 2, "L2": 2, "L1+L2": 4, "Flat": 3}[level]


def test_a_broken_outer_span_costs_what_is_inside_only_jointly() -> None:
    short = parse_markup("<PER>Dulay</PER>, <SPAT><LOC>r. du Pont</LOC></SPAT>, <CARDINAL>15</CARDINAL>.")
    assert counts(score_entities(GOLD, short, "L1")) == (1, 2, 1)
    assert counts(score_entities(GOLD, short, "L2")) == (1, 0, 1)
    assert counts(score_entities(GOLD, short, "All")) == (2, 2, 2)
    assert counts(score_entities(GOLD, short, "L1+L2")) == (1, 3, 3)
    assert dict(score_entities(GOLD, short, "L1+L2").by_type)["LOC+SPAT"].fp == 1


def test_white_space_at_the_edges_does_not_count() -> None:
    wide = parse_markup("<PER>Dulay</PER>, <SPAT><LOC>r. du Pont</LOC>,<CARDINAL> 15</CARDINAL></SPAT>.")
    assert wide.text == GOLD.text
    assert score_entities(GOLD, wide, "All").f1 == 1.0


def test_an_entity_given_twice_is_right_once() -> None:
    once = [("A", 0, 2)]
    assert counts(score_entities(once, once + once, 1)) == (1, 0, 0)  # the second stands inside the first, at level 2
    twice = [Span("A", 0, 2), Span("A", 0, 2)]
    assert counts(score_entities([Span("A", 0, 2)], twice, "L1")) == (1, 1, 0)


def test_flat_pieces() -> None:
    entry = parse_markup("<PER>Dufant <TITRE-H>fils</TITRE-H> aîné</PER> <DESC>rue <ACT>x</ACT></DESC>")
    items = flat_items(placed(entry), entry.text, GRAMMAR)
    assert [item.key for item in items] == [
        ("PER", 0, 6), ("PER", 12, 16), ("TITRE", 7, 11), ("ACT", 21, 22),
    ]  # fmt: skip
    orphan = [Placed(2, "LOC", 0, 6)]
    assert [item.name for item in flat_items(orphan, entry.text, GRAMMAR)] == ["NO"]


def test_malformed_and_orphaned_entities_match_nothing() -> None:
    bad = [Placed(1, "SPAT", 0, 9, None, True), Placed(2, "LOC", 0, 5, 0), Placed(2, "LOC", 11, 14)]
    assert [item.key for item in level_items(bad, 1)] == [None]
    assert [item.key for item in level_items(bad, 2)] == [("LOC", 0, 5), ("LOC", 11, 14)]
    assert [item.key for item in path_items(bad, 2)] == [None, None, None]


def test_lists_of_documents_are_summed() -> None:
    one, other = [("A", 0, 1)], [("B", 0, 1)]
    assert counts(score_entities([one, other, []], [one, one, one])) == (1, 2, 1)
    assert counts(score_entities([], [])) == (0, 0, 0)
    assert counts(score_entities([GOLD, GOLD], [GOLD, Entry(GOLD.text, ())])) == (4, 0, 4)
    assert counts(score_entities([], one)) == (0, 1, 0)


@pytest.mark.parametrize(
    ("gold", "predicted", "level", "words"),
    [
        ([[("A", 0, 1)]], [], "All", "1 gold documents and 0"),
        ([("A", 0, 1)], [("A", 0, 1)], "L0", "no level 'L0'"),
        ([("A", 0, 1)], [("A", 0, 1)], "Flat", "needs a grammar"),
        ([[("A", 0)]], [[]], "All", "a document is"),
    ],
)
def test_wrong_use_is_one_sentence(gold: object, predicted: object, level: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        score_entities(gold, predicted, level)  # type: ignore[arg-type]


triples = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 8), st.integers(1, 5)).map(lambda t: (t[0], t[1], t[1] + t[2])),
    max_size=6,
)


@settings(max_examples=examples(200), deadline=None)
@given(triples, triples)
def test_slow_twin(gold: list[tuple[str, int, int]], predicted: list[tuple[str, int, int]]) -> None:
    sides = [Entry("x" * 20, nest(side)[0]) for side in (gold, predicted)]

    def ancestors(entry: Entry, index: int | None) -> tuple[object, ...]:
        if index is None:
            return ()
        span = entry.spans[index]
        return (*ancestors(entry, span.parent), (span.type, span.start, span.end))

    def bags(level: str) -> list[Counter[object]]:
        found = []
        for entry in sides:
            bag: Counter[object] = Counter()
            for index, span in enumerate(entry.spans):
                path = ancestors(entry, index)
                key = path if level == "L1+L2" else (len(path), path[-1])
                if level in ("All", "L1+L2", f"L{len(path)}"):
                    bag[key] += 1
                assert entry.depth(index) == len(path)
                assert span.type == path[-1][0]  # type: ignore[index]
            found.append(bag)
        return found

    for level in ("All", "L1", "L2", "L3", "L1+L2"):
        ours, theirs = bags(level)
        tp = (ours & theirs).total()
        assert counts(score_entities(*sides, level)) == (tp, theirs.total() - tp, ours.total() - tp)
