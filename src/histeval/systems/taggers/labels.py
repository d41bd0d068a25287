"""What a tagger learns to say: the label sequences of each approach, and back to the tags of each level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from histeval.entities.grammar import Grammar
from histeval.entities.tags import (
    flat_classes,
    flat_tags,
    joint_classes,
    joint_tags,
    level_classes,
    split_joint,
    split_tag,
)
from histeval.errors import UsageError

Approach = Literal["flat", "independent", "joint", "hierarchical"]

APPROACHES: dict[str, str] = {
    "flat": "the innermost types only, without nesting (M0)",
    "independent": "one model a level, paired token by token (M1)",
    "joint": "one model, whose labels hold the types of all levels (M2)",
    "hierarchical": "as joint, with a loss that weighs the levels (M3)",
}
SCHEMES = ("IO", "IOB2", "IOBES")

Tags = list[str]


@dataclass(frozen=True)
class Labelling:
    """The label sequences of an approach under a scheme for a grammar.

    A *column* is one label sequence a text, learnt by one model: one column for each level under `independent`, one
    column in all otherwise.
    """

    grammar: Grammar
    approach: str
    scheme: str

    def __post_init__(self) -> None:
        if self.approach not in APPROACHES:
            raise UsageError(f"there is no approach {self.approach!r}; there are {', '.join(APPROACHES)}")
        if self.scheme not in SCHEMES:
            raise UsageError(f"a tagger cannot learn the scheme {self.scheme!r}; it can learn {', '.join(SCHEMES)}")
        if self.approach == "flat" and self.scheme != "IO":
            raise UsageError("the flat approach has the scheme IO only, since nesting is dropped by token")

    @property
    def columns(self) -> int:
        """How many models there are."""
        return self.grammar.depth if self.approach == "independent" else 1

    def encode(self, levels: Sequence[Tags]) -> list[Tags]:
        """The columns of a text from its tags at each level."""
        if self.approach == "independent":
            return [list(tags) for tags in levels]
        if self.approach == "flat":
            return [flat_tags(levels, self.grammar)]
        return [joint_tags(levels, self.scheme)]

    def decode(self, columns: Sequence[Tags]) -> list[Tags]:
        """The tags at each level from the columns of a text, without repair: what does not nest stays as it is.

        A flat approach has one level, of the types that remain without nesting.
        """
        if self.approach in ("independent", "flat"):
            return [list(tags) for tags in columns]
        return split_joint(columns[0], self.grammar.depth, scheme=self.scheme)

    def classes(self) -> list[Tags]:
        """The labels that the grammar allows in each column, the outside label first."""
        if self.approach == "independent":
            return [level_classes(self.grammar, self.scheme) for _ in range(self.grammar.depth)]
        if self.approach == "flat":
            return [flat_classes(self.grammar)]
        return [joint_classes(self.grammar, self.scheme)]

    def kinds(self, labels: Sequence[str]) -> Tags:
        """Labels of a column without their prefixes. Those of one level are in no joint spelling, as in IO."""
        joined = self.approach in ("joint", "hierarchical")
        return without_prefixes(labels, self.scheme if joined else "IO")

    def groups(self, labels: Sequence[str]) -> list[list[int]]:
        """For the hierarchical loss: for each step of the class tree but the last, the group of each label.

        The tree is that of Tual et al. 2023: root, type of level 1, types down to level 2 ..., label. Where the types
        already tell labels apart (IO), the last step but one is the label itself and is left out.
        """
        depth = self.grammar.depth
        spread = [split_joint([label], depth, scheme=self.scheme) for label in labels]
        paths = [[split_tag(tags[0])[1] for tags in levels] for levels in spread]
        groups: list[list[int]] = []
        for depth in range(1, self.grammar.depth + 1):
            numbers: dict[tuple[str, ...], int] = {}
            group = [numbers.setdefault(tuple(path[:depth]), len(numbers)) for path in paths]
            if len(numbers) < len(labels):
                groups.append(group)
        return groups


def without_prefixes(labels: Sequence[str], scheme: str | None = None) -> Tags:
    """Labels of any column without their prefixes, for the lexicon; `scheme` as in `split_joint`.

    >>> without_prefixes(["I-b_PER+O", "I-i_PER+b_TITREH", "I-SPAT+i_LOC", "B-PER", "O"])
    ['PER+O', 'PER+TITREH', 'SPAT+LOC', 'PER', 'O']
    """
    known: dict[str, str] = {}
    found = []
    for label in labels:
        plain = known.get(label)
        if plain is None:
            depth = label.count("+") + 1
            kinds = [split_tag(tags[0])[1] or "O" for tags in split_joint([label], depth, scheme=scheme)]
            plain = known[label] = "+".join(kinds)
        found.append(plain)
    return found
