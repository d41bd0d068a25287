"""The network: features embedded and summed, one bidirectional LSTM, a CRF on top; trained from scratch on a CPU."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from histeval.errors import MissingExtraError, ModelError
from histeval.systems.taggers.decode import Chain, Scores

Rows = Sequence[Sequence[Sequence[str]]]

WIDTH = 96
HIDDEN = 128
EPOCHS = 6
"""Passes over the readings; with noisy copies fewer, so that as many texts are seen as in six without them (`passes`).
Chosen on left-out books, where four passes with a copy were as good as six without, or better, at the same cost."""
BATCH = 64
BATCH_TOKENS = 2000
SEEN = 3
"""A feature seen less often in training is unknown."""
FEATURE_DROP = 0.5
TOKEN_DROP = 0.45
LEARNING_RATE = 5e-3
KEPT_SCALE = 0.7
"""What embeddings are multiplied by after training, when no feature is dropped any more: the sum of all features is
larger than any seen in training. Between 1 and the share that was kept (0.5); chosen on left-out books."""


def library() -> Any:
    """The module torch; raises MissingExtraError where it is not installed."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError(
            "this tagger needs PyTorch; install it with `pip install 'histeval[neural]'`, or use --system crf"
        ) from None
    return torch


def passes(readings: int, copies: int) -> int:
    """The default number of passes over texts of which `copies` are noisy copies beside `readings`.

    >>> passes(2, 0), passes(2, 1), passes(2, 20)
    (6, 4, 1)
    """
    return max(1, round(EPOCHS * readings / (readings + copies)))


def vocabulary(rows: Rows) -> list[str]:
    """The features seen often enough, in the order of their frequency and then of the alphabet."""
    counts = Counter(feature for text in rows for token in text for feature in token)
    kept = [feature for feature, count in counts.items() if count >= SEEN]
    return sorted(kept, key=lambda feature: (-counts[feature], feature))


Indexed = tuple[NDArray[np.int64], NDArray[np.int64]]
"""Feature numbers of a text, token after token, and how many each token has."""


def indexed(rows: Sequence[Sequence[str]], numbers: Mapping[str, int]) -> Indexed:
    """The known features of each token of one text by their numbers."""
    found = [[numbers[feature] for feature in token if feature in numbers] for token in rows]
    flat = np.array([number for token in found for number in token], dtype=np.int64)
    return flat, np.array([len(token) for token in found], dtype=np.int64)


def module(features: int, labels: int) -> Any:
    """An untrained network: a torch module with `emissions(flat, offsets, texts, length)` and a chain."""
    torch = library()

    class Network(torch.nn.Module):  # type: ignore[misc, name-defined, unused-ignore]
        def __init__(self) -> None:
            super().__init__()
            self.bag = torch.nn.EmbeddingBag(max(features, 1), WIDTH, mode="sum")
            torch.nn.init.normal_(self.bag.weight, std=0.08)
            self.drop = torch.nn.Dropout(TOKEN_DROP)
            self.lstm = torch.nn.LSTM(WIDTH, HIDDEN, batch_first=True, bidirectional=True)
            self.out = torch.nn.Linear(2 * HIDDEN, labels)
            self.skip = torch.nn.Linear(WIDTH, labels)
            self.moves = torch.nn.Parameter(torch.zeros(labels, labels))
            self.first = torch.nn.Parameter(torch.zeros(labels))
            self.last = torch.nn.Parameter(torch.zeros(labels))

        def emissions(self, flat: Any, offsets: Any, texts: int, length: int) -> Any:
            """Scores of the labels, shape (texts, length, labels), for texts of one length."""
            tokens = self.drop(torch.tanh(self.bag(flat, offsets))).view(texts, length, WIDTH)
            context, _ = self.lstm(tokens)
            return self.out(self.drop(context)) + self.skip(tokens)

    return Network()


def log_partition(emissions: Any, network: Any, allowed: Any = None) -> Any:
    """Logarithm of the sum over label sequences, shape (texts,), for emissions (texts, length, labels).

    `allowed`, of the same shape, is 0 where a label may stand and a large negative number elsewhere.
    """
    torch = library()
    scores = emissions if allowed is None else emissions + allowed
    # exp(moves) is multiplied as a matrix, which is several times faster than a logsumexp over pairs.
    moves = network.moves.exp()
    state = network.first + scores[:, 0]
    for place in range(1, scores.shape[1]):
        top = state.max(dim=1, keepdim=True).values.detach()
        state = ((state - top).exp() @ moves).clamp_min(1e-30).log() + top + scores[:, place]
    return torch.logsumexp(state + network.last, dim=1)


def path_score(emissions: Any, labels: Any, network: Any) -> Any:
    """Score of given label sequences, shape (texts,), for labels of shape (texts, length)."""
    score = emissions.gather(2, labels.unsqueeze(2)).squeeze(2).sum(dim=1)
    score = score + network.moves[labels[:, :-1], labels[:, 1:]].sum(dim=1)
    return score + network.first[labels[:, 0]] + network.last[labels[:, -1]]


