"""Asking systems about a dataset: resumes, never loses an answer, never asks twice for what was answered."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import platform
import re
import threading
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar, cast

from histeval.datasets.base import Dataset, Document
from histeval.errors import HistevalError, OutputError, SystemFault, UsageError
from histeval.runs.folder import AGAIN, ANSWERED, FAILED, RunFolder, now, read_answers
from histeval.runs.secrets import redact, secret_values
from histeval.systems.base import Reply, Request, System, open_system
from histeval.systems.progress import Meter, Plan, Progress, RunResult
from histeval.systems.table import Asked, read_table
from histeval.tasks.base import FAILURES, Answer, Scorer, Task

MANY = 256
"""Documents that a system working on many at once is given together; what they cost when killed."""

SWEEP = 32
"""Answers between two sweeps of Python's garbage."""

Report = Callable[[Progress], None]
Key = tuple[Document, int]
T = TypeVar("T")


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

    Raises UsageError for what is wrong before anything was asked. What stops one system later (a wrong key, say) is
    the `fault` of its result, and the others are asked all the same.
    """
    asked = [Asked(name) for name in systems] + (read_table(config) if config is not None else [])
    if not asked:
        raise UsageError("no system is named; name one with --system or a table of them with --config")
    _check_numbers(limit, max_cost, max_connections, repeat, retries, timeout)
    chosen = choose_documents(dataset, documents, limit)
    subset = None if documents is None and limit is None else [document.id for document in chosen]
    folders = run_folders(asked, Path(out) if out is not None else Path("runs") / _slug(dataset.name), out is None)
    results = []
    for one, folder in zip(asked, folders, strict=True):
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
        job = _Job(
            one.name,
            request,
            folder,
            chosen,
            subset,
            repeat,
            max_cost,
            one.max_connections or max_connections,
            progress,
        )
        results.append(job.plan() if dry_run else _in_loop(job.run()))
    return results


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


def run_folders(asked: Sequence[Asked], out: Path, default: bool = False) -> list[Path]:
    """One folder for each system: `out` itself for a single one (unless it is the default place)."""
    if len(asked) == 1 and not default:
        return [out]
    folders: list[Path] = []
    for one in asked:
        name = _slug(one.label or one.name)
        folder, number = out / name, 2
        while folder in folders:
            folder, number = out / f"{name}-{number}", number + 1
        folders.append(folder)
    return folders


def _slug(name: str) -> str:
    """A name as a folder: letters, digits and a few signs, never a path.

    >>> _slug("openai/gpt-4.1"), _slug("../../etc")
    ('openai_gpt-4.1', 'etc')
    """
    return re.sub(r"[^A-Za-z0-9.+=-]+", "_", name).strip("._-")[:120] or "run"


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


@dataclass
class _Job:
    """One system, one folder."""

    name: str
    request: Request
    folder: Path
    documents: list[Document]
    subset: list[str] | None
    repeats: int
    max_cost: float | None
    connections: int | None
    report: Report | None

    def plan(self) -> RunResult:
        """What would be asked; nothing is sent and nothing written."""
        system = open_system(self.name, self.request)
        self._check_pages(system)
        todo: Iterator[Key] = iter(self._keys())
        if (self.folder / "run.json").is_file():
            done = {(answer.document, answer.repeat) for answer in read_answers(self.folder, settled=True)}
            todo = (key for key in todo if (key[0].id, key[1]) not in done)
        estimate, cost_of = getattr(system, "estimate", None), getattr(system, "cost", None)
        count = images = tokens_in = tokens_out = 0
        cost: float | None = 0.0 if cost_of is not None else None
        known: dict[str, dict[str, int]] = {}
        for document, _ in todo:
            count, images = count + 1, images + len(document.images)
            if estimate is None:
                continue
            usage = known.get(document.id) or known.setdefault(document.id, estimate(document))
            tokens_in, tokens_out = tokens_in + usage["input_tokens"], tokens_out + usage["output_tokens"]
            one = cost_of(usage) if cost_of is not None else None
            cost = None if one is None or cost is None else cost + one
        plan = Plan(count, images, tokens_in if estimate else None, tokens_out if estimate else None, cost)
        return RunResult(self.name, None, total=len(self.documents) * self.repeats, plan=plan)

    async def run(self) -> RunResult:
        """Ask, write, count."""
        system = open_system(self.name, self.request)
        self._check_pages(system)
        cost_of = getattr(system, "cost", None)
        if (
            self.max_cost is not None
            and cost_of is not None
            and cost_of({"input_tokens": 1, "output_tokens": 1}) is None
        ):
            how = " through a batch interface" if self.request.batch else ""
            raise UsageError(
                f"the price of {self.name}{how} is unknown, so that --max-cost cannot be kept; "
                "give its price with --prices"
            )
        try:
            if hasattr(system, "open"):
                system.open()
        except SystemFault as fault:
            return RunResult(self.name, None, len(self._index()) * self.repeats, fault=str(fault))
        secrets = list(getattr(system, "secrets", ()))
        with RunFolder(self.folder, self._description(system), secrets=secrets) as folder:
            return await self._ask(system, folder)

    def _index(self) -> dict[str, Document]:
        return {document.id: document for document in self.documents}

    def _keys(self) -> Iterator[Key]:
        for repeat in range(self.repeats):
            for document in self.documents:
                yield document, repeat

    def _check_pages(self, system: System) -> None:
        """A document that has neither image nor text cannot be asked about; better said before than after."""
        if not getattr(system, "needs_input", True):
            return
        bare = [document.id for document in self.documents if not document.images and document.text is None]
        if bare:
            more = f" and {len(bare) - 1} more documents have" if len(bare) > 1 else " has"
            raise UsageError(
                f"{bare[0]}{more} no images in {self.request.dataset.path}; "
                "add them, or choose documents with --documents or --limit"
            )

    def _description(self, system: System) -> dict[str, Any]:

        about = dict(getattr(system, "about", {}) or {})
        versions = {"histeval": version("histeval"), "python": platform.python_version(), **about.pop("versions", {})}
        wording = {
            key: getattr(system, key).describe()
            for key in ("prompt", "role")
            if hasattr(getattr(system, key, None), "describe")
        }
        dataset = self.request.dataset
        # whether images reached a system is a question only where they are sent to somebody
        many = hasattr(system, "answer_many") and any(document.images for document in self.documents)
        reads_images = getattr(system, "reads_images", "local" if many else None)
        return {
            "task": self.request.task.name,
            "system": self.name,
            "model": None,
            "dataset": {"name": dataset.name, "fingerprint": dataset.fingerprint},
            "settings": dict(getattr(system, "settings", {}) or {}),
            "prompt": wording.get("prompt"),
            "role": wording.get("role"),
            "documents": self.subset,
            "repeats": self.repeats,
            "versions": versions,
            "notes": list(getattr(system, "notes", ())),
            **({"reads_images": reads_images} if reads_images is not None else {}),
            **about,
        }

    async def _ask(self, system: System, folder: RunFolder) -> RunResult:
        scorer = self.request.task.scorer(self.request.dataset.context, self.request.task.protocol())
        total = len(self.documents) * self.repeats
        done = sum(folder.is_settled(document.id, repeat) for document, repeat in self._keys())
        priced = system_price(system) is not None
        meter = Meter(self.name, total, done, folder.spent, priced)
        meter.most = max((line.cost or 0.0 for line in folder.done.values()), default=0.0)
        asked = swept = 0
        fault: str | None = None
        stopped: str | None = None
        if hasattr(system, "on_wait"):

            def waits(document: str, why: str, retry: int, seconds: float) -> None:
                meter.wait(document, why, retry, seconds)
                self._show(meter)

            system.on_wait = waits
        todo = (key for key in self._keys() if not folder.is_settled(key[0].id, key[1]))
        self._show(meter)
        stream = self._many(system, todo) if hasattr(system, "answer_many") else self._one_by_one(system, todo, meter)
        try:
            async with contextlib.aclosing(stream) as replies:
                async for batch in replies:
                    lines = [self._line(document, repeat, reply) for document, repeat, reply in batch]
                    await asyncio.to_thread(folder.append, *lines)
                    for (_, _, reply), line in zip(batch, lines, strict=True):
                        asked += 1
                        if reply.model and not folder.description.get("model"):
                            folder.update(model=reply.model)
                        meter.count(reply.answer, _failure(scorer, reply.answer), line["state"] != AGAIN)
                    self._show(meter)
                    if asked - swept >= SWEEP:
                        swept = asked
                        gc.collect(1)  # requests with their images lie in cycles, which Python would let pile up
        except SystemFault as error:
            fault = redact(str(error), folder.secrets)
        except _CostReached:
            stopped = "max_cost"
        finally:
            close = getattr(system, "aclose", None) or getattr(system, "close", None)
            if close is not None:
                with contextlib.suppress(Exception):
                    closing = close()
                    if inspect.isawaitable(closing):
                        await closing
        for note in getattr(system, "notes", ()):
            folder.note(note)
        about = dict(getattr(system, "about", {}) or {})
        about.pop("versions", None)
        folder.update(end=now(), **about)
        return self._result(folder, scorer, meter, asked, fault, stopped)

    async def _one_by_one(
        self, system: System, todo: Iterator[Key], meter: Meter
    ) -> Any:  # an asynchronous iterator of lists of (document, repeat, reply)
        """Ask as many documents at once as allowed; what has come in together is given on together, so that the next
        are asked only when these are on disk."""
        allowed = self.connections or max(1, int(getattr(system, "concurrency", 1)))
        asked_async = inspect.iscoroutinefunction(system.answer)
        running: dict[asyncio.Task[Reply], tuple[Document, int, float]] = {}
        reserved = 0.0
        exhausted = False
        stop: BaseException | None = None
        try:
            while True:
                while not exhausted and stop is None and len(running) < allowed:
                    key = next(todo, None)
                    if key is None:
                        exhausted = True
                        break
                    document, repeat = key
                    price = self._reserve(system, document, meter)
                    if self.max_cost is not None and (meter.cost or 0.0) + reserved + price > self.max_cost:
                        stop = _CostReached()
                        break
                    reserved += price
                    task = asyncio.create_task(_one(system, document, repeat, asked_async))
                    running[task] = (document, repeat, price)
                meter.asking = len(running)
                if not running:
                    if stop is not None:
                        raise stop
                    return
                finished, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
                batch = []
                for task in finished:
                    document, repeat, price = running.pop(task)
                    reserved -= price
                    error = task.exception()
                    if error is not None:
                        if not isinstance(stop, SystemFault):
                            stop = error
                        continue
                    batch.append((document, repeat, task.result()))
                if batch:
                    yield batch
                if stop is not None and not isinstance(stop, _CostReached):
                    raise stop
        finally:
            for task in running:
                task.cancel()
            await asyncio.gather(*running, return_exceptions=True)

    def _reserve(self, system: System, document: Document, meter: Meter) -> float:
        """What this document may cost: the most any has cost so far, or the estimate, whichever is higher."""
        if self.max_cost is None:
            return 0.0
        estimate, cost = getattr(system, "estimate", None), getattr(system, "cost", None)
        expected = cost(estimate(document)) if estimate is not None and cost is not None else 0.0
        return max(expected or 0.0, 1.2 * meter.most)

    async def _many(self, system: System, todo: Iterator[Key]) -> Any:
        """Systems that answer many documents together, in lots."""
        answer_many = cast(Any, system).answer_many
        while lot := list(islice(todo, MANY)):
            repeat = lot[0][1]
            rest = [key for key in lot if key[1] != repeat]
            documents = {document.id: document for document, number in lot if number == repeat}
            replies = await asyncio.to_thread(lambda docs: list(answer_many(docs)), list(documents.values()))
            batch = []
            for reply in map(_as_reply, replies):
                document = documents.pop(reply.answer.document, None)
                if document is not None:
                    batch.append((document, repeat, reply))
            for document in documents.values():
                answer = Answer(document.id, error="missing")
                batch.append((document, repeat, Reply(answer, detail="the system gave no answer")))
            if batch:
                yield batch
            todo = _chain(rest, todo)

    def _line(self, document: Document, repeat: int, reply: Reply) -> dict[str, Any]:
        answer = reply.answer
        error, detail = answer.error, reply.detail
        if error is not None and error not in FAILURES:
            error, detail = "provider_error", detail or error
        state = ANSWERED if error is None else AGAIN if reply.again else FAILED
        line: dict[str, Any] = {"document": document.id, "repeat": repeat, "state": state, "cost": answer.cost}
        parts = {
            "text": answer.text, "record": answer.record, "error": error, "detail": detail or None,
            "finish": answer.finish, "model": reply.model, "usage": dict(answer.usage) or None,
            "seconds": answer.seconds, "pages": len(document.images) or None, **reply.extra,
        }  # fmt: skip
        line.update({key: value for key, value in parts.items() if value is not None})
        return line

    def _show(self, meter: Meter) -> None:
        if self.report is not None:
            self.report(meter.now())

    def _result(
        self, folder: RunFolder, scorer: Scorer, meter: Meter, asked: int, fault: str | None, stopped: str | None
    ) -> RunResult:
        """What the folder now holds, counted from the disk."""
        wanted = self._index()
        failures: dict[str, int] = {}
        answered = unanswered = tokens_in = tokens_out = 0
        seconds, cost, unknown = 0.0, 0.0, False
        for answer in read_answers(folder.path):
            if answer.document not in wanted or answer.repeat >= self.repeats:
                continue
            failure = _failure(scorer, answer)
            if failure is not None:
                failures[failure] = failures.get(failure, 0) + 1
            else:
                answered += 1
            tokens_in += answer.usage.get("input_tokens", 0)
            tokens_out += answer.usage.get("output_tokens", 0)
            seconds += answer.seconds or 0.0
            unknown |= answer.cost is None and answer.error is None
        for document, repeat in self._keys():
            unanswered += not folder.is_settled(document.id, repeat)
        cost = folder.spent
        return RunResult(
            self.name, folder.path, meter.total, answered, failures, unanswered, asked, tokens_in, tokens_out,
            None if unknown else cost, seconds, folder.description.get("model"),
            tuple(folder.description.get("notes") or ()), fault, stopped,
        )  # fmt: skip


class _CostReached(Exception):
    """The next document could pass the limit of cost."""


def system_price(system: System) -> Any:
    """The price of a system, None where it is unknown or the system has none."""
    return getattr(system, "price", None)


def _failure(scorer: Scorer, answer: Answer) -> str | None:
    return scorer.read(answer).failure


def _as_reply(answer: Answer | Reply) -> Reply:
    return answer if isinstance(answer, Reply) else Reply(answer)


async def _one(system: System, document: Document, repeat: int, asynchronous: bool) -> Reply:
    """One answer. What a system raises for one document is that document's failure; a SystemFault is the run's."""
    try:
        if asynchronous:
            return _as_reply(await cast(Awaitable[Answer | Reply], system.answer(document, repeat)))
        given = await asyncio.to_thread(system.answer, document, repeat)
        return _as_reply(await given if inspect.isawaitable(given) else given)
    except (SystemFault, OutputError):
        raise
    except HistevalError as fault:
        return Reply(
            Answer(document.id, error="provider_error"), again=True, detail=redact(str(fault), secret_values())
        )
    except Exception as fault:
        detail = redact(f"{type(fault).__name__}: {fault}"[:300], secret_values())
        return Reply(Answer(document.id, error="provider_error"), again=True, detail=detail)


def _chain(first: Sequence[Key], rest: Iterator[Key]) -> Iterator[Key]:
    yield from first
    yield from rest


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
