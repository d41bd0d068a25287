"""Drawing a plot by its kind, and writing its files."""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.errors import OutputError, UsageError
from histeval.overview.page import clean
from histeval.overview.plots import ranked, series
from histeval.overview.plots import trade as trades
from histeval.overview.plots.common import Drawing
from histeval.overview.plots.theme import render, unchecked

Table = tuple[Sequence[str], list[Sequence[Any]]]


@dataclass(frozen=True)
class Figure:
    """A plot: its SVG, the files beside it, the text that stands for it, and what it leaves out."""

    svg_text: str
    png_path: Path
    csv_path: Path
    alt: str
    notes: tuple[str, ...] = ()


KINDS: Mapping[str, tuple[str, Callable[[Mapping[str, Any]], Drawing]]] = {
    "intervals": ("Systems with 95 % intervals", ranked.intervals),
    "cost_frontier": (
        "Score against cost",
        lambda data: trades.trade(data, "cost", "Cost per document (US dollars, log scale)", "cost per document"),
    ),
    "seconds": (
        "Score against time",
        lambda data: trades.trade(data, "seconds", "Seconds per document (log scale)", "seconds per document"),
    ),
    "time": ("Score over time", trades.time),
    "heatmap": ("Documents by systems", ranked.heatmap),
    "fields_or_types": ("Score by field or type", lambda data: series.grouped(data, "field or type")),
    "levels": ("Score by level", lambda data: series.grouped(data, "level")),
    "noise_curve": ("Score under noise", series.noise_curve),
}
"""The kinds of plots: a title, and the function that draws one."""


def draw(kind: str, data: Mapping[str, Any], out_folder: Path | str, name: str = "") -> Figure:
    """A plot of `kind` (a key of `KINDS`) as PNG and CSV in `out_folder`, and its SVG as text.

    `data` holds, by kind: `intervals` {metric, systems: [{name, value, low, high, tied, failed, documents}]} in rank
    order; `cost_frontier`, `seconds`, `time` {metric, higher_is_better, points: [{name, provider, value, low, high,
    cost | seconds | date}]}; `heatmap` {metric, higher_is_better, documents, systems, values: [[number or None]]};
    `fields_or_types`, `levels` {metric, rows: [{system, group, value, low, high}]}; `noise_curve` the same with
    `noise` for `group`. The same data gives the same bytes. Raises UsageError for an unknown kind, OutputError where
    the folder cannot be written, MissingExtraError without altair.
    """
    if kind not in KINDS:
        raise UsageError(f"there is no plot {kind!r}; there are {', '.join(KINDS)}")
    title, make = KINDS[kind]
    with unchecked():
        drawing = make(data)
    svg, png = render(drawing.chart, title)
    folder = Path(out_folder)
    files = {ending: folder / f"{name or kind}.{ending}" for ending in ("png", "csv")}
    _write(files["png"], png)
    _write(files["csv"], as_csv(*table(data)).encode("utf-8"))
    return Figure(svg, files["png"], files["csv"], drawing.alt, tuple(drawing.notes))


def table(data: Mapping[str, Any]) -> Table:
    """The data of a plot as a table: its columns and rows."""
    if "values" in data:
        rows: list[Sequence[Any]] = [
            [document, *row] for document, row in zip(data["documents"], data["values"], strict=True)
        ]
        return ["document", *data["systems"]], rows
    records = data.get("systems") or data.get("points") or data.get("rows") or []
    columns = list(dict.fromkeys(key for record in records for key in record))
    return columns, [[record.get(column) for column in columns] for record in records]


def as_csv(columns: Sequence[Any], rows: Sequence[Sequence[Any]]) -> str:
    """A table as CSV. Numbers keep all their digits; a text that a spreadsheet would run gets an apostrophe.

    >>> as_csv(["name", "value"], [["=1+1", 0.5], ["b", None]])
    "name,value\\r\\n'=1+1,0.5\\r\\nb,\\r\\n"
    """
    file = io.StringIO(newline="")
    writer = csv.writer(file)
    for row in [columns, *rows]:
        writer.writerow([_cell(value) for value in row])
    return file.getvalue()


def _cell(value: Any) -> Any:
    if value is None or (isinstance(value, int | float) and not isinstance(value, bool)):
        return "" if value is None else value
    if isinstance(value, bool):
        return "true" if value else "false"
    text = clean(value)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@", "\t") else text


def _write(target: Path, data: bytes) -> None:
    draft = target.with_name(f".{target.name}.part")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        draft.write_bytes(data)
        os.replace(draft, target)
    except OSError as fault:
        raise OutputError(f"{target}: cannot be written: {fault.strerror or fault}") from fault
