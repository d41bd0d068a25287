"""The page a dataset opens with: which system is best, how sure that is, what it costs, and where to see why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from histeval.overview.board import Board, Collected, Run, Standing
from histeval.overview.cells import (
    Cell,
    count_cell,
    money,
    money_cell,
    plain_cell,
    pretty,
    score_cell,
    text_cell,
)
from histeval.overview.page import clean, counted, number
from histeval.runs.score import Score

PROTOCOL_WORDS = {
    "documented": "as the benchmark's documentation says",
    "published": "exactly as the published leaderboard or table computes, quirks included",
    "corrected": "the documented intent, known faults mended",
}
MOST_METRICS = 6


@dataclass(frozen=True)
class Whisker:
    """A value and its interval as percent of an axis, for the small drawing in a row."""

    low: float
    value: float
    high: float


@dataclass(frozen=True)
class Row:
    """A run in a table: its cells, and what the filters ask for."""

    cells: Sequence[Cell]
    whisker: Whisker | None
    provider: str
    date: str
    failed: int
    tied: bool = False
    best: bool = False
    late: bool = False
    reason: str = ""


@dataclass(frozen=True)
class BoardView:
    """A board as its table shows it."""

    title: str
    text: str
    columns: tuple[str, ...]
    rows: Sequence[Row]
    signature: str
    axis: tuple[str, str]
    metric: str


@dataclass(frozen=True)
class Verdict:
    """The answer in words: sentences by question."""

    best: str
    best_model: str
    best_run: str
    best_href: str
    value: str
    interval: str
    metric: str
    documents: str
    sure: str
    cost: str
    cost_system: str
    cost_href: str
    tied: int


def columns_of(board: Board) -> tuple[str, ...]:
    """Column titles of a board's table."""
    metrics = board.first.scorer.headline[:MOST_METRICS]
    names = [f"#{pretty(name)}" for name in metrics]
    return ("Rank", "System", *names, "#Documents", "#Failed", "#Cost", "#s / document", "Run on", "Model dated")


MAY_BE_EMPTY = ("#Cost", "#s / document", "Model dated")
"""Columns that are left out where no run has anything to say there; the answer in short says so of costs."""


def without_empty(
    columns: Sequence[str], rows: Sequence[Sequence[Cell]]
) -> tuple[tuple[str, ...], list[Sequence[Cell]]]:
    """Columns and rows without the columns of `MAY_BE_EMPTY` in which every cell is empty."""
    kept = [
        place
        for place, column in enumerate(columns)
        if column not in MAY_BE_EMPTY or any(row[place].value is not None for row in rows)
    ]
    return tuple(columns[place] for place in kept), [[row[place] for place in kept] for row in rows]


def board_view(collected: Collected, board: Board, hrefs: Mapping[str, str], title: str, text: str) -> BoardView:
    """A board with its rows, the best first."""
    low, high = axis_of(board)
    rows = []
    for standing in board.standings:
        score = standing.score
        best = standing is board.standings[0]
        first, last = standing.ranks
        rank = Cell(f"{first}–{last}" if first != last else str(first), float(first) + last / 1e6, kind="text")
        cells = [rank, *run_cells(collected, standing.run, score, hrefs)]
        rows.append(
            Row(
                cells,
                whisker_of(score, board.metric.name, low, high),
                clean(standing.run.provider),
                clean(standing.run.date),
                score.failed,
                tied=standing.with_best and not best,
                best=best,
                late=is_late(collected, standing.run),
            )
        )
    columns, cells_of = without_empty(columns_of(board), [row.cells for row in rows])
    rows = [replace(row, cells=cells) for row, cells in zip(rows, cells_of, strict=True)]
    return BoardView(
        title, text, columns, rows, clean(board.first.signature), (f"{low:g}", f"{high:g}"), board.metric.name
    )


