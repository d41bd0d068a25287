"""Pages of documents: their numbers are those of the score rows, their differences give both texts back."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from document_pages import Pages, answers_file, pages
from histeval.datasets.bundled import bundled
from histeval.entities import score_entities
from histeval.overview.documents import document_numbers, document_value
from histeval.overview.documents.differences import LINE_END, differences, rows, segments
from histeval.overview.documents.images import prepare
from histeval.overview.documents.manuscripts import page_causes
from histeval.overview.page import clean
from histeval.tasks.base import Answer
from histeval.text import CAUSES, align
from samples import LETTERS, RIGHT, write_letters
from support import examples

TASKS = ("letters", "manuscripts", "directories")


@pytest.fixture(scope="module", params=TASKS)
def demo(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Pages:
    task = request.param
    both = [bundled(f"{task}/careful"), bundled(f"{task}/hasty")]
    return pages(task, bundled(task), both, tmp_path_factory.mktemp(task))


class Tables(HTMLParser):
    """The cells of the table of systems, and the tags of a page."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.inside = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag == "table":
            self.inside = "systems" in (dict(attrs).get("class") or "")
        if self.inside and tag == "tr":
            self.rows.append([])
        if self.inside and tag in ("td", "th"):
            self.rows[-1].append("")

    def handle_data(self, data: str) -> None:
        if self.inside and self.rows and self.rows[-1]:
            self.rows[-1][-1] += data.strip()

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self.inside = False


def counts(score: Any, document: str) -> dict[str, int]:
    row = score.rows[0][document]
    return dict(zip(score.scorer.columns, row.counts.tolist(), strict=True))


def recomputed(task: str, found: dict[str, int], headline: Any) -> list[float | int | None]:
    """The numbers of a document from its columns, written anew."""
    if task == "manuscripts":
        pages_ = found["pages"]
        mean = [found[f"page_{part}"] / 1e10 / pages_ if pages_ else None for part in ("fuzzy", "cer")]
        totals = [sum(v for k, v in found.items() if k.endswith(f"_{part}")) for part in ("edits", "characters")]
        words = sum(v for k, v in found.items() if k.endswith("_word_edits"))
        return [*mean, totals[0] - words, totals[1]]
    names = [f"{name}_" for name in headline] if task == "letters" else ["All/"]
    tp, fp, fn = (
        sum(v for k, v in found.items() if k.endswith(end) and any(k.startswith(name) for name in names))
        for end in ("_tp", "_fp", "_fn")
    )
    return [2 * tp / (2 * tp + fp + fn) if tp + fp + fn else None, tp, fp, fn]


def test_the_numbers_of_a_page_are_those_of_the_score_rows(demo: Pages) -> None:
    for document in list(demo.dataset.documents)[:40]:
        shown = {row[0]: row[1:] for row in Tables(demo.page(document)).rows[1:]}
        assert len(shown) == len(demo.scores)
        for score in demo.scores:
            row = score.rows[0][document]
            wanted = recomputed(demo.task.name, counts(score, document), getattr(score.scorer, "headline_fields", None))
            assert [number.value for number in document_numbers(score.scorer, row)] == wanted
            assert document_value(score.scorer, row) == wanted[0]
            cells = shown[Path(score.run).stem]
            texts = ["–" if v is None else f"{v:.3f}" if isinstance(v, float) else str(v) for v in wanted]
            assert cells == [*texts, (row.failure or "").replace("_", " ")]


def test_the_data_of_a_letter_tells_every_reason_once(tmp_path: Path) -> None:
    both = [bundled("letters/careful"), bundled("letters/hasty")]
    demo = pages("letters", bundled("letters"), both, tmp_path)
    checked = 0
    for document in demo.dataset.documents:
        data = demo.data(document)
        for score, place in zip(demo.scores, data["of"], strict=True):
            fields = {field["name"]: field for field in data["views"][place]["fields"]}
            for name, shown in score.rows[0][document].fields.items():
                if name not in fields:
                    assert not shown["reasons"]
                    assert name not in getattr(score.scorer, "headline_fields")  # noqa: B009
                    continue
                field = fields[name]
                assert field["counts"] == [shown["tp"], shown["fp"], shown["fn"]]
                told = [kind for row in field["rows"] for kind in row["counts"]]
                assert [told.count(kind) for kind in ("TP", "FP", "FN")] == field["counts"]
                assert sum(max(1, len(row["counts"])) for row in field["rows"]) == len(shown["reasons"])
                found = sorted(row["found"] for row in field["rows"] if row["found"] is not None)
                assert found == sorted(r["name"] for r in shown["reasons"] if r["side"] == "found")
                checked += len(field["rows"])
    assert checked > 40


