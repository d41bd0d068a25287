"""Writing PAGE XML. Positions are not kept in a dataset, so that those written are made up, and the report says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

from histeval.datasets.formats.base import ImportReport
from histeval.datasets.formats.markup import add, xml_text
from histeval.datasets.formats.pages import Page, Region

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2013-07-15"
WIDTH, HEIGHT = 1000, 40
"""Width of a page and height of a line in made-up pixels."""
KINDS = (
    *("paragraph", "heading", "caption", "header", "footer", "page-number", "drop-capital", "credit", "floating"),
    *("signature-mark", "catch-word", "marginalia", "footnote", "footnote-continued", "endnote", "TOC-entry", "other"),
)
"""The types a TextRegion can have; others stand in `custom`, where Transkribus and eScriptorium look for them."""


def page_xml(page: Page, report: ImportReport) -> bytes:
    """The PAGE file of a page."""
    from lxml import etree

    report.count("pages")
    report.count("regions", len(page.regions))
    report.lose("positions of regions and lines: made up", page.id)
    root = etree.Element(f"{{{NAMESPACE}}}PcGts", nsmap={None: NAMESPACE})
    metadata = etree.SubElement(root, f"{{{NAMESPACE}}}Metadata")
    for name, text in (("Creator", "Histeval"), ("Created", _DAY), ("LastChange", _DAY)):
        etree.SubElement(metadata, f"{{{NAMESPACE}}}{name}").text = text
    height = HEIGHT * (1 + sum(1 + len(region.lines) for region in page.regions))
    body = etree.SubElement(
        root,
        f"{{{NAMESPACE}}}Page",
        imageFilename=xml_text(page.image or f"{page.id}.jpg", report, page.id),
        imageWidth=str(WIDTH),
        imageHeight=str(height),
    )
    if page.reference:
        if any(sign in page.reference for sign in ";}{"):
            report.lose("what the edition calls the page", page.id)
        else:
            body.set("custom", f"histeval {{reference:{xml_text(page.reference, report, page.id)};}}")
    if page.regions:
        order = etree.SubElement(body, f"{{{NAMESPACE}}}ReadingOrder")
        group = etree.SubElement(order, f"{{{NAMESPACE}}}OrderedGroup", id="reading_order")
        for index in range(len(page.regions)):
            etree.SubElement(group, f"{{{NAMESPACE}}}RegionRefIndexed", index=str(index), regionRef=f"r{index + 1}")
    top = HEIGHT
    for index, region in enumerate(page.regions):
        report.count("lines", len(region.lines))
        item = f"{page.id}: {region.id or region.kind}"
        element = add(body, f"{{{NAMESPACE}}}TextRegion", {"id": f"r{index + 1}", **_kind(region, index)})
        bottom = top + HEIGHT * max(1, len(region.lines))
        _coords(element, top, bottom)
        for number, line in enumerate(region.lines):
            row = etree.SubElement(
                element,
                f"{{{NAMESPACE}}}TextLine",
                id=f"r{index + 1}l{number + 1}",
                custom=f"readingOrder {{index:{number};}}",
            )
            _coords(row, top + HEIGHT * number, top + HEIGHT * (number + 1))
            equiv = etree.SubElement(row, f"{{{NAMESPACE}}}TextEquiv")
            unicode = etree.SubElement(equiv, f"{{{NAMESPACE}}}Unicode")
            unicode.text = xml_text(line.text, report, item)
        top = bottom + HEIGHT
    # Not pretty: white space between elements is nothing, but inside Unicode it would be text.
    return etree.tostring(root, xml_declaration=True, encoding="UTF-8")


_DAY = "2000-01-01T00:00:00"
"""A fixed moment, so that the same dataset gives the same bytes."""


def _kind(region: Region, index: int) -> dict[str, str]:
    custom = f"readingOrder {{index:{index};}}"
    kind = {"": "paragraph"}.get(region.kind, region.kind)
    if kind in KINDS:
        return {"type": kind, "custom": f"{custom} structure {{type:{kind};}}"}
    return {"type": "other", "custom": f"{custom} structure {{type:{kind};}}"}


def _coords(element: _Element, top: int, bottom: int) -> None:
    from lxml import etree

    points = f"0,{top} {WIDTH},{top} {WIDTH},{bottom} 0,{bottom}"
    etree.SubElement(element, f"{{{NAMESPACE}}}Coords", points=points)
