"""The order of day and month is decided for a column, by what is in it, and never silently."""

from __future__ import annotations

import re
from datetime import date
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from format_sources import read
from histeval.datasets.formats import ImportReport
from histeval.errors import DatasetError
from support import examples


def dates(*cells: str, **options: Any) -> tuple[list[str], ImportReport]:
    rows = [f"{number};{cell}" for number, cell in enumerate(cells, start=1)]
    items, report = read("spreadsheet", {"a.csv": "\n".join(["Nr;Datum", *rows, ""])}, **options)
    return [item.values["send_date"][0] for item in items], report  # type: ignore[union-attr]


def test_a_day_above_twelve_decides_for_the_column() -> None:
    found, report = dates("5/4/1931", "5/13/1931", "12/5/1931")
    assert found == ["1931-05-04", "1931-05-13", "1931-12-05"]
    assert any("; read month first, as 5/13/1931 in line 3 is" in note for note in report.notes)
    found, report = dates("5/4/1931", "<13/5/1931>", "Basel, 12/5/1931")
    assert found == ["1931-04-05", "<1931-05-13>", "1931-05-12"]
    assert any("2 dates like 3/4/1890 can be read both ways (lines 2, 4); read day first" in note
               for note in report.notes)  # fmt: skip


def test_a_contradiction_names_both_lines() -> None:
    with pytest.raises(DatasetError) as fault:
        dates("5/4/1931", "13/5/1931", "5/14/1931")
    sentence = "a.csv, line 3, column Datum: '13/5/1931' is day first, and '5/14/1931' in line 4 is month first"
    assert sentence in str(fault.value)
    assert "dates=keep" in fault.value.remedy
    assert dates("13/5/1931", "5/14/1931", dates="keep")[0] == ["13/5/1931", "5/14/1931"]


def test_nothing_tells() -> None:
    found, report = dates("5/4/1931", "6/6/1931", "1931")
    assert found == ["5/4/1931", "1931-06-06", "1931"]
    (note,) = [note for note in report.notes if "both ways" in note]
    assert "kept as written" in note
    assert "--option dates=month_first" in note
    assert dates("5/4/1931", dates="day_first")[0] == ["1931-04-05"]
    found, report = dates("5.4.1931", "6.7.1931", "5-4-1931")
    assert found == ["1931-04-05", "1931-07-06", "5-4-1931"]
    assert any("read day first, as is usual with dots" in note for note in report.notes)


def test_an_order_that_was_asked_for_is_never_turned_round() -> None:
    found, report = dates("5/13/1931", "5/4/1931", dates="day_first")
    assert found == ["5/13/1931", "1931-04-05"]
    assert report.repaired["dates that are not day first, kept as they are written"] == ["a.csv: row 2"]


@settings(max_examples=examples(60), deadline=None)
@given(st.lists(st.dates(date(1700, 1, 1), date(1999, 12, 31)), min_size=1, max_size=6), st.booleans(),
       st.sampled_from("./-"))  # fmt: skip
def test_no_date_of_a_column_is_ever_another_day(days: list[date], month_first: bool, sign: str) -> None:
    """Written in one order throughout, a date is read as its own day, or kept as written where nothing tells; only
    dotted dates without any proof are read day first."""
    pairs = [(day.month, day.day) if month_first else (day.day, day.month) for day in days]
    cells = [f"{first}{sign}{second}{sign}{day.year}" for (first, second), day in zip(pairs, days, strict=True)]
    found, report = dates(*cells)
    proved = any(day.day > 12 for day in days)
    for cell, value, day in zip(cells, found, days, strict=True):
        if proved or day.day == day.month or (sign == "." and not month_first):
            assert value == day.isoformat()
        elif sign == ".":
            assert value == f"{day.year}-{day.day:02}-{day.month:02}"
        else:
            assert value == cell
    if any(day.day <= 12 and day.day != day.month for day in days):
        assert any(re.search("can be read both ways", note) for note in report.notes)
