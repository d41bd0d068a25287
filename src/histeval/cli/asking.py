"""`histeval run`: ask systems, then score their answers."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

if TYPE_CHECKING:
    from histeval.datasets.base import Dataset
    from histeval.systems.progress import Progress, RunResult
    from histeval.tasks.base import Task

Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)]


def run(
    task: str,
    dataset: Path,
    /,
    *,
    system: Names = None,
    config: Path | None = None,
    out: Path | None = None,
    prompt: Path | None = None,
    role: Path | None = None,
    temperature: float | None = None,
    max_tokens: int | None = None,
    reasoning_effort: str | None = None,
    setting: Names = None,
    limit: int | None = None,
    documents: str | None = None,
    max_cost: float | None = None,
    max_connections: int | None = None,
    batch: Annotated[bool, Parameter(negative=())] = False,
    repeat: int = 1,
    dry_run: Annotated[bool, Parameter(negative=())] = False,
    prices: Path | None = None,
    timeout: float = 600.0,
    text: Literal["reference", "ocr"] | None = None,
    split: Literal["train", "dev", "test", "all"] | None = None,
    protocol: Literal["documented", "published", "corrected"] = "documented",
) -> int:
    """Ask systems about the documents of a dataset, keep every answer at once, then score them.

    The same command again asks only what is missing or failed for a passing reason. Ends with status 1 where documents
    failed or were not asked.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    dataset
        The folder of the dataset.
    system
        provider/model, tesseract/LANG, crf/MODEL, bilstm/MODEL, crf+bilstm/MODEL, transformer/MODEL or recorded/PATH.
        Can be repeated.
    config
        A TOML table of systems with their settings.
    out
        The run folder of a single system, or the folder of run folders (default runs/DATASET).
    prompt
        A file to use instead of the task's prompt.
    role
        A file to use instead of the task's role text.
    temperature
        Sent only where given here; a model that refuses it is asked again without, and the run says so.
    max_tokens
        The most tokens of an answer.
    reasoning_effort
        For models that reason: as the provider names it (low, medium, high).
    setting
        Any other generation setting, as NAME=VALUE. Can be repeated.
    limit
        Only the first so many documents.
    documents
        Only these: a file with one id a line, or ids with commas between.
    max_cost
        Stop before this many US dollars are passed, earlier commands on the folder included.
    max_connections
        Requests at a time.
    batch
        Use the provider's batch interface (half price, slower).
    repeat
        Ask every document so often; the score is the mean, the spread stands beside it.
    dry_run
        Send nothing; say documents, images, estimated tokens and cost.
    prices
        A price table to use instead of the bundled one.
    timeout
        Seconds after which a request counts as lost.
    text
        directories: the text that is read.
    split
        directories: the part that is asked (default test).
    protocol
        The rules for the scores at the end.
    """
    from histeval.cli.options import document_list, open_dataset, pairs
    from histeval.systems.run import run_systems

    found, data = open_dataset(task, dataset, text, split)
    settings: dict[str, Any] = {name: read_value(word) for name, word in pairs(setting or (), "--setting").items()}
    named = {"temperature": temperature, "max_tokens": max_tokens, "reasoning_effort": reasoning_effort}
    settings |= {name: value for name, value in named.items() if value is not None}
    with progress_line() as tell:
        results = run_systems(
            found,
            data,
            systems=system or (),
            out=out,
            config=config,
            settings=settings,
            prompt=prompt,
            role=role,
            limit=limit,
            documents=document_list(documents) if documents is not None else None,
            max_cost=max_cost,
            max_connections=max_connections,
            batch=batch,
            repeat=repeat,
            dry_run=dry_run,
            prices=prices,
            timeout=timeout,
            progress=tell,
        )
    report(results)
    if dry_run:
        return 0
    _score(found, data, results, protocol)
    if any(result.fault for result in results):
        return 2
    return 0 if all(result.complete for result in results) else 1


def report(results: Sequence[RunResult]) -> None:
    """What came of asking, a system a line; faults go to standard error."""
    from histeval.cli.show import console, plain

    out = console()
    for result in results:
        name = plain(result.system)
        if result.plan is not None:
            plan = result.plan
            tokens = "unknown" if plan.input_tokens is None else f"about {plan.input_tokens:,}"
            cost = "unknown" if plan.cost is None else f"about ${plan.cost:.2f}"
            out.print(
                f"{name}: {plan.documents} documents, {plan.images} images, input tokens {tokens}, cost {cost}; "
                "nothing was sent"
            )
            continue
        if result.fault:
            print(f"histeval: {result.system}: {result.fault}", file=sys.stderr)
        failures = ", ".join(f"{count} {reason}" for reason, count in result.failures.items())
        cost = "unknown" if result.cost is None else f"${result.cost:.4f}"
        out.print(
            f"{name}: {result.answered} of {result.total} answered"
            + (f"; failed: {failures}" if failures else "")
            + (f"; {result.unanswered} open, the same command asks them again" if result.unanswered else "")
            + f"; {result.asked} asked now, cost {cost}"
            + (f"; {plain(str(result.folder))}" if result.folder is not None else "")
        )
        if result.stopped:
            out.print(f"  stopped: {plain(result.stopped)}")
        for note in result.notes:
            out.print(f"  [dim]note[/] {plain(note)}")


@contextmanager
def progress_line() -> Iterator[Callable[[Progress], None]]:
    """One line on standard error that is written over; in a pipe it is written now and then."""
    import time

    last = [0.0]
    terminal = sys.stderr.isatty()

    def tell(moment: Progress) -> None:
        now = time.monotonic()
        finished = moment.done == moment.total
        if now - last[0] < (0.1 if terminal else 10) and not finished:
            return
        last[0] = now
        line = f"{moment.system}: {moment.line()}"
        sys.stderr.write(f"\r\x1b[K{line[:150]}" if terminal else f"{line}\n")
        sys.stderr.flush()

    try:
        yield tell
    finally:
        if terminal:
            sys.stderr.write("\r\x1b[K")


def _score(task: Task, dataset: Dataset, results: Sequence[RunResult], protocol: str) -> None:
    """Scores of the run folders, shown and kept in each as scores.json (derived, so it can be made again)."""
    from histeval.cli.score_tables import show_scores
    from histeval.runs.score import score_paths
    from histeval.runs.scores_file import write_scores

    folders = [
        result.folder
        for result in results
        if result.folder is not None and result.answered + sum(result.failures.values())
    ]
    scores = list(score_paths(task, dataset, folders, protocol))
    for folder, score in zip(folders, scores, strict=True):
        write_scores(folder, score)
    show_scores(scores)


def read_value(word: str) -> Any:
    """A setting's value: a number or a switch where it looks like one, else text."""
    if word.lower() in ("true", "false"):
        return word.lower() == "true"
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            continue
    return word
