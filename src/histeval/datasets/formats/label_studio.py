"""Label Studio: the export as JSON (tasks with annotations and results) or JSON-MIN (tasks with their labels)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from histeval.datasets.formats.base import ImportReport, Options, Source
from histeval.datasets.formats.doccano import utf16_places
from histeval.datasets.formats.entries import EntryDocument
from histeval.datasets.formats.json_lines import first_object, json_documents, offset_of, plain_attributes
from histeval.errors import DatasetError, UsageError

_KINDS = ("labels", "hypertextlabels")
_TASK_KEYS = ("id", "annotator", "annotation_id", "created_at", "updated_at", "lead_time")


def sniff(source: Source) -> bool:
    """Whether the first object is a task of Label Studio."""
    head = source.head[:1]
    first = first_object(source)
    if not first:  # a task longer than the head
        text = source.head.decode("utf-8", "replace")
        return head == b"[" and '"annotations"' in text and '"result"' in text
    whole = isinstance(first.get("data"), dict) and ("annotations" in first or "predictions" in first)
    return whole or any(_is_region(item) for value in first.values() if isinstance(value, list) for item in value[:1])


def _is_region(value: Any) -> bool:
    return isinstance(value, dict) and isinstance(value.get("labels"), list) and "start" in value and "end" in value


def read(sources: Sequence[Source], options: Options, report: ImportReport) -> Iterator[EntryDocument]:
    """The tasks of some files.

    Options: `text` (the key under data that holds the text), `annotation` (first, last or prediction: which of several
    is read; the others are reported). Offsets are checked against the text that Label Studio writes beside them; where
    they count UTF-16 units they are mended and that is reported.
    """
    which = options.get("annotation", "first")
    if which not in ("first", "last", "prediction"):
        raise UsageError(f"the option annotation takes first, last or prediction, not {which!r}")
    for source in sources:
        report.count("files")
        for number, (line, task) in enumerate(json_documents(source)):
            data = task["data"] if isinstance(task.get("data"), dict) else task
            named = next((data[key] for key in ("document", "document_id") if key in data), task.get("id", number))
            identifier = str(named)
            key = str(options.get("text", "text"))
            if not isinstance(data.get(key), str):
                texts = ", ".join(name for name, value in data.items() if isinstance(value, str))
                remedy = f"Name the key of the text: --option text=KEY, one of {texts}" if texts else ""
                what = f"has no text under {key[:80]}"
                raise DatasetError(what, file=source.path, line=line, item=f"task {identifier}", remedy=remedy)
            regions = _regions(task, which, identifier, report)
            attributes = plain_attributes({k: v for k, v in data.items() if k not in (key, "document", *_TASK_KEYS)})
            document = EntryDocument(identifier, data[key], [], attributes, source.path, line)
            for region in regions:
                _add(document, region, report)
            yield document


def _regions(task: dict[str, Any], which: str, identifier: str, report: ImportReport) -> list[Any]:
    """The labelled regions of a task."""
    if "annotations" not in task and "predictions" not in task and "completions" not in task:
        regions = []
        for value in task.values():
            if isinstance(value, list):
                regions += [item for item in value if _is_region(item)]
        return regions
    given = task.get("predictions") if which == "prediction" else task.get("annotations", task.get("completions"))
    listed = given if isinstance(given, list) else []
    valid = [item for item in listed if isinstance(item, dict) and isinstance(item.get("result"), list)]
    kept = [item for item in valid if not item.get("was_cancelled")]
    if len(kept) < len(valid):
        report.leave_out("skipped annotations", identifier)
    if not kept:
        report.note("tasks without an annotation have no entity")
        return []
    if len(kept) > 1:
        report.leave_out("further annotations of a task", f"{identifier}: {len(kept) - 1}")
    chosen = kept[-1] if which == "last" else kept[0]
    regions = []
    for item in chosen["result"]:
        kind = item.get("type") if isinstance(item, dict) else None
        value = item.get("value") if isinstance(item, dict) else None
        if kind in _KINDS and isinstance(value, dict):
            regions.append({**value, "labels": value.get("labels", value.get("hypertextlabels"))})
        else:
            report.leave_out(f"results of type {str(kind)[:40]}", identifier)
    return regions


def _add(document: EntryDocument, region: dict[str, Any], report: ImportReport) -> None:
    labels = region.get("labels")
    places = region.get("globalOffsets") if isinstance(region.get("globalOffsets"), dict) else region
    assert isinstance(places, dict)
    start, end = offset_of(places.get("start")), offset_of(places.get("end"))
    if (
        start is None
        or end is None
        or not isinstance(labels, list)
        or not all(isinstance(name, str) for name in labels)
    ):
        what, remedy = "has a region without start, end and labels", "Label it, or delete it, and export again"
        raise DatasetError(what, file=document.file, line=document.line, item=f"task {document.id}", remedy=remedy)
    if not labels:
        report.leave_out("regions without a label", document.id)
    words = region.get("text")
    if isinstance(words, str) and document.text[start:end].split() != words.split():
        units = utf16_places(document.text)
        if end < len(units) and document.text[units[start] : units[end]].split() == words.split():
            start, end = units[start], units[end]
            report.repair("offsets in UTF-16 units, read as such", document.id)
        elif end <= len(document.text):
            what = f"has a region with the text {words[:60]!r} where the text has {document.text[start:end][:60]!r}"
            remedy = "The offsets belong to another text; export it again"
            raise DatasetError(what, file=document.file, line=document.line, item=f"task {document.id}", remedy=remedy)
    for name in labels:
        document.add(name, start, end, line=document.line, item=f"task {document.id}")