def chain_loss(emissions: Any, labels: Any, network: Any, groups: Any = None, weights: tuple[float, ...] = ()) -> Any:
    """Mean negative log-likelihood of label sequences.

    With `groups` (one tensor of group numbers by label for each level but the last, outermost first) and `weights`
    (one a level, the last for the label itself) it is the hierarchical loss: the sum over levels of weight times
    -log P(level | level above). Where all weights are 1 the sum is the plain loss, since the conditionals telescope.
    """
    whole = log_partition(emissions, network)
    truth = path_score(emissions, labels, network)
    if not groups or all(weight == 1 for weight in weights):
        return (whole - truth).mean()
    loss, above = 0.0, whole
    for group, weight in zip(groups, weights, strict=False):
        inside = group[labels].unsqueeze(2) == group  # labels that share the level's group with the truth
        below = log_partition(emissions, network, (~inside).to(emissions.dtype) * -1e4)
        loss, above = loss + weight * (above - below), below
    return (loss + weights[-1] * (above - truth)).mean()


def fit(
    rows: Rows,
    labels: Sequence[Sequence[int]],
    label_count: int,
    *,
    seed: int,
    epochs: int = EPOCHS,
    groups: Sequence[Sequence[int]] = (),
    weights: tuple[float, ...] = (),
) -> tuple[list[str], dict[str, NDArray[np.float32]]]:
    """Train a network; returns its vocabulary and its weights. Deterministic for one version of torch on one machine.

    Each batch holds texts of one length, so that nothing is padded or masked.
    """
    torch = library()
    torch.set_num_threads(1)
    torch.manual_seed(seed)
    chance = np.random.default_rng(seed)
    words = vocabulary(rows)
    numbers = {word: number for number, word in enumerate(words)}
    texts = [indexed(text, numbers) for text in rows]
    targets = [torch.tensor(list(text), dtype=torch.long) for text in labels]
    network = module(len(words), label_count)
    by_level = [torch.tensor(list(group), dtype=torch.long) for group in groups]
    steps = epochs * sum(1 for _ in _batches(texts, chance))
    chance = np.random.default_rng(seed)
    optimizer = torch.optim.AdamW(network.parameters(), lr=LEARNING_RATE, weight_decay=0.01, fused=True)
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, max_lr=LEARNING_RATE, total_steps=max(steps, 2), pct_start=0.15
    )
    network.train()
    for _ in range(epochs):
        for batch in _batches(texts, chance):
            length = len(texts[batch[0]][1])
            flat = np.concatenate([texts[place][0] for place in batch])
            counts = np.concatenate([texts[place][1] for place in batch])
            kept = chance.random(len(flat)) >= FEATURE_DROP
            owner = np.repeat(np.arange(len(counts)), counts)[kept]
            offsets = _offsets(np.bincount(owner, minlength=len(counts)))
            emissions = network.emissions(torch.from_numpy(flat[kept]), offsets, len(batch), length)
            target = torch.stack([targets[place] for place in batch])
            loss = chain_loss(emissions, target, network, by_level, weights)
            optimizer.zero_grad(set_to_none=True)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(network.parameters(), 2.0)
            optimizer.step()
            schedule.step()
    network.bag.weight.data.mul_(KEPT_SCALE)
    return words, {name: value.detach().numpy().copy() for name, value in network.state_dict().items()}


def _batches(texts: Sequence[Indexed], chance: np.random.Generator) -> Iterator[list[int]]:
    """Numbers of texts of one length, few of long ones, in random order; texts without tokens are left out."""
    by_length: dict[int, list[int]] = {}
    for place in chance.permutation(len(texts)):
        length = len(texts[place][1])
        if length:
            by_length.setdefault(length, []).append(int(place))
    batches = []
    for length, places in sorted(by_length.items()):
        size = max(1, min(BATCH, BATCH_TOKENS // length))
        batches += [places[start : start + size] for start in range(0, len(places), size)]
    for place in chance.permutation(len(batches)):
        yield batches[place]


def _offsets(counts: NDArray[np.int64]) -> Any:
    """Where the features of each token begin."""
    starts = np.zeros(len(counts), dtype=np.int64)
    np.cumsum(counts[:-1], out=starts[1:])
    return library().from_numpy(starts)


class FittedNetwork:
    """A trained network, from its vocabulary and weights."""

    def __init__(self, words: Sequence[str], weights: Mapping[str, NDArray[np.float32]], label_count: int) -> None:
        torch = library()
        self._numbers = {word: number for number, word in enumerate(words)}
        self._network = module(len(words), label_count)
        wanted = self._network.state_dict()
        if set(wanted) != set(weights) or any(wanted[name].shape != weights[name].shape for name in wanted):
            raise ModelError("its network has other dimensions than its settings say", remedy="Train it again")
        self._network.load_state_dict({name: torch.from_numpy(np.array(value)) for name, value in weights.items()})
        self._network.eval()
        read = {name: weights[name].astype(np.float64) for name in ("moves", "first", "last")}
        self.chain = Chain(read["moves"], read["first"], read["last"])

    def emissions(self, texts: Sequence[Sequence[Sequence[str]]]) -> list[Scores]:
        """Scores of the labels of each text, shape (tokens, labels)."""
        torch = library()
        # One thread, so that sums are made in the same order whatever the machine has to do.
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            found = [indexed(text, self._numbers) for text in texts]
            results: list[Scores] = [np.zeros((0, self.chain.moves.shape[0])) for _ in texts]
            with torch.no_grad():
                for batch in _batches(found, np.random.default_rng(0)):
                    length = len(found[batch[0]][1])
                    flat = torch.from_numpy(np.concatenate([found[place][0] for place in batch]))
                    offsets = _offsets(np.concatenate([found[place][1] for place in batch]))
                    scores = self._network.emissions(flat, offsets, len(batch), length).double().numpy()
                    for place, score in zip(batch, scores, strict=True):
                        results[place] = score
        finally:
            torch.set_num_threads(threads)
        return results
