"""`histeval get` and `check`: datasets on disk."""

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
    width: int | None = None,
) -> int:
    """Fetch a published dataset, or the page images of a IIIF manifest; an interrupted fetch goes on where it was.

    Files of a published dataset are checked (SHA-256). Images come one at a time, in the order of the manifest, with
    their labels and rights; ends with status 1 where the library does not give all of them.

    Parameters
    ----------
    name
        business_letters, medieval_manuscripts or trade_directories; without a name they are listed.
    to
        The folder to put it in (default: a folder of that name here).
    from_
        A folder or an address that mirrors the published files. Without a name: the address of a IIIF manifest.
    width
        With a manifest: images of at most so many pixels across (default: as large as the library gives them).
    """
    from histeval.cli.show import command, console, plain, progress
    from histeval.datasets import fetch

    out = console()
    if name is None and from_ is not None:
        from histeval.datasets.iiif import fetch_images
        from histeval.errors import UsageError

        if to is None:
            raise UsageError("name the folder for the images with --to")
        with progress("fetching images") as tell:
            images = fetch_images(from_, to, width=width, progress=tell)
        for line in str(images).splitlines():
            out.print(plain(line), soft_wrap=True)
        out.print(f"next: [bold]{command('histeval', 'init', 'TASK', to)}[/]")
        return 1 if images.missing else 0
    if name is None:
        for collection in fetch.collections():
            out.print(f"[bold]{collection.name}[/]  {len(collection.files)} files, {collection.bytes / 1e6:.0f} MB")
        return 0
    target = to or Path(name)
    with progress(f"fetching {name}") as tell:
        done = fetch.get(name, target, source=from_, progress=tell)
    out.print(f"{plain(str(target))}: {done.fetched} files fetched, {done.kept} were there and unchanged")
    out.print(f"next: [bold]{command('histeval', 'check', done.task, done.dataset)}[/]")
    return 0


def check(task: str, dataset: Path | None = None, /, *, format: Literal["table", "json"] = "table") -> int:
    """List every fault of a dataset at once: file, line, what is wrong, and what to do about it.

    Ends with status 1 where something must be mended. What is merely worth knowing is marked so and comes last.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities); may be left out.
    dataset
        The folder of the dataset.
    format
        A list for people or JSON Lines for programs.
    """
    from dataclasses import asdict

    from histeval.cli.options import task_and_folder
    from histeval.cli.show import console, plain, print_json
    from histeval.datasets import check as check_dataset
    from histeval.tasks import get_task

    task, folder = task_and_folder(task, dataset)
    faults = sorted(check_dataset(get_task(task).name, folder), key=lambda fault: not fault.error)
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
    notes = len(faults) - errors
    out.print(f"{errors} fault{'s' * (errors != 1)}, {notes} thing{'s' * (notes != 1)} worth knowing")
    return 1 if errors else 0
