"""Inline XML: the entities as elements in the text, one entry a line, or an XML document with an element an entry."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.directories import UNCERTAIN
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.columns import head_lines, text_lines
from histeval.datasets.formats.entries import EntryDocument, Triple
from histeval.datasets.formats.markup import local, read_root, root_tag
from histeval.entities.grammar import Grammar
from histeval.entities.markup import FAULTS, escape, read_markup, write_markup
from histeval.entities.spans import Entry
from histeval.errors import DatasetError, UsageError

if TYPE_CHECKING:
    from lxml.etree import _Element

ENTRIES = ("entry", "document", "doc", "item")
"""Elements that hold an entry, unless the option `entry` names another."""
NOT_ENTITIES = frozenset(
    (
        *(
            "p",
            "s",
            "w",
            "pc",
            "ab",
            "div",
            "head",
            "seg",
            "hi",
            "lb",
            "pb",
            "cb",
            "gb",
            "fw",
            "note",
            "del",
            "add",
            "choice",
            "orig",
        ),
        *("reg", "sic", "corr", "abbr", "expan", "ex", "unclear", "supplied", "gap", "text", "body", "front", "back"),
        *("group", "list", "item", "milestone", "anchor"),
    )
)
"""Elements of editions that are no entities; the option `skip` replaces this list."""
GENERIC = frozenset(("rs", "name", "ne", "ent", "entity", "enamex"))
"""Elements whose attribute `type` names the type of the entity."""
_IDS = ("{http://www.w3.org/XML/1998/namespace}id", "id", "n")
_TAG = re.compile(r"</?([A-Za-z_][\w.\-:]*)")
_ELEMENT = re.compile(r"<([A-Za-z_][\w.\-]*)[^<>]*>[^<>]*(?:<[^<>]*>[^<>]*)*</\1>")
_NAME = re.compile(r"[A-Za-z_][\w.\-]*")
_FORBIDDEN = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def sniff(source: Source) -> bool:
    """Whether the first lines hold elements in a text, or the file is XML of no format of pages."""
    if root_tag(source)[1]:
        return root_tag(source)[1].lower() not in ("pcgts", "alto", "html", "mets")
    if source.suffix in (".ann", ".json", ".jsonl", ".csv", ".html"):
        return False
    lines = [line for line in head_lines(source, 50) if line.strip()]
    return bool(lines) and any(_ELEMENT.search(line[:2000]) for line in lines) and "\t" not in lines[0]


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The entries of some files.

    Options: `layout` (auto, lines, document), `entry` (the element that holds an entry), `skip` (elements that are no
    entities, with blanks between), `type` (the attribute that names the type, for every element).
    """
    layout = options.get("layout", "auto")
    if layout not in ("auto", "lines", "document"):
        raise UsageError(f"the option layout takes auto, lines or document, not {layout!r}")
    for source in sources:
        report.count("files")
        prefix = f"{source.stem}-" if len(sources) > 1 else ""
        if layout == "document" or (layout == "auto" and _is_document(source)):
            yield from _from_document(source, prefix, options, report)
        else:
            yield from _from_lines(source, prefix, report)


def _is_document(source: Source) -> bool:
    """Whether a file is one XML document: it says so, or is one as a whole."""
    if source.head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"<?xml"):
        return True
    if not root_tag(source)[1]:
        return False
    try:
        read_root(source)
    except DatasetError:
        return False
    return True


def _from_lines(source: Source, prefix: str, report: ImportReport) -> Iterator[EntryDocument]:
    lines = [(number, line) for number, line in text_lines(source) if line.strip()]
    types = tuple(dict.fromkeys(match[1] for _, line in lines for match in _TAG.finditer(line)))
    # A grammar in which everything may stand everywhere: so types keep their spelling, hyphens included.
    grammar = Grammar(types, dict.fromkeys(types, types), types, 1, {})
    if not lines:
        raise DatasetError("is empty", file=source.path, remedy="Write an entry a line, its entities as elements")
    for index, (number, line) in enumerate(lines):
        entry, faults = read_markup(line, grammar)
        document = EntryDocument(f"{prefix}{index}", entry.text, [], {}, source.path, number)
        for fault in faults:
            if fault.kind in UNCERTAIN:
                item = f"character {fault.offset + 1}"
                raise DatasetError(fault.what, file=source.path, line=number, item=item, remedy="Mend the markup")
            if fault.kind != "empty":
                report.repair(FAULTS[fault.kind], f"{source.name}, line {number}")
        for span in entry.spans:
            if span.start == span.end:
                report.leave_out("elements without text", f"{source.name}, line {number}: {span.type}")
            else:
                document.spans.append((span.type, span.start, span.end))
        yield document