def test_reasons_in_words(tmp_path: Path) -> None:
    dataset = write_letters(tmp_path / "data")
    wrong = {
        "letter01": {
            "send_date": "1931-05-14",
            "sender_persons": ["K. Holm", "Vik, Per"],
            "receiver_persons": ["Otto"],
        },
        "letter02": {"send_date": "1931-06-11", "sender_persons": ["Brandt, Otto"], "receiver_persons": ["Vik, Peer"]},
    }
    answers = answers_file(tmp_path / "a.jsonl", {name: {"record": record} for name, record in wrong.items()})
    demo = pages("letters", dataset, [answers], tmp_path / "out")

    def field(document: str, name: str) -> list[tuple[Any, ...]]:
        view = demo.data(document)["views"][0]
        found = next(one for one in view["fields"] if one["name"] == name)
        return [(row["mark"], row["expected"], row["found"], row["label"], row["counts"]) for row in found["rows"]]

    assert field("letter01", "sender_persons") == [
        ("right", "Holm, Karin", "K. Holm", "a listed form", ["TP"]),
        ("wrong", None, "Vik, Per", "another entry of the authority file", ["FP"]),
    ]
    assert field("letter01", "send_date") == [("wrong", "1931-05-04", "1931-05-14", "another value", ["FP", "FN"])]
    assert field("letter02", "sender_persons") == [
        ("neutral", "Brandt, Otto", None, "not asked for", []),
        ("wrong", None, "Brandt, Otto", "only inferred in the ground truth", ["FP"]),
    ]
    assert field("letter02", "receiver_persons") == [
        ("wrong", "Vik, Per", "Vik, Peer", "in no entry of the authority file", ["FP", "FN"]),
        ("missed", "Holm, Karin", None, "missed", ["FN"]),
    ]
    view = demo.data("letter01")["views"][0]
    date = next(one for one in view["fields"] if one["name"] == "send_date")["rows"][0]
    assert "".join(part[0] for part in date["diff"]) == "1931-05-04"
    assert "".join(part[1] for part in date["diff"]) == "1931-05-14"
    assert [part for part in date["diff"] if part[2]] == [["0", "1", "x"]]
    failed = demo.data("letter03")["views"][0]
    assert failed["failure"]["reason"] == "missing"
    assert "raw" not in failed


def test_a_listed_form_stands_beside_its_own_name(tmp_path: Path) -> None:
    letter = {
        "send_date": ["None"],
        "sender_persons": ["Chef, Inge", "Holm, Karin"],
        "receiver_persons": ["None"],
        "has_signatures": "TRUE",
    }
    persons = [
        {"name": "Chef, Inge", "alternateName": ["Karin Holm-Chef"]},
        {"name": "Holm, Karin", "alternateName": ["die Chefin"]},
    ]
    dataset = write_letters(tmp_path / "data", {"letter01": letter}, persons)
    record = {"send_date": None, "sender_persons": ["die Chefin", "Karin Holm-Chef"], "receiver_persons": []}
    demo = pages("letters", dataset, [answers_file(tmp_path / "a.jsonl", {"letter01": {"record": record}})], tmp_path)
    senders = demo.data("letter01")["views"][0]["fields"][1]
    assert [(row["expected"], row["found"]) for row in senders["rows"]] == [
        ("Holm, Karin", "die Chefin"),
        ("Chef, Inge", "Karin Holm-Chef"),
    ]


def test_equal_answers_are_kept_once_and_unscored_runs_have_none(tmp_path: Path) -> None:
    dataset = write_letters(tmp_path / "data")
    same: dict[str, Any] = {name: {"record": record} for name, record in RIGHT.items()}
    other = {**same, "letter02": {"text": "I cannot read this letter."}}
    files = [answers_file(tmp_path / f"{name}.jsonl", same if name != "c" else other) for name in "abc"]
    demo = pages("letters", dataset, files, tmp_path / "out")
    assert set(LETTERS) == set(demo.dataset.documents)
    assert demo.data("letter01")["of"] == [0, 0, 0]
    data = demo.data("letter02")
    assert data["of"] == [0, 0, 1]
    assert len(data["views"]) == 2
    assert data["views"][1]["raw"]["text"] == "I cannot read this letter."
    rows_ = dict(demo.scores[1].rows[0])
    del rows_["letter01"]
    from dataclasses import replace

    demo.scores[1] = replace(demo.scores[1], rows=(rows_,))
    assert demo.data("letter01")["of"] == [0, -1, 0]
    html = demo.page("letter01")
    assert 'value="a"' in html
    assert 'value="b"' not in html


