"""Published RISE results folders: one `request_TEST_DOCUMENT.json` a document, in the fields of four eras.

March to September 2025 the answer stood in `response_text` (an object or a text); from September failures carried
`error` and `error_message`; runs migrated in November 2025 have `text` or `parsed`; later ones have both.
Scores stored in the files are never read.
"""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset
from histeval.datasets.files import list_folder, read_json, read_text
from histeval.errors import AnswersError
from histeval.runs.answers import AnswerSet, number_or_none, rules_from, usage_from
from histeval.tasks.base import Answer

REQUEST = re.compile(r"request_([^_]+)_(.+)\.json")
TESTS = "benchmarks_tests.csv"


def is_results_folder(place: Path) -> bool:
    """Whether a folder holds at least one `request_TEST_DOCUMENT.json`."""
    return any(REQUEST.fullmatch(name) for name in list_folder(place, error=AnswersError))


def read_results(place: Path, dataset: Dataset) -> AnswerSet:
    """The answers of a published results folder; the subset comes from the tests file beside the dataset folder."""
    answers: dict[tuple[str, int], Answer] = {}
    facts: dict[str, Any] = {}
    test = place.resolve().name
    for name in list_folder(place, error=AnswersError):
        match = REQUEST.fullmatch(name)
        if not match:
            continue
        value, _ = read_json(place / name, error=AnswersError)
        if not isinstance(value, dict):
            raise AnswersError("is not an object", file=place / name)
        document = match[2]
        if (document, 0) in answers:
            raise AnswersError(f"answers the document {document!r} a second time", file=place / name)
        answers[document, 0] = read_request(value, document)
        for key in ("provider", "model"):
            if isinstance(value.get(key), str):
                facts.setdefault(key, value[key])
        stamp = value.get("timestamp", value.get("execution_time"))
        if isinstance(stamp, str):
            facts["date"] = min(stamp[:10], facts.get("date", "9"))
    rules, note = _rules_of_test(test, dataset)
    return AnswerSet(str(place), answers, rules=rules, facts=facts, notes=(note,) if note else ())


def read_request(value: dict[str, Any], document: str) -> Answer:
    """One request file of any era as an answer."""
    usage = value.get("usage")
    text, record, error = value.get("text"), value.get("parsed"), value.get("error")
    response = value.get("response_text")
    if isinstance(response, dict | list):
        record = response
    elif isinstance(response, str) and not isinstance(text, str):
        text = response
    if error not in (None, "", False):
        error = " ".join(str(part) for part in (error, value.get("error_message")) if part not in (None, "", True))
        error = error or "provider_error"
    else:
        error = None
    if record is not None:
        text = None  # what the provider decoded is what was scored
    elif not isinstance(text, str):
        text = None if error else ""
    cost = usage.get("estimated_cost_usd") if isinstance(usage, dict) else None
    return Answer(
        document,
        text=None if error else text,
        record=None if error else record,
        error=error,
        finish=value["finish_reason"] if isinstance(value.get("finish_reason"), str) else None,
        seconds=number_or_none(value.get("duration", value.get("test_time"))),
        cost=number_or_none(cost),
        usage=usage_from(usage),
    )


def _rules_of_test(test: str, dataset: Dataset) -> tuple[dict[str, bool], str]:
    """The rules of a test, from the tests file in the parent of the dataset folder; and a note where there is none."""
    table = dataset.path.resolve().parent / TESTS
    if not table.is_file():
        return {}, ""
    for row in csv.DictReader(io.StringIO(read_text(table, error=AnswersError))):
        if row.get("id") == test:
            cell = (row.get("rules") or "").strip()
            try:
                return rules_from(json.loads(cell)) if cell else {}, ""
            except ValueError:
                return {}, f"the rules of {test} in {TESTS} are no JSON and were left out"
    return {}, f"{TESTS} has no row for {test}, so all documents are scored"
