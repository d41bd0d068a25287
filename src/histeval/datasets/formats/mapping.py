"""What the columns of a table of letters are: by a mapping that was given, else by their headings and content."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from histeval.datasets.formats import headings
from histeval.datasets.formats.base import Options
from histeval.datasets.importing import ATTRIBUTES
from histeval.datasets.published import optional_fields, published_fields
from histeval.datasets.tables import Table
from histeval.errors import DatasetError, UsageError
from histeval.tasks.dates import date_value
from histeval.tasks.description import KINDS, Field

PUBLISHED_ID = "document_number"
"""The column by which the published layout is known."""
_MANY = ("person", "organisation", "place", "list")


@dataclass
class Column:
    """A column that becomes a field: the field, the heading, what separates values in a cell (empty: nothing), and the
    heading of the column with the identifiers of its values."""

    field: Field
    heading: str
    separator: str
    identifiers: str = ""


@dataclass
class Mapped:
    """What the columns of a table are: the id (empty: the row's number), fields, attributes, the column that says
    whether a letter is signed, and the headings that are not read."""

    id: str
    prefix: str
    columns: list[Column]
    attributes: dict[str, str]
    signed: str
    left_out: list[str]


def map_columns(table: Table, options: Options) -> Mapped:
    """What each column of a table is; raises DatasetError where the mapping names one that there is not."""
    known = {item.name: item for item in (*published_fields(), *optional_fields())}
    published = PUBLISHED_ID in table.columns and not options.get("id")
    asked = _asked(options)
    used: dict[str, str] = {}
    columns: list[Column] = []
    default = str(options.get("separator", ""))
    for name, wish in asked.items():
        heading = str(wish.get("column") or _heading_of(wish["field"], table, used))
        if not heading:
            continue
        if heading not in table.columns:
            remedy = f"Its columns are {', '.join(table.columns)[:300]}"
            raise DatasetError(f"has no column {heading[:80]!r}", file=table.path, item=f"field {name}", remedy=remedy)
        used[heading] = name
        field = wish["field"] if isinstance(wish.get("field"), Field) else _field(name, wish, known, heading)
        columns.append(Column(field, heading, str(wish.get("separator", default)), str(wish.get("identifiers", ""))))
    used.update({column.identifiers: "" for column in columns if column.identifiers})
    identifier = _heading(table, options, "id", headings.IDS, used)
    signed = _heading(table, options, "signed", _signed_words(table), used)
    attributes = _attribute_columns(table, options, {*used, identifier, signed})
    rest = [h for h in table.columns if h and h not in {*used, *attributes.values(), identifier, signed}]
    others = options.get("others", "leave_out" if options.get("fields") else "keep")
    if others not in ("keep", "leave_out"):
        raise UsageError(f"the option others takes keep or leave_out, not {others!r}")
    left_out = [
        heading
        for heading in rest
        if others == "leave_out"
        or heading == "transkribus_id"
        or (not published and headings.holds_identifiers(heading))
    ]
    taken = {column.field.name for column in columns}
    for heading in rest:
        if heading in left_out:
            continue
        named = heading if published or heading in known else headings.field_for(heading)
        if named is None or named in taken:
            named = headings.field_name(heading)
        if not re.fullmatch(r"[^\W\d]\w*", named) or named in taken:
            left_out.append(heading)
            continue
        taken.add(named)
        columns.append(Column(known.get(named) or _guessed(named, heading, table), heading, default))
    prefix = str(options.get("prefix", "letter" if identifier == PUBLISHED_ID else ""))
    for column in columns:
        column.separator = column.separator or _separator(column, table, published)
    return Mapped(identifier, prefix, columns, attributes, signed, left_out)


def _asked(options: Options) -> dict[str, dict[str, Any]]:
    """The mapping that was given: by field the heading, and what is said beside it."""
    found: dict[str, dict[str, Any]] = {}
    for item in options.get("fields") or ():
        headings_of = options.get("field_columns") or {}
        if isinstance(item, Field):
            found[item.name] = {"column": headings_of.get(item.name, ""), "field": item}
    given = options.get("columns") or {}
    if isinstance(given, str):
        pairs = [pair.partition("=") for pair in given.split(",") if pair.strip()]
        given = {name.strip(): heading.strip() for name, _, heading in pairs}
    if not isinstance(given, dict):
        raise UsageError('the option columns is a table from field to heading: send_date = "Datum"')
    for name, wish in given.items():
        if not re.fullmatch(r"[^\W\d]\w*", str(name)):
            raise UsageError(f"the option columns names the field {str(name)[:80]!r}; use letters, digits and _")
        if not isinstance(wish, str | dict):
            raise UsageError(f"the option columns.{name} takes a heading, or a table with column, kind and authority")
        found[name] = {"column": wish} if isinstance(wish, str) else {"column": name, **wish}
    return found


def _heading_of(field: Field, table: Table, used: Mapping[str, str]) -> str:
    """The column of a field for which none is named: the one called like it or its title; empty where there is none."""
    for heading in table.columns:
        names = (headings.field_for(heading), headings.field_name(heading), heading)
        if heading not in used and (field.name in names or (field.title and field.title == heading)):
            return heading
    return ""


def _field(name: str, wish: Mapping[str, Any], known: Mapping[str, Field], heading: str) -> Field:
    field = known.get(name) or Field(name, headings.kind_for(heading) or "text")
    kind = str(wish.get("kind", field.kind))
    if kind not in KINDS:
        raise UsageError(f"the option columns.{name} has the kind {kind[:40]!r}; there are {', '.join(KINDS)}")
    authority = str(wish["authority"]) if wish.get("authority") else field.authority
    return replace(field, kind=kind, authority=authority, title=field.title or heading)


def _heading(table: Table, options: Options, option: str, words: Sequence[str], used: Mapping[str, str]) -> str:
    """The heading of a column by option, else by its usual names; empty where there is none."""
    asked = str(options.get(option, ""))
    if asked:
        if asked not in table.columns:
            remedy = f"Its columns are {', '.join(table.columns)[:300]}"
            raise DatasetError(f"has no column {asked[:80]!r}", file=table.path, item=option, remedy=remedy)
        return asked
    by_word = {headings.folded(name): name for name in reversed(table.columns) if name not in used}
    return next((by_word[word] for word in words if word in by_word), "")


def _signed_words(table: Table) -> tuple[str, ...]:
    """The words for the column that says whether a letter is signed, as far as what stands below them fits: `signature`
    may be a shelfmark, `Firma` a company."""
    sure = headings.SIGNED[:4]
    fitting = []
    for heading in table.columns:
        cells = [cell for row in table.rows if (cell := row.get(heading).strip())]
        known = sum(headings.says(cell) is not None for cell in cells)
        if headings.folded(heading) in headings.SIGNED and cells and known * 2 >= len(cells):
            fitting.append(headings.folded(heading))
    return (*sure, *fitting)


def _attribute_columns(table: Table, options: Options, used: set[str]) -> dict[str, str]:
    """Headings by attribute."""
    asked = options.get("attributes") or ()
    names = re.split(r"\s*,\s*", asked) if isinstance(asked, str) else [str(name) for name in asked]
    for name in names:
        if name not in table.columns:
            raise DatasetError(
                f"has no column {name[:80]!r}",
                file=table.path,
                item="attributes",
                remedy=f"Its columns are {', '.join(table.columns)[:300]}",
            )
    found = {headings.field_name(name) or "attribute": name for name in names}
    for name in table.columns:
        if name in used or name in found.values():
            continue
        words = {word: attribute for attribute, known in headings.ATTRIBUTES.items() for word in known}
        attribute = name if name in ATTRIBUTES else words.get(headings.folded(name))
        if attribute is not None:
            found.setdefault(attribute, name)
    return found


def _guessed(name: str, heading: str, table: Table) -> Field:
    """A field for a column without a mapping: its kind by the heading, or by what is in it."""
    values = [value for row in table.rows if (value := row.get(heading).strip()) and value != "None"]
    kind = headings.kind_for(heading)
    if kind in (None, "number", "date") and values:
        numbers = sum(re.fullmatch(r"-?\d{1,15}([.,]\d+)?", value) is not None for value in values)
        dates = sum(date_value(value) is not None for value in values)
        if numbers == len(values) and kind != "date":
            kind = "number"
        else:
            kind = "date" if dates * 5 >= len(values) * 4 else None
    return Field(name, kind or "text", None, False, heading)


def _separator(column: Column, table: Table, published: bool) -> str:
    """What separates values in a cell: `|`, or in columns of names also `;` or a line end where they occur."""
    if published:
        return "|"
    if column.field.kind not in _MANY:
        return ""
    cells = [row.get(column.heading) for row in table.rows]
    return next((sign for sign in ("|", ";", "\n", " / ") if any(sign in cell for cell in cells)), "|")


def wanted_lists(options: Options) -> set[str]:
    """The authority lists that the mapping names."""
    wishes = _asked(options).values()
    names = {str(wish.get("authority", "")) for wish in wishes}
    return (names | {str(w["field"].authority) for w in wishes if isinstance(w.get("field"), Field)}) - {"", "None"}
