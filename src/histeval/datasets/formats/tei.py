"""TEI editions: a page runs from `pb` to `pb`, a line from `lb` to `lb`; `sourceDoc` with surfaces and zones too.

Definition: TEI P5 Guidelines, https://tei-c.org/release/doc/tei-p5-doc/en/html/. White space is layout of the file, not
of the page: runs of it are one blank, and lines are trimmed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import files_of, foreign_namespace, local, read_root, root_tag, split_tag
from histeval.datasets.formats.pages import Line, Page, Region, count_page, page_ids, place_of
from histeval.errors import DatasetError

if TYPE_CHECKING:
    from lxml.etree import _Element

NAMESPACE = "http://www.tei-c.org/ns/1.0"
ROOTS = ("TEI", "teiCorpus")
_ID = "{http://www.w3.org/XML/1998/namespace}id"
_WHITE = re.compile(r"[ \t\n\r]+")
_BLOCKS = frozenset(
    (
        *("p", "ab", "l", "lg", "head", "div", "item", "list", "label", "salute", "signed", "dateline", "opener"),
        *("closer", "postscript", "address", "addrLine", "titlePart", "docTitle", "titlePage", "byline", "epigraph"),
        *("quote", "row", "table", "trailer", "argument", "sp", "speaker", "stage", "castList", "castItem", "line"),
        *("floatingText", "front", "body", "back", "docImprint", "docAuthor", "docDate", "imprimatur", "entry"),
        *("bibl", "listBibl", "figure", *(f"div{level}" for level in range(1, 8))),
    )
)
"""Elements that begin a line and end one."""
_FOLIO = ("pagenum", "pagenumber", "folnum", "folio", "foliation", "folionum", "pagination", "pageno")
_MARGINS = ("margin", "left", "right", "top", "bottom", "opposite", "overleaf", "foot", "outer", "inner")
_ORIGINAL = ("abbr", "orig", "sic", "am")
_EDITED = ("expan", "reg", "corr", "ex")
_LEFT_OUT = frozenset(("teiHeader", "figDesc", "facsimile", "standOff", "certainty", "respons", "index"))


def sniff(source: Source) -> bool:
    """Whether the root element is that of TEI."""
    return root_tag(source)[1] in ROOTS


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Page]:
    """The pages in some TEI files, named after the file and what `pb` calls them (`edition_3r`)."""
    files = files_of(sources, sniff, report, "TEI")
    ids = page_ids(files)
    for source in files:
        for page in _read_file(source, ids[source.name], options, report):
            count_page(page, report)
            yield page


def _read_file(source: Source, identifier: str, options: Options, report: ImportReport) -> list[Page]:
    root = read_root(source)
    namespace = split_tag(root.tag)[0]
    if namespace != NAMESPACE:
        raise foreign_namespace(root, source, "TEI", [NAMESPACE])
    texts = [element for element in root.iter(f"{{{NAMESPACE}}}text") if not _inside_text(element)]
    texts = texts or list(root.iter(f"{{{NAMESPACE}}}sourceDoc"))
    if not texts:
        raise DatasetError(
            "holds neither text nor sourceDoc", file=source.path, remedy="Is it a list of letters, or only a header?"
        )
    pages: list[Page] = []
    try:
        for name, parts in _editions(texts, identifier).items():
            walker = _Walker(source, name, options, report)
            for text in parts:
                walker.walk(text)
            pages += walker.pages()
    except RecursionError:
        raise DatasetError("is nested too deep", file=source.path, remedy="Split it into parts") from None
    return pages


def _editions(texts: Sequence[_Element], identifier: str) -> dict[str, list[_Element]]:
    """The texts of a file by the name their pages begin with: those of a corpus by its editions' ids or numbers."""
    found: dict[str, list[_Element]] = {}
    editions: dict[_Element, str] = {}
    for text in texts:
        edition = text.getparent()
        while edition is not None and local(edition) != "TEI":
            edition = edition.getparent()
        if edition is None or edition.getparent() is None:
            name = identifier
        elif edition in editions:
            name = editions[edition]
        else:
            name = editions[edition] = f"{identifier}_{edition.get(_ID) or len(editions) + 1}"
        found.setdefault(name, []).append(text)
    return found


def _inside_text(element: _Element) -> bool:
    around = element.getparent()
    while around is not None:
        if local(around) in ("text", "floatingText"):
            return True
        around = around.getparent()
    return False


