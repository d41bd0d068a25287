"""The feature CRF: fitted by python-crfsuite, read out as potentials so that it can be added to a network."""

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
    epochs: int = EPOCHS,
) -> None:
    """Fit a linear chain by stochastic gradient descent and write it to `path`.

    `features` gives those of a text by its number; they are made one text after another, since those of all texts
    would fill the memory. crfsuite shuffles with C's rand(), which starts alike in a fresh process only; fits run in
    their own (`worker`). `seed` decides the order in which texts are handed over.
    """
    trainer = library().Trainer(algorithm="l2sgd", verbose=False)
    order = list(range(len(labels)))
    random.Random(seed).shuffle(order)
    for place in order:
        trainer.append(features(place), labels[place])
    trainer.set_params({"c2": L2, "max_iterations": epochs, "feature.possible_transitions": True})
    trainer.train(str(path))


class FeatureCrf:
    """A fitted feature CRF, from the bytes of its file, for the labels of a label set in their order."""

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
        self.labels = tuple(labels)
        self._known = [(number, label) for number, label in enumerate(labels) if label in known]
        self.chain = self._read_chain()

    def _read_chain(self) -> Chain:
        count = len(self.labels)
        moves = np.full((count, count), np.log(_FLOOR))
        # Of a sequence of two tokens without features only the move between them scores.
        self._tagger.set([[], []])
        for first, first_label in self._known:
            for second, second_label in self._known:
                share = self._tagger.probability([first_label, second_label])
                moves[first, second] = np.log(max(share, _FLOOR))
        return Chain(moves, np.zeros(count), np.zeros(count))

    def emissions(self, rows: Sequence[Sequence[str]]) -> Scores:
        """Log potentials of the tokens of one text, shape (tokens, labels), up to a constant a token.

        crfsuite gives no potentials, but the marginals of a sequence of one token are their softmax.
        """
        scores = np.full((len(rows), len(self.labels)), _FLOOR)
        tagger = self._tagger
        for place, features in enumerate(rows):
            tagger.set([features])
            for number, label in self._known:
                scores[place, number] = tagger.marginal(label, 0)
        result: Scores = np.log(np.maximum(scores, _FLOOR))
        return result
