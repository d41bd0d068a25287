"""Systems in rank order with their intervals, and documents by systems."""

from __future__ import annotations

import math
from collections.abc import Sequence

from histeval.overview.page import counted
from histeval.overview.plots.common import KNOWN, Drawing, Row, at, chart, domain, nothing, number, share, short, texts
from histeval.overview.plots.theme import BLUE, FAINT, PAPER, SIZE, SOFT, WIDTH, altair

MOST_ROWS = 60
"""So many systems, or documents, get a row of their own; further systems are drawn together."""
MOST_COLUMNS = 60
MOST_HEADS = 45
"""Up to so many systems stand by name above their columns."""


def intervals(data: Row) -> Drawing:
    """Each system's value with its interval, in rank order; filled where it cannot be told apart from the best."""
    alt = altair()
    metric = data["metric"]
    systems = [one for one in data["systems"] if one["value"] is not None]
    without = len(data["systems"]) - len(systems)
    notes = [f"{counted(without, 'system')} without a value left out."] if without else []
    if not systems:
        return nothing(metric, notes)
    shown, rest = systems[:MOST_ROWS], systems[MOST_ROWS:]
    step = 19.0 if len(shown) <= 30 else 16.0
    width, height = WIDTH - 220, step * (len(shown) + (1.5 if rest else 0.0))
    rows = [
        {
            **{key: one[key] for key in ("value", "low", "high")},
            "tied": bool(one["tied"]),
            "y": (place + 0.5) * step,
        }
        for place, one in enumerate(shown)
    ]
    bounds = domain(one[key] for one in systems for key in ("value", "low", "high"))
    x, low = (share(name, metric, bounds, tickCount=8) for name in ("value", "low"))
    y = at("y", "y")
    tied = chart(row for row in rows if row["tied"]).encode(y=y)
    apart = chart(row for row in rows if not row["tied"]).encode(y=y)
    layers = [
        chart(rows[:1]).mark_rule(color=BLUE, strokeDash=[3, 3]).encode(x=x),
        apart.transform_filter(KNOWN).mark_rule(color=FAINT, strokeWidth=2).encode(x=low, x2="high:Q"),
        tied.transform_filter(KNOWN).mark_rule(color=BLUE, strokeWidth=3).encode(x=low, x2="high:Q"),
        apart.mark_point(color=FAINT, fill=PAPER, size=46, opacity=1, strokeWidth=1.6).encode(x=x),
        tied.mark_point(color=BLUE, filled=True, size=60, opacity=1).encode(x=x),
    ]
    names = [{"x": -10, "y": row["y"], "text": short(one["name"])} for row, one in zip(rows, shown, strict=True)]
    failed = [
        {"x": width + 10, "y": row["y"], "text": f"{one['failed']} failed"}
        for row, one in zip(rows, shown, strict=True)
        if one.get("failed")
    ]
    layers += [texts(names, align="right"), texts(failed, SOFT, SIZE - 2, align="left")]
    if rest:
        y_rest = height - 0.6 * step
        strokes = chart({"value": one["value"], "y": y_rest} for one in rest)
        tick = {"color": FAINT, "thickness": 1.2, "height": step * 0.8, "orient": "vertical"}
        layers.append(strokes.mark_tick(**tick).encode(x=x, y=y))
        layers.append(texts([{"x": -10, "y": y_rest, "text": f"{len(rest)} more"}], SOFT, align="right"))
        others = "other one is a stroke" if len(rest) == 1 else f"other {len(rest)} are strokes"
        notes.append(f"The first {len(shown)} systems have a row; the {others} in the last one.")
    best, last = systems[0], systems[-1]
    together = sum(bool(one["tied"]) for one in systems)
    said = (
        f"{metric} of {counted(len(systems), 'system')} with 95 % intervals, best first. Best: {short(best['name'])} "
        f"with {number(best['value'])} ({number(best['low'])} to {number(best['high'])}). {together} of them, the "
        f"filled blue ones, cannot be told apart from the best. Last: {short(last['name'])} with "
        f"{number(last['value'])}."
    )
    return Drawing(alt.layer(*layers).properties(width=width, height=height), said, notes)


