"""Entries on their way between formats: a text and its entities, before and after they are a dataset."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.formats.base import ImportReport, Option, Options
from histeval.datasets.identity import composed, dataset_name
from histeval.entities.nesting import nest
from histeval.entities.spans import Entry, Span
from histeval.entities.tags import depths
from histeval.errors import DatasetError, UsageError
from histeval.tasks.description import EntityType

Triple = tuple[str, int, int]

OVERLAPS = Option("overlaps", "refuse", "entities that cross another: a fault, or left out", ("refuse", "drop"))
"""The option that every format of entities has, since a dataset holds nested entities and none that cross."""

_SIGNS = re.compile(r"[^\w.-]")
_RESERVED = ("O", "other")


@dataclass
class EntryDocument:
    """A text with its entities (type, first character, the one after the last), of two with equal extent the outer one
    first. `file` and `line` say where it was read, for messages."""

    id: str
    text: str
    spans: list[Triple] = field(default_factory=list)
    attributes: dict[str, str] = field(default_factory=dict)
    file: Path | None = None
    line: int | None = None

    def entry(self) -> tuple[Entry, tuple[int, ...]]:
        """The entities nested, and the indices of those that cross another."""
        spans, crossing = nest(self.spans)
        return Entry(self.text, spans), crossing

    def nested(self, report: ImportReport) -> Entry:
        """The entities nested, without those that cross another, which are reported as lost."""
        entry, crossing = self.entry()
        for index in crossing:
            span = entry.spans[index]
            report.lose("entities that cross another", f"{self.id}: {span.type} {span.start} to {span.end}")
        return entry if not crossing else Entry(self.text, _without(entry.spans, set(crossing)))

    def add(self, kind: str, start: int, end: int, *, line: int | None = None, item: str = "") -> None:
        """One more entity; raises DatasetError where its offsets are none of the text's."""
        place = item or self.id
        if not kind.strip():
            what = f"has an entity without a type, from {start} to {end}"
            raise DatasetError(what, file=self.file, line=line, item=place, remedy="Name its type")
        if start >= end:
            what = f"has an entity {kind} that is empty: it begins at {start} and ends at {end}"
            remedy = "The end is behind the last character; mend it, or remove the entity"
            raise DatasetError(what, file=self.file, line=line, item=place, remedy=remedy)
        if start < 0 or end > len(self.text):
            what = f"has an entity {kind} from {start} to {end} in a text of {len(self.text)} characters"
            remedy = "Offsets count characters from 0, the end is behind the last; mend them or the text"
            raise DatasetError(what, file=self.file, line=line, item=place, remedy=remedy)
        self.spans.append((kind, start, end))


def dataset_files(
    documents: Iterable[EntryDocument], name: str, options: Options, report: ImportReport
) -> dict[str, str]:
    """`entries.jsonl` and a `dataset.toml` with the types and the nesting that occur, to any depth.

    Raises DatasetError where there is no document, two have one id, or an entity crosses another (unless the option
    `overlaps` is `drop`).
    """
    lines: list[str] = []
    entries: list[Entry] = []
    attributes: dict[str, dict[str, None]] = {}
    names = _TypeNames(report)
    for document in unique(documents):
        entry = _checked(document, options, report)
        named = Entry(entry.text, tuple(map(names.rename, entry.spans)))
        entries.append(named)
        for key, value in document.attributes.items():
            attributes.setdefault(key, {})[value] = None
        lines.append(json.dumps(_line(document, named), ensure_ascii=False))
        report.count("documents")
        report.count("entities", len(named.spans))
    if not lines:
        raise DatasetError("holds no document", file=report.path, remedy="Import files that hold texts with entities")
    return {"entries.jsonl": "\n".join(lines) + "\n", "dataset.toml": describe(name, entries, attributes, len(lines))}


def unique(documents: Iterable[EntryDocument]) -> Iterator[EntryDocument]:
    """The documents; raises DatasetError where one has no id or the id of another."""
    seen: dict[str, EntryDocument] = {}
    for document in documents:
        if not document.id.strip():
            raise DatasetError(
                "has a document without an id", file=document.file, line=document.line, remedy="Give it one"
            )
        first = seen.setdefault(document.id, document)
        if first is not document:
            where = f"line {first.line}" if first.file == document.file and first.line else str(first.file)
            what = f"stands a second time (first in {where})"
            remedy = "Give each document an id of its own"
            raise DatasetError(what, file=document.file, line=document.line, item=document.id, remedy=remedy)
        yield document


