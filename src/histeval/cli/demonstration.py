"""`histeval demo`: the whole way on the bundled datasets, offline."""

from __future__ import annotations

from typing import Literal


def demo(task: Literal["letters", "manuscripts", "directories"] | None = None, /) -> None:
    """Score and compare two sets of invented example answers on each of the bundled datasets, offline.

    Parameters
    ----------
    task
        Show only this task.
    """
    from dataclasses import replace

    from histeval.cli.options import open_dataset
    from histeval.cli.show import console, show_comparison, show_scores
    from histeval.datasets.bundled import ANSWERS, DATASETS, bundled
    from histeval.runs.compare import compare_scores
    from histeval.runs.score import score_paths

    out = console()
    for name in [task] if task else DATASETS:
        found, data = open_dataset(name, bundled(name))
        out.rule(f"[bold]{name}[/]: {data.description.title}")
        out.print(f"{len(data.documents)} documents. Documents and answers are invented, written for this demo;")
        out.print("the answers carry the errors that real models make. No model was asked.\n")
        paths = [bundled(f"{name}/{kind}") for kind in ANSWERS]
        scores = list(score_paths(found, data, paths))
        short = [replace(score, run=kind) for score, kind in zip(scores, ANSWERS, strict=True)]
        show_scores(short)
        out.print()
        show_comparison(compare_scores(short))
        out.print()
    out.print("The same with your own files:")
    out.print("  [bold]histeval score TASK DATASET ANSWERS[/]   (histeval score --help)")
