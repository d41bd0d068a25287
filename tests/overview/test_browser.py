"""The overview in the system's Chromium, opened from the disk, without a network."""

from __future__ import annotations

import posixpath
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from histeval.overview.slugs import slug
from overview_sites import PROTOCOLS, TASKS, MadeSite, make_site, table_rows, words
from overview_watch import MAIN, Watch, is_sorted, press_tab_until, rows_of, shown

pytestmark = pytest.mark.browser


def board(site: MadeSite, watch: Watch, task: str) -> Any:
    return watch.open(site.out, site.leaderboard(task))


@pytest.mark.parametrize("task", TASKS)
def test_any_column_sorts_by_click_and_by_key(demo_site: MadeSite, watch: Watch, task: str) -> None:
    page = board(demo_site, watch, task)
    before = {row["run"] for row in rows_of(page)}
    heads = page.locator(f"{MAIN} thead th")
    sortable = 0
    for column in range(heads.count()):
        head = heads.nth(column)
        button = head.locator("button")
        if not button.count():
            assert head.get_attribute("data-unsorted") is not None
            continue
        sortable += 1
        seen = []
        for act in (button.click, lambda button=button: button.press("Enter"), lambda button=button: button.press(" ")):
            act()
            order = head.get_attribute("aria-sort")
            rows = rows_of(page)
            assert {row["run"] for row in rows} == before
            assert is_sorted([row["keys"][column] for row in rows], order == "descending"), (column, order)
            seen.append(order)
        assert seen[0] == seen[2] != seen[1]
        assert {*seen} == {"ascending", "descending"}
        assert page.locator(f"{MAIN} thead th[aria-sort]").count() == 1
    assert sortable >= 8
    watch.check()


def test_the_board_opens_sorted_by_its_first_number(demo_site: MadeSite, watch: Watch) -> None:
    for task in TASKS:
        page = board(demo_site, watch, task)
        column = page.locator(f"{MAIN} thead th").evaluate_all(
            "heads => heads.findIndex(h => h.ariaSort === 'descending')"
        )
        assert column >= 0
        values = [float(row["keys"][column]) for row in rows_of(page)]
        assert values == sorted(values, reverse=True)


def test_filters_by_provider_date_failures_and_words(demo_site: MadeSite, watch: Watch) -> None:
    page = board(demo_site, watch, "letters")
    everything = rows_of(page)
    form = page.locator("form[data-filters]")
    assert form.is_visible()
    field = {name: form.locator(f"[name={name}]") for name in ("text", "provider", "from", "until", "failed", "top")}

    def expect(want: Any) -> None:
        expected = [row["run"] for row in everything if want(row)]
        assert 0 < len(expected) < len(everything)
        assert [row["run"] for row in shown(page)] == expected
        assert f"{len(expected)} of {len(everything)}" in form.locator("[data-shown]").inner_text()

    for provider in sorted({row["provider"] for row in everything}):
        field["provider"].select_option(provider)
        expect(lambda row, provider=provider: row["provider"] == provider)
    field["provider"].select_option("")
    assert len(shown(page)) == len(everything)
    field["from"].fill("2025-03-02")
    expect(lambda row: row["date"] >= "2025-03-02")
    field["until"].fill("2025-06-15")
    expect(lambda row: "2025-03-02" <= row["date"] <= "2025-06-15")
    field["from"].fill("")
    field["until"].fill("")
    for choice in ("none", "some"):
        field["failed"].select_option(choice)
        expect(lambda row, choice=choice: (row["failed"] == 0) == (choice == "none"))
    field["provider"].select_option("bolt")
    expect(lambda row: row["failed"] > 0 and row["provider"] == "bolt")
    field["failed"].select_option("")
    field["provider"].select_option("")
    field["text"].fill("HASTY")
    expect(lambda row: "hasty" in row["text"])
    page.locator(f"{MAIN} thead th button").nth(1).click()  # sorting keeps the filter
    assert {row["run"] for row in shown(page)} == {row["run"] for row in everything if "hasty" in row["text"]}
    address = page.url
    page.reload()  # so does the address
    assert page.url == address
    assert {row["run"] for row in shown(page)} == {row["run"] for row in everything if "hasty" in row["text"]}
    field["text"].fill("hästy")  # as people search: marks and case make no difference
    assert {row["run"] for row in shown(page)} == {row["run"] for row in everything if "hasty" in row["text"]}
    field["text"].fill("no such system")
    assert shown(page) == []
    watch.check()


