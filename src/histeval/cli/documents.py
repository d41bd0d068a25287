"""`histeval get`, `import` and `check`: datasets on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter


def get(
    name: str | None = None,
    /,
    *,
    to: Path | None = None,
    from_: Annotated[str | None, Parameter(name="--from")] = None,
) -> None:
    """Fetch a published dataset. Every file is checked (SHA-256); an interrupted fetch goes on where it was.

    Parameters
    ----------
    name
        business_letters, medieval_manuscripts or trade_directories; without a name they are listed.
    to
        The folder to put it in (default: a folder of that name here).
    from_
        A folder or an address that mirrors the published files.
    """
    from histeval.cli.show import console, plain, progress
    from histeval.datasets import fetch

    out = console()
    if name is None:
        for collection in fetch.collections():
            out.print(f"[bold]{collection.name}[/]  {len(collection.files)} files, {collection.bytes / 1e6:.0f} MB")
        return
    target = to or Path(name)
    with progress(f"fetching {name}") as tell:
        done = fetch.get(name, target, source=from_, progress=tell)
    out.print(f"{plain(str(target))}: {done.fetched} files fetched, {done.kept} were there and unchanged")
    out.print(f"next: [bold]histeval check {done.task} {plain(str(done.dataset))}[/]")


def import_(task: str, source: list[Path], /, *, out: Path) -> None:
    """Make a dataset from files of other programs. What was repaired or left out is reported.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    source
        letters: letters.csv and persons.csv.
    out
        The folder of the new dataset; files that exist there and would change are not touched.
    """
    from histeval.cli.show import console, plain
    from histeval.datasets import import_letters
    from histeval.errors import UsageError
    from histeval.tasks import get_task

    name = get_task(task).name
    if name != "letters" or len(source) != 2:
        raise UsageError("for now `import letters LETTERS.csv PERSONS.csv --out DIR` is what import can do")
    report = import_letters(*source, out)
    for line in str(report).splitlines():
        console().print(plain(line))


def check(task: str, dataset: Path, /, *, format: Literal["table", "json"] = "table") -> int:
    """List every fault of a dataset at once: file, line, what is wrong, and what to do about it.

    Ends with status 1 where something must be mended. What is merely worth knowing is marked so.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    dataset
        The folder of the dataset.
    format
        A list for people or JSON Lines for programs.
    """
    from dataclasses import asdict

    from histeval.cli.show import console, plain, print_json
    from histeval.datasets import check as check_dataset
    from histeval.tasks import get_task

    faults = check_dataset(get_task(task).name, dataset)
    errors = sum(fault.error for fault in faults)
    if format == "json":
        for fault in faults:
            print_json(asdict(fault))
        return 1 if errors else 0
    out = console()
    for fault in faults:
        place = fault.file + (f", line {fault.line}" if fault.line is not None else "")
        place += f", {fault.item}" if fault.item else ""
        mark = "[bold red]fault[/]" if fault.error else "[dim]note [/]"
        out.print(f"{mark} {plain(place)}: {plain(fault.what)}. [italic]{plain(fault.remedy)}[/]", soft_wrap=True)
    out.print(f"{errors} faults, {len(faults) - errors} things worth knowing")
    return 1 if errors else 0
