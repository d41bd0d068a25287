"""Projection against the published projections and against a slow twin; anchoring; learnt noise."""

from __future__ import annotations

import csv
import json
import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities.noise import NoiseModel
from histeval.entities.projection import LARGEST_ALIGNMENT, align, anchor, fold, project, project_all, text_nodes
from histeval.entities.spans import Entry, Span
from histeval.errors import InputError
from support import DATA, examples, needs_data

TAG = re.compile(r"<(/?)([A-Z]+(?:-[HP])?)>")
REMOVED = {5, 14, 57, 64, 76, 78, 127}
"""Rows of Bottin1_1820 in file 10 whose box is invalid, so that file all.json has no OCR of them."""


def entry_of(markup: str) -> Entry:
    """An entry from published inline markup without character references, independent of `entities.markup`."""
    text, spans, open_spans, place = "", [], [], 0
    for tag in TAG.finditer(markup):
        text += markup[place : tag.start()]
        place = tag.end()
        if tag.group(1):
            name, start, parent, slot = open_spans.pop()
            spans[slot] = Span(name, start, len(text), parent)
        else:
            open_spans.append((tag.group(2), len(text), open_spans[-1][3] if open_spans else None, len(spans)))
            spans.append(Span("", 0, 0))
    return Entry(text + markup[place:], tuple(spans))


