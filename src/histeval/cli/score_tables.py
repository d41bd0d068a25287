"""Tables of scores and comparisons: every number with its interval, documents, failures and signature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from histeval.cli.show import console, decimals, plain, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from histeval.runs.compare import Comparison
    from histeval.runs.score import Score

MANY = 3
"""With more metrics than this, intervals stand below their values."""
LEVEL = 0.05
EXAMPLES = 3
"""So many failures are told with their words under a table; `--per-document` has those of all."""


def show_scores(scores: Sequence[Score], metrics: Sequence[str] | None = None, notes: Sequence[str] = ()) -> None:
    """A table of scored runs (a block each where the terminal is too narrow), what the numbers hide, and at the end
    the signature of every line. `notes` are those of the dataset."""
    if not scores:
        return
    out = console()
    names = list(metrics or scores[0].scorer.headline)
    signatures = list(dict.fromkeys(str(score.signature) for score in scores))
    marks = [f"[{signatures.index(str(score.signature)) + 1}]" if len(signatures) > 1 else "" for score in scores]
    table = _table(scores, names, marks)
    fits = out.measure(table).minimum <= out.width and _width(scores, names, marks) <= out.width
    if fits or not out.is_terminal:
        print_table(out, table)
    else:
        for score, mark in zip(scores, marks, strict=True):
            _block(score, names, mark)
    for who, score in {score.run: score for score in scores if score.suspect}.items():
        _say(f"[bold red]{label(str(score.suspect))}[/] {plain(who)}: {plain(str(score.suspect))}")
    for score in scores:
        if score.failed and not score.suspect:
            _say(f"[dim]failed[/] {plain(named(score))}: {plain(failures(score))}")
    for score, (name, words) in list(_reasons(scores))[:EXAMPLES]:
        _say(f"[dim]failed[/] {plain(score.run)}, {plain(name)}: {plain(words)}")
    for note, said_of in _notes(scores).items():
        who = plain(", ".join(said_of[:3])) + (f" and {len(said_of) - 3} more" if len(said_of) > 3 else "")
        _say(f"[dim]note[/] {plain(note)}" + (f" [dim]({who})[/]" if said_of else ""))
    for note in notes:
        _say(f"[dim]dataset[/] {plain(note)}")
    for number, signature in enumerate(signatures, 1):
        mark = f"\\[{number}] " if len(signatures) > 1 else ""
        out.print(f"[dim]{mark}{plain(signature)}[/]", soft_wrap=True)


def _say(sentence: str) -> None:
    """A sentence under a table: broken between words in a terminal, one line in a pipe, for grep and the like."""
    out = console()
    out.print(sentence, soft_wrap=not out.is_terminal)


def label(reason: str) -> str:
    """What a run that must not be ranked is marked with."""
    from histeval.runs.suspect import NOT_ARRIVED

    return "SUSPECT" if reason.startswith(NOT_ARRIVED) else "UNUSABLE"


def failures(score: Score) -> str:
    """Failures by reason: `3 missing, 1 refused`."""
    return ", ".join(f"{count} {reason}" for reason, count in sorted(score.failures.items(), key=lambda f: -f[1]))


def _reasons(scores: Sequence[Score]) -> Iterator[tuple[Score, tuple[str, str]]]:
    """A failure of each run whose words say more than its reason, of the most frequent reason that has such: the
    document and the words."""
    from histeval.tasks.base import FAILURES

    for score in scores:
        often = score.failures
        telling = [
            (-often[row.failure], place, name, row)
            for place, (name, row) in enumerate(score.rows[0].items())
            if row.failure and row.detail and row.detail != FAILURES.get(row.failure)
        ]
        if telling:
            _, _, name, row = min(telling, key=lambda one: one[:2])
            yield score, (name, f"{row.failure}: {row.detail}")


def named(score: Score) -> str:
    """The run, and the group of its documents where it was scored by groups: `a.jsonl, book Didot_1851a`."""
    return ", ".join([score.run, *(f"{key} {value}" for key, value in score.group.items())])


def _counted(score: Score) -> list[tuple[str, str]]:
    """Documents, failures, and independent units where these are not the documents."""
    counted = [("documents", str(score.documents)), ("failed", str(score.failed))]
    unit = score.signature.unit
    title = "pages" if unit == "page" else f"units ({unit})"
    return counted if unit == "document" else [*counted, (title, str(score.units))]


def _cost(score: Score) -> str:
    total = score.spent("cost")
    return "unknown" if total is None else f"{total:.4f}"


def _priced(scores: Sequence[Score]) -> bool:
    return any(score.spent("cost") is not None for score in scores)


def _table(scores: Sequence[Score], names: Sequence[str], marks: Sequence[str]) -> Table:
    from rich.table import Table

    first = scores[0]
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    table.add_column("run", overflow="fold")
    for key in first.group:
        table.add_column(plain(key), overflow="fold")
    for title, _ in _counted(first):
        table.add_column(plain(title), justify="right", no_wrap=True)
    narrow = len(names) > MANY
    for name in names:
        title = f"{plain(name)}{chr(10) if narrow else ' '}[dim]\\[95 %][/]"
        table.add_column(title, justify="right", no_wrap=True)
    if _priced(scores):
        table.add_column("cost $", justify="right", no_wrap=True)
    for score, mark in zip(scores, marks, strict=True):
        row = [f"{plain(score.run)} [dim]{plain(mark)}[/]".rstrip(), *map(plain, score.group.values())]
        row += [number for _, number in _counted(score)]
        row += [_with_interval(score, name, chr(10) if narrow else " ") for name in names]
        table.add_row(*row, *([_cost(score)] if _priced(scores) else []))
    return table


def _width(scores: Sequence[Score], names: Sequence[str], marks: Sequence[str]) -> int:
    """Columns of the terminal that the table needs so that no number is cut; names of runs may fold at 20."""
    interval = 14 if len(names) > MANY else 22
    numbers = sum(max(interval, len(name) + (0 if len(names) > MANY else 7)) + 2 for name in names)
    counted = sum(len(title) + 2 for title, _ in _counted(scores[0]))
    groups = sum(max(len(key), *(len(score.group[key]) for score in scores)) + 2 for key in scores[0].group)
    longest = max(len(score.run) + len(mark) + 1 for score, mark in zip(scores, marks, strict=True))
    return min(longest, 20) + 2 + groups + counted + numbers + (10 if _priced(scores) else 0)


def _block(score: Score, names: Sequence[str], mark: str) -> None:
    out = console()
    groups = named(score)[len(score.run) :]
    out.print(f"[bold]{plain(score.run)}[/]{plain(groups)} [dim]{plain(mark)}[/]")
    counted = ", ".join(f"{title} {number}" for title, number in _counted(score))
    out.print(f"  {plain(counted)}, cost {_cost(score)}{' $' if _cost(score) != 'unknown' else ''}")
    longest = max(map(len, names))
    for name in names:
        out.print(f"  {plain(name.ljust(longest))}  {_with_interval(score, name, ' ')}")


def _notes(scores: Sequence[Score]) -> dict[str, list[str]]:
    """Each note with whom it is said of: runs, or single groups of a run; nobody where it is said of all."""
    groups: dict[str, list[Score]] = {}
    notes: dict[str, list[Score]] = {}
    for score in scores:
        groups.setdefault(score.run, []).append(score)
        for note in dict.fromkeys(score.notes):
            notes.setdefault(note, []).append(score)
    found: dict[str, list[str]] = {}
    for note, said_of in notes.items():
        whole = {run for run, parts in groups.items() if all(note in part.notes for part in parts)}
        names = dict.fromkeys(score.run if score.run in whole else named(score) for score in said_of)
        found[note] = [] if len(said_of) == len(scores) else list(names)
    return found


def _with_interval(score: Score, name: str, between: str) -> str:
    interval = score.intervals[name]
    spread = f" ±{score.spread[name]:.3f}" if name in score.spread else ""
    low, high = decimals(interval.low), decimals(interval.high)
    return f"{decimals(score.values[name])}{spread}{between}[dim]\\[{low}, {high}][/]"


def show_comparison(comparison: Comparison) -> None:
    """The table of `compare`: each system against the baseline, with the corrected p-value and the rank interval."""
    from rich.table import Table

    out = console()
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in ("a", "b", "metric"):
        table.add_column(title, overflow="fold")
    for title in ("difference", "95 %", "p", "p corrected", ""):
        table.add_column(title, justify="right", no_wrap=True)
    for pair in comparison.pairs:
        told_apart = pair.p_corrected is not None and pair.p_corrected < LEVEL
        verdict = "told apart" if told_apart else "[dim]not told apart[/]"
        between = f"[dim]\\[{_signed(pair.low)}, {_signed(pair.high)}][/]"
        chances = (_chance(pair.p), _chance(pair.p_corrected))
        if out.is_terminal and _wide(comparison) > out.width:
            names = f"[bold]{plain(pair.a)}[/] minus [bold]{plain(pair.b)}[/], {plain(pair.metric)}:"
            out.print(names, soft_wrap=True)
            out.print(f"  {_signed(pair.difference)} {between}, p {chances[0]}, corrected {chances[1]}: {verdict}")
        else:
            difference = _signed(pair.difference)
            table.add_row(plain(pair.a), plain(pair.b), plain(pair.metric), difference, between, *chances, verdict)
    if table.rows:
        print_table(out, table)
    if comparison.ranks:
        out.print(
            "rank intervals: "
            + "; ".join(f"{plain(run)} {low}–{high}" for run, (low, high) in comparison.ranks.items()),
            soft_wrap=True,
        )
    for note in comparison.notes:
        _say(f"[dim]note[/] {plain(note)}")
    out.print(f"[dim]{plain(comparison.signature)}[/]", soft_wrap=True)


def _wide(comparison: Comparison) -> int:
    """Columns that the table of a comparison needs with no name broken."""
    names = [max(len(getattr(pair, side)) for pair in comparison.pairs) for side in ("a", "b", "metric")]
    return sum(names) + 2 * len(names) + 66


def _signed(value: float | None) -> str:
    return "–" if value is None else f"{value:+.3f}"


def _chance(value: float | None) -> str:
    return "–" if value is None else "< 0.001" if value < 0.001 else f"{value:.3f}"
