"""The formats by name, and which of them a file is in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from histeval.datasets.formats.base import Format, Option, Source
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
_ENTITIES: tuple[Format, ...] = ()
_METADATA: tuple[Format, ...] = ()

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

    A file that no format of the task knows (an image, a METS file) does not count as long as another one is known.
    """
    found: dict[str, Source] = {}
    fitting = [format for format in FORMATS.values() if task in format.tasks and format.reads]
    for source in sources:
        for format in fitting:
            if format.sniff(source):
                found.setdefault(format.name, source)
                break
    if not found:
        remedy = f"Name it with --format: {', '.join(format.name for format in fitting)}"
        place = sources[0].path if sources else None
        raise DatasetError(f"is in no format that {task} can be read from", file=place, remedy=remedy)
    if len(found) > 1:
        (first, one), (second, other) = list(found.items())[:2]
        what = f"is {second}, and {one.name} is {first}"
        raise DatasetError(what, file=other.path, remedy="Import them one after the other, or name one with --format")
    return FORMATS[next(iter(found))]
