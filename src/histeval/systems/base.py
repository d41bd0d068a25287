"""What answers: the protocol of a system, and the systems by the first part of their name.

A system from outside registers a factory under the entry point group `histeval.systems`; see docs/asking.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from histeval.datasets.base import Dataset, Document
from histeval.errors import UsageError
from histeval.tasks.base import Answer, Task

GROUP = "histeval.systems"


@dataclass(frozen=True)
class Request:
    """What a system is opened with: the task and the dataset, and how to ask.

    `settings` are generation settings and other options of the system (temperature, max_tokens, base_url, ...), only
    those that were set. `prompt` and `role` are files that replace the task's own texts, or None. `retries` and
    `timeout` (seconds for one attempt) bound how long a passing fault is put up with.
    """

    task: Task
    dataset: Dataset
    prompt: Path | str | None = None
    role: Path | str | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    batch: bool | int = False
    prices: Path | str | None = None
    retries: int = 6
    timeout: float = 600.0


@dataclass(frozen=True, slots=True)
class Reply:
    """An answer with what the run should know beside it.

    `again`: it failed for a reason that passes, so that resuming asks again. `detail`: what the failure was, in the
    provider's words. `model`: the model id as returned. `extra`: whatever else belongs on the line (images sent, ...).
    """

    answer: Answer
    again: bool = False
    detail: str = ""
    model: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


@runtime_checkable
class System(Protocol):
    """What answers documents.

    `name` is the system as the person named it. `answer` gives the answer to one document and may be a coroutine; it
    raises SystemFault where no document can be answered at all (wrong key, program missing), and gives back an Answer
    with `error` where this document cannot. Any other exception becomes a failed answer of that document.

    Optional, read where present: `settings` (a mapping for run.json, compared when a run is resumed), `about` (a
    mapping for run.json that is not compared: versions, model id), `notes` (sentences for the reader), `concurrency`
    (how many documents it may work on at once; default 1), `answer_many(documents)` (an iterable of answers in any
    order, for systems that work on many documents at once), `reads_images` (`"local"` where it opens the images
    itself, so that run.json says it and nobody asks whether they arrived), `close()`.
    """

    name: str

    def answer(self, document: Document, repeat: int = 0) -> Answer | Reply | Awaitable[Answer | Reply]:
        """The answer to one document."""
        ...


@runtime_checkable
class ManySystem(System, Protocol):
    """A system that answers many documents faster together than one by one."""

    def answer_many(self, documents: Sequence[Document]) -> Iterable[Answer | Reply]:
        """Answers in any order, one for each document."""
        ...


Factory = Callable[[str, Request], System]
"""Opens a system: `(name, request)`; for systems from outside `name` is what follows the first slash, maybe empty."""

BUILT_IN: Mapping[str, str] = {
    "tesseract": "histeval.systems.tesseract:open_system",
    "recorded": "histeval.systems.recorded:open_system",
    "crf": "histeval.systems.taggers:open_system",
    "bilstm": "histeval.systems.taggers:open_system",
    "crf+bilstm": "histeval.systems.taggers:open_system",
    "transformer": "histeval.systems.taggers:open_system",
}
"""Factories by prefix. Those of taggers and of language models get the whole name (`crf/MODEL`), others its rest."""

LANGUAGE_MODELS = "histeval.systems.models:open_system"


def system_prefixes() -> tuple[str, ...]:
    """Prefixes that name a system of ours or one registered from outside; all others are providers of models."""
    return tuple(sorted({*BUILT_IN, *(point.name for point in entry_points(group=GROUP))}))


def open_system(name: str, request: Request) -> System:
    """The system called `name`, such as `openai/gpt-4.1`, `tesseract/deu`, `recorded/answers.jsonl`, `crf/MODEL`.

    Raises UsageError for a name that is none, MissingExtraError where a library or program is not installed, and
    SystemFault where the system cannot answer at all.
    """
    prefix, slash, rest = name.partition("/")
    outside = {point.name: point for point in entry_points(group=GROUP)}
    if prefix in outside:
        try:
            factory: Factory = outside[prefix].load()
        except Exception as fault:
            raise UsageError(f"the system {prefix!r} of another package cannot be loaded: {fault}") from fault
        return factory(rest, request)
    if prefix in BUILT_IN:
        return _load(BUILT_IN[prefix])(name if "taggers" in BUILT_IN[prefix] else rest, request)
    if not slash or not rest:
        raise UsageError(
            f"{name!r} names no system; name it as provider/model or one of "
            f"{', '.join(f'{known}/...' for known in system_prefixes())}"
        )
    return _load(LANGUAGE_MODELS)(name, request)


def _load(place: str) -> Factory:
    module, _, attribute = place.partition(":")
    try:
        factory: Factory = getattr(import_module(module), attribute)
    except ModuleNotFoundError as fault:
        raise UsageError(f"this system needs {fault.name}, which is not installed") from fault
    return factory