def run_cells(collected: Collected, run: Run, score: Score, hrefs: Mapping[str, str]) -> list[Cell]:
    """The cells of a run behind its rank."""
    shown = " · ".join(part for part in (run.provider, run_label(run)) if part)
    return [
        Cell(clean(run.model), run.model.casefold(), href=hrefs[run.key], note=clean(shown)),
        *(score_cell(score, name) for name in score.scorer.headline[:MOST_METRICS]),
        count_cell(score.documents),
        count_cell(score.failed),
        money_cell(score.spent("cost")),
        plain_cell(score.spent_each("seconds"), 1),
        text_cell(run.date) if run.date else Cell("–"),
        text_cell(run.model_date) if run.model_date else Cell("–"),
    ]


def run_label(run: Run) -> str:
    """What tells a run from others of its model: its run_id, or the last part of its path."""
    label = run.key if run.key.count("/") <= 1 and "." not in run.key else run.key.rsplit("/", 1)[-1]
    return "" if label in (run.model, f"{run.model}.jsonl") else label


def is_late(collected: Collected, run: Run) -> bool:
    """Whether the model's own date lies after the day on which the ground truth became public."""
    published = collected.dataset.description.published
    return bool(run.model_date and published and run.model_date[: len(published)] > published)


def axis_of(board: Board) -> tuple[float, float]:
    """Where the axis of the small drawings starts and ends: tenths around all intervals."""
    name = board.metric.name
    lows = [standing.score.intervals[name].low for standing in board.standings]
    highs = [standing.score.intervals[name].high for standing in board.standings]
    values = [standing.score.values[name] for standing in board.standings]
    known = [x for x in (*lows, *highs, *values) if x is not None]
    if not known:
        return 0.0, 1.0
    low, high = int(min(known) * 10) / 10, -int(-max(known) * 10 // 1) / 10
    return low, high if high > low else low + 0.1


def whisker_of(score: Score, metric: str, low: float, high: float) -> Whisker | None:
    """The small drawing of a score on an axis; None where the value is missing."""
    value, interval = score.values[metric], score.intervals[metric]
    if value is None:
        return None
    width = high - low

    def at(x: float | None) -> float:
        return round(100 * ((value if x is None else x) - low) / width, 1)

    return Whisker(at(interval.low), at(value), at(interval.high))


def verdict(collected: Collected, board: Board, hrefs: Mapping[str, str]) -> Verdict:
    """The answer to "which system should I take" in words, all of it from the board."""
    best = board.standings[0]
    metric = board.metric.name
    tied = [standing for standing in board.standings[1:] if standing.with_best]
    others = len(board.standings) - 1
    interval = best.score.intervals[metric]
    shown = f"[{number(interval.low)}, {number(interval.high)}]" if interval.low is not None else "no interval"
    return Verdict(
        best=clean(best.run.name),
        best_model=clean(best.run.model),
        best_run=clean(best.run.name.removeprefix(best.run.model).strip(" ()")),
        best_href=hrefs[best.run.key],
        value=number(best.score.values[metric]),
        interval=shown,
        metric=pretty(metric),
        documents=documents_words(best.score),
        sure=_how_sure(others, len(tied)),
        **_cheapest([best, *tied], hrefs),
        tied=len(tied),
    )


def documents_words(score: Score) -> str:
    """Documents and failures in words."""
    failed = f", {score.failed} of them failed" if score.failed else ""
    return f"{counted(score.documents, 'document')} in {counted(score.units, 'sampling unit')}{failed}"


def _how_sure(others: int, tied: int) -> str:
    if not others:
        return "It is the only system here; add another to compare."
    if not tied:
        return (
            "The other one is measurably worse."
            if others == 1
            else f"{'Both' if others == 2 else f'All {others}'} others are measurably worse."
        )
    if tied == others:
        what = (
            "The other system cannot"
            if others == 1
            else f"{'Neither' if others == 2 else 'None'} of the {others} other systems can"
        )
        return f"{what} be told apart from it on these documents."
    return f"{tied} of the {others} other systems cannot be told apart from it; the rest are measurably worse."


def _cheapest(standings: Sequence[Standing], hrefs: Mapping[str, str]) -> dict[str, str]:
    priced = [(standing.score.spent_each("cost"), standing) for standing in standings]
    known = [(each, standing) for each, standing in priced if each is not None]
    if not known:
        return {"cost": "The answers carry no costs.", "cost_system": "", "cost_href": ""}
    each, cheapest = min(known, key=lambda pair: pair[0])
    score = cheapest.score
    asked = score.documents * len(score.rows)
    whole = "all documents"
    if (priced_answers := score.carrying("cost")) < asked:
        why = "are missing" if priced_answers == score.answered else "carry no cost"
        whole = f"{priced_answers} of {asked} answers, since the others {why}"
    top = "" if len(standings) == len(known) else f" whose cost is known, of {len(standings)}"
    as_cheap = sum(one == each for one, _ in known)
    among = f" {'Cheapest' if as_cheap == 1 else 'As cheap as any'} of the {len(known)}{top} at the top."
    if len(known) == 1:
        among = "" if len(standings) == 1 else f" The cost of the other {len(standings) - 1} at the top is unknown."
    return {
        "cost": f"{money(score.spent('cost'))} for {whole}, {money(each)} each.{among}",
        "cost_system": clean(cheapest.run.name),
        "cost_href": hrefs[cheapest.run.key],
    }


def board_title(board: Board) -> str:
    """What tells a further board from the main one."""
    words = ", ".join(rule.replace("_", " ").replace("=true", "") for rule in board.rules)
    return f"{words or 'Other documents'}: {counted(len(board.documents), 'document')}"


def apart_view(collected: Collected, name: str, hrefs: Mapping[str, str]) -> tuple[tuple[str, ...], list[Row]]:
    """Columns and rows of the runs that are not ranked under a protocol, each with its reason."""
    scorer = collected.runs[0].scores[name].scorer
    metrics = [f"#{pretty(metric)}" for metric in scorer.headline[:MOST_METRICS]]
    columns = ("System", *metrics, "#Documents", "#Failed", "#Cost", "#s / document", "Run on", "Model dated")
    rows = [
        Row(
            run_cells(collected, one.run, one.score, hrefs),
            None,
            clean(one.run.provider),
            clean(one.run.date),
            one.score.failed,
            late=is_late(collected, one.run),
            reason=clean(one.reason),
        )
        for one in collected.apart[name]
    ]
    shown, cells_of = without_empty(columns, [row.cells for row in rows])
    return shown, [replace(row, cells=cells) for row, cells in zip(rows, cells_of, strict=True)]


def notes_of(scores: Sequence[Score]) -> list[str]:
    """What the numbers hide, each sentence once, with the number of runs it holds for."""
    notes: dict[str, int] = {}
    for score in scores:
        for note in score.notes:
            notes[note] = notes.get(note, 0) + 1
    many = len(scores) > 1
    counted = sorted(notes.items(), key=lambda item: -item[1])
    return [clean(note) + (f" ({number} of {len(scores)} runs)" if many else "") for note, number in counted]


def facts_of(collected: Collected) -> list[tuple[str, str]]:
    """What is known of the dataset, as terms and descriptions."""
    dataset = collected.dataset
    description = dataset.description
    if collected.main:  # what the numbers are of: with --where it is a part of the dataset
        score = collected.main.first
        count, units, unit = score.documents, score.units, score.signature.unit
    else:
        documents = dataset.documents.values()
        count, units, unit = len(documents), len({document.unit for document in documents}), description.unit
    part = "" if count == len(dataset.documents) else f" of {len(dataset.documents)}"
    found: list[tuple[str, Any]] = [
        ("Task", collected.task.title),
        ("Documents", f"{count}{part} in {counted(units, 'sampling unit')} ({unit})"),
        ("Language", ", ".join(description.languages)),
        ("Period", description.period),
        ("Truth public since", description.published),
        ("Licence", description.licence),
        ("Cite as", description.citation),
    ]
    return [(term, clean(text)) for term, text in found if text]
