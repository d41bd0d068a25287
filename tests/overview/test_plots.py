"""Plots: every kind drawn, deterministic, safe, and told in words; the CSV holds the data with all its digits."""

from __future__ import annotations

import csv
import json
import random
import re
import struct
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import OutputError, UsageError
from histeval.overview.plots import KINDS, draw, theme
from histeval.overview.plots.labels import HEIGHT, LETTER, place_labels
from histeval.overview.plots.ranked import MOST_ROWS
from histeval.overview.plots.trade import frontier
from support import examples

LONG = "Wissenschaftliche-Handschriftenerkennung-2026-"
OUTSIDE = """() => {
  const all = document.querySelector('svg').getBoundingClientRect();
  return [...document.querySelectorAll('svg text')].filter(text => text.textContent.trim()).filter(text => {
    const box = text.getBoundingClientRect();
    return box.left < all.left - 1 || box.right > all.right + 1 || box.top < all.top - 1 || box.bottom > all.bottom + 1;
  }).map(text => text.textContent);
}"""
"""The texts of a drawing that are cut off at its edge."""
OVERLAPPING = """() => {
  const marks = [...document.querySelectorAll('.role-legend-symbol path')].map(mark => mark.getBoundingClientRect());
  return [...document.querySelectorAll('.role-legend-label text')].filter(text => {
    const box = text.getBoundingClientRect();
    const beside = mark => mark.top < box.bottom && mark.bottom > box.top;
    return marks.some(mark => beside(mark) && mark.left > box.left && mark.left < box.right);
  }).map(text => text.textContent);
}"""
"""The names in a legend that reach into the mark of the next."""
ATTACK = "</svg><script>alert(1)</script>&\"' \u202e\x00{{x}} =cmd()"


def sample(systems: int = 6, documents: int = 5, seed: int = 1) -> dict[str, dict[str, Any]]:
    """Data of every kind."""
    rng = random.Random(seed)
    values = sorted((rng.random() for _ in range(systems)), reverse=True)
    names = [{1: ATTACK, 2: "=cmd()"}.get(place, f"system-{place}") for place in range(systems)]
    ranked = [
        {"name": name, "value": v, "low": v - 0.05, "high": v + 0.04, "tied": place < 2, "failed": place % 3}
        for place, (name, v) in enumerate(zip(names, values, strict=True))
    ]
    points = [
        {
            "name": name,
            "provider": "p",
            "value": v,
            "low": v - 0.05,
            "high": None if place == 2 else v + 0.04,
            "cost": None if place == 3 else rng.lognormvariate(-5, 2) * (place != 4),
            "seconds": rng.lognormvariate(2, 1),
            "date": f"2025-{1 + place % 12:02}-17",
        }
        for place, (name, v) in enumerate(zip(names, values, strict=True))
    ]
    grid = [[rng.random() if rng.random() > 0.1 else None for _ in names] for _ in range(documents)]
    rows = [
        {"system": name, "group": group, "value": rng.random(), "low": 0.1, "high": 0.9}
        for name in names
        for group in ("L1", ATTACK)
    ]
    curve = [
        {"system": name, "noise": noise, "value": 0.9 - noise, "low": 0.8 - noise, "high": 0.95 - noise}
        for name in names
        for noise in (0.0, 0.05, 0.1)
    ]
    return {
        "intervals": {"metric": "F1", "higher_is_better": True, "systems": ranked},
        "cost_frontier": {"metric": "F1", "higher_is_better": True, "points": points},
        "seconds": {"metric": "F1", "higher_is_better": True, "points": points},
        "time": {"metric": "F1", "higher_is_better": True, "points": points},
        "heatmap": {
            "metric": "F1",
            "higher_is_better": True,
            "documents": [f"document-{i}" for i in range(documents)],
            "systems": names,
            "values": grid,
        },
        "fields_or_types": {"metric": "F1", "rows": rows},
        "levels": {"metric": "F1", "rows": rows},
        "noise_curve": {"metric": "F1", "rows": curve},
    }


@pytest.fixture
def checked(monkeypatch: pytest.MonkeyPatch) -> None:
    """Charts checked against the schema of Vega-Lite."""
    monkeypatch.setattr(theme, "CHECKED", True)


def size(svg: str) -> tuple[float, float]:
    match = re.search(r'<svg[^>]* width="([\d.]+)" height="([\d.]+)"', svg)
    assert match is not None
    return float(match[1]), float(match[2])


