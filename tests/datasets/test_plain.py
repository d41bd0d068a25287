"""Plain text: a file a page, or form feeds between pages."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.pages import Line, Page, Region, folio_of
from histeval.errors import DatasetError
from support import examples


def read(data: bytes, name: str = "page_1.txt") -> tuple[list[Page], ImportReport]:
    report = ImportReport("manuscripts", "plain")
    file = Source(Path("x") / name, name, lambda: data, data[: 1 << 16])
    return list(FORMATS["plain"].read([file], {}, report)), report


def texts(data: bytes) -> list[tuple[str, str]]:
    pages, report = read(data)
    return [(page.id, folio_of(page, {}, report)["text"]) for page in pages]


def test_a_file_is_a_page_and_form_feeds_part_pages() -> None:
    assert texts(b"eins\n zwei\n\n") == [("page_1", "eins\n zwei\n")]
    assert texts(b"\xef\xbb\xbfeins\r\nzwei\r\n") == [("page_1", "eins\nzwei")]
    assert texts(b"eins\n\fzwei\n\f") == [("page_1_1", "eins"), ("page_1_2", "zwei")]
    assert texts(b"") == [("page_1", "")]


@pytest.mark.parametrize(("data", "words"), [(b"ab\xff", "is not UTF-8"), ("ab".encode("utf-16"), "is UTF-16")])
def test_other_encodings_are_named(data: bytes, words: str) -> None:
    with pytest.raises(DatasetError, match=words):
        read(data)


TEXTS = st.text(st.one_of(st.sampled_from(" \n\t\ufeff\u2028\x85אß"), st.characters(exclude_categories=("Cs",))))


@settings(max_examples=examples(200), deadline=None)
@given(TEXTS)
def test_what_is_written_is_read_as_it_was(text: str) -> None:
    lines = tuple(Line(line) for line in text.split("\n")) if text else ()
    report = ImportReport("manuscripts", "plain")
    page = Page("page_1", (Region("paragraph", lines, "text"),))
    ((name, data),) = FORMATS["plain"].write([page], {}, report).items()
    lost = {
        "form feeds and carriage returns, which come back as ends of pages and lines": set("\f\r") & set(text),
        "NUL characters, written as U+FFFD": set("\0") & set(text),
    }
    assert list(report.lost) == [what for what, signs in lost.items() if signs]
    if any(lost.values()):
        return
    assert name == "page_1.txt"
    assert texts(data) == [("page_1", text)]


def test_what_plain_text_cannot_say_is_said() -> None:
    regions = (
        Region("page-number", (Line("3"),), "folio"),
        Region("paragraph", (Line("a"),), "text"),
        Region("marginalia", (Line("nota"),), "addition1"),
    )
    report = ImportReport("manuscripts", "plain")
    files = FORMATS["plain"].write([Page("p", regions, "", "3r")], {}, report)
    assert files == {"p.txt": b"a\n"}
    assert report.lost == {
        "the folio number": ["p: folio"],
        "an addition": ["p: addition1"],
        "what the edition calls the page": ["p"],
    }
