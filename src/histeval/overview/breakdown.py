"""Scores by field, level, type and by attributes of the documents."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from histeval.datasets.files import natural_key
from histeval.overview.board import Board, Collected, Run
from histeval.overview.cells import Cell, Table, count_cell, pretty, score_cell, text_cell
from histeval.overview.page import clean
from histeval.overview.parts import by_attribute
from histeval.runs.score import Score

_FIELD = re.compile(r"(.+)_(precision|recall|f1|fuzzy|cer)")
_TYPE = re.compile(r"(precision|recall|f1)\[([^/\]]+)(?:/([^\]]+))?\]")


@dataclass
class Breakdowns:
    """Scores of all runs by the values of attributes, made when they are asked for."""

    collected: Collected
    keys: tuple[str, ...]
    _made: dict[tuple[str, str], Mapping[str, Mapping[str, Score]]] = field(default_factory=dict)

    def of(self, key: str, protocol: str = "") -> Mapping[str, Mapping[str, Score]]:
        """By run, then by value of the attribute `key`: all runs under the first protocol, or those on the main board
        of another."""
        collected = self.collected
        name = protocol or collected.protocol
        if (key, name) not in self._made:
            first = name == collected.protocol
            runs = collected.runs if first else [one.run for one in collected.boards[name][0].standings]
            self._made[key, name] = by_attribute(runs, name, key, collected.dataset, collected.selection)
        return self._made[key, name]

    def values(self, key: str, protocol: str = "") -> list[str]:
        """The values of an attribute, numbers by size."""
        found = {value for scores in self.of(key, protocol).values() for value in scores}
        return sorted(found, key=natural_key)


def metric_tables(score: Score) -> list[Table]:
    """The metrics of a run beside the headline, as tables: by field; or by level, and by type."""
    fields: dict[str, dict[str, str]] = {}
    levels: dict[str, dict[str, str]] = {}
    types: dict[str, dict[str, str]] = {}
    rest: list[str] = []
    for name in score.values:
        of_type, of_field = _TYPE.fullmatch(name), _FIELD.fullmatch(name)
        if of_type:
            kind, level, one = of_type.groups()
            (types.setdefault(one, {}) if one else levels.setdefault(level, {}))[level if one else kind] = name
        elif of_field and name not in score.scorer.headline and of_field[1] != "cer":
            fields.setdefault(of_field[1], {})[of_field[2]] = name
        else:
            rest.append(name)
    headings = {item.name: item.title for item in score.scorer.context.description.fields if item.title}
    tables = []
    if fields:
        tables.append(_grid(score, "By field", "Field", fields, headings))
    if levels:
        tables.append(_grid(score, "By level", "Level", levels))
    if types:
        joint = {one: found for one, found in types.items() if "+" in one}
        plain = {one: found for one, found in types.items() if "+" not in one}
        if plain:
            tables.append(_grid(score, "By type (F1)", "Type", plain))
        if joint:
            tables.append(_grid(score, "By joint label of both levels (F1)", "Label", joint))
    others = [name for name in rest if name not in score.scorer.headline]
    if others:
        rows = [[text_cell(pretty(name)), score_cell(score, name)] for name in others]
        tables.append(Table("Further metrics", ("Metric", "#Value"), rows))
    return tables


def _grid(
    score: Score,
    title: str,
    corner: str,
    grid: Mapping[str, Mapping[str, str]],
    headings: Mapping[str, str] | None = None,
) -> Table:
    columns = list(dict.fromkeys(column for row in grid.values() for column in row))
    rows = [
        [
            text_cell((headings or {}).get(name, name.replace("_", " "))),
            *(score_cell(score, row[column]) if column in row else Cell("–", kind="number") for column in columns),
        ]
        for name, row in grid.items()
    ]
    return Table(title, (corner, *(f"#{pretty(column)}" for column in columns)), rows)


def attribute_tables(run: Run, broken: Breakdowns) -> list[Table]:
    """The headline metrics of a run on the documents with each value of each attribute."""
    tables = []
    for key in broken.keys:
        scores = broken.of(key).get(run.key, {})
        if len(scores) < 2:
            continue
        metrics = next(iter(scores.values())).scorer.headline
        rows = [
            [
                text_cell(value),
                *(score_cell(scores[value], name) for name in metrics),
                *numbers_of(scores[value]),
            ]
            for value in broken.values(key)
            if value in scores
        ]
        title = clean(key.replace("_", " "))
        columns = (title, *(f"#{pretty(name)}" for name in metrics), "#Documents", "#Units", "#Failed")
        tables.append(Table(f"By {title}", columns, rows))
    return tables


def numbers_of(score: Score) -> list[Cell]:
    """Documents, sampling units and failures of a score."""
    return [count_cell(score.documents), count_cell(score.units), count_cell(score.failed)]


def attribute_board(board: Board, key: str, broken: Breakdowns, hrefs: Mapping[str, str]) -> Table:
    """All runs of a board by the values of one attribute: the metric that ranks, with its interval."""
    values = broken.values(key, board.protocol)
    found = broken.of(key, board.protocol)
    metric = board.metric.name
    rows = []
    for one in board.standings:
        scores = found.get(one.run.key, {})
        rows.append(
            [
                text_cell(one.run.name, href=hrefs[one.run.key]),
                score_cell(one.score, metric),
                *(score_cell(scores.get(value), metric) for value in values),
            ]
        )
    documents = {value: next((s[value].documents for s in found.values() if value in s), 0) for value in values}
    columns = ("System", f"#{pretty(metric)}, all", *(f"#{clean(value)} ({documents[value]})" for value in values))
    title = clean(key.replace("_", " "))
    caption = f"{pretty(metric)} by {title}, with 95 % intervals; in brackets beside each value its documents."
    return Table(f"By {title}", columns, rows, caption)
