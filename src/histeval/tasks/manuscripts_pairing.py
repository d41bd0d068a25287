"""Which text of an answer is compared with which text of the ground truth of a page."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from histeval.tasks.manuscripts_reading import ADDITION, Entry
from histeval.tasks.reading import as_text
from histeval.tasks.truth import PageTruth
from histeval.text import fuzzy_ratio

MOST_ADDITIONS = 9
"""The published code looks for addition1 to addition9."""
MOST_COMPARISONS = 2500
"""So many pairs of texts are compared at most to find the best ones; beyond, what is left is paired in order."""

_FOLIO = re.compile(r"(\d+)\s*([rv]?)", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Text:
    """A text to score: its name (`[3r]/addition1`; what only the answer has begins with `+`), its kind (`folio`,
    `text`, `additions`), both sides ("" for none), and whether the answer had an entry at all.

    `answer` is a text, or whatever else a model put there and the published reading keeps."""

    name: str
    kind: str
    truth: str
    answer: Any
    matched: bool = True


def texts_of(
    truth: PageTruth, entries: Sequence[Entry | None], by_folio: bool, all_of_answer: bool
) -> tuple[list[Text], list[str]]:
    """All texts of a page, in order, and the names of what only the answer has and is not scored.

    `by_folio` pairs entries by folio number, then content, and additions as a set; else both go by position and key.
    `all_of_answer` takes what the ground truth has no key for as well.
    """
    folios = _numbered(truth.folios) if by_folio else _first_of_each(truth.folios)
    pairs, surplus = _pair_by_folio(folios, entries) if by_folio else _pair_by_position(folios, entries)
    texts: list[Text] = []
    extra: list[Text] = []
    for (ref, fields), entry in pairs:
        matched = entry is not None
        answer = entry or {}
        for key in ("folio", "text"):
            texts.append(Text(f"{ref}/{key}", key, content(fields.get(key)), content(answer.get(key)), matched))
        keys = addition_keys(fields) if by_folio or all_of_answer else keys_in_a_row(fields)
        if by_folio:
            found = {key: content(answer[key]) for key in addition_keys(answer)}
            found = {key: value for key, value in found.items() if value != ""}
            chosen = _best_additions({key: content(fields[key]) for key in keys}, found)
        else:
            chosen = {key: key for key in keys if key in answer}
        for key in keys:
            value = content(answer.get(chosen.get(key, "")))
            texts.append(Text(f"{ref}/{key}", "additions", content(fields[key]), value, matched))
        used = set(chosen.values())
        for key in addition_keys(answer):
            value = content(answer[key])
            if key not in used and value != "":
                extra.append(Text(f"{ref}/+{key}", "additions", "", value))
    for number, entry in surplus:
        for key in ("folio", "text", *addition_keys(entry)):
            value = content(entry.get(key))
            if value != "":
                extra.append(Text(f"+{number}/{key}", key if key in ("folio", "text") else "additions", "", value))
    if all_of_answer:
        return texts + extra, []
    return texts, [text.name for text in extra]


def content(value: Any) -> Any:
    """A value, "" where it is null, absent or only white space."""
    return "" if value is None or (isinstance(value, str) and not value.strip()) else value


def keys_in_a_row(fields: Mapping[str, Any]) -> list[str]:
    """addition1, addition2 ... up to the first that the ground truth does not have, nine at most."""
    keys = []
    for number in range(1, MOST_ADDITIONS + 1):
        if f"addition{number}" not in fields:
            break
        keys.append(f"addition{number}")
    return keys


def addition_keys(fields: Mapping[str, Any]) -> list[str]:
    """All additions by number."""
    return sorted((key for key in fields if ADDITION.fullmatch(str(key))), key=lambda key: (int(key[8:]), key))


Folio = tuple[str, Mapping[str, str]]
Pairs = list[tuple[Folio, "Entry | None"]]
Surplus = list[tuple[int, Entry]]


def _first_of_each(folios: Sequence[Folio]) -> list[Folio]:
    """References sorted as text ("[10r]" before "[9v]"), of each the first entry."""
    first: dict[str, Mapping[str, str]] = {}
    for ref, fields in folios:
        first.setdefault(ref, fields)
    return sorted(first.items())


def _numbered(folios: Sequence[Folio]) -> list[Folio]:
    """References in natural order; one that comes again gets a number."""
    seen: dict[str, int] = {}
    named = []
    for ref, fields in sorted(folios, key=lambda folio: _natural(folio[0])):
        seen[ref] = seen.get(ref, 0) + 1
        named.append((ref if seen[ref] == 1 else f"{ref}#{seen[ref]}", fields))
    return named


def _natural(text: str) -> list[tuple[int, int | str]]:
    return [(0, int(part)) if part.isdecimal() else (1, part) for part in re.split(r"(\d{1,18})", text) if part]


def _pair_by_position(folios: Sequence[Folio], entries: Sequence[Entry | None]) -> tuple[Pairs, Surplus]:
    pairs: Pairs = [(folio, entries[i] if i < len(entries) else None) for i, folio in enumerate(folios)]
    surplus: Surplus = []
    for number, entry in enumerate(entries[len(folios) :], start=len(folios) + 1):
        if entry is not None:
            surplus.append((number, entry))
    return pairs, surplus


def _pair_by_folio(folios: Sequence[Folio], entries: Sequence[Entry | None]) -> tuple[Pairs, Surplus]:
    numbered: Surplus = [(number, entry) for number, entry in enumerate(entries, start=1) if entry is not None]

    wanted = [_all_of(fields) for _, fields in folios]
    given = [_all_of(entry) for _, entry in numbered]

    def likeness(i: int, j: int) -> tuple[int, float]:
        (ref, fields), (_, entry) = folios[i], numbered[j]
        same = same_folio(ref, content(fields.get("folio")), content(entry.get("folio")))
        return same, _similar(wanted[i], given[j])

    chosen = best_pairs(len(folios), len(numbered), likeness)
    pairs: Pairs = [(folio, numbered[chosen[i]][1] if i in chosen else None) for i, folio in enumerate(folios)]
    used = set(chosen.values())
    return pairs, [entry for j, entry in enumerate(numbered) if j not in used]


def _all_of(fields: Mapping[str, Any]) -> str:
    """Main text and additions together."""
    values = [content(fields.get(key)) for key in ("text", *addition_keys(fields))]
    return "\n".join(value for value in values if isinstance(value, str) and value)


def same_folio(ref: str, folio: str, answer: Any) -> int:
    """How well the folio that an answer names is the one of the ground truth: 2 where it is the same text, 1 where
    it is the same number and not the other side, else 0.

    >>> same_folio("[3r]", "3", "3"), same_folio("[3r]", "3", "fol. 3r"), same_folio("[3r]", "3", "3v")
    (2, 1, 0)
    >>> same_folio("[4v]", "", "4v"), same_folio("[4v]", "", "")
    (1, 0)
    """
    words = as_text(answer).strip() if isinstance(answer, str | int | float) else ""
    if not words:
        return 0
    if words == folio.strip():
        return 2
    found = _FOLIO.search(words)
    for text in (ref, folio):
        wanted = _FOLIO.search(text)
        if wanted and found and wanted.group(1).lstrip("0") == found.group(1).lstrip("0"):
            sides = {side.lower() for side in (wanted.group(2), found.group(2)) if side}
            return 1 if len(sides) < 2 else 0
    return 0


def best_pairs(left: int, right: int, likeness: Callable[[int, int], Any]) -> dict[int, int]:
    """Pairs of two rows of things: the likest first, then the next likest of what is left, until one row is used up;
    of equals the first. Where there are too many to compare, what is left is paired in order."""
    compared = [(i, j) for i in range(left) for j in range(right)] if left * right <= MOST_COMPARISONS else []
    if left == 1 and right == 1:
        return {0: 0}
    if not compared:
        return {i: i for i in range(min(left, right))}
    chosen: dict[int, int] = {}
    used: set[int] = set()
    for i, j in sorted(compared, key=lambda pair: likeness(*pair), reverse=True):
        if i not in chosen and j not in used:
            chosen[i] = j
            used.add(j)
    return chosen


def _best_additions(truth: Mapping[str, str], found: Mapping[str, Any]) -> dict[str, str]:
    """Which addition of the answer goes with which of the ground truth, by key, as sets. Empty ones pair with none."""
    wanted = [key for key in truth if truth[key] != ""]
    given = list(found)
    chosen = best_pairs(len(wanted), len(given), lambda i, j: _similar(truth[wanted[i]], found[given[j]]))
    return {wanted[i]: given[j] for i, j in chosen.items()}


def _similar(a: Any, b: Any) -> float:
    return fuzzy_ratio(a, b) if isinstance(a, str) and isinstance(b, str) and a and b else 0.0
