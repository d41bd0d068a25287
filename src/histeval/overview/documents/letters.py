"""The view of a letter: each field with the names of both sides, and why each counted or not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from histeval.datasets.base import Document
from histeval.overview.documents.views import View, short
from histeval.tasks.base import DocumentScore, Reading, Scorer
from histeval.tasks.description import AuthorityEntry, Context
from histeval.tasks.names import bare_name, name_key
from histeval.text import diff, fuzzy_ratio

WORDS = {
    "canonical": "as in the ground truth",
    "alias": "a listed form",
    "profile": "the same, written otherwise",
    "inferred": "only inferred in the ground truth",
    "elsewhere": "another entry of the authority file",
    "unknown": "in no entry of the authority file",
    "duplicate": "named twice",
    "empty": "stands for no name",
    "left_out": "left out",
    "wrong": "wrong",
    "invented": "invented",
    "missed": "missed",
    "not_asked": "not asked for",
}
"""The codes of the scorer's reasons in words."""
MARKS = {"tp": "right", "fp": "wrong", "fn": "missed", "": "neutral"}
ALIKE = 0.5
"""From this similarity on a wrong name is set beside the missed one that it resembles most."""
MOST_ROWS = 200
MOST_FORMS = 60


def view(scorer: Scorer, document: Document, row: DocumentScore, reading: Reading) -> View:
    """Fields in the order of the description; in each, rows of (expected, found, what it counts, why)."""
    titles = {field.name: field.title or field.name.replace("_", " ") for field in _fields(scorer)}
    dates = {field.name for field in _fields(scorer) if field.kind == "date"}
    headline = set(getattr(scorer, "headline_fields", ()))
    fields = []
    for name, shown in row.fields.items():
        rows = _rows(shown, scorer.context, name in dates)
        if not rows and name not in headline:
            continue
        fields.append(
            {
                "name": name,
                "title": titles.get(name, name),
                "headline": name in headline,
                "counts": [shown["tp"], shown["fp"], shown["fn"]],
                "rows": rows[:MOST_ROWS],
                **({"more": len(rows) - MOST_ROWS} if len(rows) > MOST_ROWS else {}),
            }
        )
    return {"fields": fields}


def truth(document: Document, context: Context) -> list[dict[str, Any]]:
    """The ground truth by field, for the page without script: values, how they were inferred, other forms listed."""
    known = {field.name: field for field in context.description.fields}
    found = []
    for name, values in document.truth.fields.items():
        field = known.get(name)
        entries = context.authorities.get(field.authority, ()) if field and field.authority else ()
        shown = []
        for value in values:
            bare, how = (value, "") if field and field.kind == "date" else bare_name(value)
            if bare not in ("None", ""):
                shown.append({"name": short(bare), "inferred": how, "forms": _forms(bare, entries)})
        title = (field.title if field else "") or name.replace("_", " ")
        found.append({"name": name, "title": title, "values": shown})
    return found


def _forms(name: str, entries: Sequence[AuthorityEntry]) -> list[str]:
    forms = [form for entry in entries if entry.name == name for form in entry.alternate_names if form != name]
    kept = [short(form) for form in dict.fromkeys(forms)]
    return kept if len(kept) <= MOST_FORMS else [*kept[:MOST_FORMS], f"and {len(kept) - MOST_FORMS} more"]


def _fields(scorer: Scorer) -> Sequence[Any]:
    fields: Sequence[Any] = getattr(scorer, "fields", scorer.context.description.fields)
    return fields


def _rows(shown: dict[str, Any], context: Context, date: bool) -> list[dict[str, Any]]:
    """One row for every reason; a wrong name shares one with the missed name it resembles, a date always."""
    reasons = list(shown["reasons"])
    missed = [reason for reason in reasons if reason["counts"] == "fn"]
    open_names = [name for name in shown["expected"] if name not in {reason["name"] for reason in missed}]
    partners = _partners([reason for reason in reasons if reason["counts"] == "fp"], missed, date)
    rows: list[dict[str, Any]] = []
    hits = [reason for reason in reasons if reason["counts"] == "tp"]
    for reason in hits:
        expected = _expected_of(reason["name"], open_names, context)
        if expected in open_names:
            open_names.remove(expected)
        rows.append(_row("right", expected, reason["name"], reason))
    for reason in reasons:
        if reason["counts"] == "tp" or id(reason) in partners.values():
            continue
        if reason["counts"] == "fp":
            partner = next((one for one in missed if partners.get(id(reason)) == id(one)), None)
            rows.append(_row("wrong", partner["name"] if partner else None, reason["name"], reason, partner))
        elif reason["side"] == "expected":
            rows.append(_row(MARKS[reason["counts"]], reason["name"], None, reason))
        else:
            rows.append(_row("neutral", None, reason["name"], reason))
    return rows


def _row(
    mark: str, expected: str | None, found: str | None, reason: dict[str, str], partner: dict[str, str] | None = None
) -> dict[str, Any]:
    code, why = reason["code"], reason["why"]
    word = WORDS.get(code, code)
    if code == "wrong":
        word, why = "another value", ""
    elif code == "unknown":
        word, why = (word if "authority" in why else "not in the ground truth"), ""
    elif code in ("missed", "empty"):
        why = ""
    elif code in ("alias", "profile") and expected and ";" not in why:
        why = ""  # the other column says of whom
    row: dict[str, Any] = {
        "mark": mark,
        "counts": [*([reason["counts"].upper()] if reason["counts"] else []), *(["FN"] if partner else [])],
        "expected": None if expected is None else short(expected),
        "found": None if found is None else short(found),
        "label": word,
        "why": short(why),
    }
    if partner and expected and found and max(len(expected), len(found)) < 300:
        pieces = diff(expected, found)
        parts = [part for piece in pieces for part in (piece.parts or (piece,))]
        # Where next to nothing is the same, marks on every letter would only disturb.
        if sum(len(part.reference) for part in parts if part.tag == "equal") * 2 >= min(len(expected), len(found)):
            row["diff"] = [
                [short(part.reference), short(part.hypothesis), "" if part.tag == "equal" else "x"] for part in parts
            ]
    return row


def _partners(wrong: Sequence[dict[str, str]], missed: Sequence[dict[str, str]], date: bool) -> dict[int, int]:
    """By id of a wrong reason the id of the missed one it goes with; each once, the likest first."""
    if date:
        return {id(one): id(other) for one, other in zip(wrong, missed, strict=False)}
    if len(wrong) * len(missed) > 2500:
        return {}
    likeness = [(_alike(one["name"], other["name"]), id(one), id(other)) for one in wrong for other in missed]
    chosen: dict[int, int] = {}
    for value, one, other in sorted(likeness, key=lambda item: -item[0]):
        if value >= ALIKE and one not in chosen and other not in chosen.values():
            chosen[one] = other
    return chosen


def _alike(one: str, other: str) -> float:
    return max(fuzzy_ratio(one[:200], other[:200]), fuzzy_ratio(*(" ".join(name_key(x[:200])) for x in (one, other))))


def _expected_of(found: str, expected: Sequence[str], context: Context) -> str | None:
    """The name of the ground truth that a hit counts as: itself, the entry it is a form of, else the likest."""
    if found in expected or not expected:
        return found if found in expected else None
    for entries in context.authorities.values():
        for entry in entries:
            if entry.name in expected and found in entry.alternate_names:
                return entry.name
    return max(expected, key=lambda name: _alike(found, name))
