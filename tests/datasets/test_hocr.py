"""hOCR as Tesseract writes it, and as others do."""

from __future__ import annotations

from pathlib import Path

import pytest

from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.pages import Page, folio_of
from histeval.errors import DatasetError
from transcription_samples import hocr, hocr_block, hocr_line


def read(data: bytes) -> tuple[list[Page], ImportReport]:
    report = ImportReport("manuscripts", "hocr")
    file = Source(Path("x/street.hocr"), "street.hocr", lambda: data, data[: 1 << 16])
    return list(FORMATS["hocr"].read([file], {}, report)), report


def texts(page: Page) -> list[list[str]]:
    return [[line.text for line in region.lines] for region in page.regions]


def test_areas_lines_and_words() -> None:
    body = hocr_block(
        "block_1", hocr_line("line_1", "Roux,", "boulanger"), hocr_line("line_2", "r. <em>Noire</em>", "3")
    )
    body += hocr_block("block_2", hocr_line("line_3", "Blanc,", "ſerrurier &amp; Cie"))
    (page,), report = read(hocr(body))
    assert texts(page) == [["Roux, boulanger", "r. Noire 3"], ["Blanc, ſerrurier & Cie"]]
    assert (page.id, page.image) == ("street", "street_1.png")
    assert [region.id for region in page.regions] == ["block_1", "block_2"]
    assert report.counts == {"pages": 1, "regions": 2, "lines": 3}


def test_headers_and_page_numbers() -> None:
    body = hocr_line("h", "RUE", "NOIRE", kind="ocr_header") + "<span class='ocr_pageno' id='n'>83</span>"
    body += hocr_block("b", hocr_line("l", "Roux"))
    (page,), report = read(hocr(body))
    assert [(region.kind, region.lines[0].text) for region in page.regions] == [
        ("header", "RUE NOIRE"),
        ("page-number", "83"),
        ("", "Roux"),
    ]
    assert folio_of(page, {}, report) == {"folio": "83", "text": "RUE NOIRE\nRoux"}


def test_lines_without_words_and_outside_of_areas() -> None:
    body = "<span class='ocr_line' id='a'>  eins \n zwei </span><span class='ocr_line' id='b'>drei</span>"
    (page,), _ = read(hocr(body))
    assert texts(page) == [["eins zwei", "drei"]]


def test_text_outside_of_words_is_not_lost() -> None:
    line = hocr_line("l", "Roux").replace("</span>\n</span>", "</span>, r. Noire</span>")
    (page,), report = read(hocr(hocr_block("b", line)))
    assert texts(page) == [["Roux, r. Noire"]]
    assert report.repaired == {"a line with text outside its words: the text of the line read": ["street: l"]}


def test_several_pages_in_one_file() -> None:
    data = hocr(hocr_block("b", hocr_line("l", "eins")))
    more = b"<div class='ocr_page' title='image /scans/street_2.png'><span class='ocr_line'>zwei</span></div></body>"
    pages, _ = read(data.replace(b"</body>", more))
    assert [(page.id, page.image, texts(page)) for page in pages] == [
        ("street_1", "street_1.png", [["eins"]]),
        ("street_2", "street_2.png", [["zwei"]]),
    ]


def test_a_page_without_text_is_a_page() -> None:
    (page,), report = read(hocr(""))
    assert texts(page) == []
    assert report.notes == ["street: a page without any text"]


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (hocr("").replace(b"'ocr_page'", b"'page'") + b"<i class='ocr_line'>x</i>", "holds no ocr_page"),
        (hocr("&x;").replace(b"<html", b'<!ENTITY x SYSTEM "file:///etc/passwd"><html', 1), "declares an entity"),
    ],
)
def test_faulty_files_are_one_sentence(data: bytes, words: str) -> None:
    with pytest.raises(DatasetError, match=words) as caught:
        read(data)
    assert str(caught.value).startswith("x/street.hocr: ")
