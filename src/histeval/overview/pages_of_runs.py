"""The page of one run: how good, on what, why, what it cost, and how it was made."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from histeval.overview.board import Collected, Run, Standing
from histeval.overview.breakdown import Breakdowns, attribute_tables, metric_tables
from histeval.overview.cells import Table, count_cell, money, plain_cell, pretty, score_cell, text_cell
from histeval.overview.documents import document_numbers, document_value
from histeval.overview.findings import findings
from histeval.overview.frame import Place, Ways, digest_of_score, page_of
from histeval.overview.page import clean, counted, number, render
from histeval.overview.site import Site
from histeval.runs.score import Score
from histeval.tasks.base import FAILURES

LONG = 120
"""A setting longer than this is folded."""


def write_runs(site: Site, place: Place, collected: Collected, ways: Ways, broken: Breakdowns) -> None:
    """Every run's page."""
    apart = {one.run.key: one.reason for one in collected.apart[collected.protocol]}
    standings = {
        standing.run.key: (standing, board)
        for board in collected.boards[collected.protocol]
        for standing in board.standings
    }
    for run in collected.runs:
        standing, board = standings.get(run.key, (None, None))
        of = len(board.standings) if board else 0
        main = bool(board and board.main)
        inputs = [
            [digest_of_score(run, run.scores[name]) for name in collected.protocols],
            [standing.ranks, standing.p, standing.with_best, of, main] if standing else apart.get(run.key),
            place.title,
            place.site,
            list(broken.keys),
            list(ways.documents.items()),
            ways.worst,
            repr(collected.dataset.description),
            _digest_of_answers(run),
        ]

        def make(run: Run = run, standing: Standing | None = standing, of: int = of, main: bool = main) -> str:
            return _page(place, collected, ways, broken, run, standing, of, main, apart.get(run.key, ""))

        site.page(place.folder + ways.runs[run.key], inputs, make)


def _digest_of_answers(run: Run) -> list[Any]:
    """What the answers say: causes of error are read from them."""
    import hashlib

    digest = hashlib.sha256()
    for key, answer in run.answers.answers.items():
        digest.update(repr((key, answer.text, answer.record, answer.error)).encode("utf-8", "surrogatepass"))
    return [digest.hexdigest()]


def _page(
    place: Place,
    collected: Collected,
    ways: Ways,
    broken: Breakdowns,
    run: Run,
    standing: Standing | None,
    of: int,
    main: bool,
    apart: str,
) -> str:
    score = run.scores[collected.protocol]
    return render(
        "run.html",
        page_of(place, ways.runs[run.key], run.name),
        title=clean(run.name),
        dataset=place.title,
        subtitle=[clean(part) for part in (run.provider, run.date and f"run on {run.date}") if part],
        standing=_standing_words(standing, of, main),
        best=bool(standing and standing.ranks[0] == 1 and standing.p is None and of > 1),
        tied=bool(standing and standing.with_best and standing.p is not None),
        apart=clean(apart),
        numbers=[
            (
                pretty(name),
                number(score.values[name]),
                score_cell(score, name).interval,
                next((metric.help for metric in score.scorer.metrics if metric.name == name), ""),
            )
            for name in score.scorer.headline[:2]
        ],
        documents=score.documents,
        units=score.units,
        unit=score.signature.unit,
        failed=score.failed,
        cost=_cost_words(score),
        failures=_failures(score),
        protocols=_protocols(collected, run),
        tables=metric_tables(score),
        by=attribute_tables(run, broken),
        why=findings(collected, run),
        worst=_documents(run, score, ways),
        facts=_facts(run),
        folded=_folded(run),
        signature=clean(score.signature),
        long=clean(score.signature.protocol.long),
        notes=[clean(note) for note in dict.fromkeys([*score.notes, *run.answers.notes])],
    )


def _standing_words(standing: Standing | None, of: int, main: bool) -> str:
    if standing is None:
        return ""
    low, high = standing.ranks
    place = f"rank {low}" if low == high else f"rank {low} to {high}"
    where = f"of {of}" + ("" if main else " (on a board of its own)")
    if standing.p is None:
        return f"{place} {where}, the best" if of > 1 else "the only run of its kind"
    against = f"corrected p = {standing.p:.2g}" if standing.p >= 0.001 else "corrected p < 0.001"
    told = "measurably worse than the best" if standing.told_apart else "not to be told apart from the best"
    return f"{place} {where}, {told} ({against})"


