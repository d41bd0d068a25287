"""How plots look: colours of Okabe and Ito (2008), fonts that exist everywhere, white and dark paper; and rendering."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from html import escape, unescape
from types import ModuleType
from typing import Any

from histeval.errors import MissingExtraError

INK, SOFT, LINE, PAPER = "#1a232d", "#51606f", "#d9dfe5", "#ffffff"
BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY = "#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"
SERIES = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY)
"""Colours of series, in this order; each series also has a shape and a dash of its own."""
SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [12, 3], [4, 4])
FAINT = "#8895a3"
"""What stands in the background: the systems that are not named."""

DARK = {
    INK: "#e7ecf1",
    SOFT: "#a7b4c1",
    LINE: "#313c47",
    FAINT: "#7d8b99",
    PAPER: "#12171d",
    BLUE: "#56b4e9",
    VERMILLION: "#ff8a4c",
    GREEN: "#3fcf9f",
    PURPLE: "#e39cc4",
    ORANGE: "#f5b93b",
    SKY: "#9fd6f7",
}
"""What each colour becomes on dark paper."""

FONT = "Arial, 'Liberation Sans', Helvetica, 'DejaVu Sans', sans-serif"
SIZE = 12
WIDTH = 620
"""Units across: two plots stand side by side on a page of ordinary width, their letters hardly smaller than its own."""
CHECKED = False
"""Whether charts are checked against the schema of Vega-Lite."""
SCALE = 2
"""Pixels of the PNG per unit of the SVG."""
WIDER = 1.3
"""So many units a letter may be wider in a reader's font than in the one that a chart is laid out with: DejaVu Sans,
which stands in for Arial on many systems, by a sixth."""

CONFIG: dict[str, Any] = {
    "background": "transparent",
    "aria": False,
    "font": FONT,
    "view": {"stroke": None},
    "axis": {
        "labelColor": SOFT,
        "titleColor": INK,
        "titleFontWeight": "normal",
        "titleFontSize": SIZE,
        "labelFontSize": SIZE - 1,
        "gridColor": LINE,
        "domainColor": FAINT,
        "tickColor": FAINT,
        "titlePadding": 8,
        "labelFlush": False,
        "gridWidth": 0.7,
    },
    "legend": {
        "labelColor": INK,
        "titleColor": SOFT,
        "labelFontSize": SIZE,
        "titleFontWeight": "normal",
        "orient": "top",
    },
    "text": {"color": INK, "fontSize": SIZE},
}


@lru_cache(maxsize=1)
def altair() -> ModuleType:
    """The library that draws; raises MissingExtraError where it is not installed."""
    try:
        import altair as alt
        import vl_convert  # noqa: F401
    except ImportError:
        raise MissingExtraError("plots need altair and vl-convert: pip install 'histeval[overview]'") from None
    return alt


@contextmanager
def unchecked() -> Iterator[None]:
    """Charts made inside are not checked against the schema: with thousands of cells that takes seconds. Tests draw
    each kind with the check."""
    from altair.utils.schemapi import debug_mode

    with debug_mode(CHECKED):
        yield


def render(chart: Any, title: str) -> tuple[str, bytes]:
    """A chart as SVG that fits white and dark paper, and as PNG on white. The same chart gives the same bytes."""
    import vl_convert

    alt = altair()
    with unchecked():
        spec = chart.configure(**CONFIG).to_dict(validate=False)
    version = ".".join(alt.SCHEMA_VERSION.removeprefix("v").split(".")[:2])
    drawn = _numbered(vl_convert.vegalite_to_svg(spec, vl_version=version))
    head, body = drawn[: drawn.index(">") + 1], drawn[drawn.index(">") + 1 :]
    head = _roomy(head, body)
    left, top = head.partition('viewBox="')[2].split()[:2]
    white = f'{head}<rect x="{left}" y="{top}" width="100%" height="100%" fill="{PAPER}"/>{body}'
    png: bytes = vl_convert.svg_to_png(white, scale=SCALE)
    return f"{head}<title>{escape(title)}</title>{_style()}{body}", png


_TEXT = re.compile(r"<text ([^>]*)>([^<]*)</text>")
_HEAD = re.compile(r'width="([\d.]+)" height="([\d.]+)" viewBox="0 0 ([\d.]+) ([\d.]+)"')


def _roomy(head: str, body: str) -> str:
    """The opening tag of a drawing with room at its edges for names that a wider font makes longer: left of those
    that end at a mark, right of those that begin there, above those that stand up."""
    left = right = top = 0.0
    for style, text in _TEXT.findall(body):
        more = WIDER * len(unescape(text))
        if "rotate(-90)" in style:
            continue  # the title of an axis, in the middle of its edge
        if "rotate(" in style:
            top, right = max(top, more), max(right, more / 2)
        elif 'text-anchor="end"' in style:
            left = max(left, more)
        elif 'text-anchor="start"' in style:
            right = max(right, more)

    def grown(found: re.Match[str]) -> str:
        wide, high = float(found[3]) + left + right, float(found[4]) + top
        return f'width="{wide:g}" height="{high:g}" viewBox="{-left:g} {-top:g} {wide:g} {high:g}"'

    return _HEAD.sub(grown, head, count=1)


def _style() -> str:
    rules = "".join(f'[fill="{one}"]{{fill:{other}}}[stroke="{one}"]{{stroke:{other}}}' for one, other in DARK.items())
    return f"<style>@media screen and (prefers-color-scheme:dark){{{rules}}}</style>"


_ID = re.compile(r'(?<=id=")[A-Za-z_]+\d+(?=")')


def _numbered(svg: str) -> str:
    """Identifiers counted anew, since the library counts on from one chart to the next."""
    for number, found in enumerate(dict.fromkeys(_ID.findall(svg))):
        svg = re.sub(rf"\b{re.escape(found)}\b", f"part{number}", svg)
    return svg
