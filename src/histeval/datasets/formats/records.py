"""Letters on their way between formats: values by field, and authority lists, before and after they are a dataset."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.files import natural_key
from histeval.datasets.formats.base import AS_KNOWN, ImportReport, Options
from histeval.datasets.identity import DocumentIds, composed
from histeval.datasets.importing import can_name_file, dataset_toml
from histeval.errors import DatasetError
from histeval.tasks.description import AuthorityEntry, Field
from histeval.tasks.identifiers import SCHEMES, identifier
from histeval.tasks.truth import LetterTruth


@dataclass
class LetterDocument:
    """A letter: its values by field, whether it is signed as the source says it (empty: it does not say), and its
    attributes. `fields` describes the fields; `file` and `line` say where it was read."""

    id: str
    values: dict[str, list[str]]
    signed: str = ""
    attributes: dict[str, str] = field(default_factory=dict)
    fields: tuple[Field, ...] = ()
    file: Path | None = None
    line: int | None = None

    def record(self) -> dict[str, Any]:
        """The letter as the JSON of a dataset."""
        signed = {"has_signatures": self.signed} if self.signed else {}
        return {**self.values, **signed, **self.attributes}


@dataclass
class AuthorityList:
    """An authority list by its name in the dataset (persons, places ...), its entries in schema.org JSON; `made` says
    that it was gathered from names with identifiers."""

    name: str
    entries: list[dict[str, Any]]
    file: Path | None = None
    made: bool = False

    def by_identifier(self) -> dict[tuple[str, str], str]:
        """The name of each entry by its identifiers (scheme, value)."""
        return {key: str(entry["name"]) for entry in self.entries for key in identifiers_in(entry)}


Item = LetterDocument | AuthorityList

TYPES = {"persons": "Person", "places": "Place", "organizations": "Organization"}
"""What schema.org calls an entry of an authority list, by the list's name; other lists hold things."""


