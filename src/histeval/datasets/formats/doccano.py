"""doccano: a JSON object a line with a text and labels `[start, end, type]`, or with entities and their offsets."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.entries import EntryDocument
from histeval.datasets.formats.json_lines import add_span, first_object, json_documents, plain_attributes, text_of
from histeval.errors import DatasetError, UsageError

_LABELS = ("label", "labels")
_KEYS = ("label", "start_offset", "end_offset")


def sniff(source: Source) -> bool:
    """Whether the first object has a text and labels or entities as doccano writes them."""
    first = first_object(source)
    if not isinstance(first.get("text", first.get("data")), str):
        return False
    if isinstance(first.get("entities"), list):
        return True
    labels = next((first[key] for key in _LABELS if isinstance(first.get(key), list)), None)
    return labels is not None and all(isinstance(label, list) and len(label) == 3 for label in labels)


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The texts of some files.

    Option `offsets`: characters, or utf16 where offsets count as a browser counts (two for a sign beyond U+FFFF).
    Relations and comments are left out and counted.
    """
    unit = options.get("offsets", "characters")
    if unit not in ("characters", "utf16"):
        raise UsageError(f"the option offsets takes characters or utf16, not {unit!r}")
    for source in sources:
        report.count("files")
        for number, (line, value) in enumerate(json_documents(source)):
            named = value.get("id")
            identifier = str(named) if isinstance(named, str | int) and str(named).strip() else str(number)
            text = text_of(value.get("text", value.get("data")), "text", source, line, identifier)
            others = {k: v for k, v in value.items() if k not in ("id", "text", "data", "meta", "metadata", *_LABELS)}
            attributes = plain_attributes({**others, **plain_attributes(value.get("meta", value.get("metadata")))})
            document = EntryDocument(identifier, text, [], attributes, source.path, line)
            places = utf16_places(text) if unit == "utf16" else None
            for span in _spans(value, document, line):
                if places is not None:
                    span = {**span, **{key: _place(places, span[key]) for key in _KEYS[1:]}}
                add_span(document, span, _KEYS, line)
            for key in ("relations", "Comments", "comments"):
                if isinstance(value.get(key), list) and value[key]:
                    report.leave_out(key.lower(), f"{identifier}: {len(value[key])}")
            yield document


def _spans(value: dict[str, Any], document: EntryDocument, line: int | None) -> list[Any]:
    if isinstance(value.get("entities"), list):
        return list(value["entities"])
    labels: Any = next((value[key] for key in _LABELS if value.get(key) is not None), [])
    if not isinstance(labels, list) or not all(isinstance(label, list) and len(label) == 3 for label in labels):
        what = "has labels that are not [start, end, type]"
        raise DatasetError(
            what, file=document.file, line=line, item=document.id, remedy="Export it again as JSONL from doccano"
        )
    return [dict(zip(_KEYS, (kind, start, end), strict=True)) for start, end, kind in labels]


def utf16_places(text: str) -> list[int]:
    """The character at each place of a text counted in UTF-16 units, and its length at the end.

    >>> utf16_places("a\\U0001F600b")
    [0, 1, 1, 2, 3]
    """
    places: list[int] = []
    for place, letter in enumerate(text):
        places += [place] * (2 if ord(letter) > 0xFFFF else 1)
    return [*places, len(text)]


def _place(places: Sequence[int], value: Any) -> Any:
    inside = isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(places)
    return places[value] if inside else value


def write(documents: Iterable[EntryDocument], options: Options, report: ImportReport) -> dict[str, bytes]:
    """`entries.jsonl` as doccano imports it (task sequence labelling; several labels on one text allowed)."""
    lines = []
    for document in documents:
        labels = [[start, end, kind] for kind, start, end in document.spans]
        line = {"id": document.id, "text": document.text, "label": labels, **document.attributes}
        if any(key in ("id", "text", "label") for key in document.attributes):
            report.lose("attributes of documents", document.id)
            line |= {"id": document.id, "text": document.text, "label": labels}
        lines.append(json.dumps(line, ensure_ascii=False) + "\n")
        report.count("documents")
        report.count("entities", len(labels))
    return {"doccano.jsonl": "".join(lines).encode()}
