"""Score against money or seconds, with the frontier of best buys; and score over time."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import date
from typing import Any

from histeval.overview.page import counted
from histeval.overview.plots.common import (
    KNOWN,
    Drawing,
    Row,
    chart,
    domain,
    label_layers,
    nothing,
    number,
    share,
    short,
)
from histeval.overview.plots.labels import place_labels
from histeval.overview.plots.theme import BLUE, FAINT, VERMILLION, WIDTH, altair

_OTHERS = {"color": FAINT, "filled": False, "size": 42, "opacity": 1, "strokeWidth": 1.4}


def frontier(points: Sequence[Row], what: str, higher_is_better: bool = True) -> list[Row]:
    """The points that no other beats in both the score and what it takes, the cheapest first.

    >>> points = [{"value": 0.5, "cost": 1.0}, {"value": 0.4, "cost": 2.0}, {"value": 0.9, "cost": 3.0}]
    >>> [point["cost"] for point in frontier(points, "cost")]
    [1.0, 3.0]
    """
    sign = 1 if higher_is_better else -1
    best: list[Row] = []
    for one in sorted(points, key=lambda one: (one[what], -sign * one["value"])):
        if not best or sign * one["value"] > sign * best[-1]["value"]:
            best.append(one)
    return best


def trade(data: Row, what: str, title: str, unit: str) -> Drawing:
    """Score against what a document takes; the line joins those that no other beats in both."""
    alt = altair()
    metric = data["metric"]
    points = [one for one in data["points"] if one["value"] is not None and one.get(what) is not None]
    notes = _left_out(data["points"], points, unit)
    if not points:
        return nothing(metric, notes)
    best = frontier(points, what, data.get("higher_is_better", True))
    chosen = {id(one) for one in best}
    paid = [float(one[what]) for one in points if one[what] > 0] or [1.0]
    free = any(one[what] <= 0 for one in points)
    low, high = math.log10(min(paid)) - (0.5 if free else 0.12), math.log10(max(paid)) + 0.12
    bounds = domain([*(one["value"] for one in points), *(one.get(k) for one in best for k in ("low", "high"))], 0.06)
    width, height = WIDTH - 60, 380
    rows = [
        {
            **{key: one.get(key) for key in ("value", "low", "high")},
            # What costs nothing has no place on a log scale and stands at its edge.
            "paid": one[what] if one[what] > 0 else 10 ** (low + 0.08),
            "best": id(one) in chosen,
        }
        for one in points
    ]
    spots = [
        ((math.log10(row["paid"]) - low) / (high - low) * width, _down(row["value"], bounds, height)) for row in rows
    ]
    named = [(*spot, short(one["name"])) for spot, one in zip(spots, points, strict=True) if id(one) in chosen]
    others = [spot for spot, one in zip(spots, points, strict=True) if id(one) not in chosen]
    labels = place_labels(sorted(named, reverse=True), others, width, height, above=True)
    scale = alt.Scale(type="log", domain=[10**low, 10**high], nice=False)
    x = alt.X("paid:Q", title=title, scale=scale, axis=alt.Axis(format="~g", values=_powers(low, high)))
    y, y_low = (share(name, metric, bounds, "y") for name in ("value", "low"))
    on = chart(row for row in rows if row["best"]).encode(x=x)
    dashed = {"color": VERMILLION, "interpolate": "step-after", "strokeWidth": 1.6, "strokeDash": [5, 3]}
    layers = [
        chart(row for row in rows if not row["best"]).mark_point(**_OTHERS).encode(x=x, y=y),
        on.mark_line(**dashed).encode(y=y, order="paid:Q"),
        on.transform_filter(KNOWN).mark_rule(color=VERMILLION, strokeWidth=1.2).encode(y=y_low, y2="high:Q"),
        on.mark_point(color=VERMILLION, filled=True, shape="diamond", size=90, opacity=1).encode(y=y),
        *label_layers(labels),
    ]
    if free:
        notes.append("Systems that cost nothing stand at the left edge.")
    if len(labels) < len(named):
        notes.append(f"{counted(len(named) - len(labels), 'name')} on the frontier found no room; the CSV has all.")
    cheap = "cheaper" if what == "cost" else "faster"
    buys = "; ".join(f"{short(one['name'])} ({one[what]:.3g}, {number(one['value'])})" for one in best[:12])
    said = f"{metric} against {unit} for {counted(len(points), 'system')}. "
    said += f"No other is both better and {cheap} than these: {buys}."
    return Drawing(alt.layer(*layers).properties(width=width, height=height), said, notes)


def time(data: Row) -> Drawing:
    """Score by the day of the run, and the best so far."""
    alt = altair()
    metric, sign = data["metric"], 1 if data.get("higher_is_better", True) else -1
    dated = [(day, one) for one in data["points"] if one["value"] is not None and (day := _day(one.get("date")))]
    notes = _left_out(data["points"], dated, "day")
    if not dated:
        return nothing(metric, notes)
    dated.sort(key=lambda item: item[0])
    record: list[tuple[date, Row]] = []
    for day, one in dated:
        if not record or sign * one["value"] > sign * record[-1][1]["value"]:
            record.append((day, one))
    bounds = domain((one["value"] for _, one in dated), 0.1)
    width, height = WIDTH - 60, 340
    first, last = dated[0][0].toordinal(), dated[-1][0].toordinal()
    pad = max(1, (last - first) // 30)
    first, last = max(1, first - pad), last + pad
    spots = [
        ((day.toordinal() - first) / (last - first) * width, _down(one["value"], bounds, height)) for day, one in dated
    ]
    chosen = {id(one) for _, one in record}
    named = [(*spot, short(one["name"])) for spot, (_, one) in zip(spots, dated, strict=True) if id(one) in chosen]
    labels = place_labels(named[::-1], spots, width, height, above=True)
    rows = [{"value": one["value"], "day": str(day)} for day, one in dated]
    records = [{"value": one["value"], "day": str(day)} for day, one in record]
    steps = [*records, {**records[-1], "day": rows[-1]["day"]}]
    ends = [date.fromordinal(number) for number in (first, last)]
    scale = alt.Scale(
        domain=[{"year": end.year, "month": end.month, "date": end.day, "utc": True} for end in ends],
        type="utc",
        nice=False,
    )
    x = alt.X("day:T", title="Day of the run", scale=scale, axis=alt.Axis(format="%Y-%m", tickCount=7))
    y = share("value", metric, bounds, "y")
    layers = [
        chart(steps).mark_line(color=BLUE, interpolate="step-after", strokeWidth=1.8).encode(x=x, y=y),
        chart(rows).mark_point(**_OTHERS).encode(x=x, y=y),
        chart(records).mark_point(color=BLUE, filled=True, size=64, opacity=1).encode(x=x, y=y),
        *label_layers(labels),
    ]
    best = "; ".join(f"{day} {short(one['name'])} ({number(one['value'])})" for day, one in record)
    said = f"{metric} of {len(dated)} runs by their day. Best so far: {best}."
    return Drawing(alt.layer(*layers).properties(width=width, height=height), said, notes)


def _down(value: float, bounds: Sequence[float], height: float) -> float:
    return (bounds[1] - value) / (bounds[1] - bounds[0]) * height


def _powers(low: float, high: float) -> list[float]:
    """Ticks of a log axis between two exponents: powers of ten; where these are few, 2 and 5 of each; and where even
    these are fewer than two, as many more digits as it takes, so that an axis is never without a number.

    >>> _powers(-4, 0), _powers(0.2, 0.4), _powers(0.54, 0.55)
    ([0.0001, 0.001, 0.01, 0.1, 1.0], [1.6, 1.8, 2.0, 2.2, 2.4], [3.48, 3.5, 3.52, 3.54])
    """
    exponents = range(math.floor(low), math.ceil(high) + 1)
    steps = (1,) if high - low > 3 else (1, 2, 5)
    found = [float(f"{step}e{one}") for one in exponents for step in steps]
    found = [value for value in found if low <= math.log10(value) <= high]
    if len(found) > 1:
        return found
    bottom, top = 10**low, 10**high
    step = 10.0 ** math.floor(math.log10(top - bottom))
    step = next(size * step for size in (0.1, 0.2, 0.5, 1, 2) if (top - bottom) / (size * step) <= 6)
    first = math.ceil(bottom / step)
    return [float(f"{one * step:.12g}") for one in range(first, math.floor(top / step) + 1)]


def _left_out(given: Sequence[Row], shown: Sequence[Any], what: str) -> list[str]:
    left = len(given) - len(shown)
    if not left:
        return []
    return [f"{'1 system is' if left == 1 else f'{left} systems are'} not drawn: {what} not known."]


def _day(value: object) -> date | None:
    try:
        return date.fromisoformat(str(value)[:10])
    except ValueError:
        return None