def test_only_the_best_and_what_is_like_them(demo_site: MadeSite, watch: Watch) -> None:
    page = board(demo_site, watch, "directories")
    everything = rows_of(page)
    page.locator("form[data-filters] [name=top]").check()
    expected = [row["run"] for row in everything if "best" in row["text"].split("hasty")[0]]
    assert [row["run"] for row in shown(page)] == [row["run"] for row in everything if row["top"]]
    assert 0 < len(shown(page)) < len(everything)
    assert expected[0] == shown(page)[0]["run"]


@pytest.mark.parametrize("task", TASKS)
def test_the_protocol_switch_shows_the_other_numbers_and_keeps_the_filter(
    demo_site: MadeSite, watch: Watch, task: str
) -> None:
    page = board(demo_site, watch, task)
    page.locator("form[data-filters] [name=provider]").select_option("bolt")
    for protocol in ("published", "corrected", "documented"):
        page.get_by_role("link", name=protocol, exact=True).first.click()
        page.wait_for_load_state()
        watch.check()
        assert watch.here() == demo_site.leaderboard(task, protocol)
        tree = demo_site.pages[watch.here()]
        _, rows = table_rows(tree.xpath("//table[@data-board='main']")[0])
        wanted = [words(row[2 + 1]) for row in rows if row[0].getparent().get("data-provider") == "bolt"]
        column = page.locator(f"{MAIN} tbody tr:not([hidden]) td:nth-child(4)")
        assert [" ".join(text.split()) for text in column.all_inner_texts()] == wanted
        assert f"|{protocol}|" in page.locator(".signature").first.inner_text()
        assert {row["provider"] for row in shown(page)} == {"bolt"}


@pytest.mark.parametrize("task", TASKS)
def test_from_the_front_to_a_run_to_a_document_and_back(demo_site: MadeSite, watch: Watch, task: str) -> None:
    page = watch.open(demo_site.out)
    title = demo_site.input(task).dataset.description.title
    page.get_by_role("link", name=title).first.click()
    page.wait_for_load_state()
    assert watch.here() == demo_site.leaderboard(task)
    run = slug("T02")
    page.locator(f'{MAIN} a[href="runs/{run}.html"]').click()
    page.wait_for_load_state()
    assert watch.here() == f"{demo_site.folder(task)}runs/{run}.html"
    link = page.locator("main table tbody a[href*='documents/']").first
    name = link.inner_text().strip()
    link.click()
    page.wait_for_load_state()
    assert watch.here() == f"{demo_site.folder(task)}documents/{slug(name)}.html"
    assert name in page.locator("h1").inner_text()
    assert page.locator("#system").input_value() == run  # the answer of the run one came from
    assert page.locator("#answer").inner_text().strip()
    page.locator("a[data-run]").click()
    page.wait_for_load_state()
    assert watch.here() == f"{demo_site.folder(task)}runs/{run}.html"
    page.locator("nav .trail a").nth(1).click()
    page.wait_for_load_state()
    assert watch.here() == demo_site.leaderboard(task)
    page.locator("nav .trail a").first.click()
    page.wait_for_load_state()
    assert watch.here() == "index.html"
    watch.check()


