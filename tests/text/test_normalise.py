from __future__ import annotations

import copy
import itertools
import pickle
import re
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.text import COMMON, STEPS, Profile, profile
from histeval.text.signs import ABBREVIATIONS, LONG_S
from support import examples

from .strategies import any_texts

few = settings(max_examples=examples(100), deadline=None)


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("raw", " Vnd\u0308 \n", " Vnd\u0308 \n"),
        ("NFC", "u\u0308", "ü"),
        ("NFKC", "ﬁ²", "fi2"),
        ("folded", "VÖGTE ẞ ſ", "vögte ß ſ"),
        ("casefolded", "ß ſ", "ss s"),
        ("collapsed", "\t a\n\u00a0 b\u2029", "a b"),
        ("line_ends", "a\r\nb\rc\u2028d\u2029e\x85f", "a\nb\nc\nd\ne\nf"),
        ("hyphens", "Haupt-\nmann, Haupt¬\n  mann", "Hauptmann, Hauptmann"),
        ("hyphens", "ma¬\r\nn u\u0304-\nd", "man u\u0304d"),
        ("hyphens", "1914-\n18, a -\nb, a-b, a-", "1914-\n18, a -\nb, a-b, a-"),
        ("hyphens", "\uf158¬\nb", "\uf158b"),
        ("long_s", "daſz ﬅ", "dasz st"),
        ("uv", "Vnd vnd w", "Und und w"),
        ("ij", "jn Jn", "in In"),
        ("abbreviations", "⁊ ꝑſon q\uf1ac \ue8bf", "et perſon q; que"),
        ("unaccented", "ü u\u0364 é ñ", "u u e n"),
        ("unpunctuated", "a, b. «c» d¬", "a b c d"),
        ("unpunctuated", "⁊ & \uf1ac;", "⁊ & \uf1ac"),
        ("graphemes", "u\u0308", "u\u0308"),
        ("collapsed+NFC+folded", "  U\u0308  B", "ü b"),
        ("reading", "Vnd, der Haupt¬\nman", "und der hauptman"),
    ],
)
def test_each_step(name: str, text: str, expected: str) -> None:
    assert profile(name).apply(text) == expected


@few
@given(any_texts)
def test_the_benchmark_profile_is_lower_case_and_one_blank_for_white_space(text: str) -> None:
    assert profile("benchmark").apply(text) == re.sub(r"\s+", " ", text.lower()).strip()


@few
@given(any_texts, st.sampled_from([*STEPS, *COMMON]))
def test_applying_a_profile_twice_changes_nothing(text: str, name: str) -> None:
    once = profile(name).apply(text)
    assert profile(name).apply(once) == once


def test_name_is_the_text_form_and_order_never_matters() -> None:
    for number in (1, 2, 3):
        for steps in itertools.permutations(["collapsed", "NFC", "folded", "graphemes"], number):
            made = profile("+".join(steps))
            assert made == profile(steps) == profile(made.name) == profile(made)
            assert set(made.steps) == set(steps)
    assert profile("collapsed+folded").name == "folded+collapsed"
    assert profile("raw").name == "raw"
    assert profile("raw+NFC").name == "NFC"
    assert profile("raw, NFC").name == "NFC"
    assert profile("benchmark+NFC").name == "NFC+folded+collapsed"


def test_hashes_tell_profiles_apart_and_stay() -> None:
    names = ["raw", *STEPS, *COMMON]
    hashes = {profile(name).name: profile(name).hash for name in names}
    assert len(set(hashes.values())) == len(hashes)
    assert all(re.fullmatch("[0-9a-f]{8}", value) for value in hashes.values())
    assert profile("raw").hash == "e3b0c442"  # SHA-256 of nothing


def test_a_profile_is_a_frozen_value() -> None:
    made = profile("reading")
    made.apply("x")
    assert pickle.loads(pickle.dumps(made)) == copy.deepcopy(made) == made
    assert hash(made) == hash(Profile(made.steps))
    with pytest.raises(AttributeError):
        made.steps = ()  # type: ignore[misc]


@pytest.mark.parametrize("name", ["tidy", "", "NFC+", "nfc", "NFC+tidy"])
def test_unknown_names_are_refused_with_the_known_ones(name: str) -> None:
    with pytest.raises(UsageError, match="there are raw, benchmark"):
        profile(name)


def test_the_tables_are_closed() -> None:
    for table in (ABBREVIATIONS, LONG_S):
        assert all(len(sign) == 1 for sign in table)
        assert not set("".join(table.values())) & set(table)
        assert all(unicodedata.normalize("NFC", expansion) == expansion for expansion in table.values())
