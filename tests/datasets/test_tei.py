"""TEI editions: pages, lines, what stands in the margin, readings, and files that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.pages import Page, folio_of, truth_of
from histeval.errors import DatasetError
from transcription_samples import EDITION, tei


def read(data: bytes, **options: Any) -> tuple[list[Page], ImportReport]:
    report = ImportReport("manuscripts", "tei")
    file = Source(Path("x/rope.xml"), "rope.xml", lambda: data, data[: 1 << 16])
    return list(FORMATS["tei"].read([file], options, report)), report


def truths(pages: list[Page]) -> list[dict[str, Any]]:
    return [truth_of(page, {}, ImportReport("manuscripts", "tei")) for page in pages]


def lines(body: str, **options: Any) -> list[str]:
    pages, report = read(tei(body), **options)
    return [folio_of(page, {}, report)["text"] for page in pages]


def test_an_edition_as_it_stands_on_the_page() -> None:
    pages, report = read(tei(EDITION))
    assert truths(pages) == [
        {
            "[3r]": [
                {
                    "folio": "iii",
                    "text": "Von dem ſeil\nItem dz ſeil\nſol sin sin lang ſtark\nvnd [...] guot",
                    "addition1": "nota",
                }
            ]
        },
        {"[3v]": [{"folio": "", "text": "wer es nimet\nder ſol es geben", "addition1": "fur"}]},
    ]
    assert [(page.id, page.image) for page in pages] == [("rope_3r", "rope_3r.jpg"), ("rope_3v", "rope_3v.jpg")]
    assert list(report.repaired) == ["a gap written as [...]"]
    assert list(report.left_out) == ["what the editor supplied (supplied)"]


def test_an_edition_as_edited() -> None:
    pages, _ = read(tei(EDITION), choice="edited", deleted="drop", gap="…")
    assert [folio["text"] for truth in truths(pages) for folios in truth.values() for folio in folios] == [
        "Von dem ſeil\nItem daz ſeil\nſol sin ſtark\nvnd … guot",
        "wer es nimet\nder soll es wider geben",
    ]


def test_a_note_of_the_editor_is_left_out_and_said() -> None:
    pages, report = read(tei(EDITION))
    folio_of(pages[0], {}, report)
    (what,) = [what for what in report.left_out if "note" in what]
    assert what == "a region of type 'note', by the rule for it"
    assert folio_of(pages[0], {"regions": {"note": "addition"}}, report)["addition1"] == "A later hand."


def test_without_page_breaks_the_text_is_one_page_named_after_the_file() -> None:
    pages, _ = read(tei("<p>eins\n   zwei</p><lg><l>drei</l><l>vier</l></lg>"))
    assert truths(pages) == [{"folios": [{"folio": "", "text": "eins zwei\ndrei\nvier"}]}]
    assert pages[0].id == "rope"


def test_text_before_the_first_page_break_is_a_page_of_its_own() -> None:
    pages, report = read(tei('<p>vor</p><pb n="1"/><p>nach</p>'))
    assert [page.id for page in pages] == ["rope_0", "rope_1"]
    assert report.repaired == {"text before the first pb made a page of its own": ["rope"]}


def test_a_page_that_begins_inside_elements() -> None:
    assert lines('<p><pb n="1"/>eins <hi>zwei <pb n="2"/>drei</hi> vier</p>') == ["eins zwei", "drei vier"]


def test_a_note_that_runs_over_a_page_break() -> None:
    pages, report = read(tei('<pb n="1"/><p>a<note place="margin">b <pb n="2"/>c</note> d</p>'))
    assert [folio_of(page, {}, report) for page in pages] == [
        {"folio": "", "text": "a", "addition1": "b"},
        {"folio": "", "text": "c\nd"},
    ]


def test_places_of_notes_and_additions() -> None:
    body = '<p>a <note place="inline">b</note> <add place="interlinear">c</add><add place="bottom">d</add></p>'
    pages, report = read(tei(body))
    assert folio_of(pages[0], {}, report) == {"folio": "", "text": "a b c", "addition1": "d"}


def test_empty_lines_columns_and_empty_pages() -> None:
    assert lines('<pb n="1"/><p><lb/>eins<lb/><lb/>drei</p><pb n="2"/><p/>') == ["eins\n\ndrei", ""]
    pages, _ = read(tei('<pb n="1"/><cb n="a"/><p><lb/>a</p><cb n="b"/><p><lb/>b</p>'))
    assert [[line.text for line in region.lines] for region in pages[0].regions] == [["a"], ["b"]]


def test_apparatus_signs_and_tables() -> None:
    body = "<p>x <app><lem>y</lem><rdg>z</rdg></app> <g ref='#rum'/> <g>ꝵ</g></p>"
    pages, report = read(tei(body + "<table><row><cell>1</cell><cell>2</cell></row></table>"))
    assert folio_of(pages[0], {}, report)["text"] == "x y \ufffd ꝵ\n1 2"
    assert list(report.left_out) == ["another reading of an apparatus (app)"]
    assert list(report.repaired) == ["a sign without text (g) read as U+FFFD"]


def test_a_choice_without_the_reading_asked_for() -> None:
    pages, report = read(tei("<p><choice><reg>soll</reg></choice></p>"))
    assert folio_of(pages[0], {}, report)["text"] == "soll"
    assert list(report.repaired) == ["a choice without the reading asked for: the other read"]


def test_images_of_a_facsimile() -> None:
    facsimile = '<facsimile><surface xml:id="s1"><graphic url="http://x.example/a/1.jpg"/></surface></facsimile>'
    data = tei('<pb n="1" facs="#s1"/><p>a</p><pb n="2" facs="#s9"/><p>b</p>')
    pages, report = read(data.replace(b"<text>", facsimile.encode() + b"<text>"))
    assert [page.image for page in pages] == ["1.jpg", ""]
    assert list(report.left_out) == ["a facs that refers to nothing"]


def test_a_documentary_edition_of_surfaces_and_zones() -> None:
    source = (
        '<sourceDoc><surface n="3r"><graphic url="a.jpg"/><zone type="marginalia"><line>nota</line></zone>'
        "<zone><line>eins</line><line>zwei</line></zone></surface></sourceDoc>"
    )
    data = tei("").replace(b"<text><body></body></text>", source.encode())
    pages, _ = read(data)
    assert truths(pages) == [{"[3r]": [{"folio": "", "text": "eins\nzwei", "addition1": "nota"}]}]


FAULTY: dict[str, tuple[Callable[[], bytes], str]] = {
    "no namespace": (lambda: tei("").replace(b" xmlns=", b" x="), "has no namespace, which every version of TEI has"),
    "another namespace": (lambda: tei("").replace(b"/ns/1.0", b"/ns/0.4"), "which no published version of TEI has"),
    "only a header": (lambda: tei("").replace(b"<text><body></body></text>", b""), "neither text nor sourceDoc"),
    "an entity": (
        lambda: tei("<p>&x;</p>").replace(b"<TEI", b'<!DOCTYPE TEI [<!ENTITY % x SYSTEM "http://x.example/">]><TEI'),
        "declares the entity x",
    ),
    "an element not closed": (lambda: tei("<p>x"), "is not well-formed XML"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_files_are_one_sentence(name: str) -> None:
    make, words = FAULTY[name]
    with pytest.raises(DatasetError, match=words) as caught:
        read(make())
    assert str(caught.value).startswith("x/rope.xml")
    assert "\n" not in str(caught.value)


def test_deep_nesting_is_read_or_refused_in_one_sentence() -> None:
    body = "<hi>" * 240 + "tief" + "</hi>" * 240
    assert lines(f"<p>{body}</p>") == ["tief"]


def test_headers_stand_where_they_stand_on_the_page() -> None:
    body = (
        '<pb n="1"/><fw type="header" place="top">KOPF</fw><fw type="pageNum">7</fw><p>eins<lb/>zwei</p>'
        '<fw type="running">UNTEN</fw><p>drei</p><pb n="2"/><p>vier <fw type="header">MITTEN</fw>und fünf</p>'
    )
    pages, report = read(tei(body))
    folios = [folio_of(page, {}, report) for page in pages]
    assert [folio["text"] for folio in folios] == ["KOPF\neins\nzwei\nUNTEN\ndrei", "vier und fünf\nMITTEN"]
    assert folios[0]["folio"] == "7"


def test_notes_that_a_rule_makes_text_stand_where_they_stand(tmp_path: Path) -> None:
    rules = {"regions": {"note": "text"}}
    pages, report = read(tei("<pb n='1'/><p>eins</p><note>zwei</note><p>drei</p>"), **rules)
    assert folio_of(pages[0], rules, report)["text"] == "eins\nzwei\ndrei"


def test_editions_of_a_corpus_may_number_their_pages_alike() -> None:
    one = '<TEI xml:id="b1"><teiHeader/><text><body><pb n="1"/><p>A</p></body></text></TEI>'
    two = one.replace(' xml:id="b1"', "").replace("A", "B")
    corpus = f'<teiCorpus xmlns="http://www.tei-c.org/ns/1.0"><teiHeader/>{one}{two}</teiCorpus>'
    pages, report = read(corpus.encode())
    assert [(page.id, folio_of(page, {}, report)["text"]) for page in pages] == [("rope_b1_1", "A"), ("rope_2_1", "B")]


def test_two_pages_with_one_number_are_named_with_both_lines() -> None:
    with pytest.raises(DatasetError, match=r"line 4: has a second page 'A' \(the first begins in line 3\)") as caught:
        read(tei('<pb n="a"/><p>x</p>\n<pb n="A"/>\n'.replace("<pb", "\n<pb", 1)))
    assert "Give each pb an n of its own" in str(caught.value)
