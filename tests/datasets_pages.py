"""Pages made by hypothesis, for every format that holds them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from histeval.datasets.formats.pages import Line, Page, Region

LETTERS = st.characters(exclude_categories=("Cs", "Cc"), exclude_characters="\ufffe\uffff")
LINES = st.lists(st.text(st.one_of(st.sampled_from(" .&<>\"'\tאß\u0301\ue5b4"), LETTERS), max_size=12), max_size=4)
KINDS = st.sampled_from(("paragraph", "marginalia", "page-number", "MainZone", "seal"))
LISTED_PAGES = st.builds(
    lambda regions, name: Page(
        "p1",
        tuple(
            Region(kind, tuple(Line(text, f"r{n}l{m}") for m, text in enumerate(lines, 1)), f"r{n}")
            for n, (kind, lines) in enumerate(regions, 1)
        ),
        "p1.jpg",
        name,
    ),
    st.lists(st.tuples(KINDS, LINES), max_size=4),
    st.sampled_from(("", "3r", "fol. 12 v")),
)


def plainly(page: Page) -> tuple[Any, ...]:
    return page.id, page.image, page.reference, [(r.kind, [line.text for line in r.lines]) for r in page.regions]
