"""How a run is going, for whoever shows it, and what came of it."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from histeval.tasks.base import Answer


@dataclass(frozen=True, slots=True)
class Progress:
    """A moment of a run: documents (times repeats) in all, done, and failed among the done; what is waited for and why
    ("rate limit, retry 2, 8 s"); tokens and cost in US dollars so far (None where unknown); seconds left, estimated."""

    system: str
    total: int
    done: int = 0
    failed: int = 0
    asking: int = 0
    waiting: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    seconds_left: float | None = None

    def line(self) -> str:
        """The moment in one line.

        >>> Progress("m", 57, 20, 1, waiting="rate limit, retry 2, 8 s", cost=0.05, seconds_left=75.0).line()
        '20 of 57 done, 1 failed, waiting: rate limit, retry 2, 8 s, $0.05, 1:15 left'
        """
        parts = [f"{self.done} of {self.total} done"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if self.waiting:
            parts.append(f"waiting: {self.waiting}")
        if self.input_tokens or self.output_tokens:
            parts.append(f"{self.input_tokens:,} + {self.output_tokens:,} tokens")
        if self.cost is not None:
            parts.append(f"${self.cost:.2f}")
        if self.seconds_left is not None:
            minutes, seconds = divmod(round(self.seconds_left), 60)
            parts.append(f"{minutes}:{seconds:02} left")
        return ", ".join(parts)


@dataclass(frozen=True, slots=True)
class Plan:
    """What a dry run says: documents to be asked (times repeats), their images, and tokens and cost, estimated."""

    documents: int
    images: int
    input_tokens: int | None = None
    output_tokens: int | None = None
    cost: float | None = None


@dataclass(frozen=True)
class RunResult:
    """What came of asking one system.

    `failures` counts failed answers by reason, over all answers in the folder; `unanswered` documents (times repeats)
    were not asked or failed for a passing reason, so that the same command asks them again. `cost` is in US dollars,
    None where any answer's cost is unknown. `fault` is why the run stopped at once (wrong key, say), `stopped` why it
    ended early without a fault (`max_cost: ...`). `plan` is set, and all else empty, after a dry run.
    """

    system: str
    folder: Path | None
    total: int = 0
    answered: int = 0
    failures: Mapping[str, int] = field(default_factory=dict)
    unanswered: int = 0
    asked: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0
    model: str | None = None
    notes: tuple[str, ...] = ()
    fault: str | None = None
    stopped: str | None = None
    plan: Plan | None = None

    @property
    def complete(self) -> bool:
        """Whether every document was answered and none failed."""
        return self.fault is None and not self.unanswered and not self.failures


class Meter:
    """Counts while a run goes on."""

    def __init__(self, system: str, total: int, done: int, spent: float, priced: bool) -> None:
        self.system, self.total, self.done, self.already = system, total, done, done
        self.failures: Counter[str] = Counter()
        self.asking = 0
        self.input_tokens = self.output_tokens = 0
        self.cost: float | None = spent if priced or spent else None
        self.most = 0.0
        """The highest cost of one answer so far."""
        self.start = time.monotonic()
        self._waits: dict[str, tuple[str, int, float]] = {}

    def wait(self, document: str, why: str, retry: int, seconds: float) -> None:
        """A document waits, until so many seconds from now; `retry` is 0 where it is not asked again."""
        self._waits[document] = (why, retry, time.monotonic() + seconds)

    def count(self, answer: Answer, failure: str | None, settled: bool) -> None:
        """An answer is on disk."""
        self._waits.pop(answer.document, None)
        if settled:
            self.done += 1
        if failure is not None:
            self.failures[failure] += 1
        self.input_tokens += answer.usage.get("input_tokens", 0)
        self.output_tokens += answer.usage.get("output_tokens", 0)
        if answer.cost is not None:
            self.cost = (self.cost or 0.0) + answer.cost
            self.most = max(self.most, answer.cost)

    def now(self) -> Progress:
        """The moment."""
        moment = time.monotonic()
        waits = [(why, retry, until - moment) for why, retry, until in self._waits.values() if until > moment]
        waiting = ""
        if waits:
            why, retry, seconds = max(waits, key=lambda wait: wait[2])
            waiting = f"{why}, retry {retry}, {seconds:.0f} s" if retry else why
            if len(waits) > 1 and retry:
                waiting = f"{len(waits)} documents, {waiting}"
        elapsed = moment - self.start
        new = self.done - self.already
        left = elapsed / new * (self.total - self.done) if new else None
        return Progress(
            self.system, self.total, self.done, sum(self.failures.values()), self.asking, waiting,
            self.input_tokens, self.output_tokens, self.cost, elapsed, left,
        )  # fmt: skip
