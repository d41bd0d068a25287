"""Tables as data: what the templates draw. A number keeps its full value for sorting and for checking."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from histeval.overview.page import clean, number
from histeval.runs.score import Score


@dataclass(frozen=True, slots=True)
class Cell:
    """A cell: its text, what sorts it (`value`, None last), an interval beside it, and where it leads."""

    text: str
    value: float | str | None = None
    interval: str = ""
    href: str = ""
    kind: str = "text"
    note: str = ""

    @property
    def key(self) -> str:
        """The sort key as it stands in the page: a number to full precision."""
        return repr(self.value) if isinstance(self.value, float) else "" if self.value is None else clean(self.value)


@dataclass(frozen=True)
class Table:
    """A table: column titles (a leading `#` marks a column of numbers) and rows, the first cell heading each."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[Cell]]
    caption: str = ""
    notes: tuple[str, ...] = field(default=())
    foot: Sequence[Sequence[Cell]] = field(default=())
    """Rows of sums, which no sorting moves."""


def score_cell(score: Score | None, metric: str) -> Cell:
    """A metric with its interval; three decimals, never rounded before."""
    if score is None or metric not in score.values:
        return Cell("–", None, kind="number")
    value, interval = score.values[metric], score.intervals[metric]
    low, high = interval.low, interval.high
    spread = f" ±{score.spread[metric]:.3f}" if metric in score.spread else ""
    shown = f"[{number(low)}, {number(high)}]" if low is not None and high is not None else "[–]"
    return Cell(number(value), value, shown + spread, kind="number")


def text_cell(text: object, href: str = "", note: str = "", value: float | str | None = None) -> Cell:
    """A cell of words, control and direction signs made visible."""
    words = clean(text)
    return Cell(words, words.casefold() if value is None else value, href=href, note=clean(note))


def count_cell(count: int) -> Cell:
    """A whole number."""
    return Cell(str(count), count, kind="number")


def plain_cell(value: float | None, digits: int = 3, unit: str = "") -> Cell:
    """A number without an interval (a sum, a price)."""
    return Cell("–" if value is None else f"{value:,.{digits}f}{unit}", value, kind="number")


def money_cell(cost: float | None) -> Cell:
    """US dollars; two digits that mean something, also below a cent."""
    return Cell("–" if cost is None else money(cost), cost, kind="number")


def money(cost: float | None) -> str:
    """US dollars in words of a price tag.

    >>> money(None), money(0.0), money(12.345), money(0.01234), money(0.000025)
    ('unknown', '$0', '$12.35', '$0.012', '$0.000025')
    """
    if cost is None:
        return "unknown"
    if cost == 0:
        return "$0"
    return f"${cost:,.2f}" if cost >= 1 else f"${Decimal(f'{cost:.2g}'):f}"


def pretty(metric: str) -> str:
    """The name of a metric as pages show it.

    >>> pretty("f1_macro"), pretty("cer"), pretty("f1[L1+L2]"), pretty("send_date_f1")
    ('F1 macro', 'CER', 'F1 [L1+L2]', 'send date F1')
    """
    if "[" in metric:
        name, _, rest = metric.partition("[")
        return f"{pretty(name)} [{rest}"
    words = [_WORDS.get(word, word) for word in metric.split("_")]
    return " ".join(words)


_WORDS = {"f1": "F1", "cer": "CER", "wer": "WER"}
