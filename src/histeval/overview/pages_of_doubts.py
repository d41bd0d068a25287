"""The page of doubts, and its table of suggested corrections."""

from __future__ import annotations

from typing import Any

from histeval.overview.board import Collected
from histeval.overview.doubts import LEAST, doubts
from histeval.overview.exports import csv_text
from histeval.overview.frame import Place, Ways, digest_of_score, page_of
from histeval.overview.page import clean, percent, render
from histeval.overview.site import Site

MOST = 300
COLUMNS = ("document", "where", "ground_truth", "proposal", "agree", "of", "share", "page", "systems")


def write_doubts(site: Site, place: Place, collected: Collected, ways: Ways) -> int:
    """`doubts.html` and `doubts.csv`; returns how many doubts there are."""
    trusted = collected.trusted()
    inputs = [
        [digest_of_score(run, run.scores[collected.protocol]) for run in trusted],
        [[(*key, answer.text, repr(answer.record)) for key, answer in run.answers.answers.items()] for run in trusted],
        list(ways.documents.items()),
        ways.thumbs,
        place.title,
        place.site,
    ]

    def make() -> tuple[Any, dict[str, str | bytes]]:
        found = doubts(collected)
        rows = [
            {
                "document": one.document,
                "where": one.where,
                "ground_truth": one.truth,
                "proposal": one.proposal,
                "agree": one.agree,
                "of": one.of,
                "share": round(one.share, 4),
                "page": ways.documents[one.document],
                "systems": "; ".join(ways.names[key] for key in one.runs),
            }
            for one in found
        ]
        shown = [
            {
                "name": clean(one.document),
                "href": f"{ways.documents[one.document]}#{_slug(ways.runs[one.runs[0]])}",
                "thumb": ways.thumbs.get(one.document, ""),
                "where": clean(one.where),
                "truth": clean(one.truth[:300]),
                "proposal": clean(one.proposal[:300]),
                "agree": one.agree,
                "of": one.of,
                "share": percent(one.share),
            }
            for one in found[:MOST]
        ]
        page = render(
            "doubts.html",
            page_of(place, "doubts.html", "Doubts"),
            title=place.title,
            doubts=shown,
            found=len(found),
            documents=len({one.document for one in found}),
            systems=len(trusted),
            least=LEAST,
            language=next(iter(collected.dataset.description.languages), ""),
        )
        files: dict[str, str | bytes] = {
            f"{place.folder}doubts.html": page,
            f"{place.folder}doubts.csv": csv_text(rows, COLUMNS),
        }
        return len(found), files

    return int(site.bundle(f"{place.folder}doubts", inputs, make))


def _slug(href: str) -> str:
    return href.rpartition("/")[2].removesuffix(".html")
