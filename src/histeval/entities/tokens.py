"""Tokens with offsets: the published tokenisation of the directories benchmark, and one that sees only the plain text.

Source of the published rules: NLTK 3.6.7's word tokenizer without sentence splitting, run on each text node of the
markup alone (Tual et al. 2023, code soduco/paper-nestedner-icdar23-code). Here they are rules on offsets, so that
every token keeps its place. English contractions, which never occur in the benchmark, are left out.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from itertools import pairwise
from typing import Any, NamedTuple

from histeval.entities.spans import Entry


class Token(NamedTuple):
    """A token: its surface form, its first character and the one after its last (code points of the entry's text).

    The surface form differs from the text only where the published rules rewrite a quotation mark.
    """

    text: str
    start: int
    end: int


_ALONE = re.compile(r"[«“‘„»”’;@#$%&?!*\[\](){}<>]|`+|\.{2,}|--|\"|''")
_COLON = re.compile(r"[:,](?:\D|\Z)")
_APOSTROPHE = re.compile(r"'")
_ELISION = re.compile(r"'(?![mtsdnMTSDN])\w\b")
_WORD = re.compile(r"\S+")
_CUTTING = re.compile(r"[«“‘„»”’;@#$%&?!*\[\](){}<>`\":,'.]|--")
_AFTER_PERIOD = "])}>\"'»”’ "
_BEFORE_OPENING_QUOTE = " ([{<«“‘„`"


def published_tokens(entry: Entry) -> tuple[Token, ...]:
    """Tokens of an entry under the published tokenisation: each text node alone, so that no token crosses a tag.

    An entry that never was markup is cut at the edges of its spans instead, which gives the same nodes.

    >>> from histeval.entities.spans import Span
    >>> entry = Entry("Dufay, r. du Pont, 5.", (Span("PER", 0, 5),))
    >>> [token.text for token in published_tokens(entry)]
    ['Dufay', ',', 'r.', 'du', 'Pont', ',', '5', '.']
    """
    return tokens_of_nodes(entry.text, text_nodes(entry))


def text_nodes(entry: Entry) -> tuple[tuple[int, int], ...]:
    """(start, end) of the text nodes of an entry; where it never was markup, the text cut at the edges of its spans."""
    if entry.nodes is not None:
        return entry.nodes
    size = len(entry.text)
    edges = {0, size}
    for span in entry.spans:
        edges.add(min(span.start, size))
        edges.add(min(span.end, size))
    cuts = sorted(edges)
    return tuple(pairwise(cuts))


def tokens_of_nodes(text: str, nodes: Iterable[tuple[int, int]]) -> tuple[Token, ...]:
    """Published tokens of each node of `text`, one after another, with offsets in `text`."""
    found: list[Token] = []
    for start, end in nodes:
        found.extend(_node_tokens(text[start:end], start))
    return tuple(found)


def _node_tokens(node: str, offset: int) -> list[Token]:
    """The published tokens of one text node that begins at `offset`."""
    if not _CUTTING.search(node):
        return [Token(m[0], m.start() + offset, m.end() + offset) for m in _WORD.finditer(node)]
    cuts, rewritten = _cuts(node)
    found = []
    edges = iter([*sorted(cuts), len(node) + 1])
    edge = next(edges)
    for word in _WORD.finditer(node):
        start, end = word.span()
        while edge <= start:
            edge = next(edges)
        while edge < end:
            found.append(Token(rewritten.get(start) or node[start:edge], start + offset, edge + offset))
            start, edge = edge, next(edges)
        found.append(Token(rewritten.get(start) or node[start:end], start + offset, end + offset))
    return found


def _cuts(node: str) -> tuple[set[int], dict[int, str]]:
    """Where a node is cut beside white space, and the surface forms of quotation marks by their offset."""
    cuts: set[int] = set()
    rewritten: dict[int, str] = {}
    opened = -1  # the end of a quotation mark at the node's start: one that follows it at once opens too
    for match in _ALONE.finditer(node):
        start, end = match.span()
        cuts.update((start, end))
        if match[0] in ('"', "''"):
            before = node[start - 1] if start else ""
            if not before:
                opened = end if match[0] == '"' else -1
            if start == opened or (before in _BEFORE_OPENING_QUOTE if before else match[0] == '"'):
                rewritten[start] = "``"
            else:
                rewritten[start] = "''"
    for match in _COLON.finditer(node):
        cuts.update((match.start(), match.start() + 1))
    final = len(node.rstrip())
    while final and node[final - 1] in _AFTER_PERIOD:
        final -= 1
    if final > 1 and node[final - 1] == "." and node[final - 2] != ".":
        cuts.update((final - 1, final))
    if "'" in node:
        _cut_at_apostrophes(node, cuts)
    return cuts, rewritten


def _cut_at_apostrophes(node: str, cuts: set[int]) -> None:
    """Add the cuts around single apostrophes, which depend on the other cuts."""
    for match in _ELISION.finditer(node):
        cuts.add(match.start() + 1)
    size = len(node)

    def ends(place: int) -> bool:
        return place == size or node[place] == " " or place in cuts

    for match in _APOSTROPHE.finditer(node):
        place = match.start()
        if place and node[place - 1] != "'":
            if ends(place + 1):
                cuts.update((place, place + 1))
            elif node[place + 1] in "sSmMdD" and node[place - 1] != " " and ends(place + 2):
                cuts.add(place)


@cache
def _plain() -> Any:
    import regex

    return regex.compile(r"\p{L}[\p{L}\p{M}]*+|\p{N}++|\S\p{M}*+")


def plain_tokens(text: str) -> tuple[Token, ...]:
    """Tokens that see nothing but the text: runs of letters (with their marks), runs of digits, single other signs.

    >>> [token.text for token in plain_tokens("r. du Gros-Chenet, 12.")]
    ['r', '.', 'du', 'Gros', '-', 'Chenet', ',', '12', '.']
    """
    return tuple(Token(match[0], *match.span()) for match in _plain().finditer(text))
