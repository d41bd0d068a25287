"""Inline markup: reading with every fault named, writing, linear time."""

from __future__ import annotations

import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.datasets.trade import TEXTS, read_rows
from histeval.entities import Entry, Grammar, Span, nest, parse_markup, read_markup, write_markup
from histeval.entities.markup import FAULTS, describe
from histeval.errors import InputError
from histeval.tasks.directories import PUBLISHED_TYPES
from support import DATA, examples, needs_data

GRAMMAR = Grammar.of(PUBLISHED_TYPES)
NAMES = {"TITREH": "TITRE-H", "TITREP": "TITRE-P"}


@pytest.mark.parametrize(
    ("markup", "text", "spans", "faults"),
    [
        ("", "", [], []),
        ("a &amp; b &lt; &#233; &#x41; &quot;&apos;&gt;", "a & b < é A \"'>", [], []),
        ("<PER>a</PER>", "a", [("PER", 0, 1, None)], []),
        ("<PER>a<TITRE-H>b</TITRE-H></PER>", "ab", [("PER", 0, 2, None), ("TITREH", 1, 2, 0)], []),
        ("<X>a</X>", "a", [("X", 0, 1, None)], ["unknown"]),
        ("<per>a</per>", "a", [("PER", 0, 1, None)], ["spelling"]),
        ("<titre_h>a</titre_h>", "a", [("TITREH", 0, 1, None)], ["spelling", "nesting"]),
        ("<LOC>a</LOC>", "a", [("LOC", 0, 1, None)], ["nesting"]),
        ("<PER><LOC>a</LOC></PER>", "a", [("PER", 0, 1, None), ("LOC", 0, 1, 0)], ["nesting"]),
        ("<SPAT>a<LOC>b</SPAT>c</LOC>", "abc", [("SPAT", 0, 2, None), ("LOC", 1, 2, 0)], ["crossing", "unopened"]),
        ("<PER>a", "a", [("PER", 0, 1, None)], ["unclosed"]),
        ("a</PER>", "a", [], ["unopened"]),
        ("<PER></PER>", "", [("PER", 0, 0, None)], ["empty"]),
        ("<PER> \u2029</PER>", " \u2029", [("PER", 0, 2, None)], ["empty"]),
        ("<PER/>x", "x", [("PER", 0, 0, None)], ["empty"]),
        ('<PER id="1">a</PER>', "a", [("PER", 0, 1, None)], ["attributes"]),
        ("a < b & c", "a < b & c", [], ["stray", "stray"]),
        ("&eacute; &#0; &#xD800; &#99999999;", "&eacute; &#0; &#xD800; &#99999999;", [], ["stray"] * 4),
        ("<!-- x --><PER>a</PER><?pi?>", "a", [("PER", 0, 1, None)], ["instruction", "instruction"]),
        ('<!DOCTYPE a [<!ENTITY b "c">]>&b;', "]>&b;", [], ["stray", "instruction", "stray"]),
        ("<PER>𝔄b</PER>", "𝔄b", [("PER", 0, 2, None)], []),
    ],
)
def test_reading(markup: str, text: str, spans: list[tuple[str, int, int, int | None]], faults: list[str]) -> None:
    entry, found = read_markup(markup, GRAMMAR)
    if not markup.startswith("<!DOCTYPE"):
        assert entry.text == text
        assert sorted(fault.kind for fault in found) == sorted(faults)
    assert "&b;" not in markup or entry.text.endswith("&b;")  # a declared entity is never expanded
    assert [(s.type, s.start, s.end, s.parent) for s in entry.spans] == spans
    assert all(fault.kind in FAULTS and fault.what for fault in found)
    assert len(describe(found)) == len({fault.kind for fault in found})
    if found:
        with pytest.raises(InputError):
            parse_markup(markup, GRAMMAR)
    else:
        assert parse_markup(markup, GRAMMAR) == entry


