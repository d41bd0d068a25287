"""One system asked about the documents of a dataset, into one folder: plan, ask, write, count."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import inspect
import platform
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from itertools import islice
from pathlib import Path
from typing import Any, cast

from histeval.datasets.base import Document
from histeval.errors import HistevalError, OutputError, SystemFault, UsageError
from histeval.runs.folder import AGAIN, ANSWERED, FAILED, RunFolder, now, read_answers
from histeval.runs.secrets import redact, secret_values
from histeval.systems.base import Reply, Request, System, open_system
from histeval.systems.progress import Meter, Plan, Progress, RunResult
from histeval.tasks.base import FAILURES, Answer, Scorer

MANY = 256
"""Documents that a system working on many at once is given together; what they cost when killed."""

SWEEP = 32
"""Answers between two sweeps of Python's garbage."""

Report = Callable[[Progress], None]
Key = tuple[Document, int]


@dataclass
class Job:
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

    def check(self) -> None:
        """Raises HistevalError for what is wrong with the system, its settings or its documents; asks nothing."""
        with contextlib.suppress(SystemFault):  # it is the fault of this system's result, and stops no other
            system = self._open()
            close = getattr(system, "close", None)
            if close is not None:
                close()

    def _open(self, *, priced: bool = True) -> System:
        system = open_system(self.name, self.request)
        self._check_pages(system)
        cost_of = getattr(system, "cost", None)
        unknown = cost_of is not None and cost_of({"input_tokens": 1, "output_tokens": 1}) is None
        if priced and unknown and self.max_cost is not None:
            how = " through a batch interface" if self.request.batch else ""
            raise UsageError(
                f"the price of {self.name}{how} is unknown, so that --max-cost cannot be kept; "
                "give its price with --prices"
            )
        return system

    def plan(self) -> RunResult:
        """What would be asked; nothing is sent and nothing written."""
        system = self._open(priced=False)
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
        system = self._open()
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
        except _CostReached as reached:
            stopped = f"max_cost: {reached}"
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
                        stop = _CostReached(
                            f"${meter.cost or 0.0:.4f} are spent"
                            + (f", up to ${reserved:.4f} may be on its way" if running else "")
                            + f", and one more answer may cost up to ${price:.4f}"
                        )
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
    """The next document could pass the limit of cost; its words say what it is reckoned at."""


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
