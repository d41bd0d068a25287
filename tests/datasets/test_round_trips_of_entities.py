"""Import of export is the identity for entities, in every pair of formats; what a format cannot say is reported."""

from __future__ import annotations

from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from histeval.datasets import load_dataset
from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.entries import EntryDocument, from_dataset
from support import DATA, examples, needs_data

WRITERS = [name for name, format in FORMATS.items() if "directories" in format.tasks and format.writes]
SCHEMES = ("IO", "IOB1", "IOB2", "IOBES", "BILOU")
LETTERS = "ab cé#<&>\"'.,- \n\t-=ſ͛𝒜_O|\r"
TYPES = ("PER", "loc.adm-town", "comp.name", "E-mail", "TITRE-H", "B")


def sources(files: dict[str, bytes]) -> list[Source]:
    return [Source(Path(name), name, lambda data=data: data, data[: 1 << 16]) for name, data in files.items()]


@st.composite
def spans(draw: Any, start: int, end: int, depth: int) -> list[tuple[str, int, int]]:
    """Entities inside [start, end), each maybe with others inside, outer ones first."""
    found: list[tuple[str, int, int]] = []
    place = start
    while place < end and draw(st.booleans()):
        first = draw(st.integers(place, end - 1))
        last = draw(st.integers(first + 1, end))
        found.append((draw(st.sampled_from(TYPES)), first, last))
        if depth > 1:
            found += draw(spans(first, last, depth - 1))
        place = last
    return found


@st.composite
def documents(draw: Any, depth: int = 3) -> list[EntryDocument]:
    """A few documents with nested entities."""
    found = []
    for number in range(draw(st.integers(1, 3))):
        text = draw(st.text(alphabet=LETTERS, min_size=1, max_size=24))
        if number == 0 and not text.strip():
            text = "a"  # a file needs a token
        attributes = {"page": "3"} if number == 0 else {}
        found.append(EntryDocument(f"d{number}", text, draw(spans(0, len(text), depth)), attributes))
    return found


def through(name: str, given: list[EntryDocument], **options: str) -> tuple[list[EntryDocument], ImportReport]:
    """What a format gives back of what it wrote, and what it reported while writing."""
    report = ImportReport("directories", name, verb="written")
    written = FORMATS[name].write(given, options, report)
    return list(FORMATS[name].read(sources(written), options, ImportReport("directories", name))), report


def check(before: list[EntryDocument], after: list[EntryDocument], report: ImportReport) -> None:
    """Everything is back, save for what the report names."""
    lost = [remark for remarks in report.lost.values() for remark in remarks]
    back = {document.id: document for document in after}
    assert len(back) == len(after)
    for document in before:
        if document.id not in back:
            assert document.id in lost
            continue
        found = back[document.id]
        assert found.text == document.text or document.id in lost
        missing = Counter(document.spans) - Counter(found.spans)
        for kind, start, end in missing.elements():
            named = [r for r in lost if r.startswith(f"{document.id}: {kind}")]
            assert any(r.endswith((f" {start} to {end}", kind)) for r in named), (document, found, lost)
        if not lost:
            assert Counter(found.spans) == Counter(document.spans)


@pytest.mark.parametrize("pair", product(WRITERS, WRITERS), ids="-".join)
@settings(max_examples=examples(12), deadline=None)
@given(documents())
@example([EntryDocument("d0", "# x", [("PER", 0, 1), ("PER", 0, 1), ("E-mail", 2, 3)])])
def test_every_pair_of_formats(pair: tuple[str, str], given: list[EntryDocument]) -> None:
    first, report = through(pair[0], given)
    check(given, first, report)
    second, more = through(pair[1], first)
    check(first, second, more)
    if not report.lost and not more.lost:
        assert [sorted(d.spans) for d in second] == [sorted(d.spans) for d in given]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("tokens", ["published", "plain"])
@settings(max_examples=examples(25), deadline=None)
@given(documents())
def test_every_scheme_of_columns(scheme: str, tokens: str, given: list[EntryDocument]) -> None:
    after, report = through("conll", given, scheme=scheme, tokens=tokens)
    check(given, after, report)


@settings(max_examples=examples(25), deadline=None)
@given(documents())
def test_columns_without_comments_report_the_white_space(given: list[EntryDocument]) -> None:
    report = ImportReport("directories", "conll", verb="written")
    written = FORMATS["conll"].write(given, {"comments": "no"}, report)
    assert b"# document" not in written["entities.conll"]
    for document in given:
        words = [line.split("\t")[0] for line in written["entities.conll"].decode().split("\n")]
        assert all(word in words for word in "".join(document.text.split()) if word == "#")
    reported = {d for what, ids in report.lost.items() if what.startswith("white space:") for d in ids}
    for document in given:
        if "  " in document.text or "\n" in document.text:
            assert document.id in reported


@needs_data
@pytest.mark.data
@pytest.mark.parametrize(("text", "unsaid"), [("reference", 4), ("ocr", 73)])
def test_published_entries_come_back(text: str, unsaid: int) -> None:
    data = load_dataset("directories", DATA / "directories", text=text, split="test")
    before = from_dataset(data, ImportReport("directories", "jsonl"))
    assert len(before) == 1685
    for name in WRITERS:
        after, report = through(name, before)
        check(before, after, report)
        # Tags cannot say entities that begin or end with white space; offsets and elements can.
        number = sum(len(ids) for what, ids in report.lost.items() if what.startswith("entities"))
        assert number == (unsaid if name in ("conll", "hipe") else 0), name


def test_nothing_is_lost_that_can_be_said() -> None:
    """A text with single blanks and entities at word edges goes through every format unchanged."""
    text = "Mr # Aubin , E-mail 5 x"
    entities = [("PER", 0, 10), ("comp.name", 5, 10), ("E-mail", 13, 19), ("E-mail", 20, 21)]
    given = [EntryDocument("d0", text, entities), EntryDocument("d1", "rien", [])]
    for name in WRITERS:
        after, report = through(name, given)
        assert report.lost == {}, name
        assert [(d.id, d.text, sorted(d.spans)) for d in after] == [(d.id, d.text, sorted(d.spans)) for d in given]
