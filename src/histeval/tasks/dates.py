"""Dates as people write them in letters, brought to one value so that they can be compared."""

from __future__ import annotations

import re
import unicodedata
from datetime import date
from functools import lru_cache

# Month names by their beginning, since they are shortened and inflected: German, English, French, Italian, Spanish,
# Dutch, Latin. The longest beginning that fits decides (mai before ma, juil before jui).
_MONTHS = {
    1: "jan jän gen janv ene enero gennaio ianuar",
    2: "feb fév fev febr février febbraio febrero",
    3: "mär maer mar mrz mars march märz marzo maart mrt martii",
    4: "apr avr abr avril aprile abril",
    5: "mai may mag maggio mayo mei maii",
    6: "jun juin giu giugno junio juni",
    7: "jul juil lug luglio julio juli quint",
    8: "aug aoû aou ago août agosto",
    9: "sep sept set settembre",
    10: "okt oct ott ottobre octobre",
    11: "nov",
    12: "dez dec déc dic dicembre diciembre",
}
_ROMAN = dict(i=1, ii=2, iii=3, iv=4, v=5, vi=6, vii=7, viii=8, ix=9, x=10, xi=11, xii=12)  # noqa: C408 (shorter)

_ISO = re.compile(
    r"(\d{4})(?:-(\d{1,2})(?:-(\d{1,2}))?)?"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2})?(?:\.\d+)?(?:Z|[+-]\d{2}:?\d{2})?)?"
)
LONGEST = 200
"""Longer texts are no dates."""

_PACKED = re.compile(r"(\d{4})(\d{2})(\d{2})")
_NUMBERS = re.compile(r"(\d{1,2})\s*[./-]\s*(\d{1,2})\s*[./-]\s*(\d{4}|\d{2})\.?")
_DAY_FIRST = re.compile(
    r"(?:(\d{1,2})\s*(?:\.|st|nd|rd|th|er|º|°|ten)?,?\s*(?:of\s+|de\s+)?)?"
    r"([^\W\d_]+)\.?,?\s*(?:de\s+)?(\d{4}|\d{2})\.?"
)
_MONTH_FIRST = re.compile(r"([^\W\d_]+)\.?\s+(\d{1,2})(?:st|nd|rd|th)?,?\s+(\d{4})\.?")
_BEFORE_DAY = re.compile(r"\D{0,80}(?:,|\b(?:den|dem|le|the|il|el|am|on))\s*", re.IGNORECASE)
"""What may stand before the day: a place, an article."""


def date_value(text: str, century: int | None = None) -> str | None:
    """The date a text says, as `YYYY-MM-DD`, or `YYYY-MM` or `YYYY` where it says no more; None if it says none.

    Numbers are read day first unless only month first is possible. A year of two digits is read in `century` (19 for
    1900 to 1999) and not read without one. A place before the date is passed over.

    >>> date_value("16. Februar 1926"), date_value("16.02.1926"), date_value("Basel, den 16. Feb. 1926")
    ('1926-02-16', '1926-02-16', '1926-02-16')
    >>> date_value("14. VIII. 26", century=19), date_value("14. VIII. 26"), date_value("May 1988")
    ('1926-08-14', None, '1988-05')
    """
    return _date_value(text, century) if len(text) <= LONGEST else None


@lru_cache(maxsize=4096)
def _date_value(text: str, century: int | None) -> str | None:
    words = unicodedata.normalize("NFC", " ".join(text.split())).strip(" .,;")
    digit = re.search(r"\d", words)
    if digit is None:
        return None
    candidates = [words, words[: digit.start()].rpartition(",")[2].strip() + " " + words[digit.start() :]]
    if _BEFORE_DAY.fullmatch(words, 0, digit.start()):
        candidates.append(words[digit.start() :])
    for candidate in candidates:
        found = _read(candidate.strip(), century)
        if found:
            return found
    return None


def century_of(period: str) -> int | None:
    """The century (19 for 1900 to 1999) that all years named in a period share, or None.

    >>> century_of("1926-1935"), century_of("1890-1910")
    (19, None)
    """
    centuries = {year[:2] for year in re.findall(r"\b\d{4}\b", period)}
    return int(next(iter(centuries))) if len(centuries) == 1 else None


def _read(words: str, century: int | None) -> str | None:
    if match := _ISO.fullmatch(words) or _PACKED.fullmatch(words):
        return _value(*(None if part is None else int(part) for part in match.groups()))
    if match := _NUMBERS.fullmatch(words):
        first, second, year = (int(part) for part in match.groups())
        if second > 12 >= first:
            first, second = second, first
        return _value(_year(match.group(3), century) if year < 100 else year, second, first)
    if match := _DAY_FIRST.fullmatch(words):
        day, word, year_text = match.groups()
        month = _month(word)
        if month is None or (day is None and len(year_text) != 4):
            return None
        return _value(_year(year_text, century), month, None if day is None else int(day))
    if match := _MONTH_FIRST.fullmatch(words):
        return _value(int(match.group(3)), _month(match.group(1)), int(match.group(2)))
    return None


def _year(text: str, century: int | None) -> int | None:
    if len(text) == 4:
        return int(text)
    return None if century is None else century * 100 + int(text)


def _month(word: str) -> int | None:
    word = word.casefold()
    if word in _ROMAN:
        return _ROMAN[word]
    best, number = 0, None
    for month, beginnings in _MONTHS.items():
        for beginning in beginnings.split():
            if word.startswith(beginning) and len(beginning) > best:
                best, number = len(beginning), month
    return number


def _value(year: int | None, month: int | None = None, day: int | None = None) -> str | None:
    if year is None or year < 1 or (month is None and day is not None):
        return None
    if month is None:
        return f"{year:04d}"
    if not 1 <= month <= 12:
        return None
    if day is None:
        return f"{year:04d}-{month:02d}"
    try:
        return date(year, month, day).isoformat()
    except ValueError:
        # the Julian calendar has leap days that the Gregorian has not
        return f"{year:04d}-02-29" if (month, day) == (2, 29) and year % 4 == 0 else None
