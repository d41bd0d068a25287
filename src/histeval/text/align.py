"""Alignments: which part of a hypothesis stands for which part of its reference.

`align` gives a global alignment with the fewest edits (Levenshtein), by character, grapheme cluster or word. `diff`
is for the eye: words first, then grapheme clusters inside changed words; it may show more edits than the fewest.
All offsets are code points of the texts as given, so that slices of the blocks joined give both texts back.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Literal, cast

from histeval.errors import UsageError
from histeval.text.clusters import graphemes
from histeval.text.distance import UNITS, edits, units
from histeval.text.normalise import Unit

Tag = Literal["equal", "replace", "insert", "delete"]
Bias = Literal["left", "right"]
_Step = tuple[Tag, int, int, int, int]


@dataclass(frozen=True, slots=True)
class Block:
    """reference[reference_start:reference_end] became hypothesis[hypothesis_start:hypothesis_end].

    `edits` is the cost in the alignment's unit. A `replace` block of an alignment replaces unit by unit; one that
    `Alignment.runs` gives may have sides of unequal length.
    """

    tag: Tag
    reference_start: int
    reference_end: int
    hypothesis_start: int
    hypothesis_end: int
    edits: int = 0


@dataclass(frozen=True)
class Alignment:
    """Two texts and the blocks that tile both of them, in order, with the fewest edits in all.

    By word a block reaches up to the next word, so that it holds the white space after its words; white space alone
    never makes an edit there, and a text without any word has no block.
    """

    reference: str
    hypothesis: str
    unit: Unit
    blocks: tuple[Block, ...]
    _steps: tuple[_Step, ...]
    _reference_bounds: Sequence[int]
    _hypothesis_bounds: Sequence[int]

    @property
    def edits(self) -> int:
        """The number of edits, in the unit of the alignment."""
        return sum(block.edits for block in self.blocks)

    def slices(self, block: Block) -> tuple[str, str]:
        """The two texts of a block."""
        return (
            self.reference[block.reference_start : block.reference_end],
            self.hypothesis[block.hypothesis_start : block.hypothesis_end],
        )

    def runs(self) -> Iterator[Block]:
        """The blocks with neighbouring changes as one: equal and changed parts in turn.

        >>> [(run.tag, *alignment.slices(run)) for alignment in [align("der man", "dern")] for run in alignment.runs()]
        [('equal', 'der', 'der'), ('delete', ' ma', ''), ('equal', 'n', 'n')]
        """
        run: list[Block] = []
        for block in self.blocks:
            if run and (block.tag == "equal") != (run[-1].tag == "equal"):
                yield _joined(run)
                run = []
            run.append(block)
        if run:
            yield _joined(run)

    def changes(self) -> Iterator[list[tuple[str, str]]]:
        """The changed units of each changed run: ("a", "o") replaced, ("a", "") deleted, ("", "o") inserted.

        >>> list(align("amen", "omens").changes())
        [[('a', 'o')], [('', 's')]]
        """
        for changed, run in groupby(self._steps, key=lambda step: step[0] != "equal"):
            if changed:
                yield [pair for step in run for pair in self._pairs(step)]

    def _pairs(self, step: _Step) -> Iterator[tuple[str, str]]:
        tag, i, i_end, j, j_end = step
        if tag == "replace":
            for k in range(i_end - i):
                yield self._unit(i + k, None)[0], self._unit(None, j + k)[1]
        elif tag == "delete":
            for k in range(i, i_end):
                yield self._unit(k, None)
        else:
            for k in range(j, j_end):
                yield self._unit(None, k)

    def _unit(self, i: int | None, j: int | None) -> tuple[str, str]:
        a, b = self._reference_bounds, self._hypothesis_bounds
        return (
            "" if i is None else self.reference[a[i] : a[i + 1]],
            "" if j is None else self.hypothesis[b[j] : b[j + 1]],
        )

    @cached_property
    def _starts(self) -> list[int]:
        return [step[1] for step in self._steps]

    def map(self, offset: int, bias: Bias = "left") -> int:
        """The offset in the hypothesis that an offset in the reference (0 to its length) corresponds to.

        `left` is just after the counterpart of the unit before the offset, `right` just before the counterpart of the
        unit after it: they differ where something was inserted there. An offset inside a unit of several code points
        goes to the start (`left`) or the end (`right`) of its counterpart. Raises UsageError for an offset outside.

        >>> alignment = align("ab", "axxb")
        >>> alignment.map(1, "left"), alignment.map(1, "right")
        (1, 3)
        """
        if not 0 <= offset <= len(self.reference):
            raise UsageError(
                f"offset {offset} lies outside of the reference, which has {len(self.reference)} characters"
            )
        bounds, starts = self._reference_bounds, self._starts
        if bias == "left":
            # An offset inside a unit goes to its start; the step is that of the unit before it.
            index = bisect_right(bounds, offset) - 1
            at = bisect_left(starts, index) - 1
        else:
            # It goes to the unit's end; of the steps that start there, what is inserted comes before the others.
            index = bisect_left(bounds, offset)
            at = bisect_right(starts, index) - 1
        if at < 0:
            return 0
        tag, i, _, j, last = self._steps[at]
        unit = last if tag == "insert" else j if tag == "delete" else min(j + index - i, last)
        return self._hypothesis_bounds[unit]

    def map_offsets(self, offsets: Iterable[int], bias: Bias = "left") -> list[int]:
        """`map` for several offsets."""
        return [self.map(offset, bias) for offset in offsets]


def _joined(run: list[Block]) -> Block:
    first, last = run[0], run[-1]
    tag: Tag = first.tag
    if tag != "equal":
        removed = first.reference_start < last.reference_end
        added = first.hypothesis_start < last.hypothesis_end
        tag = "replace" if removed and added else "delete" if removed else "insert"
    return Block(
        tag,
        first.reference_start,
        last.reference_end,
        first.hypothesis_start,
        last.hypothesis_end,
        sum(block.edits for block in run),
    )


def _bounds(text: str, unit: Unit) -> Sequence[int]:
    """Offset of each unit's start, and the length of the text: len(units) + 1 numbers, the first 0."""
    if unit == "character":
        return range(len(text) + 1)
    if unit == "grapheme":
        bounds = [0]
        for cluster in graphemes(text):
            bounds.append(bounds[-1] + len(cluster))
        return bounds
    bounds, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        bounds.append(at)
        at += len(word)
    # White space before the first word belongs to it; a text without a word has no unit, only its two ends.
    return [0, *bounds[1:], len(text)] if bounds else [0]


