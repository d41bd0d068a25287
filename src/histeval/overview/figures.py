"""The plots of a dataset: what each shows is taken from the main board, and stands beside it as PNG and CSV."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from histeval.errors import HistevalError
from histeval.overview.board import Board, Collected
from histeval.overview.cells import pretty
from histeval.overview.documents import document_value
from histeval.overview.frame import Place, Ways
from histeval.overview.page import clean
from histeval.overview.site import Site
from histeval.runs.score import Score

FOLDER = "plots"
_SIZE = re.compile(r'<svg[^>]*? width="([\d.]+)"[^>]*? height="([\d.]+)"')


@dataclass(frozen=True)
class FigureView:
    """A plot as a page shows it: where its files are, its size, and what stands for it."""

    kind: str
    src: str
    alt: str
    width: int
    height: int
    caption: str
    svg: str
    png: str
    csv: str


def write_figures(site: Site, place: Place, collected: Collected, ways: Ways, protocol: str) -> list[FigureView]:
    """Draws the plots of the main board of a protocol that have something to show."""
    if not collected.boards[protocol]:
        return []
    before = "" if protocol == collected.protocol else f"{protocol}-"
    board = collected.boards[protocol][0]
    return [_figure(site, place, before, kind, data) for kind, data in _data(collected, board, ways)]


def _figure(site: Site, place: Place, before: str, kind: str, data: Mapping[str, Any]) -> FigureView:
    stem = f"{FOLDER}/{before}{kind.replace('_', '-')}"

    def make() -> tuple[Any, dict[str, str | bytes]]:
        from histeval.overview.plots.draw import draw

        with TemporaryDirectory() as folder:
            drawn = draw(kind, data, Path(folder))
            match = _SIZE.search(drawn.svg_text)
            width, height = (round(float(part)) for part in match.groups()) if match else (0, 0)
            files: dict[str, str | bytes] = {
                f"{place.folder}{stem}.svg": drawn.svg_text,
                f"{place.folder}{stem}.png": drawn.png_path.read_bytes(),
                f"{place.folder}{stem}.csv": drawn.csv_path.read_bytes(),
            }
            return {"alt": drawn.alt, "notes": list(drawn.notes), "width": width, "height": height}, files

    found = site.bundle(f"{place.folder}{stem}", [kind, data], make)
    from histeval.overview.plots.draw import KINDS

    caption = ". ".join([KINDS[kind][0], *(str(note).rstrip(".") for note in found["notes"])]) + "."
    svg, png, csv = (f"{stem}.{ending}" for ending in ("svg", "png", "csv"))
    return FigureView(kind, svg, str(found["alt"]), int(found["width"]), int(found["height"]), caption, svg, png, csv)


def _data(collected: Collected, board: Board, ways: Ways) -> Iterator[tuple[str, dict[str, Any]]]:
    metric = board.metric.name
    shared = {"metric": pretty(metric), "higher_is_better": board.metric.higher_is_better}
    systems = [
        {
            "name": clean(one.run.name),
            **_value(one.score, metric),
            "tied": one.with_best,
            "failed": one.score.failed,
            "documents": one.score.documents,
        }
        for one in board.standings
    ]
    yield "intervals", {**shared, "systems": systems}
    for kind, column in (("cost_frontier", "cost"), ("seconds", "seconds")):
        points = []
        for one in board.standings:
            point = {"name": clean(one.run.name), "provider": clean(one.run.provider), **_value(one.score, metric)}
            points.append({**point, column: one.score.spent_each(column)})
        if sum(point[column] is not None for point in points) > 1:
            yield kind, {**shared, "points": points}
    dated = [
        {
            "name": clean(one.run.name),
            "provider": clean(one.run.provider),
            **_value(one.score, metric),
            "date": one.run.date,
        }
        for one in board.standings
    ]
    days = {one.run.date for one in board.standings if re.fullmatch(r"\d{4}-\d\d-\d\d", one.run.date)}
    if len(days) > 1:
        yield "time", {**shared, "points": dated}
    groups, levels = _groups(board.first)
    for kind, found, words in (("fields_or_types", groups, "F1"), ("levels", levels, "F1")):
        if len(found) > 1:
            if collected.task.name == "manuscripts":
                words = "Fuzzy"
            rows = [
                {"system": clean(one.run.name), "group": group, **_value(one.score, name)}
                for group, name in found.items()
                for one in board.standings
            ]
            yield kind, {"metric": words, "rows": rows}
    documents = [name for name in ways.worst if name in board.documents]
    values = [
        [
            document_value(one.score.scorer, one.score.rows[0][name]) if name in one.score.rows[0] else None
            for one in board.standings
        ]
        for name in documents
    ]
    if len(documents) > 1:
        yield (
            "heatmap",
            {
                "metric": "Score of the document",
                "higher_is_better": True,
                "documents": [clean(name) for name in documents],
                "systems": [clean(one.run.name) for one in board.standings],
                "values": values,
            },
        )
    yield from _noise(collected, board)


def _value(score: Score, metric: str) -> dict[str, float | None]:
    interval = score.intervals[metric]
    return {"value": score.values[metric], "low": interval.low, "high": interval.high}


def _groups(score: Score) -> tuple[dict[str, str], dict[str, str]]:
    """Fields or types, and levels, each with the name of its metric."""
    fields = {field.name: field.title for field in score.scorer.context.description.fields}
    groups: dict[str, str] = {}
    levels: dict[str, str] = {}
    for name in score.values:
        if match := re.fullmatch(r"f1\[All/(.+)\]", name):
            groups[match[1]] = name
        elif match := re.fullmatch(r"f1\[([^/]+)\]", name):
            levels[match[1]] = name
        elif name not in score.scorer.headline and (match := re.fullmatch(r"(.+)_(f1|fuzzy)", name)):
            groups[clean(fields.get(match[1]) or match[1].replace("_", " "))] = name
    return groups, levels


NOISE_BINS = 5


def _noise_of(collected: Collected, board: Board) -> dict[str, float]:
    """The character error rate of each entry's text against the reference of the same dataset; empty where none is."""
    dataset = collected.dataset
    if collected.task.name != "directories" or not dataset.name.endswith("-ocr"):
        return {}
    from histeval.datasets import load_dataset
    from histeval.text import error_rate

    try:
        reference = load_dataset("directories", dataset.path, text="reference", split="all").documents
    except HistevalError:
        return {}
    found = {}
    for name in board.documents:
        if name not in reference or reference[name].truth is None:
            return {}
        rate = error_rate(reference[name].truth.text, dataset.documents[name].truth.text).rate
        found[name] = float(rate or 0.0)
    return found


