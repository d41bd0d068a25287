"""Plain text: a file a page, or pages parted by form feeds. It has lines and nothing else."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from histeval.datasets.files import decode, foreign_encoding
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.markup import files_of
from histeval.datasets.formats.pages import Page, Region, count_page, lines_of, page_ids, place_of


def sniff(source: Source) -> bool:
    """Whether it is named .txt and no binary file."""
    return source.suffix == ".txt" and foreign_encoding(source.head) != "a binary file"


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[Page]:
    """The pages in some text files (UTF-8); one line end at the end of a page is not a line of its own."""
    files = files_of(sources, sniff, report, "text file")
    ids = page_ids(files)
    for source in files:
        text = decode(source.data, source.path)
        pages = text.split("\f")
        if len(pages) > 1 and not pages[-1].strip():
            pages.pop()
        for number, words in enumerate(pages, start=1):
            name = ids[source.name] if len(pages) == 1 else f"{ids[source.name]}_{number}"
            words = words.replace("\r\n", "\n")
            words = words.removesuffix("\n")
            lines = lines_of(words, "line", report, name) if words else ()
            page = Page(name, (Region("", lines, "text"),), "", "", str(source.path))
            count_page(page, report)
            yield page


def write(pages: Iterable[Page], options: Options, report: ImportReport) -> dict[str, bytes]:
    """A text file for each page with its main text, `ID.txt`."""
    files = {}
    for page in pages:
        report.count("pages")
        lines = []
        for region in page.regions:
            place = place_of(region.kind, options, report, f"{page.id}: {region.id}")
            if place == "text":
                lines += [line.text for line in region.lines]
            elif region.lines or place == "addition":
                what = {"folio": "the folio number", "addition": "an addition"}.get(place, "a region")
                report.lose(what, f"{page.id}: {region.id}")
        report.count("lines", len(lines))
        if page.reference:
            report.lose("what the edition calls the page", page.id)
        text = "\n".join(lines)
        if "\f" in text or "\r" in text:
            report.lose("form feeds and carriage returns, which come back as ends of pages and lines", page.id)
        if "\x00" in text:
            report.lose("NUL characters, written as U+FFFD", page.id)
            text = text.replace("\x00", "\ufffd")
        if any("\ud800" <= sign <= "\udfff" for sign in text):
            report.lose("halves of surrogate pairs, written as ?", page.id)
        data = f"{text}\n".encode("utf-8", "replace") if text else b""
        # A byte order mark that belongs to the text needs one before it that does not.
        files[f"{page.id}.txt"] = b"\xef\xbb\xbf" + data if text.startswith("\ufeff") else data
    return files