@pytest.mark.usefixtures("checked")
@pytest.mark.parametrize("kind", KINDS)
def test_a_plot_is_drawn_the_same_each_time_and_is_inert(kind: str, tmp_path: Path) -> None:
    data = sample()[kind]
    figure = draw(kind, data, tmp_path / "a")
    again = draw(kind, data, tmp_path / "b")
    assert figure.svg_text == again.svg_text
    assert figure.png_path.read_bytes() == again.png_path.read_bytes()
    root = ElementTree.fromstring(figure.svg_text)  # well-formed
    tags = {element.tag.rpartition("}")[2] for element in root.iter()}
    assert not tags & {"script", "image", "foreignObject", "a"}
    assert "NaN" not in figure.svg_text
    assert "undefined" not in figure.svg_text
    assert not re.search("[\x00-\x08\u202a-\u202e]", figure.svg_text + figure.alt)
    head = figure.png_path.read_bytes()[:24]
    assert head.startswith(b"\x89PNG")
    width, height = struct.unpack(">II", head[16:24])
    assert (width, height) == pytest.approx([theme.SCALE * side for side in size(figure.svg_text)], abs=4)
    assert figure.png_path.name == f"{kind}.png"
    # words stand for it: the metric, and something of the data
    assert figure.alt.startswith("F1 ")
    assert len(figure.alt) > 60


@pytest.mark.parametrize("kind", KINDS)
def test_the_csv_has_the_data_with_all_digits(kind: str, tmp_path: Path) -> None:
    data = sample()[kind]
    figure = draw(kind, data, tmp_path)
    with figure.csv_path.open(encoding="utf-8", newline="") as file:
        found = list(csv.reader(file))
    if kind == "heatmap":
        assert [row[0] for row in found[1:]] == data["documents"]
        numbers = [[float(cell) if cell else None for cell in row[1:]] for row in found[1:]]
        assert numbers == data["values"]
        return
    records = data.get("systems") or data.get("points") or data["rows"]
    assert len(found) == len(records) + 1
    for row, record in zip(found[1:], records, strict=True):
        for column, cell in zip(found[0], row, strict=True):
            value = record[column]
            if isinstance(value, float):
                assert float(cell) == value
            elif isinstance(value, bool):
                assert cell == str(value).lower()
            elif value is None:
                assert cell == ""
            else:
                assert "\u202e" not in cell
                assert cell[:1] not in ("=", "+", "@")


def test_two_hundred_systems_stay_readable(tmp_path: Path) -> None:
    data = sample(systems=200, documents=300)
    for kind in KINDS:
        figure = draw(kind, data[kind], tmp_path)
        width, height = size(figure.svg_text)
        assert width < 1000
        assert height < 1300
        assert len(figure.svg_text) < 700_000
    figure = draw("intervals", data["intervals"], tmp_path)
    assert figure.notes == (f"The first {MOST_ROWS} systems have a row; the other 140 are strokes in the last one.",)
    texts = [element.text for element in ElementTree.fromstring(figure.svg_text).iter() if element.tag.endswith("text")]
    assert "140 more" in texts
    assert sum(str(text).startswith("system-") for text in texts) == MOST_ROWS - 2  # two are attacks
    notes = draw("heatmap", data["heatmap"], tmp_path).notes
    assert notes[0] == "The 60 hardest of 300 documents are drawn."


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_and_missing_values_are_drawn_too(kind: str, tmp_path: Path) -> None:
    data = sample(systems=1, documents=1)[kind]
    empty = {key: [] if isinstance(value, list) else value for key, value in data.items()}
    assert "<svg" in draw(kind, empty, tmp_path).svg_text
    for rows in (data.get("systems"), data.get("points"), data.get("rows")):
        for row in rows or []:
            if isinstance(row, dict):
                row["value"] = None
    if kind == "heatmap":
        data["values"] = [[None]]
    figure = draw(kind, data, tmp_path)
    assert "There is nothing to draw." in figure.svg_text
    if "rows" not in data:
        assert len(figure.notes) == 1


def test_colours_change_on_dark_paper_and_series_differ_without_colour(tmp_path: Path) -> None:
    figure = draw("noise_curve", sample()["noise_curve"], tmp_path)
    style = figure.svg_text.partition("<style>")[2].partition("</style>")[0]
    assert style.startswith("@media screen and (prefers-color-scheme:dark)")
    for colour in (theme.INK, theme.SOFT, theme.BLUE):
        assert f'"{colour}"' in figure.svg_text.replace(style, "")
        assert f'[fill="{colour}"]{{fill:{theme.DARK[colour]}}}' in style
    assert len(set(theme.SHAPES)) == len(theme.SERIES)
    assert len({tuple(dash) for dash in theme.DASHES}) == len(theme.SERIES)
    dashes = set(re.findall(r'stroke-dasharray="([^"]+)"', figure.svg_text))
    assert len(dashes) >= len(theme.SERIES) - 1


