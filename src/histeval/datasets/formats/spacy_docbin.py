"""spaCy's DocBin (`.spacy`), where spaCy is installed: named entities and span groups of each Doc.

A DocBin is msgpack packed with zlib, without pickle. It is unpacked here first, up to a limit, since spaCy unpacks
without one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from typing import Any

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.entries import EntryDocument
from histeval.errors import DatasetError, MissingExtraError

UNPACKED_LIMIT = 256 * 1024 * 1024
"""How many bytes a DocBin may unpack to."""


def sniff(source: Source) -> bool:
    """Whether a file is named .spacy and begins as zlib data does."""
    return source.suffix == ".spacy" and source.head[:1] == b"\x78"


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The documents of some files, a Doc each.

    Option `spans` names a span group to read (nested entities, say) instead of `doc.ents`; without it groups are
    reported as left out. Raises MissingExtraError without spaCy, DatasetError where a file is damaged or unpacks to
    more than `UNPACKED_LIMIT` bytes.
    """
    for source in sources:
        data = source.data
        _check(data, source)
        report.count("files")
        for number, doc in enumerate(_docs(data, source)):
            identifier = str(number) if len(sources) == 1 else f"{source.stem}-{number}"
            document = EntryDocument(identifier, doc.text, [], {}, source.path)
            group = str(options.get("spans", ""))
            if group and group not in doc.spans:
                raise DatasetError(
                    f"has no span group {group[:80]!r}",
                    file=source.path,
                    item=f"document {number}",
                    remedy=f"Its groups are {', '.join(map(str, doc.spans)) or 'none: leave the option spans away'}",
                )
            for span in doc.spans[group] if group else doc.ents:
                document.add(str(span.label_), span.start_char, span.end_char)
            for name in doc.spans:
                if name != group:
                    report.leave_out(f"span groups {str(name)[:40]!r}", f"{identifier}: {len(doc.spans[name])}")
            report.count("tokens", len(doc))
            yield document


def _check(data: bytes, source: Source) -> None:
    """Raises DatasetError where the file is no zlib stream, is cut off, or unpacks to more than the limit."""
    unpacker = zlib.decompressobj()
    size = 0
    piece = data
    try:
        while piece and not unpacker.eof:
            size += len(unpacker.decompress(piece, 1 << 20))
            piece = unpacker.unconsumed_tail
            if size > UNPACKED_LIMIT:
                what = f"unpacks to more than {UNPACKED_LIMIT // (1 << 20)} MB"
                raise DatasetError(what, file=source.path, remedy="Split it into parts")
    except zlib.error:
        raise DatasetError(
            "is no DocBin of spaCy: it cannot be unpacked", file=source.path, remedy="Write it with `DocBin.to_disk`"
        ) from None
    if not unpacker.eof:
        raise DatasetError("is cut off", file=source.path, remedy="Export it again")


def _docs(data: bytes, source: Source) -> Iterator[Any]:
    try:
        import spacy
        from spacy.tokens import DocBin
    except ImportError:
        remedy = "install it with `pip install spacy`, or export CoNLL, JSONL or brat instead"
        raise MissingExtraError(f"{source.name} is a DocBin, and spaCy is not installed: {remedy}") from None
    try:
        yield from DocBin().from_bytes(data).get_docs(spacy.blank("xx").vocab)
    except (DatasetError, GeneratorExit):
        raise
    except Exception as fault:  # whatever msgpack, numpy and spaCy say of damaged content
        what = f"is no DocBin that spaCy can read: {type(fault).__name__} {fault}"
        raise DatasetError(what, file=source.path, remedy="Export it again with `DocBin.to_disk`") from None
