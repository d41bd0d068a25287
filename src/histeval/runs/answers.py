"""Answers of one run, and the lines that hold them: a line an answer, or a line a whole recorded run."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from histeval.datasets.files import parse_json, read_lines
from histeval.errors import AnswersError
from histeval.tasks.base import Answer

REMEDY = (
    "Answers are a run folder, a published results folder, a .jsonl file with one "
    '{"document": ..., "text" or "record" or "error": ...} a line, or a .conll or .tsv file'
)
LARGEST = 2**53
"""The largest seconds, cost or number of tokens that is believed: whole numbers up to here are exact as floats."""


@dataclass(frozen=True)
class AnswerSet:
    """All answers of one run, by document and repeat.

    `run` is the path as given, or the run_id inside a file of many runs. `rules` are scoring rules that the run brings
    along (skip_signatures, say); `subset` the documents it was asked, where it says so; `facts` what is known of it:
    provider, model, date, dataset fingerprint.
    """

    run: str
    answers: Mapping[tuple[str, int], Answer]
    rules: Mapping[str, bool] = field(default_factory=dict)
    subset: tuple[str, ...] | None = None
    facts: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @cached_property  # asked for every document of every run
    def repeats(self) -> tuple[int, ...]:
        """The numbers of the repeats, at least one."""
        return tuple(sorted({repeat for _, repeat in self.answers})) or (0,)


def read_json_lines(place: Path) -> list[AnswerSet]:
    """The run that a file of answers holds, or the many of a file of recorded runs; raises AnswersError."""
    answers: dict[tuple[str, int], Answer] = {}
    lines: dict[tuple[str, int], int] = {}
    runs: list[AnswerSet] = []
    for number, line in read_lines(place, error=AnswersError):
        if not line.strip():
            continue
        if not answers and not runs and not line.lstrip().startswith(("{", "[")):
            raise AnswersError("is not JSON", file=place, line=number, remedy=REMEDY)
        value, _ = parse_json(line, place, error=AnswersError, line=number)
        if not isinstance(value, dict):
            raise AnswersError("is not an object", file=place, line=number, remedy=REMEDY)
        if "run_id" in value and not answers:
            runs.append(recorded_run(value, place, number))
            continue
        if runs:
            raise AnswersError("has no run_id, unlike the lines before it", file=place, line=number)
        answer = answer_from(value, place, number)
        key = (answer.document, answer.repeat)
        if key in answers:
            first = f"document {answer.document!r} is answered a second time (first in line {lines[key]})"
            raise AnswersError(first, file=place, line=number, remedy="Keep one of the two lines")
        answers[key], lines[key] = answer, number
    if runs:
        _unique(runs, place)
        return runs
    if not answers:
        raise AnswersError("is empty", file=place, remedy=REMEDY)
    return [AnswerSet(str(place), answers, notes=_contradictions(answers.values()))]


def _contradictions(answers: Iterable[Answer]) -> tuple[str, ...]:
    """What to say of answers that carry an error and an answer as well."""
    both = sum(answer.error is not None and (bool(answer.text) or answer.record is not None) for answer in answers)
    return (f"answers with an error beside a text or record: {both}; the error counts",) if both else ()


def _unique(runs: Iterable[AnswerSet], place: Path) -> None:
    seen: set[str] = set()
    for run in runs:
        if run.run in seen:
            raise AnswersError(f"holds the run {run.run!r} twice", file=place)
        seen.add(run.run)


def answer_from(value: Mapping[str, Any], place: Path, number: int) -> Answer:
    """One line of a file of answers; raises AnswersError where it is none."""
    document = value.get("document")
    if isinstance(document, int) and not isinstance(document, bool):
        document = str(document)
    if not isinstance(document, str) or not document:
        raise AnswersError('has no "document"', file=place, line=number, remedy=REMEDY)
    text, record, error = value.get("text"), value.get("record"), value.get("error")
    if text is None and record is None and error is None and "record" not in value and "text" not in value:
        raise AnswersError('has neither "text" nor "record" nor "error"', file=place, line=number, item=document)
    if text is not None and not isinstance(text, str):
        # an answer that was decoded on the way is a record under another name
        text, record = None, text if record is None else record
    repeat = value.get("repeat", 0)
    return Answer(
        document,
        text=text if text is not None or record is not None or error is not None else "",
        record=record,
        error=None if error is None else str(error) or "provider_error",
        repeat=repeat if isinstance(repeat, int) and not isinstance(repeat, bool) and repeat >= 0 else 0,
        finish=value["finish"] if isinstance(value.get("finish"), str) else None,
        seconds=number_or_none(value.get("seconds")),
        cost=number_or_none(value.get("cost")),
        usage=usage_from(value.get("usage")),
    )


def recorded_run(value: Mapping[str, Any], place: Path, number: int) -> AnswerSet:
    """One line of a file of many recorded runs. Its scores and marks are never read."""
    name = value.get("run_id")
    if not isinstance(name, str) or not name:
        raise AnswersError("has a run_id that is no text", file=place, line=number)
    pages = value.get("answers", value.get("pages"))
    if not isinstance(pages, dict):
        raise AnswersError('has neither "answers" nor "pages"', file=place, line=number, item=name)
    answers: dict[tuple[str, int], Answer] = {}
    for document, answer in pages.items():
        if not isinstance(answer, dict):
            raise AnswersError(f"the answer for {document!r} is not an object", file=place, line=number, item=name)
        record = answer.get("json", answer.get("record"))
        text = answer.get("text")
        error = answer.get("error")
        answers[document, 0] = Answer(
            document,
            text=text if isinstance(text, str) else None if record is not None or error is not None else "",
            record=record,
            error=None if error is None else str(error) or "provider_error",
            seconds=number_or_none(answer.get("seconds")),
            cost=number_or_none(answer.get("cost")),
            usage=usage_from(answer.get("usage")),
        )
    facts = {key: value[key] for key in ("provider", "model", "date") if isinstance(value.get(key), str)}
    return AnswerSet(name, answers, rules=rules_from(value.get("rules")), facts=facts)


def rules_from(value: Any) -> dict[str, bool]:
    """The scoring rules that a published run names (its skip_... and inferred_... switches)."""
    if not isinstance(value, dict):
        return {}
    return {str(name): True for name, switch in value.items() if switch is True}


def number_or_none(value: Any) -> float | None:
    """A number of a file as a float; None for everything else, negative and infinite numbers included."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= LARGEST:
        return None
    return float(value)


def usage_from(value: Any) -> dict[str, int]:
    """Token counts by kind; what is no whole number is left out."""
    if not isinstance(value, dict):
        return {}
    return {str(k): v for k, v in value.items() if type(v) is int and 0 <= v <= LARGEST}
