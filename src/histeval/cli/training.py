"""`histeval train`, `evaluate` and `project`: taggers for nested entities."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

Approach = Literal["flat", "independent", "joint", "hierarchical"]
Scheme = Literal["IO", "IOB2", "IOBES"]
Kind = Literal["crf", "bilstm", "crf+bilstm", "transformer"]
Names = Annotated[list[str] | None, Parameter(negative=(), consume_multiple=False)]


def train(
    task: Literal["directories", "entities"],
    dataset: Path,
    /,
    *,
    out: Path,
    grid: Path | None = None,
    types: Annotated[bool, Parameter(negative=())] = False,
    system: Kind | None = None,
    approach: Approach = "joint",
    scheme: Scheme = "IO",
    text: str = "reference",
    tokens: Literal["published", "plain"] | None = None,
    split: Literal["train", "dev", "test", "all"] = "train",
    rows: int | None = None,
    noise: float | None = None,
    noise_copies: int = 1,
    seed: int = 1,
    epochs: int | None = None,
    members: int | None = None,
    workers: int = 2,
    backbone: str | None = None,
    weights: str = "",
    option: Names = None,
) -> None:
    """Train a tagger for nested entities; `histeval run` then takes it as SYSTEM/FOLDER.

    Parameters
    ----------
    task
        directories (or entities).
    dataset
        The folder of the dataset.
    out
        The model folder, which must not exist; with --grid the folder of results, which goes on where it was.
    grid
        A TOML file that names several systems, approaches, schemes, texts, backbones, rows and seeds: every combination
        is trained on the training part and scored on the test part, in one table beside the published figures.
    types
        With --grid: show entity types instead of levels.
    system
        crf, bilstm, crf+bilstm (the default where PyTorch is installed) or transformer.
    approach
        flat (M0), independent levels (M1), joint labels (M2) or hierarchical (M3).
    scheme
        The tags: IO, IOB2 or IOBES.
    text
        Texts of the rows to train on, with commas between: reference,ocr.
    tokens
        published: those of the benchmark, which end at the tags of the truth; plain: of the text alone, as in real use
        (the default but for the published dataset).
    split
        The part to train on.
    rows
        Train on so many rows, drawn in proportion to books.
    noise
        Strength of OCR noise for extra copies of the rows (0: none; default: 1 where several texts are trained on,
        but none for a transformer).
    noise_copies
        How many such copies.
    seed
        The seed; the same seed, data and versions give the same model.
    epochs
        Passes over the data, instead of the default.
    members
        crf and crf+bilstm: how many feature CRFs are fitted and averaged, instead of two.
    workers
        Fits at a time, each in a process of its own.
    backbone
        transformer: a folder or a name on the hub, such as almanach/camembert-base.
    weights
        hierarchical: weights of the edges from the root to the label, with commas between.
    option
        transformer: any other option of training, as NAME=VALUE. Can be repeated.
    """
    from histeval.cli.show import command, console, plain
    from histeval.systems.taggers.train import train_directories

    if grid is not None:
        _grid(dataset, grid, out, types)
        return
    made = train_directories(
        dataset,
        out,
        text=_list(text),
        split=split,
        **_options(system, approach, scheme, tokens, rows, noise, noise_copies, seed, epochs, members, workers,
                   backbone, weights, option),
        report=_say,
    )  # fmt: skip
    terminal = console()
    kind = made.settings["system"]
    terminal.print(f"{plain(str(made.folder))}: {kind}, {approach}, {scheme}, trained in {made.seconds:.0f} s")
    for note in made.notes:
        terminal.print(f"[dim]note[/] {plain(note)}")
    terminal.print(f"next: [bold]{command('histeval', 'run', task, dataset, '--system', f'{kind}/{out}')}[/]")


def _grid(dataset: Path, grid: Path, out: Path, types: bool) -> None:
    """Every combination of a grid file, and the table beside the published figures."""
    from rich.table import Table

    from histeval.cli.show import console, plain
    from histeval.systems.taggers.grid import grid_table, run_grid, table_notes

    head, *rows = grid_table(run_grid(dataset, grid, out, report=_say), types=types)
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="bold")
    for title in head:
        table.add_column(plain(title), overflow="fold")
    for row in rows:
        table.add_row(*map(plain, row))
    terminal = console()
    terminal.print(table)
    for note in table_notes():
        terminal.print(f"[dim]note[/] {plain(note)}")


def evaluate(
    dataset: Path,
    /,
    *,
    leave_out: str = "book",
    folds: int | None = None,
    system: Kind | None = None,
    approach: Approach = "joint",
    scheme: Scheme = "IO",
    text: str = "reference",
    tokens: Literal["published", "plain"] | None = None,
    split: str = "all",
    rows: int | None = None,
    noise: float | None = None,
    noise_copies: int = 1,
    seed: int = 1,
    epochs: int | None = None,
    members: int | None = None,
    workers: int = 2,
    backbone: str | None = None,
    weights: str = "",
    option: Names = None,
    protocol: Literal["documented", "published", "corrected"] = "documented",
    out: Path | None = None,
) -> None:
    """The honest score of a tagger on one's own books: each is left out of training in turn, tagged, and scored.

    Parameters
    ----------
    dataset
        The folder of the dataset.
    leave_out
        The attribute whose values are left out, one after another.
    folds
        Join the values to so many parts.
    system
        crf, bilstm, crf+bilstm or transformer.
    approach
        flat, independent, joint or hierarchical.
    scheme
        IO, IOB2 or IOBES.
    text
        Texts of the rows, with commas between.
    tokens
        published, which end at the tags of the truth, or plain (the default but for the published dataset).
    split
        Parts that take part, with commas between, so that a test part can stay unseen.
    rows
        Train on so many rows each time.
    noise
        Strength of OCR noise for extra copies of the rows.
    noise_copies
        How many such copies.
    seed
        The seed.
    epochs
        Passes over the data.
    members
        crf and crf+bilstm: how many feature CRFs are fitted and averaged, instead of two.
    workers
        Fits at a time.
    backbone
        transformer: a folder or a name on the hub.
    weights
        hierarchical: weights of the edges.
    option
        transformer: any other option, as NAME=VALUE. Can be repeated.
    protocol
        The rules of scoring.
    out
        Keep the answers here.
    """
    from dataclasses import replace

    from histeval.cli.score_tables import show_scores
    from histeval.cli.show import console, plain
    from histeval.systems.taggers.evaluate import evaluate as leave_groups_out

    found = leave_groups_out(
        dataset,
        leave_out=leave_out,
        folds=folds,
        text=_list(text),
        split=_list(split),
        protocol=protocol,
        out=out,
        report=_say,
        **_options(system, approach, scheme, tokens, rows, noise, noise_copies, seed, epochs, members, workers,
                   backbone, weights, option),
    )  # fmt: skip
    show_scores([replace(score, run=name) for name, score in zip(found.texts, found.scores, strict=True)])
    for note in found.notes:
        console().print(f"[dim]note[/] {plain(note)}")


def project(
    dataset: Path,
    noisy: Path,
    /,
    *,
    out: Path,
    text: Literal["reference", "ocr"] = "reference",
    split: Literal["train", "dev", "test", "all"] = "all",
) -> None:
    """Carry annotations onto another text of the same entries, by alignment of characters.

    An entry where an element has no text left is dropped, and dropped.csv says why.

    Parameters
    ----------
    dataset
        The folder of the dataset with the annotations.
    noisy
        The other texts: a .jsonl file of {"id": ..., "text": ...}, or a CSV file with the columns id and text.
    out
        The folder of the new dataset, which must not exist or be empty.
    text
        The text of the dataset that the annotations stand on.
    split
        The part of the dataset to carry over.
    """
    from histeval.cli.show import command, console, plain
    from histeval.datasets.projected import project_dataset

    done = project_dataset(dataset, noisy, out, text=text, split=split)
    terminal = console()
    terminal.print(plain(str(done)))
    for note in done.notes:
        terminal.print(f"[dim]note[/] {plain(note)}")
    terminal.print(f"next: [bold]{command('histeval', 'check', 'directories', done.folder)}[/]")


def _options(
    system: str | None, approach: str, scheme: str, tokens: str | None, rows: int | None, noise: float | None,
    noise_copies: int, seed: int, epochs: int | None, members: int | None, workers: int, backbone: str | None,
    weights: str, option: list[str] | None,
) -> dict[str, Any]:  # fmt: skip
    from histeval.cli.asking import read_value
    from histeval.cli.options import pairs
    from histeval.errors import UsageError

    try:
        edges = tuple(float(word) for word in _list(weights))
    except ValueError:
        raise UsageError(f"--weights takes numbers with commas between, not {weights!r}") from None
    options: dict[str, Any] = {
        "system": system, "approach": approach, "scheme": scheme, "tokens": tokens, "rows": rows, "noise": noise,
        "noise_copies": noise_copies, "seed": seed, "epochs": epochs, "members": members, "workers": workers,
        "weights": edges,
    }  # fmt: skip
    if backbone is not None:
        options["model"] = backbone
    return options | {name: read_value(word) for name, word in pairs(option or (), "--option").items()}


def _list(words: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in words.split(",") if word.strip())


def _say(line: str) -> None:
    print(line, file=sys.stderr)
