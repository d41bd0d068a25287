"""XML of other programs, read safely: no entities, no network, no DTD, limits on depth and size."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import lru_cache
from typing import TYPE_CHECKING

from histeval.datasets.formats.base import HEAD, ImportReport, Source
from histeval.errors import DatasetError

if TYPE_CHECKING:
    from lxml.etree import _Element

_ENTITY = re.compile(rb"<!ENTITY\s+(?:%\s+)?([\w.:-]+)")
_NOT_XML = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ud800-\udfff\ufffe\uffff]")


def read_root(source: Source) -> _Element:
    """The root of an XML file; raises DatasetError with the line where it is malformed, declares or uses entities, or
    nests deeper than 256 elements."""
    from lxml import etree

    data = source.data
    if not data.strip(b"\xef\xbb\xbf \t\r\n"):
        raise DatasetError("is empty", file=source.path, remedy="Export it again")
    declared = _ENTITY.search(data[:HEAD])
    if declared is not None:
        what = f"declares the entity {declared[1].decode('latin-1')[:80]}, and entities are not read"
        raise DatasetError(what, file=source.path, remedy="Write its text in its place and remove the declaration")
    parser = etree.XMLParser(
        resolve_entities=False, no_network=True, load_dtd=False, dtd_validation=False, remove_comments=True,
        remove_pis=True, huge_tree=False,
    )  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError as fault:
        words = re.sub(r",? ?line \d+, column \d+.*", "", " ".join(str(fault.msg or "nothing in it").split()))
        what = f"is not well-formed XML: {words}"
        raise DatasetError(what, file=source.path, line=fault.lineno or None, remedy="Export it again") from None
    except (ValueError, LookupError) as fault:
        raise DatasetError(f"is not XML: {fault}", file=source.path, remedy="Export it again, as UTF-8") from None
    dtd = root.getroottree().docinfo.internalDTD
    for declared_entity in dtd.iterentities() if dtd is not None else ():  # in UTF-16, say
        what = f"declares the entity {str(declared_entity.name)[:80]}, and entities are not read"
        raise DatasetError(what, file=source.path, remedy="Write its text in its place and remove the declaration")
    for entity in root.iter(etree.Entity):
        what = f"uses the entity {str(entity.text)[:80]}, and entities are not read"
        line = entity.sourceline
        raise DatasetError(what, file=source.path, line=line, remedy="Write its text in its place")
    return root


def root_tag(source: Source) -> tuple[str, str]:
    """Namespace and name of the root element, from the head of a file; both empty where it is no XML."""
    from lxml import etree

    head = source.head
    if not head.lstrip(b"\xef\xbb\xbf \t\r\n").startswith((b"<", b"\xff\xfe", b"\xfe\xff")):
        return "", ""
    parser = etree.XMLPullParser(("start",), resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False)
    for start in range(0, len(head), 2048):
        # What comes after the root may be malformed: the root is known all the same, and reading says what is wrong.
        with suppress(etree.XMLSyntaxError, ValueError, LookupError):
            parser.feed(head[start : start + 2048])
        with suppress(etree.XMLSyntaxError, ValueError, LookupError):
            for _, element in parser.read_events():
                return split_tag(element.tag)
    return "", ""


def files_of(
    sources: Sequence[Source], sniff: Callable[[Source], bool], report: ImportReport, what: str
) -> list[Source]:
    """The files that `sniff` knows; the others (a METS file, say) are reported. Raises DatasetError for one that is
    named .xml and is no XML at all, since it may be a page that was damaged."""
    found = []
    for source in sources:
        if sniff(source):
            found.append(source)
        elif source.suffix == ".xml" and root_tag(source) == ("", ""):
            read_root(source)
            raise DatasetError("cannot be told to be XML", file=source.path, remedy="Save it as UTF-8")
        else:
            report.leave_out(f"a file that is no {what}", source.name)
    return found


def split_tag(tag: object) -> tuple[str, str]:
    """Namespace and local name of a tag; both empty for what is no element.

    >>> split_tag("{http://www.tei-c.org/ns/1.0}pb")
    ('http://www.tei-c.org/ns/1.0', 'pb')
    """
    return _split(tag) if isinstance(tag, str) else ("", "")


@lru_cache(maxsize=1024)
def _split(tag: str) -> tuple[str, str]:
    if tag.startswith("{"):
        namespace, _, name = tag[1:].partition("}")
        return namespace, name
    return "", tag


def local(element: _Element) -> str:
    """The local name of an element, empty for comments and the like."""
    return split_tag(element.tag)[1]


def foreign_namespace(root: _Element, source: Source, name: str, known: Sequence[str]) -> DatasetError:
    """What is raised for a root element that has none of the namespaces of a format; `known` names them."""
    namespace = split_tag(root.tag)[0]
    what = f"has the namespace {namespace[:200]!r}, which no published version of {name} has"
    if not namespace:
        what = f"has no namespace, which every version of {name} has"
    more = f" (or, for other versions, {', '.join(known[:-1])})" if len(known) > 1 else ""
    remedy = f'Write xmlns="{known[-1]}" into its first element{more}, or export it again'
    return DatasetError(what, file=source.path, line=root.sourceline or None, remedy=remedy)


def number(text: str | None) -> int | None:
    """A whole number in an attribute, None where there is none."""
    text = (text or "").strip()
    return int(text) if re.fullmatch(r"-?[0-9]{1,12}", text) else None


def xml_text(text: str, report: ImportReport, item: str) -> str:
    """A text as XML can hold it: characters that XML forbids become U+FFFD, which the report says."""
    if "\r" in text:
        report.lose("carriage returns, which come back as line ends", item)
    if _NOT_XML.search(text):
        report.lose("characters that XML cannot hold, written as U+FFFD", item)
        return _NOT_XML.sub("\ufffd", text)
    return text


def add(parent: _Element, tag: str, attributes: Mapping[str, str]) -> _Element:
    """A new last child of `parent`."""
    from lxml import etree

    element = etree.SubElement(parent, tag)
    for name, value in attributes.items():
        element.set(name, value)
    return element
