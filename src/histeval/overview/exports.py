"""The leaderboard for papers: CSV, Markdown, LaTeX and JSON, and the sentence that says how it was made."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from histeval._version import version
from histeval.overview.board import Board, Standing
from histeval.overview.cells import pretty
from histeval.overview.page import clean, counted

ENDINGS = ("csv", "md", "tex", "json")
_TEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
    "\"": r"\textquotedbl{}", "|": r"\textbar{}",
}  # fmt: skip


def rows_of(board: Board) -> list[dict[str, Any]]:
    """One row a system, the best first: ranks, mark, each headline metric with its interval, failures, cost."""
    rows = []
    for standing in board.standings:
        score, run = standing.score, standing.run
        row: dict[str, Any] = {
            "rank_best": standing.ranks[0],
            "rank_worst": standing.ranks[1],
            "like_best": standing.with_best,
            "p_against_best": standing.p,
            "run": run.key,
            "model": run.model,
            "provider": run.provider,
            "date": run.date,
        }
        for name in score.scorer.headline:
            row[name] = score.values[name]
            row[f"{name}_low"], row[f"{name}_high"] = score.intervals[name].low, score.intervals[name].high
        row |= {
            "documents": score.documents,
            "units": score.units,
            "failed": score.failed,
            "cost": score.spent("cost"),
            "seconds": score.spent("seconds"),
            "signature": str(score.signature),
        }
        rows.append(row)
    return rows


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> str:
    """Rows as CSV (RFC 4180). A missing value is an empty cell; text that a spreadsheet would run gets a quote."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\r\n")
    writer.writerow(columns)
    for row in rows:
        writer.writerow([_csv_value(row.get(column)) for column in columns])
    return out.getvalue()


def _csv_value(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        text = clean(value)
        return f"'{text}" if text[:1] in ("=", "+", "@", "\t") or (text[:1] == "-" and len(text) > 1) else text
    return "" if value is None else value


def exports(board: Board) -> dict[str, str]:
    """The four files by ending."""
    rows = rows_of(board)
    return {
        "csv": csv_text(rows, list(rows[0])),
        "md": markdown(board),
        "tex": latex(board),
        "json": json.dumps(
            {"methods": methods(board), "signature": str(board.first.signature), "systems": rows},
            ensure_ascii=True, allow_nan=False, indent=1,
        ) + "\n",
    }  # fmt: skip


def markdown(board: Board) -> str:
    """A Markdown table with intervals; what cannot be told apart from the best is marked with an asterisk."""
    metrics = board.first.scorer.headline
    head = ["Rank", "System", *(pretty(name) for name in metrics), "Failed", "Cost"]
    lines = ["| " + " | ".join(head) + " |", "| --- | --- |" + " ---: |" * (len(head) - 2)]
    for standing in board.standings:
        cells = [_rank(standing), _markdown(_name(standing)) + ("\\*" if standing.with_best else "")]
        cells += [_with_interval(standing, name) for name in metrics]
        lines.append("| " + " | ".join([*cells, *_last(standing)]) + " |")
    return "\n".join([*lines, "", f"\\* {LIKE_BEST}.", "", methods(board), "", f"`{_signature(board)}`", ""])


def latex(board: Board) -> str:
    """A LaTeX table for the package booktabs."""
    metrics = board.first.scorer.headline
    columns = "ll" + "r" * (len(metrics) + 2)
    head = ["Rank", "System", *(_tex(pretty(name)) for name in metrics), "Failed", "Cost"]
    lines = [
        "% needs \\usepackage{booktabs}",
        "\\begin{table}",
        f"\\caption{{{_tex(methods(board))} An asterisk: {LIKE_BEST}.}}",
        f"\\begin{{tabular}}{{{columns}}}",
        "\\toprule",
        " & ".join(head) + r" \\",
        "\\midrule",
    ]
    for standing in board.standings:
        mark = "$^{*}$" if standing.with_best else ""
        cells = [_rank(standing).replace("–", "--"), _tex(_name(standing)) + mark]
        cells += [_with_interval(standing, name).replace("–", "--") for name in metrics]
        lines.append(" & ".join([*cells, *(_tex(cell) for cell in _last(standing))]) + r" \\")
    return "\n".join([*lines, "\\bottomrule", "\\end{tabular}", f"% {_signature(board)}", "\\end{table}", ""])


LIKE_BEST = "the best, and what cannot be told apart from it"


def methods(board: Board) -> str:
    """How the numbers were made, as a sentence of a paper would say it."""
    score = board.first
    signature, dataset = score.signature, score.dataset
    title = dataset.description.title or dataset.name
    names = " and ".join(pretty(name) for name in score.scorer.headline[:2])
    help_text = board.metric.help
    systems = len(board.standings)
    overridden = score.scorer.protocol.overridden
    rules = f" with {', '.join(score.scorer.protocol.short.split(',')[1:])}" if overridden else ""
    where = "".join(f", {key} {value}" for key, value in sorted(signature.where.items()))
    sentences = [
        f"The answers of {counted(systems, 'system')} to {counted(score.documents, 'document')} of {title} "
        f"(ground truth {dataset.fingerprint[:6]}{where}) were scored with Histeval {version()} under the protocol "
        f"{score.scorer.protocol.name}{rules}, by {names}"
        + (f" ({pretty(board.metric.name)}: {help_text})." if help_text else "."),
        "Failed answers count as missed." if score.scorer.protocol.rules.get("failed_answers", "missed") == "missed"
        else "Failed answers are left out.",
        f"Brackets hold 95 % bootstrap intervals ({signature.resamples} resamples of {score.units} sampling units, "
        f"here the {signature.unit}; expanded percentile after Hesterberg 2015; seed {signature.seed}).",
    ]  # fmt: skip
    if systems > 1:
        sentences.append(
            "Every system was compared with the best by a paired randomisation test that swaps whole sampling units "
            f"({signature.resamples} swaps, Holm's correction for {systems - 1} "
            f"{'comparison' if systems == 2 else 'comparisons'}); rank intervals follow from the tests of all pairs "
            "(step-down maximum statistic, Westfall and Young 1993)."
        )
    return clean(" ".join(sentences)).replace("\n", " ")


def _signature(board: Board) -> str:
    """The signature on one line; a name in it ends neither a comment nor a code span."""
    return clean(board.first.signature).replace("\n", " ").replace("`", "'")


def _name(standing: Standing) -> str:
    return clean(standing.run.name).replace("\n", " ")


def _rank(standing: Standing) -> str:
    low, high = standing.ranks
    return str(low) if low == high else f"{low}–{high}"


def _with_interval(standing: Standing, name: str) -> str:
    value, interval = standing.score.values[name], standing.score.intervals[name]
    if value is None:
        return "–"
    if interval.low is None or interval.high is None:
        return f"{value:.3f}"
    return f"{value:.3f} [{interval.low:.3f}, {interval.high:.3f}]"


def _last(standing: Standing) -> list[str]:
    cost = standing.score.spent("cost")
    return [str(standing.score.failed), "–" if cost is None else f"${cost:.4f}"]


def _tex(text: str) -> str:
    """
    >>> _tex("gpt_4 & 100 %")
    'gpt\\\\_4 \\\\& 100 \\\\%'
    """
    return "".join(_TEX.get(c, c) for c in clean(text).replace("\n", " "))


def _markdown(text: str) -> str:
    """Text as it stands in a cell of a Markdown table, markup and HTML inert."""
    safe = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join("\\" + c if c in "\\`*_{}[]()#+!|~" else c for c in safe)
