"""`histeval demo`: the whole way on the bundled datasets, offline: ask, train, score, compare, look."""

from __future__ import annotations

import os
import shutil
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from histeval.datasets.base import Dataset
    from histeval.systems.progress import RunResult
    from histeval.tasks.base import Task

CLIENT = "openai-api/replay/careful"
"""The system name of the careful answers, asked through the real client from a server on loopback."""
OCR = {"letters": "tesseract/deu", "manuscripts": "tesseract/deu"}


def demo(task: Literal["letters", "manuscripts", "directories"] | None = None, /, *, out: Path = Path("demo")) -> None:
    """The whole way on the bundled datasets, offline: ask systems, score, compare, and build the overview.

    Documents and example answers are invented; no model is asked. What is optional and not installed is left out, and
    said. The same command again asks nothing twice.

    Parameters
    ----------
    task
        Show only this task.
    out
        The folder for runs, models and the overview.
    """
    from dataclasses import replace

    from histeval.cli.options import open_dataset
    from histeval.cli.score_tables import show_comparison, show_scores
    from histeval.cli.show import console, plain
    from histeval.datasets.bundled import DATASETS, bundled
    from histeval.runs.compare import compare_scores
    from histeval.runs.score import score_paths

    terminal = console()
    shown: list[tuple[Task, Dataset, list[Path]]] = []
    for name in [task] if task else DATASETS:
        found, data = open_dataset(name, bundled(name))
        terminal.rule(f"[bold]{name}[/]: {plain(data.description.title)}")
        terminal.print(
            f"{len(data.documents)} documents. Documents and example answers (careful, hasty) are invented for this "
            "demo; the answers carry the errors that real models make. No model is asked.\n"
        )
        folders = _ask(found, data, out / "runs" / name)
        scores = [replace(score, run=Path(score.run).name) for score in score_paths(found, data, folders)]
        show_scores(scores)
        terminal.print()
        show_comparison(compare_scores(scores))
        terminal.print()
        shown.append((found, data, folders))
    _overview(shown, out / "overview")
    terminal.print("The same with your own files: [bold]histeval init --help[/], [bold]histeval run --help[/]")


def _ask(task: Task, dataset: Dataset, out: Path) -> list[Path]:
    """Run folders: the careful answers through the real client where it is installed, the hasty ones from their file,
    Tesseract where it is installed, and for directories a tagger trained on the spot."""
    from histeval.cli.asking import progress_line, report
    from histeval.cli.show import console, plain
    from histeval.datasets.bundled import bundled
    from histeval.errors import HistevalError
    from histeval.runs.opening import open_answers
    from histeval.systems.replay import ReplayServer
    from histeval.systems.run import run_systems

    terminal = console()
    results: list[RunResult] = []

    def ask(system: str, folder: str) -> None:
        with progress_line() as tell:
            results.extend(run_systems(task, dataset, systems=[system], out=out / folder, progress=tell))

    careful = bundled(f"{task.name}/careful")
    if find_spec("inspect_ai") and find_spec("openai"):
        (recorded,) = open_answers(careful, dataset)
        answers = {name: answer for (name, _), answer in recorded.answers.items()}
        with ReplayServer(dataset, answers, model="careful") as server:
            os.environ |= {"REPLAY_BASE_URL": server.url, "REPLAY_API_KEY": "none-needed"}
            ask(CLIENT, "careful")
    else:
        terminal.print(
            "[dim]left out: asking through the client of language models (pip install 'histeval\\[models]')[/]"
        )
        ask(f"recorded/{careful}", "careful")
    ask(f"recorded/{bundled(f'{task.name}/hasty')}", "hasty")
    if task.name in OCR:
        if shutil.which("tesseract"):
            try:
                ask(OCR[task.name], "tesseract")
            except HistevalError as fault:
                terminal.print(f"[dim]left out: {plain(str(fault))}[/]")
        else:
            terminal.print(
                "[dim]left out: Tesseract, a floor to compare models with "
                "(apt-get install tesseract-ocr tesseract-ocr-deu)[/]"
            )
    elif find_spec("pycrfsuite"):
        model = _tagger(out.parent.parent / "models" / "crf")
        ask(f"crf/{model}", "crf")
    else:
        terminal.print("[dim]left out: a tagger trained on the spot (pip install 'histeval\\[taggers]')[/]")
    report(results)
    terminal.print()
    return [result.folder for result in results if result.folder is not None]


def _tagger(folder: Path) -> Path:
    """A tagger trained on the training part of the bundled entries, once."""
    from histeval.datasets.bundled import bundled
    from histeval.systems.taggers.train import train_directories

    if not folder.exists():
        train_directories(bundled("directories"), folder, system="crf", text=("reference", "ocr"), tokens="plain")
    return folder


def _overview(shown: Sequence[tuple[Task, Dataset, list[Path]]], folder: Path) -> None:
    """The overview of all runs, where its libraries are installed."""
    from histeval.cli.show import command, console, plain

    terminal = console()
    if not (find_spec("jinja2") and find_spec("altair")):
        terminal.print("[dim]left out: the overview pages (pip install 'histeval\\[overview]')[/]")
        return
    from histeval.overview.build import Input, overview

    built = overview([Input(task, data, folders) for task, data, folders in shown], folder)
    terminal.print(f"overview: open [bold]{plain(str(built.index))}[/] in a browser")
    terminal.print(f"      or: [bold]{command('histeval', 'view', folder)}[/]")
