"""The pages of all documents, their images, and the list of them with the worst first."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from histeval.datasets.base import Document
from histeval.overview.board import Collected, Tell
from histeval.overview.cells import Cell, Table, count_cell, plain_cell, text_cell
from histeval.overview.documents import document_data, document_page, document_value
from histeval.overview.documents.images import ImageRef, prepare
from histeval.overview.frame import Place, Ways, page_of
from histeval.overview.page import Links, clean, counted, render, script
from histeval.overview.site import Site, digest_of
from histeval.overview.slugs import slug
from histeval.runs.score import Score
from histeval.tasks.base import Answer

WORKERS = 2
"""Images made at a time; the library gives the processor free while it works."""


def write_documents(site: Site, place: Place, collected: Collected, ways: Ways, tell: Tell | None = None) -> None:
    """Every document's page with its data and images, and the list of documents. Fills `worst`, `means`, `thumbs`."""
    ways.means.update(means_of(collected, ways, collected.protocol))
    ways.worst = tuple(sorted(ways.documents, key=lambda name: (ways.means[name] is None, ways.means[name] or 0.0)))
    images = _images(site, place, collected, ways, tell)
    for name, found in images.items():
        first = next((image for image in found if image.thumb), None)
        if first is not None:
            ways.thumbs[name] = f"images/{first.thumb}"
            ways.sizes[name] = (first.width, first.height)
    scores = collected.scores()
    answers = {run.key: run.answers for run in collected.runs}
    first_repeat = {key: given.repeats[0] for key, given in answers.items()}
    # once, since each names all documents: made for each page they would grow with the square of their number
    shared = digest_of(_shared_inputs(collected, ways))
    runs = {key: f"../{href}" for key, href in ways.runs.items()}
    documents = {name: Path(href).name for name, href in ways.documents.items()}
    for number, (name, href) in enumerate(ways.documents.items()):
        if tell:
            tell(f"document {name}", number, len(ways.documents))
        given = {key: one.answers.get((name, first_repeat[key])) for key, one in answers.items()}
        document = collected.dataset.documents[name]
        inputs = [shared, name, _digest_of_answers(collected, name, given), [repr(image) for image in images[name]]]
        links = _links(place, ways, name, runs, documents)

        def data(document: Document = document, given: Mapping[str, Answer | None] = given) -> str:
            return script("document", document_data(collected.task, collected.dataset, document, scores, given))

        def page(
            document: Document = document,
            given: Mapping[str, Answer | None] = given,
            links: Links = links,
            found: tuple[ImageRef, ...] = tuple(images[name]),
        ) -> str:
            return document_page(collected.task, collected.dataset, document, scores, given, links, found)

        site.page(f"{place.folder}documents/{slug(name)}.js", inputs, data)
        site.page(place.folder + href, inputs, page)
    _list(site, place, collected, ways)


def told_by(collected: Collected, protocol: str, name: str) -> list[Score]:
    """The scores that say how hard a document is, the same on every page and plot: those of the main board; where it
    has none, those of further boards; where there is none of these either, all."""
    boards = collected.boards[protocol]
    ranked = [[one.score for one in board.standings] for board in boards]
    all_of_them = [run.scores[protocol] for run in collected.runs]
    for scores in (ranked[0] if ranked else [], [score for board in ranked for score in board], all_of_them):
        found = [score for score in scores if name in score.rows[0]]
        if found:
            return found
    return []


def means_of(collected: Collected, ways: Ways, protocol: str) -> dict[str, float | None]:
    """The mean of each document over the scores of `told_by`; None where nothing is scored."""
    found: dict[str, float | None] = {}
    for name in ways.documents:
        values = [document_value(score.scorer, score.rows[0][name]) for score in told_by(collected, protocol, name)]
        known = [value for value in values if value is not None]
        found[name] = math.fsum(known) / len(known) if known else None
    return found


def _images(site: Site, place: Place, collected: Collected, ways: Ways, tell: Tell | None) -> dict[str, list[ImageRef]]:
    """The images of every document, made once, in `images/`."""
    folder = site.out / place.folder / "images"
    found: dict[str, list[ImageRef]] = {}

    def make(name: str) -> list[ImageRef]:
        return prepare(collected.dataset.documents[name], folder)

    with ThreadPoolExecutor(WORKERS) as pool:
        for number, (name, images) in enumerate(zip(ways.documents, pool.map(make, ways.documents), strict=True)):
            if tell:
                tell(f"image of {name}", number, len(ways.documents))
            found[name] = images
    for images in found.values():
        for image in images:
            for file in (image.src, image.thumb):
                if file:
                    site.keep(f"{place.folder}images/{file}")
    return found


