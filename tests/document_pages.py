"""Document pages made on the spot, as the overview makes them, for tests that read or open them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any

from histeval.datasets import Dataset, load_dataset
from histeval.overview.documents import document_data, document_page, document_value
from histeval.overview.documents.images import prepare
from histeval.overview.page import Crumb, Links, Page, footer, script
from histeval.overview.slugs import slug
from histeval.runs.opening import open_answers
from histeval.runs.score import Score, score_paths
from histeval.tasks import get_task
from histeval.tasks.base import Answer, Task


@dataclass
class Pages:
    """A dataset with its runs, and the pages of its documents."""

    task: Task
    dataset: Dataset
    scores: list[Score]
    answers: dict[str, dict[str, Answer]]
    out: Path

    def given(self, document: str) -> dict[str, Answer | None]:
        """The answer of each run to a document."""
        return {run: answers.get(document) for run, answers in self.answers.items()}

    def data(self, document: str) -> dict[str, Any]:
        """The data of a page, as its script reads it."""
        found = document_data(
            self.task, self.dataset, self.dataset.documents[document], self.scores, self.given(document)
        )
        text = script("document", found)
        match = re.fullmatch(
            r"window\.histeval = window\.histeval \|\| \{\};\nwindow\.histeval\.document = (.*);\n", text
        )
        assert match is not None
        assert text.isascii()
        assert "<" not in text
        assert "\u2028" not in text
        return json.loads(match[1])  # type: ignore[no-any-return]

    def page(self, document: str, images: bool = False) -> str:
        """The HTML of a page."""
        return document_page(
            self.task,
            self.dataset,
            self.dataset.documents[document],
            self.scores,
            self.given(document),
            self.links(document),
            prepare(self.dataset.documents[document], self.out / "images") if images else (),
        )

    def links(self, document: str) -> Links:
        """The way from a page to the others."""
        documents = {name: f"{slug(name)}.html" for name in self.dataset.documents}

        def mean(name: str) -> float:
            values = [document_value(s.scorer, s.rows[0][name]) for s in self.scores if name in s.rows[0]]
            return sum(value or 0.0 for value in values) / max(1, len(values))

        return Links(
            Page("../", (Crumb("Overview", "../index.html"), Crumb(document)), (), footer()),
            "../index.html",
            "../doubts.html",
            {run: f"../runs/{slug(Path(run).stem)}.html" for run in self.answers},
            documents,
            tuple(sorted(documents, key=mean)),
            f"{slug(document)}.js",
            "../images/",
            {run: Path(run).stem for run in self.answers},
        )

    def write(self, documents: Iterable[str]) -> Path:
        """Pages on disk with all they need, as the overview lays them out."""
        folder = self.out / "documents"
        folder.mkdir(parents=True, exist_ok=True)
        assets = self.out / "assets"
        assets.mkdir(exist_ok=True)
        for file in (files("histeval.overview") / "assets").iterdir():
            (assets / file.name).write_bytes(file.read_bytes())
        for name in documents:
            document = self.dataset.documents[name]
            data = document_data(self.task, self.dataset, document, self.scores, self.given(name))
            (folder / f"{slug(name)}.html").write_text(self.page(name, images=True), encoding="utf-8")
            (folder / f"{slug(name)}.js").write_text(script("document", data), encoding="utf-8")
        return folder


def pages(task: str, dataset: Path, paths: Iterable[Path], out: Path, protocol: str = "documented") -> Pages:
    """Everything that the pages of a dataset need."""
    data = load_dataset(task, dataset)
    scores = list(score_paths(get_task(task), data, list(paths), protocol, suspicion=False))
    answers: dict[str, dict[str, Answer]] = {}
    for path in paths:
        for run in open_answers(path, data):
            answers[run.run] = {name: answer for (name, repeat), answer in run.answers.items() if repeat == 0}
    return Pages(get_task(task), data, scores, answers, out)


def answers_file(file: Path, answers: Mapping[str, Mapping[str, Any]]) -> Path:
    """Answers as a .jsonl file: what stands beside "document" in each line, by document."""
    lines = [json.dumps({"document": name, **answer}) for name, answer in answers.items()]
    file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    return file