def answers(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> Iterator[dict[str, Any]]:
    """A line of answers for each document: its text and its entities by offsets, crossing ones included."""
    names = _TypeNames(report)
    for document in unique(documents):
        spans = [{"type": names(kind), "start": start, "end": end} for kind, start, end in document.spans]
        report.count("documents")
        report.count("entities", len(spans))
        yield {"document": document.id, "record": {"text": document.text, "spans": spans}}


def from_dataset(dataset: Dataset, report: ImportReport) -> list[EntryDocument]:
    """The documents of a dataset that have truth."""
    found = []
    for document in dataset.documents.values():
        if document.truth is None:
            report.leave_out("documents without truth", document.id)
            continue
        spans = [(span.type, span.start, span.end) for span in document.truth.spans]
        found.append(EntryDocument(document.id, document.truth.text, spans, dict(document.attributes), dataset.path))
    return found


def from_answers(dataset: Dataset, records: Mapping[str, Any], report: ImportReport) -> list[EntryDocument]:
    """The answers for the documents of a dataset, as they were sent or as the task read them, their entities placed in
    the text of the document."""
    from histeval.tasks.base import Answer, Reading
    from histeval.tasks.directories import DirectoriesTask
    from histeval.tasks.directories_reading import SpanAnswer, TagAnswer

    task = DirectoriesTask()
    scorer = task.scorer(dataset.context, task.protocol("corrected"))
    found = []
    for document in dataset.documents.values():
        if document.truth is None or document.id not in records:
            report.leave_out("documents without truth or answer", document.id)
            continue
        record = records[document.id]
        read = isinstance(record, SpanAnswer | TagAnswer)
        reading = Reading(record=record) if read else scorer.read(Answer(document.id, record=record))
        if reading.failure:
            report.leave_out(f"answers that cannot be read ({reading.failure})", document.id)
        spans = []
        for one in scorer.located(document.truth, reading):
            if 0 <= one.start < one.end <= len(document.truth.text):
                spans.append((one.type, one.start, one.end))
            else:
                report.leave_out("entities that have no place in the text", f"{document.id}: {one.type}")
        found.append(EntryDocument(document.id, document.truth.text, spans, dict(document.attributes), dataset.path))
    return found


def types_of(entries: Iterable[Entry]) -> tuple[EntityType, ...]:
    """The types of some entries in the order in which they occur, and what stands directly inside each."""
    children: dict[str, dict[str, None]] = {}
    roots: set[str] = set()
    for entry in entries:
        for span in entry.spans:
            children.setdefault(span.type, {})
            if span.parent is None:
                roots.add(span.type)
            else:
                children[entry.spans[span.parent].type][span.type] = None
    return tuple(EntityType(name, tuple(inner), name in roots) for name, inner in children.items())


def describe(name: str, entries: Sequence[Entry], attributes: Mapping[str, Mapping[str, None]], documents: int) -> str:
    """A commented dataset.toml for entries with these types; the unit is `source` where several documents share one."""
    from histeval.datasets.importing import toml_text

    types = types_of(entries)
    deepest = max((level for entry in entries for level in depths(entry.spans)), default=0)
    shared = len(attributes.get("source", ())) > 1 and len(attributes["source"]) < documents
    lines = [
        "# What this dataset says of itself. docs/datasets.md explains every setting.",
        'task = "directories"',
        f"name = {toml_text(dataset_name(name, 'entries'))}",
        f"title = {toml_text(composed(name))}",
        '# languages = ["de"]            # of the texts, as ISO codes',
        '# licence = "CC BY 4.0"',
        '# citation = ""',
        "# published = 2026-01-31       # the day the ground truth became public, if it did",
        "",
        "# What was drawn independently and is resampled: document, or an attribute of the documents.",
        f"unit = {toml_text('source' if shared else 'document')}",
        *([f"# attributes: {', '.join(attributes)}"] if attributes else []),
        "",
        "[truth]",
        'file = "entries.jsonl"',
    ]
    if _recursive(types):
        lines += ["", "# A type may stand inside itself; this many levels are scored.", "[extra]", f"depth = {deepest}"]
    lines += ["", "# The entity types as they occur; children: what may stand directly inside."]
    for kind in types:
        lines += ["", "[[types]]", f"name = {toml_text(kind.name)}"]
        if kind.children:
            lines.append(f"children = [{', '.join(map(toml_text, kind.children))}]")
        if not kind.root:
            lines.append("root = false")
    return "\n".join(lines) + "\n"


def type_name(kind: str) -> str:
    """The name a type has in a dataset: `_` for signs that a tag or a column of scores cannot have.

    >>> type_name("Person name"), type_name("loc.adm-town"), type_name("O")
    ('Person_name', 'loc.adm-town', 'O_')
    """
    name = _SIGNS.sub("_", kind)
    if name[:1].isdigit() or name[:1] in (".", "-"):
        name = "_" + name
    return f"{name}_" if name in _RESERVED else name


def file_names(identifiers: Iterable[str], report: ImportReport) -> dict[str, str]:
    """A name for a file by document id: the id where it can be one, else one like it; no two alike."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for identifier in identifiers:
        name = base = re.sub(r"[^\w.-]", "_", identifier).strip("._")[:80] or "document"
        number = 1
        while name.casefold() in taken:
            number += 1
            name = f"{base}_{number}"
        if name != identifier:
            report.lose("ids that cannot name a file are written in another way", f"{identifier} as {name}")
        taken.add(name.casefold())
        found[identifier] = name
    return found


def _line(document: EntryDocument, entry: Entry) -> dict[str, Any]:
    spans = []
    for span in entry.spans:
        parent = {} if span.parent is None else {"parent": span.parent}
        spans.append({"type": span.type, "start": span.start, "end": span.end, **parent})
    line: dict[str, Any] = {"id": document.id, "text": entry.text, "spans": spans}
    if document.attributes:
        line["attributes"] = document.attributes
    return line


def _checked(document: EntryDocument, options: Options, report: ImportReport) -> Entry:
    """The entry, without the entities that cross another where the options say so."""
    entry, crossing = document.entry()
    if not crossing:
        return entry
    chosen = options.get("overlaps", OVERLAPS.default)
    if chosen not in OVERLAPS.choices:
        raise UsageError(f"the option overlaps takes {' or '.join(OVERLAPS.choices)}, not {chosen!r}")
    if chosen == "refuse":
        span = entry.spans[crossing[0]]
        what = f"has an entity {span.type} from {span.start} to {span.end} that crosses another"
        remedy = "Mend it, or leave such entities out with --option overlaps=drop"
        raise DatasetError(what, file=document.file, line=document.line, item=document.id, remedy=remedy)
    for index in crossing:
        span = entry.spans[index]
        report.leave_out("entities that cross another", f"{document.id}: {span.type} {span.start} to {span.end}")
    return Entry(entry.text, _without(entry.spans, set(crossing)))


def _without(spans: Sequence[Span], left_out: set[int]) -> tuple[Span, ...]:
    """The spans without some of them; what stood inside one of those stands inside what was around it."""
    kept, _ = nest((span.type, span.start, span.end) for index, span in enumerate(spans) if index not in left_out)
    return kept


def one_word(documents: Iterable[EntryDocument], report: ImportReport) -> Iterator[EntryDocument]:
    """The documents with types that have no white space, which formats with columns part words by; what is changed is
    reported as lost."""
    for document in documents:
        spans = []
        for kind, start, end in document.spans:
            word = re.sub(r"\s", "_", kind)
            if word != kind:
                report.lose("white space in types, written as _", f"{document.id}: {kind}")
            spans.append((word, start, end))
        yield replace(document, spans=spans)


class _TypeNames:
    """Types by the names they have in a dataset; each renaming is reported once."""

    def __init__(self, report: ImportReport) -> None:
        self.report = report
        self.spelled: dict[str, str] = {}

    def __call__(self, kind: str) -> str:
        """`type_name`; raises DatasetError where two types would become one."""
        name = type_name(kind)
        if name not in self.spelled:
            self.spelled[name] = kind
            if name != kind:
                what = "types renamed, since a type's name has letters, digits, '.', '-' and '_'"
                self.report.repair(what, f"{kind} is {name}")
        if self.spelled[name] != kind:
            what = f"has the entity types {self.spelled[name]!r} and {kind!r}, which would both be called {name}"
            raise DatasetError(what, file=self.report.path, remedy="Rename one of them")
        return name

    def rename(self, span: Span) -> Span:
        """A span under the name of its type."""
        name = self(span.type)
        return span if name == span.type else Span(name, span.start, span.end, span.parent)


def _recursive(types: Sequence[EntityType]) -> bool:
    """Whether a type may stand inside itself, directly or not."""
    children = {kind.name: kind.children for kind in types}
    for name in children:
        seen: set[str] = set()
        stack = list(children[name])
        while stack:
            inner = stack.pop()
            if inner == name:
                return True
            if inner not in seen:
                seen.add(inner)
                stack.extend(children[inner])
    return False
