"""The feature CRF: fitted by python-crfsuite, read out as potentials so that several can be added, and a network."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from histeval.errors import MissingExtraError, ModelError
from histeval.systems.taggers.decode import Chain, Scores

L2 = 0.3
EPOCHS = 12
DROPPED = 0.4
"""Share of each token's features that training does not see, drawn for each text. Without it the few features that tell
most (a word that is in the lexicon) leave the others unlearnt, and those few are what another book lacks."""
MEMBERS = 2
"""CRFs of a model, which differ in the features dropped and in the order of texts; their mean errs less than either."""
KEPT_SCALE = 0.75
"""The scores of tokens are multiplied by it, since in tagging all features speak, not the share that was left."""
_FLOOR = 1e-300


def library() -> Any:
    """The module pycrfsuite; raises MissingExtraError where it is not installed."""
    try:
        import pycrfsuite
    except ImportError:
        raise MissingExtraError(
            "the crf tagger needs python-crfsuite; install it with `pip install 'histeval[taggers]'`"
        ) from None
    return pycrfsuite


def fit(
    features: Callable[[int], Sequence[Sequence[str]]],
    labels: Sequence[Sequence[str]],
    path: Path,
    *,
    seed: int,
    member: int = 1,
    epochs: int = EPOCHS,
    dropped: float = DROPPED,
) -> None:
    """Fit a linear chain by stochastic gradient descent and write it to `path`.

    `features` gives those of a text by its number; they are made one text after another, since those of all texts
    would fill the memory. crfsuite shuffles with C's rand(), which starts alike in a fresh process only; fits run in
    their own (`worker`). `seed` and `member` decide the order in which texts are handed over and which features are
    dropped, a share `dropped` of them.
    """
    trainer = library().Trainer(algorithm="l2sgd", verbose=False)
    chance = random.Random(f"{seed}|{member}")
    order = list(range(len(labels)))
    chance.shuffle(order)
    for place in order:
        trainer.append([thinned(row, dropped, chance) for row in features(place)], labels[place])
    trainer.set_params({"c2": L2, "max_iterations": epochs, "feature.possible_transitions": True})
    trainer.train(str(path))


def thinned(features: Sequence[str], dropped: float, chance: random.Random) -> list[str]:
    """The features of a token without a share of them, by chance, in steps of 1/256; the first, the bias, stays."""
    least = round(256 * dropped)
    draws = chance.randbytes(max(0, len(features) - 1))
    return [*features[:1], *(feature for feature, draw in zip(features[1:], draws, strict=True) if draw >= least)]


class FeatureCrf:
    """Fitted feature CRFs, from the bytes of their files, for the labels of a label set in their order.

    Their log potentials are averaged; those of tokens are multiplied by `scale` (with 1 they decode as crfsuite does).
    """

    def __init__(self, models: Sequence[bytes], labels: Sequence[str], scale: float = KEPT_SCALE) -> None:
        self.labels = tuple(labels)
        self._members = [_Member(model, labels) for model in models]
        self._scale = scale / len(self._members)
        moves: Scores = np.mean([member.moves for member in self._members], axis=0)
        self.chain = Chain(moves, np.zeros(len(labels)), np.zeros(len(labels)))

    def emissions(self, rows: Sequence[Sequence[str]]) -> Scores:
        """Log potentials of the tokens of one text, shape (tokens, labels), scaled, up to a constant a token."""
        sequence = library().ItemSequence  # made once for all members, since making them takes longest
        tokens = [sequence([features]) for features in rows]
        total = np.zeros((len(rows), len(self.labels)))
        for member in self._members:
            total += member.potentials(tokens)
        return total * self._scale


class _Member:
    """One fitted CRF, read by crfsuite."""

    def __init__(self, model: bytes, labels: Sequence[str]) -> None:
        self._tagger = library().Tagger()
        try:
            self._tagger.open_inmemory(model)
            known = set(self._tagger.labels())
        except (ValueError, RuntimeError) as fault:
            raise ModelError(f"its CRF cannot be read: {fault}", remedy="Train it again") from None
        self._model = model  # crfsuite reads from it for as long as the tagger lives
        if known - set(labels):
            raise ModelError("its CRF has labels that its label set lacks", remedy="Train it again")
        self._count = len(labels)
        self._known = [(number, label) for number, label in enumerate(labels) if label in known]
        self.moves = self._read_moves()

    def _read_moves(self) -> Scores:
        moves: Scores = np.full((self._count, self._count), np.log(_FLOOR))
        # Of a sequence of two tokens without features only the move between them scores.
        self._tagger.set([[], []])
        for first, first_label in self._known:
            for second, second_label in self._known:
                share = self._tagger.probability([first_label, second_label])
                moves[first, second] = np.log(max(share, _FLOOR))
        return moves

    def potentials(self, tokens: Sequence[Any]) -> Scores:
        """Log potentials of tokens, each an item sequence of its own, shape (tokens, labels), up to a constant each.

        crfsuite gives no potentials, but the marginals of a sequence of one token are their softmax.
        """
        scores = np.full((len(tokens), self._count), _FLOOR)
        take, marginal = self._tagger.set, self._tagger.marginal
        labels = [label for _, label in self._known]
        shares = []
        for token in tokens:
            take(token)
            shares.append([marginal(label, 0) for label in labels])
        if shares and labels:
            scores[:, [number for number, _ in self._known]] = shares
        result: Scores = np.log(np.maximum(scores, _FLOOR))
        return result
