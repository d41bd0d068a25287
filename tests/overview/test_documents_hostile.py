"""Answers and dataset files that attack the page stay text: read as text here, and opened in the browser."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from document_pages import Pages, answers_file, pages
from histeval.datasets.bundled import bundled
from histeval.overview.documents.views import MOST_RAW
from samples import write_letters

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
needs_browser = pytest.mark.skipif(CHROMIUM is None, reason="the system has no Chromium")

ATTACK = (
    "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>\"'><svg onload=window.hacked=3>"
    "{{7*7}} javascript:window.hacked=4 \u202egnp.exe \x00\x1b[31m \u2028\u2029 \ud800 &lt;b&gt;"
)
LINE = "x" * 1_000_000


def hostile_letters(tmp_path: Path) -> Pages:
    name = "letter01"
    letter = {
        "send_date": [ATTACK],
        "sender_persons": [ATTACK, "Holm, Karin"],
        "receiver_persons": [f"<{ATTACK}>"],
        "has_signatures": "TRUE",
    }
    persons = [{"name": ATTACK, "alternateName": [ATTACK * 3]}]
    dataset = write_letters(tmp_path / "data", {name: letter}, persons)
    answers: dict[str, dict[str, Any]] = {
        "attack": {"record": {"send_date": ATTACK, "sender_persons": [ATTACK, LINE], "receiver_persons": [ATTACK]}},
        "text": {"text": ATTACK + LINE},
        "error": {"error": ATTACK},
        "deep": {"text": "[" * 200_000},
        "javascript:window.hacked=5": {"record": {"send_date": "1931-01-01"}},
    }
    files = []
    for place, answer in enumerate(answers.values()):
        file = tmp_path / f"{'x' * place}run{place}.jsonl"
        file.write_text(json.dumps({"document": name, **answer}) + "\n", encoding="utf-8")
        files.append(file)
    return pages("letters", dataset, files, tmp_path / "out")


def hostile_page(tmp_path: Path) -> Pages:
    truth = tmp_path / "page" / "ground_truths"
    truth.mkdir(parents=True)
    entry = {"folio": "3", "text": f"vnd {ATTACK}\n so", "addition1": "\u05d0\u05d1\u05d2 abc \u0627\u0644"}
    (truth / "image_1.json").write_text(json.dumps({"[3r]": [entry]}), encoding="utf-8")
    found = {
        "folios": [{"folio": ATTACK, "text": f"und {ATTACK} {LINE}", "addition1": "\u05d0\u05d2 abc \u202e\u0627"}]
    }
    file = answers_file(tmp_path / "page.jsonl", {"image_1": {"record": found}})
    return pages("manuscripts", tmp_path / "page", [file], tmp_path / "page_out")


def hostile_entries(tmp_path: Path) -> Pages:
    data = bundled("directories")
    document = "132"
    spans = [
        {"type": ATTACK, "start": 0, "end": 6},
        {"type": "PER", "start": -5, "end": 10**9},
        {"type": LINE, "start": 2, "end": 4},
    ]
    files = [
        answers_file(tmp_path / "spans.jsonl", {document: {"record": {"spans": spans}}}),
        answers_file(tmp_path / "markup.jsonl", {document: {"text": f"<PER>Abelin</PER>{ATTACK}<script>alert(1)"}}),
    ]
    return pages("directories", data, files, tmp_path / "entries_out")


CASES = (("letter01", hostile_letters), ("image_1", hostile_page), ("132", hostile_entries))


@pytest.mark.parametrize(("document", "make"), CASES)
def test_hostile_text_stays_text_and_is_cut(document: str, make: Any, tmp_path: Path) -> None:
    made = make(tmp_path)
    html = made.page(document)
    assert html.count("<script") == 2
    assert "<img" not in html
    assert "<svg" not in html
    if document != "132":  # the attack stands in the ground truth too
        assert "{{7*7}}" in html
    assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2028\u2029\ud800-\udfff]", html)
    assert not re.search(r"""href=["']?\s*javascript:""", html, re.IGNORECASE)
    data = made.data(document)  # asserts that the script is ASCII without tags
    written = json.dumps(data, ensure_ascii=False)
    assert not re.search("[\u202a-\u202e\u2028\u2029\ud800-\udfff]", written)
    assert len(written) < 40 * MOST_RAW
    raws = [view["raw"] for view in data["views"] if "raw" in view]
    for raw in raws:
        assert (raw["length"] > MOST_RAW) == ("cut" in raw)
    if document == "letter01":
        assert any("cut after 20,000 of 1,000," in raw.get("cut", "") for raw in raws)


@pytest.fixture(scope="module")
def browser(chromium: Any) -> Any:
    return chromium  # one for all tests: a second one in the same process is refused


def open_page(browser: Any, file: Path, fragment: str = "") -> tuple[Any, list[str]]:
    page = browser.new_page(viewport={"width": 1200, "height": 900})
    said: list[str] = []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))

    def refuse(dialog: Any) -> None:
        said.append("dialog")
        dialog.dismiss()

    page.on("dialog", refuse)
    page.goto(file.resolve().as_uri() + fragment)
    page.locator("#answer > *").first.wait_for(state="attached")
    return page, said


