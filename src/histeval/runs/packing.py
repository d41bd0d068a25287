"""What a shard's file holds, as JSON and back: documents with their truth, outcomes, and the summary of a corpus.

Values come back as they were: integers of eight bytes as base64, fractions as text. What reads raises KeyError,
TypeError or ValueError for anything that was not written here; `histeval.runs.sharding` makes a sentence of it.
"""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Mapping
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from histeval.datasets.base import Document
from histeval.entities.spans import Entry, Span
from histeval.runs.score import Outcome
from histeval.runs.summary import Said, Summary, Units
from histeval.runs.suspect import Evidence, Sampled
from histeval.tasks.base import Answer, DocumentScore, Reading
from histeval.tasks.truth import LetterTruth, PageTruth


def document_json(document: Document) -> dict[str, Any]:
    """A document with its truth; of its images only how many there are."""
    return {
        "id": document.id,
        "unit": document.unit,
        "attributes": dict(document.attributes),
        "images": len(document.images),
        "truth": truth_json(document.truth),
    }


def read_document(value: Mapping[str, Any]) -> Document:
    """What `document_json` wrote."""
    images = (Path(),) * min(int(value["images"]), 10_000)
    attributes = {str(key): str(item) for key, item in value["attributes"].items()}
    return Document(str(value["id"]), read_truth(value["truth"]), str(value["unit"]), attributes, images)


def truth_json(truth: Any) -> dict[str, Any]:
    """The truth of a document of any task; of another task's, the value itself, which must be JSON."""
    if isinstance(truth, LetterTruth):
        return {"letter": {name: list(values) for name, values in truth.fields.items()}, "signed": truth.signed}
    if isinstance(truth, PageTruth):
        return {"page": [[reference, dict(texts)] for reference, texts in truth.folios]}
    if isinstance(truth, Entry):
        spans = [[span.type, span.start, span.end, span.parent] for span in truth.spans]
        return {"entry": truth.text, "spans": spans, "nodes": truth.nodes}
    return {"value": truth}


def read_truth(value: Mapping[str, Any]) -> Any:
    """What `truth_json` wrote."""
    if "letter" in value:
        return LetterTruth({name: tuple(values) for name, values in value["letter"].items()}, value["signed"])
    if "page" in value:
        return PageTruth(tuple((reference, texts) for reference, texts in value["page"]))
    if "entry" in value:
        nodes = value["nodes"]
        spans = tuple(Span(*span) for span in value["spans"])
        return Entry(value["entry"], spans, None if nodes is None else tuple((start, end) for start, end in nodes))
    return value["value"]


def spent_json(answer: Answer) -> dict[str, Any]:
    """What an answer took: the answer itself is in its outcome."""
    return {"error": answer.error, "seconds": answer.seconds, "cost": answer.cost, "usage": dict(answer.usage)}


def outcome_json(outcome: Outcome) -> dict[str, Any]:
    """A scored answer: its record where it is plain, why it failed, its counts and fields."""
    reading, row = outcome
    plain = reading.record if isinstance(reading.record, (dict, list, tuple, str, type(None))) else None
    return {
        "record": plain,
        "failure": reading.failure,
        "row": None
        if row is None
        else {
            "counts": row.counts.tolist(),
            "failure": row.failure,
            "fields": row.fields,
            "notes": list(row.notes),
            "detail": row.detail,
        },
    }


def read_outcome(value: Mapping[str, Any], columns: int) -> Outcome:
    """What `outcome_json` wrote; raises ValueError where there are not so many counts."""
    row = value["row"]
    score = None
    if row is not None:
        counts = np.array(row["counts"], dtype=np.int64).reshape(columns)
        notes, detail = tuple(map(str, row["notes"])), str(row.get("detail", ""))
        score = DocumentScore(counts, row["failure"], row["fields"], notes, detail)
    return Reading(value["record"], value["failure"]), score


