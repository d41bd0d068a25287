from __future__ import annotations

import random
from collections.abc import Callable

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.text import cer, edits, edits_many, error_rate, fuzzy_ratio, profile, wer
from histeval.text.distance import units
from support import examples

from .strategies import any_texts, pairs, texts
from .twins import levenshtein, longest_common_subsequence

few = settings(max_examples=examples(150), deadline=None)


def noisy(chance: random.Random, text: str, rate: float) -> str:
    out = []
    for character in text:
        kind = chance.random()
        if kind < rate / 3:
            continue
        out.append(chance.choice("abcdefghi ſü") if kind < rate else character)
        if kind < rate / 6:
            out.append(chance.choice("abcdefghi ſü"))
    return "".join(out)


@few
@given(pairs(), st.none() | st.integers(0, 60))
def test_edits_equal_the_table_of_the_textbook(pair: tuple[str, str], hint: int | None) -> None:
    assert edits(*pair, hint) == levenshtein(*pair)


@few
@given(pairs())
def test_graphemes_equal_lists_of_clusters(pair: tuple[str, str]) -> None:
    a, b = (regex.findall(r"\X", text) for text in pair)
    rate = error_rate(*pair, unit="grapheme")
    assert (rate.edits, rate.length) == (levenshtein(a, b), len(a))


@few
@given(pairs())
def test_words_equal_lists_of_words(pair: tuple[str, str]) -> None:
    a, b = (text.split() for text in pair)
    rate = error_rate(*pair, unit="word")
    assert (rate.edits, rate.length) == (levenshtein(a, b), len(a))


@few
@given(pairs())
def test_fuzzy_ratio_is_rapidfuzz_bit_for_bit_and_twice_the_common_subsequence(pair: tuple[str, str]) -> None:
    from rapidfuzz import fuzz

    a, b = pair
    assert fuzzy_ratio(a, b) == fuzz.ratio(a, b) / 100
    total = len(a) + len(b)
    expected = 2 * longest_common_subsequence(a, b) / total if total else 1.0
    assert fuzzy_ratio(a, b) == pytest.approx(expected, abs=1e-12)


@few
@given(st.lists(pairs(), min_size=1, max_size=6))
def test_cer_and_wer_equal_jiwer_on_texts_without_outer_blanks(found: list[tuple[str, str]]) -> None:
    import jiwer

    clean = [(a.strip(), b.strip()) for a, b in found]
    clean = [(a, b) for a, b in clean if a]
    if not clean:
        return
    references, hypotheses = [a for a, _ in clean], [b for _, b in clean]
    assert cer(references, hypotheses) == jiwer.cer(references, hypotheses)
    # jiwer parts words at blanks only, and collapses these.
    collapsed = profile("collapsed").apply
    references, hypotheses = [collapsed(a) for a in references], [collapsed(b) for b in hypotheses]
    assert wer(references, hypotheses) == jiwer.wer(references, hypotheses)


@few
@given(st.lists(pairs(), max_size=30), st.sampled_from(["character", "grapheme", "word"]))
def test_a_list_gives_the_sum_of_its_pairs(found: list[tuple[str, str]], unit: str) -> None:
    single = [error_rate(a, b, unit=unit) for a, b in found]
    rate = error_rate([a for a, _ in found], [b for _, b in found], unit=unit)
    assert (rate.edits, rate.length) == (sum(one.edits for one in single), sum(one.length for one in single))


