"""Where the entities of an answer stand in the text of the document, which the answer may repeat with changes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from histeval.entities.grammar import Grammar
from histeval.entities.matching import Placed, trimmed
from histeval.entities.spans import Entry
from histeval.entities.tags import Tags, convert_tags, owner_tags, runs, split_tag, strict_runs
from histeval.entities.tokens import Token
from histeval.tasks.directories_reading import Prediction, SpanAnswer, TagAnswer

_QUOTES = ("``", "''", '"')
NOWHERE = -1
"""Start and end of an entity that has no place in the document's text; it matches nothing."""


@dataclass(frozen=True, slots=True)
class Anchors:
    """For each character of an answer's text the one it stands for in the document's, or -1; shape (characters,).

    `share` is the part of the document's characters, white space left out, that the answer repeats.
    """

    places: Sequence[int]
    share: float


def anchor(answer: str, text: str) -> Anchors:
    """Align an answer's text with the document's by characters, with the fewest edits.

    >>> anchor("Dufray, 5", "Dufay, 5").places
    [0, 1, 2, -1, 3, 4, 5, 6, 7]
    """
    if answer == text:
        return Anchors(range(len(text)), 1.0)
    core = text.strip()
    skip = answer.find(core) if core else -1
    if skip >= 0:  # the whole text, with words or white space around
        begin = len(text) - len(text.lstrip())
        rest = len(answer) - skip - len(core)
        return Anchors([-1] * skip + list(range(begin, begin + len(core))) + [-1] * rest, 1.0)
    from rapidfuzz.distance import Levenshtein

    places = [-1] * len(answer)
    equal = 0
    for block in Levenshtein.opcodes(answer, text):
        if block.tag in ("equal", "replace"):
            places[block.src_start : block.src_end] = range(block.dest_start, block.dest_end)
        if block.tag == "equal":
            equal += sum(not sign.isspace() for sign in text[block.dest_start : block.dest_end])
    size = sum(not sign.isspace() for sign in text)
    return Anchors(places, equal / size if size else 1.0)


def place_spans(entities: Sequence[Placed], places: Sequence[int]) -> list[Placed]:
    """Entities of an answer's text moved to the document's; one without a character there goes `NOWHERE`."""
    reach = _Reach(places)
    moved = []
    for one in entities:
        start, end = reach(max(one.start, 0), min(one.end, len(places)))
        lost = one.start < 0 or one.end > len(places) or start == NOWHERE
        moved.append(one._replace(start=start, end=end, malformed=one.malformed or lost))
    return moved


class _Reach:
    """First place, and the one after the last, that a stretch of an answer's characters stands for."""

    def __init__(self, places: Sequence[int]) -> None:
        self._plain = isinstance(places, range)
        if self._plain:
            return
        found = NOWHERE
        self._before: list[int] = [found]  # the last place of any character before this one
        for place in places:
            found = place if place >= 0 else found
            self._before.append(found)
        found = NOWHERE
        self._after: list[int] = [found]  # the first place of this character or any after it
        for place in reversed(places):
            found = place if place >= 0 else found
            self._after.append(found)
        self._after.reverse()

    def __call__(self, start: int, end: int) -> tuple[int, int]:
        if start >= end:
            return NOWHERE, NOWHERE
        if self._plain:
            return start, end
        first, last = self._after[start], self._before[end]
        return (first, last + 1) if NOWHERE < first <= last else (NOWHERE, NOWHERE)


def find_tokens(tokens: Sequence[str], text: str) -> list[tuple[int, int]] | None:
    """Offsets of tokens that fill a text but for white space, in order; None where they do not.

    Quotation marks may be written in another way, as the published tokenisation does.

    >>> find_tokens(["r.", "du", "Pont"], "r. du Pont")
    [(0, 2), (3, 5), (6, 10)]
    """
    found: list[tuple[int, int]] = []
    place, size = 0, len(text)
    for token in tokens:
        while place < size and text[place].isspace():
            place += 1
        written = token
        if not text.startswith(token, place):
            written = next((mark for mark in _QUOTES if token in _QUOTES and text.startswith(mark, place)), "")
            if not written:
                return None
        found.append((place, place + len(written)))
        place += len(written)
    return found if not text[place:].strip() else None


