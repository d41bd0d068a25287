"""The numbers of one document, from its counts: they are the rows of a score, nothing is scored again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from histeval.stats.counts import FRACTION
from histeval.tasks.base import DocumentScore, Scorer


@dataclass(frozen=True, slots=True)
class Number:
    """A number of a document: its title, its value (None where undefined) and the decimals it is shown with."""

    name: str
    title: str
    value: float | None
    digits: int = 3
    help: str = ""


def document_value(scorer: Scorer, row: DocumentScore) -> float | None:
    """The one number that a document is sorted by, higher is better; None where there is nothing to score.

    Letters: F1 of the summed counts of the headline fields. Manuscripts: the mean similarity of the page's texts.
    Directories: F1 of all entities. A task from outside: its first metric, turned round where lower is better.
    """
    task = scorer.task.name
    if task == "letters":
        return _f1(*_letter_counts(scorer, row))
    if task == "directories":
        return _f1(*_entity_counts(scorer, row))
    if task == "manuscripts":
        return _page(scorer, row, "page_fuzzy")
    metric = next(metric for metric in scorer.metrics if metric.name == scorer.headline[0])
    value = metric.value(row.counts)
    return value if value is None or metric.higher_is_better else -value


def document_numbers(scorer: Scorer, row: DocumentScore) -> tuple[Number, ...]:
    """What the page shows of a document's score; the first is `document_value`."""
    task = scorer.task.name
    first = document_value(scorer, row)
    if task in ("letters", "directories"):
        tp, fp, fn = (_letter_counts if task == "letters" else _entity_counts)(scorer, row)
        what = "names and dates" if task == "letters" else "entities"
        return (
            Number("f1", "F1", first, 3, f"2 TP / (2 TP + FP + FN) of this document's {what}"),
            Number("tp", "TP", tp, 0, "right"),
            Number("fp", "FP", fp, 0, "wrong"),
            Number("fn", "FN", fn, 0, "missed"),
        )
    if task == "manuscripts":
        at = {column: place for place, column in enumerate(scorer.columns)}

        def total(part: str) -> int:
            return sum(int(row.counts[at[f"{kind}_{part}"]]) for kind in ("folio", "text", "additions"))

        return (
            Number("fuzzy", "Fuzzy", first, 3, "mean similarity of this page's texts"),
            Number("cer", "CER", _page(scorer, row, "page_cer"), 3, "mean character error rate of this page's texts"),
            Number("edits", "Edits", total("edits"), 0, "edits by character under the protocol's text profile"),
            Number("characters", "Characters", total("characters"), 0, "characters of the ground truth"),
        )
    values = {metric.name: metric.value(row.counts) for metric in scorer.metrics}
    return tuple(Number(name, name, values[name]) for name in scorer.headline)


def _letter_counts(scorer: Scorer, row: DocumentScore) -> tuple[int, int, int]:
    at = {column: place for place, column in enumerate(scorer.columns)}
    fields: Any = getattr(scorer, "headline_fields", ())
    tp, fp, fn = (sum(int(row.counts[at[f"{name}_{kind}"]]) for name in fields) for kind in ("tp", "fp", "fn"))
    return tp, fp, fn


def _entity_counts(scorer: Scorer, row: DocumentScore) -> tuple[int, int, int]:
    places: dict[str, list[int]] = {"_tp": [], "_fp": [], "_fn": []}
    for place, column in enumerate(scorer.columns):
        if column.startswith("All/"):
            places[column[-3:]].append(place)
    tp, fp, fn = (sum(int(row.counts[place]) for place in found) for found in places.values())
    return tp, fp, fn


def _page(scorer: Scorer, row: DocumentScore, column: str) -> float | None:
    at = {name: place for place, name in enumerate(scorer.columns)}
    return int(row.counts[at[column]]) / FRACTION if row.counts[at["pages"]] else None


def _f1(tp: int, fp: int, fn: int) -> float | None:
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None
