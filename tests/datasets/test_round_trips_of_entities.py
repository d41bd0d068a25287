"""Import of export is the identity for entities, in every pair of formats; what a format cannot say is reported."""

from __future__ import annotations

import json
from collections import Counter
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from histeval.cli.app import run
from histeval.datasets import load_dataset
from histeval.datasets.formats import FORMATS, ImportReport, Source
from histeval.datasets.formats.entries import EntryDocument, from_dataset
from histeval.datasets.transfer import import_answers, import_dataset
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


ODD = [
    EntryDocument(
        "d 0/ü", "# 5 -DOCSTART- x\ty\u00a0z  <b>&amp;</b> ", [("P Q", 0, 3), ("X", 17, 20)], {"page": "x|y\nz"}
    ),
    EntryDocument("d1", "-DOCSTART- TOKEN", [("O", 0, 10), ("B\tC", 11, 16)]),
    EntryDocument("d2", "e\u0301a\u2028b\r\n\U0001f600", [("A", 0, 1), ("A", 0, 1), ("I-x", 3, 8)]),
]


@pytest.mark.parametrize("name", WRITERS)
def test_odd_words_types_and_attributes_come_back_or_are_named(name: str, tmp_path: Path) -> None:
    after, report = through(name, ODD)
    lost = [remark for remarks in report.lost.values() for remark in remarks]
    renamed = {document.text: document.id for document in after}
    for document in ODD:
        if document.id not in renamed.values():  # only where the report says so
            assert any(remark.startswith(f"{document.id} as ") for remark in lost)
    named = [EntryDocument(renamed[document.text], document.text, document.spans) for document in ODD]
    names = {renamed[document.text]: document.id for document in ODD}
    for before, found in zip(named, after, strict=True):
        for kind, start, end in (Counter(before.spans) - Counter(found.spans)).elements():
            assert any(remark.startswith(f"{names[before.id]}: {kind}") for remark in lost), (kind, start, end, lost)
    if not any("page" in document.attributes and document.attributes["page"] == "x|y\nz" for document in after):
        assert any(remark.startswith("d 0/ü") for remark in report.lost["attributes of documents"])
    # ... and as a whole import, which finds the format by what is in the files
    for file, data in FORMATS[name].write(ODD, {}, ImportReport("directories", name)).items():
        (tmp_path / "x" / file).parent.mkdir(exist_ok=True)
        (tmp_path / "x" / file).write_bytes(data)
    assert import_dataset("directories", [tmp_path / "x"], tmp_path / "out").format == name


@pytest.mark.parametrize("name", WRITERS)
def test_answers_are_written_as_they_are_scored(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """By the command line, which reads answers before they are written: what is exported scores as it did."""
    text = "Roux, r. Noire 5"
    (tmp_path / "truth.jsonl").write_text(
        json.dumps({"id": "a", "text": text, "spans": [{"type": "PER", "start": 0, "end": 4},
                                                       {"type": "LOC", "start": 6, "end": 14}]}), encoding="utf-8"
    )  # fmt: skip
    import_dataset("directories", [tmp_path / "truth.jsonl"], tmp_path / "d")
    dataset = load_dataset("directories", tmp_path / "d")
    answer = {"text": text, "spans": [{"type": "LOC", "start": 6, "end": 14}]}
    tags = {"tokens": ["Roux", ",", "r.", "Noire", "5"], "level1": ["O", "O", "B-LOC", "I-LOC", "O"]}
    for number, record in enumerate((answer, tags, "Roux, <LOC>r. Noire</LOC> 5")):
        file, out = tmp_path / f"{number}.jsonl", tmp_path / f"{name}{number}"
        file.write_text(json.dumps({"document": "a", "record": record}) + "\n", encoding="utf-8")
        words = ["entities", str(tmp_path / "d"), "--answers", str(file), "--format", name, "--out", str(out)]
        assert run(["export", *words]) == 0
        assert "cannot be read" not in capsys.readouterr().out
        import_answers("directories", [out], tmp_path / f"back{number}.jsonl", dataset=dataset)
        back = json.loads((tmp_path / f"back{number}.jsonl").read_text(encoding="utf-8"))
        assert back["record"] == answer
