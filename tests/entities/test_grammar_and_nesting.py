"""Grammars of any shape, and nesting from offsets."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import Grammar, joint_classes, level_classes, nest
from histeval.errors import UsageError
from histeval.tasks.description import EntityType
from histeval.tasks.directories import PUBLISHED_TYPES
from support import examples

PUBLISHED = Grammar.of(PUBLISHED_TYPES)


def test_published_grammar() -> None:
    assert PUBLISHED.depth == 2
    assert PUBLISHED.roots == ("PER", "ACT", "DESC", "SPAT", "TITRE")
    assert list(PUBLISHED.paths()) == [
        ("PER",), ("PER", "TITREH"), ("ACT",), ("DESC",), ("DESC", "ACT"), ("DESC", "TITREP"),
        ("SPAT",), ("SPAT", "LOC"), ("SPAT", "CARDINAL"), ("SPAT", "FT"), ("TITRE",),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("path", "flat"),
    [
        (("PER",), "PER"), (("PER", "TITREH"), "TITRE"), (("DESC", "TITREP"), "TITRE"), (("TITRE",), "TITRE"),
        (("ACT",), "ACT"), (("DESC", "ACT"), "ACT"), (("SPAT", "LOC"), "LOC"), (("SPAT", "CARDINAL"), "CARDINAL"),
        (("SPAT", "FT"), "FT"), (("DESC",), None), (("SPAT",), None), ((), None),
        (("LOC",), "NO"), (("PER", "LOC"), "NO"), (("X",), "NO"),
    ],
)  # fmt: skip
def test_flat_projection_is_the_published_one(path: tuple[str, ...], flat: str | None) -> None:
    assert PUBLISHED.flat_type(path) == flat


def test_a_type_may_hold_itself() -> None:
    recursive = Grammar.of([EntityType("loc", ("loc",))])
    assert recursive.depth == 4
    assert Grammar.of([EntityType("loc", ("loc",))], depth=2).depth == 2
    through = Grammar.of([EntityType("a", ("b",)), EntityType("b", ("c",), root=False), EntityType("c", ("b",), False)])
    assert through.depth == 4
    assert ("a", "b", "c", "b") in set(through.paths())


def test_without_flat_types_the_innermost_remains() -> None:
    grammar = Grammar.of([EntityType("work", ("person",)), EntityType("person")])
    assert grammar.flat_type(("work", "person")) == "person"
    assert grammar.flat_type(("work",)) == "work"
    assert grammar.flat_types == ("work", "person")


@pytest.mark.parametrize("name", ["", "O", "other", "a+b", "a/b", "a b", "a\n"])
def test_names_that_columns_and_tags_cannot_hold_are_refused(name: str) -> None:
    with pytest.raises(UsageError, match="cannot be the name"):
        Grammar.of([EntityType(name)])


def test_unknown_child_and_double_type_are_refused() -> None:
    with pytest.raises(UsageError, match="not described"):
        Grammar.of([EntityType("a", ("b",))])
    with pytest.raises(UsageError, match="twice"):
        Grammar.of([EntityType("a"), EntityType("a")])


def test_joint_classes_in_published_index_order() -> None:
    assert joint_classes(PUBLISHED, "IO") == [
        "O+O", "I-PER+O", "I-PER+i_TITREH", "I-ACT+O", "I-DESC+O", "I-DESC+i_ACT", "I-DESC+i_TITREP", "I-SPAT+O",
        "I-SPAT+i_LOC", "I-SPAT+i_CARDINAL", "I-SPAT+i_FT", "I-TITRE+O",
    ]  # fmt: skip
    in_iob2 = joint_classes(PUBLISHED, "IOB2")
    assert len(in_iob2) == len(set(in_iob2)) == 29
    assert in_iob2[:6] == [
        "O+O", "I-b_PER+O", "I-i_PER+O", "I-b_PER+b_TITREH", "I-i_PER+b_TITREH", "I-i_PER+i_TITREH",
    ]  # fmt: skip
    assert len(level_classes(PUBLISHED, "IO")) == 11
    assert len(level_classes(PUBLISHED, "IOB2")) == 21


spans = st.lists(
    st.tuples(st.sampled_from("AB"), st.integers(0, 12), st.integers(0, 6)).map(lambda t: (t[0], t[1], t[1] + t[2])),
    max_size=8,
)


@settings(max_examples=examples(150), deadline=None)
@given(spans)
def test_nesting_keeps_every_span_inside_its_parent(triples: list[tuple[str, int, int]]) -> None:
    nested, crossing = nest(triples)
    assert sorted((s.type, s.start, s.end) for s in nested) == sorted(triples)
    for index, span in enumerate(nested):
        if span.parent is not None:
            outer = nested[span.parent]
            assert span.parent < index
            assert outer.start <= span.start
            assert span.end <= outer.end
    # A span is named as crossing only if it does overlap an earlier one in part.
    for index in crossing:
        span = nested[index]
        assert any(o.start < span.start < o.end < span.end for o in nested[:index])


@settings(max_examples=examples(150), deadline=None)
@given(spans)
def test_without_crossing_the_parent_is_the_smallest_span_around(triples: list[tuple[str, int, int]]) -> None:
    solid = [t for t in triples if t[1] < t[2]]
    crosses = any(a[1] < b[1] < a[2] < b[2] for a in solid for b in solid)
    nested, crossing = nest(solid)
    if crosses:
        assert crossing
        return
    assert crossing == ()
    for index, span in enumerate(nested):
        around = [o for o in nested[:index] if o.start <= span.start and span.end <= o.end]
        smallest = min((o.end - o.start for o in around), default=None)
        held = None if span.parent is None else nested[span.parent]
        assert (held.end - held.start if held else None) == smallest
