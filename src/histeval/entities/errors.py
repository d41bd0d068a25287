"""What is wrong with each entity: boundary, type, nesting, missed, invented.

Every gold and every predicted entity gets one place: first those that are right, then pairs that differ in one thing,
the least first; what finds no partner is missed or invented. The classes are those of the evaluation of nested
entities (boundary and type errors as in Chinchor and Sundheim 1993, nesting added); the order is our own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from histeval.entities.matching import Placed

Kind = Literal["right", "nesting", "type", "boundary", "missed", "invented"]

KINDS: dict[Kind, str] = {
    "right": "type, place and level are right",
    "nesting": "type and place are right, the level is not",
    "type": "the place is right, the type is not",
    "boundary": "the type is right, where it starts or ends is not",
    "missed": "no predicted entity stands for it",
    "invented": "it stands for no gold entity",
}
"""The classes and what each means."""


@dataclass(frozen=True, slots=True)
class EntityError:
    """A gold entity, a predicted one, or both, by their indices, and what became of them."""

    kind: Kind
    gold: int | None = None
    predicted: int | None = None


def classify(gold: Sequence[Placed], predicted: Sequence[Placed]) -> list[EntityError]:
    """One `EntityError` for each gold and each predicted entity or pair of them, gold in its order, invented ones last.

    Offsets are compared as given. A malformed prediction, or one without a place (negative start), is invented. Right
    are as many as `score_entities` counts for `All`.

    >>> gold = [Placed(1, "SPAT", 0, 14), Placed(2, "LOC", 0, 10, 0), Placed(2, "CARDINAL", 12, 14, 0)]
    >>> found = [Placed(1, "SPAT", 0, 10), Placed(2, "FT", 0, 10, 0), Placed(1, "CARDINAL", 12, 14)]
    >>> [(error.kind, error.gold, error.predicted) for error in classify(gold, found)]
    [('boundary', 0, 0), ('type', 1, 1), ('nesting', 2, 2)]
    """
    partner: dict[int, tuple[int, Kind]] = {}
    left = {index for index, one in enumerate(predicted) if not one.malformed and 0 <= one.start < one.end}
    for kind, fits in _STEPS:
        pairs = [
            (-_overlap(one, predicted[j]), abs(one.level - predicted[j].level), i, j)
            for i, one in enumerate(gold)
            if i not in partner
            for j in left
            if fits(one, predicted[j])
        ]
        for _, _, i, j in sorted(pairs):
            if i not in partner and j in left:
                partner[i] = (j, kind)
                left.remove(j)
    used = {j for j, _ in partner.values()}
    return [
        *(
            EntityError(partner[i][1], i, partner[i][0]) if i in partner else EntityError("missed", i)
            for i in range(len(gold))
        ),
        *(EntityError("invented", None, j) for j in range(len(predicted)) if j not in used),
    ]


def count_errors(errors: Iterable[EntityError]) -> dict[Kind, int]:
    """How many of each class, all of `KINDS` in their order.

    >>> count_errors([EntityError("missed", 0), EntityError("missed", 1)])["missed"]
    2
    """
    counted = Counter(error.kind for error in errors)
    return {kind: counted[kind] for kind in KINDS}


def _same_place(one: Placed, other: Placed) -> bool:
    return one.start == other.start and one.end == other.end


def _overlap(one: Placed, other: Placed) -> float:
    """Shared characters over those of both together."""
    shared = min(one.end, other.end) - max(one.start, other.start)
    return shared / (max(one.end, other.end) - min(one.start, other.start)) if shared > 0 else 0.0


_Fits = Callable[[Placed, Placed], bool]
_STEPS: tuple[tuple[Kind, _Fits], ...] = (
    ("right", lambda one, other: one.type == other.type and one.level == other.level and _same_place(one, other)),
    ("nesting", lambda one, other: one.type == other.type and _same_place(one, other)),
    ("type", _same_place),
    ("boundary", lambda one, other: one.type == other.type and _overlap(one, other) > 0),
)
