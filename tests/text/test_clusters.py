from __future__ import annotations

import pytest
import regex
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.text import graphemes as public
from histeval.text.clusters import Folding, graphemes
from support import examples

from .strategies import any_texts, pairs

few = settings(max_examples=examples(200), deadline=None)


def numbered(sequences: list[list[object]]) -> list[list[int]]:
    """Items by order of first appearance over all sequences: equal patterns, equal numbers."""
    numbers: dict[object, int] = {}
    return [[numbers.setdefault(item, len(numbers)) for item in sequence] for sequence in sequences]


def check(a: str, b: str) -> None:
    folded = Folding().pair(a, b)
    assert numbered([list(folded[0]), list(folded[1])]) == numbered([regex.findall(r"\X", a), regex.findall(r"\X", b)])


@few
@given(pairs())
def test_folding_keeps_which_clusters_are_equal(pair: tuple[str, str]) -> None:
    check(*pair)


@few
@given(st.text(max_size=30), st.text(max_size=30))
def test_folding_of_any_unicode(a: str, b: str) -> None:
    check(a, b)


@pytest.mark.parametrize(
    "text",
    [
        "\u0304",
        "\u0304\u0304a",
        "\n\u0304\u0304a\u0304",
        "\u200b\u0364\u0364",
        "\r\n\u0304",
        "\r\u0304",
        "e\u0301\u0304e\u0301",
        "\U0001f468\u200d\U0001f469",
        "\U0001f1e6\U0001f1e7\U0001f1e8",
        "\u0915\u094d\u0937",
        "\u1100\u1161\u11a8",
        "\u0600\u0661",
        "\u0e01\u0e33",
        "\ud800\u0304",
        "\x00\u0304a\u0304",
        "\U000e0041\u0304",
    ],
)
def test_rules_of_the_annex(text: str) -> None:
    check(text, "a" + text + "b\u0304" + text)
    # Long texts go another way.
    check("a" * 200 + text + "bu\u0364" + text, text + "u\u0364" * 200 + text)


@few
@given(pairs())
def test_long_texts_fold_alike(pair: tuple[str, str]) -> None:
    a, b = pair
    check(a * 10 + "a" * 100, "b" * 100 + b * 10)
    check("u\u0364" * 60 + a, a + "u\u0364" * 60)


def test_private_use_of_mufi_stays_and_spare_signs_come_from_the_last_planes() -> None:
    folded, other = Folding().pair("\uf1ac\ue8bfu\u0364", "\uf1acu\u0364")
    assert isinstance(folded, str)
    assert isinstance(other, str)
    assert folded[:2] == "\uf1ac\ue8bf"
    assert ord(folded[2]) >= 0xF0000
    assert other == "\uf1ac" + folded[2]


def test_more_clusters_than_spare_signs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("histeval.text.clusters.SPARE", range(0xF0000, 0xF0002))
    for number in range(1, 5):
        text = "".join(chr(0x61 + i) + "\u0304" for i in range(number))
        check(text, "x" + text[::-1])
        check(text + "x" * 200, "x" * 200 + text)


@few
@given(any_texts)
def test_graphemes_join_to_the_text(text: str) -> None:
    assert "".join(graphemes(text)) == text
    assert public("a\u0304") == ["a\u0304"]
