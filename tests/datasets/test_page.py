"""PAGE XML: every published version, reading orders, levels, types, and files that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from datasets_pages import LISTED_PAGES, plainly
from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.page import NAMESPACE, VERSIONS
from histeval.datasets.formats.pages import Line, Page, Region, folio_of
from histeval.errors import DatasetError, UsageError
from support import examples
from transcription_samples import order, page_xml, region, text_line


def source(data: bytes, name: str = "0001.xml") -> Source:
    return Source(Path(name), name, lambda: data, data[: 1 << 16])


def read(data: bytes, format: str = "page", **options: Any) -> tuple[Page, ImportReport]:
    report = ImportReport("manuscripts", format)
    (page,) = FORMATS[format].read([source(data)], options, report)
    return page, report


def texts(page: Page) -> list[list[str]]:
    return [[line.text for line in region.lines] for region in page.regions]


@pytest.mark.parametrize("version", VERSIONS)
def test_every_published_version(version: str) -> None:
    page, _ = read(page_xml(region("r1", "paragraph", "eins", "zwei"), namespace=NAMESPACE + version))
    assert texts(page) == [["eins", "zwei"]]
    assert page.image == "0001_harbour.jpg"


def test_types_go_where_the_rules_say() -> None:
    body = (
        region("a", "page-number", "3")
        + region("b", "heading", "Von dem ſeil")
        + region("c", "paragraph", "Item", "vnd")
        + region("d", "marginalia", "nota", "bene")
        + region("e", "catch-word", "dar")
    )
    page, report = read(page_xml(body))
    wanted = {"folio": "3", "text": "Von dem ſeil\nItem\nvnd", "addition1": "nota\nbene", "addition2": "dar"}
    assert folio_of(page, {}, report) == wanted
    rules = {"regions": {"heading": "addition", "Page_Number": "text", "marginalia": "leave_out"}}
    other = folio_of(page, rules, report)
    assert other == {"folio": "", "text": "3\nItem\nvnd", "addition1": "Von dem ſeil", "addition2": "dar"}
    assert report.left_out == {"a region of type 'marginalia', by the rule for it": ["0001: d"]}
    with pytest.raises(UsageError, match=r"regions\.heading takes text or folio"):
        folio_of(page, {"regions": {"heading": "head"}}, report)


def test_a_type_without_a_rule_is_text_and_said() -> None:
    page, report = read(page_xml(region("a", "", "eins").replace("index:0;}", "index:0;} structure {type:seal;}", 1)))
    assert folio_of(page, {}, report)["text"] == "eins"
    assert report.repaired == {"the region type 'seal' has no rule: read as text": ["0001: a"]}


def test_a_line_with_a_type_of_its_own_leaves_its_region() -> None:
    body = (
        '<TextRegion id="a" type="paragraph"><Coords points="0,0 1,1"/>'
        + text_line("l1", "12", 0, "structure {type:page-number;}")
        + text_line("l2", "Item", 1)
        + "</TextRegion>"
    )
    page, report = read(page_xml(body))
    assert folio_of(page, {}, report) == {"folio": "12", "text": "Item"}
    assert "a line of type page-number made a region of its own" in report.repaired


NESTED = """<ReadingOrder><OrderedGroup id="g0">
<UnorderedGroupIndexed id="g2" index="2"><RegionRef regionRef="d"/><RegionRef regionRef="c"/></UnorderedGroupIndexed>
<RegionRefIndexed index="0" regionRef="b"/>
<OrderedGroupIndexed id="g1" index="1"><RegionRefIndexed index="7" regionRef="a"/>
<RegionRefIndexed index="3" regionRef="e"/></OrderedGroupIndexed></OrderedGroup></ReadingOrder>"""


def test_nested_groups_are_read_in_the_order_of_their_indices() -> None:
    page, report = read(page_xml(NESTED + "".join(region(name, "paragraph", name.upper()) for name in "abcde")))
    assert texts(page) == [["B"], ["E"], ["A"], ["D"], ["C"]]
    assert not report.repaired


def test_regions_outside_the_reading_order_follow_by_position() -> None:
    body = (
        order("b", "gone")
        + region("a", "paragraph", "low", top=900)
        + region("b", "paragraph", "first", top=500)
        + region("c", "paragraph", "high", top=10)
    )
    page, report = read(page_xml(body))
    assert texts(page) == [["first"], ["high"], ["low"]]
    assert report.repaired == {
        "a region outside the reading order, put after the others by position": ["0001: c", "0001: a"]
    }
    assert report.left_out == {"a reference of the reading order to a region that there is not": ["0001: gone"]}


def test_a_region_named_twice_is_read_once() -> None:
    page, report = read(page_xml(order("a", "b", "a") + region("a", "", "eins") + region("b", "", "zwei")))
    assert texts(page) == [["eins"], ["zwei"]]
    assert list(report.repaired) == ["a region that the reading order names twice, read at its first place"]


def test_without_a_reading_order_custom_indices_count() -> None:
    page, _ = read(page_xml(region("a", "", "zwei", index=1) + region("b", "", "eins", index=0)))
    assert texts(page) == [["eins"], ["zwei"]]


def test_a_region_inside_another_is_read_after_it() -> None:
    inner = region("b", "marginalia", "innen")
    outer = region("a", "paragraph", "aussen").replace("</TextRegion>", inner + "</TextRegion>", 1)
    assert texts(read(page_xml(outer))[0]) == [["aussen"], ["innen"]]
    assert texts(read(page_xml(order("b", "a") + outer))[0]) == [["innen"], ["aussen"]]


def test_tables_are_read_cell_by_cell() -> None:
    cells = "".join(
        f'<TableCell id="c{r}{c}" row="{r}" col="{c}">{text_line(f"l{r}{c}", f"{r}{c}")}</TableCell>'
        for r, c in ((1, 0), (0, 1), (0, 0))
    )
    page, _ = read(page_xml(f'<TableRegion id="t"><Coords points="0,0 1,1"/>{cells}</TableRegion>'))
    assert texts(page) == [["00"], ["01"], ["10"]]


ALTERNATIVES = """<TextRegion id="a"><Coords points="0,0 1,1"/><TextLine id="l"><Coords points="0,0 1,1"/>
<TextEquiv index="2"><Unicode>zwei</Unicode></TextEquiv><TextEquiv><Unicode>ohne</Unicode></TextEquiv>
<TextEquiv index="1"><Unicode>eins</Unicode></TextEquiv></TextLine></TextRegion>"""


def test_of_several_readings_the_lowest_index_counts() -> None:
    page, report = read(page_xml(ALTERNATIVES))
    assert texts(page) == [["eins"]]
    assert report.left_out == {"another reading of a text (TextEquiv)": ["0001: l", "0001: l"]}
    assert texts(read(page_xml(ALTERNATIVES), index="2")[0]) == [["zwei"]]
    assert texts(read(page_xml(ALTERNATIVES), index="9")[0]) == [["eins"]]
    plain = page_xml(ALTERNATIVES.replace(' index="2"', "").replace(' index="1"', ""))
    assert texts(read(plain)[0]) == [["zwei"]]
    with pytest.raises(UsageError, match="index of page takes a whole number"):
        read(page_xml(ALTERNATIVES), index="best")


WORDS = """<TextRegion id="a"><Coords points="0,0 1,1"/><TextLine id="l"><Coords points="0,0 1,1"/>
<Word id="w1"><TextEquiv><Unicode>Item</Unicode></TextEquiv></Word>
<Word id="w2"><Glyph id="g1"><TextEquiv><Unicode>d</Unicode></TextEquiv></Glyph>
<Glyph id="g2"><TextEquiv><Unicode>z</Unicode></TextEquiv></Glyph></Word>%s</TextLine>
<TextEquiv><Unicode>whole
region</Unicode></TextEquiv></TextRegion>"""
LINE_TEXT = "<TextEquiv><Unicode>Item daz</Unicode></TextEquiv>"


def test_levels() -> None:
    both = page_xml(WORDS % LINE_TEXT)
    assert texts(read(both)[0]) == [["Item daz"]]
    assert texts(read(both, level="word")[0]) == [["Item dz"]]
    assert texts(read(both, level="region")[0]) == [["whole", "region"]]
    page, report = read(page_xml(WORDS % ""))
    assert texts(page) == [["Item dz"]]
    assert report.repaired == {"a line without text: its words read": ["0001: l"]}
    with pytest.raises(UsageError, match="level of page takes region or line or word"):
        read(both, level="glyph")


def test_a_region_without_lines_or_with_empty_lines_gives_its_text() -> None:
    bare = (
        '<TextRegion id="a"><Coords points="0,0 1,1"/><TextEquiv><Unicode>eins\nzwei</Unicode></TextEquiv></TextRegion>'
    )
    page, report = read(page_xml(bare))
    assert texts(page) == [["eins", "zwei"]]
    assert "a region without lines: the lines of its text read" in report.repaired
    page, report = read(page_xml(region("a", "", "", "", text="eins\nzwei")))
    assert texts(page) == [["eins", "zwei"]]
    assert "a region whose lines have no text: its own text read" in report.repaired


def test_plain_text_counts_where_unicode_is_empty() -> None:
    body = region("a", "", "x").replace("<Unicode>x</Unicode>", "<PlainText>y</PlainText><Unicode></Unicode>", 1)
    assert texts(read(page_xml(body))[0]) == [["y"]]


HARD = (
    "",
    "  two blanks  in it ",
    "שלום עולם",
    "e\u0301 u\u0364 combining",
    "\ue5b4\uf1ac private",
    "a & b < c > d",
    "𐌰𐌱",
)


def test_hard_lines_come_through_as_they_are() -> None:
    escaped = [line.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;") for line in HARD]
    page, report = read(page_xml(region("a", "paragraph", *escaped)))
    assert texts(page) == [list(HARD)]
    assert report.repaired == {"a line without text kept as an empty line": ["0001: al0"]}


def test_lines_in_another_order_than_they_stand() -> None:
    body = f'<TextRegion id="a">{text_line("l1", "zwei", 1)}{text_line("l2", "eins", 0)}</TextRegion>'
    page, report = read(page_xml(body))
    assert texts(page) == [["eins", "zwei"]]
    assert report.repaired == {"lines put in the order their custom readingOrder gives": ["0001: a"]}


def test_twenty_megabytes() -> None:
    line = "lorem " * 20
    body = "".join(region(f"r{n}", "paragraph", *[line] * 50) for n in range(1000))
    data = page_xml(body)
    assert len(data) > 20_000_000
    page, report = read(data)
    assert report.counts == {"pages": 1, "regions": 1000, "lines": 50_000}
    assert page.regions[-1].lines[-1].text == line


FAULTY: dict[str, tuple[Callable[[], bytes], str]] = {
    "cut off": (lambda: page_xml(region("a", "", "x"))[:-30], "is not well-formed XML"),
    "empty": (lambda: b"", "is empty"),
    "another namespace": (lambda: page_xml("", namespace="http://example.org/page"), "no published version"),
    "a version to come": (lambda: page_xml("", namespace=NAMESPACE + "2031-01-01"), "no published version"),
    "no page": (lambda: page_xml("").replace(b"<Page ", b"<Leaf ").replace(b"</Page>", b"</Leaf>"), "holds no Page"),
    "one id twice": (lambda: page_xml(region("a", "", "x") + region("a", "", "y")), "two regions with one id"),
    "an external entity": (
        lambda: page_xml(region("a", "", "&xxe;")).replace(
            b"<PcGts", b'<!DOCTYPE x [<!ENTITY xxe SYSTEM "file:///etc/passwd">]><PcGts'
        ),
        "declares the entity xxe",
    ),
    "a bomb of entities": (
        lambda: page_xml(region("a", "", "&b;")).replace(
            b"<PcGts", b'<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;">]><PcGts'
        ),
        "declares the entity a",
    ),
    "an entity in UTF-16": (
        lambda: (
            '<?xml version="1.0" encoding="UTF-16"?><!DOCTYPE x [<!ENTITY e "y">]>'
            f'<PcGts xmlns="{NAMESPACE}2013-07-15"><Page>&e;</Page></PcGts>'
        ).encode("utf-16"),
        "declares the entity e",
    ),
    "an entity nobody declares": (lambda: page_xml(region("a", "", "&auml;")), "auml"),
    "a cyclic reading order": (
        lambda: page_xml(
            '<ReadingOrder><OrderedGroup id="g"><OrderedGroupIndexed index="0" id="h">'
            '<RegionRefIndexed index="0" regionRef="g"/></OrderedGroupIndexed></OrderedGroup></ReadingOrder>'
            + region("a", "", "x")
        ),
        "cyclic: the group 'g' leads back to itself",
    ),
    "nested too deep": (lambda: page_xml("<TextRegion>" * 300 + "</TextRegion>" * 300), "is not well-formed XML"),
    "not UTF-8": (lambda: page_xml("").replace(b"harbour", b"h\xe4fen"), "is not well-formed XML"),
    "control characters": (lambda: page_xml(region("a", "", "x")).replace(b">x<", b">\x01<"), "is not well-formed"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_files_are_one_sentence(name: str) -> None:
    make, words = FAULTY[name]
    report = ImportReport("manuscripts", "page")
    data = make()
    file = Source(Path("folder/0001.xml"), "0001.xml", lambda: data, data[: 1 << 16] or b"<PcGts/>")
    with pytest.raises(DatasetError, match=words) as caught:
        list(FORMATS["page"].read([file], {}, report))
    assert str(caught.value).startswith("folder/0001.xml")
    assert "\n" not in str(caught.value)


@settings(max_examples=examples(100), deadline=None)
@given(LISTED_PAGES)
def test_what_is_written_is_read_as_it_was(page: Page) -> None:
    report = ImportReport("manuscripts", "page")
    ((name, data),) = FORMATS["page"].write([page], {}, report).items()
    (back,) = FORMATS["page"].read([source(data, name)], {}, ImportReport("manuscripts", "page"))
    assert plainly(back) == plainly(page)
    assert [[line.id for line in r.lines] for r in back.regions] == [
        [line.id for line in r.lines] for r in page.regions
    ]
    assert list(report.lost) == ["positions of regions and lines: made up"]


def test_what_xml_cannot_hold_is_said() -> None:
    page = Page("p1", (Region("paragraph", (Line("a\x01b\ud800", "l"),), "r"),))
    report = ImportReport("manuscripts", "page")
    ((name, data),) = FORMATS["page"].write([page], {}, report).items()
    (back,) = FORMATS["page"].read([source(data, name)], {}, ImportReport("manuscripts", "page"))
    assert texts(back) == [["a\ufffdb\ufffd"]]
    assert report.lost["characters that XML cannot hold, written as U+FFFD"] == ["p1: r"]
