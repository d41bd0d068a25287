"""Transcribed pages on their way between formats: regions with lines, and what becomes of them in a dataset.

A region has a kind, as the file names it (`paragraph`, `marginalia`, `page-number`, `MainZone` ...). A rule for each
kind says where its lines go: the main text, the folio number, or an addition of its own. The defaults are in `RULES`;
the table [import.regions] of a dataset.toml, or `--option regions.KIND=PLACE`, overrides them.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.files import natural_key
from histeval.datasets.formats.base import AS_KNOWN, ImportReport, Options, Source
from histeval.datasets.identity import DocumentIds, composed, dataset_name, without_blanks
from histeval.errors import DatasetError, UsageError
from histeval.tasks.truth import PageTruth

PLACES = ("text", "folio", "addition", "leave_out")
"""Where the lines of a region can go."""
RULES: Mapping[str, str] = {
    # PAGE XML, as Transkribus, eScriptorium and OCR-D write it; compared without case, - and _
    **dict.fromkeys(("", "paragraph", "heading", "header", "caption", "dropcapital", "listlabel", "other"), "text"),
    **dict.fromkeys(("text", "credit", "floating", "endnote", "tocentry", "table", "cell"), "text"),
    **dict.fromkeys(("pagenumber", "folio", "folionumber", "foliation", "pagenum", "folnum", "numberingzone"), "folio"),
    **dict.fromkeys(("marginalia", "marginal", "margin", "footnote", "footnotecontinued", "footer"), "addition"),
    **dict.fromkeys(("catchword", "catch", "signaturemark", "sig", "addition", "gloss"), "addition"),
    # SegmOnto, which eScriptorium users choose
    **dict.fromkeys(("mainzone", "titlepagezone", "dropcapitalzone", "tablezone", "musiczone"), "text"),
    **dict.fromkeys(("margintextzone", "runningtitlezone", "quiremarkszone", "stampzone", "sealzone"), "addition"),
    # a note in an edition that has no place on the page is the editor's
    "note": "leave_out",
}
_PAGE_OF = re.compile(r"_p(\d+)$")


@dataclass(frozen=True, slots=True)
class Line:
    """A line of text, with its id in the file it came from."""

    text: str
    id: str = ""


@dataclass(frozen=True, slots=True)
class Region:
    """A region of a page: its kind as the file names it ("" where it does not), and its lines in reading order."""

    kind: str
    lines: tuple[Line, ...] = ()
    id: str = ""


@dataclass(frozen=True)
class Page:
    """A page: its id, its regions in reading order, the name of its image, and what an edition calls it (`3r`).

    `file` is the name of the file it was read from, for messages.
    """

    id: str
    regions: tuple[Region, ...] = ()
    image: str = ""
    reference: str = ""
    file: str = ""


def dataset_files(pages: Iterable[Page], name: str, options: Options, report: ImportReport) -> dict[str, str]:
    """The files of a dataset with these pages: a JSON file for each, and a dataset.toml.

    Raises DatasetError where two pages have one id.
    """
    files: dict[str, str] = {}
    for page in unique(pages, report, options):
        record = json.dumps(truth_of(page, options, report), ensure_ascii=False, indent=2)
        files[f"ground_truths/{page.id}.json"] = record + "\n"
    files["dataset.toml"] = dataset_toml(name)
    return files


def answers(pages: Iterable[Page], options: Options, report: ImportReport) -> Iterator[dict[str, Any]]:
    """The pages as answers of a system."""
    for page in unique(pages, report, options):
        yield {"document": page.id, "record": {"folios": [folio_of(page, options, report)]}}


def images(pages: Iterable[Page], options: Options, report: ImportReport) -> dict[str, tuple[str, str]]:
    """The name of the image of each page and the file that names it, by the id its document gets; pages that name none
    are left out."""
    silent = ImportReport(report.task, report.format)
    return {page.id: (page.image, page.file) for page in unique(pages, silent, options) if page.image}


def unique(pages: Iterable[Page], report: ImportReport, options: Options) -> Iterator[Page]:
    """The pages with the ids of the dataset (options["documents"], where there is one), else with ids that can name a
    file; raises DatasetError where two have one."""
    known: DocumentIds = options.get("documents") or DocumentIds(())
    seen: dict[str, Page] = {}
    for page in pages:
        name = known.find(page.id) or safe_id(page.id)
        if name == composed(page.id) != page.id:
            report.repair("accents in a name stored as two signs, now as one", name)
        elif name in known.ids and name != page.id:
            report.repair(AS_KNOWN, f"{page.id} is {name}")
        elif name != page.id:
            report.repair("a name that cannot be that of a document changed", f"{page.id} is {name}")
        # File systems of two of three operating systems do not tell case apart.
        if name.casefold() in seen:
            first = seen[name.casefold()].file
            remedy = "Import them into folders of their own, or rename one"
            raise DatasetError(f"is a second page {name} (the first is in {first})", file=page.file, remedy=remedy)
        seen[name.casefold()] = page
        yield replace(page, id=name)


def safe_id(name: str) -> str:
    """The id of a document made from the name of a page or file: it can name a file on every system, and is not read
    as page N of a document (`scan_p3`).

    >>> safe_id("fol. 3/4"), safe_id("scan_p3")
    ('fol._3_4', 'scan-p3')
    """
    name = _PAGE_OF.sub(r"-p\1", without_blanks(name))[:100]
    return "page" if not name or name.casefold() in ("persons", "meta", "attributes", "split_indices") else name


def page_ids(sources: Sequence[Source]) -> dict[str, str]:
    """An id for each file (by its name): the last part of its name, with as many folders before it as it takes to
    tell the files apart; the folders `page` and `alto` of an export say nothing."""
    named = {}
    for source in sources:
        parts = [part for part in source.name.split("/")[:-1] if part.casefold() not in ("page", "alto", "xml")]
        named[source.name] = [*parts, source.stem]
    ids = {name: parts[-1] for name, parts in named.items()}
    for depth in range(2, 1 + max(map(len, named.values()), default=0)):
        counts: dict[str, int] = {}
        for identifier in ids.values():
            counts[identifier.casefold()] = counts.get(identifier.casefold(), 0) + 1
        for name, identifier in ids.items():
            if counts[identifier.casefold()] > 1:
                ids[name] = "_".join(named[name][-depth:])
    return ids


def place_of(kind: str, options: Options, report: ImportReport, item: str = "") -> str:
    """Where the lines of a region of a kind go, by the options or the defaults; an unknown kind is main text, which
    the report says. Raises UsageError where a rule names no place."""
    rules = options.get("regions", {})
    if not isinstance(rules, Mapping):
        raise UsageError('the option regions is a table: [import.regions] and lines such as marginalia = "addition"')
    for name, place in rules.items():
        if place not in PLACES:
            raise UsageError(f"the rule regions.{name} takes {' or '.join(PLACES)}, not {str(place)[:80]!r}")
        if _folded(name) == _folded(kind):
            return str(place)
    # A kind may carry a number or a subtype: MainZone#1, MarginTextZone:note
    found = RULES.get(_folded(kind), RULES.get(_folded(re.split(r"[:#]", kind, maxsplit=1)[0])))
    if found is None:
        what = f"the region type {kind[:80]!r} has no rule: read as text"
        if item not in report.repaired.get(what, ()):
            report.repair(what, item)
        return "text"
    return found


def _folded(kind: str) -> str:
    return re.sub(r"[-_\s]", "", kind).casefold()


def folio_of(page: Page, options: Options, report: ImportReport) -> dict[str, str]:
    """The folio, the text and the additions of a page, lines joined by line feeds."""
    text: list[Line] = []
    folios: list[str] = []
    additions: list[str] = []
    for region in page.regions:
        item = f"{page.id}: {region.id or region.kind}"
        place = place_of(region.kind, options, report, item)
        words = "\n".join(line.text for line in region.lines)
        if place == "text":
            text += region.lines
        elif place == "folio":
            folios.append(words)
        elif place == "addition":
            additions.append(words)
        else:
            report.leave_out(f"a region of type {region.kind!r}, by the rule for it", item)
    if len(folios) > 1:
        report.repair("several folio numbers on one page joined by a blank", f"{page.id}: {' '.join(folios)}")
    record = {"folio": " ".join(folios), "text": "\n".join(line.text for line in text)}
    record.update({f"addition{number}": words for number, words in enumerate(additions, start=1)})
    return record


def truth_of(page: Page, options: Options, report: ImportReport) -> dict[str, Any]:
    """The truth of a page as a dataset has it: by its reference where an edition gives one."""
    folio = folio_of(page, options, report)
    if page.reference:
        return {f"[{page.reference}]": [folio]}
    return {"folios": [folio]}


def from_dataset(dataset: Dataset, report: ImportReport) -> list[Page]:
    """The pages of a dataset's ground truth, without the documents that have none yet."""
    pages = []
    for document in dataset.documents.values():
        if not isinstance(document.truth, PageTruth):
            report.leave_out("a document without ground truth", document.id)
            continue
        image = document.images[0].name if document.images else ""
        folios = [fields for _, fields in document.truth.folios]
        if len(folios) > 1:
            report.lose("several folios of one page become one", document.id)
        pages.append(Page(document.id, regions_of(folios), image, _reference(document.truth), document.id))
    return pages