def test_from_worst_to_best_every_document_is_met_once(demo_site: MadeSite, watch: Watch) -> None:
    task = "letters"
    page = watch.open(demo_site.out, f"{demo_site.folder(task)}documents.html")
    table = page.locator("main table[data-sortable]").first
    order = [name.strip() for name in table.locator("tbody th").all_inner_texts()]
    assert sorted(order) == sorted(demo_site.input(task).dataset.documents)
    table.locator("tbody th a").first.click()
    page.wait_for_load_state()
    page.locator("#system").select_option(slug("T03"))
    met = []
    while True:
        met.append(page.locator("h1").inner_text().strip())
        assert page.locator("#system").input_value() == slug("T03")  # the system stays chosen
        step = page.locator("a.step[title^='Next better document']")
        if not step.count():
            break
        step.click()
        page.wait_for_load_state()
    assert met == order
    page.locator("a.step[title^='Next worse document']").click()
    page.wait_for_load_state()
    assert page.locator("h1").inner_text().strip() == order[-2]
    watch.check()


@pytest.mark.parametrize("task", TASKS)
def test_the_picker_shows_the_answer_of_each_system(demo_site: MadeSite, watch: Watch, task: str) -> None:
    one = demo_site.input(task)
    name = (one.selection.documents or tuple(one.dataset.documents))[1]
    page = watch.open(demo_site.out, f"{demo_site.folder(task)}documents/{slug(name)}.html")
    options = page.locator("#system option").evaluate_all("all => all.map(one => [one.value, one.dataset.href])")
    assert len(options) == (8 + 1 if task == "letters" else 6)
    answers: dict[str, str] = {}
    for value, href in options:
        page.locator("#system").select_option(value)
        assert page.url.endswith(f"#{value}")
        assert page.locator("a[data-run]").get_attribute("href") == href
        assert page.locator("[data-row][aria-current=true]").get_attribute("data-row") == value
        answers[value] = page.locator("#answer").inner_text()
        watch.check()
    assert len(set(answers.values())) >= 3
    assert "no answer" in answers[slug("T05")].lower() or answers[slug("T05")] != ""
    first = options[0][0]
    page.locator("[data-choose]").first.click()
    assert page.locator("#system").input_value() == first
    page.locator("[data-after]").press("Enter")
    assert page.locator("#system").input_value() == options[1][0]
    page.locator("[data-before]").press(" ")
    page.locator("[data-before]").press(" ")
    assert page.locator("#system").input_value() == options[-1][0]  # round the end
    page.locator("#system").focus()
    page.keyboard.press("ArrowUp")
    assert page.locator("#system").input_value() == options[-2][0]
    assert page.locator("#answer").inner_text() == answers[options[-2][0]]
    watch.open(demo_site.out, watch.here(), options[2][0])  # an address with the answer can be cited
    assert page.locator("#system").input_value() == options[2][0]


def test_images_zoom_move_and_turn_by_key(demo_site: MadeSite, watch: Watch) -> None:
    page = watch.open(demo_site.out, f"{demo_site.folder('letters')}documents/letter01.html")
    stage = page.locator(".stage")
    size = """stage => { const b = stage.querySelector('img').getBoundingClientRect();
        const s = stage.getBoundingClientRect();
        return [b.width, b.left - s.left, b.top - s.top]; }"""
    page.locator(".stage img").evaluate("image => image.decode()")  # waiting by a string is against the page's policy
    assert page.locator(".stage img").evaluate("image => image.naturalWidth") > 100
    start = stage.evaluate(size)
    stage.focus()
    for _ in range(4):
        page.keyboard.press("+")
    large = stage.evaluate(size)
    assert large[0] > 1.5 * start[0]
    page.keyboard.press("ArrowDown")
    assert stage.evaluate(size)[2] < large[2]
    page.keyboard.press("0")
    assert stage.evaluate(size) == pytest.approx(start, abs=1)
    source = page.locator(".stage img").get_attribute("src")
    page.keyboard.press("PageDown")
    assert page.locator(".stage img").get_attribute("src") != source
    page.locator(".stage img").evaluate("image => image.decode()")