class _Open:
    """A region as it grows: the words of its line in the making, and its lines."""

    def __init__(self, kind: str, name: str) -> None:
        self.kind, self.name = kind, name
        self.lines: list[str] = []
        self.words: list[str] = []

    def end_line(self, forced: bool = False) -> None:
        """Ends the line; without `forced` an empty one is none."""
        text = _WHITE.sub(" ", "".join(self.words)).strip(" ")
        self.words = []
        if text or forced:
            self.lines.append(text)

    def region(self, page: str) -> Region:
        lines = tuple(Line(text, f"{self.name}_l{number}") for number, text in enumerate(self.lines, start=1))
        return Region(self.kind, lines, self.name)


class _Walker:
    """Walks the text of one file."""

    def __init__(self, source: Source, identifier: str, options: Options, report: ImportReport) -> None:
        from histeval.datasets.formats.registry import FORMATS

        format = FORMATS["tei"]
        self.source, self.id, self.report = source, identifier, report
        self.edited = format.option(options, "choice") == "edited"
        self.gap = format.option(options, "gap")
        self.deleted = format.option(options, "deleted") == "keep"
        self.found: list[tuple[str, str, str, list[_Open]]] = []
        """Name, reference, image and regions of each page."""
        self.lines: dict[str, _Element] = {}
        """The element with which each page begins, by its name."""
        self.options = options
        self.begin_page("", "", "")

    def begin_page(self, name: str, reference: str, image: str) -> None:
        for region in self.found[-1][3] if self.found else ():
            region.end_line()
        self.found.append((name, reference, image, []))
        self.stack = [self.region("")]

    def region(self, kind: str) -> _Open:
        """Begins a region on the present page."""
        regions = self.found[-1][3]
        opened = _Open(kind, f"{kind or 'text'}{len(regions) + 1}")
        regions.append(opened)
        return opened

    @property
    def here(self) -> _Open:
        return self.stack[-1]

    def at(self, element: _Element) -> str:
        name = element.get(_ID)
        page = self.found[-1][1] or str(len(self.found))
        return f"{self.id}, page {page}, line {element.sourceline}" + (f": {name}" if name else "")

    def walk(self, element: _Element) -> None:
        """Takes over an element and what is in it."""
        name = local(element)
        method = getattr(self, f"on_{name}", None)
        if method is not None:
            method(element)
        elif name in _LEFT_OUT:
            if name == "figDesc":
                self.report.leave_out("the description of a figure", self.at(element))
        elif name in _BLOCKS:
            self.here.end_line()
            self.inner(element)
            self.here.end_line()
        else:
            self.inner(element)

    def inner(self, element: _Element) -> None:
        """Takes over the text and the children of an element."""
        self.here.words.append(element.text or "")
        for child in element:
            self.walk(child)
            self.here.words.append(child.tail or "")

    def aside(self, element: _Element, kind: str) -> None:
        """Takes over an element as a region of its own. A page that begins inside goes on after it."""
        pages = len(self.found)
        opened = self.region(kind)
        self.stack.append(opened)
        self.inner(element)
        opened.end_line()
        if len(self.found) != pages:
            self.here.end_line()
            return
        self.stack.pop()
        # What is main text stays where it stands: the text goes on behind it, in a region of its own.
        in_text = place_of(kind, self.options, ImportReport(self.report.task, self.report.format)) == "text"
        if len(self.stack) == 1 and in_text and not "".join(self.here.words).strip():
            self.stack[-1] = self.region(self.here.kind)

    def on_pb(self, element: _Element) -> None:
        reference = (element.get("n") or "").strip()
        name = reference or (element.get(_ID) or "").strip() or str(len(self.found))
        self.once(name, element)
        image = (element.get("facs") or "").strip()
        if image.startswith("#"):
            image = self.image_of(element, image[1:])
        self.begin_page(name, reference, image)

    def once(self, name: str, element: _Element) -> None:
        """Raises DatasetError for a second page of this name in a text."""
        first = self.lines.setdefault(name.casefold(), element)
        if first is not element:
            what = f"has a second page {name[:80]!r} (the first begins in line {first.sourceline})"
            remedy = f"Give each {local(element)} an n of its own, or each text a file"
            raise DatasetError(what, file=self.source.path, line=element.sourceline or None, remedy=remedy)

    def image_of(self, element: _Element, identifier: str) -> str:
        """The address of the image that a facs attribute refers to."""
        for target in element.getroottree().getroot().iter():
            if target.get(_ID) == identifier:
                graphic = next((g for g in target.iter() if local(g) == "graphic"), None)
                return (graphic.get("url") or "") if graphic is not None else ""
        self.report.leave_out("a facs that refers to nothing", self.at(element))
        return ""

    def on_surface(self, element: _Element) -> None:
        graphic = next((child for child in element if local(child) == "graphic"), None)
        image = (graphic.get("url") or "") if graphic is not None else ""
        reference = (element.get("n") or "").strip()
        name = reference or element.get(_ID) or str(len(self.found))
        self.once(name, element)
        self.begin_page(name, reference, image)
        self.inner(element)

    def on_zone(self, element: _Element) -> None:
        self.aside(element, element.get("type") or element.get("rendition") or "")

    def on_lb(self, element: _Element) -> None:
        # A first lb begins the first line; one after it ends a line, be it empty.
        self.here.end_line(forced=bool(self.here.lines) and self.after_break(element))

    def after_break(self, element: _Element) -> bool:
        """Whether nothing but white space stands between this lb and the one before: an empty line."""
        before = element.getprevious()
        return before is not None and local(before) == "lb" and not (before.tail or "").strip()

    def on_cb(self, element: _Element) -> None:
        self.here.end_line()
        if len(self.stack) == 1:
            self.stack[-1] = self.region(self.here.kind)

    def on_fw(self, element: _Element) -> None:
        kind = (element.get("type") or "").strip()
        folded = re.sub(r"[-_\s]", "", kind).casefold()
        self.aside(element, "page-number" if folded in _FOLIO else {"head": "header"}.get(folded, kind or "header"))

    def on_note(self, element: _Element) -> None:
        if (element.get("place") or "").strip().casefold() in ("inline", "above", "below"):
            self.inner(element)
        else:
            self.aside(element, "marginalia" if self.in_margin(element) else "note")

    def on_add(self, element: _Element) -> None:
        if self.in_margin(element):
            self.aside(element, "marginalia")
        else:
            self.inner(element)

    def in_margin(self, element: _Element) -> bool:
        places = re.split(r"[\s_-]+", (element.get("place") or "").casefold())
        return any(place.startswith(_MARGINS) for place in places if place)

    def on_del(self, element: _Element) -> None:
        if self.deleted:
            self.inner(element)
        else:
            self.report.leave_out("what the scribe struck out (del)", self.at(element))

    def on_choice(self, element: _Element) -> None:
        wanted, others = (_EDITED, _ORIGINAL) if self.edited else (_ORIGINAL, _EDITED)
        children = list(element)
        chosen = next((child for child in children if local(child) in wanted), None)
        if chosen is None:
            chosen = next(iter(children), None)
            if chosen is not None and local(chosen) in others:
                self.report.repair("a choice without the reading asked for: the other read", self.at(element))
        if chosen is not None:
            self.inner(chosen)

    def on_app(self, element: _Element) -> None:
        readings = [child for child in element.iter() if local(child) in ("lem", "rdg")]
        if readings:
            self.inner(readings[0])
        if len(readings) > 1:
            self.report.leave_out("another reading of an apparatus (app)", *[self.at(element)] * (len(readings) - 1))

    def on_ex(self, element: _Element) -> None:
        if self.edited:
            self.inner(element)
        else:
            self.report.leave_out("letters that the editor added to an abbreviation (ex)", self.at(element))

    def on_am(self, element: _Element) -> None:
        if not self.edited:
            self.inner(element)

    def on_supplied(self, element: _Element) -> None:
        if self.edited:
            self.inner(element)
        else:
            self.report.leave_out("what the editor supplied (supplied)", self.at(element))

    def on_surplus(self, element: _Element) -> None:
        if self.edited:
            self.report.leave_out("what the editor deemed too much (surplus)", self.at(element))
        else:
            self.inner(element)

    def on_gap(self, element: _Element) -> None:
        self.here.words.append(self.gap)
        self.report.repair(f"a gap written as {self.gap}", self.at(element))

    def on_space(self, element: _Element) -> None:
        self.here.words.append(" ")

    def on_cell(self, element: _Element) -> None:
        self.here.words.append(" ")
        self.inner(element)
        self.here.words.append(" ")

    def on_g(self, element: _Element) -> None:
        if "".join(element.itertext()).strip():
            self.inner(element)
        else:
            self.here.words.append("\ufffd")
            self.report.repair("a sign without text (g) read as U+FFFD", self.at(element))

    def pages(self) -> list[Page]:
        """The pages found. Without any pb the text is one page, named after the file."""
        for region in self.found[-1][3]:
            region.end_line()
        pages = []
        for number, (name, reference, image, regions) in enumerate(self.found):
            kept = tuple(region.region(name) for region in regions if region.lines)
            if number == 0 and (not kept and len(self.found) > 1):
                continue  # what stands before the first pb is mostly nothing
            if number == 0 and len(self.found) > 1:
                self.report.repair("text before the first pb made a page of its own", self.id)
            alone = self.id if len(self.found) == 1 else f"{self.id}_0"
            identifier = f"{self.id}_{name}" if number else alone
            image = re.split(r"[/\\]", re.split(r"[?#]", image)[0])[-1]
            pages.append(Page(identifier, kept, image, reference, str(self.source.path)))
        return pages
