"""A dataset: documents on disk with ground truth and a description."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval.tasks.description import AuthorityEntry, Context, Description


@dataclass(frozen=True, slots=True)
class Document:
    """What is asked and scored as one.

    `truth` is the task's ground truth (`histeval.tasks.truth`, or an `Entry`), None where there is none yet; `unit`
    names the sampling unit it was drawn with; `images` are the pages in natural order; `text` is what a system reads
    where the task starts from text.
    """

    id: str
    truth: Any
    unit: str
    attributes: Mapping[str, str] = field(default_factory=dict)
    images: tuple[Path, ...] = ()
    text: str | None = None


@dataclass(frozen=True)
class Dataset:
    """Documents by id, in file order. `fingerprint` is the SHA-256 (hexadecimal) of the ground truth as read;
    `notes` says what was repaired or left out while reading."""

    task: str
    name: str
    path: Path
    description: Description
    documents: Mapping[str, Document]
    authorities: Mapping[str, tuple[AuthorityEntry, ...]]
    fingerprint: str
    notes: tuple[str, ...] = ()

    @property
    def context(self) -> Context:
        """What scoring needs to know beside a document."""
        return Context(self.description, self.authorities)


@dataclass(frozen=True, slots=True, order=True)
class Fault:
    """Something wrong with a dataset: file (relative to the dataset), line (from 1, or None), what, and the remedy.

    `error` faults make `check` end with status 1; the others are worth knowing only.
    """

    file: str
    line: int | None
    what: str
    remedy: str
    item: str = ""
    error: bool = True
