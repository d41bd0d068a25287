"""What every reader does last: attributes, sampling units, images and the fingerprint make documents a dataset."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from histeval.datasets.base import Dataset, Document
from histeval.datasets.files import natural_key
from histeval.datasets.fingerprint import fingerprint
from histeval.datasets.identity import DocumentIds
from histeval.datasets.layout import Folder
from histeval.datasets.tables import read_table
from histeval.errors import DatasetError
from histeval.tasks.description import AuthorityEntry, Description


@dataclass
class Draft:
    """A document as a reader found it; `unit` is empty where the description's rule gives it."""

    id: str
    truth: Any
    attributes: dict[str, str] = field(default_factory=dict)
    text: str | None = None
    unit: str = ""


def assemble(
    folder: Folder,
    description: Description,
    drafts: Sequence[Draft],
    *,
    authorities: Mapping[str, tuple[AuthorityEntry, ...]] | None = None,
    notes: Sequence[str] = (),
    with_images: bool = True,
) -> Dataset:
    """The dataset of some documents, in natural order of their ids where they come from files.

    Where the folder has a dataset.toml, images without truth become documents without truth: a dataset may grow its
    truth document by document. Raises DatasetError where there is no document at all.
    """
    settings, notes = folder.settings, list(notes)
    images = folder.images() if with_images else {}
    drafts = list(drafts)
    ids = DocumentIds(draft.id for draft in drafts)
    stored = {name: ids.find_accents(name) or name for name in images}
    images = {stored[name]: paths for name, paths in images.items()}
    if settings is not None and with_images:
        known = {draft.id for draft in drafts}
        waiting = [Draft(name, None) for name in sorted(images, key=natural_key) if name not in known]
        drafts += waiting
        if waiting:
            notes.append(f"{len(waiting)} documents have images and no ground truth yet")
    if not drafts:
        raise DatasetError(
            f"holds no documents for {description.task}", file=folder.path, remedy="See docs/datasets.md"
        )
    if settings is not None and settings.attributes_file:
        _add_attributes(drafts, folder.path / settings.attributes_file, notes)
    if len(description.languages) == 1:
        for draft in drafts:
            draft.attributes.setdefault("language", description.languages[0])
    documents = {
        draft.id: Document(
            draft.id,
            draft.truth,
            draft.unit or _unit(draft, description),
            draft.attributes,
            images.get(draft.id, ()),
            draft.text,
        )
        for draft in drafts
    }
    alone = sum(document.unit == document.id for document in documents.values())
    if alone and description.unit not in ("document", "page"):
        notes.append(f"{alone} documents name no {description.unit}; each of them is a sampling unit by itself")
    return Dataset(
        task=description.task,
        name=description.name,
        path=folder.path,
        description=description,
        documents=documents,
        authorities=dict(authorities or {}),
        fingerprint=fingerprint(((draft.id, draft.truth) for draft in drafts), authorities),
        notes=tuple(notes),
    )


def _unit(draft: Draft, description: Description) -> str:
    if description.unit == "document":
        return draft.id
    return draft.attributes.get(description.unit) or draft.id


def _add_attributes(drafts: Sequence[Draft], path: Path, notes: list[str]) -> None:
    """Attributes from a table with a column `document` and one column for each attribute."""
    ids = DocumentIds(draft.id for draft in drafts)
    names = [(row.get("document").strip(), row) for row in read_table(path, required=("document",)).rows]
    rows = {ids.find_accents(name) or name: row for name, row in names}
    for draft in drafts:
        row = rows.pop(draft.id, None)
        if row is not None:
            draft.attributes.update(
                {name: cell.strip() for name, cell in row.cells.items() if name and name != "document" and cell.strip()}
            )
    if rows:
        shown = ", ".join(sorted(rows, key=natural_key)[:5])
        notes.append(f"{path.name}: {len(rows)} rows name documents that are not in the dataset ({shown[:200]})")
