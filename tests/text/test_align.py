from __future__ import annotations

import random
import tracemalloc
from itertools import pairwise

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.text import Alignment, align, diff, edits
from support import examples

from .strategies import any_texts, pairs
from .twins import levenshtein

few = settings(max_examples=examples(200), deadline=None)
unit_names = st.sampled_from(["character", "grapheme", "word"])


def split(text: str, unit: str) -> list[str]:
    return {"character": list, "grapheme": lambda t: regex.findall(r"\X", t), "word": str.split}[unit](text)


def check(alignment: Alignment) -> None:
    """Everything an alignment promises, counted from its blocks alone."""
    unit, reference, hypothesis = alignment.unit, alignment.reference, alignment.hypothesis
    at = there = 0
    cost = 0
    for block in alignment.blocks:
        assert (block.reference_start, block.hypothesis_start) == (at, there)
        at, there = block.reference_end, block.hypothesis_end
        one, other = (split(text, unit) for text in alignment.slices(block))
        if block.tag == "equal":
            assert one == other
            expected = 0
        elif block.tag == "replace":
            assert len(one) == len(other)
            assert all(a != b for a, b in zip(one, other, strict=True))
            expected = len(one)
        else:
            assert (len(one) == 0) == (block.tag == "insert")
            assert (len(other) == 0) == (block.tag == "delete")
            expected = len(one) + len(other)
        assert block.edits == expected
        cost += expected
    if split(reference, unit):
        assert at == len(reference)
    if split(hypothesis, unit):
        assert there == len(hypothesis)
    assert alignment.edits == cost == levenshtein(split(reference, unit), split(hypothesis, unit))


@few
@given(pairs(), unit_names)
def test_blocks_tile_both_texts_at_the_fewest_edits(pair: tuple[str, str], unit: str) -> None:
    check(align(*pair, unit))


@few
@given(pairs(), unit_names)
def test_runs_alternate_and_changes_rebuild_them(pair: tuple[str, str], unit: str) -> None:
    alignment = align(*pair, unit)
    runs = list(alignment.runs())
    assert sum(run.edits for run in runs) == alignment.edits
    equal = [run.tag == "equal" for run in runs]
    assert all(a != b for a, b in pairwise(equal))
    changed = [run for run in runs if run.tag != "equal"]
    for run, units in zip(changed, alignment.changes(), strict=True):
        assert ("".join(a for a, _ in units), "".join(b for _, b in units)) == alignment.slices(run)
        assert len(units) == run.edits


def mapped(alignment: Alignment, offset: int) -> tuple[int, int]:
    """Left and right counterpart of an offset by walking over single characters."""
    ends, starts = [0], [len(alignment.hypothesis)]
    for block in alignment.blocks:
        for k in range(block.reference_end - block.reference_start):
            i, j = block.reference_start + k, block.hypothesis_start + k
            if block.tag == "delete":
                start = end = block.hypothesis_start
            else:
                start, end = j, j + 1
            if i < offset:
                ends.append(end)
            else:
                starts.append(start)
    return max(ends), min(starts)


@few
@given(pairs())
def test_offsets_map_to_the_ends_of_their_neighbours(pair: tuple[str, str]) -> None:
    alignment = align(*pair)
    offsets = range(len(alignment.reference) + 1)
    left, right = alignment.map_offsets(offsets), alignment.map_offsets(offsets, "right")
    assert list(zip(left, right, strict=True)) == [mapped(alignment, offset) for offset in offsets]
    assert left == sorted(left)
    assert right == sorted(right)


@few
@given(pairs(), unit_names)
def test_offsets_map_in_order_and_within_by_any_unit(pair: tuple[str, str], unit: str) -> None:
    alignment = align(*pair, unit)
    offsets = range(len(alignment.reference) + 1)
    left, right = alignment.map_offsets(offsets), alignment.map_offsets(offsets, "right")
    assert left == sorted(left)
    assert right == sorted(right)
    assert all(0 <= a <= b <= len(alignment.hypothesis) for a, b in zip(left, right, strict=True))


def test_an_offset_inside_a_cluster_keeps_the_cluster_whole() -> None:
    alignment = align("xu\u0364y", "xu\u0364\u0304y", "grapheme")
    assert alignment.map_offsets(range(5)) == [0, 1, 1, 4, 5]
    assert alignment.map_offsets(range(5), "right") == [0, 1, 4, 4, 5]


def test_an_offset_outside_is_refused() -> None:
    with pytest.raises(UsageError, match="offset 3 lies outside"):
        align("ab", "b").map(3)
    with pytest.raises(UsageError, match="no unit 'line'"):
        align("ab", "b", "line")


@few
@given(any_texts)
def test_a_text_maps_to_itself(text: str) -> None:
    alignment = align(text, text)
    assert alignment.map_offsets(range(len(text) + 1)) == list(range(len(text) + 1))
    assert [block.tag for block in alignment.blocks] == ["equal"] * bool(text)


def test_a_missing_line_stays_in_one_piece() -> None:
    before, missing, after = "do sprach er zu dem ", "marschalck vnd sag dem ", "burger das er kum"
    alignment = align("x" + before + missing + after + "x", before + after)
    deleted = [alignment.slices(run)[0] for run in alignment.runs() if run.tag == "delete"]
    assert sorted(map(len, deleted)) == [1, 1, len(missing)]


def test_long_texts_stay_within_memory_and_time() -> None:
    chance = random.Random(7)
    text = "".join(chance.choice("abcdefg hij\u0304") for _ in range(20_000))
    other = "".join(c for c in text if chance.random() > 0.1)
    tracemalloc.start()
    alignment = align(text, other)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 20_000_000
    assert alignment.edits == edits(text, other)
    assert alignment.map(len(text)) == len(other)


@few
@given(pairs())
def test_a_diff_gives_both_texts_back_and_never_cuts_a_cluster(pair: tuple[str, str]) -> None:
    pieces = diff(*pair)
    assert "".join(piece.reference for piece in pieces) == pair[0]
    assert "".join(piece.hypothesis for piece in pieces) == pair[1]
    for piece in pieces:
        assert (piece.tag == "equal") == (piece.reference == piece.hypothesis)
        if piece.parts:
            assert piece.tag == "replace"
            assert "".join(part.reference for part in piece.parts) == piece.reference
            assert "".join(part.hypothesis for part in piece.parts) == piece.hypothesis
            for side in ("reference", "hypothesis"):
                clusters = regex.findall(r"\X", getattr(piece, side))
                starts = {sum(map(len, clusters[:k])) for k in range(len(clusters) + 1)}
                at = 0
                for part in piece.parts:
                    assert at in starts
                    at += len(getattr(part, side))


def test_a_diff_changes_whole_words_and_splits_by_letters() -> None:
    found = [
        (piece.tag, piece.reference, piece.hypothesis)
        for piece in diff("der man vnd sprach do", "der mau vnd sprachdo")
    ]
    assert found == [
        ("equal", "der ", "der "),
        ("replace", "man", "mau"),
        ("equal", " vnd ", " vnd "),
        ("replace", "sprach do", "sprachdo"),
    ]
