"""The formats by name, and which of them a file is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from histeval.datasets.files import decode, foreign_encoding, parse_json, program_of
from histeval.datasets.formats.base import HEAD, Format, Option, Source
from histeval.datasets.formats.markup import root_tag
from histeval.errors import DatasetError, UsageError

_PLACE = "histeval.datasets.formats"

MODELS = {
    "manuscripts": f"{_PLACE}.pages",
    "directories": f"{_PLACE}.entries",
    "letters": f"{_PLACE}.records",
}
"""What a document is while it is on its way between formats, by task. Each module has the functions

- `dataset_files(documents, name, options, report) -> {path: text}`: truth and, under "dataset.toml", a description;
- `answers(documents, options, report) -> iterable of {"document": id, "record": ...}`;
- `from_dataset(dataset, report) -> list of documents`, those of its truth;
- `from_answers(dataset, records, report) -> list of documents`, those of records by document id.
"""

_LEVEL = Option("level", "line", "from what the text is taken: region, line or word", ("region", "line", "word"))
_CHOICE = Option(
    "choice", "original", "abbreviations, hyphens, corrections: as on the page, or as edited", ("original", "edited")
)
_TRANSCRIPTION = (
    Format("page", ("manuscripts",), (".xml",), f"{_PLACE}.page", "PAGE XML (Transkribus, eScriptorium, OCR-D)",
           writes=True, options=(_LEVEL, Option("index", "", "which TextEquiv: an index, else the lowest"))),
    Format("alto", ("manuscripts",), (".xml",), f"{_PLACE}.alto", "ALTO XML 2 to 4 (eScriptorium, libraries)",
           writes=True, options=(_CHOICE,)),
    Format("hocr", ("manuscripts",), (".hocr", ".html", ".xhtml"), f"{_PLACE}.hocr", "hOCR (Tesseract, OCRopus)"),
    Format("tei", ("manuscripts",), (".xml", ".tei"), f"{_PLACE}.tei", "TEI editions, a page from pb to pb",
           options=(_CHOICE,
                    Option("gap", "[...]", "what stands for a gap"),
                    Option("deleted", "keep", "what was struck out by the scribe", ("keep", "drop")))),
    Format("plain", ("manuscripts",), (".txt",), f"{_PLACE}.plain", "plain text, a file or a form feed a page",
           writes=True),
)  # fmt: skip
_OVERLAPS = Option("overlaps", "refuse", "entities that cross another: a fault, or left out", ("refuse", "drop"))
_TOKENS = Option("tokens", "published", "written: cut at edges of entities, or by signs only", ("published", "plain"))
_ENTITIES = (
    Format("label_studio", ("directories",), (".json",), f"{_PLACE}.label_studio", "Label Studio, JSON and JSON-MIN",
           options=(_OVERLAPS, Option("text", "text", "the key under data that holds the text"),
                    Option("annotation", "first", "which of several is read", ("first", "last", "prediction")))),
    Format("doccano", ("directories",), (".jsonl", ".json"), f"{_PLACE}.doccano", "doccano JSONL", writes=True,
           options=(_OVERLAPS, Option("offsets", "characters", "what they count", ("characters", "utf16")))),
    Format("jsonl", ("directories",), (".jsonl",), f"{_PLACE}.json_lines", "lines with text and spans, or xml",
           writes=True, options=(_OVERLAPS,)),
    Format("hipe", ("directories",), (".tsv",), f"{_PLACE}.hipe", "HIPE TSV: coarse, fine, nested, components",
           writes=True, options=(_OVERLAPS, _TOKENS,
                    Option("layers", "", "fine+nested+components, or others; default: what is filled"),
                    Option("lines", "break", "what an EndOfLine becomes", ("break", "space")))),
    Format("conll", ("directories",), (".conll", ".tsv", ".txt", ".bio", ".iob"), f"{_PLACE}.conll",
           "columns of tokens and labels: CoNLL-2003, GermEval and others", writes=True,
           options=(_OVERLAPS, _TOKENS,
                    Option("columns", "", "what they hold: token, level1, level2 ..., misc, _ for nothing"),
                    Option("scheme", "auto", "of the tags; written: IOB2 unless another is named",
                           ("auto", "IO", "IOB1", "IOB2", "IOBES", "BILOU")),
                    Option("document", "block", "what is one", ("block", "docstart", "file")),
                    Option("prefix", "", "before the number of a document without a name"),
                    Option("comments", "yes", "written: ids and texts as comments", ("yes", "no")))),
    Format("brat", ("directories",), (".ann", ".txt"), f"{_PLACE}.brat", "brat standoff, .txt and .ann", writes=True,
           options=(_OVERLAPS,
                    Option("discontinuous", "cover", "entities of several pieces", ("cover", "leave_out")))),
    Format("spacy", ("directories",), (".spacy",), f"{_PLACE}.spacy_docbin", "DocBin, where spaCy is installed",
           options=(_OVERLAPS, Option("spans", "", "a span group instead of the named entities"))),
    Format("inline", ("directories",), (".xml", ".txt"), f"{_PLACE}.inline", "elements in the text", writes=True,
           options=(_OVERLAPS, Option("layout", "auto", "of the file", ("auto", "lines", "document")),
                    Option("entry", "", "the element that holds an entry"),
                    Option("skip", "", "elements that are no entities, with blanks between"),
                    Option("type", "", "the attribute that names the type"))),
)  # fmt: skip
_METADATA = (
    Format("spreadsheet", ("letters",), (".csv", ".xlsx", ".tsv", ".json"), f"{_PLACE}.spreadsheet",
           "a table of letters, CSV or XLSX, with lists of persons, places ...", writes=True,
           options=(Option("columns", "", "field to heading: send_date=Datum,sender_persons=Absender"),
                    Option("id", "", "the column of ids"),
                    Option("prefix", "", "before the id"),
                    Option("separator", "", "between values in a cell; found where it is not named"),
                    Option("dates", "auto", "how 03/04/1890 is read; auto: as the other dates of its column show",
                           ("auto", "day_first", "month_first", "keep")),
                    Option("sheet", "", "of a workbook"),
                    Option("others", "keep", "columns that are not mapped", ("keep", "leave_out")),
                    Option("signed", "", "the column that says TRUE or FALSE"),
                    Option("attributes", "", "columns that describe a letter, with commas between"),
                    Option("encoding", "", "of CSV files that are not UTF-8, such as windows-1252"))),
    Format("correspdesc", ("letters",), (".xml",), f"{_PLACE}.correspdesc", "TEI correspDesc, CMIF"),
)  # fmt: skip

FORMATS: Mapping[str, Format] = MappingProxyType(
    {format.name: format for format in (*_TRANSCRIPTION, *_ENTITIES, *_METADATA)}
)


def format_named(name: str, task: str) -> Format:
    """The format `name`; raises UsageError where there is none or it is not for the task."""
    fitting = [format.name for format in FORMATS.values() if task in format.tasks]
    if name not in fitting:
        raise UsageError(f"the task {task} has no format {name[:80]!r}; it has {', '.join(fitting)}")
    return FORMATS[name]


def find_format(task: str, sources: Sequence[Source]) -> Format:
    """The format of some files, by what is in them; raises DatasetError where none fits or two files disagree.

    A file that no format of the task knows (an image, a METS file) does not count as long as another one is known, nor
    does plain text beside pages in XML (the log of an export). A text that belongs to an .ann file is brat's.
    """
    found: dict[str, Source] = {}
    fitting = [format for format in FORMATS.values() if task in format.tasks and format.reads]
    annotated = {source.name[:-4] for source in sources if source.suffix == ".ann"}
    for source in sources:
        if source.suffix == ".txt" and source.name[:-4] in annotated:
            continue
        for format in fitting:
            if format.sniff(source):
                found.setdefault(format.name, source)
                break
    if len(found) > 1:
        found.pop("plain", None)
    if not found:
        return _by_name(task, sources, fitting)
    if len(found) > 1:
        (first, one), (second, other) = list(found.items())[:2]
        what = f"is {second}, and {one.name} is {first}"
        raise DatasetError(what, file=other.path, remedy="Import them one after the other, or name one with --format")
    return FORMATS[next(iter(found))]


def _by_name(task: str, sources: Sequence[Source], fitting: Sequence[Format]) -> Format:
    """The format of files whose content no format knows: the only one with such a suffix, since reading them says what
    is wrong and in which line. Raises DatasetError where the name does not tell, with what can be said."""
    for source in sources:
        if program_of(source.head) or foreign_encoding(source.head) in ("UTF-16", "UTF-32"):
            decode(source.head, source.path)  # says what it is, and what to do
    for source in sources:
        named = [format for format in fitting if source.suffix in format.suffixes]
        if len(named) == 1 and source.suffix not in (".xml", ".txt"):
            return named[0]
        if named and source.suffix in (".json", ".jsonl"):
            lines = source.head.decode("utf-8", "replace").removeprefix("\ufeff").split("\n")
            if source.suffix == ".jsonl" and len(lines) > 1:
                parse_json(lines[0], source.path, line=1)  # says what is wrong
            elif len(source.head) < HEAD:
                parse_json("\n".join(lines), source.path)
    first = sources[0] if sources else None
    what = f"is in no format that {task} can be read from"
    root = root_tag(first) if first is not None else ("", "")
    if root[1]:
        where = f"of {root[0][:200]}" if root[0] else "without a namespace"
        what += f": its first element is {root[1][:80]} {where}"
    remedy = f"Name it with --format: {', '.join(format.name for format in fitting)}"
    raise DatasetError(what, file=first.path if first is not None else None, remedy=remedy)
