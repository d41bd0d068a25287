"""What every task's view of an answer has in common: failure, notes, raw text; and equal answers shown once."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from histeval.datasets.base import Document
from histeval.overview.page import clean
from histeval.runs.score import MISSING, Score
from histeval.tasks.base import FAILURES, Answer, DocumentScore, Reading, Scorer

MOST_RAW = 20_000
"""So many characters of a raw answer are shown."""
MOST_VALUE = 600
"""So many characters of one name, date or remark are shown."""
MOST_NOTES = 12

View = dict[str, Any]
"""What the page's script draws of one answer: JSON, with every text of the answer already cleaned."""
TaskView = Callable[[Scorer, Document, DocumentScore, Reading], View]


def distinct(
    document: Document, scores: Sequence[Score], answers: Mapping[str, Answer | None], view: TaskView
) -> tuple[list[View], list[int]]:
    """The different answers of all runs as views, and for each score the place of its view.

    A run that was not scored on this document has -1.
    """
    views: list[View] = []
    places: list[int] = []
    seen: dict[Any, int] = {}
    for score in scores:
        row = score.rows[0].get(document.id)
        if row is None:
            places.append(-1)
            continue
        answer = answers.get(score.run) or Answer(document.id, error=MISSING)
        key = (id(score.scorer), answer.text, _written(answer.record), answer.error, answer.finish)
        if key not in seen:
            seen[key] = len(views)
            reading = score.scorer.read(answer)
            views.append({**_common(answer, row, reading), **view(score.scorer, document, row, reading)})
        places.append(seen[key])
    return views, places


def _common(answer: Answer, row: DocumentScore, reading: Reading) -> View:
    view: View = {}
    if row.failure:
        view["failure"] = {
            "reason": row.failure.replace("_", " "),
            "why": FAILURES.get(row.failure, row.failure),
            "detail": short(reading.detail),
        }
    notes = list(dict.fromkeys([*row.notes, *reading.repairs]))
    if notes:
        view["notes"] = [short(note) for note in notes[:MOST_NOTES]]
        if len(notes) > MOST_NOTES:
            view["notes"].append(f"and {len(notes) - MOST_NOTES} more")
    kind, raw = "text", answer.text
    if raw is None and answer.record is not None:
        kind, raw = "record", _written(answer.record)
    if raw is None and answer.error is not None and answer.error != MISSING:
        kind, raw = "error", answer.error
    if raw:
        view["raw"] = {"kind": kind, "text": clean(raw[:MOST_RAW]), "length": len(raw)}
        if len(raw) > MOST_RAW:
            view["raw"]["cut"] = f"cut after {MOST_RAW:,} of {len(raw):,} characters"
    return view


def short(text: object, most: int = MOST_VALUE) -> str:
    """A text of an answer for the page: cleaned, and cut with a note where it is long.

    >>> short("abc", 2)
    'ab… (3 characters)'
    """
    words = str(text)
    return clean(words) if len(words) <= most else f"{clean(words[:most])}… ({len(words):,} characters)"


def _written(record: Any) -> str | None:
    if record is None:
        return None
    try:
        return json.dumps(record, ensure_ascii=False, indent=1)
    except (TypeError, ValueError, RecursionError):
        return "(a record that cannot be written out)"