def test_strict_reading_names_file_line_and_place() -> None:
    with pytest.raises(InputError, match=r"gold.csv, line 7, character 9: the element PER is not closed") as caught:
        parse_markup("<PER>abc", GRAMMAR, file="gold.csv", line=7)
    assert (caught.value.file, caught.value.line) == ("gold.csv", 7)


def test_hyphens_are_kept_where_the_grammar_has_them() -> None:
    from histeval.tasks.description import EntityType

    grammar = Grammar.of([EntityType("loc-adm")])
    entry, faults = read_markup("<loc-adm>Paris</loc-adm>", grammar)
    assert (entry.spans[0].type, faults) == ("loc-adm", ())
    assert read_markup("<TITRE-H>x</TITRE-H>")[0].spans[0].type == "TITREH"


def test_what_markup_cannot_say_is_refused() -> None:
    with pytest.raises(InputError, match="crosses"):
        write_markup(Entry("abcd", (Span("A", 0, 2), Span("B", 1, 3))))
    with pytest.raises(InputError, match="crosses"):
        write_markup(Entry("abcd", (Span("A", 0, 2), Span("B", 1, 3, 0))))
    with pytest.raises(InputError, match="cannot be written as a tag"):
        write_markup(Entry("a", (Span("a b", 0, 1),)))


texts = st.text(alphabet="ab <>&\"';é\u2029\ue001𝔄", max_size=12)
triples = st.lists(
    st.tuples(st.sampled_from(["PER", "TITREH", "LOC"]), st.integers(0, 12), st.integers(1, 6)), max_size=6
)


@settings(max_examples=examples(200), deadline=None)
@given(texts, triples, st.booleans())
def test_writing_then_reading_is_the_identity(text: str, raw: list[tuple[str, int, int]], quotes: bool) -> None:
    clipped = [(kind, start, min(start + size, len(text))) for kind, start, size in raw if start < len(text)]
    spans, crossing = nest(clipped)
    if crossing:
        return
    again, _ = read_markup(write_markup(Entry(text, spans), NAMES, quotes=quotes))
    assert (again.text, again.spans) == (text, spans)
    nodes = again.nodes or ()
    assert "".join(text[start:end] for start, end in nodes) == text
    assert all(start < end for start, end in nodes)


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet='<>/&;#x1aPERLOC-!? "=', max_size=40))
def test_any_text_is_read_and_its_reading_is_stable(markup: str) -> None:
    entry, _ = read_markup(markup, GRAMMAR)
    for index, span in enumerate(entry.spans):
        assert 0 <= span.start <= span.end <= len(entry.text)
        assert span.parent is None or span.parent < index
    again, _ = read_markup(write_markup(entry))
    assert (again.text, len(again.spans)) == (entry.text, len(entry.spans))


@pytest.mark.parametrize(
    "unit", ["<a>", "</a>", "<", "<a ", "&", "&#", "<a", "<!", "<a><b></a></b>", "<a><b>", "<PER>x</PER>", "&lt;"]
)
def test_time_is_linear_on_hostile_markup(unit: str) -> None:
    def seconds(size: int) -> float:
        begin = time.process_time()
        read_markup(unit * (size // len(unit)), GRAMMAR)
        return time.process_time() - begin

    seconds(1000)
    small = min(seconds(20_000) for _ in range(3))
    assert seconds(160_000) < 40 * small + 0.2


@needs_data
@pytest.mark.data
def test_published_files_are_read_without_a_fault_and_written_back() -> None:
    for name, quotes, identical in (("reference", False, 8445), ("ocr", True, 8445), ("ocr", False, 7546)):
        rows = read_rows(DATA / "directories" / "dataset" / TEXTS[name])
        entries = [parse_markup(row.markup, GRAMMAR) for row in rows]
        written = [write_markup(entry, NAMES, quotes=quotes) for entry in entries]
        assert sum(one == row.markup for one, row in zip(written, rows, strict=True)) == identical
        if identical < len(rows):  # written with other escapes: the same entries all the same
            assert [parse_markup(one, GRAMMAR) for one in written] == entries
