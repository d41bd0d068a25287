"""Partial matches: best pairing against a brute force over all pairings, and nervaluate as a peer."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nervaluate import Evaluator

from histeval.entities import Entry, Span, encode, score_partial
from histeval.entities.partial import REGIMES, PartialCounts
from histeval.errors import UsageError
from support import examples

Triple = tuple[str, int, int]


@st.composite
def disjoint(draw: st.DrawFn) -> list[Triple]:
    found, place = [], 0
    for _ in range(draw(st.integers(0, 6))):
        place += draw(st.integers(0, 2))
        size = draw(st.integers(1, 4))
        found.append((draw(st.sampled_from("AB")), place, place + size))
        place += size
    return found


anywhere = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 8), st.integers(0, 4)).map(lambda t: (t[0], t[1], t[1] + t[2])),
    max_size=5,
)
both = st.one_of(st.tuples(disjoint(), disjoint()), st.tuples(anywhere, anywhere))


def brute_force(gold: list[Triple], predicted: list[Triple], regime: str) -> tuple[int, int]:
    """(correct, paired) of the best pairing, by trying every one."""
    is_correct = {
        "strict": lambda a, b: a == b,
        "exact": lambda a, b: a[1:] == b[1:],
        "partial": lambda a, b: a[1:] == b[1:],
        "type": lambda a, b: a[0] == b[0],
    }[regime]

    def best(place: int, used: frozenset[int]) -> tuple[int, int]:
        if place == len(gold):
            return (0, 0)
        found = best(place + 1, used)
        a = gold[place]
        for other, b in enumerate(predicted):
            if other not in used and max(a[1], b[1]) < min(a[2], b[2]):
                correct, pairs = best(place + 1, used | {other})
                found = max(found, (correct + is_correct(a, b), pairs + 1))
        return found

    return best(0, frozenset())


def classes(correct: int, paired: int, gold: int, predicted: int, regime: str) -> PartialCounts:
    rest = paired - correct
    half = rest if regime == "partial" else 0
    return PartialCounts(correct, rest - half, half, gold - paired, predicted - paired)


@settings(max_examples=examples(300), deadline=None)
@given(both)
def test_best_pairing_is_that_of_brute_force(sides: tuple[list[Triple], list[Triple]]) -> None:
    gold, predicted = sides
    scores = score_partial([gold], [predicted])
    for regime in REGIMES:
        want = classes(*brute_force(gold, predicted, regime), len(gold), len(predicted), regime)
        assert scores[regime].counts == want
        assert set(scores[regime].by_type) == {kind for kind, *_ in gold + predicted}
        for kind, counts in scores[regime].by_type.items():
            ours, theirs = [t for t in gold if t[0] == kind], [t for t in predicted if t[0] == kind]
            assert counts == classes(*brute_force(ours, theirs, regime), len(ours), len(theirs), regime)


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(both, max_size=4))
def test_parts_sum_to_the_whole(documents: list[tuple[list[Triple], list[Triple]]]) -> None:
    whole = score_partial([d[0] for d in documents], [d[1] for d in documents])
    parts = [score_partial([gold], [predicted]) for gold, predicted in documents]
    for regime in REGIMES:
        for name in ("correct", "incorrect", "partial", "missed", "spurious"):
            total = sum(getattr(part[regime].counts, name) for part in parts)
            assert getattr(whole[regime].counts, name) == total


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.lists(st.sampled_from(["O", "B-A", "I-A", "B-B", "I-B"]), min_size=1, max_size=8), max_size=3))
def test_tags_and_their_spans_give_the_same(rows: list[list[str]]) -> None:
    other = [row[::-1] for row in rows]
    gold, predicted = (
        [[(c.type, c.start, c.end) for c in encode([row]).listed()] for row in side] for side in (rows, other)
    )
    assert score_partial(encode(rows), encode(other)) == score_partial(gold, predicted)


def test_order_does_not_matter_and_first_is_not_best() -> None:
    # The long prediction meets the short gold entity first; nervaluate takes that pair and leaves the second alone.
    gold = [("A", 0, 2), ("A", 2, 6)]
    predicted = [("A", 1, 6), ("A", 0, 1)]
    want = PartialCounts(correct=0, incorrect=0, partial=2, missed=0, spurious=0)
    assert score_partial([gold], [predicted])["partial"].counts == want
    assert score_partial([gold[::-1]], [predicted[::-1]])["partial"].counts == want
    as_rows = [[{"label": k, "start": s, "end": e - 1} for k, s, e in side] for side in (gold, predicted)]
    theirs = Evaluator([as_rows[0]], [as_rows[1]], tags=["A"], loader="dict").evaluate()["overall"]["partial"]
    assert (theirs.partial, theirs.missed, theirs.spurious) == (1, 1, 1)


@settings(max_examples=examples(200), deadline=None)
@given(st.lists(st.tuples(disjoint(), disjoint()), min_size=1, max_size=3))
def test_nervaluate_never_finds_a_better_pairing(documents: list[tuple[list[Triple], list[Triple]]]) -> None:
    sides = [
        [[{"label": k, "start": s, "end": e - 1} for k, s, e in document[side]] for document in documents]
        for side in (0, 1)
    ]
    theirs = Evaluator(*sides, tags=["A", "B"], loader="dict").evaluate()["overall"]
    ours = score_partial([d[0] for d in documents], [d[1] for d in documents])
    for regime, name in zip(REGIMES, ("strict", "exact", "partial", "ent_type"), strict=True):
        mine, peer = ours[regime].counts, theirs[name]
        assert mine.correct >= peer.correct
        assert (mine.possible, mine.actual) == (peer.possible, peer.actual)
        alone = all(
            sum(max(a[1], b[1]) < min(a[2], b[2]) for b in d[1 - side]) <= 1
            for d in documents
            for side in (0, 1)
            for a in d[side]
        )
        if alone:  # where no entity overlaps two, there is nothing to choose, and both agree
            assert [mine.correct, mine.incorrect, mine.partial, mine.missed, mine.spurious] == [
                peer.correct, peer.incorrect, peer.partial, peer.missed, peer.spurious,
            ]  # fmt: skip
            assert (mine.f1 or 0) == pytest.approx(peer.f1)


def test_scores_and_undefined_values() -> None:
    counts = PartialCounts(correct=1, incorrect=1, partial=2, missed=1, spurious=0)
    assert (counts.possible, counts.actual) == (5, 4)
    assert (counts.precision, counts.recall) == (0.5, 0.4)
    assert counts.f1 == pytest.approx(2 * 0.5 * 0.4 / 0.9)
    empty = score_partial([[]], [[]])["strict"].counts
    assert (empty.precision, empty.recall, empty.f1) == (None, None, None)
    assert score_partial([], [])["type"].by_type == {}


def test_entries_and_spans_are_taken() -> None:
    entry = Entry("abc", (Span("A", 0, 2),))
    assert score_partial([entry], [[Span("A", 0, 2)]])["strict"].counts.correct == 1


def test_wrong_use_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="1 gold documents and 0 predicted"):
        score_partial([[]], [])
    with pytest.raises(UsageError, match="tags on both sides"):
        score_partial(encode([["O"]]), [[]])
    with pytest.raises(UsageError, match="differ in the number"):
        score_partial(encode([["O"]]), encode([["O", "O"]]))


def test_a_large_knot_is_paired_in_bounded_time() -> None:
    gold = [("A", 0, size) for size in range(1, 400)]
    counts = score_partial([gold], [gold])["strict"].counts
    assert counts == PartialCounts(correct=399, incorrect=0, partial=0, missed=0, spurious=0)
