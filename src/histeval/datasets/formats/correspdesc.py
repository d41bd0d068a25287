"""TEI correspDesc: the metadata of a letter in its TEI file, or of many letters in a CMIF file.

Source: TEI P5, section 2.4.6 (correspDesc, correspAction), and the CMIF documentation of the TEI correspondence SIG
(Dumont, Haaf and Seifert 2019). Names with a `ref` make authority lists with GND, VIAF and other identifiers.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.formats.authority_tables import Collected
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import local, read_root, root_tag
from histeval.datasets.formats.records import AuthorityList, Item, LetterDocument
from histeval.datasets.published import optional_fields, published_fields
from histeval.errors import DatasetError
from histeval.tasks.description import Field

if TYPE_CHECKING:
    from lxml.etree import _Element

_XML_ID = "{http://www.w3.org/XML/1998/namespace}id"
_ROLES = {"sent": "sender", "received": "receiver"}
_NAMES = {
    "persName": "persons",
    "name": "persons",
    "orgName": "organization",
    "placeName": "place",
    "settlement": "place",
}
_MENTIONS = {
    "mentionsPerson": "mentioned_persons",
    "mentionsOrg": "mentioned_organizations",
    "mentionsPlace": "mentioned_places",
}
_FIELDS = {
    item.name: item
    for item in (
        *published_fields(),
        *optional_fields(),
        Field("sender_place", "place", "places", title="Place of sending"),
        Field("receiver_place", "place", "places", title="Place of receipt"),
        Field("receive_date", "date", title="Date of receipt"),
    )
}


def sniff(source: Source) -> bool:
    """Whether a file is TEI."""
    return root_tag(source)[1] in ("TEI", "teiCorpus", "teiHeader")


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Item]:
    """The letters that are described in some files, and authority lists of the names with identifiers.

    Sent and received: persons, organisations, places and dates; mentions of CMIF too. The id is the `key`, the last
    part of `ref`, or the xml:id of the correspDesc, for the only one of a file the file's name. Raises DatasetError
    where no file has a correspDesc.
    """
    letters: list[LetterDocument] = []
    collected = Collected(report)
    for source in sources:
        report.count("files")
        root = read_root(source)
        found = [element for element in root.iter() if local(element) == "correspDesc"]
        if not found:
            report.leave_out("TEI files without a correspDesc", source.name)
        for number, element in enumerate(found, start=1):
            letters.append(_letter(element, source, number, len(found), collected, report))
    if not letters:
        remedy = "Letters need a correspDesc in the teiHeader; `import manuscripts` reads the text"
        raise DatasetError("has no correspDesc", file=sources[0].path, remedy=remedy)
    lists = collected.lists(sources[0].path)
    for letter in letters:
        _settle(letter, lists)
    yield from letters
    yield from lists


def _letter(
    element: _Element, source: Source, number: int, many: int, collected: Collected, report: ImportReport
) -> LetterDocument:
    values: dict[str, list[str]] = {}
    attributes: dict[str, str] = {}
    identity = _identity(element, source, number, many)

    def add(field: str, item: _Element) -> None:
        name = " ".join("".join(item.itertext()).split())
        if not name:
            report.leave_out(f"empty elements {local(item)}", f"{source.name}: {identity}")
            return
        if name not in values.setdefault(field, []):
            values[field].append(name)
        ref = item.get("ref") or item.get("target") or ""
        collected.note(_FIELDS[field], name, ref.split()[0] if ref.split() else "", "")

    for action in element.iter():
        if local(action) == "correspAction":
            role = _ROLES.get(action.get("type") or "")
            if role is None:
                report.leave_out(f"correspAction of type {(action.get('type') or '')[:40]!r}", identity)
                continue
            for item in action.iter():
                kind = _NAMES.get(local(item))
                if kind is not None and (parent := item.getparent()) is not None and local(parent) not in _NAMES:
                    add(f"{role}_{kind}", item)
                elif local(item) == "date":
                    field = "send_date" if role == "sender" else "receive_date"
                    values.setdefault(field, []).append(_date(item, identity, report))
        elif local(action) in ("ref", "note") and action.get("type"):
            field_name = _MENTIONS.get((action.get("type") or "").split(":")[-1].split("#")[-1])
            if field_name is not None:
                add(field_name, action)
    for name in ("send_date", "sender_persons", "receiver_persons"):
        values.setdefault(name, [])
    if element.get("source"):
        attributes["source"] = (element.get("source") or "").lstrip("#")
    fields = tuple(item for name, item in _FIELDS.items() if name in values)
    values = {item.name: [value for value in values[item.name] if value] for item in fields}
    return LetterDocument(identity, values, "", attributes, fields, source.path, element.sourceline)


def _identity(element: _Element, source: Source, number: int, many: int) -> str:
    """The id of a letter."""
    key = (element.get("key") or "").strip()
    ref = (element.get("ref") or "").strip().rstrip("/")
    last = re.split(r"[/#?=]", ref)[-1] if ref else ""
    named = key or last or element.get(_XML_ID) or ""
    return source.stem if many == 1 and not key else named or f"{source.stem}-{number}"


def _date(item: _Element, identity: str, report: ImportReport) -> str:
    """A date as ISO where an attribute says it; a period as its first and last day."""
    exact = item.get("when") or item.get("when-iso")
    if exact:
        return exact[:10]
    first, last = item.get("from") or item.get("notBefore"), item.get("to") or item.get("notAfter")
    if first or last:
        report.repair("dates that are periods, read as first/last day", identity)
        return "/".join(filter(None, (first, last)))
    words = " ".join("".join(item.itertext()).split())
    if words:
        report.repair("dates without an attribute, kept as they are written", identity)
    return words


def _settle(letter: LetterDocument, lists: Sequence[AuthorityList]) -> None:
    """Names that share an identifier become the first of them; the others are its forms in the list."""
    for item in letter.fields:
        forms = {
            form: entry["name"] for a in lists if a.name == item.authority for entry in a.entries
            for form in entry["alternateName"]
        }  # fmt: skip
        own = {entry["name"] for a in lists if a.name == item.authority for entry in a.entries}
        named = [value if value in own else forms.get(value, value) for value in letter.values[item.name]]
        letter.values[item.name] = list(dict.fromkeys(named))