def _reference(truth: PageTruth) -> str:
    """What an edition calls the page, where that is more than its folio number."""
    if len(truth.folios) != 1:
        return ""
    name, fields = truth.folios[0]
    inner = name[1:-1] if name.startswith("[") and name.endswith("]") else name
    return "" if inner == (fields.get("folio") or "1") else inner


def from_answers(dataset: Dataset, records: Mapping[str, Any], report: ImportReport) -> list[Page]:
    """The pages in answers: lists of folios by document id, as the task reads them."""
    pages = []
    for identifier, entries in sorted(records.items(), key=lambda item: natural_key(item[0])):
        document = dataset.documents.get(identifier)
        folios = [
            {str(key): value for key, value in entry.items() if isinstance(value, str)}
            for entry in (entries if isinstance(entries, Sequence) else ())
            if isinstance(entry, Mapping)
        ]
        if len(folios) > 1:
            report.lose("several folios of one page become one", identifier)
        image = document.images[0].name if document is not None and document.images else ""
        pages.append(Page(identifier, regions_of(folios), image, "", identifier))
    return pages


def regions_of(folios: Sequence[Mapping[str, str]]) -> tuple[Region, ...]:
    """Folio number, text and additions as regions; an empty folio number is none, an empty addition is kept."""
    regions = []
    for number, fields in enumerate(folios, start=1):
        prefix = f"f{number}_" if len(folios) > 1 else ""
        numbers = [key for key in fields if re.fullmatch(r"addition\d{1,4}", key)]
        keys = ["folio", "text", *sorted(numbers, key=lambda key: int(key[8:]))]
        for key in keys:
            words = fields.get(key, "")
            if words or key.startswith("addition"):
                kind = {"folio": "page-number", "text": "paragraph"}.get(key, "marginalia")
                name = f"{prefix}{key}"
                lines = [Line(line, f"{name}_l{n}") for n, line in enumerate(words.split("\n"), 1)] if words else []
                regions.append(Region(kind, tuple(lines), name))
    return tuple(regions)


