"""Our tasks as tasks of Inspect AI: `inspect eval histeval/letters -T dataset=PATH --model provider/model`.

The score of a sample is its vector of counts, and the metrics are computed from their sums, so that the numbers are
those of `histeval score`. Logs, viewer, retries and limits are Inspect's; an answer is in its log, not in a run folder.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from inspect_ai import Task, task
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import GenerateConfig
from inspect_ai.scorer import Metric, SampleScore, Score, Scorer, Target, metric, scorer
from inspect_ai.solver import Generate, Solver, TaskState, solver

from histeval.datasets import load_dataset
from histeval.datasets.base import Dataset
from histeval.systems.base import Request
from histeval.systems.model_settings import inspect_schema
from histeval.systems.models import LanguageModel
from histeval.systems.run import choose_documents
from histeval.tasks import get_task
from histeval.tasks.base import Answer, DocumentScore, RuleValue
from histeval.tasks.base import Scorer as TaskScorer


def _registered(name: str, about: str) -> Callable[..., Task]:
    """A task as Inspect AI knows it; it reads the parameters that `-T` may set from the signature."""

    def make(
        dataset: str,
        protocol: str = "documented",
        documents: str | list[str] | None = None,
        prompt: str | None = None,
        role: str | None = None,
        structured: bool = True,
    ) -> Task:
        return _task(name, dataset, protocol, documents, prompt, role, structured)

    make.__name__, make.__qualname__, make.__doc__ = name, name, about
    registered: Callable[..., Task] = task(make)
    return registered


letters = _registered("letters", "Metadata extraction: date, senders and receivers of letters from their page images.")
manuscripts = _registered("manuscripts", "Transcription: folio number, text and additions in the margin of pages.")
directories = _registered("directories", "Nested named entities in directory entries.")


def _task(
    name: str,
    path: str,
    protocol: str,
    documents: str | list[str] | None,
    prompt: str | None,
    role: str | None,
    structured: bool,
) -> Task:
    dataset = _dataset(name, path)
    wanted = [part.strip() for part in documents.split(",")] if isinstance(documents, str) else documents
    chosen = choose_documents(dataset, wanted)
    model = _asker(name, path, prompt, role)
    config = GenerateConfig(cache_prompt=False)
    if structured and model.schema is not None:
        config.response_schema = inspect_schema(model.schema)
    return Task(
        dataset=MemoryDataset([Sample(id=document.id, input=document.id) for document in chosen], name=dataset.name),
        solver=ask_about(name, path, prompt, role),
        scorer=counts(name, path, protocol),
        metrics=[totals(name, path, protocol)],
        config=config,
        name=name,
    )


@solver
def ask_about(task_name: str, dataset: str, prompt: str | None = None, role: str | None = None) -> Solver:
    """Sends a document as `histeval run` does: the role, then the prompt and all pages in natural order."""

    async def solve(state: TaskState, generate: Generate) -> TaskState:
        model = _asker(task_name, dataset, prompt, role)
        document = model.request.dataset.documents[str(state.sample_id)]
        pages = await asyncio.to_thread(model.pages, document)
        state.messages = model.messages(document, pages)
        return await generate(state)

    return solve


@metric
def totals(task_name: str, dataset: str, protocol: str) -> Metric:
    """All metrics of the task, from the summed counts."""

    def compute(scores: list[SampleScore]) -> Any:
        judge = _scorer(task_name, dataset, protocol)
        rows = []
        for sample in scores:
            value = sample.score.as_dict()
            vector = np.array([int(value.get(column) or 0) for column in judge.columns], dtype=np.int64)
            rows.append((str(sample.sample_id), DocumentScore(vector)))
        sums = np.zeros(len(judge.columns), dtype=np.int64)
        for _, row in rows:
            sums += row.counts
        return {name: value for name, value in judge.values(rows, sums).items() if value is not None}

    return compute


@scorer(metrics=[])
def counts(task_name: str, dataset: str, protocol: str = "documented") -> Scorer:
    """The counts of one document; the explanation says why an answer failed."""

    async def score(state: TaskState, target: Target) -> Score | None:
        judge = _scorer(task_name, dataset, protocol)
        document = _dataset(task_name, dataset).documents[str(state.sample_id)]
        if not judge.selects(document.truth):
            return None
        output = state.output
        error = None
        if output.error:
            refused = bool(output.choices) and output.choices[0].stop_reason == "content_filter"
            error = "refused" if refused else str(output.error)
        answer = Answer(
            document.id,
            text=output.completion if output.choices else "",
            error=error,
            finish=output.choices[0].stop_reason if output.choices else None,
        )
        reading = judge.read(answer)
        row = judge.score(document.truth, reading)
        if row is None:
            return None
        value = dict(zip(judge.columns, row.counts.tolist(), strict=True))
        return Score(
            value=value,
            answer=answer.text,
            explanation=f"{reading.failure}: {reading.detail}" if reading.failure else "; ".join(reading.repairs),
            metadata={"failure": reading.failure},
        )

    return score


@lru_cache(maxsize=4)
def _dataset(task_name: str, path: str) -> Dataset:
    return load_dataset(task_name, path)


@lru_cache(maxsize=4)
def _scorer(task_name: str, path: str, protocol: str) -> TaskScorer:
    name, _, rules = protocol.partition(",")
    overrides: dict[str, str | RuleValue] = {}
    for rule in rules.split(",") if rules else ():
        key, _, value = rule.partition("=")
        overrides[key] = value
    own = get_task(task_name)
    return own.scorer(_dataset(task_name, path).context, own.protocol(name, overrides))


@lru_cache(maxsize=4)
def _asker(task_name: str, path: str, prompt: str | None, role: str | None) -> LanguageModel:
    """What composes the messages; it never asks by itself."""
    request = Request(get_task(task_name), _dataset(task_name, path), prompt=prompt, role=role)
    return LanguageModel("inspect/eval", request)
