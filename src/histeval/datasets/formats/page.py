"""PAGE XML: the format of Transkribus, eScriptorium and OCR-D for regions, lines and their text.

Definition: PAGE-XML page content, PRImA, https://github.com/PRImA-Research-Lab/PAGE-XML (all versions from 2009 to
2019). Of several `TextEquiv` the one with the lowest index counts, as the definition says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import files_of, foreign_namespace, local, number, read_root, root_tag, split_tag
from histeval.datasets.formats.order import Node, reading_order
from histeval.datasets.formats.pages import Line, Page, Region, count_page, lines_of, page_ids, place_of
from histeval.errors import DatasetError, UsageError

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/"
VERSIONS = (
    *("2009-03-16", "2010-01-12", "2010-03-19", "2013-07-15", "2016-07-15"),
    *("2017-07-15", "2018-07-15", "2019-07-15"),
)
_INNER = {"region": "TextLine", "line": "Word", "word": "Glyph"}
_STRUCTURE = re.compile(r"structure\s*\{[^}]*?\btype\s*:\s*([^;}]+)")
_ORDER = re.compile(r"readingOrder\s*\{[^}]*?\bindex\s*:\s*(\d{1,9})")
_REFERENCE = re.compile(r"histeval\s*\{[^}]*?\breference\s*:\s*([^;}]+)")
_POINT = re.compile(r"(-?\d{1,9})(?:\.\d+)?,(-?\d{1,9})(?:\.\d+)?")


def sniff(source: Source) -> bool:
    """Whether the root element is that of PAGE."""
    return root_tag(source)[1] == "PcGts"


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Page]:
    """The pages in some PAGE files, a file a page; files of an export that hold no page (METS) are left out."""
    pages = files_of(sources, sniff, report, "PAGE XML")
    ids = page_ids(pages)
    for source in pages:
        page = _Reader(source, ids[source.name], options, report).page()
        count_page(page, report)
        yield page


class _Reader:
    """Reads one file."""

    def __init__(self, source: Source, identifier: str, options: Options, report: ImportReport) -> None:
        from histeval.datasets.formats.registry import FORMATS

        self.source, self.id, self.options, self.report = source, identifier, options, report
        # Ids that the reading order names: such a region inside another is not read with the outer one.
        self.inside: set[str] = set()
        self.level = FORMATS["page"].option(options, "level")
        index = FORMATS["page"].option(options, "index")
        self.index = number(index)
        if index and self.index is None:
            raise UsageError(f"the option index of page takes a whole number, not {index[:80]!r}")

    def at(self, item: str) -> str:
        return f"{self.id}: {item}"

    def page(self) -> Page:
        root = read_root(self.source)
        namespace = split_tag(root.tag)[0]
        if namespace.removeprefix(NAMESPACE) not in VERSIONS:
            raise foreign_namespace(root, self.source, "PAGE", [f"{NAMESPACE}{version}" for version in VERSIONS])
        element = next((child for child in root if local(child) == "Page"), None)
        if element is None:
            raise DatasetError("holds no Page", file=self.source.path, remedy="Export it again")
        regions = [region for top in self._in_order(element) for region in self._region(top)]
        reference = _REFERENCE.search(element.get("custom") or "")
        image = element.get("imageFilename") or ""
        name = reference[1].strip() if reference else ""
        return Page(self.id, tuple(regions), image, name, str(self.source.path))

    def _in_order(self, page: _Element) -> list[_Element]:
        """The regions of a page that the reading order names or that stand at the top, in reading order."""
        regions = {region.get("id") or f"r{n}": region for n, region in enumerate(_regions(page), start=1)}
        if len(regions) < sum(1 for _ in _regions(page)):
            names = [region.get("id") for region in _regions(page)]
            twice = next((name for name in names if name and names.count(name) > 1), "")
            what = f"has two regions with one id{f', {twice[:80]}' if twice else ''}"
            raise DatasetError(what, file=self.source.path, remedy="Give each its own id")
        order = next((child for child in page if local(child) == "ReadingOrder"), None)
        top = [
            name
            for name, region in regions.items()
            if split_tag(getattr(region.getparent(), "tag", None))[1] not in _REGIONS
        ]
        if order is None or not len(order):
            indices = {name: _custom_index(regions[name]) for name in top}
            known = [index for index in indices.values() if index is not None]
            if len(known) == len(top) and len(set(known)) == len(top):
                top.sort(key=lambda name: indices[name] or 0)
            return [regions[name] for name in top]
        named = reading_order(_group(order), set(regions), self.source.path, self.report, self.at)
        chosen = set(named)
        self.inside = chosen
        outside = [name for name in top if name not in chosen]
        if outside:
            outside.sort(key=lambda name: _position(regions[name]))
            what = "a region outside the reading order, put after the others by position"
            self.report.repair(what, *map(self.at, outside))
        return [regions[name] for name in (*named, *outside)]

    def _region(self, element: _Element) -> Iterator[Region]:
        """A region and those inside it that the reading order does not name."""
        name = element.get("id") or "region without id"
        kind = _kind(element)
        lines = self._lines(element, name)
        if lines or local(element) in ("TextRegion", "TableCell"):
            yield from self._parted(Region(kind, tuple(line for line, _ in lines), name), [k for _, k in lines])
        inner = [child for child in element if local(child) in _REGIONS and child.get("id") not in self.inside]
        if local(element) == "TableRegion":
            inner.sort(key=_cell)
        for child in inner:
            yield from self._region(child)

    def _parted(self, region: Region, kinds: list[str]) -> Iterator[Region]:
        """A region, lines that are marked as something else (a folio number, say) made regions of their own."""
        home = place_of(region.kind, self.options, self.report, self.at(region.id))
        own: list[Line] = []
        others: list[Region] = []
        for line, kind in zip(region.lines, kinds, strict=True):
            if kind and place_of(kind, self.options, self.report, self.at(line.id)) != home:
                self.report.repair(f"a line of type {kind} made a region of its own", self.at(line.id))
                others.append(Region(kind, (line,), line.id))
            else:
                own.append(line)
        if own or not others:
            yield Region(region.kind, tuple(own), region.id)
        yield from others

    def _lines(self, region: _Element, name: str) -> list[tuple[Line, str]]:
        """The lines of a region with the structure type each is marked with; those of its text where it has none."""
        elements = [child for child in region if local(child) == "TextLine"]
        indices = [_custom_index(line) for line in elements]
        known = [index for index in indices if index is not None]
        if len(known) == len(elements) == len(set(known)) and known != sorted(known):
            elements = [line for _, line in sorted(zip(known, elements, strict=True), key=lambda pair: pair[0])]
            self.report.repair("lines put in the order their custom readingOrder gives", self.at(name))
        whole = self._equiv(region, name) if self.level == "region" or not elements else None
        if whole is None and elements:
            texts = [self._text(line, line.get("id") or name) for line in elements]
            if not any(texts) and (words := self._equiv(region, name)):
                self.report.repair("a region whose lines have no text: its own text read", self.at(name))
                whole = words
            else:
                found = []
                for line, text in zip(elements, texts, strict=True):
                    identifier = line.get("id") or name
                    kind = _STRUCTURE.search(line.get("custom") or "")
                    parts = lines_of(text, identifier, self.report, self.at(identifier))
                    if len(parts) > 1:
                        self.report.repair("a line with line breaks inside read as several", self.at(identifier))
                    else:
                        parts = (Line(text, identifier),)
                    found += [(part, kind[1].strip() if kind else "") for part in parts]
                return found
        if not whole:
            return []
        if not elements:
            self.report.repair("a region without lines: the lines of its text read", self.at(name))
        return [(line, "") for line in lines_of(whole, name, self.report, self.at(name))]

    def _text(self, line: _Element, name: str) -> str:
        """The text of a line: its own, else that of its words, else of their letters."""
        words = [child for child in line if local(child) == "Word"]
        if self.level != "word" or not words:
            own = self._equiv(line, name)
            if own is not None and (own or not words):
                return own
            if not words:
                return ""
            self.report.repair("a line without text: its words read", self.at(name))
        texts = []
        for word in words:
            text = self._equiv(word, word.get("id") or name)
            if not text:
                glyphs = [child for child in word if local(child) == "Glyph"]
                text = "".join(self._equiv(glyph, name) or "" for glyph in glyphs)
            texts.append(text)
        return " ".join(text for text in texts if text)

    def _equiv(self, element: _Element, name: str) -> str | None:
        """The text of an element, by the option index or the lowest index; None where it has no TextEquiv."""
        found = [child for child in element if local(child) == "TextEquiv"]
        if not found:
            return None
        if len(found) == 1 and self.index is None:
            return self._unicode(found[0], name)
        indexed = [(number(equiv.get("index")), equiv) for equiv in found]
        asked = [equiv for index, equiv in indexed if self.index is not None and index == self.index]
        if self.index is not None and not asked:
            self.report.repair(f"no TextEquiv with index {self.index}: the lowest read", self.at(name))
        # One without an index comes last; without any, the first counts.
        order = sorted(indexed, key=lambda pair: (pair[0] is None, pair[0] or 0))
        chosen = (asked or [equiv for _, equiv in order])[0]
        if len(found) > 1:
            self.report.leave_out("another reading of a text (TextEquiv)", *[self.at(name)] * (len(found) - 1))
        return self._unicode(chosen, name)

    def _unicode(self, equiv: _Element, name: str) -> str:
        parts = {local(child): "".join(child.itertext()) for child in equiv}
        if not parts.get("Unicode") and parts.get("PlainText"):
            self.report.repair("PlainText read, since Unicode is empty", self.at(name))
            return parts["PlainText"]
        return parts.get("Unicode", "")


_REGIONS = frozenset(
    f"{kind}Region"
    for kind in (
        *("Text", "Image", "LineDrawing", "Graphic", "Table", "Chart", "Separator", "Maths", "Chem", "Music"),
        *("Advert", "Noise", "Unknown", "Custom", "Map", "Frame"),
    )
) | {"TableCell"}


def _regions(element: _Element) -> Iterator[_Element]:
    for child in element.iter():
        if local(child) in _REGIONS:
            yield child


def _is_inner(region: _Element) -> bool:
    around = region.getparent()
    return around is not None and local(around) in _REGIONS


def _kind(region: _Element) -> str:
    """The type of a region: the structure type of Transkribus and eScriptorium, else PAGE's own."""
    structure = _STRUCTURE.search(region.get("custom") or "")
    if structure is not None:
        return structure[1].strip()
    return region.get("type") or ("" if local(region) == "TextRegion" else local(region).removesuffix("Region"))


