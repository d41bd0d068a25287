"""ALTO 2 to 4: blocks, tags, hyphens, reading orders, and files that are wrong."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings

from datasets_pages import LISTED_PAGES, plainly
from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.alto import NAMESPACES
from histeval.datasets.formats.pages import Page, folio_of
from histeval.errors import DatasetError
from support import examples
from transcription_samples import alto_line, alto_xml, block


def read_all(data: bytes, **options: Any) -> tuple[list[Page], ImportReport]:
    report = ImportReport("manuscripts", "alto")
    file = Source(Path("x/leaf_12.xml"), "leaf_12.xml", lambda: data, data[: 1 << 16])
    return list(FORMATS["alto"].read([file], options, report)), report


def read(data: bytes, **options: Any) -> tuple[Page, ImportReport]:
    (page,), report = read_all(data, **options)
    return page, report


def texts(page: Page) -> list[list[str]]:
    return [[line.text for line in region.lines] for region in page.regions]


@pytest.mark.parametrize("namespace", NAMESPACES)
def test_every_version_and_the_tags_of_blocks(namespace: str) -> None:
    body = block("b1", "BT1", "eins", "zwei") + block("b2", "BT2", "nota") + block("b3", "BT3", "12")
    page, report = read(alto_xml(body, namespace=namespace))
    assert folio_of(page, {}, report) == {"folio": "12", "text": "eins\nzwei", "addition1": "nota"}
    assert (page.id, page.image) == ("leaf_12", "leaf_12.png")
    assert report.counts == {"pages": 1, "regions": 3, "lines": 4}


HYPHENS = (
    '<TextBlock ID="b"><TextLine ID="l1"><String CONTENT="das"/><SP/><String CONTENT="Schiff" SUBS_TYPE="HypPart1" '
    'SUBS_CONTENT="Schifffahrt"/><HYP CONTENT="⸗"/></TextLine><TextLine ID="l2"><String CONTENT="fahrt" '
    'SUBS_TYPE="HypPart2" SUBS_CONTENT="Schifffahrt"/><SP/><String CONTENT="dz" SUBS_TYPE="Abbreviation" '
    'SUBS_CONTENT="daz"/><String CONTENT="ist"/></TextLine></TextBlock>'
)


def test_hyphens_and_abbreviations_as_on_the_page_or_as_edited() -> None:
    assert texts(read(alto_xml(HYPHENS))[0]) == [["das Schiff⸗", "fahrt dz ist"]]
    page, report = read(alto_xml(HYPHENS), choice="edited")
    assert texts(page) == [["das Schifffahrt", "daz ist"]]
    assert report.left_out == {"the second part of a word read whole in the line before": ["leaf_12: l2"]}


def test_blocks_in_blocks_and_in_margins() -> None:
    body = f'<ComposedBlock ID="c" TYPE="caption">{block("b1", "", "eins")}{block("b2", "BT2", "nota")}</ComposedBlock>'
    margin = block("m", "", "am Rand")
    data = alto_xml(body).replace(b"<PrintSpace", f"<LeftMargin>{margin}</LeftMargin><PrintSpace".encode(), 1)
    page, _ = read(data)
    assert [(region.kind, region.id) for region in page.regions] == [
        ("marginalia", "m"),
        ("caption", "b1"),
        ("MarginTextZone", "b2"),
    ]


def test_reading_order_of_version_4() -> None:
    order = (
        '<ReadingOrder><OrderedGroup ID="g"><ElementRef ID="e1" REF="b2"/><UnorderedGroup ID="u">'
        '<ElementRef ID="e2" REF="b1"/><ElementRef ID="e3" REF="gone"/></UnorderedGroup></OrderedGroup></ReadingOrder>'
    )
    page, report = read(
        alto_xml(block("b1", "", "zwei") + block("b0", "", "drei") + block("b2", "", "eins"), before=order)
    )
    assert texts(page) == [["eins"], ["zwei"], ["drei"]]
    assert report.repaired == {"a block outside the reading order, put after the others": ["leaf_12: b0"]}
    assert report.left_out == {"a reference of the reading order to a region that there is not": ["leaf_12: gone"]}


def test_blocks_that_name_their_next() -> None:
    body = (
        block("b1", "", "drei")
        + block("b2", "", "eins", more='IDNEXT="b3"')
        + block("b3", "", "zwei", more='IDNEXT="b1"')
    )
    assert texts(read(alto_xml(body))[0]) == [["eins"], ["zwei"], ["drei"]]
    page, report = read(alto_xml(block("b1", "", "eins", more='IDNEXT="nowhere"') + block("b2", "", "zwei")))
    assert texts(page) == [["eins"], ["zwei"]]
    assert report.left_out == {"an IDNEXT that names no block of the page": ["leaf_12: b1"]}


def test_several_pages_in_one_file() -> None:
    data = alto_xml(block("b1", "", "eins"))
    second = b'<Page ID="p2"><PrintSpace>' + block("b1", "", "zwei").encode() + b"</PrintSpace></Page></Layout>"
    pages, _ = read_all(data.replace(b"</Layout>", second))
    assert [(page.id, texts(page)) for page in pages] == [("leaf_12", [["eins"]]), ("leaf_12_2", [["zwei"]])]


def test_empty_lines_and_strings_without_content() -> None:
    second = '<TextLine ID="l1"><String/><String CONTENT="x"/></TextLine>'
    body = f'<TextBlock ID="b">{alto_line("l0", "")}{second}</TextBlock>'
    page, report = read(alto_xml(body))
    assert texts(page) == [["", "x"]]
    assert report.left_out == {"a String without CONTENT": ["leaf_12: l1"]}
    assert report.repaired == {"a line without text kept as an empty line": ["leaf_12: l0"]}


FAULTY: dict[str, tuple[Callable[[], bytes], str]] = {
    "another namespace": (
        lambda: alto_xml("", namespace="http://example.org/alto"),
        "which no published version of ALTO has",
    ),
    "ALTO without namespace": (
        lambda: alto_xml("").replace(b"xmlns=", b"x="),
        "has no namespace, which every version of ALTO has",
    ),
    "no page": (
        lambda: alto_xml("").replace(b"<Page ", b"<Leaf ").replace(b"</Page>", b"</Leaf>"),
        "holds no Page",
    ),
    "one ID twice": (lambda: alto_xml(block("b", "", "x") * 2), "two blocks with one ID"),
    "a circle of blocks": (
        lambda: alto_xml(block("a", "", "x", more='IDNEXT="b"') + block("b", "", "y", more='IDNEXT="a"')),
        "cyclic: IDNEXT of 'a'",
    ),
    "a circle of groups": (
        lambda: alto_xml(
            block("a", "", "x"),
            before='<ReadingOrder><OrderedGroup ID="g"><OrderedGroup ID="h"><ElementRef REF="g"/></OrderedGroup>'
            "</OrderedGroup></ReadingOrder>",
        ),
        "cyclic: the group 'g' leads back to itself",
    ),
    "cut off": (lambda: alto_xml(block("a", "", "x"))[:-20], "is not well-formed XML"),
    "an attribute twice": (lambda: alto_xml('<TextBlock ID="a" ID="b"/>'), "is not well-formed XML"),
}


@pytest.mark.parametrize("name", FAULTY)
def test_faulty_files_are_one_sentence(name: str) -> None:
    make, words = FAULTY[name]
    with pytest.raises(DatasetError, match=words) as caught:
        read_all(make())
    assert str(caught.value).startswith("x/leaf_12.xml")
    assert "\n" not in str(caught.value)


@settings(max_examples=examples(100), deadline=None)
@given(LISTED_PAGES)
def test_what_is_written_is_read_as_it_was(page: Page) -> None:
    report = ImportReport("manuscripts", "alto")
    ((name, data),) = FORMATS["alto"].write([page], {}, report).items()
    file = Source(Path(name), name, lambda: data, data[: 1 << 16])
    (back,) = FORMATS["alto"].read([file], {}, ImportReport("manuscripts", "alto"))
    wanted = plainly(page)
    assert plainly(back)[:2] == wanted[:2]
    assert plainly(back)[3] == wanted[3]
    # The one thing ALTO has no place for is said.
    assert ("what the edition calls the page" in report.lost) == bool(page.reference)