def unescape(text: str) -> str:
    for escaped, character in (("&apos;", "'"), ("&quot;", '"'), ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&")):
        text = text.replace(escaped, character)
    return text


@pytest.mark.data
@needs_data
def test_every_published_projection_is_reproduced() -> None:
    folder = DATA / "directories" / "dataset"
    with open(folder / "10-ner_ref" / "gold_soduco_2023.csv", encoding="utf-8", newline="") as file:
        reference = [xml for row, (xml, _) in enumerate(csv.reader(file)) if row not in REMOVED]
    published = json.loads((folder / "31-ner_align_pero" / "all.json").read_text(encoding="utf-8"))
    assert len(reference) == len(published) == 8765
    same = same_valid = same_flag = 0
    for markup, row in zip(reference, published, strict=True):
        projection = project(entry_of(markup), row["text_ocr"].replace("\n", "\u2029"))
        # Tags are read before references are resolved: no tag can come from a reference.
        wanted = row["nested_ner_xml"]
        attempt = projection.attempt
        found = _write(attempt)
        same += unescape(wanted) == found
        same_valid += unescape(wanted) == found and row["has_valid_ner_xml"]
        same_flag += (projection.entry is not None) == row["has_valid_ner_xml"]
        assert (projection.reason is None) == (projection.entry is not None)
    assert (same, same_valid, same_flag) == (8765, 8445, 8765)


def _write(entry: Entry) -> str:
    """Inline markup, unescaped: tags in document order, closing before opening where they meet."""
    out, place, open_spans = [], 0, []
    for index, span in enumerate(entry.spans):
        while open_spans and open_spans[-1] != span.parent:
            closing = entry.spans[open_spans.pop()]
            out += [entry.text[place : closing.end], f"</{closing.type}>"]
            place = max(place, closing.end)
        out += [entry.text[place : span.start], f"<{span.type}>"]
        place = max(place, span.start)
        open_spans.append(index)
    while open_spans:
        closing = entry.spans[open_spans.pop()]
        out += [entry.text[place : closing.end], f"</{closing.type}>"]
        place = max(place, closing.end)
    return "".join(out) + entry.text[place:]


def slow_alignment(reference: str, noisy: str) -> tuple[list[int], list[int]]:
    """The same rule from the textbook table: a common beginning, then the least edits; read from the end,
    a pair that agrees is put off as long as the edits stay as few."""
    a, b = fold(reference), fold(noisy)
    common = 0
    while common < min(len(a), len(b)) and a[common] == b[common]:
        common += 1
    table = [[i + j if i == 0 or j == 0 else 0 for j in range(len(b) + 1)] for i in range(len(a) + 1)]
    for i in range(1, len(a) + 1):
        for j in range(1, len(b) + 1):
            table[i][j] = min(table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + (a[i - 1] != b[j - 1]))
    i, j, matches = len(a), len(b), []
    while i > common and j > common:
        if table[i][j] == table[i - 1][j] + 1:
            i -= 1
        elif table[i][j - 1] < table[i - 1][j - 1]:
            j -= 1
        else:
            i, j = i - 1, j - 1
            if a[i] == b[j]:
                matches.append((i, j))
    starts, ends = [0] * len(a), [0] * len(a)
    row = column = 0
    for i, j in [*((place, place) for place in range(common)), *reversed(matches), (len(a), len(b))]:
        for offset in range(i - row):
            starts[row + offset] = min(column + offset, j)
            ends[row + offset] = min(column + offset + 1, j)
        if i < len(a):
            starts[i], ends[i] = j, j + 1
        row, column = i + 1, j + 1
    return starts, ends


TEXT = st.text(st.sampled_from("abcé,.( 1\n\U0001f600"), max_size=14)


@given(TEXT, TEXT)
@settings(max_examples=examples(300), deadline=None)
def test_alignment_equals_the_slow_twin(reference: str, noisy: str) -> None:
    alignment = align(reference, noisy)
    assert (list(alignment.starts), list(alignment.ends)) == slow_alignment(reference, noisy)


@given(TEXT, TEXT, st.lists(st.tuples(st.integers(0, 14), st.integers(1, 5)), max_size=3))
@settings(max_examples=examples(200), deadline=None)
def test_projection_and_anchoring_stay_inside_the_text(text: str, noisy: str, places: list[tuple[int, int]]) -> None:
    spans = tuple(
        Span("A", start, min(start + width, len(text))) for start, width in sorted(places) if start < len(text)
    )
    projection = project(Entry(text, spans), noisy)
    anchored, share = anchor(Entry(text, spans), noisy)
    assert 0 <= share <= 1
    for entry in (projection.attempt, anchored):
        assert entry.text == noisy
        assert len(entry.spans) == len(spans)
        assert all(0 <= span.start <= span.end <= len(noisy) for span in entry.spans)
        assert entry.nodes is not None
        assert "".join(noisy[start:end] for start, end in entry.nodes) == noisy
    blank = any(not noisy[span.start : span.end].strip() for span in projection.attempt.spans)
    assert (projection.entry is None) == blank


def test_a_dropped_entry_says_which_element_is_empty() -> None:
    entry = Entry("Dulay, r. du Pont, 15.", (Span("PER", 0, 5), Span("SPAT", 7, 21), Span("CARDINAL", 19, 21, 1)))
    projection = project(entry, "Dulay, r. du Pont.")
    assert projection.entry is None
    assert projection.reason == "CARDINAL '15' has no text left"
    done, without_text, without_entry = project_all({"1": entry, "2": entry}, {"1": "Dulay, r. du Pont, 15.", "9": ""})
    assert done["1"].entry is not None
    assert done["1"].entry.spans == entry.spans
    assert (without_text, without_entry) == (("2",), ("9",))


def test_projection_on_an_empty_text_and_of_an_empty_element() -> None:
    assert project(Entry("abc", (Span("PER", 0, 3),)), "").reason == "PER 'abc' has no text left"
    assert project(Entry("", ()), "x").entry == Entry("x", (), ((0, 1),))
    empty = project(Entry("abc", (Span("PER", 3, 3),)), "abc")
    assert empty.entry is None
    assert empty.attempt.spans == (Span("PER", 3, 3),)


def test_texts_too_long_to_align_are_refused_or_left_unanchored() -> None:
    long = "a" * (int(LARGEST_ALIGNMENT**0.5) + 1)
    with pytest.raises(InputError, match="too long to be aligned"):
        project(Entry(long, ()), long)
    entry, share = anchor(Entry(long, (Span("PER", 0, 4),)), long[:-1] + "b")
    assert (share, entry.spans) == (1.0, (Span("PER", 0, 0),))


def test_folding_keeps_the_length_and_leaves_foreign_letters_alone() -> None:
    text = "Éé œ \U0001f600 ě ſ İ ß ﬁ"
    for broad in (False, True):
        assert len(fold(text, broad=broad)) == len(text)
    assert fold("ě") == "ě"
    assert fold("ě", broad=True) == "E"


@pytest.mark.parametrize(
    ("answer", "spans", "text", "wanted"),
    [
        ("Dufay , essayeur", [(0, 5), (8, 16)], "Dufay, essayeur", [(0, 5), (7, 15)]),
        ("Cafe d'Orleans", [(0, 4), (5, 14)], "Café  d’Orléans", [(0, 4), (6, 15)]),
        ("Here is it: Dufay", [(12, 17)], "Dufay", [(0, 5)]),
        ("Dufay xyzw", [(0, 5), (6, 10)], "Dufay", [(0, 5), (5, 5)]),
        ("Dau- phine", [(0, 10)], "Dau-\u2029phine, 5", [(0, 10)]),
    ],
)
def test_anchoring(answer: str, spans: list[tuple[int, int]], text: str, wanted: list[tuple[int, int]]) -> None:
    entry, _ = anchor(Entry(answer, tuple(Span("PER", *place) for place in spans)), text)
    assert [(span.start, span.end) for span in entry.spans] == wanted


def test_the_share_that_cannot_be_anchored() -> None:
    assert anchor(Entry("abc", ()), "abc")[1] == 0
    assert anchor(Entry("abc", ()), "xyz")[1] == 1
    assert anchor(Entry("", ()), "")[1] == 0
    # Four characters agree, of four in the answer and eight in the text.
    assert anchor(Entry("abcd", ()), "abcd efgh")[1] == pytest.approx(1 - 2 * 4 / (4 + 8))


def test_text_nodes_cut_at_every_edge() -> None:
    assert text_nodes(0, []) == ()
    assert text_nodes(5, [Span("A", 0, 5), Span("B", 2, 2, 0)]) == ((0, 2), (2, 5))


PAIRS = [
    ("rue de la Paix, 12", "rne de la Paix. 12"),
    ("quai d'Orsay, 3", "qnai d Orsay, 3"),
    ("rue Neuve, 8", "rue NeuveS"),
]


@pytest.mark.parametrize("line_break", ["\n", "\u2029"])
def test_line_breaks_that_stay_are_no_noise(line_break: str) -> None:
    text = f"Dufay, r.{line_break}Denis,{line_break}5"
    same = NoiseModel.fit([(text, text)] * 3)
    assert same.rates == {}
    assert same.apply(text, 1, 20.0) == text
    # What becomes of a line break is learnt and put on whichever stands for it.
    lost = NoiseModel.fit([(text, text.replace(line_break, " "))] * 3)
    for other in ("\n", "\u2029"):
        assert other not in lost.apply(text.replace(line_break, other), 1, 20.0).replace(other, "", 1)
        assert lost.apply(text.replace(line_break, other), 3, 20.0) != text.replace(line_break, other)


def test_noise_is_learnt_and_repeatable() -> None:
    model = NoiseModel.fit(PAIRS)
    assert model.rates["u"] == pytest.approx(2 / 4)  # rue, quai, rue, Neuve
    assert dict(model.edits["u"]) == {"n": 2}
    text = "rue du Faubourg, 12 "
    assert model.apply(text, 1) == model.apply(text, 1)
    assert model.apply(text, 1, 0) == text
    assert len({model.apply(text, seed, 2.0) for seed in range(8)}) > 2
    assert NoiseModel.fit([]).apply(text, 1) == text


@given(st.integers(0, 50), st.floats(0, 8))
@settings(max_examples=examples(100), deadline=None)
def test_noise_keeps_every_entity(seed: int, strength: float) -> None:
    entry = Entry("Dulay, rue Neuve, 8", (Span("PER", 0, 5), Span("SPAT", 7, 19), Span("CARDINAL", 18, 19, 1)))
    noisy = NoiseModel.fit(PAIRS).apply(entry, seed, strength)
    assert [(span.type, span.parent) for span in noisy.spans] == [("PER", None), ("SPAT", None), ("CARDINAL", 1)]
    assert all(noisy.text[span.start : span.end].strip() for span in noisy.spans)
    assert noisy.spans[1].end == noisy.spans[2].end


@pytest.mark.data
@needs_data
def test_noise_of_strength_one_is_about_as_strong_as_the_ocr() -> None:
    from rapidfuzz.distance import Levenshtein

    folder = DATA / "directories" / "dataset"
    line = re.compile(r'^"(.*)", "([^"]*)"\r?$')
    texts = []
    for name in ("41-ner_ref_from_pero", "31-ner_align_pero"):
        lines = (folder / name / "gold.csv").read_text(encoding="utf-8").split("\n")
        texts.append([unescape(TAG.sub("", found.group(1))) for found in map(line.match, lines) if found][::4])
    pairs = list(zip(*texts, strict=True))
    model = NoiseModel.fit(pairs)
    length = sum(len(clean) for clean, _ in pairs)
    real = sum(Levenshtein.distance(clean, noisy) for clean, noisy in pairs) / length
    rates = [
        sum(Levenshtein.distance(clean, model.apply(clean, 1, strength)) for clean, _ in pairs) / length
        for strength in (0.0, 0.5, 1.0, 2.0)
    ]
    assert rates[0] == 0 < rates[1] < rates[2] < rates[3]
    # Lines put elsewhere are not learnt, so that the noise is somewhat weaker than the OCR (3.3 %).
    assert 0.6 * real < rates[2] < 1.1 * real