def align_tokens(tokens: Sequence[str], text: str) -> tuple[list[tuple[int, int]], float]:
    """Offsets of tokens in a text that differs from them, and the share of the text's characters that they repeat."""
    joined = " ".join(tokens)
    anchors = anchor(joined, text)
    reach = _Reach(anchors.places)
    found, begin = [], 0
    for token in tokens:
        found.append(reach(begin, begin + len(token)))
        begin += len(token) + 1
    return found, anchors.share


def place_tags(
    levels: Sequence[Sequence[str]], offsets: Sequence[tuple[int, int]], scheme: str, strict: bool
) -> list[Placed]:
    """The entities that tags say, at the offsets of their tokens; each inside the one of the level above that holds
    all its tokens, if there is one."""
    found: list[Placed] = []
    above: list[tuple[int, int, int]] = []
    for level, tags in enumerate(levels, start=1):
        here: list[tuple[int, int, int]] = []
        chunks = strict_runs(tags, scheme) if strict else [(*chunk, False) for chunk in runs(tags)]
        place = 0
        for kind, start, end, malformed in chunks:
            while place < len(above) and above[place][1] <= start:
                place += 1
            holds = place < len(above) and above[place][0] <= start and end <= above[place][1]
            parent = above[place][2] if holds else None
            held = [offset for offset in offsets[start:end] if offset[0] != NOWHERE]
            first, last = (held[0][0], held[-1][1]) if held else (NOWHERE, NOWHERE)
            here.append((start, end, len(found)))
            found.append(Placed(level, kind, first, last, parent, malformed or not held))
        above = here
    return found


def tag_rows(
    entities: Sequence[Placed], tokens: Sequence[Token], depth: int, scheme: str, sibling_continues: bool
) -> tuple[list[list[str]], list[int]]:
    """Tags of the document's tokens at each level, and the indices of the entities that hold none of them.

    A token belongs to the entity that holds its first character; where two of one level do, to the first. What is
    malformed is written so that it stays malformed.
    """
    starts = [token[1] for token in tokens]
    types = [one.type for one in entities]
    rows: list[list[str]] = []
    unheld: list[int] = []
    for level in range(1, depth + 1):
        owners = [-1] * len(starts)
        here = sorted((one.start, index) for index, one in enumerate(entities) if one.level == level)
        kind_before, end_before, owner_before = "", NOWHERE, -1
        first = 0
        bad: list[int] = []
        for start, index in here:
            one = entities[index]
            owner = index
            if sibling_continues and start == end_before and one.type == kind_before:
                owner = owner_before
            kind_before, end_before, owner_before = one.type, one.end, owner
            while first < len(starts) and starts[first] < start:
                first += 1
            place, taken = first, False
            while place < len(starts) and starts[place] < one.end:
                if owners[place] < 0:
                    owners[place], taken = owner, True
                place += 1
            if not taken:
                unheld.append(index)
            elif one.malformed:
                bad.append(owner)
        row = owner_tags(owners, types, scheme)
        for owner in bad:
            row = [f"I-{types[owner]}" if held == owner else tag for tag, held in zip(row, owners, strict=True)]
        rows.append(row)
    unheld.extend(index for index, one in enumerate(entities) if one.level > depth)
    return rows, unheld


def trim_all(entities: Sequence[Placed], text: str) -> list[Placed]:
    """Entities without white space at their edges."""
    return [
        one._replace(start=edges[0], end=edges[1])
        if 0 <= one.start < one.end and (edges := trimmed(text, one.start, one.end)) != (one.start, one.end)
        else one
        for one in entities
    ]


