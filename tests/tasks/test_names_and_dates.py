"""Names and dates brought to one form."""

from __future__ import annotations

from datetime import date

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.tasks.dates import century_of, date_value
from histeval.tasks.description import AuthorityEntry
from histeval.tasks.names import NameMatcher, bare_name, name_key
from support import examples


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1926-02-16", "1926-02-16"),
        ("1926-2-16", "1926-02-16"),
        ("19260216", "1926-02-16"),
        ("1926-02-16T00:00:00Z", "1926-02-16"),
        ("16.02.1926", "1926-02-16"),
        ("16. 2. 1926.", "1926-02-16"),
        ("16/02/1926", "1926-02-16"),
        ("02/16/1926", "1926-02-16"),
        ("3/4/1926", "1926-04-03"),
        ("16. Februar 1926", "1926-02-16"),
        ("16 Févr. 1926", "1926-02-16"),
        ("le 1er août 1926", "1926-08-01"),
        ("February 16, 1926", "1926-02-16"),
        ("16th of February 1926", "1926-02-16"),
        ("16 de febrero de 1926", "1926-02-16"),
        ("16 maggio 1926", "1926-05-16"),
        ("16 Mai 1926", "1926-05-16"),
        ("16 juillet 1926", "1926-07-16"),
        ("16 juin 1926", "1926-06-16"),
        ("24. März 1926", "1926-03-24"),
        ("24. Ma\u0308rz 1926", "1926-03-24"),
        ("Basel, den 4. Juli 1933", "1933-07-04"),
        ("Basel, July 4, 1933", "1933-07-04"),
        ("Basel, 4.VII.1933", "1933-07-04"),
        ("14. VIII. 26", "1926-08-14"),
        ("26.Mai 1988", "1988-05-26"),
        ("18.2.28.", "1928-02-18"),
        ("Mai 1926", "1926-05"),
        ("1926-05", "1926-05"),
        ("1926", "1926"),
        ("29.2.1900", "1900-02-29"),  # a day of the Julian calendar
        ("30. Februar 1926", None),
        ("31.04.1926", None),
        ("1926-13-01", None),
        ("gestern", None),
        ("", None),
        ("16. Februar", None),
        ("um 1926", None),
        ("Nr. 16", None),
        ("١٩٢٦", "1926"),
        ("²", None),
        ("x" * 1000 + "1926", None),
    ],
)
def test_dates(text: str, value: str | None) -> None:
    assert date_value(text, 19) == value


def test_years_of_two_digits_need_a_century() -> None:
    assert date_value("16.2.26") is None
    assert date_value("16.2.26", 18) == "1826-02-16"
    assert (century_of(""), century_of("1926-1935"), century_of("1401-1500"), century_of("15th century")) == (
        None, 19, None, None,
    )  # fmt: skip


@settings(max_examples=examples(100), deadline=None)
@given(st.dates(min_value=date(1000, 1, 1)))
def test_every_day_in_every_style(day: date) -> None:
    months = ["Januar", "February", "mars", "aprile", "mayo", "juni", "Juli", "août", "settembre", "Okt.", "nov", "Dez"]
    for text in (
        day.isoformat(),
        f"{day.day}.{day.month}.{day.year}",
        f"{day.day}. {months[day.month - 1]} {day.year}",
        f"Wien, den {day.day}. {months[day.month - 1]} {day.year}",
    ):
        assert date_value(text) == day.isoformat()


@settings(max_examples=examples(200), deadline=None)
@given(st.text(alphabet="0123456789.-/ ,abdenmärzVIX°T:Z²٣", max_size=30) | st.text(max_size=30))
def test_no_text_makes_a_date_raise(text: str) -> None:
    value = date_value(text, 19)
    assert value is None or value[:4].isdecimal()


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=30))
def test_name_keys_do_not_see_case_or_order(name: str) -> None:
    key = name_key(name)
    assert list(key) == sorted(key)
    assert name_key(f"  {name}  ") == key
    assert name_key(name.casefold()) == key
    words = name.split()
    assert name_key(" ".join(reversed(words))) == key


@pytest.mark.parametrize(
    ("value", "bare"),
    [
        ("<<A>>", ("A", "correspondence")),
        ("<A>", ("A", "function")),
        (" << A >> ", ("A", "correspondence")),
        ("<A", ("<A", "")),
        ("A>", ("A>", "")),
        ("<A>>", ("A>", "function")),
        ("<>", ("", "function")),
        ("<", ("<", "")),
        ("<<>", ("<", "function")),
        ("", ("", "")),
    ],
)
def test_markers(value: str, bare: tuple[str, str]) -> None:
    assert bare_name(value) == bare


def test_a_form_that_half_the_list_shares_costs_no_square() -> None:
    entries = [AuthorityEntry(f"Name {number}", ("Herr",)) for number in range(20_000)]
    matcher = NameMatcher(entries, profile=True)
    match = matcher.match("herr", {}, {})
    assert match.code == "elsewhere"
    assert match.why.endswith("or 19997 more, none of them in this letter and role")
