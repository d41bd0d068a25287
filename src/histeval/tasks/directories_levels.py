"""The levels at which directories are counted: their columns and the metrics made from them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import numpy as np
from numpy.typing import NDArray

from histeval.entities.grammar import Grammar
from histeval.stats.metrics import Floats, Metric, divide, f_score

OTHER = "other"
"""The column of every type that the level does not have; a prediction there is always a false positive."""


class Levels:
    """Levels of a grammar, in the order of tables: `All`, `L1` ..., `L1+L2`, `P-L1+P-L2`, `Flat`.

    `types` gives the types of each level, `columns` the names `{level}/{type}_{tp,fp,fn}`, `places` the index of the
    tp column by level and type (fp and fn follow). A grammar of one level has no joint levels.
    """

    def __init__(self, grammar: Grammar) -> None:
        self.grammar, self.depth = grammar, grammar.depth
        self.single = tuple(f"L{number}" for number in range(1, self.depth + 1))
        """The levels that All sums up."""
        self.joined = "+".join(self.single) if self.depth > 1 else None
        self.with_prefixes = "+".join(f"P-{level}" for level in self.single) if self.depth > 1 else None
        self.joint = tuple(name for name in (self.joined, self.with_prefixes) if name is not None)
        self.types = {level: self._types(level) for level in ("All", *self.single, *self.joint, "Flat")}
        self.columns = tuple(
            f"{level}/{kind}_{count}"
            for level, kinds in self.types.items()
            for kind in (*kinds, OTHER)
            for count in ("tp", "fp", "fn")
        )
        self.places: dict[str, dict[str, int]] = {}
        start = 0
        for level, kinds in self.types.items():
            self.places[level] = {kind: start + 3 * place for place, kind in enumerate((*kinds, OTHER))}
            start += 3 * (len(kinds) + 1)

    def _types(self, level: str) -> tuple[str, ...]:
        if level == "Flat":
            return self.grammar.flat_types
        if level in self.joint:
            return tuple(self.path_name(path) for path in self.grammar.paths())
        return self.grammar.types

    def path_name(self, path: Sequence[str]) -> str:
        """The type of an entity together with what is around it: `LOC+SPAT`, or `O+SPAT` at level 1 of 2."""
        return "+".join(reversed([*path, *["O"] * (self.depth - len(path))]))

    @property
    def headline(self) -> tuple[str, ...]:
        """The F1 of each level; All ranks."""
        return tuple(f"f1[{level}]" for level in self.types)

    def metrics(self, zero: float) -> tuple[Metric, ...]:
        """F1 of each level, then precision and recall of each, then F1 of each type that a level can have.

        `zero` stands for 0/0; NaN leaves it undefined.
        """
        total = {level: np.array(list(places.values())) for level, places in self.places.items()}
        metrics = [
            Metric(f"f1[{level}]", partial(f1, total[level], zero), help=f"F1 of entities, {_meaning(level)}")
            for level in self.types
        ]
        for level in self.types:
            for name, compute in (("precision", precision), ("recall", recall)):
                what = f"{name} of entities, {_meaning(level)}"
                metrics.append(Metric(f"{name}[{level}]", partial(compute, total[level], zero), help=what))
        paths = list(self.grammar.paths())
        possible = {
            level: {path[-1] for path in paths if len(path) == number} for number, level in enumerate(self.single, 1)
        }
        for level, kinds in self.types.items():
            for kind in kinds:
                if kind in possible.get(level, (kind,)):
                    place = np.array([self.places[level][kind]])
                    what = f"F1 of {kind}, {_meaning(level)}"
                    metrics.append(Metric(f"f1[{level}/{kind}]", partial(f1, place, zero), help=what))
        return tuple(metrics)


def _meaning(level: str) -> str:
    if level == "All":
        return "all levels together"
    if level == "Flat":
        return "nesting dropped"
    if level.startswith("P-"):
        return "with what is around them and the prefixes of all levels"
    return f"level {level[1:]}" if "+" not in level else "with what is around them"


def _sum(places: NDArray[np.intp], offset: int, sums: Floats) -> Floats:
    total: Floats = sums[..., places + offset].sum(axis=-1)
    return total


def f1(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    """F1 over the columns at `places` (tp; fp and fn follow), of sums of shape (..., columns)."""
    value: Floats = f_score(_sum(places, 0, sums), _sum(places, 1, sums), _sum(places, 2, sums), zero)
    return value


def precision(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    """Precision over the columns at `places`."""
    tp = _sum(places, 0, sums)
    value: Floats = divide(tp, tp + _sum(places, 1, sums), zero)
    return value


def recall(places: NDArray[np.intp], zero: float, sums: Floats) -> Floats:
    """Recall over the columns at `places`."""
    tp = _sum(places, 0, sums)
    value: Floats = divide(tp, tp + _sum(places, 2, sums), zero)
    return value