def _cost_words(score: Score) -> list[tuple[str, str]]:
    cost, seconds, usage = score.spent("cost"), score.spent("seconds"), score.facts.get("totals", {}).get("usage") or {}
    found = [("Cost", money(cost) + (f", {money(score.spent_each('cost'))} a document" if cost is not None else ""))]
    if seconds is not None:
        found.append(("Time", f"{seconds:,.1f} s, {score.spent_each('seconds') or 0.0:,.1f} s a document"))
    found += [(clean(str(name)).replace("_", " ").capitalize(), f"{count:,}") for name, count in usage.items()]
    return found


def _failures(score: Score) -> Table | None:
    if not score.failures:
        return None
    rows = [
        [text_cell(reason.replace("_", " ")), count_cell(count), text_cell(FAILURES.get(reason, ""))]
        for reason, count in sorted(score.failures.items(), key=lambda item: -item[1])
    ]
    return Table("Failures by reason", ("Reason", "#Answers", "Meaning"), rows)


def _protocols(collected: Collected, run: Run) -> Table:
    first = run.scores[collected.protocol]
    names = first.scorer.headline
    rows = [
        [
            text_cell(name),
            *(score_cell(run.scores[name], metric) for metric in names),
            count_cell(run.scores[name].documents),
            count_cell(run.scores[name].failed),
        ]
        for name in collected.protocols
    ]
    columns = ("Protocol", *(f"#{pretty(name)}" for name in names), "#Documents", "#Failed")
    return Table("Under each protocol", columns, rows)


def _documents(run: Run, score: Score, ways: Ways) -> Table:
    """Every document of the run, its worst first, each leading to its page with this run's answer."""
    place = {name: at for at, name in enumerate(ways.worst)}
    rows = []
    values = {name: document_value(score.scorer, row) for name, row in score.rows[0].items()}
    titles: tuple[str, ...] = ()

    def order(name: str) -> tuple[bool, float, int]:
        value = values[name]
        return value is None, value or 0.0, place.get(name, 0)

    for name in sorted(score.rows[0], key=order):
        row = score.rows[0][name]
        numbers = document_numbers(score.scorer, row)
        titles = tuple(f"#{one.title}" for one in numbers)
        href = f"../{ways.documents[name]}#{run.slug}" if name in ways.documents else ""
        rows.append(
            [
                text_cell(name, href=href),
                *(plain_cell(one.value, one.digits) for one in numbers),
                text_cell((row.failure or "").replace("_", " ")),
            ]
        )
    caption = f"{counted(len(rows), 'document')}, the worst first"
    if len(score.rows) > 1:
        caption += f"; of {len(score.rows)} repeats the first"
    return Table("Documents", ("Document", *titles, "Failure"), rows, f"{caption}.")


def _facts(run: Run) -> list[tuple[str, str]]:
    """Settings, versions and whatever else the run says of itself, in short."""
    found = [("Run", run.key)]
    if run.model_date:
        found.append(("Model dated", run.model_date))
    for name, value in run.answers.facts.items():
        text = _written(value)
        if text and len(text) <= LONG and name not in ("format", "asked"):
            found.append((str(name).replace("_", " ").capitalize(), text))
    if run.answers.rules:
        found.append(("Rules it brings", ", ".join(f"{name}={value}" for name, value in run.answers.rules.items())))
    return [(clean(name), clean(text)) for name, text in found]


def _folded(run: Run) -> list[tuple[str, str]]:
    """What is long: the prompt as it was sent, tables of settings."""
    found: list[tuple[str, str]] = []
    for name, value in run.answers.facts.items():
        if name == "asked" and isinstance(value, Mapping):
            found += [(f"{part}, as it was sent", str(text)) for part, text in value.items() if text]
        else:
            text = _written(value)
            if len(text) > LONG:
                found.append((str(name).replace("_", " "), text))
    return [(clean(name).capitalize(), clean(text)) for name, text in found]


def _written(value: Any) -> str:
    """A value of a run's facts as text; nothing for one that is empty."""
    if value is None or value in ({}, [], ""):
        return ""
    if isinstance(value, Mapping) and all(not isinstance(part, dict | list) for part in value.values()):
        return ", ".join(f"{name} {part}" for name, part in value.items() if part is not None)
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=1, default=str)