def _custom_index(element: _Element) -> int | None:
    match = _ORDER.search(element.get("custom") or "")
    return int(match[1]) if match else None


def _cell(element: _Element) -> tuple[int, int]:
    return number(element.get("row")) or 0, number(element.get("col")) or 0


def _position(region: _Element) -> tuple[int, int]:
    """Top and left of a region; 2009 and 2010 write points as elements."""
    coords = next((child for child in region if local(child) == "Coords"), None)
    if coords is None:
        return 0, 0
    points = [(int(x), int(y)) for x, y in _POINT.findall(coords.get("points") or "")]
    points += [(number(p.get("x")) or 0, number(p.get("y")) or 0) for p in coords if local(p) == "Point"]
    return min((y for _, y in points), default=0), min((x for x, _ in points), default=0)


def _group(element: _Element) -> Node:
    """A reading-order group as a tree: its children in order, references as leaves."""
    name = local(element)
    children = list(element)
    if name.startswith("Ordered"):
        far = 1 << 60
        children.sort(key=lambda child: far if number(child.get("index")) is None else number(child.get("index")) or 0)
    inner = tuple(
        Node(child.get("regionRef") or "") if local(child).startswith("RegionRef") else _group(child)
        for child in children
        if local(child).startswith(("RegionRef", "OrderedGroup", "UnorderedGroup"))
    )
    return Node(element.get("regionRef") or "", element.get("id") or "", inner)


def write(pages: Iterable[Page], options: Options, report: ImportReport) -> dict[str, bytes]:
    """A PAGE file (version 2013-07-15, which Transkribus and eScriptorium read) for each page, `page/ID.xml`."""
    from histeval.datasets.formats.page_writer import page_xml

    return {f"page/{page.id}.xml": page_xml(page, report) for page in pages}
