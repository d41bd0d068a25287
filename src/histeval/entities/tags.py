"""Spans to tags and back, at each level of nesting, jointly, and flat.

A *level* is a depth of nesting: level 1 holds the entities at the root, level 2 those directly inside, and so on. The
tags of a level are one string a token: `O`, or a prefix, a hyphen and a type. A token belongs to the entity that holds
its first character.

Sources: Ramshaw and Marcus 1995 (IOB1), Tjong Kim Sang and Veenstra 1999 (IOB2), Ratinov and Roth 2009 (BILOU); joint
labels, flat projection and the published variant of IOB2: code of Tual et al. 2023.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Literal

from histeval.entities.grammar import NO_CLASS, Grammar, Path
from histeval.entities.nesting import nest
from histeval.entities.spans import Entry, Span
from histeval.entities.tokens import Token
from histeval.errors import UsageError

Scheme = Literal["IO", "IOB1", "IOB2", "IOBES", "BILOU"]
Tags = list[str]

SCHEMES: tuple[Scheme, ...] = ("IO", "IOB1", "IOB2", "IOBES", "BILOU")

_PREFIXES: dict[str, str] = {"IO": "I", "IOB1": "BI", "IOB2": "BI", "IOBES": "BIES", "BILOU": "BILU"}
_INSIDE: dict[str, dict[str, str]] = {
    # Which prefixes an inner entity can have on a token, by the prefix that the outer one has there.
    "IO": {"I": "I"},
    "IOB2": {"B": "B", "I": "BI"},
    "IOBES": {"B": "BS", "I": "BIES", "E": "ES", "S": "S"},
}
_REMEMBERED = 4096
JOINT_SCHEMES: tuple[Scheme, ...] = ("IO", "IOB2", "IOBES")


@dataclass(frozen=True, slots=True)
class Losses:
    """What tags could not say of an entry; every part is ((level, type), ...) with one item for each entity.

    `merged` joined its neighbour of the same type; `unheld` holds the first character of no token; `cut` begins or
    ends inside a token; `trimmed` begins or ends with white space.
    """

    merged: tuple[tuple[int, str], ...] = ()
    unheld: tuple[tuple[int, str], ...] = ()
    cut: tuple[tuple[int, str], ...] = ()
    trimmed: tuple[tuple[int, str], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.merged or self.unheld or self.cut or self.trimmed)


@dataclass(frozen=True, slots=True)
class Pair:
    """A run of tokens [start, end) whose tags at two levels do not fit: `orphan` (nothing around) or `wrong_parent`."""

    kind: Literal["orphan", "wrong_parent"]
    level: int
    parent: str | None
    type: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Decoded:
    """An entry made from tags, and the inconsistent pairs of tags that were met on the way."""

    entry: Entry
    pairs: tuple[Pair, ...] = field(default=())


def check_scheme(scheme: str, allowed: Sequence[str] = SCHEMES) -> None:
    """Raise UsageError unless the scheme is one of `allowed`."""
    if scheme not in allowed:
        raise UsageError(f"there is no tag scheme {scheme!r} here; there are {', '.join(allowed)}")


def depths(spans: Sequence[Span]) -> list[int]:
    """The level of each span, 1 at the root; linear in the number of spans."""
    found: list[int] = []
    for span in spans:
        found.append(1 if span.parent is None else found[span.parent] + 1)
    return found


def level_owners(
    entry: Entry, tokens: Sequence[Token], depth: int, *, sibling_continues: bool = False
) -> list[list[int]]:
    """For each level and token the index of the span it belongs to, or -1; shape (depth, tokens).

    With `sibling_continues` a span that follows one of its type and level without a character between belongs to it:
    the published variant of IOB2. (Its memory is cleared by a text node between, not by a new outer element.)
    Where spans of one level overlap, which markup cannot say, a token belongs to the first.
    """
    starts = [token[1] for token in tokens]
    owners = [[-1] * len(tokens) for _ in range(depth)]
    before: list[tuple[str, int, int]] = [("", -1, -1)] * depth
    size = len(starts)
    for index, (span, level) in enumerate(zip(entry.spans, depths(entry.spans), strict=True)):
        if level > depth:
            continue
        owner = index
        if sibling_continues:
            kind, end, previous = before[level - 1]
            if kind == span.type and end == span.start:
                owner = previous
            before[level - 1] = (span.type, span.end, owner)
        row = owners[level - 1]
        place = bisect_left(starts, span.start)
        while place < size and starts[place] < span.end:
            if row[place] < 0:
                row[place] = owner
            place += 1
    return owners


def owner_tags(owners: Sequence[int], types: Sequence[str], scheme: str) -> Tags:
    """The tags of one level, from the span each token belongs to (-1: none) and the type of each span."""
    if scheme == "IO":
        return ["O" if owner < 0 else "I-" + types[owner] for owner in owners]
    tags: Tags = []
    size = len(owners)
    for place, owner in enumerate(owners):
        if owner < 0:
            tags.append("O")
            continue
        before = owners[place - 1] if place else -1
        first = before != owner
        kind = types[owner]
        if scheme == "IOB2":
            prefix = "B" if first else "I"
        elif scheme == "IOB1":
            prefix = "B" if first and before >= 0 and types[before] == kind else "I"
        else:
            last = place + 1 == size or owners[place + 1] != owner
            prefix = ("S" if last else "B") if first else ("E" if last else "I")
            if scheme == "BILOU":
                prefix = {"S": "U", "E": "L"}.get(prefix, prefix)
        tags.append(f"{prefix}-{kind}")
    return tags


def level_tags(
    entry: Entry, tokens: Sequence[Token], scheme: str = "IOB2", *, depth: int = 2, sibling_continues: bool = False
) -> list[Tags]:
    """The tags of each level, shape (depth, tokens).

    >>> from histeval.entities.markup import parse_markup
    >>> from histeval.entities.tokens import published_tokens
    >>> entry = parse_markup("<PER>Dulay</PER>, <SPAT><LOC>r. du Pont</LOC>, <CARDINAL>15</CARDINAL></SPAT>")
    >>> for tags in level_tags(entry, published_tokens(entry)):
    ...     print(*tags)
    B-PER O B-SPAT I-SPAT I-SPAT I-SPAT I-SPAT
    O O B-LOC I-LOC I-LOC O B-CARDINAL
    """
    check_scheme(scheme)
    types = [span.type for span in entry.spans]
    owners = level_owners(entry, tokens, depth, sibling_continues=sibling_continues)
    return [owner_tags(row, types, scheme) for row in owners]


def losses(
    entry: Entry, tokens: Sequence[Token], scheme: str = "IOB2", *, depth: int = 2, sibling_continues: bool = False
) -> Losses:
    """What the tags of an entry under a scheme cannot say.

    >>> entry = Entry("Aubin Petit", (Span("PER", 0, 6), Span("PER", 6, 11)))
    >>> from histeval.entities.tokens import plain_tokens
    >>> losses(entry, plain_tokens(entry.text), "IO")
    Losses(merged=((1, 'PER'),), unheld=(), cut=(), trimmed=((1, 'PER'),))
    """
    owners = level_owners(entry, tokens, depth, sibling_continues=False)
    levels = depths(entry.spans)
    inner: set[int] = set()
    for token in tokens:
        inner.update(range(token.start + 1, token.end))
    merged, unheld, cut, trimmed = [], [], [], []
    first_token: dict[int, int] = {}
    for row in owners:
        for place, owner in enumerate(row):
            first_token.setdefault(owner, place)
    ends: list[dict[int, str]] = [{} for _ in range(depth)]
    for index, (span, level) in enumerate(zip(entry.spans, levels, strict=True)):
        name = (level, span.type)
        if level > depth or index not in first_token:
            unheld.append(name)
            continue
        place, row = first_token[index], owners[level - 1]
        before = row[place - 1] if place else -1
        touches = before >= 0 and entry.spans[before].type == span.type
        continues = sibling_continues and scheme != "IO" and ends[level - 1].get(span.start) == span.type
        if continues or (scheme == "IO" and touches):
            merged.append(name)
        ends[level - 1][span.end] = span.type
        if span.start in inner or span.end in inner:
            cut.append(name)
        held = entry.text[span.start : span.end]
        if held != held.strip():
            trimmed.append(name)
    return Losses(tuple(merged), tuple(unheld), tuple(cut), tuple(trimmed))


@lru_cache(maxsize=4096)
def split_tag(tag: str) -> tuple[str, str]:
    """Prefix and type of a tag of one level; the prefix is `O` outside. The type is what follows the first hyphen.

    >>> split_tag("B-loc.adm-town"), split_tag("O"), split_tag("_")
    (('B', 'loc.adm-town'), ('O', ''), ('O', ''))
    """
    prefix, hyphen, kind = tag.partition("-")
    if hyphen and kind and prefix.upper() in ("B", "I", "E", "S", "L", "U"):
        return prefix.upper(), kind
    return ("O", "") if tag in ("O", "_", "-", "", "o") else ("I", tag)


_START_AFTER_OTHER = {"B", "S", "U"}
_END = {"E", "S", "L", "U"}


def runs(tags: Sequence[str]) -> list[tuple[str, int, int]]:
    """Entities of one level as (type, first token, token after the last), read leniently whatever the scheme.

    >>> runs(["I-PER", "B-PER", "I-PER", "O", "I-LOC"])
    [('PER', 0, 1), ('PER', 1, 3), ('LOC', 4, 5)]
    """
    found: list[tuple[str, int, int]] = []
    kind_before, start, ended = "", -1, False
    for place, tag in enumerate(tags):
        prefix, kind = split_tag(tag)
        if start >= 0 and (prefix == "O" or ended or kind != kind_before or prefix in _START_AFTER_OTHER):
            found.append((kind_before, start, place))
            start = -1
        if prefix != "O" and start < 0:
            start = place
        kind_before, ended = kind, prefix in _END
    if start >= 0:
        found.append((kind_before, start, len(tags)))
    return found


_STRICT: dict[str, tuple[str, str, frozenset[str]]] = {
    # First and last prefixes of a whole entity, and the pairs of prefixes inside one.
    "IO": ("I", "I", frozenset(["II"])),
    "IOB1": ("BI", "BI", frozenset(["BI", "II"])),
    "IOB2": ("B", "BI", frozenset(["BI", "II"])),
    "IOBES": ("BS", "ES", frozenset(["BI", "BE", "II", "IE"])),
    "BILOU": ("BU", "LU", frozenset(["BI", "BL", "II", "IL"])),
}


def strict_runs(tags: Sequence[str], scheme: str) -> list[tuple[str, int, int, bool]]:
    """Entities of one level as (type, first token, token after the last, malformed), the scheme taken at its word.

    >>> strict_runs(["I-LOC", "I-LOC", "B-LOC", "O"], "IOB2")
    [('LOC', 0, 2, True), ('LOC', 2, 3, False)]
    """
    check_scheme(scheme)
    first, last, pairs = _STRICT[scheme]
    found: list[tuple[str, int, int, bool]] = []
    before, kind_before, start, bad = "O", "", 0, False
    for place, tag in enumerate([*tags, "O"]):
        prefix, kind = split_tag(tag)
        if kind == kind_before and before + prefix in pairs:
            before = prefix
            continue
        if before != "O":
            found.append((kind_before, start, place, bad or before not in last))
        start, bad = place, prefix not in first
        if scheme == "IOB1" and prefix == "B":  # B- stands only where an entity of the same type ends just before
            bad = kind != kind_before
        before, kind_before = prefix, kind
    return found


def inconsistent_pairs(levels: Sequence[Sequence[str]], grammar: Grammar | None = None) -> tuple[Pair, ...]:
    """Runs of tokens where an entity has none around it (`orphan`), or one that may not hold it (`wrong_parent`).

    >>> inconsistent_pairs([["B-PER", "O", "O"], ["O", "B-LOC", "I-LOC"]])
    (Pair(kind='orphan', level=2, parent=None, type='LOC', start=1, end=3),)
    """
    found: list[Pair] = []
    for level in range(1, len(levels)):
        outer, inner = levels[level - 1], levels[level]
        place, size = 0, len(inner)
        while place < size:
            kind = split_tag(inner[place])[1]
            above = split_tag(outer[place])[1]
            wrong = bool(above and kind and grammar and kind not in grammar.children.get(above, ()))
            if not kind or (above and not wrong):
                place += 1
                continue
            end = place + 1
            while end < size and split_tag(inner[end]) == ("I", kind) and split_tag(outer[end])[1] == above:
                end += 1
            found.append(Pair("wrong_parent" if above else "orphan", level + 1, above or None, kind, place, end))
            place = end
    return tuple(found)


def entry_from_tags(
    text: str, tokens: Sequence[Token], levels: Sequence[Sequence[str]], grammar: Grammar | None = None
) -> Decoded:
    """An entry from the tags of each level, read leniently; an orphan stands at the root.

    Nesting follows from the tokens alone, an entity of an outer level being the outer one of two over the same tokens.

    >>> from histeval.entities.tokens import plain_tokens
    >>> text = "r. du Pont"
    >>> decoded = entry_from_tags(text, plain_tokens(text), [["B-SPAT", *["I-SPAT"] * 3], ["B-LOC", *["I-LOC"] * 3]])
    >>> decoded.entry.spans
    (Span(type='SPAT', start=0, end=10, parent=None), Span(type='LOC', start=0, end=10, parent=0))
    """
    triples: list[tuple[str, int, int]] = []
    for tags in levels:
        triples.extend((kind, tokens[start][1], tokens[end - 1][2]) for kind, start, end in runs(tags))
    spans, _ = nest(triples)
    return Decoded(Entry(text, spans), inconsistent_pairs(levels, grammar))


def level_classes(grammar: Grammar, scheme: str = "IO") -> Tags:
    """`O` and the tags of every type, the label set of a model of one level (11 in IO, 21 in IOB2 as published)."""
    check_scheme(scheme)
    return ["O", *(f"{prefix}-{kind}" for kind in grammar.types for prefix in _PREFIXES[scheme])]


def flat_classes(grammar: Grammar) -> Tags:
    """`O` and the IO tags of the types that remain where nesting is dropped (7 as published)."""
    return ["O", *(f"I-{kind}" for kind in grammar.flat_types)]


def joint_classes(grammar: Grammar, scheme: str = "IO") -> Tags:
    """The joint labels that the grammar allows, in published index order (12 in IO, 29 in IOB2 as published).

    The outer prefix is always `I-`; in other schemes than IO the real prefixes are part of the type.
    """
    check_scheme(scheme, JOINT_SCHEMES)
    found = [_joint(("O",) * grammar.depth, scheme)]
    for path in grammar.paths():
        rows: list[list[str]] = [[]]
        for place in range(len(path)):
            rows = [
                [*row, prefix] for row in rows for prefix in (_INSIDE[scheme][row[-1]] if place else _PREFIXES[scheme])
            ]
        for row in rows:
            tags = [f"{prefix}-{kind}" for prefix, kind in zip(row, path, strict=True)]
            found.append(_joint((*tags, *["O"] * (grammar.depth - len(path))), scheme))
    return found


@lru_cache(maxsize=4096)
def _joint(tags: tuple[str, ...], scheme: str) -> str:
    """The joint label of the tags that one token has at each level."""
    parts = []
    for level, tag in enumerate(tags):
        prefix, kind = split_tag(tag)
        if prefix == "O":
            parts.append("O")
        elif scheme == "IO":
            parts.append(f"I-{kind}" if level == 0 else f"i_{kind}")
        else:
            parts.append(f"{'I-' if level == 0 else ''}{prefix.lower()}_{kind}")
    return "+".join(parts)


def joint_tags(levels: Sequence[Sequence[str]], scheme: str = "IO") -> Tags:
    """One joint label a token from the tags of each level.

    >>> joint_tags([["B-PER", "I-PER"], ["O", "B-TITREH"]], "IOB2")
    ['I-b_PER+O', 'I-i_PER+b_TITREH']
    >>> joint_tags([["I-PER", "I-PER", "O"], ["O", "I-TITREH", "O"]], "IO")
    ['I-PER+O', 'I-PER+i_TITREH', 'O+O']
    """
    check_scheme(scheme, JOINT_SCHEMES)
    return [_joint(tags, scheme) for tags in zip(*levels, strict=True)]


def split_joint(
    labels: Sequence[str], depth: int = 2, *, scheme: str | None = None, types: Container[str] = ()
) -> list[Tags]:
    """The tags of each level from joint labels, shape (depth, tokens); also from level tags joined by `+`.

    A type may be called `e_mail`: then `I-e_mail` is inside of it in IO, and the end of `mail` in other schemes. Where
    the labels alone do not tell, `scheme` does, or else the known `types`.

    >>> split_joint(["I-b_PER+O", "I-i_PER+b_TITREH", "O+O", "B-ACT+O", "O"])
    [['B-PER', 'I-PER', 'O', 'B-ACT', 'O'], ['O', 'B-TITREH', 'O', 'O', 'O']]
    """
    levels: list[Tags] = [[] for _ in range(depth)]
    known: dict[str, list[str]] = {}
    for label in labels:
        parts = known.get(label)
        if parts is None:
            parts = known[label] = [_part(part, scheme, types) for part in label.split("+")]
            parts.extend(["O"] * (depth - len(parts)))
        for row, part in zip(levels, parts, strict=False):
            row.append(part)
    return levels


def _part(part: str, scheme: str | None, types: Container[str]) -> str:
    """The level tag of one part of a joint label: `I-b_PER` and `b_PER` are B-PER, `I-PER` and `i_PER` are I-PER."""
    outer = part.startswith("I-")
    inner = part[2:] if outer else part
    named = scheme is None and inner in types and inner[2:] not in types
    if len(inner) > 2 and inner[1] == "_" and inner[0] in "biesluBIESLU" and not (outer and (named or scheme == "IO")):
        return f"{inner[0].upper()}-{inner[2:]}"
    prefix, kind = split_tag(part)
    return "O" if prefix == "O" else f"{prefix}-{kind}"


def combined_tags(levels: Sequence[Sequence[str]], scheme: str = "IO") -> Tags:
    """One tag a token whose type is the path from the innermost entity outwards (`LOC+SPAT`): the column L1+L2.

    In IO a token with a gap in its path (an orphan) is outside, as published; in the other schemes it has a path with
    `O` for the gap. The prefix is that of the innermost entity, so that what remains of an outer entity after an inner
    one begins anew by its change of type.

    >>> combined_tags([["I-SPAT", "I-SPAT", "O"], ["I-LOC", "O", "I-LOC"]], "IO")
    ['I-LOC+SPAT', 'I-O+SPAT', 'O']
    >>> combined_tags([["B-SPAT", "I-SPAT", "O"], ["B-LOC", "O", "B-LOC"]], "IOB2")
    ['B-LOC+SPAT', 'I-O+SPAT', 'B-LOC+O']
    """
    return [_combined(tags, scheme) for tags in zip(*levels, strict=True)]


@lru_cache(maxsize=4096)
def _combined(tags: tuple[str, ...], scheme: str) -> str:
    split = [split_tag(tag) for tag in tags]
    used = [place for place, (prefix, _) in enumerate(split) if prefix != "O"]
    if not used or (scheme == "IO" and split[0][0] == "O"):
        return "O"
    prefix = "I" if scheme == "IO" else split[used[-1]][0]
    return f"{prefix}-{'+'.join(kind or 'O' for _, kind in reversed(split))}"


def flat_tags(levels: Sequence[Sequence[str]], grammar: Grammar, *, flat: bool = False) -> Tags:
    """The flat projection in IO: what remains of each token where nesting is dropped.

    A combination of tags that the grammar does not allow becomes the type `NO`, as published. With `flat` the tags come
    from a system that knows no nesting, so that a type which can remain is taken as it is.
    """
    known = {} if flat else grammar.flat_labels
    found: Tags = []
    for tags in zip(*levels, strict=True):
        label = known.get(tags)
        if label is None:
            path = token_path(tags)
            kind = NO_CLASS if path is None else grammar.flat_type(path, flat=flat)
            label = f"I-{kind}" if kind else "O"
            if len(known) < _REMEMBERED:
                known[tags] = label
        found.append(label)
    return found


def token_path(tags: Sequence[str]) -> Path | None:
    """The path of types over one token from its tags at each level; None where there is a gap in it."""
    kinds = [split_tag(tag)[1] for tag in tags]
    while kinds and not kinds[-1]:
        kinds.pop()
    return tuple(kinds) if all(kinds) else None


def convert_tags(tags: Sequence[str], scheme: str) -> Tags:
    """Tags of one level in another scheme; what the tags say is read leniently.

    >>> convert_tags(["I-PER", "I-PER", "O", "B-LOC"], "IOBES")
    ['B-PER', 'E-PER', 'O', 'S-LOC']
    """
    check_scheme(scheme)
    owners = [-1] * len(tags)
    types: list[str] = []
    for kind, start, end in runs(tags):
        owners[start:end] = [len(types)] * (end - start)
        types.append(kind)
    return owner_tags(owners, types, scheme)
