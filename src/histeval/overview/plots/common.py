"""What the charts share: rows as data, texts at a place, domains, names short enough to stand beside a mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from histeval.overview.page import clean
from histeval.overview.plots.labels import Label
from histeval.overview.plots.theme import INK, PAPER, SIZE, SOFT, altair

LONGEST_NAME = 40
END_OF_NAME = 19
KNOWN = "isValid(datum.low) && isValid(datum.high)"
"""The rows that have an interval."""

Row = Mapping[str, Any]


@dataclass
class Drawing:
    """A chart, the sentences that stand for it where it is not seen, and what it leaves out."""

    chart: Any
    alt: str
    notes: list[str] = field(default_factory=list)


def nothing(metric: str, notes: Sequence[str] = ()) -> Drawing:
    """What stands where there is nothing to draw."""
    words = "There is nothing to draw."
    drawn = texts([{"x": 150, "y": 20, "text": words}], SOFT, align="center")
    return Drawing(drawn.properties(width=300, height=40), f"{metric}: {words[0].lower()}{words[1:]}", list(notes))


def chart(rows: Iterable[Row]) -> Any:
    """A chart of these rows, without marks yet."""
    alt = altair()
    return alt.Chart(alt.Data(values=list(rows)))


def at(name: str, axis: str = "x") -> Any:
    """An encoding whose values are already units of the drawing, not of the data."""
    alt = altair()
    return (alt.X if axis == "x" else alt.Y)(f"{name}:Q", scale=None, axis=None)


def share(name: str, title: str, bounds: Sequence[float], axis: str = "x", **of_axis: Any) -> Any:
    """An encoding on a linear scale with exactly these bounds."""
    alt = altair()
    scale = alt.Scale(domain=list(bounds), zero=False, nice=False)
    return (alt.X if axis == "x" else alt.Y)(f"{name}:Q", title=title, scale=scale, axis=alt.Axis(**of_axis))


def texts(rows: Iterable[Row], color: str = INK, size: float = SIZE, **mark: Any) -> Any:
    """Texts at places: rows of x, y (units of the drawing) and text."""
    style = {"baseline": "middle", "fontSize": size, "color": color, **mark}
    return chart(rows).mark_text(**style).encode(x=at("x"), y=at("y", "y"), text="text:N")


def label_layers(labels: Sequence[Label]) -> list[Any]:
    """Labels with a rim of paper, so that they can be read over lines."""
    layers = []
    for align in ("left", "right", "center"):
        rows = [{"x": label.x, "y": label.y, "text": label.text} for label in labels if label.align == align]
        if rows:
            rim = {"stroke": PAPER, "strokeWidth": 4, "strokeJoin": "round"}
            layers += [texts(rows, PAPER, SIZE - 0.5, align=align, **rim), texts(rows, INK, SIZE - 0.5, align=align)]
    return layers


def short(name: object) -> str:
    """A name as a label; a long one keeps its end, which tells runs of one model apart.

    >>> short("gemini-2.0-flash-lite-preview-02-05 (2025-04-17/T0073)")
    'gemini-2.0-flash-lit…(2025-04-17/T0073)'
    """
    words = " ".join(clean(name).split())
    if len(words) <= LONGEST_NAME:
        return words
    return f"{words[: LONGEST_NAME - 1 - END_OF_NAME].rstrip()}…{words[-END_OF_NAME:].lstrip()}"


def unique(names: Sequence[str]) -> dict[str, str]:
    """Names as labels; of those that would look the same the later ones get a number.

    >>> unique(["a", "a "])
    {'a': 'a', 'a ': 'a (2)'}
    """
    titles: dict[str, str] = {}
    for name in names:
        title, again = short(name), 2
        while title in titles.values():
            title, again = f"{short(name)} ({again})", again + 1
        titles[name] = title
    return titles


def domain(values: Iterable[float | None], margin: float = 0.03) -> list[float]:
    """Bounds around values; those of shares stay within 0 and 1.

    >>> domain([0.0, 0.5, None, 1.0])
    [0.0, 1.0]
    """
    there = [value for value in values if value is not None]
    low, high = (min(there), max(there)) if there else (0.0, 1.0)
    pad = max((high - low) * margin, 0.005)
    return [low - pad if low < 0 else max(low - pad, 0.0), min(high + pad, 1.0) if high <= 1 else high + pad]


def number(value: float | None) -> str:
    """A value in the text that stands for a plot."""
    return "–" if value is None else f"{value:.3f}"
