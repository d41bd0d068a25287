"""Errors of entities by class, against a slow twin, and against the counts of the scorer."""

from __future__ import annotations

from collections import Counter

from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import Placed
from histeval.entities.chunk_scores import Counts
from histeval.entities.errors import KINDS, EntityError, classify, count_errors
from histeval.entities.matching import count_items, level_items
from support import examples

entities = st.lists(
    st.builds(
        lambda level, kind, start, length, bad: Placed(level, kind, start, start + length, None, bad),
        st.integers(1, 2),
        st.sampled_from("AB"),
        st.integers(0, 8),
        st.integers(1, 5),
        st.sampled_from([False, False, False, True]),
    ),
    max_size=6,
)
gold_entities = entities.map(lambda found: [one._replace(malformed=False) for one in found])


def twin(gold: list[Placed], predicted: list[Placed]) -> Counter[str]:
    """Classes by the definition: the pair that is best by (class, overlap, level, order) first, one at a time."""

    def characters(one: Placed) -> set[int]:
        return set(range(one.start, one.end))

    def rank(one: Placed, other: Placed) -> int | None:
        same_place = characters(one) == characters(other)
        if same_place and one.type == other.type:
            return 0 if one.level == other.level else 1
        if same_place:
            return 2
        return 3 if one.type == other.type and characters(one) & characters(other) else None

    names = ["right", "nesting", "type", "boundary"]
    counted: Counter[str] = Counter()
    free_gold, free = set(range(len(gold))), {j for j, one in enumerate(predicted) if not one.malformed}
    while True:
        pairs = []
        for i in free_gold:
            for j in free:
                kind = rank(gold[i], predicted[j])
                if kind is not None:
                    ours, theirs = characters(gold[i]), characters(predicted[j])
                    overlap = len(ours & theirs) / (max(ours | theirs) + 1 - min(ours | theirs))
                    pairs.append((kind, -overlap, abs(gold[i].level - predicted[j].level), i, j))
        if not pairs:
            break
        kind, _, _, i, j = min(pairs)
        counted[names[kind]] += 1
        free_gold.remove(i)
        free.remove(j)
    counted["missed"] += len(free_gold)
    counted["invented"] += len(free) + sum(one.malformed for one in predicted)
    return counted


@given(gold_entities, entities)
@settings(max_examples=examples(150), deadline=None)
def test_classes_are_those_of_the_slow_twin(gold: list[Placed], predicted: list[Placed]) -> None:
    found = classify(gold, predicted)
    assert {kind: number for kind, number in count_errors(found).items() if number} == {
        kind: number for kind, number in twin(gold, predicted).items() if number
    }


@given(gold_entities, entities)
@settings(max_examples=examples(150), deadline=None)
def test_each_entity_has_one_place_and_right_ones_are_those_that_count(
    gold: list[Placed], predicted: list[Placed]
) -> None:
    found = classify(gold, predicted)
    assert sorted(error.gold for error in found if error.gold is not None) == list(range(len(gold)))
    assert sorted(error.predicted for error in found if error.predicted is not None) == list(range(len(predicted)))
    for error in found:
        assert (error.gold is None) == (error.kind == "invented")
        assert (error.predicted is None) == (error.kind == "missed")
    hits = sum(
        row[0]
        for level in (1, 2)
        for row in count_items(list(level_items(gold, level)), list(level_items(predicted, level))).values()
    )
    assert count_errors(found)["right"] == hits
    assert Counts.of(hits, len(predicted) - hits, len(gold) - hits, 0.0).tp == hits


def test_every_class_by_hand() -> None:
    gold = [Placed(1, "A", 0, 4), Placed(1, "B", 6, 9), Placed(2, "C", 10, 12), Placed(1, "D", 20, 22)]
    predicted = [
        Placed(1, "A", 0, 4),  # right
        Placed(1, "X", 6, 9),  # type
        Placed(1, "C", 10, 12),  # nesting
        Placed(1, "A", 30, 31),  # invented
        Placed(1, "D", -1, -1, None, True),  # no place: invented
    ]
    assert classify(gold, predicted) == [
        EntityError("right", 0, 0),
        EntityError("type", 1, 1),
        EntityError("nesting", 2, 2),
        EntityError("missed", 3, None),
        EntityError("invented", None, 3),
        EntityError("invented", None, 4),
    ]
    assert set(count_errors([])) == set(KINDS)


def test_the_larger_overlap_is_the_partner() -> None:
    gold = [Placed(1, "A", 0, 10)]
    predicted = [Placed(1, "A", 8, 12), Placed(1, "A", 1, 10)]
    assert classify(gold, predicted) == [EntityError("boundary", 0, 1), EntityError("invented", None, 0)]


def test_of_equal_overlaps_the_one_of_the_same_level_is_the_partner() -> None:
    gold = [Placed(2, "A", 0, 10)]
    predicted = [Placed(1, "A", 0, 9), Placed(2, "A", 1, 10)]
    assert classify(gold, predicted) == [EntityError("boundary", 0, 1), EntityError("invented", None, 0)]
