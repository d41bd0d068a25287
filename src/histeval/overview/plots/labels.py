"""Labels beside points, placed so that they cover neither each other nor the points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

LETTER = 6.4
"""Mean width of a letter at 12 units, on the safe side."""
HEIGHT = 14.0
GAP = 8.0


@dataclass(frozen=True, slots=True)
class Label:
    """Where a label goes: its anchor, and its alignment (`left`, `right`, `center`)."""

    text: str
    x: float
    y: float
    align: str


_Box = tuple[float, float, float, float]


def place_labels(
    points: Sequence[tuple[float, float, str]],
    others: Sequence[tuple[float, float]],
    width: float,
    height: float,
    *,
    above: bool = False,
) -> list[Label]:
    """Labels for `points` (x, y, text) inside width x height (y down); those that find no free place are left out.

    `others` are points to keep clear of where that is possible. With `above` a place over the point comes first, else
    one beside it.

    >>> [(label.x, label.align) for label in place_labels([(10, 50, "ab"), (90, 50, "cd")], [], 100, 100)]
    [(18.0, 'left'), (82.0, 'right')]
    """
    taken: list[_Box] = [(x - 5, y - 5, x + 5, y + 5) for x, y, _ in points]
    done: list[Label] = []
    for x, y, text in points:
        best: tuple[int, int, Label, _Box] | None = None
        size = LETTER * len(text)
        for preference, (at, down, align) in enumerate(_places(x, y, above)):
            left = at if align == "left" else at - size if align == "right" else at - size / 2
            box = (left, down - HEIGHT / 2, left + size, down + HEIGHT / 2)
            if box[0] < 0 or box[2] > width or box[1] < -HEIGHT or box[3] > height:
                continue
            if any(_meet(box, other) for other in taken):
                continue
            covered = sum(box[0] <= px <= box[2] and box[1] <= py <= box[3] for px, py in others)
            if best is None or (covered, preference) < best[:2]:
                best = (covered, preference, Label(text, at, down, align), box)
        if best is not None:
            done.append(best[2])
            taken.append(best[3])
    return done


def _places(x: float, y: float, above: bool) -> list[tuple[float, float, str]]:
    beside = [(x + GAP, y, "left"), (x - GAP, y, "right")]
    over = [(x - 5, y - 13, "right"), (x, y - 15, "center"), (x + 5, y - 13, "left"), (x - 5, y - 26, "right")]
    under = [(x, y + 15, "center"), (x + 5, y + 14, "left"), (x - 5, y + 14, "right"), (x + 5, y + 27, "left")]
    return over + under + beside if above else beside + over + under


def _meet(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
