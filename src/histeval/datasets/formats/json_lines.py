"""Our own lines of entries: `{"id", "text", "spans": [{"type", "start", "end"}]}` or `{"id", "xml"}`."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from histeval.datasets.files import decode, parse_json
from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.entries import EntryDocument
from histeval.entities.markup import parse_markup
from histeval.errors import DatasetError, InputError


def json_documents(source: Source) -> Iterator[tuple[int | None, dict[str, Any]]]:
    """The objects in a JSON Lines file, or in a JSON file with a list, with their lines."""
    text = decode(source.data, source.path)
    if text.lstrip()[:1] == "[":
        value, _ = parse_json(text, source.path)
        items: list[tuple[int | None, Any]] = [(None, item) for item in value]
    else:
        lines = enumerate(text.split("\n"), start=1)
        items = [(number, parse_json(line, source.path, line=number)[0]) for number, line in lines if line.strip()]
    if not items:
        raise DatasetError("is empty", file=source.path, remedy="Export it again")
    for position, (number, item) in enumerate(items, start=1):
        if not isinstance(item, dict):
            what = "is no object" if number else f"has no object at place {position}"
            raise DatasetError(what, file=source.path, line=number, remedy="A document is an object in braces")
        yield number, item


def first_object(source: Source) -> dict[str, Any]:
    """The first object of a file as far as its head shows it, for `sniff`; empty where there is none."""
    text = source.head.decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    if text[:1] == "[":
        text = text[1:].lstrip()
    if text[:1] != "{":
        return {}
    try:
        value, _ = json.JSONDecoder().raw_decode(text)
    except (ValueError, RecursionError):
        return {}
    return value if isinstance(value, dict) else {}


def text_of(value: Any, what: str, source: Source, line: int | None, item: str) -> str:
    """A text; raises DatasetError where there is something else."""
    if not isinstance(value, str):
        raise DatasetError(
            f"has no {what}", file=source.path, line=line, item=item, remedy=f"Give it a {what}, in quotation marks"
        )
    return value


def offset_of(value: Any) -> int | None:
    """A whole number of characters; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < 1 << 31:
        return None
    return int(value) if value == int(value) else None


def plain_attributes(value: Any) -> dict[str, str]:
    """The members of an object that are texts or numbers."""
    if not isinstance(value, dict):
        return {}
    return {str(k): str(v) for k, v in value.items() if isinstance(v, str | int | float) and not isinstance(v, bool)}


def sniff(source: Source) -> bool:
    """Whether the first object is an entry with spans or markup."""
    first = first_object(source)
    return isinstance(first.get("xml"), str) or (isinstance(first.get("text"), str) and "spans" in first)


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The entries of some files; raises DatasetError where one is malformed."""
    for source in sources:
        report.count("files")
        for number, (line, value) in enumerate(json_documents(source)):
            named = value.get("id", value.get("document"))
            identifier = str(named) if isinstance(named, str | int) and str(named).strip() else str(number)
            attributes = plain_attributes(value.get("attributes"))
            document = EntryDocument(identifier, "", [], attributes, source.path, line)
            if isinstance(value.get("xml"), str):
                try:
                    entry = parse_markup(value["xml"])
                except InputError as fault:
                    raise DatasetError(
                        fault.what,
                        file=source.path,
                        line=line,
                        item=identifier,
                        remedy=fault.remedy or "Mend the markup",
                    ) from None
                document.text = entry.text
                document.spans = [(span.type, span.start, span.end) for span in entry.spans]
            else:
                document.text = text_of(value.get("text"), "text", source, line, identifier)
                spans = value.get("spans", [])
                if not isinstance(spans, list):
                    raise DatasetError(
                        "has spans that are no list",
                        file=source.path,
                        line=line,
                        item=identifier,
                        remedy='Write "spans": [] where it has none',
                    )
                for span in spans:
                    add_span(document, span, ("type", "start", "end"), line)
            yield document


def add_span(document: EntryDocument, span: Any, keys: tuple[str, str, str], line: int | None) -> None:
    """One more entity from an object with type, start and end under these keys."""
    kind, start, end = (span.get(key) for key in keys) if isinstance(span, dict) else (None, None, None)
    first, last = offset_of(start), offset_of(end)
    if not isinstance(kind, str) or not kind.strip() or first is None or last is None:
        what = f"has an entity without {keys[0]}, {keys[1]} and {keys[2]}"
        raise DatasetError(
            what,
            file=document.file,
            line=line,
            item=document.id,
            remedy="Offsets are whole numbers from 0, a type is a text; mend or remove it",
        )
    document.add(kind.strip(), first, last, line=line)


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`entries.jsonl`; it says everything."""
    lines = []
    for document in documents:
        spans = [{"type": kind, "start": start, "end": end} for kind, start, end in document.spans]
        line: dict[str, Any] = {"id": document.id, "text": document.text, "spans": spans}
        if document.attributes:
            line["attributes"] = document.attributes
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        report.count("documents")
        report.count("entities", len(spans))
    return {"entries.jsonl": "".join(lines).encode()}
