"""Datasets of small letters, each with its own little page, for tests that ask many documents."""

from __future__ import annotations

import json
from pathlib import Path

from PIL import Image

from histeval.datasets.base import Dataset, Document
from histeval.tasks import get_task
from histeval.tasks.description import AuthorityEntry
from histeval.tasks.truth import LetterTruth


def small_letters(folder: Path, number: int, pages: int = 1) -> Dataset:
    """`number` letters with `pages` pages each; the images are made in `folder` where they are not there."""
    documents = {}
    folder.mkdir(parents=True, exist_ok=True)
    for index in range(number):
        name = f"letter{index:04}"
        files = []
        for page in range(1, pages + 1):
            file = folder / f"{name}_p{page}.png"
            if not file.exists():
                Image.new("RGB", (16, 16), (index % 256, index // 256, page)).save(file)
            files.append(file)
        truth = LetterTruth(
            {"send_date": (day(index),), "sender_persons": (f"Sender {index}",), "receiver_persons": ()}
        )
        documents[name] = Document(name, truth, name, images=tuple(files))
    description = get_task("letters").default_description()
    people = tuple(AuthorityEntry(f"Sender {index}") for index in range(number))
    return Dataset("letters", "small", folder, description, documents, {"persons": people}, "f" * 64)


def day(index: int) -> str:
    return f"19{10 + index // 300:02}-{1 + index // 25 % 12:02}-{1 + index % 25:02}"


def right_answers(dataset: Dataset) -> dict[str, str]:
    """The right answer to every letter, as a model would write it."""
    return {
        name: json.dumps({"metadata": {field: list(values) for field, values in document.truth.fields.items()}})
        for name, document in dataset.documents.items()
    }


def page_files(dataset: Dataset) -> dict[str, tuple[Path, ...]]:
    return {name: document.images for name, document in dataset.documents.items()}
