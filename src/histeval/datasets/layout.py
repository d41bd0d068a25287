"""Which layout a folder has: where its truth lies, and for which task it is."""

from __future__ import annotations

import os
import shlex
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from histeval.datasets.files import list_folder, shown
from histeval.datasets.images import images_of
from histeval.datasets.published import AUTHORITIES, KNOWN_FOLDERS
from histeval.datasets.settings import FILE, Settings, read_settings
from histeval.errors import DatasetError
from histeval.tasks.description import Description

TRUTH_FOLDERS = ("ground_truths", "ground_truth")
TRADE_FILES = ("41-ner_ref_from_pero/gold.csv", "31-ner_align_pero/gold.csv", "10-ner_ref/gold_soduco_2023.csv")
IIIF = "iiif.json"
"""What `histeval get --from MANIFEST` leaves beside the images: where each came from, and the rights."""
NOT_DOCUMENTS = (
    *(f"{name}.json" for name in AUTHORITIES),
    *("meta.json", "attributes.json", "split_indices.json", IIIF),
)
"""JSON files that may stand beside the truth of documents without being one."""


@dataclass(frozen=True)
class Folder:
    """A dataset folder: its settings (None without a dataset.toml) and the folder its truth lies in."""

    path: Path
    settings: Settings | None
    truth: Path

    @property
    def name(self) -> str:
        """The name of the folder."""
        return self.path.resolve().name

    def images(self) -> Mapping[str, tuple[Path, ...]]:
        """The page images by document, where there are any."""
        where = self.settings.images if self.settings is not None else "images"
        return images_of(self.path / where, subfolders=self.settings is not None)


def open_folder(path: Path | str, task: str, *, settings: Settings | None = None) -> Folder:
    """The dataset folder at `path`; raises DatasetError where it is none or is for another task."""
    path = _below(folder_at(path, task), task)
    if settings is None:
        settings = read_settings(path)
    found = settings.description.task if settings is not None else ""
    if found and found != task:
        raise DatasetError(f"is a dataset for {found}, not for {task}", file=path)
    return Folder(path, settings, truth_folder(path))


def folder_at(path: Path | str, task: str = "TASK") -> Path:
    """`path` as the folder of a dataset; naming its dataset.toml or its folder of truth is as good. `task` is for the
    message where `path` is none."""
    path = Path(path)
    # os.path, since pathlib raises for names too long and for folders that may not be entered.
    if path.name == FILE and os.path.isfile(path):
        return path.parent
    if not os.path.isdir(path):
        if os.path.exists(path):
            raise DatasetError("is a file, not the folder of a dataset", file=shown(path), remedy=_instead(path, task))
        remedy = "`histeval get` fetches the published datasets"
        raise DatasetError("there is no such folder", file=shown(path), remedy=remedy)
    if path.resolve().name in TRUTH_FOLDERS and not (path / FILE).is_file():
        return path.parent if path.name in TRUTH_FOLDERS else path.resolve().parent
    return path


def _instead(path: Path, task: str) -> str:
    """What to name instead of a file: the dataset that it lies in, else the command that makes a dataset of it."""
    for folder in list(path.parents)[:3]:
        inner = [folder / FILE, *(folder / name for name in TRUTH_FOLDERS)]
        if any(place.exists() for place in inner) or trade_folder(folder) is not None:
            return f"Name the folder of the dataset, {shown(folder)}"
    words = shlex.join(["histeval", "import", task, str(path), "--out", path.stem or "dataset"])
    return f"`{shown(words)}` makes a dataset of it"


def _below(path: Path, task: str) -> Path:
    """The folder of a published dataset where `path` is the one above it, as `histeval get` and the repository lay
    it; else `path` itself."""
    if (path / FILE).is_file() or any((path / name).is_dir() for name in TRUTH_FOLDERS):
        return path
    for name, known in KNOWN_FOLDERS.items():
        for folder in (path / name, path / "benchmarks" / name):
            if known == task and any((folder / truth).is_dir() for truth in TRUTH_FOLDERS):
                return folder
    return path


def truth_folder(path: Path) -> Path:
    """The folder of truth in a dataset folder: `ground_truths/`, `ground_truth/`, else the folder itself."""
    for name in TRUTH_FOLDERS:
        if (path / name).is_dir():
            return path / name
    return path


def trade_folder(path: Path) -> Path | None:
    """The folder that holds the trade-directory files of the published layout, None where there is none."""
    for folder in (path, path / "dataset", path.parent if path.name[:3] in ("41-", "31-", "10-") else path):
        if any((folder / name).is_file() for name in TRADE_FILES):
            return folder
    return None


def find_task(path: Path | str) -> str:
    """The task a dataset folder is for, from its dataset.toml or its layout; raises DatasetError where neither says.

    A folder with no truth yet, and one that no rule fits, cannot be told apart: the error asks for a dataset.toml.
    """
    path = folder_at(path)
    settings = read_settings(path)
    if settings is not None:
        return settings.description.task
    if trade_folder(path) is not None:
        return "directories"
    truth = truth_folder(path)
    names = list_folder(truth)
    if "letters.csv" in names or any(name.startswith("letter") and name.endswith(".json") for name in names):
        return "letters"
    if any(name.startswith("image_") and name.endswith(".json") for name in names):
        return "manuscripts"
    raise DatasetError(
        "is no dataset in a known layout", file=path, remedy=f"Write a {FILE} (docs/datasets.md, `histeval init`)"
    )


def described(folder: Folder, published: Description) -> Description:
    """The description of a folder: its own, else `published`."""
    return folder.settings.description if folder.settings is not None else published
