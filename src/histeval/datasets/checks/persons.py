"""Checks of authority lists: names that cannot match, names that match two, and lists that disagree."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.datasets.authorities import alternate_names, group_rows
from histeval.datasets.checks.common import Faults, line_of, read_json_file, read_table_on

_HYPHEN_BLANK = re.compile(r"\w[-‐] \w")
_INNER = re.compile(r"\s{2,}|[\t\r\n]")


@dataclass(frozen=True)
class Person:
    """An entry of an authority list as it stands, with its place and, from CSV, its cell of alternate names."""

    name: str
    alternates: tuple[str, ...]
    identifier: str
    file: Path
    line: int | None
    separator: str | None = None


def read_persons(faults: Faults, path: Path, separator: str = ",") -> list[Person]:
    """The entries of an authority file, going on after faults."""
    if path.suffix.lower() == ".csv":
        table = read_table_on(faults, path, ("name",))
        found = []
        for group in group_rows(table.rows if table is not None else ()):
            first = group[0]
            if not first.get("name").strip():
                faults.add(path, "has no name", "Fill the column name", line=first.line)
                continue
            for row in group[1:]:
                if row.get("name") != first.get("name"):
                    what = f"is {row.get('name')[:80]!r}, and {first.get('name')[:80]!r} in line {first.line}"
                    remedy = "Give each person an identifier of their own"
                    faults.add(path, what, remedy, line=row.line, item=row.get("identifier_value")[:80])
            if not first.get("identifier_value").strip() and "identifier_value" in first.cells:
                item = first.get("name").strip()
                faults.add(
                    path, "has no identifier_value", "Number the person", line=first.line, item=item, error=False
                )
            alternates = alternate_names(first, separator)
            name, identifier = first.get("name"), first.get("identifier_value")
            found.append(Person(name, alternates, identifier, path, first.line, separator))
        return found
    return _from_json(faults, path)


def _from_json(faults: Faults, path: Path) -> list[Person]:
    value = read_json_file(faults, path)
    if isinstance(value, dict):
        value = value.get("@graph", [value] if "name" in value else None)
    if not isinstance(value, list):
        if value is not None:
            faults.add(path, "is not a list of persons", "It should be a JSON list of objects with name")
        return []
    found = []
    for position, item in enumerate(value, start=1):
        name = item.get("name") if isinstance(item, dict) else None
        if not isinstance(item, dict) or not isinstance(name, str) or not name.strip():
            faults.add(path, "has no name", "Give each entry a text under name", item=f"entry {position}")
            continue
        alternates = item.get("alternateName") or []
        alternates = [alternates] if isinstance(alternates, str) else alternates
        if not isinstance(alternates, list) or not all(isinstance(form, str) for form in alternates):
            what = "has an alternateName that is not a list of texts"
            faults.add(path, what, 'Write ["...", "..."]', line=line_of(path, _json(name)), item=name.strip())
            alternates = [form for form in alternates if isinstance(form, str)] if isinstance(alternates, list) else []
        found.append(
            Person(name, tuple(alternates), _identifier(item.get("identifier")), path, line_of(path, _json(name)))
        )
    return found


def _json(text: str) -> str:
    return f'"{text}"'


def _identifier(value: Any) -> str:
    for item in value if isinstance(value, list) else [value]:
        if isinstance(item, dict) and item.get("value"):
            return str(item["value"])
    return ""


def check_persons(faults: Faults, persons: Sequence[Person]) -> None:
    """Names and forms of one list that cannot match, or that match more than one person."""
    owners: dict[str, list[Person]] = {}
    names: dict[str, Person] = {}
    identifiers: dict[str, Person] = {}
    for person in persons:
        _check_blanks(faults, person)
        name = person.name.strip()
        if name in names:
            what = f"stands twice (first in line {names[name].line})"
            faults.add(person.file, what, "Merge the two, or tell their names apart", line=person.line, item=name)
        names.setdefault(name, person)
        if person.identifier and person.identifier in identifiers:
            what = f"has the identifier of {identifiers[person.identifier].name.strip()}"
            faults.add(person.file, what, "Give each person their own", line=person.line, item=name)
        identifiers.setdefault(person.identifier, person)
        for form in dict.fromkeys(form.strip() for form in (person.name, *person.alternates)):
            if form:
                owners.setdefault(form, []).append(person)
    for form, holders in owners.items():
        if len(holders) > 1:
            others = " and ".join(person.name.strip() for person in holders[:5])
            what = f"the form {form[:80]!r} belongs to {others}"
            remedy = "A letter that uses it needs the context to tell; take it from one of them if it is an error"
            faults.add(holders[0].file, what, remedy, line=holders[0].line, item=form[:80])


def _check_blanks(faults: Faults, person: Person) -> None:
    place: dict[str, Any] = {"line": person.line, "item": person.name.strip()}
    if person.name != person.name.strip():
        what = f"the name {person.name[:80]!r} has an outer blank, so none of its alternate names can ever match"
        faults.add(person.file, what, "Remove the blank", **place)
    seen = set()
    for form in person.alternates:
        if not form.strip():
            remedy = "Remove the separator at the end, or the second of two"
            faults.add(
                person.file, "has an empty alternate name; an empty answer would count as this person", remedy, **place
            )
            continue
        if form != form.strip() or _INNER.search(form.strip()) or _INNER.search(person.name):
            what = f"the alternate name {form[:80]!r} has blanks that no letter has, so it can never match"
            faults.add(person.file, what, "Write one blank between words and none outside", **place)
        elif _HYPHEN_BLANK.search(form):
            what = f"the alternate name {form[:80]!r} has a blank after a hyphen, so it can hardly match"
            faults.add(person.file, what, "Remove the blank", **place)
        if ";" in form:
            parts = [part.strip() for part in form.split(";") if part.strip()]
            what = f"the alternate name {form[:80]!r} holds a ;, so it is one form, and nearly surely should be two"
            if person.separator is None:
                remedy = f"Write {json.dumps(parts, ensure_ascii=False)}"
            else:
                remedy = (
                    f"Write {f'{person.separator} '.join(parts)}, with {person.separator!r} between the forms, or say "
                    'separator = ";" beside the file under [authorities] in dataset.toml'
                )
            faults.add(person.file, what, remedy, **place)
        if form in seen:
            faults.add(
                person.file, f"the alternate name {form[:80]!r} stands twice", "Remove one", **place, error=False
            )
        seen.add(form)


def compare_lists(faults: Faults, read: Sequence[Person], other: Sequence[Person]) -> None:
    """Where two files of one list disagree; `read` is the one that counts."""
    if not read or not other:
        return
    by_name = {person.name.strip(): person for person in other}
    file, other_file = faults.name(read[0].file), faults.name(other[0].file)
    for person in read:
        twin = by_name.pop(person.name.strip(), None)
        item = person.name.strip()
        if twin is None:
            faults.add(person.file, f"is not in {other_file}", "Convert the list again", line=person.line, item=item)
            continue
        only = [form for form in person.alternates if form not in twin.alternates]
        missing = [form for form in twin.alternates if form not in person.alternates]
        if person.name != twin.name:
            what = f"is {person.name[:80]!r} here and {twin.name[:80]!r} in {other_file}"
            faults.add(person.file, what, "Convert the list again", line=person.line, item=item)
        if only or missing:
            words = [f"{form[:60]!r} only here" for form in only[:5]]
            words += [f"{form[:60]!r} only in {other_file}" for form in missing[:5]]
            remedy = "Convert the list again"
            faults.add(person.file, f"alternate names differ: {', '.join(words)}", remedy, line=person.line, item=item)
    for name, person in by_name.items():
        faults.add(person.file, f"is not in {file}", "Convert the list again", line=person.line, item=name)


def check_inscribed(
    faults: Faults, persons: Mapping[str, Person], missing: Mapping[str, Mapping[str, Sequence[str]]]
) -> None:
    """Forms that letters use and that are missing from alternateName, with the cell to paste.

    `missing` gives for each person the missing forms, and for each form the letters that have it.
    """
    for name, forms in missing.items():
        person = persons[name]
        separator = person.separator or ","
        usable = [form for form in forms if separator not in form]
        cell = f"{separator} ".join([*(form for form in person.alternates if form.strip()), *usable])
        for form, letters in forms.items():
            shown = ", ".join(letters[:5]) + (" ..." if len(letters) > 5 else "")
            what = f"the letters write {form[:120]!r} ({shown}), which is missing from alternateName"
            if separator in form:
                remedy = f"A cell cannot hold it, since it has a {separator!r}; add it in persons.json"
            else:
                remedy = f"The cell to paste: {cell}"
            faults.add(person.file, what, remedy, line=person.line, item=name)
