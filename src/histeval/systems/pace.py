"""How fast a provider is asked: pauses it asks for, fewer requests at once after a rate limit, waits that grow."""

from __future__ import annotations

import asyncio
import random
import time

from histeval.systems.faults import Fault

WAITS = (1.0, 60.0, 300.0)
"""Seconds: the first wait, the longest of our own, and the longest a provider may ask for."""


class Pace:
    """The pace of all requests to one provider."""

    def __init__(self) -> None:
        self._active = 0
        self._allowed = 1e9
        self._slowed = 0.0
        """When `_allowed` was last lowered."""
        self._gate = 0.0
        """Time before which nothing is sent, since the provider asked for a pause."""

    async def enter(self) -> None:
        """Wait until a request may go out: not while the provider asked for a pause, nor beside too many others."""
        while True:
            left = self._gate - time.monotonic()
            if left > 0:
                await asyncio.sleep(left + random.uniform(0, 0.1) * min(1.0, left))
            elif self._active >= self._allowed:
                await asyncio.sleep(0.02)
            else:
                self._active += 1
                return

    def leave(self) -> None:
        """A request has come back, however."""
        self._active -= 1

    def answered(self) -> None:
        """It came back with an answer: a few more may go out at once."""
        self._allowed += 0.2 / self._allowed

    def slow_down(self, asked: float, seconds: float) -> None:
        """After a rate limit: a pause for all, and half as many requests at once; answers let more out."""
        now = time.monotonic()
        self._gate = max(self._gate, now + seconds)
        if asked > self._slowed:  # requests that were out together count once
            self._slowed = now
            self._allowed = max(1.0, min(self._allowed, self._active + 1) / 2)


def wait_for(fault: Fault, retry: int) -> float:
    """Seconds before this retry: what the provider asks for, else twice as long each time, with some chance."""
    first, longest, most = WAITS
    if fault.wait is not None:
        return min(fault.wait, most)
    return float(min(longest, first * 2 ** (retry - 1)) * random.uniform(0.5, 1.0))
