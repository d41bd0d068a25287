"""What an exception of a provider's client means: stop the run, ask again, or a failed answer.

Providers name the same fault in many ways. The status decides first, then the provider's words; names of classes of
client libraries are not looked at, so that a provider added to Inspect AI needs nothing here.
"""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any, Literal

Kind = Literal["stop", "passing", "setting", "lasting"]

WRONG_KEY = "the provider does not accept the key"
NO_CREDIT = "the account has no credit left"
UNKNOWN_MODEL = "the provider does not know this model or address"
NOT_ALLOWED = "the provider does not allow this key to use the model"

_PASSING_STATUS = frozenset({408, 409, 425, 429, 499, 529})
_CREDIT = re.compile(
    r"insufficient[_ ](quota|funds|credit|balance)|credit balance|billing|exceeded your current quota|payment required"
    r"|out of credits?|no credits?\b|spend(ing)? limit",
    re.IGNORECASE,
)
_KEY = re.compile(
    r"(invalid|incorrect|wrong|missing|expired|revoked)[^.]{0,30}api[-_ ]?key|api[-_ ]?key[^.]{0,30}"
    r"(not valid|invalid|incorrect|expired)|unauthori[sz]ed|authentication(_error| failed)|invalid x-api-key",
    re.IGNORECASE,
)
_MODEL = re.compile(
    r"model[_ ]not[_ ]found|(unknown|invalid|no such) model|model[^.]{0,80}(does not exist|not found|not exist"
    r"|is not (available|supported|a valid))|is not a valid model|not_found_error",
    re.IGNORECASE,
)
_MODERATED = re.compile(r"moderation|flagged|content[-_ ]?(policy|filter)|safety", re.IGNORECASE)
_LATER = re.compile(
    r"per[-_ ]?(minute|second|hour|day)|rate[-_ ]?limit(?!_error)|too many requests|overloaded|(re)?try (again )?in\b"
    r"|retry_?delay",
    re.IGNORECASE,
)
"""A limit that passes by itself; some providers speak of quota and billing then too."""


@dataclass(frozen=True, slots=True)
class Fault:
    """What is to be done about an exception.

    `stop`: no document can be answered, `words` is why; `passing`: ask again, after `wait` seconds where the provider
    said so; `setting`: ask again without `setting`; `lasting`: this document has failed.
    """

    kind: Kind
    words: str
    why: str = ""
    wait: float | None = None
    setting: str = ""
    unexpected: bool = False
    """Nobody foresaw this exception; it is asked again, but only a few times."""


SETTING_WORDS: dict[str, Sequence[str]] = {
    "response_schema": (
        "response_format", "response format", "json_schema", "json schema", "structured output", "output_format",
        "output format", "output_config", "response_schema", "responseSchema", "response_json_schema", "guided_json",
        "structured-output",
    ),
    "max_tokens": ("max_tokens", "max_completion_tokens", "max_output_tokens", "maxOutputTokens"),
    "reasoning_effort": ("reasoning_effort", "reasoning.effort", "reasoning effort", "thinking"),
    "reasoning_tokens": ("reasoning_tokens", "budget_tokens", "thinking"),
    "stop_seqs": ("stop_seqs", "stop_sequences", "'stop'"),
}  # fmt: skip
"""How providers call a setting in their messages, where it is not called by its own name."""


