"""Where the pages of a dataset lie, and the frame around each."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, field
from typing import Any

from histeval.overview.board import Collected, Run
from histeval.overview.page import Crumb, Page, clean, footer
from histeval.overview.slugs import slug
from histeval.runs.score import Score


@dataclass(frozen=True)
class Place:
    """Where the pages of a dataset lie: `folder` in the site ("" or "datasets/NAME/"), `up` from there to the root."""

    folder: str
    up: str
    title: str
    site: str


SECTIONS = (("Leaderboard", "index.html"), ("Documents", "documents.html"), ("Doubts", "doubts.html"))


def page_of(place: Place, file: str, label: str = "") -> Page:
    """The frame of a page of a dataset; `file` lies in the dataset's folder, `label` is its own step of the trail."""
    down = "../" * file.count("/")
    root = down + place.up
    trail = []
    if place.site:
        trail.append(Crumb(place.site, f"{root}index.html"))
    trail.append(Crumb(place.title, f"{down}index.html" if label else ""))
    if label:
        trail.append(Crumb(clean(label)))
    sections = tuple(Crumb(name, f"{down}{target}", current=target == file) for name, target in SECTIONS)
    return Page(root, tuple(trail), sections, footer())


@dataclass
class Ways:
    """Addresses from the dataset's folder: of runs by key, of documents by id (the worst first in `worst`)."""

    runs: dict[str, str]
    documents: dict[str, str]
    worst: tuple[str, ...] = ()
    means: dict[str, float | None] = field(default_factory=dict)
    thumbs: dict[str, str] = field(default_factory=dict)
    sizes: dict[str, tuple[int, int]] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def ways_of(collected: Collected) -> Ways:
    """Addresses of all runs, and of the documents that some run was scored on, in the order of the dataset."""
    scored = {name for run in collected.runs for name in run.scores[collected.protocol].rows[0]}
    return Ways(
        {run.key: f"runs/{run.slug}.html" for run in collected.runs},
        {name: f"documents/{slug(name)}.html" for name in collected.dataset.documents if name in scored},
        names={run.key: run.name for run in collected.runs},
    )


def digest_of_score(run: Run, score: Score) -> str:
    """A digest of all that a score shows: counts by document, failures, intervals, signature, notes, facts."""
    digest = hashlib.sha256()
    for table in score.tables:
        digest.update(table.values.tobytes())
    numbers: list[Any] = [
        [(name, row.failure, row.notes) for rows in score.rows for name, row in rows.items()],
        [(name, value, score.intervals[name].low, score.intervals[name].high) for name, value in score.values.items()],
        sorted(score.spread.items()),
        str(score.signature),
        score.signature.protocol.long,
        score.dataset.fingerprint,
        score.notes,
        score.suspect,
        sorted((key, repr(value)) for key, value in score.facts.items()),
        (run.key, run.name, run.slug),
    ]
    digest.update(repr(numbers).encode("utf-8", "surrogatepass"))
    return digest.hexdigest()[:24]