def identifiers_in(entry: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The identifiers of an entry of known schemes."""
    found = []
    for item in entry.get("identifier") or []:
        if isinstance(item, dict) and isinstance(item.get("value"), str):
            scheme = str(item.get("propertyID") or "")
            known = identifier(item["value"], scheme if scheme.casefold() in map(str.casefold, SCHEMES) else "")
            if known is not None:
                found.append(known)
    return found


def authority_entry(name: str, alternates: Iterable[str] = (), identifiers: Mapping[str, str] | None = None,
                    kind: str = "Person") -> dict[str, Any]:  # fmt: skip
    """An entry of an authority list in schema.org JSON."""
    given = [{"@type": "PropertyValue", "propertyID": k, "value": v} for k, v in (identifiers or {}).items()]
    forms = list(dict.fromkeys(form for form in alternates if form and form != name))
    return {"@context": "http://schema.org", "@type": kind, "identifier": given, "name": name, "alternateName": forms}


def dataset_files(items: Iterable[Item], name: str, options: Options, report: ImportReport) -> dict[str, str]:
    """`ground_truths/` with a JSON file for each letter (one file letters.jsonl where an id cannot name a file) and one
    for each authority list, and a dataset.toml with the fields.

    Raises DatasetError where there is no letter or two have one id.
    """
    letters, lists = split(composed_items(items, report))
    known: DocumentIds = options.get("documents") or DocumentIds(())
    for letter in letters:
        found = known.find(letter.id)
        if found is not None and found != letter.id:
            report.repair(AS_KNOWN, f"{letter.id} is {found}")
            letter.id = found
    if not letters:
        raise DatasetError(
            "holds no letter",
            file=report.path,
            remedy="A table has a row of column names and, below it, a row for each letter",
        )
    resolve(letters, lists, report)
    _tell_doubts(letters, lists, report)
    files: dict[str, str] = {}
    for authority in lists:
        files[f"ground_truths/{authority.name}.json"] = json_text(authority.entries)
        report.count(f"entries of {authority.name}", len(authority.entries))
    names = {letter.id for letter in letters}
    if all(can_name_file(one) and f"ground_truths/{one}.json" not in files for one in names):
        for letter in sorted(letters, key=lambda one: natural_key(one.id)):
            files[f"ground_truths/{letter.id}.json"] = json_text(letter.record())
    else:
        lines = [json.dumps({"document": one.id, **one.record()}, ensure_ascii=False) for one in letters]
        files["ground_truths/letters.jsonl"] = "\n".join(lines) + "\n"
    report.count("letters", len(letters))
    attributes = dict.fromkeys(key for letter in letters for key in letter.attributes)
    fields = describe(letters, lists)
    toml = dataset_toml(name, fields, tuple(attributes), tuple(authority.name for authority in lists))
    if "ground_truths/letters.jsonl" in files:
        toml += '\n[truth]\nfile = "ground_truths/letters.jsonl"\n'
    return {**files, "dataset.toml": toml}


def _tell_doubts(letters: Sequence[LetterDocument], lists: Sequence[AuthorityList], report: ImportReport) -> None:
    """Says at once what `check` will say value by value."""
    from histeval.datasets.values import doubts

    known = {item.name: {str(entry["name"]).strip() for entry in item.entries} for item in lists}
    found = doubts([(one.id, one.values) for one in letters], describe(letters, lists), known)
    for what, places in found.items():
        shown = f" ({'; '.join(places[:3])}{' ...' if len(places) > 3 else ''})" if places else ""
        number = f"{len(places)} x " if len(places) > 1 else ""
        report.note(f"to mend: {number}{what}{shown}")
    if found:
        report.note("`histeval check` says where each of them is, and the remedy")


def composed_items(items: Iterable[Item], report: ImportReport) -> Iterator[Item]:
    """Letters and lists with accents as one sign (NFC) everywhere, since names are compared as they are stored."""
    for item in items:
        where = item.id if isinstance(item, LetterDocument) else item.name
        text = json.dumps([*vars(item).values()], ensure_ascii=False, default=str)
        if composed(text) != text:
            report.repair(TWO_SIGNS, composed(where))
            if isinstance(item, AuthorityList):
                item.entries = json.loads(composed(json.dumps(item.entries, ensure_ascii=False)))
            else:
                item.id, item.signed = composed(item.id), composed(item.signed)
                item.values = {name: list(map(composed, values)) for name, values in item.values.items()}
                item.attributes = {name: composed(value) for name, value in item.attributes.items()}
        yield item


TWO_SIGNS = "accents stored as two signs (as on a Mac), now as one"


def resolve(letters: Sequence[LetterDocument], lists: Sequence[AuthorityList], report: ImportReport) -> None:
    """Truth names an entry of an authority list by its name: values that are its identifier (GND, VIAF ...), or a form
    that only this entry has, become the name, and that is reported."""
    by_identifier: dict[tuple[str, str], str] = {}
    forms: dict[str, dict[str, set[str]]] = {}
    for item in lists:
        by_identifier |= item.by_identifier()
        owners = forms.setdefault(item.name, {})
        for entry in item.entries:
            given = entry.get("alternateName") or []
            for form in {entry["name"], *([given] if isinstance(given, str) else given)}:
                owners.setdefault(str(form), set()).add(entry["name"])
    for letter in letters:
        kinds = {item.name: item for item in letter.fields}
        for name, values in letter.values.items():
            owners = forms.get((kinds[name].authority if name in kinds else None) or "", {})
            for place, value in enumerate(values):
                known = identifier(value)
                found = owners.get(value, set())
                if known in by_identifier:
                    values[place] = by_identifier[known]
                    report.repair("identifiers read as the names they stand for", f"{letter.id}: {value[:80]}")
                elif known is not None:
                    report.note(f"{value[:80]} stands in no authority list and is kept as it is")
                elif len(found) == 1 and value not in found:
                    values[place] = next(iter(found))
                    report.repair("forms of a name read as the name", f"{letter.id}: {value[:80]}")


def split(items: Iterable[Item]) -> tuple[list[LetterDocument], list[AuthorityList]]:
    """Letters and authority lists; raises DatasetError where two letters have one id (whatever its case, since files
    are named by it), or two lists one name."""
    letters: dict[str, LetterDocument] = {}
    lists: dict[str, AuthorityList] = {}
    for item in items:
        if isinstance(item, AuthorityList):
            if item.name in lists:
                what = f"is a second list of {item.name} (the first is {lists[item.name].file})"
                raise DatasetError(what, file=item.file, remedy="Put them into one file")
            lists[item.name] = item
            continue
        if not item.id.strip():
            raise DatasetError("has a letter without an id", file=item.file, line=item.line, remedy="Give it one")
        first = letters.setdefault(item.id.casefold(), item)
        if first is not item:
            where = f"line {first.line}" if first.file == item.file and first.line else str(first.file)
            what = f"stands a second time (first in {where})"
            remedy = "Give each letter an id of its own; ids that differ in case or stored accents only are one"
            raise DatasetError(what, file=item.file, line=item.line, item=item.id, remedy=remedy)
    return list(letters.values()), list(lists.values())


def describe(letters: Sequence[LetterDocument], lists: Sequence[AuthorityList]) -> tuple[Field, ...]:
    """The fields of all letters in order, headline ones first; an authority that is not there is taken out."""
    known = {authority.name for authority in lists}
    fields: dict[str, Field] = {}
    for letter in letters:
        for item in letter.fields:
            authority = item.authority if item.authority in known else None
            fields.setdefault(item.name, Field(item.name, item.kind, authority, item.headline, item.title))
    occurring = {name for letter in letters for name in letter.values}
    found = [item for name, item in fields.items() if name in occurring]
    found += [Field(name) for name in dict.fromkeys(n for one in letters for n in one.values) if name not in fields]
    if not any(item.headline for item in found):
        found = [Field(item.name, item.kind, item.authority, True, item.title) for item in found]
    return tuple(sorted(found, key=lambda item: not item.headline))


def answers(items: Iterable[Item], options: Options, report: ImportReport) -> Iterator[dict[str, Any]]:
    """A line of answers for each letter; authority lists are no answers and are reported."""
    letters, lists = split(composed_items(items, report))
    for authority in lists:
        report.leave_out("authority lists, which answer nothing", authority.name)
    for letter in letters:
        report.count("letters")
        yield {"document": letter.id, "record": {name: values or None for name, values in letter.values.items()}}


def from_dataset(dataset: Dataset, report: ImportReport) -> list[Item]:
    """The letters of a dataset that have truth, and its authority lists."""
    items: list[Item] = []
    for document in dataset.documents.values():
        truth: LetterTruth | None = document.truth
        if truth is None:
            report.leave_out("documents without truth", document.id)
            continue
        signed = {True: "TRUE", False: "FALSE", None: ""}[truth.signed]
        values = {name: list(given) for name, given in truth.fields.items()}
        derived = ("signed", "year", "period")
        attributes = {key: value for key, value in document.attributes.items() if key not in derived}
        items.append(LetterDocument(document.id, values, signed, attributes, dataset.description.fields, dataset.path))
    return [*items, *_lists(dataset)]


def from_answers(dataset: Dataset, records: Mapping[str, Any], report: ImportReport) -> list[Item]:
    """The answers for the letters of a dataset, values as they were written."""
    from histeval.tasks.base import Answer
    from histeval.tasks.letters import LettersTask

    task = LettersTask()
    scorer = task.scorer(dataset.context, task.protocol())
    items: list[Item] = []
    for name in dataset.documents:
        if name not in records:
            report.leave_out("documents without answer", name)
            continue
        reading = scorer.read(Answer(name, record=records[name]))
        if reading.failure:
            report.leave_out(f"answers that cannot be read ({reading.failure})", name)
        values = {key: list(given) for key, given in (reading.record or {}).items()}
        items.append(LetterDocument(name, values, "", {}, dataset.description.fields, dataset.path))
    return items


def _lists(dataset: Dataset) -> Iterator[AuthorityList]:
    for name, entries in dataset.authorities.items():
        yield AuthorityList(name, [_entry(entry, TYPES.get(name, "Thing")) for entry in entries], dataset.path)


def _entry(entry: AuthorityEntry, kind: str) -> dict[str, Any]:
    return authority_entry(entry.name, entry.alternate_names, entry.identifiers, kind)


def json_text(value: Any) -> str:
    """A value as the JSON files of a dataset have it."""
    return json.dumps(value, ensure_ascii=False, indent=4) + "\n"