@needs_browser
@pytest.mark.browser
@pytest.mark.parametrize(("document", "make"), CASES)
def test_nothing_of_an_answer_runs_in_the_browser(browser: Any, document: str, make: Any, tmp_path: Path) -> None:
    made = make(tmp_path)
    folder = made.write([document])
    page, said = open_page(browser, folder / f"{document}.html")
    runs = page.locator("#system option").count()
    assert runs == len(made.scores)
    for _ in range(runs):
        page.locator("[data-after]").click()
        for details in page.locator("#answer details").all():
            details.evaluate("element => { element.open = true }")
        assert page.evaluate("window.hacked") is None
        assert page.locator("script").count() == 2
        assert page.locator("#answer img, #answer svg, #answer script, #answer a").count() == 0
        assert page.evaluate("document.documentElement.scrollWidth") <= 1200
    assert page.url.split("#")[0] == (folder / f"{document}.html").resolve().as_uri()
    assert said == []
    page.close()


@needs_browser
@pytest.mark.browser
def test_a_letter_is_read_with_the_keyboard(browser: Any, tmp_path: Path) -> None:
    both = [bundled("letters/careful"), bundled("letters/hasty")]
    made = pages("letters", bundled("letters"), both, tmp_path)
    folder = made.write(["letter01", "letter02"])
    page, said = open_page(browser, folder / "letter01.html", "#hasty")
    assert page.locator("#system").input_value() == "hasty"
    assert page.locator("#plain").is_hidden()
    data = made.data("letter01")
    view = data["views"][data["of"][1]]
    signs = page.locator("#answer .finding .sign").all_text_contents()
    marks = {"right": "✓", "wrong": "✗", "missed": "○", "neutral": "–"}
    assert signs == [marks[row["mark"]] for field in view["fields"] for row in field["rows"]]
    # another system, and the address that can be cited
    page.locator("#system").focus()
    page.keyboard.press("ArrowUp")
    assert page.url.endswith("letter01.html#careful")
    assert page.locator("#permalink").text_content().endswith("letter01.html#careful")
    assert page.locator("tr[aria-current]").get_attribute("data-row") == "careful"
    # zoom and pan
    stage = page.locator(".stage")
    stage.focus()
    width = page.evaluate("document.querySelector('.stage img').getBoundingClientRect().width")
    page.keyboard.press("+")
    page.keyboard.press("+")
    assert page.evaluate("document.querySelector('.stage img').getBoundingClientRect().width") > 1.3 * width
    left = page.evaluate("document.querySelector('.stage img').getBoundingClientRect().left")
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.querySelector('.stage img').getBoundingClientRect().left") < left
    page.keyboard.press("PageDown")
    assert "Page 2 of 2" in page.locator(".viewer-bar [role=status]").text_content()
    page.keyboard.press("0")
    # the next document keeps the system
    page.locator("a[data-keep]").first.focus()
    page.keyboard.press("Enter")
    page.wait_for_url("**/letter02.html#careful")
    assert page.locator("#system").input_value() == "careful"
    assert said == []
    page.close()


@needs_browser
@pytest.mark.browser
def test_differences_are_drawn_as_counted_and_right_to_left(browser: Any, tmp_path: Path) -> None:
    made = hostile_page(tmp_path)
    page, said = open_page(browser, made.write(["image_1"]) / "image_1.html")
    view = made.data("image_1")["views"][0]
    for level, button in (("characters", "Characters"), ("words", "Words")):
        page.get_by_role("button", name=button).click()
        marks = [
            part
            for text in view["texts"]
            for row in text[level]["rows"]
            for side in row
            for part in side
            if not isinstance(part, str)
        ]
        assert page.locator("#answer .cause").count() == len(marks)
        assert marks
    cells = page.locator("#answer table.aligned").last.locator("td .historical")
    assert {cells.nth(i).evaluate("element => getComputedStyle(element).direction") for i in range(2)} == {"rtl"}
    assert said == []
    page.close()


@needs_browser
@pytest.mark.browser
def test_entities_stand_above_and_below_their_words(browser: Any, tmp_path: Path) -> None:
    both = [bundled("directories/careful"), bundled("directories/hasty")]
    made = pages("directories", bundled("directories"), both, tmp_path)
    page, said = open_page(browser, made.write(["132"]) / "132.html", "#hasty")
    view = made.data("132")["views"][1]
    words = page.locator(".piece .word").all_text_contents()
    assert "".join(words) == "".join(piece[0] for piece in view["pieces"])
    boxes = page.evaluate(
        """[...document.querySelectorAll('.piece')].map(piece => ['.above', '.word', '.below'].map(
            part => piece.querySelector(part).getBoundingClientRect().top))"""
    )
    assert boxes
    assert all(above < word < below for above, word, below in boxes)
    assert page.locator("#answer .entities tbody tr").count() == len(view["entities"])
    assert said == []
    page.close()
