"""The published tokenisation as offset rules, and the one that sees only the plain text."""

from __future__ import annotations

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.entities import Entry, Span, plain_tokens, published_tokens
from histeval.entities.tokens import tokens_of_nodes
from support import examples


def words(node: str) -> list[str]:
    return [token.text for token in tokens_of_nodes(node, [(0, len(node))])]


@pytest.mark.parametrize(
    ("node", "tokens"),
    [
        # expected values made with NLTK 3.6.7, NLTKWordTokenizer().tokenize
        ("Dufant (Victor)", ["Dufant", "(", "Victor", ")"]),
        ("r. du Gros-Che-\u2029net", ["r.", "du", "Gros-Che-", "net"]),
        ("Sèvres,19", ["Sèvres,19"]),
        ("a, b:c,", ["a", ",", "b", ":", "c", ","]),
        (",,a ,,1 ,,", [",", ",a", ",", ",1", ",", ","]),
        ("a:,", ["a", ":", ","]),
        ("St.-Honoré, 12.", ["St.-Honoré", ",", "12", "."]),
        ("n. Germ.", ["n.", "Germ", "."]),
        ("Germ.) ", ["Germ", ".", ")"]),
        ("a.. b...c", ["a", "..", "b", "...", "c"]),
        ("fin..", ["fin", ".."]),
        (". ", ["."]),
        ("«a» “b” ‘c’ „d", ["«", "a", "»", "“", "b", "”", "‘", "c", "’", "„", "d"]),
        ('"a" b"', ["``", "a", "''", "b", "''"]),
        ('("a', ["(", "``", "a"]),
        ("a``b", ["a", "``", "b"]),
        ("d'a l'eau", ["d", "'", "a", "l'eau"]),
        ("l'x l'm l'S'", ["l", "'", "x", "l", "'m", "l'S", "'"]),
        ("Louis' a's b'", ["Louis", "'", "a", "'s", "b", "'"]),
        ("''a'' '", ["''", "a", "''", "'"]),
        ("a--b -c-", ["a", "--", "b", "-c-"]),
        ("1*2 & 3% #4 @5 $6 ?! [7]{8}<9>", list("1*2&3%#4@5$6?![7]{8}<9>")),
        ("", []),
        (" \u2029\t", []),
    ],
)
def test_published_rules(node: str, tokens: list[str]) -> None:
    assert words(node) == tokens


def test_nodes_are_tokenised_alone() -> None:
    entry = Entry("Germ.3", (Span("LOC", 0, 5),), ((0, 5), (5, 6)))
    assert [tuple(token) for token in published_tokens(entry)] == [("Germ", 0, 4), (".", 4, 5), ("3", 5, 6)]
    never_markup = Entry(entry.text, entry.spans)
    assert published_tokens(never_markup) == published_tokens(entry)


alphabet = st.text(alphabet="ab1é .,:;'\"`-()<«»’&s\u2029", max_size=14)


@settings(max_examples=examples(400), deadline=None)
@given(alphabet)
def test_tokens_tile_the_text_but_for_white_space(node: str) -> None:
    found = tokens_of_nodes(node, [(0, len(node))])
    place = 0
    for text, start, end in found:
        assert place <= start < end
        assert not node[place:start].strip()
        surface = node[start:end]
        assert text == surface or (surface in ('"', "''") and text in ("``", "''"))
        place = end
    assert not node[place:].strip()


@settings(max_examples=examples(300), deadline=None)
@given(st.text(alphabet="ab1é .,:;«»()&-\u2029", max_size=14))
def test_a_slow_twin_by_substitution_gives_the_same_words(node: str) -> None:
    """The rules written as NLTK writes them, substitutions that put spaces around what is cut (no quotes here)."""
    text = re.sub("([«])", r" \1 ", node)
    text = re.sub(r"([^.])(\.)([\]\)}>\"'»”’ ]*)\s*$", r"\1 \2 \3 ", text)
    text = re.sub(r"([:,])([^\d])", r" \1 \2", text)
    text = re.sub(r"([:,])$", r" \1 ", text)
    text = re.sub(r"\.{2,}", r" \g<0> ", text)
    text = re.sub(r"[;&()]", r" \g<0> ", text)
    text = re.sub(r"--", " -- ", text)
    text = re.sub("([»])", r" \1 ", " " + text + " ")
    assert words(node) == text.split()


@settings(max_examples=examples(200), deadline=None)
@given(st.text(max_size=30))
def test_plain_tokens_see_only_the_text(text: str) -> None:
    found = plain_tokens(text)
    assert all(text[start:end] == word for word, start, end in found)
    covered = {place for _, start, end in found for place in range(start, end)}
    # What no token covers is white space, or a mark that follows none of the text's signs.
    assert all(text[place].isspace() for place in range(len(text)) if place not in covered)


def test_plain_tokens_keep_marks_with_their_letters() -> None:
    assert [token.text for token in plain_tokens("cha\u0302teau 12bis,3")] == ["cha\u0302teau", "12", "bis", ",", "3"]
