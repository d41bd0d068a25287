"""axe-core, fetched through npm, finds nothing serious on any kind of page, light or dark."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from histeval.overview.slugs import slug
from overview_sites import TASKS, MadeSite

pytestmark = pytest.mark.browser

GRAVE = ("serious", "critical")


@pytest.fixture(scope="module")
def axe(request: pytest.FixtureRequest) -> str:
    """The source of axe-core, fetched once into pytest's cache."""
    assert request.config.cache is not None
    folder = Path(request.config.cache.mkdir("axe-core"))
    source = folder / "node_modules" / "axe-core" / "axe.min.js"
    if not source.is_file():
        npm = shutil.which("npm")
        if npm is None:
            pytest.skip("npm, which fetches axe-core, is not here")
        words = [npm, "install", "--prefix", str(folder), "--no-audit", "--no-fund", "--ignore-scripts", "axe-core@4"]
        done = subprocess.run(words, capture_output=True, text=True, timeout=120, check=False)
        if done.returncode or not source.is_file():
            pytest.skip("npm cannot fetch axe-core")
    return source.read_text(encoding="utf-8")


def pages_of(site: MadeSite) -> list[str]:
    """One page of every kind that readers open."""
    found = ["index.html"]
    for task in TASKS:
        folder = site.folder(task)
        one = site.input(task)
        document = (one.selection.documents or tuple(one.dataset.documents))[1]
        found += [site.leaderboard(task), f"{folder}documents/{slug(document)}.html#{slug('T02')}"]
    letters = site.folder("letters")
    found += [f"{site.folder(task)}runs/{slug('T02')}.html" for task in TASKS]
    return [*found, f"{letters}documents.html", f"{letters}doubts.html"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(demo_site: MadeSite, chromium: Any, axe: str, scheme: str) -> None:
    # axe is put into the page from outside, which the page's own policy forbids
    context = chromium.new_context(
        viewport={"width": 1300, "height": 900}, color_scheme=scheme, offline=True, bypass_csp=True
    )
    page = context.new_page()
    found = []
    for path in pages_of(demo_site):
        file, _, fragment = path.partition("#")
        page.goto((demo_site.out / file).as_uri() + (f"#{fragment}" if fragment else ""))
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.evaluate(axe)
        result = page.evaluate("axe.run({resultTypes: ['violations']})")
        assert len(result["passes"]) > 10, path  # it looked
        found += [
            f"{path}: {fault['id']} ({fault['impact']}), {len(fault['nodes'])} times: {fault['nodes'][0]['html'][:160]}"
            for fault in result["violations"]
            if fault["impact"] in GRAVE
        ]
    context.close()
    assert found == []
