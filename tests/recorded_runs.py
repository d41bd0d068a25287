"""The recorded runs of the published benchmarks, as truths and answers, straight from their JSON."""

from __future__ import annotations

import json
from functools import cache
from typing import Any

from histeval.tasks.base import Answer
from histeval.tasks.description import AuthorityEntry, Context
from histeval.tasks.letters import LettersTask
from histeval.tasks.manuscripts import ManuscriptsTask
from histeval.tasks.truth import LetterTruth, PageTruth
from support import DATA

RECORDED = DATA / "recorded_answers"
LETTER_FIELDS = ("letter_title", "send_date", "sender_persons", "receiver_persons")


@cache
def runs(kind: str) -> list[dict[str, Any]]:
    """All runs of `letters` or `medieval`."""
    lines = (RECORDED / kind / "runs.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


@cache
def letters(revision: str = "r4") -> tuple[dict[str, LetterTruth], Context]:
    """The letters and the persons list of one revision of the ground truth."""
    everything = json.loads((RECORDED / "truth/letters/ground_truth.json").read_text(encoding="utf-8"))
    persons = json.loads((RECORDED / "truth/letters/persons.json").read_text(encoding="utf-8"))
    older = everything["older_revisions"].get(revision, {})
    truths = {}
    for name, letter in everything["letters"].items():
        values = {**letter, **older.get("letters", {}).get(name, {})}
        signed = None if older.get("has_signatures") == "absent" else values["has_signatures"] == "TRUE"
        truths[name] = LetterTruth({field: tuple(values[field]) for field in LETTER_FIELDS}, signed)
    entries = tuple(
        AuthorityEntry(person["name"], tuple(person["alternateName"])) for person in persons[older.get("persons", "r4")]
    )
    return truths, Context(LettersTask().default_description(), {"persons": entries})


@cache
def pages() -> tuple[dict[str, PageTruth], Context]:
    """The manuscript pages."""
    everything = json.loads((RECORDED / "truth/medieval/ground_truth.json").read_text(encoding="utf-8"))
    truths = {
        name: PageTruth(tuple((ref, entries[0]) for ref, entries in page.items()))
        for name, page in everything["pages"].items()
    }
    return truths, Context(ManuscriptsTask().default_description())


def answer(document: str, recorded: dict[str, Any]) -> Answer:
    """A recorded answer as a reader of answers would give it."""
    if "error" in recorded:
        return Answer(document, error=recorded["error"])
    if "json" in recorded:
        return Answer(document, record=recorded["json"])
    return Answer(document, text=recorded["text"])


def run_named(kind: str, run_id: str) -> dict[str, Any]:
    """One recorded run."""
    return next(run for run in runs(kind) if run["run_id"] == run_id)