def damage(kind: str, chance: random.Random, text: str) -> str:
    size = len(text)
    kinds: dict[str, Callable[[], str]] = {
        "clean": lambda: text,
        "few errors": lambda: noisy(chance, text, 0.02),
        "many errors": lambda: noisy(chance, text, 0.3),
        "unrelated": lambda: "".join(chance.choice("abcdefghi ſü") for _ in text),
        "paragraph missing": lambda: noisy(chance, text[: size // 2] + text[size * 7 // 10 :], 0.03),
        "half missing": lambda: noisy(chance, text[: size // 2], 0.03),
        "bad end": lambda: noisy(chance, text[: size * 8 // 10], 0.03) + noisy(chance, text[size * 8 // 10 :], 0.9),
        "bad middle": lambda: text[:300] + noisy(chance, text[300:-300], 0.8) + text[-300:],
        "empty": lambda: "",
        "twice": lambda: text + text,
        "turned round": lambda: text[size // 2 :] + text[: size // 2],
    }
    return kinds[kind]()


KINDS = (
    "clean",
    "few errors",
    "many errors",
    "unrelated",
    "paragraph missing",
    "half missing",
    "bad end",
    "bad middle",
    "empty",
    "twice",
    "turned round",
)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("size", [255, 256, 999, 1000, 2500, 9000])
def test_the_band_never_changes_the_result(kind: str, size: int) -> None:
    from rapidfuzz.distance.Levenshtein import distance

    chance = random.Random(f"{kind} {size}")
    text = "".join(chance.choice("abcdefghi ſü") for _ in range(size))
    other = damage(kind, chance, text)
    true = distance(text, other)
    for hint in (None, 0, true // 2, true - 1 if true else 0, true, true + 1, 3 * true, 10 * size):
        assert edits(text, other, hint) == true, hint
        assert edits(other, text, hint) == true, hint
    # The same by list of integers, which is how words and crowded texts are compared.
    numbers = [ord(character) for character in text], [ord(character) for character in other]
    assert edits(*numbers) == true


@pytest.mark.parametrize("workers", [1, 2])
def test_many_pairs_of_all_lengths_in_one_call(workers: int) -> None:
    chance = random.Random(4)
    references, hypotheses = [], []
    for number in range(120):
        size = chance.choice([0, 1, 30, 200, 255, 256, 400, 1500, 1500, 5000])
        text = "".join(chance.choice("abcdefghi ſü") for _ in range(size))
        references.append(text)
        hypotheses.append(damage(KINDS[number % len(KINDS)], chance, text))
    expected = [edits(a, b) for a, b in zip(references, hypotheses, strict=True)]
    assert edits_many(references, hypotheses, workers) == expected
    assert edits_many(references[:5], hypotheses[:5], workers) == expected[:5]
    assert error_rate(references, hypotheses, workers=workers).edits == sum(expected)
    words = [units(a, b, "word") for a, b in zip(references, hypotheses, strict=True)]
    assert edits_many([a for a, _ in words], [b for _, b in words], workers) == [levenshtein_words(*w) for w in words]


def levenshtein_words(a: object, b: object) -> int:
    from rapidfuzz.distance.Levenshtein import distance

    return distance(a, b)


@pytest.mark.parametrize(
    ("reference", "hypothesis", "profile_name", "unit", "counted", "length", "rate"),
    [
        ("", "", "raw", "character", 0, 0, None),
        ("", "abc", "raw", "character", 3, 0, None),
        ("", "a b", "raw", "word", 2, 0, None),
        ("  ", "x", "collapsed", "character", 1, 0, None),
        ("\n", "", "raw", "word", 0, 0, None),
        ("abc", "", "raw", "character", 3, 3, 1.0),
        ("a", "bcd", "raw", "character", 3, 1, 3.0),
        ("abc", "abc", "raw", "character", 0, 3, 0.0),
        ("Zu\u0308rich", "Zürich", "raw", "character", 2, 7, 2 / 7),
        ("Zu\u0308rich", "Zürich", "NFC", "character", 0, 6, 0.0),
        ("Zu\u0308rich", "Zürich", "raw", "grapheme", 1, 6, 1 / 6),
        ("Zu\u0308rich", "Zürich", "NFC+graphemes", "character", 0, 6, 0.0),
        ("o\u0364l", "ol", "graphemes", "character", 1, 2, 0.5),
        ("o\u0364l", "ol", "graphemes", "word", 1, 1, 1.0),
        ("a\r\nb", "a\nb", "raw", "grapheme", 1, 3, 1 / 3),
        ("\uf1ac", "\uf1ac", "raw", "grapheme", 0, 1, 0.0),
        ("\uf1ac\u0304a", "\uf1ac\u0304b", "raw", "grapheme", 1, 2, 0.5),
        ("\U000f0000a\u0304", "\U000f0000\U000f0000", "raw", "grapheme", 1, 2, 0.5),
        ("שלום", "שלוס", "raw", "character", 1, 4, 0.25),
        ("𝔄𝔅", "𝔄", "raw", "character", 1, 2, 0.5),
        ("\ud800a", "\ud800b", "raw", "character", 1, 2, 0.5),
    ],
)
def test_edge_cases(
    reference: str, hypothesis: str, profile_name: str, unit: str, counted: int, length: int, rate: float | None
) -> None:
    found = error_rate(reference, hypothesis, profile_name, unit)
    assert (found.edits, found.length, found.rate) == (counted, length, rate)


def test_an_undefined_rate_still_counts_in_a_sum() -> None:
    assert error_rate(["", "abcd"], ["x", "abcd"]).rate == 0.25
    assert error_rate([], []).rate is None
    assert error_rate(iter(["ab"]), (text for text in ["ab"])).length == 2


def test_wrong_use_is_one_sentence() -> None:
    with pytest.raises(UsageError, match="2 references and 1 hypotheses"):
        error_rate(["a", "b"], ["a"])
    with pytest.raises(UsageError, match="no unit 'line'"):
        error_rate("a", "b", unit="line")
    with pytest.raises(UsageError, match="no text profile or step 'tidy'"):
        error_rate("a", "b", profile="tidy")


@few
@given(any_texts, texts)
def test_symmetry_identity_and_bounds(a: str, b: str) -> None:
    assert edits(a, a) == 0
    assert edits(a, b) == edits(b, a) <= max(len(a), len(b))
    assert 0 <= fuzzy_ratio(a, b) <= 1
    assert fuzzy_ratio(a, a) == 1.0
