"""A document's page and the data its script draws from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.overview.documents import views
from histeval.overview.documents.images import ImageRef
from histeval.overview.documents.numbers import document_numbers, document_value
from histeval.overview.page import Links, clean, render
from histeval.runs.score import Score
from histeval.tasks.base import Answer, Task

TASKS = ("letters", "manuscripts", "directories")
_HIDDEN_ATTRIBUTES = ("unit",)


def document_page(
    task: Task,
    dataset: Dataset,
    document: Document,
    scores: Sequence[Score],
    answers: Mapping[str, Answer | None],
    links: Links,
    images: Sequence[ImageRef] = (),
) -> str:
    """The page of a document as HTML. `scores` are those of all runs under the first protocol, `answers` the answer
    of each run to this document by `Score.run`.

    The ground truth and every system's numbers are in the page itself; the answers are drawn by its script from
    `document_data`, which must be given the same scores in the same order.
    """
    module = _module(task)
    systems = _systems(document, scores, answers, links)
    description = dataset.description
    return render(
        f"document_{task.name}.html" if module else "document.html",
        links.page,
        task=task,
        dataset=dataset,
        description=description,
        document=document,
        name=clean(document.id),
        attributes={
            clean(key.replace("_", " ")): clean(value)
            for key, value in document.attributes.items()
            if key not in _HIDDEN_ATTRIBUTES and str(value).strip()
        },
        language=_language(dataset, document),
        truth=module.truth(document, dataset.context) if module else None,
        systems=systems,
        columns=document_numbers(scores[0].scorer, _any_row(document, scores)) if systems else (),
        protocol=scores[0].signature.protocol.short if scores else "",
        signature=str(scores[0].signature) if scores else "",
        images=images,
        links=links,
        **_neighbours(document, links),
        legend=getattr(module, "LEGEND", ()),
        repeats=max((len(score.rows) for score in scores), default=1),
    )


def document_data(
    task: Task,
    dataset: Dataset,
    document: Document,
    scores: Sequence[Score],
    answers: Mapping[str, Answer | None],
) -> Any:
    """What the page's script draws, as JSON: `views`, one for each different answer, and `of`, for each score the
    place of its view (-1: not scored on this document). Every text of an answer in it is cleaned and cut."""
    module = _module(task)
    found, of = views.distinct(document, scores, answers, module.view if module else _no_view)
    data = {"task": task.name, "views": found, "of": of}
    return {**data, **module.shared(scores[0].scorer)} if module and scores and hasattr(module, "shared") else data


def _module(task: Task) -> ModuleType | None:
    """How documents of this task are shown; a task from outside has its numbers and raw answers only."""
    return import_module(f"histeval.overview.documents.{task.name}") if task.name in TASKS else None


def _no_view(*_: Any) -> dict[str, Any]:
    return {}


def _any_row(document: Document, scores: Sequence[Score]) -> Any:
    rows = [score.rows[0][document.id] for score in scores if document.id in score.rows[0]]
    return rows[0] if rows else next(iter(scores[0].rows[0].values()))


def _systems(
    document: Document, scores: Sequence[Score], answers: Mapping[str, Answer | None], links: Links
) -> list[dict[str, Any]]:
    """The runs that were scored on this document, the best on it first."""
    found = []
    for place, score in enumerate(scores):
        row = score.rows[0].get(document.id)
        if row is None:
            continue
        answer = answers.get(score.run)
        href = links.runs.get(score.run, "")
        found.append(
            {
                "place": place,
                "name": clean(links.names.get(score.run, score.run)),
                "href": href,
                "fragment": href.rpartition("/")[2].removesuffix(".html") or f"run-{place + 1}",
                "numbers": document_numbers(score.scorer, row),
                "value": document_value(score.scorer, row),
                "failure": (row.failure or "").replace("_", " "),
                "seconds": answer.seconds if answer else None,
                "cost": answer.cost if answer else None,
                "suspect": bool(score.suspect),
            }
        )
    return sorted(found, key=lambda one: (one["value"] is None, -(one["value"] or 0.0), one["place"]))


def _neighbours(document: Document, links: Links) -> dict[str, Any]:
    """The documents before and after, in the order of the dataset and by their mean score."""
    named: dict[str, Any] = {}
    for kind, order in (("order", list(links.documents)), ("worst", list(links.worst))):
        at = order.index(document.id) if document.id in order else None
        named[kind] = None
        if at is not None:
            before, after = (order[at - 1] if at else None), (order[at + 1] if at + 1 < len(order) else None)
            named[kind] = {
                "place": at + 1,
                "of": len(order),
                "before": _link(before, links),
                "after": _link(after, links),
            }
    return named


def _link(name: str | None, links: Links) -> dict[str, str] | None:
    href = links.documents.get(name, "") if name is not None else ""
    return {"name": clean(name), "href": href} if href else None


def _language(dataset: Dataset, document: Document) -> str:
    """The language tag of the document's text, empty where none is known."""
    given = document.attributes.get("language") or next(iter(dataset.description.languages), "")
    return given if given.replace("-", "").isalnum() and given.isascii() and len(given) < 36 else ""