def _from_document(source: Source, prefix: str, options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    root = read_root(source)
    named = str(options.get("entry", ""))
    names = (named,) if named else ENTRIES
    found = [element for element in root.iter() if local(element) in names]
    if named and not found:
        raise DatasetError(
            f"has no element {named[:80]}",
            file=source.path,
            remedy="Name the element that holds an entry with --option entry=NAME",
        )
    if not found and len(root) and not (root.text or "").strip() and not any((e.tail or "").strip() for e in root):
        found = [element for element in root if local(element) not in ("teiHeader", "")]
    found = found or [root]
    skip = frozenset(str(options["skip"]).replace(",", " ").split()) if options.get("skip") else NOT_ENTITIES
    attribute = str(options.get("type", ""))
    inside: set[_Element] = set()
    for number, element in enumerate(found):
        if element in inside:
            continue  # an entry inside an entry is part of it
        inside.update(element.iterdescendants())
        identifier = next((element.get(key) for key in _IDS if element.get(key)), None) or f"{prefix}{number}"
        attributes = {
            str(key): value for key, value in element.items() if key not in _IDS and not str(key).startswith("{")
        }
        text, spans = _walk(element, skip, attribute, f"{source.name}: {identifier}", report)
        yield EntryDocument(identifier, text, spans, attributes, source.path, element.sourceline or None)


def _walk(
    element: _Element, skip: frozenset[str], attribute: str, place: str, report: ImportReport
) -> tuple[str, list[Triple]]:
    """The text inside an element and the entities in it, outer ones first."""
    from lxml import etree

    parts = [element.text or ""]
    size = len(parts[0])
    spans: list[tuple[str, int, int]] = []
    starts: dict[_Element, int] = {}
    for event, inner in etree.iterwalk(element, events=("start", "end")):
        if inner is element:
            continue
        if event == "start":
            if local(inner) not in skip:
                starts[inner] = len(spans)
                spans.append((_type(inner, attribute), size, size))
            else:
                report.leave_out(f"elements {local(inner)} (their text is kept)", place)
            added = inner.text or ""
        else:
            if inner in starts:
                kind, start, _ = spans[starts[inner]]
                spans[starts[inner]] = (kind, start, size)
            added = inner.tail or ""
        parts.append(added)
        size += len(added)
    for kind, start, end in spans:
        if start == end:
            report.leave_out("elements without text", f"{place}: {kind}")
    return "".join(parts), [span for span in spans if span[1] < span[2]]


def _type(element: _Element, attribute: str) -> str:
    if attribute:
        return element.get(attribute) or local(element)
    if local(element).lower() in GENERIC:
        return element.get("type") or element.get("TYPE") or local(element)
    return local(element)


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`entries.xml`: an element `entry` a document, its entities as elements."""
    lines = ['<?xml version="1.0" encoding="UTF-8"?>', '<entries xml:space="preserve">']
    for document in documents:
        kept = []
        for kind, start, end in document.spans:
            if _NAME.fullmatch(kind) is None:
                report.lose("entities whose type is no name of an element", f"{document.id}: {kind}")
            elif kind in NOT_ENTITIES or kind.lower() in GENERIC or kind in ENTRIES:
                report.lose("entities whose type is an element of another meaning", f"{document.id}: {kind}")
            else:
                kept.append((kind, start, end))
        entry = EntryDocument(document.id, document.text, kept).nested(report)
        markup = write_markup(Entry(_allowed(entry.text, document.id, report), entry.spans)).replace("\r", "&#13;")
        lines.append(f"<entry{_attributes(document, report)}>{markup}</entry>")
        report.count("documents")
        report.count("entities", len(entry.spans))
    return {"entries.xml": "\n".join([*lines, "</entries>", ""]).encode()}


def _attributes(document: EntryDocument, report: ImportReport) -> str:
    given: dict[str, str] = {"id": document.id}
    for key, value in document.attributes.items():
        if _NAME.fullmatch(key) and key not in ("id", "n"):
            given[key] = value
        else:
            report.lose("attributes of documents", f"{document.id}: {key}")
    return "".join(f' {key}="{_quoted(_allowed(value, document.id, report))}"' for key, value in given.items())


def _quoted(value: str) -> str:
    signs: Mapping[int, str] = {ord('"'): "&quot;", 9: "&#9;", 10: "&#10;", 13: "&#13;"}
    return escape(value).translate(signs)


def _allowed(text: str, identifier: str, report: ImportReport) -> str:
    if _FORBIDDEN.search(text):
        report.lose("characters that XML cannot hold, written as U+FFFD", identifier)
        return _FORBIDDEN.sub("\ufffd", text)
    return text
