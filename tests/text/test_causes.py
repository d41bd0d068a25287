from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.text import CAUSES, align, confusions, count_causes, explain, groups
from support import examples

from .strategies import pairs

few = settings(max_examples=examples(200), deadline=None)
unit_names = st.sampled_from(["character", "grapheme", "word"])


@few
@given(st.lists(pairs(), max_size=3), unit_names, st.booleans())
def test_the_causes_sum_to_the_edits(found: list[tuple[str, str]], unit: str, hooked: bool) -> None:
    alignments = [align(a, b, unit) for a, b in found]
    elsewhere = (lambda side, text: len(text) % 2 == 0) if hooked else None
    total = count_causes(alignments, elsewhere)
    assert list(total) == list(CAUSES)
    assert all(number >= 0 for number in total.values())
    assert sum(total.values()) == sum(alignment.edits for alignment in alignments)
    assert sum(groups(total).values()) == sum(total.values())
    for alignment in alignments:
        for explained in explain(alignment, elsewhere):
            assert sum(explained.causes.values()) == explained.run.edits > 0
            assert all(explained.causes.values())


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("vnd", "vnd", {}),
        ("vnd", "und", {"u_v": 1}),
        ("Vnd", "und", {"u_v": 1}),
        ("Vnd", "vnd", {"case": 1}),
        ("jn", "in", {"i_j": 1}),
        ("daſ", "das", {"long_s": 1}),
        ("daſ", "daS", {"long_s": 1}),
        ("Zu\u0308rich", "Zürich", {"encoding": 2}),
        ("tür", "tur", {"accents": 1}),
        ("tu\u0364r", "tur", {"accents": 1}),
        ("a, b.", "a b", {"punctuation": 2}),
        ("a. b", "a, b", {"punctuation": 1}),
        ("a\nb", "a b", {"line_breaks": 1}),
        ("haupt-\nman", "hauptman", {"line_breaks": 2}),
        ("haupt¬\r\nman", "hauptman", {"line_breaks": 3}),
        ("haupt-\nman", "haupt\nman", {"punctuation": 1}),
        ("⁊ er", "et er", {"abbreviations": 2}),
        ("ꝑſon", "person", {"abbreviations": 3, "long_s": 1}),
        ("vn\u0304 er", "vnn er", {"abbreviations": 1}),
        ("dom\u0304", "domm", {"abbreviations": 1}),
        ("pferd", "pfexd", {"recognition": 1}),
        ("turm", "turrn", {"recognition": 2}),
        ("man", "maan", {"recognition": 1}),
        ("er sprach do", "er do", {"missing": 7}),
        ("er do", "er sprach do", {"invented": 7}),
        ("er do do er", "er do er", {"missing": 3}),
        ("", "gar nit", {"invented": 7}),
        ("gar nit", "", {"missing": 7}),
        ("Parzival kam zu dem kunig", "x", {"missing": 24, "recognition": 1}),
        ("x y zz", "abc", {"line_breaks": 2, "recognition": 4}),
        ("sprach", "sprachend", {"recognition": 3}),
    ],
)
def test_each_cause(reference: str, hypothesis: str, expected: dict[str, int]) -> None:
    assert {cause: number for cause, number in count_causes(align(reference, hypothesis)).items() if number} == expected


@pytest.mark.parametrize(
    ("reference", "hypothesis", "expected"),
    [
        ("Vnd er", "vnd er", {"case": 1}),
        ("haupt man", "hauptman", {"line_breaks": 2}),
        ("a b c", "x", {"missing": 2, "recognition": 1}),
        ("er sprach", "er", {"missing": 1}),
        ("man", "mann", {"recognition": 1}),
    ],
)
def test_causes_by_word(reference: str, hypothesis: str, expected: dict[str, int]) -> None:
    found = count_causes(align(reference, hypothesis, "word"))
    assert {cause: number for cause, number in found.items() if number} == expected


def test_text_in_another_field_is_a_matter_of_layout() -> None:
    asked: list[tuple[str, str]] = []

    def elsewhere(side: str, text: str) -> bool:
        asked.append((side, text))
        return side == "missing"

    found = count_causes([align("er sprach do", "er do"), align("er", "er nota")], elsewhere)
    assert (found["layout"], found["missing"], found["invented"]) == (7, 0, 5)
    assert asked == [("missing", "sprach "), ("invented", " nota")]
    assert groups(found)["layout"] == 7


@few
@given(st.lists(pairs(), max_size=3), unit_names)
def test_confusions_hold_every_changed_unit(found: list[tuple[str, str]], unit: str) -> None:
    alignments = [align(a, b, unit) for a, b in found]
    table = confusions(alignments)
    changed = [alignment.slices(run) for alignment in alignments for run in alignment.runs() if run.tag != "equal"]
    for side in (0, 1):
        assert sum(len(pair[side]) * times for pair, times in table.items()) == sum(len(c[side]) for c in changed)
    assert all(one != other for one, other in table)


def test_confusions_of_one_letter_for_two() -> None:
    table = confusions([align("turm", "turrn"), align("arm hin", "arrn hia"), align("abcdefgh", "x")])
    assert table["m", "rn"] == 2
    assert table["n", "a"] == 1
    assert table[("b", "")] == 1
