"""`histeval overview` and `histeval view`: the pages that people look at."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from histeval.cli.options import DEFAULTS, Names, ScoringOptions

if TYPE_CHECKING:
    from histeval.overview.build import Input
    from histeval.runs.selection import Selection


def overview(
    datasets: list[str],
    /,
    *,
    out: Path = Path("overview"),
    options: ScoringOptions = DEFAULTS,
    by: Names = None,
    title: str = "",
) -> None:
    """Build static pages of datasets and their runs: leaderboard, runs, documents, doubts; for any browser or server.

    The same command again makes only what changed. Pages open with the protocol given; the others are one click away.

    Parameters
    ----------
    datasets
        DATASET=ANSWERS,ANSWERS,... each: the folder of a dataset and whatever `histeval score` takes, or a folder of
        run folders or of .jsonl files. Without =ANSWERS: runs/DATASET. TASK:DATASET names the task where the folder
        does not say it.
    out
        The folder of the pages.
    by
        Break scores down by this attribute of the documents (default: all with two to twelve values). Can be repeated.
    title
        What the first page is called where several datasets are given.
    """
    from histeval.cli import show
    from histeval.errors import UsageError
    from histeval.overview.build import overview as build
    from histeval.overview.page import counted

    chosen = options.selection
    inputs = [_input(words, chosen, options.text, options.split) for words in datasets]
    given = next((name for name in ("text", "split") if getattr(options, name) is not None), None)
    if given and all(one.task.name != "directories" for one in inputs):
        raise UsageError(f"--{given} belongs to the task directories, and no dataset here is of it")
    with show.progress("overview") as tell:
        built = build(inputs, out, protocol=options.protocol, rules=options.rules, by=by, title=title, tell=tell)
    terminal = show.console()
    kept = f"{len(built.kept)} {'was' if len(built.kept) == 1 else 'were'} up to date"
    changed = f"{counted(len(built.written), 'file')} written, {kept}, {len(built.removed)} removed"
    terminal.print(f"{show.plain(str(built.index))}: {changed}", soft_wrap=True)
    terminal.print(f"next: [bold]histeval view {show.plain(str(out))}[/], or open it in a browser", soft_wrap=True)


def _input(words: str, chosen: Selection, text: str | None, split: str | None) -> Input:
    """A dataset with its answers, as one word of the command line names them."""
    from histeval.cli.options import open_dataset
    from histeval.datasets.layout import find_task
    from histeval.errors import UsageError
    from histeval.overview.build import Input
    from histeval.systems.run_folders import folder_name
    from histeval.tasks import get_task, task_names

    folder, equals, rest = (words, "", "") if Path(words).is_dir() else words.partition("=")
    task, colon, place = folder.partition(":")
    known = {*task_names(), *(get_task(name).alias for name in task_names())}
    if colon and task in known and not Path(folder).is_dir():
        folder = place
    else:
        task = ""
    if not folder:
        raise UsageError(f"{words!r} names no dataset; it takes DATASET=ANSWERS,...")
    path = Path(folder)
    task = task or find_task(path)
    of_task = task in ("directories", "entities")
    found, data = open_dataset(task, path, text if of_task else None, split if of_task else None)
    if equals:
        answers = [rest] if rest and Path(rest).exists() else [part for part in rest.split(",") if part.strip()]
        if not answers:
            raise UsageError(f"name the answers to show of {folder} after the equals sign, as in {folder}=ANSWERS,...")
    else:
        answers = [str(Path("runs") / folder_name(data.name))]
        if not Path(answers[0]).is_dir():
            raise UsageError(f"name the answers to show of {folder} as {folder}=ANSWERS,...; there is no {answers[0]}")
    return Input(found, data, answers, chosen)


def view(
    folder: Path = Path("overview"),
    /,
    *,
    port: int = 0,
    browser: Annotated[bool, Parameter(negative="--no-browser")] = True,
) -> None:
    """Serve an overview on this machine only, and open it in the browser; Ctrl-C ends it.

    Parameters
    ----------
    folder
        The folder that `histeval overview` made.
    port
        The port (default: a free one).
    browser
        Open the browser.
    """
    import webbrowser

    from histeval.cli.show import console, plain
    from histeval.overview.view import serve

    terminal = console()
    with serve(folder, port) as server:
        terminal.print(f"{plain(str(folder))} is at [bold]{plain(server.url)}[/] until Ctrl-C", soft_wrap=True)
        if browser:
            webbrowser.open(server.url)
        try:
            server.wait()
        except KeyboardInterrupt:
            terminal.print("stopped")