def classify(fault: BaseException, settings: Sequence[str] = ()) -> Fault:
    """What to do about `fault`, raised while a model was asked with these settings (names, those that may be left out).

    >>> class Refused(Exception):
    ...     status_code = 400
    >>> classify(Refused("temperature is not supported with this model"), ["temperature"]).setting
    'temperature'
    """
    chain = list(_chain(fault))
    status = next((code for code in map(_status, chain) if code is not None), None)
    said = _words(chain)
    words = _short(said)
    said += " " + " ".join(_codes(chain))
    low = said.lower()
    if _CREDIT.search(said) and status in (400, 402, 403, 429) and not (status == 429 and _LATER.search(said)):
        return Fault("stop", words, NO_CREDIT)
    if status == 402:
        return Fault("stop", words, NO_CREDIT)
    if status == 401 or (status in (400, 403) and _KEY.search(said)):
        return Fault("stop", words, WRONG_KEY)
    if status == 429:
        return Fault("passing", words, "rate limit", _retry_after(chain))
    if status is not None and (status in _PASSING_STATUS or status >= 500):
        return Fault("passing", words, f"provider error {status}", _retry_after(chain))
    if status == 404 or (status in (400, 422) and _MODEL.search(said)):
        return Fault("stop", words, UNKNOWN_MODEL)
    if status == 403 and not _MODERATED.search(said):
        return Fault("stop", words, NOT_ALLOWED)
    if status is not None and 400 <= status < 500:
        for setting in settings:
            if any(word.lower() in low for word in (setting, *SETTING_WORDS.get(setting, ()))):
                return Fault("setting", words, f"setting {setting} refused", setting=setting)
        return Fault("lasting", words, f"provider error {status}")
    if any(isinstance(link, (TimeoutError, asyncio.TimeoutError)) or "timeout" in type(link).__name__.lower()
           for link in chain):  # fmt: skip
        return Fault("passing", words or "no answer in time", "no answer in time")
    if any(isinstance(link, (OSError, EOFError)) or _is_connection(link) for link in chain):
        return Fault("passing", words or "the connection broke", "connection broken")
    if any(isinstance(link, (json.JSONDecodeError, UnicodeDecodeError)) for link in chain):
        return Fault("passing", words, "response cut off")
    if _LATER.search(said):
        return Fault("passing", words, "rate limit")
    return Fault("passing", words or type(fault).__name__, "unexpected response", unexpected=True)


def _chain(fault: BaseException) -> Iterator[BaseException]:
    """The exception and what it was raised from; retry wrappers (tenacity's) are unpacked."""
    seen: set[int] = set()
    link: BaseException | None = fault
    while link is not None and id(link) not in seen and len(seen) < 20:
        seen.add(id(link))
        attempt = getattr(link, "last_attempt", None)
        inner = None
        if attempt is not None:
            try:
                inner = attempt.exception()
            except Exception:  # an attempt without an outcome
                inner = None
        if inner is None:
            yield link
        link = inner or link.__cause__ or (None if link.__suppress_context__ else link.__context__)


def _status(link: BaseException) -> int | None:
    for value in (
        getattr(link, "status_code", None),
        getattr(link, "status", None),
        getattr(link, "code", None),
        getattr(link, "http_status", None),
        getattr(getattr(link, "response", None), "status_code", None),
    ):
        if isinstance(value, int) and not isinstance(value, bool) and 400 <= value <= 599:
            return value
    return None


def _words(chain: Sequence[BaseException]) -> str:
    """The provider's own words; never the request."""
    for link in chain:
        body = getattr(link, "body", None)
        for value in (getattr(link, "provider_message", None), _message_in(body), getattr(link, "message", None)):
            if isinstance(value, str) and value.strip():
                return value[:20_000]
    for link in chain:
        text = str(link)
        if text.strip() and "\nRequest:" not in text:
            return text[:20_000]
    return ""


def _codes(chain: Sequence[BaseException]) -> Iterator[str]:
    """What the provider calls the fault beside its words (`insufficient_quota`, say)."""
    for link in chain:
        body = getattr(link, "body", None)
        inner = body.get("error") if isinstance(body, dict) else None
        for source in (body, inner):
            if isinstance(source, dict):
                yield from (value for key in ("code", "type") if isinstance(value := source.get(key), str))
        yield from (value for key in ("code", "type") if isinstance(value := getattr(link, key, None), str))


def _message_in(body: Any) -> str | None:
    if isinstance(body, dict):
        for key in ("message", "error", "detail"):
            value = body.get(key)
            if isinstance(value, str):
                return value
            if isinstance(value, dict):
                return _message_in(value)
    return None


def _short(text: str) -> str:
    """On one line, at most 300 characters."""
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:297] + "..."


def _is_connection(link: BaseException) -> bool:
    name = type(link).__name__.lower()
    return any(word in name for word in ("connection", "connect", "protocol", "network", "transport", "readerror"))


def _retry_after(chain: Sequence[BaseException]) -> float | None:
    """Seconds the provider asked to wait (headers `retry-after-ms` and `Retry-After`, seconds or a date)."""
    for link in chain:
        headers = getattr(getattr(link, "response", None), "headers", None)
        if headers is None:
            continue
        try:
            if headers.get("retry-after-ms"):
                return max(0.0, float(headers["retry-after-ms"]) / 1000)
            value = headers.get("retry-after")
            if not value:
                continue
            try:
                return max(0.0, float(value))
            except ValueError:
                moment = parsedate_to_datetime(value)
                from datetime import UTC, datetime

                return max(0.0, (moment - datetime.now(UTC)).total_seconds())
        except (ValueError, TypeError, AttributeError):
            continue
    return None
