"""`histeval score` and `histeval compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from histeval.cli.options import DEFAULTS, Names, ScoringOptions


def score(
    task: str,
    dataset: Path,
    answers: list[Path],
    /,
    *,
    options: ScoringOptions = DEFAULTS,
    by: str | None = None,
    metrics: Names = None,
    per_document: Annotated[bool, Parameter(negative=())] = False,
    format: Literal["table", "json", "csv", "parquet"] = "table",
    engine: Literal["local", "ray"] | None = None,
    address: str | None = None,
    workers: int | None = None,
    shard: str | None = None,
    out: Path | None = None,
) -> None:
    """Score answers under a named protocol: every number with its interval, documents, failures and signature.

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    dataset
        The folder of the dataset.
    answers
        Run folders, published results folders, .jsonl files of answers or of many recorded runs, .conll or .tsv.
    by
        One line for each value of this attribute of the documents (signed, book, language ...).
    metrics
        Show these metrics in the table instead of the headline ones. Can be repeated.
    per_document
        JSON: add the counts, the failure and the fields of every document.
    format
        A table for people; JSON Lines, CSV or Parquet for programs.
    engine
        local spreads the answers over the cores of this machine, ray over a cluster (extra cluster).
    address
        The running Ray cluster (auto: the one this machine belongs to); else Ray is started on this machine.
    workers
        Processes, or cores of Ray (default: all).
    shard
        Only the i-th of n shares, as i/n; written to --out, for `histeval merge`.
    out
        The file of a shard.
    """
    from histeval.cli import scaling, show
    from histeval.cli.options import open_dataset
    from histeval.cli.score_tables import show_scores
    from histeval.errors import UsageError
    from histeval.runs.compare import no_metric
    from histeval.runs.parts import is_corpus
    from histeval.runs.score import score_paths

    if per_document and format != "json":
        raise UsageError("--per-document needs --format json")
    rules, chosen = options.rules, options.selection
    spread = any(option is not None for option in (engine, address, workers, shard, out)) or any(
        map(is_corpus, answers)
    )
    notes: tuple[str, ...] = ()
    if spread:
        asked = scaling.Asked(task, dataset, answers, options.protocol, rules, chosen, by, options.text, options.split)
        if per_document and any(map(is_corpus, answers)):
            raise UsageError("--per-document is for ordinary datasets: of a corpus in parts only sums are kept")
        with show.progress("scoring") as tell, scaling.engine_of(engine, workers, address, tell) as machines:
            if shard is not None or out is not None:
                scaling.write_shard(asked, machines, shard, out)
                return
            scores = iter(list(scaling.scores(asked, machines)))
    else:
        found, data = open_dataset(task, dataset, options.text, options.split)
        notes = data.notes
        scores = score_paths(found, data, answers, options.protocol, rules, chosen, by)
    if format == "json":
        for result in scores:
            show.print_json(result.as_json(per_document))
        return
    results = list(scores)
    if metrics:
        known = results[0].values
        for name in metrics:
            if name not in known:
                raise no_metric(name, known)
    if format == "csv":
        show.print_csv(show.score_rows(results), show.COLUMNS)
    elif format == "parquet":
        show.print_parquet(show.score_rows(results))
    else:
        show_scores(results, metrics, notes)


def compare(
    task: str,
    dataset: Path,
    answers: list[Path],
    /,
    *,
    baseline: str | None = None,
    all_pairs: Annotated[bool, Parameter(negative=())] = False,
    options: ScoringOptions = DEFAULTS,
    metrics: Names = None,
    format: Literal["table", "json", "csv"] = "table",
) -> None:
    """Compare systems on the same documents: differences with intervals, and p-values of a paired randomisation test.

    Every system is tested against the baseline (Holm); with --all-pairs every pair (step-down maximum statistic).

    Parameters
    ----------
    task
        letters, manuscripts or directories (or metadata, transcription, entities).
    dataset
        The folder of the dataset.
    answers
        Two or more runs, as `histeval score` takes them.
    baseline
        The run all others are compared with: its name as given, or its run_id (default: the first).
    all_pairs
        Compare every pair instead, with rank intervals.
    metrics
        Compare by these metrics (default: the headline ones). Can be repeated.
    format
        A table for people; JSON Lines or CSV for programs.
    """
    from histeval.cli import show
    from histeval.cli.options import open_dataset
    from histeval.cli.score_tables import show_comparison
    from histeval.runs.compare import PAIR_COLUMNS, compare_scores
    from histeval.runs.score import score_paths

    found, data = open_dataset(task, dataset, options.text, options.split)
    scores = list(score_paths(found, data, answers, options.protocol, options.rules, options.selection))
    result = compare_scores(scores, baseline=baseline, all_pairs=all_pairs, metrics=_chosen(metrics))
    if format == "json":
        for pair in result.pairs:
            show.print_json(pair.as_json())
    elif format == "csv":
        show.print_csv([pair.as_json() for pair in result.pairs], PAIR_COLUMNS)
    else:
        show_comparison(result)


def _chosen(metrics: Sequence[str] | None) -> tuple[str, ...] | None:
    return tuple(metrics) if metrics else None
