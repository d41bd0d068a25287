"""Files in memory and readers by name, for the tests of formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from histeval.datasets.formats import FORMATS, ImportReport, Source


def sources(files: dict[str, str | bytes]) -> list[Source]:
    """Files by name."""
    found = []
    for name, content in files.items():
        data = content.encode() if isinstance(content, str) else content
        found.append(Source(Path(name), name, lambda data=data: data, data[: 1 << 16]))
    return found


def read(format: str, files: dict[str, str | bytes], **options: Any) -> tuple[list[Any], ImportReport]:
    """The documents of some files and the report."""
    task = FORMATS[format].tasks[0]
    report = ImportReport(task, format)
    return list(FORMATS[format].read(sources(files), options, report)), report


def entities(document: Any) -> list[tuple[str, str]]:
    """Types and texts of the entities of a document, in order."""
    return [(kind, document.text[start:end]) for kind, start, end in document.spans]
