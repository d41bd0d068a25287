"""What a language model is told: role and prompt of each task, as files with a version that others may replace.

A prompt may hold placeholders, which are filled from the dataset's description: `$about` (language and period),
`$fields` and `$example` (letters), `$types` and `$first` (directories), `$text` (the document's text). A `$` that
begins no placeholder stays as it is.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from histeval.errors import InputError, UsageError
from histeval.tasks.base import Task
from histeval.tasks.description import Context, Description

_VERSION = re.compile(r"\Aversion: *(\S+)\r?\n")
LANGUAGES = {
    "de": "German", "deu": "German", "gmh": "Middle High German", "gsw": "Swiss German", "fr": "French",
    "fra": "French", "frm": "Middle French", "en": "English", "eng": "English", "la": "Latin", "lat": "Latin",
    "it": "Italian", "ita": "Italian", "es": "Spanish", "nl": "Dutch", "pt": "Portuguese", "pl": "Polish",
    "cs": "Czech", "da": "Danish", "sv": "Swedish", "he": "Hebrew", "el": "Greek", "ru": "Russian",
}  # fmt: skip
"""English names of languages by code; a code that is not here is given to the model as it is."""


@dataclass(frozen=True, slots=True)
class Wording:
    """A role or a prompt: where it is from, its version, its text with placeholders, and its SHA-256."""

    name: str
    version: str
    text: str

    @property
    def sha256(self) -> str:
        """The hash of the text as the model gets it, before placeholders are filled."""
        return hashlib.sha256(self.text.encode("utf-8")).hexdigest()

    def describe(self) -> dict[str, str]:
        """What run.json keeps, and what two commands must agree on to be one run."""
        return {"name": self.name, "version": self.version, "sha256": self.sha256}

    def fill(self, values: Mapping[str, str]) -> str:
        """The text with its placeholders filled; unknown ones stay.

        >>> Wording("a", "1", "Costs $5. $fields").fill({"fields": "- a"})
        'Costs $5. - a'
        """
        return Template(self.text).safe_substitute(values)


def load_wording(task: Task, kind: str, file: Path | str | None = None, *, dataset_prompt: str = "") -> Wording:
    """The `prompt` or `role` of a task: from `file`, else the dataset's own prompt, else the bundled one.

    Raises InputError for a file that cannot be read, and UsageError for a task without a bundled text.
    """
    if file is not None:
        place = Path(file)
        try:
            return _wording(place.name, place.read_bytes().decode("utf-8-sig"))
        except (OSError, UnicodeDecodeError) as fault:
            raise InputError(
                f"the {kind} cannot be read: {getattr(fault, 'strerror', None) or fault}", file=place
            ) from fault
    if kind == "prompt" and dataset_prompt.strip():
        return _wording("dataset", dataset_prompt)
    name = task.name if kind == "prompt" else f"{task.name}_{kind}"
    place_in_package = files("histeval.systems") / "prompts" / f"{name}.txt"
    try:
        return _wording(name, place_in_package.read_text(encoding="utf-8"))
    except FileNotFoundError as fault:
        if kind == "role":
            return Wording("none", "0", "")
        raise UsageError(f"the task {task.name} has no prompt of its own; give one with --prompt FILE") from fault


def _wording(name: str, text: str) -> Wording:
    match = _VERSION.match(text)
    body = text[match.end() :] if match else text
    return Wording(name, match.group(1) if match else "0", body.strip().replace("\r\n", "\n"))


def placeholders(context: Context, schema: Mapping[str, Any] | None = None) -> dict[str, str]:
    """What the placeholders of a prompt become for a dataset, `$text` apart; the example fits the schema."""
    description = context.description
    example = {field.name: ["1899-12-31"] if field.kind == "date" else ["..."] for field in description.fields}
    lines = [f'- "{field.name}": {_meaning(field.kind, field.title or field.name)}' for field in description.fields]
    if description.task == "manuscripts":
        example_text = '{"folios": [{"folio": "12", "text": "first line\\nsecond line", "addition1": "..."}]}'
    else:
        wrapped = "metadata" in ((schema or {}).get("properties") or {})
        example_text = json.dumps({"metadata": example} if wrapped else example, ensure_ascii=False)
    return {
        "about": about(description),
        "fields": "\n".join(lines),
        "example": example_text,
        "types": types_in_words(description),
        "first": next((kind.name for kind in description.types if kind.root), "PER"),
    }


def about(description: Description) -> str:
    """Language and period in a sentence, empty where neither is known; nothing else, so as not to give answers away.

    >>> about(Description("letters", "x", languages=("de", "la"), period="1926-1935"))
    ' It is written in German and Latin; period: 1926-1935.'
    """
    languages = " and ".join(LANGUAGES.get(code.lower(), code) for code in description.languages)
    parts = [
        f"written in {languages}" if languages else "",
        f"period: {description.period}" if description.period else "",
    ]
    said = "; ".join(part for part in parts if part)
    return f" It is {said}." if languages else f" ({said.capitalize()}.)" if said else ""


def types_in_words(description: Description) -> str:
    """The entity types, what they mean, and where they may stand, one a line."""
    lines = []
    for kind in description.types:
        parents = [other.name for other in description.types if kind.name in other.children]
        place = " or ".join((["by itself"] if kind.root else []) + [f"inside {parent}" for parent in parents])
        lines.append(f"- <{kind.name}>: {kind.title or kind.name}" + (f" ({place})" if place else ""))
    return "\n".join(lines)


def _meaning(kind: str, title: str) -> str:
    hint = {
        "date": ", as year-month-day",
        "person": " (persons)",
        "organisation": " (companies, offices and other bodies)",
        "place": " (places)",
    }.get(kind, "")
    return f"{title}{hint}"


def record_schema(task: Task, context: Context) -> dict[str, Any] | None:
    """The JSON schema of the record a task asks for, None where the task states none."""
    make = getattr(task, "record_schema", None)
    schema = make(context) if callable(make) else None
    return schema if isinstance(schema, dict) else None
