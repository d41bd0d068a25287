"""ALTO XML, versions 2 to 4: the format of libraries and, beside PAGE, of eScriptorium.

Definition: Library of Congress, https://www.loc.gov/standards/alto/. `String` and `SP` make the text of a line, `HYP`
is the hyphen at its end; `SUBS_CONTENT` is the whole word of a hyphenated or abbreviated one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import (
    add,
    files_of,
    foreign_namespace,
    local,
    read_root,
    root_tag,
    split_tag,
    xml_text,
)
from histeval.datasets.formats.order import Node, reading_order
from histeval.datasets.formats.pages import Line, Page, Region, count_page, page_ids
from histeval.errors import DatasetError

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMESPACES = tuple(f"http://www.loc.gov/standards/alto/ns-v{version}#" for version in (2, 3, 4))
_MARGINS = {"TopMargin": "header", "BottomMargin": "footer", "LeftMargin": "marginalia", "RightMargin": "marginalia"}


def sniff(source: Source) -> bool:
    """Whether the root element is that of ALTO."""
    return root_tag(source)[1] == "alto"


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Page]:
    """The pages in some ALTO files; the second page of a file gets the number 2, and so on."""
    files = files_of(sources, sniff, report, "ALTO")
    ids = page_ids(files)
    for source in files:
        for page in _Reader(source, ids[source.name], options, report).pages():
            count_page(page, report)
            yield page


class _Reader:
    """Reads one file."""

    def __init__(self, source: Source, identifier: str, options: Options, report: ImportReport) -> None:
        from histeval.datasets.formats.registry import FORMATS

        self.source, self.id, self.report = source, identifier, report
        self.edited = FORMATS["alto"].option(options, "choice") == "edited"

    def at(self, item: str) -> str:
        return f"{self.id}: {item}"

    def pages(self) -> Iterator[Page]:
        root = read_root(self.source)
        namespace = split_tag(root.tag)[0]
        if namespace not in NAMESPACES:
            raise foreign_namespace(root, self.source, "ALTO", list(NAMESPACES))
        layout = next((child for child in root if local(child) == "Layout"), None)
        pages = [child for child in layout if local(child) == "Page"] if layout is not None else []
        if not pages:
            raise DatasetError("holds no Page", file=self.source.path, remedy="Export it again")
        tags = {
            tag.get("ID") or "": tag.get("LABEL") or "" for child in root if local(child) == "Tags" for tag in child
        }
        names = ("".join(element.itertext()).strip() for element in root.iter() if local(element) == "fileName")
        image = next(names, "")
        order = next((child for child in root if local(child) == "ReadingOrder"), None)
        for index, page in enumerate(pages, start=1):
            identifier = self.id if index == 1 else f"{self.id}_{index}"
            blocks = list(self._blocks(page, "", tags))
            inner = next((child for child in page if local(child) == "ReadingOrder"), order)
            regions = [self._region(block, kind) for block, kind in self._in_order(blocks, inner)]
            yield Page(identifier, tuple(regions), image if index == 1 else "", "", str(self.source.path))

    def _blocks(self, element: _Element, margin: str, tags: dict[str, str]) -> Iterator[tuple[_Element, str]]:
        """The text blocks below an element with their kinds: by tag, by TYPE, by the block around it, by margin."""
        waiting = [(element, margin)]
        while waiting:
            outer, kind = waiting.pop()
            name = local(outer)
            labels = [tags.get(reference, "") for reference in (outer.get("TAGREFS") or "").split()]
            kind = next(filter(None, labels), "") or outer.get("TYPE") or _MARGINS.get(name, kind)
            if name == "TextBlock":
                yield outer, kind
            elif name in ("Page", "PrintSpace", "ComposedBlock", *_MARGINS):
                waiting += [(child, "" if name == "Page" else kind) for child in reversed(outer)]

    def _in_order(self, blocks: list[tuple[_Element, str]], order: _Element | None) -> list[tuple[_Element, str]]:
        """The blocks by ReadingOrder (ALTO 4), by IDNEXT, or as they stand."""
        by_id = {block.get("ID") or f"block {n}": (block, kind) for n, (block, kind) in enumerate(blocks, start=1)}
        if len(by_id) < len(blocks):
            raise DatasetError("has two blocks with one ID", file=self.source.path, remedy="Give each its own ID")
        if order is not None:
            known = reading_order(_group(order), set(by_id), self.source.path, self.report, self.at)
            return [by_id[name] for name in self._and_outside(known, list(by_id))]
        following = {name: block.get("IDNEXT") for name, (block, _) in by_id.items() if block.get("IDNEXT")}
        for block_id in [name for name, target in following.items() if target not in by_id]:
            self.report.leave_out("an IDNEXT that names no block of the page", self.at(block_id))
            del following[block_id]
        if not following:
            return list(by_id.values())
        firsts = [name for name in by_id if name not in following.values()]
        chain: dict[str, None] = {}
        for first in firsts:
            block: str | None = first
            while block is not None and block not in chain:
                chain[block] = None
                block = following.get(block)
            if block is not None:
                self.report.repair("a block that IDNEXT names twice, read at its first place", self.at(block))
        if len(chain) < len(by_id):
            missing = next(name for name in by_id if name not in chain)
            what = f"has a reading order that is cyclic: IDNEXT of {missing[:80]!r} leads back to itself"
            raise DatasetError(what, file=self.source.path, remedy="Mend IDNEXT")
        return [by_id[name] for name in chain]

    def _and_outside(self, named: list[str], names: list[str]) -> list[str]:
        outside = [name for name in names if name not in set(named)]
        if outside:
            what = "a block outside the reading order, put after the others"
            self.report.repair(what, *map(self.at, outside))
        return [*named, *outside]

    def _region(self, block: _Element, kind: str) -> Region:
        name = block.get("ID") or "block without id"
        lines = [child for child in block if local(child) == "TextLine"]
        found = []
        for index, line in enumerate(lines, start=1):
            identifier = line.get("ID") or f"{name}_l{index}"
            found.append(Line(self._text(line, identifier), identifier))
        return Region(kind, tuple(found), name)

    def _text(self, line: _Element, name: str) -> str:
        """The text of a line. Words without SP between them are parted by one blank."""
        text, after_word, skipped = "", False, False
        for child in line:
            kind = local(child)
            if kind == "SP":
                # The blank after a part of a word that is read in the line before goes with it.
                text, after_word, skipped = text + ("" if skipped else " "), False, False
            elif kind == "HYP":
                if not self.edited:
                    text += child.get("CONTENT") or ""
                after_word = False
            elif kind == "String":
                content = child.get("CONTENT")
                if content is None:
                    self.report.leave_out("a String without CONTENT", self.at(name))
                    continue
                if self.edited and child.get("SUBS_CONTENT"):
                    if child.get("SUBS_TYPE") == "HypPart2":
                        self.report.leave_out("the second part of a word read whole in the line before", self.at(name))
                        skipped = True
                        continue
                    content = child.get("SUBS_CONTENT") or content
                text, after_word, skipped = (f"{text} {content}" if after_word else text + content), True, False
        if "\n" in text or "\r" in text:
            self.report.repair("a line break inside a line read as a blank", self.at(name))
            text = text.replace("\r\n", " ").replace("\n", " ").replace("\r", " ")
        return text


def _group(element: _Element) -> Node:
    inner = tuple(
        Node(child.get("REF") or "") if local(child) == "ElementRef" else _group(child)
        for child in element
        if local(child) in ("ElementRef", "OrderedGroup", "UnorderedGroup")
    )
    return Node(element.get("REF") or "", element.get("ID") or "", inner)


def write(pages: Iterable[Page], options: Options, report: ImportReport) -> dict[str, bytes]:
    """An ALTO 4 file for each page, `alto/ID.xml`."""
    return {f"alto/{page.id}.xml": _alto_xml(page, report) for page in pages}


def _alto_xml(page: Page, report: ImportReport) -> bytes:
    """The ALTO file of a page: a String holds a whole line, as eScriptorium writes it."""
    from lxml import etree

    space = f"{{{NAMESPACES[2]}}}"
    report.count("pages")
    report.count("regions", len(page.regions))
    report.count("lines", sum(len(region.lines) for region in page.regions))
    report.lose("positions of regions and lines: made up", page.id)
    if page.reference:
        report.lose("what the edition calls the page", page.id)
    root = etree.Element(f"{space}alto", nsmap={None: NAMESPACES[2]})
    description = etree.SubElement(root, f"{space}Description")
    etree.SubElement(description, f"{space}MeasurementUnit").text = "pixel"
    information = etree.SubElement(description, f"{space}sourceImageInformation")
    etree.SubElement(information, f"{space}fileName").text = xml_text(page.image or f"{page.id}.jpg", report, page.id)
    tags = etree.SubElement(root, f"{space}Tags")
    kinds = list(dict.fromkeys(region.kind for region in page.regions if region.kind))
    for number, kind in enumerate(kinds, start=1):
        etree.SubElement(tags, f"{space}OtherTag", ID=f"BT{number}", LABEL=xml_text(kind, report, page.id))
    height = 40 * (1 + sum(1 + len(region.lines) for region in page.regions))
    size = {"WIDTH": "1000", "HEIGHT": str(height)}
    layout = etree.SubElement(root, f"{space}Layout")
    body = add(layout, f"{space}Page", {"ID": "page", "PHYSICAL_IMG_NR": "1", **size})
    area = add(body, f"{space}PrintSpace", {"HPOS": "0", "VPOS": "0", **size})
    top = 40
    for index, region in enumerate(page.regions, start=1):
        item = f"{page.id}: {region.id or region.kind}"
        place = {"ID": f"b{index}", **_box(top, max(1, len(region.lines)))}
        if region.kind:
            place["TAGREFS"] = f"BT{kinds.index(region.kind) + 1}"
        block = add(area, f"{space}TextBlock", place)
        for row, line in enumerate(region.lines):
            box = _box(top + 40 * row, 1)
            element = add(block, f"{space}TextLine", {"ID": f"b{index}l{row + 1}", **box})
            words = xml_text(line.text, report, item)
            add(element, f"{space}String", {"ID": f"b{index}l{row + 1}s", "CONTENT": words, **box})
        top += 40 * (1 + len(region.lines))
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


def _box(top: int, lines: int) -> dict[str, str]:
    return {"HPOS": "0", "VPOS": str(top), "WIDTH": "1000", "HEIGHT": str(40 * lines)}
