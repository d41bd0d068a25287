"""A small dataset of letters made on the spot, for tests of the rooms above the tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LETTERS: dict[str, dict[str, Any]] = {
    "letter01": {
        "send_date": ["1931-05-04"],
        "sender_persons": ["Holm, Karin"],
        "receiver_persons": ["Brandt, Otto"],
        "has_signatures": "TRUE",
    },
    "letter02": {
        "send_date": ["1931-06-11"],
        "sender_persons": ["<Brandt, Otto>"],
        "receiver_persons": ["Holm, Karin", "Vik, Per"],
        "has_signatures": "FALSE",
    },
    "letter03": {
        "send_date": ["1932-01-30"],
        "sender_persons": ["None"],
        "receiver_persons": ["<<Vik, Per>>"],
        "has_signatures": "TRUE",
    },
}
PERSONS = [
    {"name": "Holm, Karin", "alternateName": ["Frau Holm", "K. Holm"]},
    {"name": "Brandt, Otto", "alternateName": ["Herr Brandt"]},
    {"name": "Vik, Per", "alternateName": []},
]
RIGHT: dict[str, dict[str, Any]] = {
    "letter01": {"send_date": ["1931-05-04"], "sender_persons": ["K. Holm"], "receiver_persons": ["Herr Brandt"]},
    "letter02": {"send_date": "1931-06-11", "sender_persons": None, "receiver_persons": ["Holm, Karin", "Vik, Per"]},
    "letter03": {"send_date": ["1932-01-30"], "sender_persons": ["null"], "receiver_persons": []},
}


def write_letters(folder: Path, letters: Mapping[str, Any] = LETTERS, persons: Any = PERSONS) -> Path:
    """The sample letters as a folder in the published layout."""
    truth = folder / "ground_truths"
    truth.mkdir(parents=True)
    for name, letter in letters.items():
        (truth / f"{name}.json").write_text(json.dumps(letter), encoding="utf-8")
    (truth / "persons.json").write_text(json.dumps(persons), encoding="utf-8")
    return folder


def write_answers(file: Path, answers: Mapping[str, Any] = RIGHT, key: str = "record") -> Path:
    """Answers as a .jsonl file."""
    lines = [json.dumps({"document": name, key: value}) for name, value in answers.items()]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file
