"""Pages where there is little room: names without end, a telephone, paper."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from histeval.datasets import load_dataset
from histeval.datasets.bundled import bundled
from histeval.overview.build import Input
from histeval.tasks import get_task
from overview_sites import TASKS, MadeSite, invented_runs, make_site, words, write_runs

pytestmark = pytest.mark.browser

ENDLESS = "W" * 300
CUT = """() => [...document.querySelectorAll('.scroll caption')].filter(caption => {
  const box = caption.getBoundingClientRect();
  return box.left < -1 || box.right > document.documentElement.clientWidth + 1;
}).map(caption => caption.textContent)"""
"""The captions that leave the screen."""


@pytest.fixture(scope="module")
def endless_site(tmp_path_factory: pytest.TempPathFactory) -> MadeSite:
    """Letters whose systems have names of 300 letters, without a place to break or with many."""
    folder = tmp_path_factory.mktemp("endless")
    runs = invented_runs("letters")
    for run, name in zip(runs, (ENDLESS, "name " * 60, "long-" * 60), strict=False):
        run["model"] = run["run_id"] = name
    answers = write_runs(folder / "runs.jsonl", runs)
    return make_site(
        folder / "site", Input(get_task("letters"), load_dataset("letters", bundled("letters")), [answers])
    )


@pytest.fixture
def page(chromium: Any) -> Iterator[Any]:
    found = chromium.new_page(viewport={"width": 1400, "height": 900})
    yield found
    found.close()


@pytest.mark.parametrize("width", [1400, 390])
def test_no_name_makes_a_page_wider_than_the_screen(endless_site: MadeSite, page: Any, width: int) -> None:
    page.set_viewport_size({"width": width, "height": 900})
    run = min((endless_site.out / "runs").iterdir()).relative_to(endless_site.out).as_posix()
    for path in ("index.html", "by-signed.html", "documents.html", "documents/letter01.html", "doubts.html", run):
        page.goto((endless_site.out / path).as_uri())
        assert page.evaluate("document.documentElement.scrollWidth") <= width, path
        if width == 1400 and path == "index.html":
            assert page.evaluate("document.querySelector('table[data-board=main]').scrollWidth") <= width


def test_captions_stay_on_the_screen_of_a_telephone(demo_site: MadeSite, page: Any) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    for task in TASKS:
        folder = demo_site.out / demo_site.folder(task)
        files = [*folder.glob("*.html"), min((folder / "runs").iterdir()), min((folder / "documents").glob("*.html"))]
        for file in files:
            page.goto(file.as_uri())
            assert page.evaluate(CUT) == [], file.name


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_on_paper_all_is_dark_on_white_and_no_heading_lacks_its_list(
    demo_site: MadeSite, page: Any, scheme: str
) -> None:
    page.emulate_media(media="print", color_scheme=scheme)
    page.goto((demo_site.out / demo_site.leaderboard("letters")).as_uri())
    look = "element => [getComputedStyle(element).color, getComputedStyle(element).backgroundColor]"
    chosen = page.locator(".protocols a[aria-current]").first
    assert chosen.evaluate(look) == ["rgb(0, 0, 0)", "rgba(0, 0, 0, 0)"]
    assert not page.get_by_text("Scores by").is_visible()
    page.goto((demo_site.out / demo_site.folder("manuscripts") / "documents").glob("*.html").__next__().as_uri())
    colours = "() => getComputedStyle(document.documentElement).getPropertyValue('--recognition').trim()"
    assert page.evaluate(colours) == "#b3470c"  # that of white paper


def test_what_is_not_in_the_table_is_not_explained_below_it(demo_site: MadeSite, tmp_path: Any) -> None:
    """A single system has no rank and is like no other; where no model has a date, none is marked by it."""
    (one, *_) = invented_runs("letters")
    one["model"] = "undated"
    answers = write_runs(tmp_path / "runs.jsonl", [one])
    data = load_dataset("letters", bundled("letters"))
    site = make_site(tmp_path / "site", Input(get_task("letters"), data, [answers]))
    alone, many = (words(one.pages[one.leaderboard("letters")]) for one in (site, demo_site))
    for said in (
        "cannot be told apart from the best (paired",
        "Rank: the best and worst",
        "marks models whose own date",
    ):
        assert (said in many) > (said in alone), said
    assert "corrected for 0" not in alone
    assert "0 doubts" not in alone