def _packed(values: Any) -> str:
    return base64.b64encode(np.ascontiguousarray(values).astype(values.dtype.newbyteorder("<")).tobytes()).decode()


def _unpacked(text: str, kind: str) -> Any:
    return np.frombuffer(base64.b64decode(text, validate=True), dtype=kind).astype(kind[1:])


def summary_json(summary: Summary) -> dict[str, Any]:
    """The sums over a share of a corpus in parts."""
    units, seen = summary.units, summary.evidence
    ids = np.concatenate(summary.ids) if summary.ids else np.empty(0, dtype=np.uint64)
    return {
        "units": None if units.names is None else list(units.names),
        "counts": _packed(units.counts),
        "seen": _packed(units.seen),
        "documents": summary.documents,
        "failures": dict(summary.failures),
        "without_truth": summary.without_truth,
        "outside": summary.outside,
        "ids": _packed(ids),
        "rows": [[names, _packed(values)] for names, values in summary.rows],
        "said": [[key, *one.place, one.sentence, dict(one.numbers), one.times] for key, one in summary.said.items()],
        "cost": None if summary.cost is None else str(summary.cost),
        "paid": summary.paid,
        "seconds": None if summary.seconds is None else str(summary.seconds),
        "usage": dict(summary.usage),
        "truth": f"{summary.truth:x}",
        "evidence": {
            "documents": seen.documents,
            "failures": dict(seen.failures),
            "empty": seen.empty,
            "usable": seen.usable,
            "from_text": seen.from_text,
            "sample": [[one.order, list(one.place), dict(one.found), dict(one.expected)] for one in seen.sample],
            "tokens": [[pages, *counted] for pages, counted in seen.tokens.items()],
        },
    }


def read_summary(value: Mapping[str, Any], columns: int) -> Summary:
    """What `summary_json` wrote; raises ValueError where units, counts, ids and numbers do not fit together."""
    names = value["units"]
    seen = value["evidence"]
    counts = _unpacked(value["counts"], "<i8").reshape(-1, columns)
    index = None if names is None else {str(name): row for row, name in enumerate(names)}
    if index is not None and len(index) != len(counts):
        raise ValueError("units and counts differ")
    ids = _unpacked(value["ids"], "<u8")
    numbers = [int(value[key]) for key in ("documents", "without_truth", "outside", "paid")]
    # each row has an id, and is one of these or an answer that the rules leave out
    if min(numbers) < 0 or sum(numbers[:3]) > len(ids) or numbers[3] > len(ids):
        raise ValueError("more documents than rows")
    if sum(map(int, value["failures"].values())) > numbers[0] or (counts.size and not numbers[0]):
        raise ValueError("failures and counts are those of no documents")
    return Summary(
        Units(index, counts, [np.unique(_unpacked(value["seen"], "<u8"))]),
        int(value["documents"]),
        Counter({str(key): int(number) for key, number in value["failures"].items()}),
        int(value["without_truth"]),
        int(value["outside"]),
        [ids],
        [(list(map(str, names)), _unpacked(packed, "<i8").reshape(-1, columns)) for names, packed in value["rows"]],
        {
            key: Said((part, place), str(sentence), {str(name): int(n) for name, n in numbers.items()}, times)
            for key, part, place, sentence, numbers, times in value["said"]
        },
        Evidence(
            int(seen["documents"]),
            Counter({str(key): int(number) for key, number in seen["failures"].items()}),
            int(seen["empty"]),
            int(seen["usable"]),
            bool(seen["from_text"]),
            [Sampled(order, (place[0], place[1]), found, due) for order, place, found, due in seen["sample"]],
            {int(pages): (answers, total) for pages, answers, total in seen["tokens"]},
        ),
        None if value["cost"] is None else Fraction(value["cost"]),
        int(value["paid"]),
        None if value["seconds"] is None else Fraction(value["seconds"]),
        Counter({str(key): int(number) for key, number in value["usage"].items()}),
        int(value["truth"], 16),
    )
