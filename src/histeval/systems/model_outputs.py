"""What Inspect AI gives back for a request, read as an answer."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from histeval.runs.secrets import redact
from histeval.systems.base import Reply
from histeval.tasks.base import Answer

if TYPE_CHECKING:
    from inspect_ai.model import ModelOutput


def read_output(output: ModelOutput, answer: Answer, extra: Mapping[str, Any], secrets: Iterable[str]) -> Reply:
    """`answer` (document, tokens, cost and time stand in it) with the text of the output, or why there is none."""
    choice = output.choices[0] if output.choices else None
    if output.error:
        # The provider turned the request down, and Inspect AI made an answer of its words.
        error = "refused" if choice is not None and choice.stop_reason == "content_filter" else "provider_error"
        detail = redact(str(output.error), secrets)[:300]
        return Reply(replace(answer, error=error), detail=detail, extra=extra)
    if choice is not None and choice.stop_details is not None:
        extra = {**extra, "stop_details": choice.stop_details.model_dump(exclude_none=True)}
    model = output.model or None
    if not output.completion and (choice is None or choice.stop_reason == "unknown"):
        # The stream ended early, say: the model did not answer with nothing, it did not come to its answer.
        words = "the answer has neither a content nor a reason why it ended"
        return Reply(replace(answer, error="provider_error"), again=True, detail=words, model=model, extra=extra)
    text = output.completion if choice is not None else ""
    finish = choice.stop_reason if choice is not None else None
    return Reply(replace(answer, text=text, finish=finish), model=model, extra=extra)


def tokens_of(output: ModelOutput) -> dict[str, int]:
    """Tokens as reported: `input_tokens` with cached ones, `output_tokens` with reasoning; nothing where all is 0."""
    usage = output.usage
    if usage is None:
        return {}
    cached, written = usage.input_tokens_cache_read or 0, usage.input_tokens_cache_write or 0
    counts = {
        "input_tokens": usage.input_tokens + cached + written,
        "output_tokens": usage.output_tokens,
        "total_tokens": usage.total_tokens,
        "cached_tokens": cached,
        "cache_write_tokens": written,
        "reasoning_tokens": usage.reasoning_tokens or 0,
    }
    if not any(counts.values()):
        return {}
    always = ("input_tokens", "output_tokens")
    return {key: int(value) for key, value in counts.items() if value or key in always}
