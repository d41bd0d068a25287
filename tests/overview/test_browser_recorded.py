"""The overview of all published runs and of the real trade directories, in the system's Chromium from the disk."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from histeval.datasets import Dataset, load_dataset
from histeval.overview.build import Input
from histeval.overview.slugs import slug
from histeval.tasks import get_task
from overview_sites import PROTOCOLS, TASKS, MadeSite, make_site, recorded, table_rows, write_runs
from overview_watch import MAIN, Watch, is_sorted, press_tab_until, rows_of, shown
from recorded_runs import RECORDED
from support import DATA, needs_data

pytestmark = [pytest.mark.browser, pytest.mark.data, needs_data]

RUNS = {"letters": 157, "manuscripts": 36, "directories": 3}
DOCUMENTS = {"letters": 57, "manuscripts": 12, "directories": 1685}


def damaged(dataset: Dataset, every: int, fail: int = 0) -> dict[str, Any]:
    """The gold entities as answers: every so manieth entry loses its last entity, the next one gets another type, the
    one after it another boundary; of every `fail` entries one has no answer."""
    found: dict[str, Any] = {}
    for place, (name, document) in enumerate(dataset.documents.items()):
        spans = [{"type": s.type, "start": s.start, "end": s.end, "parent": s.parent} for s in document.truth.spans]
        if fail and place % fail == 1:
            found[name] = {"error": "timeout"}
            continue
        if spans and place % every == 0:
            spans.pop()
        elif spans and place % every == 1:
            spans[-1]["type"] = "ACT" if spans[-1]["type"] != "ACT" else "LOC"
        elif spans and place % every == 2:
            spans[-1]["end"] -= 1
        found[name] = {"json": {"spans": spans}, "seconds": 0.1 * every, "cost": 0.001 / every}
    return found


@pytest.fixture(scope="module")
def recorded_site(tmp_path_factory: pytest.TempPathFactory) -> MadeSite:
    """All recorded runs of letters and manuscripts, and three systems on the whole test part of the directories."""
    folder = tmp_path_factory.mktemp("recorded")
    letters = load_dataset("letters", DATA / "rise" / "benchmarks" / "business_letters")
    pages = load_dataset("manuscripts", DATA / "rise" / "benchmarks" / "medieval_manuscripts")
    entries = load_dataset("directories", DATA / "directories" / "dataset")
    systems = write_runs(
        folder / "directories.jsonl",
        [
            recorded("D1", "house", "careful", "2026-01-01", damaged(entries, 40)),
            recorded("D2", "house", "hasty", "2026-02-01", damaged(entries, 6)),
            recorded("D3", "guest", "sleepy", "2026-03-01", damaged(entries, 40, fail=9)),
        ],
    )
    return make_site(
        folder / "site",
        Input(get_task("letters"), letters, [RECORDED / "letters" / "runs.jsonl"]),
        Input(get_task("manuscripts"), pages, [RECORDED / "medieval" / "runs.jsonl"]),
        Input(get_task("directories"), entries, [systems]),
    )


def test_the_front_leads_to_every_dataset_with_all_its_runs(recorded_site: MadeSite, watch: Watch) -> None:
    page = watch.open(recorded_site.out)
    for task in TASKS:
        panel = page.locator(".datasets li").filter(has_text=recorded_site.input(task).dataset.description.title)
        assert f"{DOCUMENTS[task]} documents, {RUNS[task]} runs" in panel.inner_text()
    for task in TASKS:
        page = watch.open(recorded_site.out, recorded_site.leaderboard(task))
        hrefs = page.locator("main table a[href^='runs/']").evaluate_all("all => all.map(a => a.getAttribute('href'))")
        assert len(hrefs) == len(set(hrefs)) == RUNS[task]  # each on one board, or among those that have none
        folder = recorded_site.out / recorded_site.folder(task)
        assert {f"runs/{file.name}" for file in (folder / "runs").glob("*.html")} == set(hrefs)
        assert len(list((folder / "documents").glob("*.html"))) == DOCUMENTS[task]


def published_lines(task: str) -> Iterator[Mapping[str, Any]]:
    name = {"letters": "letters", "manuscripts": "medieval"}[task]
    for line in (RECORDED / name / "runs.jsonl").read_text(encoding="utf-8").splitlines():
        yield json.loads(line)


def test_the_boards_of_letters_show_the_published_scores(recorded_site: MadeSite) -> None:
    """Under the leaderboard's own rules, each run's F1 pair as it was recorded with the current truth, rounded as
    there."""
    found = {}
    for table in recorded_site.pages[recorded_site.leaderboard("letters", "published")].xpath("//main//table"):
        titles, rows = table_rows(table)
        places = [titles.index(title) for title in ("F1 macro", "F1 micro")]
        for row in rows:
            (href,) = row[0].getparent().xpath(".//th//a/@href")
            found[href] = [float(row[place].get("data-v")) for place in places]
    lines = list(published_lines("letters"))
    assert len(lines) == len(found) == RUNS["letters"]
    for line in lines:
        expected = [round(line["final"][name], 2) for name in ("f1_macro", "f1_micro")]
        assert found[f"runs/{slug(line['run_id'])}.html"] == expected, line["run_id"]


@pytest.mark.parametrize("task", TASKS)
def test_every_column_of_the_full_board_sorts(recorded_site: MadeSite, watch: Watch, task: str) -> None:
    page = watch.open(recorded_site.out, recorded_site.leaderboard(task))
    before = sorted(row["run"] for row in rows_of(page))
    assert len(before) > (2 if task == "directories" else 25)
    heads = page.locator(f"{MAIN} thead th")
    for column in range(heads.count()):
        button = heads.nth(column).locator("button")
        if button.count():
            seen = {}
            for _ in range(2):
                button.click()
                rows = rows_of(page)
                order = heads.nth(column).get_attribute("aria-sort")
                seen[order] = [row["keys"][column] for row in rows if row["keys"][column] not in ("", "–")]
                if heads.nth(column).get_attribute("class") == "number":  # words are in the browser's order
                    assert is_sorted([row["keys"][column] for row in rows], order == "descending"), (column, order)
                assert sorted(row["run"] for row in rows) == before
            assert seen["ascending"] == seen["descending"][::-1], column
    watch.check()


def test_filters_on_the_full_board_of_letters(recorded_site: MadeSite, watch: Watch) -> None:
    page = watch.open(recorded_site.out, recorded_site.leaderboard("letters"))
    everything = rows_of(page)
    form = page.locator("form[data-filters]")
    providers = sorted({row["provider"] for row in everything})
    assert len(providers) >= 4
    for provider in providers:
        form.locator("[name=provider]").select_option(provider)
        assert [row["run"] for row in shown(page)] == [row["run"] for row in everything if row["provider"] == provider]
    form.locator("[name=provider]").select_option("")
    days = sorted(row["date"] for row in everything)
    middle = days[len(days) // 2]
    form.locator("[name=from]").fill(middle)
    assert [row["run"] for row in shown(page)] == [row["run"] for row in everything if row["date"] >= middle]
    form.locator("[name=failed]").select_option("some")
    expected = [row["run"] for row in everything if row["date"] >= middle and row["failed"]]
    assert [row["run"] for row in shown(page)] == expected
    form.locator("[name=failed]").select_option("")
    form.locator("[name=from]").fill("")
    form.locator("[name=top]").check()
    assert 1 < len(shown(page)) < len(everything)
    assert shown(page)[0]["run"] == everything[0]["run"]
    watch.check()


@pytest.mark.parametrize("task", TASKS)
def test_the_switch_of_protocols_has_its_own_numbers_plots_and_views(
    recorded_site: MadeSite, watch: Watch, task: str
) -> None:
    page = watch.open(recorded_site.out, recorded_site.leaderboard(task))
    provider = rows_of(page)[0]["provider"]
    page.locator("form[data-filters] [name=provider]").select_option(provider)
    sources = []
    for protocol in ("published", "corrected", "documented"):
        page.get_by_role("link", name=protocol, exact=True).first.click()
        page.wait_for_load_state()
        assert watch.here() == recorded_site.leaderboard(task, protocol)
        assert f"|{protocol}|" in page.locator(".signature").first.inner_text()
        assert {row["provider"] for row in shown(page)} == {provider}
        images = page.locator(".figures img")
        sizes = images.evaluate_all(
            "all => Promise.all(all.map(i => { i.loading = 'eager'; return i.decode().then(() => i.naturalWidth); }))"
        )
        assert len(sizes) >= 3
        assert min(sizes) > 100
        sources.append(images.evaluate_all("all => all.map(i => i.getAttribute('src'))"))
        view = page.locator("nav[aria-label='Views by attribute'] a").first
        view.click()
        page.wait_for_load_state()
        assert f"|{protocol}|" in page.locator(".signature").first.inner_text()
        for other in PROTOCOLS:  # one attribute under each protocol
            page.locator("nav[aria-label=Protocol]").get_by_role("link", name=other, exact=True).click()
            page.wait_for_load_state()
            assert f"|{other}|" in page.locator(".signature").first.inner_text()
        watch.check()
        watch.open(recorded_site.out, recorded_site.leaderboard(task, protocol))
        page.locator("form[data-filters] [name=provider]").select_option(provider)
    assert not set(sources[0]) & set(sources[1]) | set(sources[1]) & set(sources[2])


@pytest.mark.parametrize("task", TASKS)
def test_from_the_full_board_down_to_a_document(recorded_site: MadeSite, watch: Watch, task: str) -> None:
    page = watch.open(recorded_site.out, recorded_site.leaderboard(task))
    best = rows_of(page)[0]["run"]
    page.locator(".verdict a").first.click()
    page.wait_for_load_state()
    assert watch.here() == f"{recorded_site.folder(task)}runs/{best}.html"
    link = page.locator("main table tbody a[href*='documents/']").first
    name = link.inner_text().strip()
    link.click()
    page.wait_for_load_state()
    assert watch.here() == f"{recorded_site.folder(task)}documents/{slug(name)}.html"
    assert page.locator("#system").input_value() == best
    systems = page.locator("table.systems tbody tr").count()
    asked = {"letters": (50, 157), "manuscripts": (30, 36), "directories": (3, 3)}[task]
    assert asked[0] <= systems <= asked[1]
    answer = page.locator("#answer")
    assert answer.inner_text().strip()
    if task == "manuscripts":
        assert page.locator(".stage img").evaluate("i => i.decode().then(() => i.naturalWidth)") > 100
    seen = {answer.inner_text()}
    for _ in range(3):
        page.locator("[data-after]").click()
        seen.add(answer.inner_text())
    assert len(seen) > 1
    watch.check()


def test_keys_alone_lead_from_the_front_to_an_entry(recorded_site: MadeSite, watch: Watch) -> None:
    page = watch.open(recorded_site.out)
    folder = recorded_site.folder("directories")
    press_tab_until(page, f"main a[href='{folder}index.html']")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/{folder}index.html")
    press_tab_until(page, "form[data-filters] input[name=text]")
    page.keyboard.type("hasty")
    assert [row["run"] for row in shown(page)] == [slug("D2")]
    press_tab_until(page, f"{MAIN} thead button")
    page.keyboard.press("Enter")
    assert page.locator(f"{MAIN} thead th[aria-sort]").count() == 1
    press_tab_until(page, f"{MAIN} tbody tr:not([hidden]) a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{slug('D2')}.html*")
    press_tab_until(page, "main a[href*='documents/']", 120)
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/*")
    assert page.locator("#system").input_value() == slug("D2")
    press_tab_until(page, "#system")
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowDown")
    press_tab_until(page, "table.systems a, #permalink")
    watch.check()


def test_the_list_of_all_entries_answers(recorded_site: MadeSite, watch: Watch) -> None:
    page = watch.open(recorded_site.out, f"{recorded_site.folder('directories')}documents.html")
    rows = page.locator("main table[data-sortable] tbody tr")
    assert rows.count() == DOCUMENTS["directories"]
    head = page.locator("main table[data-sortable] thead button").first
    head.click()
    names = page.locator("main table[data-sortable] tbody th").all_inner_texts()
    assert is_sorted([name.strip() for name in names], descending=False)
    assert set(map(str.strip, names)) == set(recorded_site.input("directories").dataset.documents)
    watch.check()
