"""The record of a manuscript page in what a model sent: a list of entries, one a folio.

An entry maps `folio`, `text`, `addition1` ... to values, or is None where something else stood in its place.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from histeval.tasks.base import Answer, Reading
from histeval.tasks.published_reading import read_published
from histeval.tasks.reading import Wanted, is_missing, read_tolerant, search_record, shape

ADDITION = re.compile(r"addition(\d{1,4})")
MAX_ENTRIES = 1000
_SEPARATORS = re.compile(r"[\s_\-]+")
BARE = "a folio without the list folios around it"
WANTED = Wanted(
    ("folios", "folio", "text", "addition1"),
    advice="plain transcriptions become answers with `histeval import transcription FILE --answers ANSWERS.jsonl`",
)

Entry = Mapping[str, Any]


def read(answer: Answer, tolerant: bool) -> Reading:
    """The entries of a page, or a failure; never raises."""
    if tolerant:
        return read_tolerant(answer, _find, _merge, WANTED)
    found = read_published(answer)
    if found.failure:
        return found
    data = found.record
    folios = data.get("folios") if isinstance(data, Mapping) else None
    if not isinstance(folios, list):
        return Reading(failure="wrong_shape", detail=f"no list of folios, but {shape(data)}")
    return Reading(record=tuple(entry if isinstance(entry, Mapping) else None for entry in folios))


def _find(value: Any, repairs: list[str]) -> tuple[Entry | None, ...] | None:
    found = search_record(value, _is_record, repairs)
    if found is None:
        return None
    if isinstance(found, Mapping) and _is_entry(found):
        repairs.append(BARE)
        entries: list[Any] = [found]
    elif isinstance(found, Mapping) and "folios" in found:
        entries = found["folios"] if isinstance(found["folios"], list) else [found["folios"]]
        left = [str(key)[:40] for key in found if key != "folios"]
        if left:
            repairs.append(f"left out what was not asked for: {', '.join(left[:5])}")
    elif isinstance(found, list):
        repairs.append("a list without the member folios")
        entries = found
    else:
        repairs.append("folios as members of an object")
        entries = [e for member in found.values() for e in (member if isinstance(member, list) else [member])]
    if len(entries) > MAX_ENTRIES:
        repairs.append(f"{len(entries) - MAX_ENTRIES} entries beyond the first {MAX_ENTRIES} left out")
    return tuple(_entry(entry, repairs) for entry in entries[:MAX_ENTRIES])


def _merge(found: list[tuple[Any, list[str]]]) -> tuple[Any, list[str]] | None:
    """Several bare folios in one text are the folios of one page."""
    if not all(BARE in repairs for _, repairs in found):
        return None
    return sum((entries for entries, _ in found), ()), [repair for _, repairs in found for repair in repairs]


def _is_record(item: Any) -> bool:
    if isinstance(item, list):
        return bool(item) and all(isinstance(entry, Mapping) and _is_entry(entry) for entry in item[:MAX_ENTRIES])
    if not isinstance(item, Mapping):
        return False
    folios = item.get("folios")
    if isinstance(folios, list) or (isinstance(folios, Mapping) and _is_entry(folios)):
        return True
    return _is_entry(item) or (0 < len(item) <= MAX_ENTRIES and all(_are_entries(member) for member in item.values()))


def _are_entries(member: Any) -> bool:
    """Whether a member is an entry or a list of such, as in a ground truth (`{"[3r]": [{...}]}`)."""
    return _is_record(member) if isinstance(member, list) else isinstance(member, Mapping) and _is_entry(member)


def _is_entry(item: Mapping[str, Any]) -> bool:
    """Whether an object is a folio with values, not the schema of one."""
    members = {_key(str(key)): member for key, member in item.items()}
    known = [members[key] for key in members if key in ("folio", "text") or ADDITION.fullmatch(key)]
    if not known or not ("text" in members or "folio" in members):
        return False
    return all(not isinstance(member, Mapping) or _worded(member) is not None for member in known)


def _key(key: str) -> str:
    return _folded(key[:60])


@lru_cache(maxsize=4096)
def _folded(key: str) -> str:
    return _SEPARATORS.sub("", key).casefold()


def _entry(entry: Any, repairs: list[str]) -> Entry | None:
    """An entry with its values as text."""
    if isinstance(entry, str):
        repairs.append("an entry that is only a text")
        return {"text": _unescaped(entry, repairs)}
    if not isinstance(entry, Mapping):
        repairs.append(f"{shape(entry)} in the place of an entry")
        return None
    values: dict[str, str] = {}
    unknown = []
    for key, member in entry.items():
        name = _key(str(key))
        if name == "additions" and isinstance(member, list):
            for number, addition in enumerate(member[:MAX_ENTRIES], start=1):
                values.setdefault(f"addition{number}", _text(addition, "additions", repairs))
        elif name in ("folio", "text") or ADDITION.fullmatch(name):
            values[name] = _text(member, name, repairs)
        else:
            unknown.append(str(key)[:40])
    if unknown:
        repairs.append(f"left out what was not asked for: {', '.join(unknown[:5])}")
    return values


def _text(value: Any, name: str, repairs: list[str]) -> str:
    """A value as text: lines of a list joined, a number written out; what is no text is left out."""
    if isinstance(value, str):
        return _unescaped(value, repairs)
    if is_missing(value):
        return ""
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        repairs.append(f"{name}: lines of a list joined")
        return _unescaped("\n".join(value), repairs)
    if isinstance(value, int | float) and not isinstance(value, bool):
        try:
            return str(int(value)) if value == int(value) else str(value)
        except (ValueError, OverflowError):
            pass
    words = _worded(value) if isinstance(value, Mapping) else None
    if words is not None:
        return _unescaped(words, repairs)
    repairs.append(f"{name}: {shape(value)} left out")
    return ""


def _worded(item: Mapping[str, Any]) -> str | None:
    for key in ("text", "value"):
        words = item.get(key)
        if isinstance(words, str):
            return words
    return None


def _unescaped(text: str, repairs: list[str]) -> str:
    """A text whose line breaks were escaped twice, so that it has the two characters backslash-n and no line break."""
    if "\\n" in text and "\n" not in text:
        repairs.append("literal backslash-n read as line break")
        return text.replace("\\r\\n", "\n").replace("\\n", "\n")
    return text
