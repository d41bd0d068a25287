"""A few rules that find date, senders and receivers in the recognised text of a letter, in German, French and English.

They are a floor to compare models with, no more: they know how letters are laid out, and nothing of what they say.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from rapidfuzz import fuzz, process

from histeval.tasks.dates import century_of, date_value
from histeval.tasks.description import AuthorityEntry

Lines = Sequence[str]

MONTHS = (
    "januar", "jänner", "februar", "märz", "april", "mai", "juni", "juli", "august", "september", "oktober", "november",
    "dezember", "janvier", "février", "mars", "avril", "juin", "juillet", "août", "septembre", "octobre", "novembre",
    "décembre", "january", "february", "march", "may", "june", "july", "october", "december",
)  # fmt: skip

_WORDED = re.compile(
    r"\b(\d{1,2})\s*(?:\.|st\b|nd\b|rd\b|th\b|er\b|ten\b)?\s*([^\W\d_]{3,10})\s*\.?\s*,?\s*(?:de\s+)?(\d{4}|\d{2})\b"
)
_MONTH_FIRST = re.compile(r"\b([^\W\d_]{3,10})\.?\s+(\d{1,2})(?:st|nd|rd|th)?\s*,?\s+(\d{4})\b")
_NUMBERS = re.compile(r"\b(\d{1,2})\s*[./]\s*(\d{1,2}|[IVX]{1,4})\s*[./]\s*(\d{4}|\d{2})\b")
_ISO = re.compile(r"\b\d{4}-\d{2}-\d{2}\b")

_SALUTATION = re.compile(
    r"^\W*(?:(?:sehr\s+)?(?:hoch)?(?:ge|ver)ehrte[rns]?\b|hochgeschätzte|liebe[rs]?\b|werte[rs]?\b|tit\.?|p\.\s?p\."
    r"|monsieur\b|madame\b|messieurs\b|chère?s?\b|dear\b|(?:my\s+)?dear\s+sir|sirs?\b|gentlemen\b)",
    re.IGNORECASE,
)
_ADDRESS = re.compile(
    r"^\W*(?:an\s+)?(?:(?:sr\.\s*)?(?:herrn?|herren|frau|frl|fräulein|tit|titl)\b|monsieur|madame|mademoiselle|messieurs"
    r"|m\.|mm\.|mme|mlle|mr|mrs|miss|messrs|esq)",
    re.IGNORECASE,
)
_ADDRESS_ONLY = re.compile(
    r"\W*(?:an\s+)?(?:herrn?|herren|frau|fräulein|monsieur|madame|messieurs|mr|mrs|messrs|tit|titl)\W*", re.IGNORECASE
)
_CLOSING = re.compile(
    r"hochachtung|ergebenst|mit\s+\w+en\s+gr[uü](?:ss|ß)|freundliche\w*\s+gr[uü](?:ss|ß)|gr[uü](?:ss|ß)en?d\b|veuillez\s+agr"
    r"|salutations|sentiments\s+(?:distingu|respectu)|yours\s|(?:very\s+)?truly|sincerely|faithfully",
    re.IGNORECASE,
)
_BODY = re.compile(
    r"\b(?:a\.?-?\s?g\.?|aktiengesellschaft|gesellschaft|g\.?m\.?b\.?h|& c[oi]|s\.?a\.?|soci[ée]t[ée]|compagnie|comp"
    r"|limited|ltd|company|verein|verband|bank|amt|departement|werke?|direktion|kommission|kanzlei)\b",
    re.IGNORECASE,
)
_NAME = re.compile(r"(?:[^\W\d_][\w.'’-]*\s+){0,3}[^\W\d_][\w'’-]{2,}")
_TITLE = re.compile(r"^\W*(?:betr(?:eff|ifft)?|concerne|objet|re|subject)\b\s*[.:]+\s*(.+)", re.IGNORECASE)

_GREETING = re.compile(r"^(?:sehr\s+)?(?:\w*geehrter?|lieber?|dear)\s+(?:herrn?|frau|mr\.?|mrs\.?)\s+", re.IGNORECASE)

ALIKE = 88.0
"""How alike (rapidfuzz partial ratio) a form of a name and a stretch of recognised text must be."""
SHORTEST_FORM = 6


def extract(pages: Sequence[Lines], persons: Sequence[AuthorityEntry] = (), period: str = "") -> dict[str, list[str]]:
    """What the rules find on the pages of a letter: `send_date`, `sender_persons`, `receiver_persons`, `letter_title`.

    >>> page = ["Firma Muster & Co.", "Basel, den 16. Februar 1926", "Herrn Paul Christ", "Sehr geehrter Herr Christ,",
    ...         "wir danken Ihnen.", "Hochachtungsvoll", "Fritz Ritter"]
    >>> found = extract([page], period="1926-1935")
    >>> found["send_date"], found["sender_persons"], found["receiver_persons"]
    (['1926-02-16'], ['Fritz Ritter'], ['Paul Christ'])
    """
    lines = [[" ".join(line.split()) for line in page if line.strip()] for page in pages]
    first = lines[0] if lines else []
    flat = [line for page in lines for line in page]
    dates = list(find_dates(flat, century_of(period)))
    inside = [date for date in dates if _inside(date, period)]
    title = next((match.group(1).strip(' ."”') for line in first if (match := _TITLE.match(line))), None)
    return {
        "send_date": (inside or dates)[:1],
        "sender_persons": _persons(signature_block(flat), persons),
        "receiver_persons": _persons(address_block(first), persons),
        "letter_title": [title] if title else [],
    }


def find_dates(lines: Lines, century: int | None = None) -> Iterator[str]:
    """Whole dates in the lines, as ISO text, in order; misread month names are mended.

    >>> list(find_dates(["Basel, den 16. Febrnar 1926", "le 1er août 1927, 14. VIII. 26", "March 3rd, 1928"], 19))
    ['1926-02-16', '1927-08-01', '1926-08-14', '1928-03-03']
    """
    for line in lines:
        found: list[tuple[int, str]] = []
        for match in _WORDED.finditer(line):
            day, word, year = match.groups()
            found.append((match.start(), f"{day}. {_month(word)} {year}"))
        for match in _MONTH_FIRST.finditer(line):
            word, day, year = match.groups()
            found.append((match.start(), f"{day}. {_month(word)} {year}"))
        for match in _NUMBERS.finditer(line):
            day, month, year = match.groups()
            found.append((match.start(), f"{day}.{month}.{year}" if month.isdigit() else f"{day}. {month}. {year}"))
        found.extend((match.start(), match.group()) for match in _ISO.finditer(line))
        for words in dict(sorted(found)).values():  # one reading of each place
            value = date_value(words, century)
            if value and len(value) == 10:
                yield value


def address_block(lines: Lines) -> list[str]:
    """Who is written to: lines of address before the salutation, and the salutation itself."""
    for place, line in enumerate(lines):
        if _SALUTATION.match(line) and not _ADDRESS_ONLY.fullmatch(line) and place > 0:
            before, salutation = lines[:place], [line]
            break
    else:
        before, salutation = lines[: max(8, len(lines) // 3)], []
    block = []
    for place, line in enumerate(before):
        if _ADDRESS_ONLY.fullmatch(line) and place + 1 < len(before):
            block.append(f"{line} {before[place + 1]}")
        elif _ADDRESS.match(line):
            block.append(line)
    return block or salutation


def signature_block(lines: Lines) -> list[str]:
    """Who signs: up to eight lines after the last closing phrase; nothing where there is none."""
    closing = [place for place, line in enumerate(lines) if _CLOSING.search(line)]
    return list(lines[closing[-1] + 1 : closing[-1] + 9]) if closing else []


def _persons(block: Lines, persons: Sequence[AuthorityEntry]) -> list[str]:
    """Persons of the authority list that the lines name; where there is none, what looks like a name."""
    text = _fold(" ".join(block))
    if not text:
        return []
    known = []
    for person in persons:
        last, comma, first = person.name.partition(",")
        turned = [f"{first} {last}"] if comma else []
        names = (person.name, *turned, *person.alternate_names)
        forms = [form for form in names if len(form.strip()) >= SHORTEST_FORM]
        if any(fuzz.partial_ratio(_fold(form), text) >= ALIKE for form in forms if len(form) <= len(text) + 2):
            known.append(person.name)
    return known or _names(block)


def _names(block: Lines) -> list[str]:
    found = []
    for line in block:
        words = _ADDRESS.sub("", line).strip(" .,:;|-_*“”\"'")
        words = re.sub(
            r"^(?:sehr\s+)?(?:\w*geehrter?|lieber?|dear)\s+(?:herrn?|frau|mr\.?|mrs\.?)\s+", "", words, flags=re.I
        )
        match = _NAME.fullmatch(words)
        capitals = [word for word in words.split() if word[:1].isupper()]
        if match and not _BODY.search(words) and len(capitals) >= 2 and len(words) <= 40:
            found.append(words)
    return list(dict.fromkeys(found))[:4]


def _month(word: str) -> str:
    """A month's name that was misread a little, as it should be; other words stay."""
    if date_value(f"1. {word} 2000"):
        return word
    best = process.extractOne(word.lower(), MONTHS, scorer=fuzz.ratio, score_cutoff=72)
    return best[0] if best else word


def _inside(date: str, period: str) -> bool:
    years = [int(year) for year in re.findall(r"\b\d{4}\b", period)]
    return not years or min(years) <= int(date[:4]) <= max(years)


def _fold(text: str) -> str:
    return " ".join(re.sub(r"[^\w\s]", " ", text.casefold()).split())


def as_record(found: Mapping[str, list[str]], fields: Sequence[str]) -> dict[str, dict[str, list[str]]]:
    """The record of the letters task, with every field that is asked for.

    >>> as_record({"send_date": ["1926-02-16"]}, ["send_date", "sender_persons"])
    {'metadata': {'send_date': ['1926-02-16'], 'sender_persons': []}}
    """
    return {"metadata": {name: list(found.get(name, [])) for name in fields}}