def _tidied(steps: Iterable[_Step], a: Sequence[object], b: Sequence[object]) -> list[_Step]:
    """The same alignment with gaps joined where an equal stretch between two of them can move to one of their ends.

    Without it a missing line comes out in shreds: the last letter before it is matched somewhere inside.
    """
    done: list[_Step] = []
    todo = list(steps)[::-1]
    while todo:
        tag, i, i_end, j, j_end = todo.pop()
        if done and done[-1][0] == tag:
            _, i, _, j, _ = done.pop()
        done.append((tag, i, i_end, j, j_end))
        if len(done) < 3 or tag not in ("delete", "insert") or done[-3][0] != tag or done[-2][0] != "equal":
            continue
        (_, i, _, j, _), (_, middle, _, their_middle, _) = done[-3:-1]
        length = done[-2][2] - middle
        text, start, middle, end = (a, i, middle, i_end) if tag == "delete" else (b, j, their_middle, j_end)
        kept = text[middle : middle + length]
        if text[start : start + length] == kept:
            done[-3:] = []
            todo.append((tag, i + length, i_end, j + length, j_end))
            todo.append(("equal", i, i + length, j, j + length))
        elif text[end - length : end] == kept:
            done[-3:] = []
            todo.append(("equal", i_end - length, i_end, j_end - length, j_end))
            todo.append((tag, i, i_end - length, j, j_end - length))
    return done