def luminance(colour: str) -> float:
    parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
    linear = [part / 12.92 if part <= 0.03928 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def test_text_has_the_contrast_of_wcag_aa_on_both_papers() -> None:
    for ink in (theme.INK, theme.SOFT):
        assert contrast(ink, theme.PAPER) >= 4.5
        assert contrast(theme.DARK[ink], theme.DARK[theme.PAPER]) >= 4.5
    for mark in (theme.BLUE, theme.VERMILLION, theme.FAINT):
        assert contrast(mark, theme.PAPER) >= 3
        assert contrast(theme.DARK[mark], theme.DARK[theme.PAPER]) >= 3


POINTS = st.lists(
    st.builds(lambda v, c: {"value": v / 4, "cost": c / 2}, st.integers(0, 6), st.integers(0, 6)), max_size=9
)


@given(POINTS, st.booleans())
@settings(max_examples=examples(200), deadline=None)
def test_the_frontier_is_what_no_other_beats(points: list[dict[str, float]], better: bool) -> None:
    sign = 1 if better else -1

    def beaten(one: dict[str, float]) -> bool:
        return any(
            sign * other["value"] >= sign * one["value"]
            and other["cost"] <= one["cost"]
            and (other["value"], other["cost"]) != (one["value"], one["cost"])
            for other in points
        )

    wanted = {(one["value"], one["cost"]) for one in points if not beaten(one)}
    found = [(one["value"], one["cost"]) for one in frontier(points, "cost", better)]
    assert len(found) == len(set(found))
    assert set(found) == wanted
    assert found == sorted(found, key=lambda pair: pair[1])


SPOTS = st.lists(
    st.tuples(st.integers(0, 300), st.integers(0, 200), st.sampled_from(["a", "gpt-5", "x" * 30])), max_size=12
)


@given(SPOTS, st.booleans())
@settings(max_examples=examples(100), deadline=None)
def test_labels_stay_inside_and_apart(points: list[tuple[float, float, str]], above: bool) -> None:
    labels = place_labels(points, [], 300, 200, above=above)
    boxes = []
    for label in labels:
        length = LETTER * len(label.text)
        left = {"left": label.x, "right": label.x - length, "center": label.x - length / 2}[label.align]
        boxes.append((left, label.y - HEIGHT / 2, left + length, label.y + HEIGHT / 2))
        assert boxes[-1][0] >= 0
        assert boxes[-1][2] <= 300
        assert boxes[-1][3] <= 200
    for place, one in enumerate(boxes):
        for other in boxes[:place]:
            assert one[0] >= other[2] or other[0] >= one[2] or one[1] >= other[3] or other[1] >= one[3]


def test_unknown_kinds_and_unwritable_folders_are_said(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no plot 'pie'"):
        draw("pie", {}, tmp_path)
    (tmp_path / "file").write_text("")
    with pytest.raises(OutputError, match="cannot be written"):
        draw("levels", sample()["levels"], tmp_path / "file")


@pytest.mark.browser
@pytest.mark.parametrize("kind", KINDS)
def test_every_name_fits_into_its_drawing(chromium: Any, kind: str, tmp_path: Path) -> None:
    """In the fonts of this browser, which need not be those that the chart was laid out with, and in wider ones."""
    data = sample(6, 5)[kind]
    text = json.dumps(data).replace("system-", LONG).replace("document-", "MMWW")
    drawing = draw(kind, json.loads(text), tmp_path).svg_text
    page = chromium.new_page()
    try:
        for font in ("", "text { font-family: 'DejaVu Sans', Verdana, sans-serif !important }"):
            page.set_content(f"<style>body {{ margin: 0 }} {font}</style>{drawing}")
            outside = page.evaluate(OUTSIDE)
            assert outside == []
    finally:
        page.close()


@pytest.mark.browser
def test_legends_leave_room_between_their_columns(chromium: Any, tmp_path: Path) -> None:
    data = sample(6)["levels"]
    text = json.dumps(data).replace("system-", LONG)
    drawing = draw("levels", json.loads(text), tmp_path).svg_text
    page = chromium.new_page()
    try:
        page.set_content(drawing)
        assert page.evaluate(OVERLAPPING) == []
    finally:
        page.close()


def test_an_axis_of_money_or_time_is_never_without_numbers(tmp_path: Path) -> None:
    """All at one price, or all within a small range."""
    for costs in ([0.035] * 3, [0.02, 0.021, 0.0205], [2.1, 2.9, 4.4], [0.0, 0.0, 0.0], [1e-7, 1.0, 1e6]):
        points = [
            {"name": f"s{place}", "provider": "", "value": 0.5, "low": 0.4, "high": 0.6, "cost": cost}
            for place, cost in enumerate(costs)
        ]
        found = draw("cost_frontier", {"metric": "F1", "higher_is_better": True, "points": points}, tmp_path)
        labels = re.findall(
            r'text-anchor="middle" transform="translate\([^"]*"[^>]*>([\d.e+-]+)</text>', found.svg_text
        )
        assert len({float(label) for label in labels}) >= 2


def test_systems_without_a_day_are_counted_among_those_that_are_not_drawn(tmp_path: Path) -> None:
    data = sample()["time"]
    points = [
        {**point, "date": date} for point, date in zip(data["points"], ("", "yesterday", "2025-02-30"), strict=False)
    ]
    found = draw("time", {**data, "points": [*points, *data["points"][3:]]}, tmp_path)
    assert found.notes == ("3 systems are not drawn: day not known.",)
    (one,) = draw("time", {**data, "points": [points[0], *data["points"][1:]]}, tmp_path).notes
    assert one == "1 system is not drawn: day not known."
