"""The tables of docs/protocols.md: three published runs under each protocol, and what each rule changes.

    python benchmarks/protocol_differences.py PUBLISHED_DATA [--write docs/protocols.md]

PUBLISHED_DATA is the folder that holds `rise/` and `recorded_answers/`. Without `--write` the tables are printed; with
it they replace what stands between the marks `<!-- table NAME -->` and `<!-- end -->` of that file.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from histeval.datasets import Dataset, load_dataset
from histeval.errors import UsageError
from histeval.runs import AnswerSet, open_answers, score_paths
from histeval.tasks import get_task
from histeval.tasks.base import Answer, DocumentScore, Protocol, Rule, Scorer, Task

PROTOCOLS = ("documented", "published", "corrected")
COLLECTIONS = {"letters": "business_letters", "manuscripts": "medieval_manuscripts"}
RUNS = {
    "T0017": ("letters", "2025-04-01/T0017"),
    "T0416": ("letters", "2025-11-25/T0416"),
    "T0277": ("manuscripts", "2026-01-26/T0277"),
}
RECORDED = {"letters": "letters", "manuscripts": "medieval"}
FIRST = {"published": ("average", "reading"), "corrected": ("pairing", "only_in_answer", "cer_text", "cer_cap")}
"""Where rules build on each other, the order in which they are changed."""


@dataclass(frozen=True)
class Scored:
    """A run under one protocol: its scorer, its rows and the values of its metrics."""

    scorer: Scorer
    rows: Mapping[str, DocumentScore]
    values: Mapping[str, float | None]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--write", type=Path)
    options = parser.parse_args()
    tables: dict[str, str] = {}
    for name, (task, run) in RUNS.items():
        tables[f"{name} protocols"] = "\n".join(protocol_table(options.data, task, run))
        for protocol in PROTOCOLS[1:]:
            tables[f"{name} {protocol}"] = "\n".join(step_table(options.data, task, run, protocol))
    for task in COLLECTIONS:
        tables[f"{task} rules"] = "\n".join(rule_table(options.data, task))
    if options.write is None:
        print("\n\n".join(f"{name}\n\n{table}" for name, table in tables.items()))
        return
    text = options.write.read_text(encoding="utf-8")
    for name, table in tables.items():
        marked = re.compile(rf"(<!-- table {re.escape(name)} -->\n).*?(\n<!-- end -->)", re.DOTALL)
        if not marked.search(text):
            raise SystemExit(f"{options.write} has no place for the table {name!r}")
        text = marked.sub(lambda match, table=table: f"{match[1]}\n{table}\n{match[2]}", text)
    options.write.write_text(text, encoding="utf-8")


def dataset_of(data: Path, task: str) -> Dataset:
    return _dataset(data / "rise/benchmarks" / COLLECTIONS[task], task)


@cache
def _dataset(folder: Path, task: str) -> Dataset:
    return load_dataset(task, folder)


@cache
def recorded(data: Path, task: str) -> list[AnswerSet]:
    return open_answers(data / "recorded_answers" / RECORDED[task] / "runs.jsonl", dataset_of(data, task))


def answers_of(data: Path, task: str, run: str) -> AnswerSet:
    return open_answers(data / "rise/results" / run, dataset_of(data, task))[0]


def scored(dataset: Dataset, answers: AnswerSet, protocol: Protocol) -> Scored:
    scorer = scorer_of(dataset, protocol)
    rows = {}
    for document in dataset.documents.values():
        if document.truth is None or not scorer.selects(document.truth):
            continue
        if answers.subset is not None and document.id not in answers.subset:
            continue
        answer = answers.answers.get((document.id, 0), Answer(document.id, error="missing"))
        row = scorer.score(document.truth, scorer.read(answer))
        if row is not None:
            rows[document.id] = row
    sums = np.sum([row.counts for row in rows.values()], axis=0)
    return Scored(scorer, rows, scorer.values(list(rows.items()), sums))


_scorers: dict[tuple[str, str], Scorer] = {}


def scorer_of(dataset: Dataset, protocol: Protocol) -> Scorer:
    key = (dataset.name, protocol.long)
    if key not in _scorers:
        _scorers[key] = get_task(dataset.task).scorer(dataset.context, protocol)
    return _scorers[key]


# --- the three protocols ------------------------------------------------------------------------------------------


def protocol_table(data: Path, task: str, run: str) -> Iterator[str]:
    """One row a protocol: the headline metrics with their intervals, and the counts behind them."""
    dataset = dataset_of(data, task)
    results = [
        next(iter(score_paths(get_task(task), dataset, [data / "rise/results" / run], protocol)))
        for protocol in PROTOCOLS
    ]
    first = results[0].scorer
    shown = [*first.headline, *(["cer_corpus", "wer"] if task == "manuscripts" else [])]
    fields = getattr(first, "headline_fields", ())
    yield row_of(["protocol", *shown, *(f"{field} TP/FP/FN" for field in fields), "documents", "failed"])
    yield row_of(["---"] * (3 + len(shown) + len(fields)))
    for result in results:
        cells = [result.scorer.protocol.name]
        for name in shown:
            interval = result.intervals[name]
            cells.append(f"{number(result.values[name])} [{number(interval.low)}, {number(interval.high)}]")
        sums = dict(zip(result.scorer.columns, result.tables[0].sums().tolist(), strict=True))
        cells += ["/".join(str(sums[f"{field}_{kind}"]) for kind in ("tp", "fp", "fn")) for field in fields]
        yield row_of([*cells, str(result.documents), str(result.failed)])


# --- from documented to another protocol, one rule after the other ------------------------------------------------


def step_table(data: Path, task: str, run: str, target: str) -> Iterator[str]:
    """From `documented` to `target`, one rule after the other, so that the last row is the value under `target`."""
    dataset, answers, kind = dataset_of(data, task), answers_of(data, task, run), get_task(task)
    end = scored(dataset, answers, kind.protocol(target))
    before = scored(dataset, answers, kind.protocol("documented"))
    headline = before.scorer.headline
    yield row_of(["rule", "documented", target, *headline, "documents changed", "shown by", "before", "after"])
    yield row_of(["---"] * (7 + len(headline)))
    yield row_of(["(none)", "", "", *(number(before.values[name]) for name in headline), "", "", "", ""])
    rules: dict[str, Any] = {}
    for rule in in_order(kind, target):
        rules[rule.name] = getattr(rule, target)
        after = scored(dataset, answers, kind.protocol("documented", {k: Rule.write(v) for k, v in rules.items()}))
        example, count = difference(before, after, task)
        cells = [f"`{rule.name}`", Rule.write(rule.documented), Rule.write(getattr(rule, target))]
        yield row_of([*cells, *(number(after.values[name]) for name in headline), str(count), *example])
        before = after
    for name in headline:
        if before.values[name] != end.values[name]:
            raise SystemExit(f"{run}: the rules lead to {name} {before.values[name]}, {target} is {end.values[name]}")


def in_order(task: Task, target: str) -> list[Rule]:
    differing = [rule for rule in task.rules if rule.documented != getattr(rule, target)]
    first = FIRST[target]
    return sorted(differing, key=lambda rule: first.index(rule.name) if rule.name in first else len(first))


# --- each rule alone, over all recorded runs ----------------------------------------------------------------------


def rule_table(data: Path, task: str) -> Iterator[str]:
    """Each other value of each rule, alone against `documented`, over all recorded runs."""
    dataset, kind, runs = dataset_of(data, task), get_task(task), recorded(data, task)
    plain = {run.run: scored(dataset, run, protocol_for(kind, run, {})) for run in runs}
    yield row_of(["rule", "documented", "set to", "runs changed", "documents changed", "shown by", "before", "after"])
    yield row_of(["---"] * 8)
    for rule in kind.rules:
        for value in others(rule):
            changed = documents = 0
            example: Sequence[str] | None = None
            for run in runs:
                try:
                    protocol = protocol_for(kind, run, {rule.name: Rule.write(value)})
                except UsageError:  # together with the run's own rules it would leave no document
                    continue
                after = scored(dataset, run, protocol)
                found, count = difference(plain[run.run], after, task)
                documents += count
                headline = after.scorer.headline
                changed += any(plain[run.run].values[name] != after.values[name] for name in headline)
                if count and example is None:
                    example = [f"{run.run} {found[0]}", *found[1:]]
            cells = [f"`{rule.name}`", Rule.write(rule.documented), Rule.write(value), str(changed), str(documents)]
            yield row_of([*cells, *(example or ("", "", ""))])


def protocol_for(task: Task, run: AnswerSet, rules: Mapping[str, str]) -> Protocol:
    brought = {name: value for name, value in run.rules.items() if value}
    return task.protocol("documented", {**brought, **rules})


def others(rule: Rule) -> list[Any]:
    """The values a rule is tried at, beside the documented one."""
    values: list[Any] = {"switch": [True, False], "choice": list(rule.choices)}.get(rule.kind, [])
    values = [*values, rule.published, rule.corrected]
    if rule.name == "fields":
        values = [("send_date",)]
    return [value for place, value in enumerate(values) if value != rule.documented and value not in values[:place]]


# --- what changed -------------------------------------------------------------------------------------------------


def difference(before: Scored, after: Scored, task: str) -> tuple[tuple[str, str, str], int]:
    """The document and field that changed most, in words before and after, and how many documents changed."""
    find = letter_changes if task == "letters" else page_changes
    best: tuple[float, tuple[str, str, str]] = (0.0, ("", "", ""))
    count = 0
    for name in before.rows.keys() | after.rows.keys():
        if name not in after.rows or name not in before.rows:
            kept, gone = ("scored", "left out") if name in before.rows else ("left out", "scored")
            found = [(1.0, (name, kept, gone))]
        else:
            found = [(size, (f"{name} {field}", old, new)) for size, field, old, new in
                     find(before.rows[name], after.rows[name])]  # fmt: skip
        count += bool(found)
        best = max([best, *found], key=lambda item: (item[0], [-ord(c) for c in item[1][0]]))
    return best[1], count


def letter_changes(before: DocumentScore, after: DocumentScore) -> Iterator[tuple[float, str, str, str]]:
    for field, old in before.fields.items():
        new = after.fields[field]
        sizes = [abs(old[kind] - new[kind]) for kind in ("tp", "fp", "fn")]
        if field != "letter_title" and any(sizes):
            yield sum(sizes) + 10 * sizes[0], field, in_words(old, new), in_words(new, old)


def in_words(shown: Mapping[str, Any], other: Mapping[str, Any]) -> str:
    """Counts and, of the reasons, those that the other side does not have."""
    reasons = [
        f"“{clip(reason['name'])}” {reason['code']}" + (f": {clip(reason['why'], 70)}" if reason["why"] else "")
        for reason in shown["reasons"]
        if reason not in other["reasons"]
    ]
    return f"{shown['tp']}/{shown['fp']}/{shown['fn']}" + "".join(f"; {reason}" for reason in reasons[:2])


def page_changes(before: DocumentScore, after: DocumentScore) -> Iterator[tuple[float, str, str, str]]:
    for field in [*before.fields, *(field for field in after.fields if field not in before.fields)]:
        old, new = before.fields.get(field), after.fields.get(field)
        if old is None or new is None:
            yield 2.0, field, text_in_words(old), text_in_words(new)
        elif (old["fuzzy"], old["cer"]) != (new["fuzzy"], new["cer"]):
            size = abs(old["fuzzy"] - new["fuzzy"]) + abs(old["cer"] - new["cer"])
            yield min(size, 100.0), field, text_in_words(old), text_in_words(new)


def text_in_words(text: Mapping[str, Any] | None) -> str:
    if text is None:
        return "not scored"
    return f"fuzzy {text['fuzzy']:.4f}, CER {text['cer']:.4f} ({text['edits']} of {text['length']})"


def clip(text: str, length: int = 45) -> str:
    text = " ".join(text.split()).replace("|", "\\|").replace("<", "&lt;")
    return text if len(text) <= length else text[: length - 1] + "…"


def number(value: float | None) -> str:
    return "" if value is None else f"{value:.4f}"


def row_of(cells: Sequence[str]) -> str:
    return "| " + " | ".join(cells) + " |"


if __name__ == "__main__":
    main()
