"""The fingerprint of a ground truth: equal for equal truth, however and wherever it is written down."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from typing import Any

from histeval.entities.spans import Entry
from histeval.tasks.description import AuthorityEntry
from histeval.tasks.truth import LetterTruth, PageTruth


def fingerprint(
    truths: Iterable[tuple[str, Any]], authorities: Mapping[str, tuple[AuthorityEntry, ...]] | None = None
) -> str:
    """SHA-256 (hexadecimal) of documents' truths, given as (document id, truth), and of the authority lists.

    The order of files, of documents and of persons, line ends, and the form (JSON or CSV) make no difference; any
    change of a value, a name or an alternate name does. Documents without truth do not enter.
    """
    digest = hashlib.sha256()
    for identifier, truth in sorted(truths, key=lambda pair: pair[0]):
        if truth is not None:
            digest.update(_line([identifier, _plain(truth)]))
    for name, entries in sorted((authorities or {}).items()):
        plain = [[entry.name, sorted(entry.alternate_names), sorted(entry.identifiers.items())] for entry in entries]
        digest.update(_line([name, sorted(plain)]))
    return digest.hexdigest()


def _plain(truth: Any) -> Any:
    if isinstance(truth, LetterTruth):
        return [sorted((name, list(values)) for name, values in truth.fields.items()), truth.signed]
    if isinstance(truth, PageTruth):
        return sorted((reference, sorted(texts.items())) for reference, texts in truth.folios)
    if isinstance(truth, Entry):
        return [truth.text, [[span.type, span.start, span.end, span.parent] for span in truth.spans]]
    return truth  # a task from outside: whatever JSON can say


def _line(value: Any) -> bytes:
    # Escaped to ASCII, so that lone surrogates do not matter.
    text = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)
    if "\\r" in text:  # line ends differ between systems and mean nothing
        text = json.dumps(_unix(value), ensure_ascii=True, sort_keys=True, separators=(",", ":"), default=str)
    return text.encode("ascii") + b"\n"


def _unix(value: Any) -> Any:
    if isinstance(value, str):
        return value.replace("\r\n", "\n")
    if isinstance(value, dict):
        return {_unix(key): _unix(item) for key, item in value.items()}
    return [_unix(item) for item in value] if isinstance(value, (list, tuple)) else value
