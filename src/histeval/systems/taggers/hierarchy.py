"""The hierarchical loss of Tual et al. 2023, with weights for the edges of the class tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from histeval.systems.taggers.network import library


def hierarchical_loss(
    scores: Any, targets: Any, groups: Sequence[Any] = (), weights: Sequence[float] = (1.0,), reduction: str = "mean"
) -> Any:
    """Weighted sum of the negative log conditionals along the path from the root of the class tree to a label.

    `scores` (tokens, labels) are logits of a flat softmax over the labels. `groups` holds, for each step of the tree
    but the last, the group of each label, shape (labels,), outermost first; `weights` one number a step. With
    probabilities p, a label y in group g: loss = w1 * -log p(g) + w2 * -log(p(y) / p(g)), and so on for deeper trees.
    Where all weights are 1 the conditionals telescope to cross-entropy, as with the weights of the published code.

    `reduction` is mean or sum over tokens. A worked example with its gradient stands in the tests and the docs.
    """
    torch = library()
    if len(weights) != len(groups) + 1:
        raise ValueError(f"{len(groups) + 1} steps of the tree need as many weights, not {len(weights)}")
    logs = torch.log_softmax(scores, dim=1)
    above = torch.zeros_like(logs[:, 0])  # log-probability of the root
    loss = torch.zeros_like(above)
    for group, weight in zip(groups, weights, strict=False):
        inside = group[targets].unsqueeze(1) == group.unsqueeze(0)
        here = torch.logsumexp(logs.masked_fill(~inside, float("-inf")), dim=1)
        loss = loss + weight * (above - here)
        above = here
    loss = loss + weights[-1] * (above - logs.gather(1, targets.unsqueeze(1)).squeeze(1))
    return loss.sum() if reduction == "sum" else loss.mean()