def _noise(collected: Collected, board: Board) -> Iterator[tuple[str, dict[str, Any]]]:
    """F1 of entries by how noisy their text is, in equal parts, where their reference is there too."""
    from dataclasses import replace as change

    from histeval.overview.parts import intervals_for
    from histeval.runs.score import summarise

    noise = _noise_of(collected, board)
    ordered = sorted(noise, key=lambda name: noise[name])
    if len(set(noise.values())) < NOISE_BINS:
        return
    size = -(-len(ordered) // NOISE_BINS)
    bins = [ordered[at : at + size] for at in range(0, len(ordered), size)]
    parts = []
    for one in board.standings:
        for names in bins:
            rows = [{name: found[name] for name in names if name in found} for found in one.score.rows]
            documents = [collected.dataset.documents[name] for name in names]
            part = summarise(
                one.run.key, collected.dataset, one.score.scorer, collected.selection, documents, rows,
                with_intervals=False,
            )  # fmt: skip
            parts.append(change(part, facts={"system": one.run.name, "at": sum(noise[n] for n in names) / len(names)}))
    metric = board.metric.name
    rows_of_plot = [
        {"system": clean(part.facts["system"]), "noise": part.facts["at"], **_value(part, metric)}
        for part in intervals_for(parts)
    ]
    yield "noise_curve", {"metric": pretty(metric), "rows": rows_of_plot}
