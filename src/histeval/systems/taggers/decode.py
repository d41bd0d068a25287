"""The best label sequence of a linear chain: one Viterbi for every tagger and for their sum."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Scores = NDArray[np.float64]


@dataclass(frozen=True)
class Chain:
    """Log potentials of a linear chain, up to a constant.

    `moves` (labels, labels) from the row to the column, `first` and `last` (labels,) for the ends of a text.
    """

    moves: Scores
    first: Scores
    last: Scores


def viterbi(emissions: Scores, chain: Chain) -> list[int]:
    """The labels with the highest score, for emissions of shape (tokens, labels); of equal ones the lowest number.

    >>> chain = Chain(np.zeros((2, 2)), np.zeros(2), np.zeros(2))
    >>> viterbi(np.array([[1.0, 0.0], [0.0, 2.0]]), chain)
    [0, 1]
    """
    count = len(emissions)
    if not count:
        return []
    score = chain.first + emissions[0]
    back = np.zeros((count, emissions.shape[1]), dtype=np.intp)
    columns = np.arange(emissions.shape[1])
    for place in range(1, count):
        through = score[:, None] + chain.moves
        back[place] = best = through.argmax(axis=0)
        score = through[best, columns] + emissions[place]
    label = int((score + chain.last).argmax())
    path = [label]
    for place in range(count - 1, 0, -1):
        label = int(back[place, label])
        path.append(label)
    return path[::-1]
