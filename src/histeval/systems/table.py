"""A table of systems in a TOML file (`--config`): twenty models are one file and one command.

    [defaults]
    temperature = 0.0

    [[system]]
    name = "openai/gpt-4.1-mini"

    [[system]]
    name = "anthropic/claude-opus-4-5"
    label = "opus, thinking"
    reasoning_tokens = 4000

`label` names the run's folder where two runs ask the same system. `max_connections`, `batch`, `prompt` and `role`
may stand there too; everything else is a setting of the system.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval.errors import InputError

RESERVED = ("name", "label", "max_connections", "batch", "prompt", "role")


@dataclass(frozen=True, slots=True)
class Asked:
    """A system to be asked, and how: options that are None or empty follow the command."""

    name: str
    label: str = ""
    settings: Mapping[str, Any] = field(default_factory=dict)
    max_connections: int | None = None
    batch: bool | int | None = None
    prompt: Path | None = None
    role: Path | None = None
    place: str = ""
    """File and row, for messages about it."""


def read_table(file: Path | str) -> list[Asked]:
    """The systems of a table; raises InputError with file and item for one that is wrong."""
    place = Path(file)
    try:
        table = tomllib.loads(place.read_text(encoding="utf-8-sig"))
    except OSError as fault:
        raise InputError(f"cannot be read: {fault.strerror or fault}", file=place) from fault
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as fault:
        raise InputError(f"is not TOML: {fault}", file=place) from fault
    form = 'A table has [[system]] entries with name = "provider/model" and settings, and may have [defaults]'
    strangers = set(table) - {"system", "defaults"}
    if strangers:
        raise InputError(f"has an unknown part {sorted(strangers)[0]!r}", file=place, remedy=form)
    entries, defaults = table.get("system"), table.get("defaults", {})
    if not isinstance(entries, list) or not entries or not isinstance(defaults, dict):
        raise InputError("names no system", file=place, remedy=form)
    return [_entry({**defaults, **entry}, number, place, form) if isinstance(entry, dict)
            else _entry({}, number, place, form) for number, entry in enumerate(entries, start=1)]  # fmt: skip


def _entry(entry: dict[str, Any], number: int, place: Path, form: str) -> Asked:
    item = f"system {number}"
    name = entry.get("name")
    if not isinstance(name, str) or not name:
        raise InputError("has no name", file=place, item=item, remedy=form)
    item += f" ({name})"
    connections, batch = entry.get("max_connections"), entry.get("batch")
    if connections is not None and (type(connections) is not int or connections < 1):
        raise InputError("max_connections is a whole number from 1", file=place, item=item)
    if batch is not None and type(batch) is not bool and (type(batch) is not int or batch < 1):
        raise InputError("batch is true, false or the number of requests in a batch", file=place, item=item)
    texts: dict[str, Path | None] = {}
    for key in ("prompt", "role"):
        value = entry.get(key)
        if value is not None and not isinstance(value, str):
            raise InputError(f"{key} is the name of a file", file=place, item=item)
        texts[key] = place.parent / value if value else None
    settings = {key: value for key, value in entry.items() if key not in RESERVED}
    label = entry.get("label", "")
    return Asked(name, str(label), settings, connections, batch, texts["prompt"], texts["role"], f"{place}, {item}")
