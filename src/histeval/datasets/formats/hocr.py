"""hOCR: OCR results in HTML, as Tesseract and OCRopus write them.

Definition: hOCR 1.2, https://kba.github.io/hocr-spec/1.2/. The class of an element says what it is.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import files_of
from histeval.datasets.formats.pages import Line, Page, Region, count_page, page_ids
from histeval.errors import DatasetError

if TYPE_CHECKING:
    from lxml.etree import _Element

_CLASS = re.compile(rb"""class\s*=\s*["'][^"']*\bocrx?_(?:page|carea|par|line)\b""")
LINES = {"ocr_line": "", "ocrx_line": "", "ocr_header": "header", "ocr_footer": "footer", "ocr_caption": "caption",
         "ocr_textfloat": "floating"}  # fmt: skip
"""Classes of lines, and the region type each means."""
REGIONS = {"ocr_carea": "", "ocrx_block": "", "ocr_par": "", "ocr_pageno": "page-number", "ocr_header": "header",
           "ocr_footer": "footer", "ocr_float": "floating", "ocr_table": "table", "ocr_caption": "caption"}  # fmt: skip
_IMAGE = re.compile(r"""\bimage\s+(?:"([^"]*)"|'([^']*)'|([^;]+))""")
_WHITE = re.compile(r"\s+")


def sniff(source: Source) -> bool:
    """Whether it is HTML with an element of an hOCR class."""
    return b"<" in source.head[:1000] and _CLASS.search(source.head) is not None


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Page]:
    """The pages in some hOCR files; where a file has several, each gets its number."""
    files = files_of(sources, sniff, report, "hOCR")
    ids = page_ids(files)
    for source in files:
        pages = list(_pages(source, ids[source.name], report))
        for page in pages:
            count_page(page, report)
            yield page


def _pages(source: Source, identifier: str, report: ImportReport) -> Iterator[Page]:
    from lxml import etree

    data = source.data
    if b"<!ENTITY" in data[: 1 << 16]:
        remedy = "Write its text in its place and remove the declaration"
        raise DatasetError("declares an entity, and entities are not read", file=source.path, remedy=remedy)
    parser = etree.HTMLParser(no_network=True, remove_comments=True, remove_pis=True, huge_tree=False,
                              encoding=_encoding(data))  # fmt: skip
    try:
        root = etree.fromstring(data, parser)
    except (etree.XMLSyntaxError, ValueError, LookupError) as fault:
        raise DatasetError(f"is not HTML: {fault}", file=source.path, remedy="Export it again") from None
    pages = [element for element in root.iter() if "ocr_page" in _classes(element)] if root is not None else []
    if not pages:
        raise DatasetError("holds no ocr_page", file=source.path, remedy="Is the file whole?")
    for number, element in enumerate(pages, start=1):
        name = identifier if len(pages) == 1 else f"{identifier}_{number}"
        image = _IMAGE.search(element.get("title") or "")
        path = next(filter(None, image.groups()), "") if image else ""
        regions = tuple(region for region in _regions(element, report, name) if region.lines)
        yield Page(name, regions, re.split(r"[/\\]", path.strip())[-1], "", str(source.path))


def _encoding(data: bytes) -> str | None:
    """UTF-8 where it is that, since HTML without a declaration is read as Latin-1 otherwise."""
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return "utf-8"


def _classes(element: _Element) -> list[str]:
    return (element.get("class") or "").split() if isinstance(element.tag, str) else []


def _regions(page: _Element, report: ImportReport, name: str) -> Iterator[Region]:
    """The regions of a page: ocr_carea or what else is around a line; lines outside of any make one of their own."""
    current: _Element | None = None
    kind = ""
    lines: list[Line] = []
    for line, around, of_line in _lines(page):
        if lines and (around is not current or of_line != kind):
            yield Region(kind, tuple(lines), _name(current))
            lines = []
        current, kind = around, of_line
        identifier = line.get("id") or f"line {len(lines) + 1}"
        words = [element for element in line.iter() if "ocrx_word" in _classes(element)]
        parts = [_WHITE.sub(" ", "".join(word.itertext())).strip() for word in words]
        text = " ".join(part for part in parts if part)
        whole = _WHITE.sub(" ", "".join(line.itertext())).strip()
        if text.replace(" ", "") != whole.replace(" ", ""):
            report.repair("a line with text outside its words: the text of the line read", f"{name}: {identifier}")
            text = whole
        elif not words:
            text = whole
        lines.append(Line(text, identifier))
    if lines:
        yield Region(kind, tuple(lines), _name(current))


def _name(element: _Element | None) -> str:
    return (element.get("id") or "") if element is not None else ""


def _lines(page: _Element) -> Iterator[tuple[_Element, _Element | None, str]]:
    """The lines of a page, each with the region around it and the kind of region."""
    waiting: list[tuple[_Element, _Element | None, str]] = [(child, None, "") for child in reversed(page)]
    while waiting:
        element, around, kind = waiting.pop()
        classes = _classes(element)
        found = next((name for name in classes if name in LINES), None)
        if found is not None and not _holds_lines(element):
            yield element, around, LINES[found] or kind
            continue
        region = next((name for name in classes if name in REGIONS), None)
        if region is not None:
            # A paragraph inside an area is a part of it; an area that says what it is keeps it for all inside.
            around = element if around is None or REGIONS[region] else around
            kind = REGIONS[region] or kind
            if region == "ocr_pageno" and not _holds_lines(element):
                yield element, around, kind
                continue
        waiting += [(child, around, kind) for child in reversed(element)]


def _holds_lines(element: _Element) -> bool:
    return any(set(_classes(child)) & LINES.keys() for child in element.iterdescendants())
