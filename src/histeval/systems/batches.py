"""Batch interfaces of providers, which Inspect AI fills and empties: what it leaves open is closed here.

Inspect AI (0.3.285) asks one by one, in silence, where a provider has no batch interface; waits for ever for a request
that its batch came back without, for a batch that ended without results, and after a batch that could not be made; and
fails a whole batch, paid as it is, where OpenAI turned down or did not get to one request of it. None of this has a
public interface, so that its classes are mended; where they are no longer as expected, they are left alone.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from typing import Any

ENDED = frozenset({"completed", "expired", "cancelled"})


class BatchFault(Exception):
    """What became of one request of a batch; `status_code` and `body` as a client's exception has them."""

    def __init__(self, words: str, status_code: int | None = None, body: Any = None) -> None:
        super().__init__(words)
        self.status_code, self.body = status_code, body


def has_batches(api: Any) -> bool:
    """Whether Inspect AI knows a batch interface of this provider (an `inspect_ai.model.ModelAPI`)."""
    return any("batcher" in name for name in vars(api))


def listen(status: Callable[[int, int], None], note: Callable[[str], None]) -> None:
    """What is printed otherwise goes to `status` (batches, requests waiting in them) and, of failures, to `note`."""
    with suppress(ImportError, AttributeError):
        from inspect_ai.model._providers.util import batch_log

        def log(message: str) -> None:
            if re.search(r"fail|error", message, re.IGNORECASE):
                note(re.sub(r"^Error \d+ ", "Error ", message))  # each look at a batch that fails has a number

        batch_log.set_batch_log_callback(log)
        batch_log.set_batch_status_callback(lambda now: status(now.batch_count, now.pending_requests))


@lru_cache(maxsize=1)
def close_gaps() -> None:
    """Mend the batchers of Inspect AI, once in a process."""
    with suppress(ImportError, AttributeError):
        _close_gaps_of_all()
    with suppress(ImportError, AttributeError):
        _close_gaps_of_openai()


def _close_gaps_of_all() -> None:
    from inspect_ai.model._providers.util import batch as module

    batcher: Any = module.Batcher
    resolve, work = batcher._resolve_inflight_batch, batcher._batch_worker

    async def resolve_all(self: Any, batch: Any, results: Mapping[str, Any]) -> None:
        known = {key: value for key, value in results.items() if key in batch.requests}
        lost = {key: BatchFault("the batch came back without it") for key in batch.requests if key not in results}
        await resolve(self, batch, {**known, **lost})

    async def work_on(self: Any) -> None:
        while True:
            try:
                await work(self)
                return
            except Exception:  # whose requests have been told; those of other batches wait for this loop
                await asyncio.sleep(min(1.0, self._tick))

    batcher._resolve_inflight_batch, batcher._batch_worker = resolve_all, work_on


def _close_gaps_of_openai() -> None:
    from inspect_ai.model._providers import _openai_batch as module

    batcher: Any = module.OpenAIBatcher
    parse, adapt, check = batcher._parse_jsonl_line, batcher._adapt_batch_info, batcher._check_batch

    def parse_one(self: Any, line: Mapping[str, Any]) -> tuple[str, Any]:
        fault, name = _fault_in(line), line.get("custom_id")
        parsed: tuple[str, Any] = parse(self, line) if fault is None or not isinstance(name, str) else (name, fault)
        return parsed

    def adapt_and_see(self: Any, information: Any) -> Any:
        adapted = adapt(self, information)
        self.has_ended = getattr(adapted, "status", None) in ENDED
        return adapted

    async def check_to_the_end(self: Any, batch: Any) -> Any:
        self.has_ended = False
        found = await check(self, batch)
        # nothing is waited for between the two, so that it is this batch that has ended
        return replace(found, completion_info={"result_uris": []}) if _without_results(self, found) else found

    batcher._parse_jsonl_line, batcher._adapt_batch_info = parse_one, adapt_and_see
    batcher._check_batch = check_to_the_end


def _without_results(batcher: Any, found: Any) -> bool:
    return bool(batcher.has_ended) and found.completion_info is None


def _fault_in(line: Mapping[str, Any]) -> BatchFault | None:
    """The fault that a line of OpenAI's output or error file tells of."""
    error, response = line.get("error"), line.get("response")
    if isinstance(error, Mapping):
        code = error.get("code")
        return BatchFault(str(error.get("message") or code), code if isinstance(code, int) else None)
    status = response.get("status_code") if isinstance(response, Mapping) else None
    if isinstance(response, Mapping) and isinstance(status, int) and status >= 400:
        return BatchFault(f"provider error {status}", status, response.get("body"))
    return None
