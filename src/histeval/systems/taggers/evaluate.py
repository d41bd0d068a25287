"""The honest score on one's own books: train on all groups but some, tag those, until each was left out once."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from histeval.datasets import Dataset, load_dataset
from histeval.datasets.files import atomic_write, check_writable, make_folder
from histeval.errors import UsageError
from histeval.runs.library import score
from histeval.runs.score import Score
from histeval.systems.taggers.examples import by_attribute
from histeval.systems.taggers.tagger import Tagger, load_tagger
from histeval.systems.taggers.train import Report, train

Records = dict[str, dict[str, Any]]
"""Records by document id."""


@dataclass(frozen=True)
class Fold:
    """One training without some groups: their names, the ids of their documents, and the records of each text.

    `notes` are what the tagger has to say of its answers.
    """

    left_out: tuple[str, ...]
    documents: tuple[str, ...]
    records: tuple[Records, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Evaluation:
    """Scores of the documents that were left out, pooled over all trainings: one for each text, in their order."""

    texts: tuple[str, ...]
    scores: tuple[Score, ...]
    folds: tuple[tuple[str, ...], ...]
    answers: tuple[Path, ...] = ()
    notes: tuple[str, ...] = ()


def evaluate(
    path: Path | str,
    *,
    leave_out: str = "book",
    folds: int | None = None,
    text: Sequence[str] = ("reference",),
    split: Sequence[str] = ("all",),
    protocol: str = "documented",
    rules: Mapping[str, Any] | None = None,
    out: Path | str | None = None,
    report: Report | None = None,
    **options: Any,
) -> Evaluation:
    """Score a tagger on a dataset by leaving out one group after another, the groups being the values of an attribute.

    `folds` joins the groups to that many of like size, where one training a group is too many. `split` names the parts
    that take part, so that a test part can stay unseen. With `out` the answers are written there, one file a text.
    `options` are those of `train`. Raises UsageError where there are fewer than two groups.
    """
    if out:
        check_writable(Path(out))
    datasets = [select_splits(load_dataset("directories", path, text=name, split="all"), split) for name in text]
    parts = fold_groups(by_attribute(datasets[0], leave_out), folds)
    pooled: list[Records] = [{} for _ in datasets]
    notes: dict[str, None] = {}
    for fold in leave_groups_out(datasets, parts, report=report, **options):
        notes |= dict.fromkeys(fold.notes)
        for records, found in zip(pooled, fold.records, strict=True):
            records.update(found)
    scores = tuple(
        score("directories", dataset, records, protocol=protocol, rules=rules)
        for dataset, records in zip(datasets, pooled, strict=True)
    )
    answers = (
        tuple(write_answers(Path(out) / f"{name}.jsonl", found) for name, found in zip(text, pooled, strict=True))
        if out
        else ()
    )
    return Evaluation(tuple(text), scores, tuple(names for names, _ in parts), answers, tuple(notes))


def select_splits(dataset: Dataset, splits: Sequence[str]) -> Dataset:
    """The documents of some parts of a split (`train`, `dev` ...); all of them for `all`."""
    if "all" in splits:
        return dataset
    kept = {key: item for key, item in dataset.documents.items() if item.attributes.get("split") in splits}
    if not kept:
        raise UsageError(f"{dataset.name} has no documents of split {', '.join(splits)}")
    return replace(dataset, documents=kept)


def fold_groups(
    groups: Mapping[str, Sequence[str]], count: int | None = None
) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    """(names, ids) of the groups to leave out together: each alone, or joined to `count` parts of like size.

    Joining is that of scikit-learn's GroupKFold: the largest group first, each to the part that is smallest so far.

    >>> fold_groups({"a": ["1", "2"], "b": ["3"], "c": ["4"]}, 2)
    [(('a',), ('1', '2')), (('b', 'c'), ('3', '4'))]
    """
    if len(groups) < 2:
        raise UsageError("leaving groups out needs two groups or more; choose another attribute with --leave-out")
    if count is None:
        return [((name,), tuple(ids)) for name, ids in groups.items()]
    if not 2 <= count <= len(groups):
        raise UsageError(f"there are {len(groups)} groups; choose --folds between 2 and {len(groups)}")
    parts: list[tuple[list[str], list[str]]] = [([], []) for _ in range(count)]
    for name in sorted(groups, key=lambda name: (-len(groups[name]), name)):
        names, ids = min(parts, key=lambda part: len(part[1]))
        names.append(name)
        ids += groups[name]
    return [(tuple(names), tuple(ids)) for names, ids in parts]


def leave_groups_out(
    datasets: Sequence[Dataset],
    parts: Sequence[tuple[Sequence[str], Sequence[str]]],
    *,
    report: Report | None = None,
    **options: Any,
) -> Iterator[Fold]:
    """Train without each part in turn and tag it, in every text."""
    for number, (names, ids) in enumerate(parts, start=1):
        if report is not None:
            report(f"{number} of {len(parts)}: without {', '.join(names)}")
        with left_out_tagger(datasets, ids, report=report, **options) as tagger:
            records = tuple(tag_documents(tagger, dataset, ids) for dataset in datasets)
            notes = notes_of(tagger)
        yield Fold(tuple(names), tuple(ids), records, notes)


@contextmanager
def left_out_tagger(datasets: Sequence[Dataset], ids: Sequence[str], **options: Any) -> Iterator[Tagger]:
    """A tagger trained on all documents but `ids`, for as long as the block lasts."""
    out = set(ids)
    kept = [
        replace(item, documents={key: document for key, document in item.documents.items() if key not in out})
        for item in datasets
    ]
    with tempfile.TemporaryDirectory(prefix="histeval-") as place:
        folder = Path(place) / "model"
        train(kept, folder, **options)
        yield load_tagger(folder)


def notes_of(tagger: Tagger) -> tuple[str, ...]:
    """What should be known of a tagger's answers, once they were given."""
    from histeval.systems.taggers.system import TaggerSystem

    return TaggerSystem(str(tagger.settings["system"]), tagger).notes


def tag_documents(tagger: Tagger, dataset: Dataset, ids: Sequence[str]) -> Records:
    """Records of some documents of a dataset, as the system would answer them."""
    from histeval.systems.taggers.system import TaggerSystem

    documents = [dataset.documents[key] for key in ids if key in dataset.documents]
    system = TaggerSystem(str(tagger.settings["system"]), tagger)
    return {answer.document: answer.record for answer in system.answer_many(documents)}


def write_answers(path: Path, records: Mapping[str, Any]) -> Path:
    """Records as a file of answers that `histeval score` reads."""
    make_folder(path.parent)
    lines = (json.dumps({"document": key, "record": record}, ensure_ascii=False) for key, record in records.items())
    atomic_write(path, "".join(f"{line}\n" for line in lines))
    return path
