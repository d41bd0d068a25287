"""Where parts are scored: in this process, in several on this machine, or on a Ray cluster.

An engine maps one function over parts. Parts come back as they are done, with their number, so that what is made of
them must not depend on their order. A worker that dies (out of memory, a node gone) costs the parts it held: they are
given to another one, three times at most.
"""

from __future__ import annotations

import os
import pickle
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from histeval.errors import HistevalError, InputError, MissingExtraError, SystemFault, UsageError
from histeval.runs.score import Outcome, Pair, score_pairs
from histeval.tasks.base import Scorer

TRIES = 3
"""So often a part is given to a worker before it is given up."""
QUEUED = 2
"""Parts a worker has at a time: one in hand, one waiting."""
TOGETHER = 4
"""Parts that make one task of Ray at most; a worker that is lost costs no more."""
PAIRS = 500
"""Answers of an ordinary dataset that make one part."""

Tell = Callable[[str, int, int], None]
"""Called with what was done, how many parts are done, and how many there are."""


@dataclass
class Engine:
    """How parts are spread. `workers` is the number of processes (1: this one; None: one a core); with `ray`, of cores.

    `address` is that of a running cluster (`auto` finds the one this machine belongs to); without, Ray is started on
    this machine when it is first needed, and stopped by `close`. What makes less than two parts is scored here.
    """

    name: Literal["local", "ray"] = "local"
    workers: int | None = 1
    address: str | None = None
    tell: Tell | None = None
    _started: bool = False

    def __enter__(self) -> Engine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Stop the Ray that this engine started."""
        if self._started:
            import ray

            ray.shutdown()
            self._started = False

    def map(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[tuple[int, Any]]:
        """(number of the part, what `function` gives for it) for every part, in the order they are done.

        `function` and the parts are pickled for workers. Raises what the function raises, where that is an error of
        Histeval; SystemFault where a part loses its worker again and again.
        """
        if len(parts) < 2 or (self.name == "local" and self.workers == 1):
            found: Iterator[tuple[int, Any]] = ((number, function(part)) for number, part in enumerate(parts))
        elif self.name == "ray":
            ray = _ray()
            if not ray.is_initialized():
                _start(ray, self.workers, self.address)
                self._started = True
            found = _on_ray(ray, function, parts)
        else:
            found = _in_processes(function, parts, self.workers)
        for done, (number, result) in enumerate(found, 1):
            if self.tell:
                self.tell("parts", done, len(parts))
            yield number, result

    def outcomes(self, scorer: Scorer, pairs: Sequence[Pair]) -> Iterator[Outcome]:
        """Pairs of truth and answer scored on this engine, in their order (`histeval.runs.score.Outcomes`)."""
        parts = [pairs[start : start + PAIRS] for start in range(0, len(pairs), PAIRS)]
        waiting: dict[int, list[Outcome]] = {}
        due = 0
        for number, found in self.map(partial(_score_part, scorer), parts):
            waiting[number] = found
            while due in waiting:
                yield from waiting.pop(due)
                due += 1


def _score_part(scorer: Scorer, pairs: Sequence[Pair]) -> list[Outcome]:
    return list(score_pairs(scorer, pairs))


@dataclass(frozen=True)
class _Fault:
    """An error of Histeval on its way from a worker: exceptions with several arguments do not survive pickling."""

    kind: type[HistevalError]
    words: tuple[str, ...]
    details: dict[str, Any]

    @staticmethod
    def of(fault: HistevalError) -> _Fault:
        if isinstance(fault, InputError):
            details = {"file": fault.file, "line": fault.line, "item": fault.item, "remedy": fault.remedy}
            return _Fault(type(fault), (fault.what,), details)
        return _Fault(type(fault), (str(fault),), {})

    def throw(self) -> None:
        raise self.kind(*self.words, **self.details)


def _guarded(function: Callable[[Any], Any], part: Any) -> Any:
    try:
        return function(part)
    except HistevalError as fault:
        return _Fault.of(fault)


def _open(result: Any) -> Any:
    if isinstance(result, _Fault):
        result.throw()
    return result


_function: Callable[[Any], Any] | None = None  # what a worker process applies, sent to it once


def _take(pickled: bytes) -> None:
    global _function
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    _function = pickle.loads(pickled)


def _leave_with_parent() -> None:
    """Ends this worker when the command is gone. A worker that waits for its next part holds both ends of the queue, so
    that it would wait for ever after a command that was killed."""
    from multiprocessing import parent_process

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _apply(part: Any) -> Any:
    assert _function is not None
    return _guarded(_function, part)


def _in_processes(
    function: Callable[[Any], Any], parts: Sequence[Any], workers: int | None
) -> Iterator[tuple[int, Any]]:
    import multiprocessing

    workers = min(workers or os.cpu_count() or 1, len(parts))
    # New interpreters, not forks: libraries with threads of their own (polars) do not survive a fork.
    context = multiprocessing.get_context("spawn")
    pickled = pickle.dumps(function)
    waiting = list(range(len(parts) - 1, -1, -1))
    tries = [0] * len(parts)
    while waiting:
        held: dict[Future[Any], int] = {}
        with ProcessPoolExecutor(workers, context, _take, (pickled,)) as pool:
            try:
                while waiting or held:
                    while waiting and len(held) < QUEUED * workers:
                        number = waiting[-1]
                        held[pool.submit(_apply, parts[number])] = number  # raises where the pool is broken already
                        waiting.pop()
                    for future in wait(held, return_when=FIRST_COMPLETED).done:
                        result = _open(future.result())
                        yield held.pop(future), result
            except BrokenProcessPool:
                lost = sorted(held.values(), reverse=True)
                for number in lost:
                    tries[number] += 1
                if given_up := [number for number in lost if tries[number] >= TRIES]:
                    raise SystemFault(_given_up(given_up)) from None
                waiting += lost
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise


def _given_up(numbers: Sequence[int]) -> str:
    named = ", ".join(str(number + 1) for number in sorted(numbers))
    return (
        f"the worker died {TRIES} times while it held part {named} (out of memory?); give each worker more memory, or "
        "start fewer with --workers"
    )


def _ray() -> Any:
    try:
        import ray
        import ray.data
    except ImportError:
        raise MissingExtraError("the engine ray needs Ray: pip install 'histeval[cluster]'") from None
    return ray


def _on_ray(ray: Any, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[tuple[int, Any]]:
    context = ray.data.DataContext.get_current()
    context.enable_progress_bars = False
    groups = _grouped([weight_of(part) for part in parts], ray.cluster_resources().get("CPU", 1))
    rows = [{"first": first, "parts": pickle.dumps(parts[first:stop])} for first, stop in groups]
    try:
        dataset = ray.data.from_items(rows, override_num_blocks=len(rows))
        for row in dataset.map(partial(_score_row, function)).iter_rows():
            for number, result in enumerate(pickle.loads(row["results"]), int(row["first"])):
                yield number, _open(result)
    except ray.exceptions.RayError as fault:
        raise SystemFault(f"Ray gave up: {' '.join(str(fault).split())[:300]}") from fault


def _score_row(function: Callable[[Any], Any], row: dict[str, Any]) -> dict[str, Any]:
    results = [_guarded(function, part) for part in pickle.loads(row["parts"])]
    return {"first": row["first"], "results": pickle.dumps(results)}


def weight_of(part: Any) -> float:
    """How much work a part is beside a whole one: `part.weight` where it has one, else 1."""
    return float(getattr(part, "weight", 1.0))


def _grouped(weights: Sequence[float], cores: float) -> list[tuple[int, int]]:
    """Which parts, from and up to, make one task of Ray Data, which costs a tenth of a second of a core whatever it
    holds: as many as weigh up to `TOGETHER` whole ones, but so that a core has sixteen tasks, none waiting long for the
    last one; many small parts, which would be done before their task was begun, are worth a task together as well.

    >>> [len(_grouped([1] * parts, cores)) for parts, cores in ((20, 2), (100, 2), (1000, 2), (1000, 64))]
    [20, 34, 250, 1000]
    >>> len(_grouped([0.001] * 3000, 2))
    32
    """
    full = min(float(TOGETHER), sum(weights) / (16 * max(1.0, cores)))
    groups: list[tuple[int, int]] = []
    first, held = 0, 0.0
    for place, weight in enumerate(weights):
        # what sums of fractions leave of a weight is no reason for another task
        if place > first and held + weight > full * (1 + 1e-9):
            groups.append((first, place))
            first, held = place, 0.0
        held += weight
    return [*groups, (first, len(weights))] if len(weights) else []


def _start(ray: Any, workers: int | None, address: str | None) -> None:
    import logging

    options: dict[str, Any] = {"include_dashboard": False, "log_to_driver": False, "logging_level": logging.ERROR}
    if address is not None:
        options = {"address": address, "log_to_driver": False, "logging_level": logging.ERROR}
    else:
        # Parts are names of files and results are sums: the store for what workers hand on can be small.
        options |= {"num_cpus": workers, "object_store_memory": 256 * 2**20}
    try:
        ray.init(**options)
    except (ConnectionError, OSError, ValueError, RuntimeError) as fault:
        where = f"the cluster at {address}" if address else "Ray"
        raise UsageError(f"{where} cannot be reached: {' '.join(str(fault).split())[:300]}") from None
