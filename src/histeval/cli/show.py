"""Showing results: tables for people, JSON Lines, CSV and Parquet for programs. A number never travels alone."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from histeval.errors import MissingExtraError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from histeval.runs.compare import Comparison
    from histeval.runs.score import Score
    from histeval.tasks.base import Task


MANY = 3
"""With more metrics than this, intervals stand below their values."""


def console() -> Console:
    """The terminal. A pipe gets wide lines, so that no table is folded there."""
    from rich.console import Console

    return Console(highlight=False, width=None if sys.stdout.isatty() else 160)


@contextmanager
def progress(what: str) -> Iterator[Callable[[str, int, int], None]]:
    """A progress bar on standard error; the function it gives takes (now at, done, total). Silent in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    terminal = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), TextColumn("{task.completed}/{task.total}"))
    with Progress(
        *columns, TimeRemainingColumn(), console=terminal, transient=True, disable=not sys.stderr.isatty()
    ) as bar:
        task = bar.add_task(plain(what), total=None)

        def tell(now: str, done: int, total: int) -> None:
            bar.update(task, description=f"{plain(what)} {plain(now[-40:])}", completed=done, total=total)

        yield tell


def print_json(value: Any) -> None:
    """One JSON object a line, never NaN."""
    sys.stdout.write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def decimals(value: float | None) -> str:
    """A number for a table, three decimals; a dash where it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def plain(text: str) -> str:
    """Text of a file as it may stand in a terminal: control and direction signs escaped, markup inert."""
    from rich.markup import escape

    return escape("".join(c if c.isprintable() or c == " " else ascii(c)[1:-1] for c in text))


def rules_table(task: Task) -> Table:
    """The rules of a task, one a row, with their value in each protocol."""
    from rich.table import Table

    from histeval.tasks.base import PROTOCOLS, Rule

    table = Table(box=None, padding=(0, 2), header_style="bold")
    for title in ("rule", *PROTOCOLS, "meaning"):
        table.add_column(title, overflow="fold")
    for rule in task.rules:
        table.add_row(rule.name, *(Rule.write(getattr(rule, p)) for p in PROTOCOLS), plain(rule.help))
    return table


def show_scores(scores: Sequence[Score], metrics: Sequence[str] | None = None) -> None:
    """A table of scored runs, then what the numbers hide, then the signature of every line."""
    from rich.table import Table

    if not scores:
        return
    out = console()
    first = scores[0]
    names = list(metrics or first.scorer.headline)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("", justify="right", style="dim")
    table.add_column("run", overflow="fold")
    for key in first.group:
        table.add_column(key, overflow="fold")
    for name in ("documents", "failed", "units"):
        table.add_column(name, justify="right")
    narrow = len(names) > MANY
    for name in names:
        title = f"{plain(name)}{chr(10) if narrow else ' '}[dim]\\[95 %][/]"
        table.add_column(title, justify="right", no_wrap=True)
    cost = any(score.facts.get("totals", {}).get("cost") is not None for score in scores)
    if cost:
        table.add_column("cost $", justify="right")
    signatures = list(dict.fromkeys(str(score.signature) for score in scores))
    for score in scores:
        row = [str(signatures.index(str(score.signature)) + 1), plain(score.run), *map(plain, score.group.values())]
        row += [str(score.documents), str(score.failed), str(score.units)]
        row += [_with_interval(score, name, narrow) for name in names]
        if cost:
            total = score.facts.get("totals", {}).get("cost")
            row.append("unknown" if total is None else f"{total:.4f}")
        table.add_row(*row)
    out.print(table)
    for score in scores:
        if score.suspect:
            out.print(f"[bold red]SUSPECT[/] {plain(score.run)}: {plain(score.suspect)}")
    for note, runs in _notes(scores).items():
        who = plain(", ".join(runs[:3])) + (f" and {len(runs) - 3} more" if len(runs) > 3 else "")
        out.print(f"[dim]note[/] {plain(note)}" + (f" [dim]({who})[/]" if len(runs) < len(scores) else ""))
    for number, signature in enumerate(signatures, 1):
        out.print(f"[dim]{number}[/] {plain(signature)}", soft_wrap=True)


def _notes(scores: Sequence[Score]) -> dict[str, list[str]]:
    notes: dict[str, list[str]] = {}
    for score in scores:
        for note in score.notes:
            notes.setdefault(note, []).append(score.run)
    return notes


def _with_interval(score: Score, name: str, narrow: bool) -> str:
    interval = score.intervals[name]
    spread = f" ±{score.spread[name]:.3f}" if name in score.spread else ""
    between = f"[dim]\\[{decimals(interval.low)}, {decimals(interval.high)}][/]"
    return f"{decimals(score.values[name])}{spread}{chr(10) if narrow else ' '}{between}"


COLUMNS = ("run", "group", "metric", "value", "low", "high", "documents", "failed", "units", "suspect", "signature")


def score_rows(scores: Sequence[Score]) -> list[dict[str, Any]]:
    """One row a run and metric, as CSV and Parquet have them."""
    return [
        {
            "run": score.run,
            "group": ";".join(f"{key}={value}" for key, value in score.group.items()),
            "metric": name,
            "value": value,
            "low": score.intervals[name].low,
            "high": score.intervals[name].high,
            "documents": score.documents,
            "failed": score.failed,
            "units": score.units,
            "suspect": score.suspect,
            "signature": str(score.signature),
        }
        for score in scores
        for name, value in score.values.items()
    ]


def print_csv(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> None:
    """Rows as CSV (RFC 4180) on standard output; a missing value is an empty cell."""
    writer = csv.DictWriter(sys.stdout, columns)
    writer.writeheader()
    writer.writerows(rows)


def print_parquet(rows: Sequence[dict[str, Any]]) -> None:
    """Rows as a Parquet file on standard output."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("Parquet needs polars: pip install 'histeval[overview]'") from None
    polars.DataFrame(list(rows), infer_schema_length=None).write_parquet(sys.stdout.buffer)


def show_comparison(comparison: Comparison) -> None:
    """The table of `compare`: each system against the baseline, with the corrected p-value and the rank interval."""
    from rich.table import Table

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("a", "b", "metric"):
        table.add_column(title, overflow="fold")
    for title in ("difference", "95 %", "p", "p corrected", ""):
        table.add_column(title, justify="right")
    for pair in comparison.pairs:
        told_apart = pair.p_corrected is not None and pair.p_corrected < 0.05
        table.add_row(
            plain(pair.a), plain(pair.b), pair.metric, _signed(pair.difference),
            f"[dim]\\[{_signed(pair.low)}, {_signed(pair.high)}][/]", _chance(pair.p), _chance(pair.p_corrected),
            "told apart" if told_apart else "[dim]not told apart[/]",
        )  # fmt: skip
    out.print(table)
    if comparison.ranks:
        out.print(
            "rank intervals: "
            + "; ".join(f"{plain(run)} {low}–{high}" for run, (low, high) in comparison.ranks.items()),
            soft_wrap=True,
        )
    for note in comparison.notes:
        out.print(f"[dim]note[/] {plain(note)}")
    out.print(f"[dim]{plain(comparison.signature)}[/]", soft_wrap=True)


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _chance(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
