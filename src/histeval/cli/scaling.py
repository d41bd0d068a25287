"""Scoring on several processes or machines, in shards, and `histeval merge`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from histeval.errors import UsageError

if TYPE_CHECKING:
    from histeval.runs.engine import Engine
    from histeval.runs.score import Score
    from histeval.runs.selection import Selection

EngineName = Literal["local", "ray"]


def engine_of(name: EngineName | None, workers: int | None, address: str | None, tell: Any = None) -> Engine:
    """The engine that a command line names."""
    from histeval.runs.engine import Engine

    if address is not None and name != "ray":
        raise UsageError("--address belongs to --engine ray")
    if workers is not None and workers < 1:
        raise UsageError(f"--workers takes a number from 1, not {workers}")
    if name == "ray":
        _quiet_ray()
    return Engine(name or "local", workers, address, tell)


def _quiet_ray() -> None:
    import logging
    from contextlib import suppress
    from importlib import import_module

    with suppress(ImportError):  # the engine says what is missing
        import_module("ray.data")
    for logger in ("ray", "ray.data"):
        logging.getLogger(logger).setLevel(logging.ERROR)


@dataclass(frozen=True)
class Asked:
    """What `histeval score` was asked for."""

    task: str
    dataset: Path
    answers: Sequence[Path]
    protocol: str
    rules: Mapping[str, str]
    selection: Selection
    by: str | None = None
    text: str | None = None
    split: str | None = None

    def whole(self) -> None:
        """Raises UsageError for an option that a corpus in parts does not know."""
        for option, value in (("--by", self.by), ("--text", self.text), ("--split", self.split)):
            if value is not None:
                raise UsageError(f"{option} is for ordinary datasets; --where chooses rows of a corpus in parts")


def scores(asked: Asked, engine: Engine) -> Iterator[Score]:
    """The scores of runs, or of corpora in parts, spread over the workers of an engine."""
    from histeval.cli.options import open_dataset
    from histeval.runs.parts import is_corpus
    from histeval.runs.score import score_paths

    opened = None
    for path in asked.answers:
        if is_corpus(path):
            yield _corpus(asked, path, engine)
            continue
        opened = opened or open_dataset(asked.task, asked.dataset, asked.text, asked.split)
        yield from score_paths(
            *opened, [path], asked.protocol, asked.rules, asked.selection, asked.by, outcomes_of=engine.outcomes
        )


def write_shard(asked: Asked, engine: Engine, shard: str | None, out: Path | None) -> None:
    """Scores one share of everything and writes it to a file."""
    from histeval.cli.options import open_dataset
    from histeval.datasets.files import check_writable
    from histeval.runs.opening import open_answers
    from histeval.runs.parts import is_corpus
    from histeval.runs.sharding import parse_shard, shard_lines, write_lines

    if shard is None or out is None:
        raise UsageError("--shard i/n and --out FILE go together")
    share = parse_shard(shard)
    check_writable(out.parent)
    if len(set(asked.answers)) < len(asked.answers):
        raise UsageError("the same answers are given twice")
    lines: list[dict[str, Any]] = []
    opened = None
    for path in asked.answers:
        if is_corpus(path):
            lines.append(_corpus(asked, path, engine, share))
            continue
        opened = opened or open_dataset(asked.task, asked.dataset, asked.text, asked.split)
        runs = open_answers(path, opened[1])
        lines += shard_lines(
            *opened, runs, share, asked.protocol, asked.rules, asked.selection, asked.by, engine.outcomes
        )
    write_lines(out, lines)


def _corpus(asked: Asked, path: Path, engine: Engine, shard: tuple[int, int] | None = None) -> Any:
    """The score of a corpus in parts or, for a shard, the line of its file."""
    from histeval.runs.parts import choose_shard, open_corpus, pieces
    from histeval.runs.sharding import corpus_line
    from histeval.runs.summary import PieceScorer, conclude_corpus, empty
    from histeval.tasks import get_task

    asked.whole()
    task, selection = get_task(asked.task), asked.selection
    corpus = open_corpus(task.name, asked.dataset)
    scorer = task.scorer(corpus.dataset.context, task.protocol(asked.protocol, asked.rules))
    total = empty(scorer)
    parts = pieces(path)
    chosen = choose_shard(parts, shard) if shard else parts
    for _, summary in engine.map(PieceScorer(corpus, scorer, selection), chosen):
        total.add(summary)
    if shard:
        return corpus_line(task, corpus, scorer, selection, str(path), total, shard, parts)
    return conclude_corpus(str(path), corpus, scorer, selection, total, {})


def merge(parts: list[Path], /, *, format: Literal["table", "json", "csv", "parquet"] = "table") -> None:
    """Merge the files of all shards of a scoring into its scores, the same that one machine gives.

    Parameters
    ----------
    parts
        The files that `histeval score ... --shard i/n --out FILE` wrote, all n of them.
    format
        A table for people; JSON Lines, CSV or Parquet for programs.
    """
    from histeval.cli import score_tables, show
    from histeval.runs.sharding import merge as merged

    results = merged(parts)
    if format == "json":
        for result in results:
            show.print_json(result.as_json())
    elif format == "csv":
        show.print_csv(show.score_rows(list(results)), show.COLUMNS)
    elif format == "parquet":
        show.print_parquet(show.score_rows(list(results)))
    else:
        score_tables.show_scores(list(results))
