"""Asking systems about a dataset: resumes, never loses an answer, never asks twice for what was answered."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.errors import HistevalError, UsageError
from histeval.systems.base import Request
from histeval.systems.job import Job, Report
from histeval.systems.progress import RunResult
from histeval.systems.run_folders import folder_name, run_folders
from histeval.systems.table import Asked, read_table
from histeval.tasks.base import Task


def run_systems(
    task: Task,
    dataset: Dataset,
    *,
    systems: Sequence[str] = (),
    out: Path | str | None = None,
    config: Path | str | None = None,
    settings: Mapping[str, Any] | None = None,
    prompt: Path | str | None = None,
    role: Path | str | None = None,
    limit: int | None = None,
    documents: Sequence[str] | None = None,
    max_cost: float | None = None,
    max_connections: int | None = None,
    batch: bool | int = False,
    repeat: int = 1,
    dry_run: bool = False,
    prices: Path | str | None = None,
    retries: int = 6,
    timeout: float = 600.0,
    progress: Report | None = None,
) -> list[RunResult]:
    """Ask each system about the documents of a dataset, and keep every answer on disk before the next is counted.

    `systems` are names (`openai/gpt-4.1`, `tesseract/deu`, ...), those of the table `config` come after them. `out` is
    the run folder where there is one system, else the folder of run folders; by default `runs/DATASET/`. The same call
    again asks only what is missing or failed for a passing reason. `documents` (ids) and `limit` (the first so many)
    choose; `max_cost` (US dollars, earlier commands included) stops a system's run before it is passed; `repeat` asks
    so often; `dry_run` sends nothing and gives a plan. `settings` are generation settings of all systems.

    Raises UsageError for what is wrong with any of the systems before the first is asked. What stops one of them later
    (a wrong key, say) is the `fault` of its result, and the others are asked all the same.
    """
    asked = [Asked(name) for name in systems] + (read_table(config) if config is not None else [])
    if not asked:
        raise UsageError("no system is named; name one with --system or a table of them with --config")
    _check_numbers(limit, max_cost, max_connections, repeat, retries, timeout)
    chosen = choose_documents(dataset, documents, limit)
    subset = None if documents is None and limit is None else [document.id for document in chosen]
    place = Path(out) if out is not None else Path("runs") / folder_name(dataset.name)
    jobs = []
    for one, folder in zip(asked, run_folders(asked, place, default=out is None), strict=True):
        request = Request(
            task,
            dataset,
            prompt=one.prompt or prompt,
            role=one.role or role,
            settings={**(settings or {}), **one.settings},
            batch=batch if one.batch is None else one.batch,
            prices=prices,
            retries=retries,
            timeout=timeout,
        )
        connections = one.max_connections or max_connections
        jobs.append(Job(one.name, request, folder, chosen, subset, repeat, max_cost, connections, progress))
    if len(jobs) > 1:
        _check_all(asked, jobs)
    if dry_run:
        return [job.plan() for job in jobs]
    return [_ask(job, alone=len(jobs) == 1) for job in jobs]


def _check_all(asked: Sequence[Asked], jobs: Sequence[Job]) -> None:
    """A mistake in one row is said before another is paid for; all mistakes are said at once."""
    faults: list[HistevalError] = []
    sentences = []
    for one, job in zip(asked, jobs, strict=True):
        try:
            job.check()
        except HistevalError as fault:
            faults.append(fault)
            sentences.append(f"{one.place or one.name}: {fault}")
    if sentences:
        raise UsageError("; ".join(dict.fromkeys(sentences))) from faults[0]


def _ask(job: Job, *, alone: bool) -> RunResult:
    """What came of a job; of several, one that cannot be done does not keep the others from it."""
    try:
        result: RunResult = _in_loop(job.run())
    except HistevalError as fault:
        if alone:
            raise
        return RunResult(job.name, None, total=len(job.documents) * job.repeats, fault=str(fault))
    return result


def choose_documents(
    dataset: Dataset, documents: Sequence[str] | None = None, limit: int | None = None
) -> list[Document]:
    """The documents to be asked, in the dataset's order; raises UsageError for an id the dataset does not have."""
    chosen = list(dataset.documents.values())
    if documents is not None:
        unknown = [name for name in documents if name not in dataset.documents]
        if unknown:
            raise UsageError(f"the dataset {dataset.name} has no document {unknown[0]!r}")
        wanted = set(documents)
        chosen = [document for document in chosen if document.id in wanted]
    chosen = chosen if limit is None else chosen[:limit]
    if not chosen:
        raise UsageError(f"the dataset {dataset.name} has no documents to ask about")
    return chosen


def _check_numbers(
    limit: int | None, max_cost: float | None, connections: int | None, repeat: int, retries: int, timeout: float
) -> None:
    if limit is not None and limit < 1:
        raise UsageError(f"--limit is a number from 1, not {limit}")
    if max_cost is not None and not max_cost > 0:
        raise UsageError(f"--max-cost is an amount in US dollars above 0, not {max_cost}")
    if connections is not None and connections < 1:
        raise UsageError(f"--max-connections is a number from 1, not {connections}")
    if repeat < 1:
        raise UsageError(f"--repeat is a number from 1, not {repeat}")
    if retries < 0 or not timeout > 0:
        raise UsageError("retries are a number from 0 and the timeout is above 0 seconds")


def _in_loop(work: Any) -> Any:
    """Run a coroutine to its end, also where an event loop is running already (in a notebook)."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work)
    outcome: Future[Any] = Future()

    def target() -> None:
        try:
            outcome.set_result(asyncio.run(work))
        except BaseException as fault:
            outcome.set_exception(fault)

    thread = threading.Thread(target=target, daemon=True)
    thread.start()
    return outcome.result()