def heatmap(data: Row) -> Drawing:
    """Documents (hardest first) by systems (best first); light is good, and the mean of each document in figures."""
    alt = altair()
    values, better = data["values"], data.get("higher_is_better", True)
    means = [_mean(row) for row in values]
    known = [(mean if better else -mean, i) for i, mean in enumerate(means) if mean is not None]
    order = [i for _, i in sorted(known)]
    notes = []
    if len(order) < len(values):
        notes.append(f"{counted(len(values) - len(order), 'document')} without a value left out.")
    if not order:
        return nothing(data["metric"], notes)
    shown, columns = order[:MOST_ROWS], range(min(len(data["systems"]), MOST_COLUMNS))
    high = 17 if len(shown) <= 24 else 13
    wide = max(8.0, min(34.0, (WIDTH - 210) / max(1, len(columns))))
    width, height = wide * len(columns), high * len(shown)
    cells = [
        {
            "x": round(j * wide, 2),
            "x2": round((j + 1) * wide - 0.6, 2),
            "y": place * high,
            "y2": (place + 1) * high - 0.6,
            "value": values[i][j],
        }
        for place, i in enumerate(shown)
        for j in columns
        if values[i][j] is not None
    ]
    within = all(0 <= cell["value"] <= 1 for cell in cells)
    color = alt.Color(
        "value:Q",
        title=data["metric"],
        scale=alt.Scale(scheme="viridis", reverse=not better, domain=[0, 1] if within else alt.Undefined),
        legend=alt.Legend(orient="bottom", gradientLength=200, direction="horizontal", tickCount=5),
    )
    middle = [(place + 0.5) * high for place in range(len(shown))]
    names = [{"x": -8, "y": y, "text": short(data["documents"][i])} for y, i in zip(middle, shown, strict=True)]
    figures = [{"x": width + 8, "y": y, "text": number(means[i])} for y, i in zip(middle, shown, strict=True)]
    layers = [
        chart(cells).mark_rect(strokeWidth=0).encode(x=at("x"), x2="x2:Q", y=at("y", "y"), y2="y2:Q", color=color),
        texts(names, size=SIZE - 1, align="right"),
        texts([{"x": width + 8, "y": -8, "text": "mean"}, *figures], SOFT, SIZE - 2, align="left"),
    ]
    if wide >= 11 and len(columns) <= MOST_HEADS:
        heads = [{"x": (j + 0.5) * wide, "y": -6, "text": short(data["systems"][j])} for j in columns]
        layers.append(texts(heads, size=SIZE - 1, align="left", angle=300))
    else:
        head = [{"x": 0, "y": -8, "text": f"{counted(len(columns), 'system')}, the best at the left"}]
        layers.append(texts(head, SOFT, SIZE - 1, align="left"))
    if len(order) > len(shown):
        notes.append(f"The {len(shown)} hardest of {len(order)} documents are drawn.")
    if len(data["systems"]) > len(columns):
        notes.append(f"The {len(columns)} best of {len(data['systems'])} systems are drawn; the means are of all.")
    named = [f"{short(data['documents'][i])} ({number(means[i])})" for i in order]
    said = (
        f"{data['metric']} of {counted(len(order), 'document')} by {counted(len(data['systems']), 'system')}. "
        f"Hardest by their mean: {', '.join(named[:5])}. Easiest: {named[-1]}."
    )
    return Drawing(alt.layer(*layers).properties(width=width, height=height), said, notes)


def _mean(row: Sequence[float | None]) -> float | None:
    there = [value for value in row if value is not None]
    return math.fsum(there) / len(there) if there else None
