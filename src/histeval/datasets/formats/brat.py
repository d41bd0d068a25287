"""brat standoff: a text file and, with the same name and the ending .ann, a line `T1<TAB>Type 0 5<TAB>text` an entity.

Source: the standoff format of brat (Stenetorp et al. 2012). Offsets count characters from 0, the end is behind the
last; nesting follows from containment, of two with equal extent the one that stands first is outside. Relations,
events, attributes, normalisations and notes are counted and left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence

from histeval.datasets.files import decode
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.columns import head_lines
from histeval.datasets.formats.entries import EntryDocument, file_names, one_word
from histeval.errors import DatasetError, UsageError

_ENTITY = re.compile(r"(T\S+)\t(\S+) (\d{1,9} \d{1,9}(?:;\d{1,9} \d{1,9})*)(?:\t(.*))?")
_OTHERS = {
    "R": "relations",
    "E": "events",
    "A": "attributes of entities",
    "M": "attributes of entities",
    "N": "links to knowledge bases",
    "#": "notes",
    "*": "equivalences",
}


def sniff(source: Source) -> bool:
    """Whether a file is named .ann and begins with an annotation, or is empty."""
    if source.suffix != ".ann":
        return False
    lines = [line for line in head_lines(source) if line.strip()]
    return all(re.match(r"[TREAMN#*]\S*\t", line) for line in lines[:5])


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The documents of some pairs of files.

    Option `discontinuous` (cover or leave_out): an entity of several pieces becomes one from its first to its last
    character, or is left out; either is reported. Raises DatasetError where a text is missing, offsets are past its
    end, or the words of an annotation are not those of the text.
    """
    how = options.get("discontinuous", "cover")
    if how not in ("cover", "leave_out"):
        raise UsageError(f"the option discontinuous takes cover or leave_out, not {how!r}")
    texts: dict[str, Source] = {}
    for source in sources:
        if source.suffix == ".txt":
            texts[source.name[:-4]] = source
    for source in sources:
        if source.suffix != ".ann":
            continue
        text = texts.pop(source.name[:-4], None)
        if text is None:
            remedy = "Import the folder that holds both files"
            raise DatasetError("has no text file of the same name beside it", file=source.path, remedy=remedy)
        report.count("files", 2)
        document = EntryDocument(source.stem, decode(text.data, text.path), [], {}, source.path)
        _read_annotations(document, source, how == "cover", report)
        yield document
    for name in texts:
        report.leave_out("texts without annotations", f"{name}.txt")


def _read_annotations(document: EntryDocument, source: Source, cover: bool, report: ImportReport) -> None:
    seen: set[str] = set()
    for number, line in enumerate(decode(source.data, source.path).split("\n"), start=1):
        line = line.removesuffix("\r")
        if not line.strip():
            continue
        if line[0] in _OTHERS:
            report.leave_out(_OTHERS[line[0]], f"{source.name}: {line.split(chr(9))[0][:20]}")
            continue
        match = _ENTITY.fullmatch(line)
        if match is None:
            remedy = "An entity is T1, a tab, its type, start and end, a tab, and its text"
            raise DatasetError("is no annotation of brat", file=source.path, line=number, remedy=remedy)
        name, kind, places, words = match.groups()
        if name in seen:
            remedy = "Give each annotation an id of its own"
            raise DatasetError("stands a second time", file=source.path, line=number, item=name, remedy=remedy)
        seen.add(name)
        pieces = [(int(start), int(end)) for start, end in (piece.split() for piece in places.split(";"))]
        start, end = min(pieces)[0], max(piece[1] for piece in pieces)
        if len(pieces) > 1:
            place = f"{source.name}: {name}"
            if not cover:
                report.leave_out("discontinuous entities", place)
                continue
            report.repair("discontinuous entities, read from their first to their last character", place)
        document.add(kind, start, end, line=number, item=name)
        found = " ".join(document.text[piece[0] : piece[1]] for piece in pieces)
        if words is not None and found.split() != words.split():
            what = f"says {words[:60]!r} where the text has {found[:60]!r}"
            remedy = "The offsets belong to another text; export both files again"
            raise DatasetError(what, file=source.path, line=number, item=name, remedy=remedy)


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """A text file and an .ann file for each document; crossing entities are kept."""
    given = list(one_word(documents, report))
    names = file_names((document.id for document in given), report)
    files: dict[str, bytes] = {}
    for document in given:
        lines = []
        for number, (kind, start, end) in enumerate(document.spans, start=1):
            words = " ".join(document.text[start:end].split())
            lines.append(f"T{number}\t{kind} {start} {end}\t{words}\n")
        if document.attributes:
            report.lose("attributes of documents", document.id)
        files[f"{names[document.id]}.txt"] = document.text.encode()
        files[f"{names[document.id]}.ann"] = "".join(lines).encode()
        report.count("documents")
        report.count("entities", len(lines))
    return files