def test_keys_alone_lead_from_the_front_to_an_answer(demo_site: MadeSite, watch: Watch) -> None:
    page = watch.open(demo_site.out)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    press_tab_until(page, f"main a[href*='{demo_site.folder('letters')}index.html']")
    page.keyboard.press("Enter")
    page.wait_for_url("**/demo_letters/index.html")
    press_tab_until(page, "form[data-filters] input[name=text]")
    page.keyboard.type("mixed")
    assert [row["run"] for row in shown(page)] == [slug("T03")]
    press_tab_until(page, f"{MAIN} thead button")
    page.keyboard.press("Enter")
    assert page.locator(f"{MAIN} thead th[aria-sort]").count() == 1
    press_tab_until(page, f"{MAIN} tbody tr:not([hidden]) a")
    page.keyboard.press("Enter")
    page.wait_for_url(f"**/runs/{slug('T03')}.html*")
    press_tab_until(page, "main a[href*='documents/letter']", 120)
    page.keyboard.press("Enter")
    page.wait_for_url("**/documents/letter*")
    press_tab_until(page, "#system")
    before = page.locator("#system").input_value()
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    after = page.locator("#system").input_value()
    if after == before:  # it was the first
        page.keyboard.press("ArrowDown")
        after = page.locator("#system").input_value()
    assert after != before
    assert page.url.endswith(f"#{after}")
    watch.check()


def kinds(site: MadeSite) -> list[str]:
    """One or two pages of every kind; all of those that every dataset has once."""
    found: dict[str, list[str]] = {}
    for path in site.pages:
        folder = posixpath.dirname(path)
        found.setdefault(folder, []).append(path)
    return [path for folder, paths in found.items() for path in (paths[:2] if "/" in folder[9:] else paths)]


def test_no_kind_of_page_errs_or_asks_for_anything_else(demo_site: MadeSite, watch: Watch) -> None:
    """Narrow and wide; nothing but a table in its frame is wider than the window."""
    for path in kinds(demo_site):
        page = watch.open(demo_site.out, path)
        broken = page.evaluate(
            """Array.from(document.images)
            .filter(i => i.complete && i.loading !== 'lazy' && !i.naturalWidth).map(i => i.src)"""
        )
        assert broken == [], path
        for width in (390, 1300):
            page.set_viewport_size({"width": width, "height": 900})
            over = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            assert over <= 0, (path, width)


def test_without_scripts_pages_still_say_their_numbers(demo_site: MadeSite, chromium: Any) -> None:
    context = chromium.new_context(java_script_enabled=False, offline=True)
    page = context.new_page()
    folder = demo_site.out / demo_site.folder("letters")
    page.goto((folder / "index.html").as_uri())
    assert page.locator(f"{MAIN} tbody tr").count() == 6
    assert page.locator("form[data-filters]").is_hidden()
    page.goto((folder / "documents" / "letter02.html").as_uri())
    assert page.locator("table.systems tbody tr").count() == 9
    assert page.locator("#plain").is_visible()
    assert page.locator("[data-picker]").is_hidden()
    context.close()


def test_every_protocol_of_every_dataset_has_a_page(demo_site: MadeSite) -> None:
    for task in TASKS:
        assert len({demo_site.leaderboard(task, protocol) for protocol in PROTOCOLS}) == 3


def test_a_single_dataset_opens_with_its_leaderboard(demo_site: MadeSite, watch: Watch, tmp_path: Path) -> None:
    site = make_site(tmp_path / "a folder with blanks & ä#%", demo_site.input("manuscripts"))
    page = watch.open(site.out)
    assert page.locator(MAIN).count() == 1
    page.locator(f"{MAIN} tbody a").first.click()
    page.wait_for_load_state()
    page.locator("main table tbody a[href*='documents/']").first.click()
    page.wait_for_load_state()
    assert page.locator("#answer").inner_text().strip()
    assert unquote(urlsplit(page.url).path).startswith(str(site.out.resolve()))
    watch.check()
