"""Attacks in names, descriptions and answers, opened in the browser: nothing runs and nothing leaves."""

from __future__ import annotations

import pytest

from overview_sites import ATTACKS, MadeSite
from overview_watch import Watch

pytestmark = pytest.mark.browser


def test_no_hostile_page_runs_or_fetches_anything(hostile_site: MadeSite, watch: Watch) -> None:
    """Every page but those of documents; every button pressed, every fold opened, every filter used."""
    pages = [path for path in hostile_site.pages if "/documents/" not in path]
    assert len(pages) > 20
    for path in pages:
        page = watch.open(hostile_site.out, path)
        page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
        page.evaluate("document.querySelectorAll('button.sort').forEach(one => { one.click(); one.click(); })")
        select = page.locator("form[data-filters] [name=provider]")
        if select.count():
            select.select_option(index=1)
            page.locator("form[data-filters] [name=text]").fill(ATTACKS[0])
            page.reload()
        watch.check()


def test_no_hostile_answer_runs_or_fetches_anything(hostile_site: MadeSite, watch: Watch) -> None:
    """The answers of all systems to all documents are drawn, with everything that is folded."""
    drawn = 0
    for path in hostile_site.pages:
        if "/documents/" not in path:
            continue
        page = watch.open(hostile_site.out, path)
        for value in page.locator("#system option").evaluate_all("all => all.map(one => one.value)"):
            page.locator("#system").select_option(value)
            page.evaluate("document.querySelectorAll('details').forEach(one => { one.open = true; })")
            drawn += "window.hacked" in page.locator("#answer").inner_text()
        strange = page.evaluate(
            """() => Array.from(document.querySelectorAll('*')).filter(e =>
            ['IFRAME', 'OBJECT', 'EMBED', 'BASE'].includes(e.tagName)
            || Array.from(e.attributes).some(a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)
            && ['href', 'src', 'action', 'xlink:href'].includes(a.name))).map(e => e.outerHTML.slice(0, 200))"""
        )
        assert strange == [], path
        watch.check()
    assert drawn > 20  # the attacks were on the pages


@pytest.mark.parametrize(
    "fragment",
    ["javascript:window.hacked=20", "<img src=x onerror=window.hacked=21>", "%", "a=%E0%A4%A", "text=<b>&provider=x"],
)
def test_a_hostile_address_runs_nothing(hostile_site: MadeSite, watch: Watch, fragment: str) -> None:
    document = next(path for path in hostile_site.pages if "/documents/" in path)
    for path in (hostile_site.folder("letters") + "index.html", document):
        page = watch.open(hostile_site.out, path, fragment)
        assert page.locator("h1").is_visible()
        if path == document:
            assert page.locator("#answer").inner_text().strip()  # the page still works
        watch.check()


def test_the_watch_sees_what_it_is_for(watch: Watch, tmp_path: object) -> None:
    """A page that does all that is forbidden is noted for each of it."""
    from pathlib import Path

    root = Path(str(tmp_path)) / "site"
    root.mkdir()
    outside = root.parent / "outside.js"
    outside.write_text("", encoding="utf-8")
    (root / "index.html").write_text(
        "<script>window.hacked=1;alert('x');console.error('y');setTimeout(() => { throw new Error('z'); })</script>"
        f"<script src='{outside.as_uri()}'></script><img src='http://outside.example/x.png'>",
        encoding="utf-8",
    )
    watch.open(root)
    watch.page.wait_for_timeout(100)
    found, watch.faults = " ".join(watch.faults), []
    for sign in ("alert: x", "console error: y", "page error: z", "outside.js", "outside.example"):
        assert sign in found