def lines_of(text: str, prefix: str, report: ImportReport, item: str) -> tuple[Line, ...]:
    """The lines in a text that a file gives as a whole; line ends of other systems are read as line feeds."""
    if "\r" in text:
        report.repair("carriage returns read as line ends", item)
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    return tuple(Line(line, f"{prefix}_l{number}") for number, line in enumerate(text.split("\n"), start=1))


def count_page(page: Page, report: ImportReport) -> None:
    """Adds a page to what a report counts."""
    report.count("pages")
    report.count("regions", len(page.regions))
    report.count("lines", sum(len(region.lines) for region in page.regions))
    empty = [f"{page.id}: {line.id}" for region in page.regions for line in region.lines if not line.text.strip()]
    if empty:
        report.repair("a line without text kept as an empty line", *empty)
    if not any(line.text.strip() for region in page.regions for line in region.lines):
        report.note(f"{page.id}: a page without any text")


def dataset_toml(name: str, images: str = "images", extra: Sequence[str] = ()) -> str:
    """A commented dataset.toml for pages."""
    from histeval.datasets.importing import toml_text

    return "\n".join(
        [
            "# What this dataset says of itself. docs/datasets.md explains every setting.",
            'task = "manuscripts"',
            f"name = {toml_text(dataset_name(name, 'pages'))}",
            f"title = {toml_text(composed(name))}",
            'unit = "page"                   # what was drawn independently: page, or an attribute such as book',
            *([f"images = {toml_text(images)}"] if images != "images" else []),
            '# languages = ["de"]            # of the pages, as ISO codes',
            '# period = "15th century"',
            '# licence = "CC BY 4.0"',
            '# citation = ""',
            "# published = 2026-01-31       # the day the ground truth became public, if it did",
            '# profile = "folded"            # compare texts folded, say, whatever the protocol does',
            *extra,
            "",
            "# Where the regions of imported files go: text, folio, addition or leave_out.",
            "# [import.regions]",
            '# marginalia = "addition"',
            '# page-number = "folio"',
            '# header = "text"',
            "",
        ]
    )