def align(reference: str, hypothesis: str, unit: Unit = "character") -> Alignment:
    """A global alignment with the fewest edits. Among several of them one is chosen, always the same.

    20 000 characters take a few megabytes, since the matrix is split where it grows large (Hirschberg 1975).

    >>> [(block.tag, *alignment.slices(block)) for alignment in [align("Vnd ein", "und eine")]
    ...  for block in alignment.blocks]
    [('replace', 'V', 'u'), ('equal', 'nd ein', 'nd ein'), ('insert', '', 'e')]
    >>> align("Vnd ein pferit", "und ein pferit", unit="word").edits
    1
    """
    from rapidfuzz.distance.Levenshtein import opcodes

    if unit not in UNITS:
        raise UsageError(f"there is no unit {unit!r}; there are {', '.join(UNITS)}")
    a, b = units(reference, hypothesis, unit)
    ours, theirs = _bounds(reference, unit), _bounds(hypothesis, unit)
    steps = tuple(
        _tidied(
            (
                (cast(Tag, step.tag), step.src_start, step.src_end, step.dest_start, step.dest_end)
                for step in opcodes(a, b, score_hint=edits(a, b))
            ),
            a,
            b,
        )
    )
    blocks = tuple(
        Block(tag, ours[i], ours[i_end], theirs[j], theirs[j_end], 0 if tag == "equal" else max(i_end - i, j_end - j))
        for tag, i, i_end, j, j_end in steps
    )
    return Alignment(reference, hypothesis, unit, blocks, steps, ours, theirs)


@dataclass(frozen=True, slots=True)
class Piece:
    """A part of a diff: `reference` became `hypothesis`; `parts` are the pieces inside a replaced one.

    Pieces are in reading order of the text (logical order, also for right-to-left text) and never cut a grapheme
    cluster.
    """

    tag: Tag
    reference: str
    hypothesis: str
    parts: tuple[Piece, ...] = ()


def _inside(reference: str, hypothesis: str) -> Piece:
    if not reference or not hypothesis:
        return Piece("delete" if reference else "insert", reference, hypothesis)
    alignment = align(reference, hypothesis, "grapheme")
    parts = tuple(Piece(run.tag, *alignment.slices(run)) for run in alignment.runs())
    return Piece("replace", reference, hypothesis, parts)


def _words(text: str) -> list[tuple[str, str]]:
    """Words with the white space after each; white space before the first is a word of its own, an empty one."""
    bounds = _bounds(text, "word")
    pieces = [text[start:end] for start, end in zip(bounds, [*bounds[1:], len(text)], strict=True)] if text else []
    pieces = [piece for piece in pieces if piece]
    found = []
    for piece in pieces:
        bare = piece.lstrip()
        if len(bare) < len(piece):
            found.append(("", piece[: len(piece) - len(bare)]))
        if bare:
            word = bare.rstrip()
            found.append((word, bare[len(word) :]))
    return found


def diff(reference: str, hypothesis: str) -> list[Piece]:
    """What changed, for display: equal stretches, and changed ones of whole words with the changes inside them.

    >>> for piece in diff("Vnd ein pferit", "und ein  pferd"):
    ...     print(piece.tag, repr(piece.reference), repr(piece.hypothesis), len(piece.parts))
    replace 'Vnd' 'und' 2
    equal ' ein' ' ein' 0
    replace ' ' '  ' 2
    replace 'pferit' 'pferd' 2
    """
    from rapidfuzz.distance.Levenshtein import opcodes

    ours, theirs = _words(reference), _words(hypothesis)
    numbers: dict[str, int] = {}
    a = [numbers.setdefault(word, len(numbers)) for word, _ in ours]
    b = [numbers.setdefault(word, len(numbers)) for word, _ in theirs]
    pieces: list[Piece] = []

    def add(one: str, other: str) -> None:
        if one == other:
            if pieces and pieces[-1].tag == "equal":
                last = pieces.pop()
                one, other = last.reference + one, last.hypothesis + other
            if one:
                pieces.append(Piece("equal", one, other))
        else:
            pieces.append(_inside(one, other))

    for changed, run in groupby(opcodes(a, b), key=lambda step: step.tag != "equal"):
        steps = list(run)
        one = ours[steps[0].src_start : steps[-1].src_end]
        other = theirs[steps[0].dest_start : steps[-1].dest_end]
        if changed and len(one) != len(other):
            # Words were split, joined, left out or added: only the letters tell which belongs to which.
            add("".join(word + space for word, space in one), "".join(word + space for word, space in other))
            continue
        for (word, space), (their_word, their_space) in zip(one, other, strict=True):
            add(word, their_word)
            add(space, their_space)
    return pieces
