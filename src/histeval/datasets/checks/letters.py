"""Checks of letters."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from histeval.datasets.base import Fault
from histeval.datasets.checks.common import Faults, begin, line_of, read_json_text, read_records_on, read_table_on
from histeval.datasets.checks.images import check_images
from histeval.datasets.checks.persons import Person, check_inscribed, check_persons, compare_lists, read_persons
from histeval.datasets.files import read_bytes, read_text
from histeval.datasets.formats.headings import says
from histeval.datasets.identity import ACCENTS, composed
from histeval.datasets.initialise import is_unfilled
from histeval.datasets.layout import Folder, described
from histeval.datasets.letters import (
    BOGUS,
    Plan,
    authority_files,
    authority_names,
    id_column_of,
    is_leftover,
    json_values,
    plan_of,
    truth_source,
)
from histeval.datasets.published import AUTHORITIES, description_of
from histeval.datasets.settings import AuthoritySettings
from histeval.datasets.tables import split_cell
from histeval.datasets.values import NO_VALUE, Nearest, is_foreign, is_malformed, is_several
from histeval.datasets.values import bare as bare_of
from histeval.errors import DatasetError
from histeval.tasks.description import Description, Field

_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")
_MONTH = re.compile(r"\d{4}(-(0[1-9]|1[0-2]))?")


@dataclass(frozen=True)
class Letter:
    """A letter as it stands in one file: its values by field, and where."""

    id: str
    values: Mapping[str, tuple[str, ...]]
    signed: Any
    file: Path
    line: int | None = None

    def place(self, field: str) -> dict[str, Any]:
        """Line and item of a field, for a fault."""
        line = self.line
        if line is None and self.file.stem == self.id:  # a file of its own
            line = line_of(self.file, f'"{field}"')
        return {"line": line, "item": f"{self.id}, {field}"}


def check_letters(path: Path | str) -> list[Fault]:
    """Every fault of a dataset of letters; raises DatasetError where it is no folder of one."""
    faults, folder = begin("letters", path)
    description = described(folder, description_of("letters", folder.name))
    plan = plan_of(folder.settings, description)
    letters = _letters(faults, folder, plan)
    lists = _authorities(faults, folder, description, plan)
    known = {name: _index(persons) for name, persons in lists.items()}
    for letter in letters:
        if folder.settings is not None and letter.signed is None and letter.values and not any(letter.values.values()):
            what, remedy = "waits for its truth: nothing is filled in", f"Fill it in, {NO_VALUE} where there is none"
            faults.add(letter.file, what, remedy, line=letter.line, item=letter.id, error=False)
        else:
            _check_letter(faults, letter, plan, known)
    _check_columns(faults, letters, plan, known)
    for name, persons in lists.items():
        check_persons(faults, persons)
        _check_use(faults, name, persons, letters, plan)
    _check_inscribed(faults, letters, plan, lists)
    check_images(faults, folder, {letter.id for letter in letters})
    return faults.sorted()


def _letters(faults: Faults, folder: Folder, plan: Plan) -> list[Letter]:
    """The letters that are read; where JSON and CSV are there, both are looked at and compared."""
    source = faults.attempt(lambda: truth_source(folder, plan), folder.truth)
    if source is None:
        return []
    if source.is_file() and source.suffix.lower() == ".csv":
        return _from_table(faults, source, plan)
    letters = _from_json(faults, source, plan, authority_names(folder))
    table = folder.truth / "letters.csv"
    if source.is_dir() and table.is_file() and not is_unfilled(read_bytes(table)):
        _compare(faults, letters, _from_table(faults, table, plan), table)
    return letters


def _from_table(faults: Faults, path: Path, plan: Plan) -> list[Letter]:
    table = read_table_on(faults, path)
    letters: list[Letter] = []
    if table is None:
        return letters
    id_column, prefix = id_column_of(table, plan), plan.truth.prefix
    numbered = id_column == "document_number" and not prefix
    if id_column not in table.columns:
        what = f"has no column {id_column}. Its columns are {', '.join(table.columns)}"
        faults.add(path, what, 'Rename the column of ids, or name it in dataset.toml: [truth] id = "..."', line=1)
        return letters
    seen: dict[str, int] = {}
    for row in table.rows:
        number = row.get(id_column).strip()
        if is_leftover(row):
            what = "is a spreadsheet leftover: FALSE in every cell"
            faults.add(path, what, "Remove the row; it is left out", line=row.line)
            continue
        identifier = f"letter{number}" if numbered else f"{prefix}{number}"
        if not number:
            faults.add(path, f"has an empty {id_column}", "Number the letter", line=row.line)
            continue
        if numbered and not number.isdecimal():
            what = f"the document number {number[:80]!r} is no number"
            faults.add(path, what, "Write it in digits, as the images have it", line=row.line)
        if identifier in seen:
            what = f"stands a second time (first in line {seen[identifier]})"
            faults.add(path, what, "Give each letter its own number", line=row.line, item=identifier)
            continue
        seen[identifier] = row.line
        columns = {name: plan.columns.get(name, name) for name in plan.names}
        values = {
            name: split_cell(row.get(column), plan.truth.separator)
            for name, column in columns.items()
            if column in row.cells
        }
        signed = row.get(plan.truth.signed).strip() or None
        letters.append(Letter(identifier, values, signed, path, row.line))
    return letters


def _from_json(faults: Faults, source: Path, plan: Plan, leave_out: frozenset[str]) -> list[Letter]:
    letters = []
    for record in read_records_on(faults, source, plan.truth.id, leave_out):
        if record.id == BOGUS:
            what = "is a spreadsheet leftover that was converted, not a letter"
            faults.add(record.file, what, "Remove the file; it is left out", item=record.id)
            continue
        if source.is_dir() and plan.truth.prefix == "" and record.id.startswith("letter"):
            number = record.id.removeprefix("letter")
            if not number.isdecimal():
                what = f"the document number {number[:80]!r} is no number"
                faults.add(record.file, what, "Name the file as its images, letterNN.json", item=record.id)
        values = {}
        for name in plan.names:
            if name in record.value:
                value = record.value[name]
                try:
                    values[name] = json_values(value, file=record.file, line=record.line, item=name)
                except DatasetError as fault:
                    faults.add(record.file, fault.what, 'Write ["..."]', line=record.line, item=f"{record.id}, {name}")
                    continue
                if not isinstance(value, list):
                    what = "is not a list; it is read as one value"
                    line = record.line or line_of(record.file, f'"{name}"')
                    item = f"{record.id}, {name}"
                    faults.add(record.file, what, 'Write ["..."]', line=line, item=item, error=False)
        letters.append(Letter(record.id, values, record.value.get(plan.truth.signed), record.file, record.line))
    return letters


def _compare(faults: Faults, letters: Sequence[Letter], others: Sequence[Letter], table: Path) -> None:
    """Where the JSON files and the table disagree."""
    rows = {letter.id: letter for letter in others}
    for letter in letters:
        row = rows.pop(letter.id, None)
        if row is None:
            faults.add(letter.file, f"is not in {table.name}", "Export the table again", item=letter.id)
            continue
        for name in letter.values.keys() | row.values.keys():
            here, there = letter.values.get(name, ()), row.values.get(name, ())
            if here != there:
                what = f"is {_shown(here)} here and {_shown(there)} in {table.name}, line {row.line}"
                faults.add(letter.file, what, "Convert the table again", **letter.place(name))
        if letter.signed not in (row.signed, row.signed == "TRUE"):
            what = f"is {str(letter.signed)[:80]!r} here and {str(row.signed)[:80]!r} in {table.name}, line {row.line}"
            faults.add(letter.file, what, "Convert the table again", item=f"{letter.id}, has_signatures")
    for identifier, row in rows.items():
        what = "has no JSON file, and the JSON files are what is read"
        faults.add(table, what, "Convert the table again", line=row.line, item=identifier)


def _shown(values: Sequence[str]) -> str:
    return repr(" | ".join(values)[:120]) if values else "empty"


def _authorities(faults: Faults, folder: Folder, description: Description, plan: Plan) -> dict[str, list[Person]]:
    """The authority lists that are read; a list that is there as JSON and as CSV is compared."""
    files: dict[str, AuthoritySettings] = faults.attempt(lambda: authority_files(folder, description)) or {}
    lists = {}
    for name, item in files.items():
        path = folder.path / item.file
        lists[name] = read_persons(faults, path, item.separator)
        twin = path.with_suffix(".csv" if path.suffix.lower() == ".json" else ".json")
        if twin.is_file() and path.suffix.lower() == ".json":
            compare_lists(faults, lists[name], read_persons(faults, twin, item.separator))
    for name in AUTHORITIES:  # a list that no described field needs is read all the same, for its own faults
        path = folder.truth / f"{name}.json"
        if folder.settings is None and name not in lists and path.is_file():
            text = faults.attempt(lambda path=path: read_text(path), path)  # type: ignore[misc]
            if text is not None:
                read_json_text(faults, path, text)
    return lists


Known = tuple[frozenset[str], Mapping[str, str], Mapping[str, str], Nearest]
Index = Mapping[str, Known]
"""By list: its names without outer blanks, the name to each other form, each of both by its composed form, and what is
nearest to a name."""


def _index(persons: Sequence[Person]) -> Known:
    names = frozenset(person.name.strip() for person in persons)
    forms = {form: person.name for person in persons for form in person.alternates}
    return names, forms, {composed(form): form for form in (*forms, *names)}, Nearest(names)


def _check_letter(faults: Faults, letter: Letter, plan: Plan, known: Index) -> None:
    if letter.signed not in (None, "TRUE", "FALSE", True, False):
        what = f"{str(letter.signed)[:80]!r} is neither TRUE nor FALSE: it is not known whether the letter is signed"
        said = says(str(letter.signed))
        remedy = "Write TRUE or FALSE" if said is None else f"Write {str(said).upper()}"
        faults.add(letter.file, what, remedy, **letter.place(plan.truth.signed))
    for field in plan.fields:
        if field.name in letter.values:
            _check_field(faults, letter, field, known)
        elif field.headline:
            faults.add(letter.file, "is not there", f'Write ["{NO_VALUE}"] where the letter has none',
                       item=f"{letter.id}, {field.name}", line=letter.line)  # fmt: skip


def _check_field(faults: Faults, letter: Letter, field: Field, known: Index) -> None:
    values = letter.values[field.name]

    def add(what: str, remedy: str, error: bool = True) -> None:
        faults.add(letter.file, what, remedy, **letter.place(field.name), error=error)

    if not values and field.headline:
        add("is empty", f"Write {NO_VALUE} where the letter has none", error=False)
    if NO_VALUE in values and len(values) > 1:
        add(f"has {NO_VALUE} beside other values", f"Remove {NO_VALUE}")
    bare = []
    for value in values:
        text = value.strip()
        if is_malformed(text):
            what = f"the marker in {value[:80]!r} is malformed"
            add(what, "Write <Name> or <<Name>>")
        elif text != value:
            add(f"{value[:80]!r} has an outer blank", "Remove it")
        bare.append(text.strip("<>").strip())
    for value in {value for value in bare if bare.count(value) > 1}:
        add(f"{value[:80]!r} stands twice", "Remove one", error=False)
    if field.kind == "date":
        for value in bare:
            _check_date(add, value)
        if len(bare) > 1:
            what = "has several dates; only the first counts"
            add(what, "Keep the date of the letter", error=False)
    if field.authority is not None and field.authority in known:
        names, forms, stored, nearest = known[field.authority]
        for value in dict.fromkeys(bare):
            if value and value not in names and value not in forms and composed(value) in stored:
                name = stored[composed(value)]
                what = f"{value[:80]!r} {ACCENTS} from {name[:80]!r} in the list of {field.authority}: it cannot match"
                add(what, "Copy the name from the one to the other, or import both again")
            elif value and value != NO_VALUE and value not in names:
                add(f"{value[:80]!r} is not in the list of {field.authority}", _remedy(value, field, forms, nearest))


def _remedy(value: str, field: Field, forms: Mapping[str, str], nearest: Nearest) -> str:
    """What to do about a name that is not in the list."""
    if value in forms:
        return f"Write {forms[value].strip()}"
    near = nearest.find(value)
    if is_several(value, field.kind) and near is None:
        return "If these are several, part them as the other values of a cell are, with | say"
    add = f"dd it to the list of {field.authority}"
    return f"A{add}" if near is None else f"Is it {near.strip()}? Else a{add}"


def _check_columns(faults: Faults, letters: Sequence[Letter], plan: Plan, known: Index) -> None:
    """Columns of which most names are in no list: they hold something else."""
    for field in plan.fields:
        names = known[field.authority][0] if field.authority and field.authority in known else frozenset()
        given = [(letter, bare_of(v)) for letter in letters for v in letter.values.get(field.name, ())]
        given = [(letter, value) for letter, value in given if value not in ("", NO_VALUE)]
        unknown = [letter for letter, value in given if value not in names]
        if names and is_foreign(len(unknown), len(given)):
            what = f"{len(unknown)} of {len(given)} names are not in the list of {field.authority}"
            remedy = "Are the columns swapped, or is it the list of other letters?"
            faults.add(unknown[0].file, what, remedy, line=unknown[0].line, item=field.name)


def _check_date(add: Callable[..., None], value: str) -> None:
    if value in (NO_VALUE, ""):
        return
    if _MONTH.fullmatch(value):
        add(f"the date {value} has no day", "Add it if the letter has one", error=False)
    elif not _DAY.fullmatch(value):
        add(f"the date {value[:80]!r} is not of the form 1926-02-16", "Write it so")
    else:
        try:
            datetime.date.fromisoformat(value)
        except ValueError:
            add(f"the date {value} is in no calendar", "Mend it")


def _check_use(faults: Faults, name: str, persons: Sequence[Person], letters: Sequence[Letter], plan: Plan) -> None:
    """Entries of a list that no letter names."""
    used = {
        composed(bare_of(value))
        for letter in letters
        for field in plan.fields
        if field.authority == name
        for value in letter.values.get(field.name, ())
    }
    for person in persons:
        if letters and composed(person.name.strip()) not in used:
            what = "occurs in no letter"
            faults.add(person.file, what, "It does no harm", line=person.line, item=person.name.strip(), error=False)


def _check_inscribed(
    faults: Faults, letters: Sequence[Letter], plan: Plan, lists: Mapping[str, Sequence[Person]]
) -> None:
    """Forms as the letters write them that are missing from the person's alternate names.

    As many forms as persons in a cell: they belong together in order. Otherwise a form is taken as that of any person
    of the cell who has it, and is named as missing for the only person, if there is but one.
    """
    for list_name, persons in lists.items():
        by_name = {person.name.strip(): person for person in persons}
        missing: dict[str, dict[str, list[str]]] = {}
        for letter in letters:
            for field in plan.fields:
                if field.authority == list_name:
                    _inscribed_of(faults, letter, field.name, by_name, missing)
        # The cell to paste goes into the table, where there is one.
        table = persons[0].file.with_suffix(".csv") if persons else None
        if missing and table is not None and table.is_file() and persons[0].file != table:
            silent = Faults(faults.folder)
            by_name.update({person.name.strip(): person for person in read_persons(silent, table)})
        check_inscribed(faults, by_name, missing)


def _inscribed_of(
    faults: Faults, letter: Letter, field: str, persons: Mapping[str, Person], missing: dict[str, dict[str, list[str]]]
) -> None:
    column = f"{field}_inscribed"
    forms = [bare_of(form) for form in letter.values.get(column, ())]
    names = [bare_of(name) for name in letter.values.get(field, ())]
    known = [persons[name] for name in names if name in persons]
    for index, form in enumerate(forms):
        if form in ("", NO_VALUE):
            continue
        owner = persons.get(names[index]) if len(forms) == len(names) else None
        candidates = [owner] if owner is not None else known
        if any(form in (person.name.strip(), *person.alternates) for person in candidates):
            continue
        if len(candidates) == 1:
            missing.setdefault(candidates[0].name.strip(), {}).setdefault(form, []).append(letter.id)
        else:
            what = f"{form[:80]!r} belongs to none of the persons in {field}"
            faults.add(letter.file, what, "Write as many forms as persons, in their order", **letter.place(column))
