"""Shards: one of n shares of a scoring, done wherever (a job of Slurm, say), and written to a file; `merge` makes of
all n files the scores that one machine would have given, bit for bit.

A file of a shard carries all that is needed to conclude: no dataset, no answers and no path are read to merge. It holds
a line `{"shard": ...}` for each run, followed, for answers to an ordinary dataset, by a line for each document of the
share with its truth, its outcomes and what its answers took. Files are untrusted: what is not as written here is
refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval._version import version
from histeval.datasets.base import Dataset
from histeval.datasets.files import atomic_write, make_folder, parse_json, read_lines
from histeval.errors import AnswersError, HistevalError, UsageError, printable
from histeval.runs.answers import AnswerSet
from histeval.runs.packing import (
    document_json,
    outcome_json,
    read_document,
    read_outcome,
    read_summary,
    spent_json,
    summary_json,
)
from histeval.runs.parts import Corpus, Piece, digest_of
from histeval.runs.score import MISSING, Outcome, Outcomes, Score, Scorers, conclude, score_pairs
from histeval.runs.selection import Selection, choose, is_listed, known_attribute
from histeval.runs.summary import Summary, conclude_corpus, empty
from histeval.tasks.base import Answer, RuleValue, Scorer, Task
from histeval.tasks.registry import get_task

FORMAT = 1
REMEDY = "A file of a shard is written by `histeval score ... --shard i/n --out FILE`"


def parse_shard(text: str) -> tuple[int, int]:
    """`i/n` as two numbers, 1 <= i <= n <= 100 000; raises UsageError for anything else.

    >>> parse_shard("2/5")
    (2, 5)
    """
    number, slash, of = text.partition("/")
    if slash and number.isascii() and of.isascii() and number.isdigit() and of.isdigit() and len(text) < 20:
        shard = int(number), int(of)
        if 1 <= shard[0] <= shard[1] <= 100_000:
            return shard
    raise UsageError(f"--shard takes i/n with i from 1 to n, such as 2/5, not {text!r}")


def shard_lines(
    task: Task,
    dataset: Dataset,
    found: Iterable[AnswerSet],
    shard: tuple[int, int],
    protocol: str = "documented",
    rules: Mapping[str, RuleValue] | None = None,
    selection: Selection | None = None,
    by: str | None = None,
    outcomes_of: Outcomes = score_pairs,
) -> Iterator[dict[str, Any]]:
    """The lines of a shard's file for runs over an ordinary dataset: its share of the documents of each run, scored."""
    selection = selection or Selection()
    selection.check(dataset)
    if by is not None:
        known_attribute(dataset, by)
    scorers = Scorers(task, dataset, protocol, rules or {})
    for answers in found:
        scorer = scorers.for_run(answers)
        chosen, notes = choose(dataset, answers, scorer, selection)
        share = list(enumerate(chosen))[shard[0] - 1 :: shard[1]]
        repeats = answers.repeats
        given = [[answers.answers.get((document.id, repeat)) for repeat in repeats] for _, document in share]
        pairs = [
            (document.truth, answer or Answer(document.id, error=MISSING))
            for (_, document), row in zip(share, given, strict=True)
            for answer in row
        ]
        outcomes = iter(outcomes_of(scorer, pairs))
        yield {
            "shard": list(shard),
            "kind": "run",
            **_header(task, dataset, scorer, selection, answers.run, answers.facts),
            "by": by,
            "notes": notes,
            "documents": len(chosen),
            "listed": is_listed(dataset, scorer, selection, chosen),
            "repeats": list(repeats),
        }
        for (place, document), row in zip(share, given, strict=True):
            yield {
                "place": place,
                "document": document_json(document),
                "answers": [None if answer is None else spent_json(answer) for answer in row],
                "outcomes": [outcome_json(next(outcomes)) for _ in repeats],
            }


