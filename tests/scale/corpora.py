"""Corpora in parts made of the bundled datasets, for tests."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.datasets.bundled import bundled
from histeval.entities.spans import Entry
from histeval.tasks.truth import LetterTruth, PageTruth

TASKS = ("letters", "manuscripts", "directories")


def truth(document: Document) -> dict[str, Any]:
    """The truth of a document as a row of a corpus has it."""
    found = document.truth
    if isinstance(found, LetterTruth):
        signed = {} if found.signed is None else {"has_signatures": "TRUE" if found.signed else "FALSE"}
        return {**{name: list(values) for name, values in found.fields.items()}, **signed}
    if isinstance(found, PageTruth):
        page: dict[str, list[Any]] = {}
        for reference, fields in found.folios:
            page.setdefault(reference, []).append(dict(fields))
        return page
    assert isinstance(found, Entry)
    spans = [{"type": s.type, "start": s.start, "end": s.end, "parent": s.parent} for s in found.spans]
    return {"text": found.text, "spans": spans}


def rows(dataset: Dataset, kind: str, copies: int = 1) -> list[dict[str, Any]]:
    """Truth and bundled answer of every document, `copies` times under other ids."""
    lines = bundled(f"{dataset.task}/{kind}").read_text(encoding="utf-8").splitlines()
    answers = {line["document"]: line for line in map(json.loads, filter(None, lines))}
    found = []
    for copy in range(copies):
        for document in dataset.documents.values():
            answer = answers.get(document.id, {})
            row = {**answer, "document": f"{document.id}_{copy}", "truth": truth(document)}
            found.append({**row, "unit": f"{document.unit}_{copy}", "seconds": 0.1 * copy, "cost": 0.3})
    return found


def write(path: Path, found: list[dict[str, Any]]) -> Path:
    """Rows as JSON Lines or, by the ending, as Parquet."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".parquet":
        import polars

        plain = [
            {key: json.dumps(item) if isinstance(item, (dict, list)) else item for key, item in row.items()}
            for row in found
        ]
        polars.DataFrame(plain, infer_schema_length=None).write_parquet(path)
    else:
        path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in found), encoding="utf-8")
    return path