@dataclass(frozen=True)
class Reader:
    """Brings an answer to the text or to the published tokens of its document, under the rules of a protocol."""

    grammar: Grammar
    scheme: str
    strict: bool
    sibling_continues: bool

    def entities(
        self, prediction: Prediction, truth: Entry, tokens: Sequence[Token], *, strict: bool
    ) -> tuple[list[Placed], float]:
        """The entities of an answer at their offsets in the document, and the share of its text that was found."""
        if isinstance(prediction, SpanAnswer):
            if prediction.text is None:
                return place_spans(prediction.entities, range(len(truth.text))), 1.0
            anchors = anchor(prediction.text, truth.text)
            return place_spans(prediction.entities, anchors.places), anchors.share
        tags = prediction
        share = 1.0
        offsets: Sequence[tuple[int, int]] | None
        if _same(tags.tokens, tokens):
            offsets = [(token.start, token.end) for token in tokens]
        else:
            offsets = find_tokens(tags.tokens, truth.text)
            if offsets is None and len(tags.tokens) == len(tokens):
                offsets = [(token.start, token.end) for token in tokens]
            elif offsets is None:
                offsets, share = align_tokens(tags.tokens, truth.text)
        scheme = self._scheme_of(tags)
        return place_tags(tags.levels, offsets, scheme, strict and scheme != "IO"), share

    def rows(
        self, prediction: Prediction, truth: Entry, tokens: Sequence[Token]
    ) -> tuple[list[Tags], list[Placed], list[int], float]:
        """Tags of the published tokens at each level, the entities they come from, and those that hold no token.

        Tags for as many tokens are taken one by one, unless they are those of other tokens that fill the text as well.
        """
        depth = self.grammar.depth
        if isinstance(prediction, TagAnswer) and len(prediction.tokens) == len(tokens):
            tags = prediction
            fits = len(tags.levels) <= depth and (not self.strict or self._scheme_of(tags) == self.scheme)
            if fits and not _cut_elsewhere(tags.tokens, tokens, truth.text):
                rows = [self._row(row, tags.scheme) for row in tags.levels]
                rows.extend(["O"] * len(tokens) for _ in range(depth - len(rows)))
                return rows, [], [], 1.0
        entities, share = self.entities(prediction, truth, tokens, strict=self.strict)
        rows, unheld = tag_rows(entities, tokens, depth, self.scheme, self.sibling_continues)
        return rows, entities, unheld, share

    def _scheme_of(self, tags: TagAnswer) -> str:
        """The scheme of an answer's tags: what it says, else what its prefixes tell, else that of the protocol."""
        if tags.scheme is not None:
            return tags.scheme
        prefixes = {split_tag(tag)[0] for row in tags.levels for tag in row}
        if self.scheme == "IO" or not prefixes & {"E", "S", "L", "U"}:
            return self.scheme
        return "BILOU" if prefixes & {"L", "U"} else "IOBES"

    def _row(self, tags: Sequence[str], stated: str | None) -> Tags:
        """Tags in the scheme of the protocol. In IOB2, B- and I- stay as they are, as in the published scores."""
        if self.scheme == "IO":
            return [tag if tag == "O" else f"I{tag[1:]}" for tag in tags]
        if stated in (None, self.scheme) and (self.strict or (self.scheme == "IOB2" and _only(tags, "BIO"))):
            return list(tags)
        return convert_tags(tags, self.scheme)


def _same(words: Sequence[str], tokens: Sequence[Token]) -> bool:
    return len(words) == len(tokens) and all(word == token[0] for word, token in zip(words, tokens, strict=True))


def _cut_elsewhere(words: Sequence[str], tokens: Sequence[Token], text: str) -> bool:
    """Whether words fill the text as tokens do, but at other places. A quotation mark written in another way, as the
    published tokenisation does and a CoNLL export does not, is the same token."""
    if _same(words, tokens):
        return False
    found = find_tokens(words, text)
    return found is not None and found != [(token.start, token.end) for token in tokens]


def _only(tags: Sequence[str], prefixes: str) -> bool:
    return all(tag[0] in prefixes for tag in tags)
