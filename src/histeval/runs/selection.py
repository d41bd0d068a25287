"""Which documents a run is scored on: chosen by id and by attribute, in groups, and named where an id is misspelt."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from histeval.datasets.base import Dataset, Document
from histeval.datasets.identity import DocumentIds, composed
from histeval.errors import AnswersError, UsageError
from histeval.runs.answers import AnswerSet
from histeval.tasks.base import Scorer

NO_VALUE = "(none)"
"""The group of documents that do not have the attribute a breakdown is made by."""


@dataclass(frozen=True)
class Selection:
    """Which documents of a dataset are scored: a list of ids, and attributes with the value they must have."""

    documents: tuple[str, ...] | None = None
    where: Mapping[str, str] = field(default_factory=dict)
    unit: str | None = None

    def check(self, dataset: Dataset) -> None:
        """Raises UsageError for an id or attribute that the dataset does not have."""
        for name in self.documents or ():
            if name not in dataset.documents:
                raise UsageError(f"the dataset {dataset.name} has no document {name!r}")
        for key in self.where:
            known_attribute(dataset, key)

    def takes(self, document: Document) -> bool:
        """Whether a document is selected by its attributes."""
        return all(attribute(document, key) == value for key, value in self.where.items())


def attribute(document: Document, key: str) -> str | None:
    """An attribute of a document; `unit` and `document` are attributes too."""
    if key == "document":
        return document.id
    return document.attributes.get(key, document.unit if key == "unit" else None)


def known_attribute(dataset: Dataset, key: str) -> None:
    """Raises UsageError where no document has the attribute `key`."""
    if not any(attribute(document, key) is not None for document in dataset.documents.values()):
        names = sorted({name for document in dataset.documents.values() for name in document.attributes})
        raise UsageError(f"the dataset {dataset.name} has no attribute {key!r}; it has {', '.join([*names, 'unit'])}")


def is_listed(dataset: Dataset, scorer: Scorer, selection: Selection, chosen: Sequence[Document]) -> bool:
    """Whether documents were chosen one by one: they are fewer than the rules and attributes select."""
    whole = sum(
        document.truth is not None and selection.takes(document) and scorer.selects(document.truth)
        for document in dataset.documents.values()
    )
    return len(chosen) < whole


def under_known_ids(answers: AnswerSet, dataset: Dataset) -> AnswerSet:
    """Answers whose ids differ from those of documents only in how accents are stored, or in blanks and signs that
    names of files do not have, under the ids of the dataset; a note says so. No document gets a second answer."""
    given = dict.fromkeys(name for name, _ in answers.answers)
    unknown = [name for name in given if name not in dataset.documents]
    if not unknown:
        return answers
    ids = DocumentIds(dataset.documents)
    found = {name: ids.find(name) for name in unknown}
    taken = Counter([*found.values(), *(name for name in given if name in dataset.documents)])
    known = {name: known for name, known in found.items() if known is not None and taken[known] == 1}
    if not known:
        return answers
    first, its_id = next(iter(known.items()))
    alike = composed(first) == composed(its_id)  # to the eye they are one; the code points tell them apart
    note = (
        f"ids that differ from those of the dataset in accents, blanks or signs alone were matched: {len(known)}, "
        + (f"{first[:60]!a} as {its_id[:60]!a} say" if alike else f"{first[:60]!r} as {its_id[:60]!r} say")
    )
    renamed = {
        (known.get(name, name), repeat): replace(answer, document=known.get(name, name))
        for (name, repeat), answer in answers.answers.items()
    }
    subset = answers.subset if answers.subset is None else tuple(known.get(name, name) for name in answers.subset)
    return replace(answers, answers=renamed, subset=subset, notes=(*answers.notes, note))


def choose(
    dataset: Dataset, answers: AnswerSet, scorer: Scorer, selection: Selection
) -> tuple[list[Document], list[str]]:
    """The documents a run is scored on, and notes on what is left out."""
    asked = selection.documents if selection.documents is not None else answers.subset
    wanted = set(asked) if asked is not None else None
    notes: list[str] = []
    chosen: list[Document] = []
    without_truth = 0
    for document in dataset.documents.values():
        if (wanted is not None and document.id not in wanted) or not selection.takes(document):
            continue
        if document.truth is None:
            without_truth += 1
        elif scorer.selects(document.truth):
            chosen.append(document)
    if not chosen and without_truth:
        raise UsageError(
            f"no document of {dataset.name} that is selected has ground truth yet ({without_truth} wait for it), so "
            f"there is nothing to score for {answers.run}; `histeval check` says where to fill it in"
        )
    if not chosen:
        raise UsageError(
            f"no document of {dataset.name} is selected, so there is nothing to score for {answers.run}"
            + _values_there(dataset, selection)
        )
    if without_truth:
        notes.append(f"{without_truth} documents without ground truth were left out")
    ids = {document.id for document in chosen}
    unknown = sorted({name for name, _ in answers.answers if name not in dataset.documents})
    outside = {name for name, _ in answers.answers if name not in ids} - set(unknown)
    if unknown and not outside and len(unknown) == len({name for name, _ in answers.answers}):
        wanted_ids = ", ".join(repr(name[:60]) for name in list(dataset.documents)[:2])
        raise AnswersError(
            f"none of its {len(unknown)} answers is for a document of {dataset.name}",
            file=answers.run,
            item=likely(unknown[0], dataset.documents) or f"{unknown[0]!r:.80} is not a document",
            remedy=f"The ids of the dataset look like {wanted_ids}",
        )
    if unknown:
        shown = "; ".join(likely(name, dataset.documents) or repr(name[:60]) for name in unknown[:3])
        more = " ..." if len(unknown) > 3 else ""
        notes.append(
            f"{len(unknown)} answers for documents that {dataset.name} does not have were left out: {shown}{more}"
        )
    if outside:
        notes.append(f"{len(outside)} answers to documents outside the selection were left out")
    return chosen, notes


def likely(name: str, documents: Mapping[str, Document]) -> str:
    """`'letter1' (is it letter01?)`, where an unknown id is a known one but for its spelling; else empty.

    Case, blanks around it, leading zeros, a folder, a file ending, a page number and the way accents are stored are
    spelling.
    """
    wanted = _spelling(name)
    found = [known for known in documents if _spelling(known) == wanted] if wanted else []
    if not found:
        tail = [known for known in documents if wanted.isdigit() and _spelling(known).endswith(f" {wanted}")]
        found = tail if len(tail) == 1 else []
    return f"{name[:60]!r} (is it {found[0]!r}?)" if found else ""


def _spelling(name: str) -> str:
    base = unicodedata.normalize("NFC", name).strip().replace("\\", "/").rsplit("/", 1)[-1].casefold()
    base = re.sub(r"\.(jpe?g|png|tiff?|webp|jp2|json|xml|txt)$", "", base)
    base = re.sub(r"_p\d{1,4}$", "", base)
    words = re.findall(r"\d+|[^\W\d_]+", base)
    return " ".join(word.lstrip("0") or "0" if word.isdigit() else word for word in words)


def _values_there(dataset: Dataset, selection: Selection) -> str:
    """The values that the attributes asked for have, for a message."""
    said = []
    for key in selection.where:
        values = sorted({attribute(document, key) or NO_VALUE for document in dataset.documents.values()})
        said.append(f"{key} has the values {', '.join(values[:8])}{' ...' if len(values) > 8 else ''}")
    return f"; {'; '.join(said)}" if said else ""


def unit_of(document: Document, unit: str | None) -> str:
    if unit is None:
        return document.unit
    value = attribute(document, unit)
    if value is None:
        raise UsageError(f"the document {document.id!r} has no attribute {unit!r} to be its sampling unit")
    return value


def groups_of(documents: Sequence[Document], by: str | None) -> Iterator[tuple[dict[str, str], list[Document]]]:
    if by is None:
        yield {}, list(documents)
        return
    groups: dict[str, list[Document]] = {}
    for document in documents:
        groups.setdefault(attribute(document, by) or NO_VALUE, []).append(document)
    for value, part in groups.items():
        yield {by: value}, part