def corpus_line(
    task: Task,
    corpus: Corpus,
    scorer: Scorer,
    selection: Selection,
    run: str,
    summary: Summary,
    shard: tuple[int, int],
    found: Sequence[Piece],
) -> dict[str, Any]:
    """The line of a shard's file for its share of a corpus in parts, of which `found` are all pieces: shards that saw
    other parts would leave some out, or score them twice."""
    header = _header(task, corpus.dataset, scorer, selection, run, {})
    summed = {"parts": digest_of(found), "summary": summary_json(summary)}
    return {"shard": list(shard), "kind": "corpus", **header, **summed}


def write_lines(path: Path, lines: Iterable[Mapping[str, Any]]) -> int:
    """Writes a shard's file whole or not at all; gives the number of its lines. Raises OutputError."""
    written = [json.dumps(line, ensure_ascii=True, default=str) for line in lines]
    make_folder(path.parent)
    atomic_write(path, "\n".join(written) + "\n")
    return len(written)


def merge(paths: Sequence[Path]) -> Iterator[Score]:
    """The scores of the runs in the files of all n shards, in the order of the first file.

    Raises AnswersError for a file that is no shard's or does not belong to the others, UsageError where shards are
    missing or come twice.
    """
    sections: dict[str, list[_Section]] = {}
    for path in paths:
        for section in _sections(path):
            sections.setdefault(section.header["run"], []).append(section)
    if not sections:
        raise UsageError("there is no shard to merge")
    for run, found in sections.items():
        _complete(run, found)
        try:
            if found[0].header["kind"] == "corpus":
                yield _merged_corpus(found)
            else:
                yield from _merged_run(found)
        except HistevalError:
            raise
        except Exception as fault:  # whatever an edited file can hold
            raise AnswersError(
                f"is no shard of {run!r} ({type(fault).__name__})", file=found[0].file, remedy=REMEDY
            ) from None


@dataclass
class _Section:
    """The header of a run in one file, and its documents."""

    file: Path
    header: dict[str, Any]
    lines: list[dict[str, Any]] = field(default_factory=list)


def _sections(path: Path) -> list[_Section]:
    found: list[_Section] = []
    for number, text in read_lines(path, error=AnswersError, limit=1 << 30):
        if not text.strip():
            continue
        value, _ = parse_json(text, path, error=AnswersError, line=number)
        if isinstance(value, dict) and "shard" in value:
            _check_header(value, path, number)
            found.append(_Section(path, value))
        elif isinstance(value, dict) and found and found[-1].header["kind"] == "run":
            found[-1].lines.append(value)
        else:
            raise AnswersError("is no line of a shard", file=path, line=number, remedy=REMEDY)
    if not found:
        raise AnswersError("is empty", file=path, remedy=REMEDY)
    return found


def _check_header(value: dict[str, Any], path: Path, number: int) -> None:
    shard, run = value["shard"], value.get("run")
    good = isinstance(shard, list) and len(shard) == 2 and all(type(item) is int for item in shard)
    if not good or value.get("kind") not in ("run", "corpus") or not isinstance(run, str):
        raise AnswersError("is no header of a shard", file=path, line=number, remedy=REMEDY)
    if not 1 <= shard[0] <= shard[1] <= 100_000:
        raise AnswersError(f"says it is shard {shard[0]} of {shard[1]}", file=path, line=number, remedy=REMEDY)
    if value.get("format") != FORMAT or value.get("histeval") != version():
        made = str(value.get("histeval"))[:40]
        raise AnswersError(f"was made by histeval {made}, and this is {version()}", file=path, remedy="Use one version")


def _complete(run: str, found: list[_Section]) -> None:
    first, run = found[0], printable(run, 200)
    _, of = first.header["shard"]
    seen: dict[int, Path] = {}
    alike = (
        "kind",
        "task",
        "protocol",
        "description",
        "authorities",
        "dataset",
        "selection",
        "by",
        "documents",
        "repeats",
    )
    for section in found:
        number, total = section.header["shard"]
        if total != of:
            raise AnswersError(f"is one of {total} shards, and {first.file} one of {of}", file=section.file)
        if number in seen:
            raise UsageError(f"shard {number}/{of} of {run} comes twice: {seen[number]} and {section.file}")
        seen[number] = section.file
        if section.header.get("parts") != first.header.get("parts"):
            what = f"saw other parts of the corpus than {first.file} (one came, went, grew or has another name)"
            raise AnswersError(what, file=section.file, remedy="Make all shards again, over the same parts")
        for key in alike:
            if section.header.get(key) != first.header.get(key):
                raise AnswersError(f"has another {key} than {first.file}, so they are not merged", file=section.file)
    missing = [number for number in range(1, of + 1) if number not in seen]
    if missing:
        named = ", ".join(map(str, missing[:10])) + (" ..." if len(missing) > 10 else "")
        raise UsageError(f"of the {of} shards of {run} these are missing: {named}")


