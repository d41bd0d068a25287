"""Systems by field, type or level; and under growing noise."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from histeval.overview.page import counted
from histeval.overview.plots.common import (
    KNOWN,
    Drawing,
    Row,
    at,
    chart,
    domain,
    nothing,
    number,
    share,
    short,
    texts,
    unique,
)
from histeval.overview.plots.theme import DASHES, FAINT, LINE, SERIES, SHAPES, WIDTH, altair

MOST_NAMED = 5
"""So many systems have a name, a shape and an interval in each group; the others are strokes."""
LANE = 13
# Columns stand so far apart that a name in a wider font does not reach the next.
_LEGEND = {
    "columns": 2,
    "columnPadding": 44,
    "labelLimit": 260,
    "symbolSize": 80,
    "symbolStrokeWidth": 2,
    "symbolOpacity": 1,
}


def _looks(titles: Sequence[str]) -> dict[str, Any]:
    """Colour, shape and dash of each system: each of the three alone tells them apart."""
    alt = altair()
    legend = alt.Legend(**_LEGEND)
    kinds = (("color", alt.Color, SERIES), ("shape", alt.Shape, SHAPES), ("strokeDash", alt.StrokeDash, DASHES))
    return {
        name: encoding(
            "system:N",
            title=None,
            sort=None,
            scale=alt.Scale(domain=list(titles), range=list(values[: len(titles)])),
            legend=legend,
        )
        for name, encoding, values in kinds
    }


def grouped(data: Row, what: str) -> Drawing:
    """By field, type or level: the first few systems with name, shape and interval, the others as strokes."""
    alt = altair()
    metric = data["metric"]
    rows = [row for row in data["rows"] if row["value"] is not None]
    if not rows:
        return nothing(metric)
    groups = list(dict.fromkeys(row["group"] for row in data["rows"]))
    systems = list(dict.fromkeys(row["system"] for row in rows))
    titles = unique(systems[:MOST_NAMED])
    lanes = {name: 18 + (place + 0.5) * LANE for place, name in enumerate(titles)}
    step = LANE * len(titles) + 26
    top = {group: place * step for place, group in enumerate(groups)}
    named = [
        {
            **{key: row.get(key) for key in ("value", "low", "high")},
            "system": titles[row["system"]],
            "y": top[row["group"]] + lanes[row["system"]],
        }
        for row in rows
        if row["system"] in titles
    ]
    others = [{"value": row["value"], "y": top[row["group"]] + 9} for row in rows if row["system"] not in titles]
    width, height = WIDTH - 200, step * len(groups)
    bounds = domain(row.get(key) for row in rows for key in ("value", "low", "high"))
    x, low = (share(name, metric, bounds, tickCount=7) for name in ("value", "low"))
    y, looks = at("y", "y"), _looks(list(titles.values()))
    layers = [
        chart({"y": top[group]} for group in groups[1:]).mark_rule(color=LINE).encode(y=y),
        texts([{"x": -10, "y": top[group] + step / 2, "text": short(group)} for group in groups], align="right"),
        chart(others).mark_tick(color=FAINT, orient="vertical", height=10, thickness=1).encode(x=x, y=y),
        chart(named)
        .transform_filter(KNOWN)
        .mark_rule(strokeWidth=1.6)
        .encode(x=low, x2="high:Q", y=y, color=looks["color"]),
        chart(named)
        .mark_point(filled=True, size=62, opacity=1)
        .encode(x=x, y=y, color=looks["color"], shape=looks["shape"]),
    ]
    notes = []
    if len(systems) > len(titles):
        rest = len(systems) - len(titles)
        others_are = "other one is a stroke" if rest == 1 else f"other {rest} are strokes"
        notes.append(f"The first {len(titles)} systems are named; the {others_are}.")
    said = f"{metric} by {what} for {counted(len(systems), 'system')}."
    for group in groups[:12]:
        there = [row for row in rows if row["group"] == group and row["system"] in titles]
        if there:
            values = ", ".join(f"{titles[row['system']]} {number(row['value'])}" for row in there[:3])
            said += f" {short(group)}: {values}."
    return Drawing(alt.layer(*layers).properties(width=width, height=height), said, notes)


def noise_curve(data: Row) -> Drawing:
    """Score against the noise of the text, a line for each system, with its interval."""
    alt = altair()
    metric, noise = data["metric"], data.get("noise", "Character error rate of the text")
    rows = [row for row in data["rows"] if row["value"] is not None]
    if not rows:
        return nothing(metric)
    systems = list(dict.fromkeys(row["system"] for row in rows))
    titles = unique(systems[: len(SERIES)])
    drawn = [
        {**{key: row.get(key) for key in ("noise", "value", "low", "high")}, "system": titles[row["system"]]}
        for row in rows
        if row["system"] in titles
    ]
    bounds = domain(row[key] for row in drawn for key in ("value", "low", "high"))
    looks = _looks(list(titles.values()))
    x = alt.X("noise:Q", title=noise, scale=alt.Scale(nice=False, zero=False))
    y, low = (share(name, metric, bounds, "y") for name in ("value", "low"))
    base = chart(drawn).encode(x=x, color=looks["color"])
    layers = [
        base.transform_filter(KNOWN).mark_area(opacity=0.13).encode(y=low, y2="high:Q"),
        base.mark_line(strokeWidth=2).encode(y=y, strokeDash=looks["strokeDash"]),
        base.mark_point(filled=True, size=60, opacity=1).encode(y=y, shape=looks["shape"]),
    ]
    notes = [f"The first {len(titles)} of {len(systems)} systems are drawn."] if len(systems) > len(titles) else []
    said = f"{metric} against {noise[:1].lower()}{noise[1:]} for {counted(len(titles), 'system')}."
    for name, title in titles.items():
        line = sorted((row for row in rows if row["system"] == name), key=lambda row: float(row["noise"]))
        if line:
            ends = [f"{number(row['value'])} at {row['noise']:.3g}" for row in (line[0], line[-1])]
            said += f" {title}: {', '.join(ends)}."
    return Drawing(alt.layer(*layers).properties(width=WIDTH - 60, height=340), said, notes)
