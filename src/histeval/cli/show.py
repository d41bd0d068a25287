"""Showing results: tables for people, JSON Lines, CSV and Parquet for programs. A number never travels alone."""

from __future__ import annotations

import csv
import json
import shlex
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from typing import TYPE_CHECKING, Any, TextIO

from histeval.errors import MissingExtraError, OutputError, UsageError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from histeval.runs.score import Score
    from histeval.tasks.base import Task


WIDEST = 10_000
"""Columns that no table in a pipe goes beyond."""


def console() -> Console:
    """The terminal. A pipe gets wide lines, so that no table is folded there."""
    from rich.console import Console

    class Terminal(Console):
        def on_broken_pipe(self) -> None:
            raise BrokenPipeError  # the reader of the pipe has enough; `histeval.cli.app` ends quietly

    return Terminal(highlight=False, width=None if output().isatty() else 160)


def print_table(out: Console, table: Table) -> None:
    """A table, in a pipe as wide as it needs to be, so that no name is broken there."""
    if not out.is_terminal:
        out.width = max(out.width, out.measure(table, options=out.options.update(width=WIDEST)).maximum)
    out.print(table)


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
    output().write(json.dumps(value, ensure_ascii=False, allow_nan=False) + "\n")


def decimals(value: float | None) -> str:
    """A number for a table, three decimals; a dash where it is undefined."""
    return "–" if value is None else f"{value:.3f}"


def plain(text: str) -> str:
    """Text of a file as it may stand in a terminal: control and direction signs escaped, markup inert."""
    from rich.markup import escape

    return escape("".join(c if c.isprintable() or c == " " else ascii(c)[1:-1] for c in text))


def command(*words: object) -> str:
    """A command line to copy, quoted as a shell wants it, as it may stand in a terminal."""
    return plain(shlex.join(map(str, words)))


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
    writer = csv.DictWriter(output(), columns)
    writer.writeheader()
    writer.writerows(rows)


def print_parquet(rows: Sequence[dict[str, Any]]) -> None:
    """Rows as a Parquet file on standard output; raises UsageError where that is a terminal."""
    try:
        import polars
    except ImportError:
        raise MissingExtraError("Parquet needs polars: pip install 'histeval[overview]'") from None
    if output().isatty():
        raise UsageError("Parquet is for programs, not for a terminal: put `> scores.parquet` behind the command")
    made = BytesIO()
    polars.DataFrame(list(rows), infer_schema_length=None).write_parquet(made)
    sys.stdout.buffer.write(made.getbuffer())  # ours, since polars words the faults of a disk in its own way


def output() -> TextIO:
    """Standard output; raises OutputError where it was closed (`>&-`)."""
    if sys.stdout is None:
        raise OutputError("there is nowhere to write to: standard output is closed")
    return sys.stdout
