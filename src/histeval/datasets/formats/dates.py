"""Dates in a column of a table: whether 5/4/1931 is in April or in May is decided for the whole column, never alone."""

from __future__ import annotations

import re
from collections.abc import Mapping

from histeval.datasets.formats import headings
from histeval.datasets.formats.base import ImportReport
from histeval.datasets.tables import Table
from histeval.errors import DatasetError, UsageError
from histeval.tasks.dates import date_value

ORDERS = ("auto", "day_first", "month_first", "keep")
_NUMBERS = re.compile(
    r"(?P<before>(?:\D{0,80}[\s,])?)(?P<first>\d{1,2})\s*(?P<sign>[./-])\s*(?P<second>\d{1,2})\s*[./-]\s*(?P<year>\d{4})\.?"
)
_YEAR_FIRST = re.compile(r"(?P<year>\d{4})(?P<sign>[./-])(?P<month>\d{1,2})(?P=sign)(?P<day>\d{1,2})\.?")
"""Nobody writes year, day, month."""
_MARKED = re.compile(r"(<{0,2})([^<>]*)(>{0,2})")
_NAMES = {"day_first": "day first", "month_first": "month first"}


def date_orders(table: Table, heading: str, asked: str, report: ImportReport) -> dict[str, str]:
    """The order of day and month in the dates of a column that are written in numbers, by the sign between them:
    `day_first`, `month_first`, or `keep` where nothing tells.

    A number above 12 decides for all dates with the same sign. Without one, dates with dots are day first; dates with
    `/` or `-` are kept as they stand. Either is reported. Raises DatasetError where two dates contradict each other,
    UsageError for an unknown `asked`.
    """
    if asked not in ORDERS:
        raise UsageError(f"the option dates takes auto, day_first, month_first or keep, not {asked!r}")
    if asked != "auto":
        return dict.fromkeys("./-", asked)
    seen: dict[str, dict[str, tuple[int, str]]] = {}
    open_: dict[str, list[int]] = {}
    for row in table.rows:
        match = _NUMBERS.fullmatch(_bare(row.get(heading)))
        if match is None:
            continue
        first, second = int(match["first"]), int(match["second"])
        order = "day_first" if first > 12 >= second else "month_first" if second > 12 >= first else ""
        if order:
            seen.setdefault(match["sign"], {}).setdefault(order, (row.line, match[0]))
        elif first <= 12 and first != second:
            open_.setdefault(match["sign"], []).append(row.line)
    found = {}
    for sign in "./-":
        proofs = seen.get(sign, {})
        if len(proofs) > 1:
            (day_line, day), (month_line, month) = proofs["day_first"], proofs["month_first"]
            what = f"{day!r} is day first, and {month!r} in line {month_line} is month first"
            remedy = "Write all dates of the column in one order, or keep them as they stand: --option dates=keep"
            raise DatasetError(what, file=table.path, line=day_line, item=f"column {heading}", remedy=remedy)
        found[sign] = next(iter(proofs), "day_first" if sign == "." else "keep")
        if sign in open_:
            _tell(heading, sign, found[sign], open_[sign], proofs, report)
    return found


def _tell(heading: str, sign: str, order: str, lines: list[int], proofs: Mapping[str, tuple[int, str]],
          report: ImportReport) -> None:  # fmt: skip
    """Says how the dates of a column were read that can be read both ways."""
    shown = ", ".join(map(str, lines[:8])) + (f" and {len(lines) - 8} more" if len(lines) > 8 else "")
    many = "s" * (len(lines) != 1)
    both = (
        f"column {heading}: {len(lines)} date{many} like 3{sign}4{sign}1890 can be read both ways (line{many} {shown})"
    )
    if order == "keep":
        remedy = "--option dates=day_first or --option dates=month_first"
        report.note(f"{both}; kept as written; say which comes first with {remedy}")
    elif proofs:
        line, text = proofs[order]
        report.note(f"{both}; read {_NAMES[order]}, as {text} in line {line} is")
    else:
        report.note(f"{both}; read day first, as is usual with dots; else use --option dates=month_first")


def iso_date(value: str, orders: Mapping[str, str], place: str, report: ImportReport) -> str:
    """A date as ISO 8601 as far as it says one, its numbers in the order given for the sign between them; others stay
    as they are and are reported.

    >>> report = ImportReport("letters", "spreadsheet")
    >>> [iso_date("04/03/1890", {"/": order}, "", report) for order in ("day_first", "month_first", "keep")]
    ['1890-03-04', '1890-04-03', '04/03/1890']
    """
    marker = _MARKED.fullmatch(value)
    before, bare, after = marker.groups() if marker else ("", value, "")
    if set(orders.values()) == {"keep"} and len(orders) > 1:
        return value
    if value == "None" or re.fullmatch(r"\d{4}(-\d{2}(-\d{2})?)?", bare.strip()):
        return value
    if (dated := _YEAR_FIRST.fullmatch(bare.strip())) is not None and int(dated["month"]) <= 12:
        found = date_value(f"{dated['day']}.{dated['month']}.{dated['year']}")
        if found is not None:
            report.repair("dates written as ISO", place)
            return f"{before}{found}{after}"
    if headings.folded(value) in headings.UNDATED:
        report.repair("words for `undated`, read as None", place)
        return "None"
    words = bare
    match = _NUMBERS.fullmatch(_bare(bare))
    if match is not None:
        order = orders.get(match["sign"], "keep")
        first, second = int(match["first"]), int(match["second"])
        if order == "keep" and first != second:
            report.repair("dates that can be read day first or month first, kept as they are written", place)
            return value
        day, month = (second, first) if order == "month_first" else (first, second)
        if month > 12 >= day:
            report.repair(f"dates that are not {_NAMES[order]}, kept as they are written", place)
            return value
        words = f"{day}.{month}.{match['year']}"
    found = date_value(words)
    if found is None:
        report.repair("dates that could not be read as ISO, kept as they are written", place)
        return value
    report.repair("dates written as ISO", place)
    return f"{before}{found}{after}"


def _bare(text: str) -> str:
    return text.strip().strip("<>").strip()
