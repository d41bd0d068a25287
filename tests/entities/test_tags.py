"""Spans to tags and back at every level and in every scheme, joint labels, losses, and inconsistent pairs."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import (
    Entry,
    Grammar,
    Span,
    combined_tags,
    convert_tags,
    entry_from_tags,
    flat_tags,
    inconsistent_pairs,
    joint_classes,
    joint_tags,
    level_tags,
    losses,
    parse_markup,
    plain_tokens,
    published_tokens,
    split_joint,
)
from histeval.entities.tags import SCHEMES, Scheme, runs, split_tag, strict_runs
from histeval.errors import UsageError
from histeval.tasks.directories import PUBLISHED_TYPES
from support import examples

GRAMMAR = Grammar.of(PUBLISHED_TYPES)


@st.composite
def entries(draw: st.DrawFn, depth: int = 3) -> Entry:
    """Entries of one-letter words; nested entities cover whole words, siblings may touch and share a type."""
    size = draw(st.integers(0, 9))
    text = "".join(draw(st.sampled_from(["a", "b "])) for _ in range(size)).rstrip()
    words = plain_tokens(" ".join(text.replace(" ", "")))
    text = " ".join(text.replace(" ", ""))
    spans: list[Span] = []

    def fill(first: int, last: int, parent: int | None, level: int) -> None:
        place = first
        while place < last and level <= depth:
            if draw(st.booleans()):
                end = draw(st.integers(place + 1, last))
                spans.append(Span(draw(st.sampled_from("XYZ")), words[place].start, words[end - 1].end, parent))
                fill(place, end, len(spans) - 1, level + 1)
                place = end
            else:
                place += 1

    fill(0, len(words), None, 1)
    return Entry(text, tuple(spans))


def as_set(entry: Entry) -> list[tuple[int, str, int, int]]:
    return sorted((entry.depth(i), s.type, s.start, s.end) for i, s in enumerate(entry.spans))


@settings(max_examples=examples(200), deadline=None)
@given(entries(), st.sampled_from(SCHEMES))
def test_spans_to_tags_to_spans_is_the_identity_or_the_loss_is_named(entry: Entry, scheme: Scheme) -> None:
    tokens = plain_tokens(entry.text)
    levels = level_tags(entry, tokens, scheme, depth=3)
    lost = losses(entry, tokens, scheme, depth=3)
    back = entry_from_tags(entry.text, tokens, levels)
    assert not lost.unheld
    assert not lost.cut
    assert not lost.trimmed
    if not lost:
        assert as_set(back.entry) == as_set(entry)
        assert back.pairs == ()
    else:
        assert scheme == "IO"
        assert len(back.entry.spans) == len(entry.spans) - len(lost.merged)
    if scheme != "IO":
        assert not lost


@settings(max_examples=examples(200), deadline=None)
@given(entries(depth=2), st.sampled_from(["IO", "IOB2", "IOBES"]))
def test_joint_labels_are_levels_in_another_spelling(entry: Entry, scheme: Scheme) -> None:
    levels = level_tags(entry, plain_tokens(entry.text), scheme, depth=2)
    assert split_joint(joint_tags(levels, scheme)) == levels
    assert split_joint(["+".join(pair) for pair in zip(*levels, strict=True)]) == levels


@settings(max_examples=examples(150), deadline=None)
@given(entries(depth=2), st.sampled_from(SCHEMES), st.sampled_from(SCHEMES))
def test_converting_between_schemes(entry: Entry, one: Scheme, other: Scheme) -> None:
    tokens = plain_tokens(entry.text)
    for have, want in zip(
        level_tags(entry, tokens, one, depth=2), level_tags(entry, tokens, other, depth=2), strict=True
    ):
        if one != "IO":
            assert convert_tags(have, other) == want
        assert runs(convert_tags(have, other)) == runs(have) or other == "IO"
        assert all(not bad for *_, bad in strict_runs(have, one))


@settings(max_examples=examples(150), deadline=None)
@given(entries(), st.sampled_from(SCHEMES), st.booleans())
def test_slow_twin_of_level_tags(entry: Entry, scheme: Scheme, sibling_continues: bool) -> None:
    """Written from the definition, token by token and span by span."""
    tokens = plain_tokens(entry.text)
    levels = level_tags(entry, tokens, scheme, depth=3, sibling_continues=sibling_continues)
    for level in (1, 2, 3):
        here = [i for i in range(len(entry.spans)) if entry.depth(i) == level]
        of_token: list[int | None] = []
        for token in tokens:
            held = [i for i in here if entry.spans[i].start <= token.start < entry.spans[i].end]
            of_token.append(held[0] if held else None)
        continues = (
            {
                after
                for before, after in pairwise(here)
                if entry.spans[before].end == entry.spans[after].start
                and entry.spans[before].type == entry.spans[after].type
            }
            if sibling_continues
            else set()
        )
        begins = [
            span is not None and (i == 0 or of_token[i - 1] != span) and span not in continues
            for i, span in enumerate(of_token)
        ]
        kinds = [None if span is None else entry.spans[span].type for span in of_token]
        want = []
        for i, kind in enumerate(kinds):
            if kind is None:
                want.append("O")
                continue
            last = i + 1 == len(kinds) or kinds[i + 1] is None or kinds[i + 1] != kind or begins[i + 1]
            if scheme == "IO":
                prefix = "I"
            elif scheme == "IOB1":
                prefix = "B" if begins[i] and i and kinds[i - 1] == kind else "I"
            elif scheme == "IOB2":
                prefix = "B" if begins[i] else "I"
            else:
                prefix = {(1, 1): "S", (1, 0): "B", (0, 1): "E", (0, 0): "I"}[begins[i], last]
                prefix = {"S": "U", "E": "L"}.get(prefix, prefix) if scheme == "BILOU" else prefix
            want.append(f"{prefix}-{kind}")
        assert levels[level - 1] == want


def test_sibling_continues_only_without_a_character_between() -> None:
    touching = parse_markup("<DESC><TITRE-P>a b</TITRE-P><TITRE-P>c</TITRE-P> <TITRE-P>d</TITRE-P></DESC>")
    tokens = published_tokens(touching)
    assert level_tags(touching, tokens, "IOB2", sibling_continues=True)[1] == [
        "B-TITREP", "I-TITREP", "I-TITREP", "B-TITREP",
    ]  # fmt: skip
    assert level_tags(touching, tokens, "IOB2")[1] == ["B-TITREP", "I-TITREP", "B-TITREP", "B-TITREP"]
    lost = losses(touching, tokens, "IOB2", sibling_continues=True)
    assert lost.merged == ((2, "TITREP"),)
    assert losses(touching, tokens, "IO").merged == ((2, "TITREP"), (2, "TITREP"))


def test_a_new_outer_element_does_not_end_an_inner_one() -> None:
    across = parse_markup("<SPAT><LOC>a</LOC></SPAT><SPAT><LOC>b</LOC></SPAT>")
    assert level_tags(across, published_tokens(across), "IOB2", sibling_continues=True) == [
        ["B-SPAT", "I-SPAT"], ["B-LOC", "I-LOC"],
    ]  # fmt: skip


def test_losses_name_what_tokens_cannot_hold() -> None:
    entry = Entry("abc d ", (Span("A", 1, 3), Span("B", 4, 6), Span("C", 2, 3)))
    lost = losses(entry, plain_tokens(entry.text), "IOB2", depth=1)
    assert lost.unheld == ((1, "A"), (1, "C"))
    assert lost.trimmed == ((1, "B"),)
    cut = Entry("abc", (Span("A", 0, 2),))
    assert losses(cut, plain_tokens("abc"), "IOB2").cut == ((1, "A"),)
    assert losses(Entry("a b", (Span("A", 0, 3), Span("B", 0, 1, 0))), plain_tokens("a b"), depth=1).unheld == (
        (2, "B"),
    )


NAMES = ("mail", "e_mail", "b_", "i_x", "S_s_s", "u-v", "I-x", "é_a")
"""Types that look like the prefixes of joint labels."""


@pytest.mark.parametrize("scheme", ["IO", "IOB2", "IOBES"])
@pytest.mark.parametrize("types", product(NAMES, NAMES[1:]), ids="|".join)
def test_types_that_look_like_prefixes_are_read_back(types: tuple[str, str], scheme: Scheme) -> None:
    outer, inner = types
    prefixes = {"IO": "I", "IOB2": "BI", "IOBES": "BIES"}[scheme]
    levels = [
        [*(f"{prefix}-{outer}" for prefix in prefixes), "I-" + outer, "O"],
        [*(f"{prefix}-{inner}" for prefix in prefixes), "O", "I-" + inner],
    ]
    assert split_joint(joint_tags(levels, scheme), scheme=scheme) == levels
    if scheme == "IO" and "mail" not in types:
        assert split_joint(joint_tags(levels, scheme), types=types) == levels


def test_joint_classes_hold_every_label_of_every_entry() -> None:
    entry = parse_markup("<PER>a <TITRE-H>b c</TITRE-H></PER> <SPAT><LOC>r. d</LOC>, <CARDINAL>5</CARDINAL></SPAT>")
    for scheme in ("IO", "IOB2", "IOBES"):
        labels = joint_tags(level_tags(entry, published_tokens(entry), scheme), scheme)
        assert set(labels) <= set(joint_classes(GRAMMAR, scheme))


def test_inconsistent_pairs() -> None:
    levels = [["B-PER", "O", "B-DESC", "I-DESC"], ["B-LOC", "B-LOC", "B-ACT", "O"]]
    found = inconsistent_pairs(levels, GRAMMAR)
    assert [(p.kind, p.level, p.parent, p.type, p.start, p.end) for p in found] == [
        ("wrong_parent", 2, "PER", "LOC", 0, 1),
        ("orphan", 2, None, "LOC", 1, 2),
    ]
    assert [p.kind for p in inconsistent_pairs(levels)] == ["orphan"]


def test_combined_and_flat_of_odd_pairs() -> None:
    levels = [["B-SPAT", "O", "B-PER"], ["O", "B-LOC", "B-FT"]]
    assert combined_tags(levels, "IO") == ["I-O+SPAT", "O", "I-FT+PER"]
    assert combined_tags(levels, "IOB2") == ["B-O+SPAT", "B-LOC+O", "B-FT+PER"]
    assert flat_tags(levels, GRAMMAR) == ["O", "I-NO", "I-NO"]


def test_tags_and_types_with_hyphens() -> None:
    assert split_tag("B-loc-adm") == ("B", "loc-adm")
    assert split_tag("PER") == ("I", "PER")
    assert runs(["B-loc-adm", "I-loc-adm"]) == [("loc-adm", 0, 2)]
    assert split_joint(["b_TITREH+O"], 2) == [["B-TITREH"], ["O"]]


def test_unknown_schemes_are_refused() -> None:
    with pytest.raises(UsageError, match="no tag scheme 'BIO'"):
        level_tags(Entry("", ()), (), "BIO")
    with pytest.raises(UsageError, match="there are IO, IOB2, IOBES"):
        joint_tags([["O"], ["O"]], "BILOU")