def test_the_numbers_of_each_text_are_those_scored_and_causes_sum_to_edits(tmp_path: Path) -> None:
    both = [bundled("manuscripts/careful"), bundled("manuscripts/hasty")]
    demo = pages("manuscripts", bundled("manuscripts"), both, tmp_path)
    changed = 0
    for document in demo.dataset.documents:
        data = demo.data(document)
        for score, place in zip(demo.scores, data["of"], strict=True):
            view = data["views"][place]
            scored = score.rows[0][document].fields
            assert {text["name"] for text in view["texts"] if "numbers" in text} == set(scored)
            total = 0
            for text in view["texts"]:
                if "numbers" in text:
                    row = scored[text["name"]]
                    assert text["numbers"] == [
                        ["fuzzy", f"{row['fuzzy']:.3f}"],
                        ["CER", f"{row['cer']:.3f}"],
                        ["edits", f"{row['edits']} of {row['length']}"],
                    ]
                    total += text["characters"]["edits"]
                for level in ("characters", "words"):
                    drawn = text[level]
                    assert sum(number for _, number in drawn["causes"]) == drawn["edits"]
                    assert sum(n * times for *_, part, times in drawn["changes"] for _, n in part) == drawn["edits"]
                    changed += drawn["edits"]
            answer = demo.answers[score.run].get(document) or Answer(document, error="missing")
            causes, table = page_causes(score.scorer, demo.dataset.documents[document].truth, answer)
            assert sum(causes.values()) == total
            assert bool(table) == bool(total)
    assert changed > 50


def test_text_in_another_field_is_a_matter_of_layout(tmp_path: Path) -> None:
    truth = tmp_path / "data" / "ground_truths"
    truth.mkdir(parents=True)
    entry = {"folio": "3", "text": "vnd ein pferit", "addition1": "nota bene hie"}
    (truth / "image_1.json").write_text(__import__("json").dumps({"[3r]": [entry]}), encoding="utf-8")
    moved = {"folios": [{"folio": "3", "text": "vnd ein pferit nota bene hie", "addition1": ""}]}
    file = answers_file(tmp_path / "a.jsonl", {"image_1": {"record": moved}})
    demo = pages("manuscripts", tmp_path / "data", [file], tmp_path / "out")
    texts = {text["name"]: text for text in demo.data("image_1")["views"][0]["texts"]}
    layout = list(CAUSES).index("layout")
    assert texts["[3r]/text"]["characters"]["causes"] == [[layout, 14]]
    assert texts["[3r]/addition1"]["characters"]["causes"] == [[layout, 13]]


TEXT = st.text("aeſuvnV ẽ\u0304\n,-بא\U00010348", max_size=40)


def written(parts: list[Any]) -> str:
    return "".join(part if isinstance(part, str) else part[0] for part in parts)


@given(TEXT, TEXT)
@settings(max_examples=examples(150), deadline=None)
def test_rows_give_both_texts_back(reference: str, hypothesis: str) -> None:
    for unit in ("grapheme", "word"):
        found = segments(align(reference, hypothesis, unit))
        assert "".join(one for one, _, _ in found) == reference
        assert "".join(other for _, other, _ in found) == hypothesis
        lines = rows(found, unit)
        truth = [written(line[0]).replace(LINE_END, "") for line in lines]
        assert "\n".join(truth) == clean(reference)
        answer = "".join(written(line[1]).replace(LINE_END, "") for line in lines)
        assert answer.replace("\n", "") == clean(hypothesis).replace("\n", "")


def test_a_cluster_is_never_cut() -> None:
    drawn = differences("vn\u0303 e\u0301\u0302x", "vn e\u0301x")["characters"]
    marked = [part[0] for row in drawn["rows"] for part in row[0] if not isinstance(part, str)]
    assert marked == ["n\u0303", "e\u0301\u0302"]


def under_bars(pieces: list[Any], side: int) -> list[str]:
    """The words under each bar of one side, lane by lane."""
    found = []
    for lane in range(len(pieces[0][side])):
        words: str | None = None
        for piece in pieces:
            bar = piece[side][lane]
            assert bool(bar) == (words is not None or (bar is not None and "begin" in bar[2]))
            if bar:
                words = piece[0] if "begin" in bar[2] else f"{words}{piece[0]}"
                if "end" in bar[2]:
                    found.append(words)
                    words = None
    return found


