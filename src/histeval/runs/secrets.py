"""Keys and access tokens never reach the disk: what looks like one in the environment is removed from every string."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote

BLOT = "[key removed]"

_SECRET_NAME = re.compile(
    r"(^|_)(API_?KEY|KEYS?|TOKENS?|SECRETS?|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|AUTH|AUTHORIZATION|BEARER)(_|$)",
    re.IGNORECASE,
)
_SHORTEST = 6
# Shapes of the keys of well-known providers, for a key that came from a file and not from the environment.
_SHAPES = re.compile(
    r"\b(?:sk|rk|pk)-[A-Za-z0-9_\-]{16,}|\bAIza[0-9A-Za-z_\-]{30,}|\bhf_[A-Za-z0-9]{20,}|\bgsk_[A-Za-z0-9]{20,}"
    r"|\b[Bb]earer\s+[A-Za-z0-9._\-]{16,}"
)


def is_secret_name(name: str) -> bool:
    """Whether an option or environment variable of this name holds a key.

    >>> is_secret_name("OPENAI_API_KEY"), is_secret_name("api_key"), is_secret_name("max_tokens")
    (True, True, False)
    """
    name = name.replace("-", "_")  # headers are written with hyphens
    return bool(_SECRET_NAME.search(name)) and not re.search(r"(?i)(max|reasoning|input|output|total)_tokens", name)


def secret_values(environment: Mapping[str, str] | None = None, more: Iterable[str] = ()) -> tuple[str, ...]:
    """Values of the environment variables whose names look like keys, and those in `more`, the longest first."""
    found = {
        value
        for name, value in (os.environ if environment is None else environment).items()
        if is_secret_name(name) and len(value) >= _SHORTEST
    }
    found.update(value for value in more if len(value) >= _SHORTEST)
    found.update([quote(value, safe="") for value in found])
    return tuple(sorted(found, key=len, reverse=True))


def redact(value: Any, secrets: Iterable[str]) -> Any:
    """`value` (text, or anything JSON can hold) with every secret replaced, in keys of objects too.

    >>> redact({"error": "key s3cret-value is wrong"}, ["s3cret-value"])
    {'error': 'key [key removed] is wrong'}
    """
    known = tuple(secrets)
    if isinstance(value, str):
        for secret in known:
            if secret in value:
                value = value.replace(secret, BLOT)
        return _SHAPES.sub(BLOT, value)
    if isinstance(value, Mapping):
        return {redact(key, known): redact(item, known) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [redact(item, known) for item in value]
    return value