def _merged_run(found: list[_Section]) -> Iterator[Score]:
    header = found[0].header
    scorer, dataset, selection = _opened(header)
    lines = sorted((line for section in found for line in section.lines), key=lambda line: int(line["place"]))
    if [line["place"] for line in lines] != list(range(header["documents"])):
        raise AnswersError(f"lacks documents of {header['run']!r}", file=found[0].file, remedy="Make the shard again")
    documents = [read_document(line["document"]) for line in lines]
    repeats = header["repeats"]
    answers: dict[tuple[str, int], Answer] = {}
    outcomes: list[list[Outcome]] = []
    for document, line in zip(documents, lines, strict=True):
        for repeat, spent in zip(repeats, line["answers"], strict=True):
            if spent is not None:
                answers[document.id, repeat] = Answer(document.id, repeat=repeat, **spent)
        outcomes.append([read_outcome(outcome, len(scorer.columns)) for outcome in line["outcomes"]])
    run = AnswerSet(header["run"], answers or {("", repeat): Answer("") for repeat in repeats}, facts=header["facts"])
    ordered = [row[position] for position in range(len(repeats)) for row in outcomes]
    listed = header["listed"] is True
    notes, by = header["notes"], header["by"]
    yield from conclude(dataset, run, scorer, selection, documents, notes, ordered, by, listed=listed)


def _merged_corpus(found: list[_Section]) -> Score:
    header = found[0].header
    scorer, dataset, selection = _opened(header)
    total = empty(scorer)
    for section in found:
        total.add(read_summary(section.header["summary"], len(scorer.columns)))
    corpus = Corpus(dataset, _no_truth)
    return conclude_corpus(header["run"], corpus, scorer, selection, total, header["facts"])


def _no_truth(*_: Any) -> Any:
    raise NotImplementedError("a merged corpus reads no rows")


def _header(
    task: Task, dataset: Dataset, scorer: Scorer, selection: Selection, run: str, facts: Mapping[str, Any]
) -> dict[str, Any]:
    from pydantic import TypeAdapter

    from histeval.tasks.description import Context

    context = TypeAdapter(Context).dump_python(dataset.context, mode="json")
    return {
        "format": FORMAT,
        "histeval": version(),
        "task": task.name,
        "run": run,
        "protocol": scorer.protocol.long,
        "description": context["description"],
        "authorities": context["authorities"],
        "dataset": [dataset.name, dataset.fingerprint],
        "selection": {
            "documents": None if selection.documents is None else list(selection.documents),
            "where": dict(selection.where),
            "unit": selection.unit,
        },
        "facts": dict(facts),
    }


def _opened(header: Mapping[str, Any]) -> tuple[Scorer, Dataset, Selection]:
    from pydantic import TypeAdapter

    from histeval.tasks.description import Context

    task = get_task(str(header["task"]))
    given = {"description": header["description"], "authorities": header["authorities"]}
    context = TypeAdapter(Context).validate_python(given)
    scorer = task.scorer(context, task.parse_protocol(str(header["protocol"])))
    name, fingerprint = header["dataset"]
    dataset = Dataset(task.name, str(name), Path(), context.description, {}, context.authorities, str(fingerprint))
    chosen = header["selection"]
    documents = None if chosen["documents"] is None else tuple(map(str, chosen["documents"]))
    return scorer, dataset, Selection(documents, dict(chosen["where"]), chosen["unit"])