def _shared_inputs(collected: Collected, ways: Ways) -> list[Any]:
    """What every document page shows of the whole: names, addresses, order, protocol, description."""
    scores = collected.scores()
    return [
        collected.dataset.fingerprint,
        repr(collected.dataset.description),
        [(run.key, run.name, run.slug) for run in collected.runs],
        [(score.signature.protocol.long, str(score.signature), score.suspect, len(score.rows)) for score in scores],
        list(ways.documents.items()),
        list(ways.worst),
    ]


def _digest_of_answers(collected: Collected, name: str, answers: Mapping[str, Answer | None]) -> str:
    digest = hashlib.sha256()
    for run in collected.runs:
        row = run.scores[collected.protocol].rows[0].get(name)
        answer = answers.get(run.key)
        scored = None if row is None else (row.counts.tolist(), row.failure, row.notes)
        said = None if answer is None else (answer.text, answer.record, answer.error, answer.finish)
        digest.update(repr((run.key, scored, said)).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()


def _links(place: Place, ways: Ways, name: str, runs: Mapping[str, str], documents: Mapping[str, str]) -> Links:
    """The way from a document's page to the others, with the addresses of runs and documents as seen from there."""
    return Links(
        page_of(place, ways.documents[name], name),
        "../index.html",
        "../doubts.html",
        runs,
        documents,
        ways.worst,
        f"{slug(name)}.js",
        "../images/",
        ways.names,
    )


def _list(site: Site, place: Place, collected: Collected, ways: Ways) -> None:
    """All documents, the hardest first."""
    rows = []
    most = 0
    keys = _attributes(collected, ways)
    for number, name in enumerate(ways.worst, start=1):
        document = collected.dataset.documents[name]
        told = told_by(collected, collected.protocol, name)
        there = [score.rows[0][name] for score in told]
        values = [document_value(score.scorer, score.rows[0][name]) for score in told]
        most = max(most, len(told))
        known = [value for value in values if value is not None]
        rows.append(
            [
                text_cell(name, href=ways.documents[name]),
                count_cell(number),
                plain_cell(ways.means[name]),
                plain_cell(min(known, default=None)),
                plain_cell(max(known, default=None)),
                count_cell(len(there)),
                count_cell(sum(row.failure is not None for row in there)),
                *(text_cell(document.attributes.get(key, "–")) for key in keys),
            ]
        )
    titles = tuple(clean(key.replace("_", " ")) for key in keys)
    table = Table(
        "Documents",
        ("Document", "#Place", "#Mean", "#Worst system", "#Best system", "#Systems", "#Failed", *titles),
        rows,
        f"{counted(len(rows), 'document')}, the hardest first: mean over the systems "
        f"{'of the leaderboard' if collected.main else 'that are shown apart'} ({most}), "
        f"protocol {collected.protocol}.",
    )
    left = len(collected.dataset.documents) - len(ways.documents)
    pictures = [
        (name, ways.documents[name], ways.thumbs[name], ways.means[name]) for name in ways.worst if name in ways.thumbs
    ]
    site.write(
        f"{place.folder}documents.html",
        render(
            "documents.html",
            page_of(place, "documents.html", "Documents"),
            title=place.title,
            what=VALUE_WORDS.get(collected.task.name, "the first metric on the document"),
            table=table,
            left=left,
            pictures=pictures[:MOST_PICTURES],
        ),
    )


VALUE_WORDS = {
    "letters": "F1 of the names and dates of the letter",
    "manuscripts": "mean fuzzy score of the texts of the page",
    "directories": "F1 of all entities of the entry",
}
MOST_PICTURES = 12
MOST_ATTRIBUTES = 5


def _attributes(collected: Collected, ways: Ways) -> list[str]:
    """The attributes that differ between documents."""
    found: dict[str, set[str]] = {}
    for name in ways.documents:
        for key, value in collected.dataset.documents[name].attributes.items():
            found.setdefault(key, set()).add(value)
    return [key for key, values in found.items() if len(values) > 1][:MOST_ATTRIBUTES]


def hardest(collected: Collected, ways: Ways, protocol: str, most: int = 8) -> list[Cell]:
    """The hardest documents under a protocol as links, each with its mean."""
    means = ways.means if protocol == collected.protocol else means_of(collected, ways, protocol)
    known = sorted((value, place, name) for place, name in enumerate(ways.worst) if (value := means[name]) is not None)
    return [
        Cell(clean(name), href=ways.documents[name], note=plain_cell(value).text) for value, _, name in known[:most]
    ]
