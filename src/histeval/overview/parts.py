"""Intervals of many runs at once, and scores on parts of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from histeval.datasets.base import Dataset
from histeval.overview.board import Run
from histeval.runs.score import Score, summarise
from histeval.runs.selection import Selection, attribute
from histeval.runs.signature import RESAMPLES, SEED
from histeval.stats.intervals import intervals_of_systems
from histeval.stats.metrics import Metric


def with_intervals(runs: Sequence[Run], protocol: str) -> None:
    """Gives the scores of all runs their intervals, made together: one product of weights and counts."""
    for run, score in zip(runs, intervals_for([run.scores[protocol] for run in runs]), strict=True):
        run.scores[protocol] = score


def intervals_for(scores: Sequence[Score], headline: bool = False) -> list[Score]:
    """Scores with intervals: those of all metrics, or of the headline alone, which costs a part of it.

    Scores of one scorer are made together where the metrics cover the same for all.
    """
    from histeval.stats.repeats import mean_intervals

    def metrics_of(score: Score) -> list[Metric]:
        metrics = score.scorer.metrics_on(score.sums)
        return [metric for metric in metrics if not headline or metric.name in score.scorer.headline]

    done = list(scores)
    groups: dict[tuple[Any, ...], list[int]] = {}
    for place, score in enumerate(scores):
        metrics = metrics_of(score)
        if len(score.tables) > 1:
            found = mean_intervals(score.tables, metrics, resamples=RESAMPLES, seed=SEED)
            done[place] = replace(score, intervals={**score.intervals, **found})
            continue
        covers = tuple(metric.help for metric in metrics)  # what a macro mean covers is said there
        groups.setdefault((id(score.scorer), len(set(score.tables[0].units)), covers), []).append(place)
    for places in groups.values():
        first = scores[places[0]]
        tables = [scores[place].tables[0] for place in places]
        many = intervals_of_systems(tables, metrics_of(first), resamples=RESAMPLES, seed=SEED)
        for place, one in zip(places, many, strict=True):
            done[place] = replace(scores[place], intervals={**scores[place].intervals, **one})
    return done


def by_attribute(
    runs: Sequence[Run], protocol: str, key: str, dataset: Dataset, selection: Selection | None = None
) -> dict[str, dict[str, Score]]:
    """Scores of each run on the documents with each value of an attribute: by run, then by value. Only the metrics of
    the headline get intervals."""
    parts: list[tuple[str, str, Score]] = []
    selection = selection or Selection()
    for run in runs:
        whole = run.scores[protocol]
        groups: dict[str, list[str]] = {}
        for name in whole.rows[0]:
            groups.setdefault(attribute(dataset.documents[name], key) or "(none)", []).append(name)
        for value, names in groups.items():
            rows = [{name: rows[name] for name in names if name in rows} for rows in whole.rows]
            documents = [dataset.documents[name] for name in names]
            where = {key: value}
            parts.append(
                (
                    run.key,
                    value,
                    summarise(
                        run.key,
                        dataset,
                        whole.scorer,
                        selection,
                        documents,
                        rows,
                        group=where,
                        with_intervals=False,
                        listed=bool(whole.signature.subset),
                    ),
                )
            )
    found: dict[str, dict[str, Score]] = {}
    for (run_key, value, _), score in zip(
        parts, intervals_for([score for *_, score in parts], headline=True), strict=True
    ):
        found.setdefault(run_key, {})[value] = score
    return found


def attributes(dataset: Dataset, documents: Sequence[str], most: int = 12) -> list[str]:
    """Attributes worth a view: with two to `most` values among the documents."""
    names = sorted({name for identifier in documents for name in dataset.documents[identifier].attributes})
    found = []
    for name in names:
        values = {dataset.documents[identifier].attributes.get(name) for identifier in documents}
        if 2 <= len(values) <= most and len(values) < len(documents):
            found.append(name)
    return found
