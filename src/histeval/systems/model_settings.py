"""Settings of a language model: which there are, which of them are keys, and the schema as Inspect AI takes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from histeval.errors import UsageError
from histeval.runs.secrets import is_secret_name

OURS = ("base_url", "api_key", "model_args", "max_image_side", "structured")
"""Settings that are no generation settings of Inspect AI. `structured` false leaves the schema out of the request."""

_OURS_HOLD: Mapping[str, tuple[Callable[[Any], bool], str]] = {
    "base_url": (lambda value: isinstance(value, str), "an address"),
    "api_key": (lambda value: isinstance(value, str), "a text"),
    "model_args": (lambda value: isinstance(value, Mapping), "a table of names and values"),
    "max_image_side": (lambda value: type(value) is int and value > 0, "a whole number of pixels from 1"),
    "structured": (lambda value: isinstance(value, bool), "true or false"),
}

_RUNNER = ("max_connections", "max_retries", "timeout", "attempt_timeout", "adaptive_connections", "batch", "cache")


def split_settings(settings: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Generation settings of Inspect AI, and ours; raises UsageError for what is neither."""
    from inspect_ai.model import GenerateConfig

    known = set(GenerateConfig.model_fields) - set(_RUNNER) - {"response_schema", "system_message"}
    generation, own = {}, {}
    for key, value in settings.items():
        if value is None:
            continue
        if key in OURS:
            own[key] = value
        elif key in known:
            generation[key] = value
        else:
            import difflib

            near = difflib.get_close_matches(key, [*known, *OURS], n=1)
            hint = f"; did you mean {near[0]}?" if near else ""
            raise UsageError(f"{key!r} is no setting of a language model{hint}")
    for key, (holds, what) in _OURS_HOLD.items():
        if key in own and not holds(own[key]):
            raise UsageError(f"{key} is {what}")
    try:
        GenerateConfig(**generation)
    except ValueError as fault:
        lines = [line.strip() for line in str(fault).splitlines()]
        name = lines[1] if len(lines) > 1 else ""
        what = lines[2].split(" [")[0] if len(lines) > 2 else str(fault)
        raise UsageError(f"the setting {name} is wrong: {what}") from fault
    return generation, own


def inspect_schema(schema: Mapping[str, Any] | None) -> Any:
    from inspect_ai.model import ResponseSchema
    from inspect_ai.util import JSONSchema

    definitions = (schema or {}).get("$defs") or {}
    return ResponseSchema(name="record", json_schema=JSONSchema.model_validate(_inline(schema, definitions)))


def _inline(schema: Any, definitions: Mapping[str, Any], depth: int = 0) -> Any:
    """A schema with its references replaced by what they refer to, since not every provider follows them."""
    if isinstance(schema, Mapping) and depth < 50:
        target = schema.get("$ref")
        if isinstance(target, str) and target.startswith("#/$defs/"):
            return _inline(definitions.get(target.removeprefix("#/$defs/"), {}), definitions, depth + 1)
        return {key: _inline(value, definitions, depth + 1) for key, value in schema.items() if key != "$defs"}
    if isinstance(schema, list):
        return [_inline(item, definitions, depth + 1) for item in schema]
    return schema


def shown_settings(value: Any) -> Any:
    """Settings without what their names say is a key, however deep it lies (extra_headers, say)."""
    if isinstance(value, Mapping):
        return {str(key): shown_settings(item) for key, item in value.items() if not is_secret_name(str(key))}
    return [shown_settings(item) for item in value] if isinstance(value, (list, tuple)) else value


def hidden_values(value: Any) -> Iterator[str]:
    """The keys that `shown_settings` leaves out."""
    for key, item in value.items() if isinstance(value, Mapping) else ():
        if is_secret_name(str(key)):
            yield str(item)
            yield str(item).rpartition(" ")[2]  # of "Bearer KEY"
        else:
            yield from hidden_values(item)