def test_entities_are_drawn_where_they_stand_and_classed_as_counted(tmp_path: Path) -> None:
    both = [bundled("directories/careful"), bundled("directories/hasty")]
    demo = pages("directories", bundled("directories"), both, tmp_path, "corrected")
    kinds: set[str] = set()
    for document in list(demo.dataset.documents)[:60]:
        entry = demo.dataset.documents[document].truth
        data = demo.data(document)
        for score, place in zip(demo.scores, data["of"], strict=True):
            view = data["views"][place]
            assert "".join(piece[0] for piece in view["pieces"]) == clean(entry.text.replace("\u2029", "¶ "))
            drawn = [bar for piece in view["pieces"] for bar in piece[1] if bar and "begin" in bar[2]]
            assert len(drawn) == len(entry.spans)
            right = sum(entity[0] == "right" for entity in view["entities"])
            found = counts(score, document)
            hits = sum(v for k, v in found.items() if k.startswith("All/") and k.endswith("_tp"))
            if score.rows[0][document].failure is None and "malformed" not in score.rows[0][document].fields:
                assert right == hits
            kinds.update(entity[0] for entity in view["entities"])
            texts = [entry.text[span.start : span.end].strip() for span in entry.spans]
            assert sorted(under_bars(view["pieces"], 1)) == sorted(
                clean(text.replace("\u2029", "¶ ")) for text in texts
            )
            assert len([entity for entity in view["entities"] if entity[3]]) == len(entry.spans)
    assert {"right", "boundary", "missed"} <= kinds
    assert score_entities(entry, entry).tp == len(entry.spans)


def test_neighbours_fragments_and_provenance(demo: Pages) -> None:
    names = list(demo.dataset.documents)
    html = demo.page(names[1])
    tags = Tables(html).tags
    hrefs = [attributes.get("href") for tag, attributes in tags if tag == "a" and "data-keep" in attributes]
    links = demo.links(names[1])
    place = links.worst.index(names[1])
    worst = [links.documents[name] for name in links.worst[max(0, place - 1) : place + 2] if name != names[1]]
    assert hrefs == [links.documents[names[0]], links.documents[names[2]], *worst]
    options = [str(attributes["value"]) for tag, attributes in tags if tag == "option"]
    assert sorted(options) == ["careful", "hasty"]
    assert demo.dataset.fingerprint[:12] in html
    assert demo.dataset.description.licence in html
    assert demo.dataset.description.citation in html
    language = demo.dataset.description.languages[0]
    assert any(attributes.get("data-language") == language for _, attributes in tags)
    assert any(attributes.get("lang") == language for _, attributes in tags)
    ids = [attributes["id"] for _, attributes in tags if "id" in attributes]
    assert len(ids) == len(set(ids))
    assert not re.search(r"\sstyle=|\son[a-z]+=", html)


def test_images_are_made_once_and_small(tmp_path: Path) -> None:
    from PIL import Image

    demo = pages("letters", bundled("letters"), [bundled("letters/careful")], tmp_path)
    document = next(one for one in demo.dataset.documents.values() if len(one.images) > 1)
    first = prepare(document, tmp_path / "images")
    assert len(first) == len(document.images)
    times = {file: file.stat().st_mtime_ns for file in (tmp_path / "images").iterdir()}
    assert prepare(document, tmp_path / "images") == first
    assert {file: file.stat().st_mtime_ns for file in (tmp_path / "images").iterdir()} == times
    for ref in first:
        with Image.open(tmp_path / "images" / ref.src) as image, Image.open(tmp_path / "images" / ref.thumb) as small:
            assert image.size == (ref.width, ref.height)
            assert max(image.size) <= 2000
            assert max(small.size) <= 240
            assert not image.getexif()


def test_images_that_cannot_be_read_are_said(tmp_path: Path) -> None:
    from PIL import Image

    from histeval.datasets.base import Document

    broken, turned = tmp_path / "a.png", tmp_path / "b.jpg"
    broken.write_bytes(b"\x89PNG\r\n\x1a\nnot really")
    exif = Image.Exif()
    exif[0x0112] = 6  # turned by 90 degrees
    Image.new("RGB", (300, 100), "white").save(turned, exif=exif)
    document = Document("../../x", None, "u", images=(broken, turned, tmp_path / "absent.jpg"))
    found = prepare(document, tmp_path / "out")
    assert [bool(ref.src) for ref in found] == [False, True, False]
    assert "page 1 cannot be shown" in found[0].note
    assert "page 3 cannot be shown" in found[2].note
    assert (found[1].width, found[1].height) == (100, 300)
    assert sorted(file.parent for file in tmp_path.rglob("*.jpg")) == sorted([tmp_path, *[tmp_path / "out"] * 2])
