"""The line that says how a number was made, printed beside every number.

`letters|documented|business_letters@9f3c1a|n=57|unit=document|ci=expanded,10000,seed1|histeval=0.1.0`
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from histeval._version import version
from histeval.datasets.base import Dataset
from histeval.tasks.base import Protocol

RESAMPLES = 10_000
SEED = 1


def digest_of(documents: Iterable[str]) -> str:
    """Six hexadecimal digits that tell one choice of documents from another, whatever their order.

    >>> digest_of(["b", "a"]) == digest_of(["a", "b"]) != digest_of(["a"])
    True
    """
    names = "\n".join(sorted(documents))
    return hashlib.sha256(names.encode("utf-8", "surrogatepass")).hexdigest()[:6]


@dataclass(frozen=True)
class Signature:
    """How a number was made: protocol, ground truth, documents, sampling unit, interval, version.

    `where` holds the attributes the documents were selected by, `subset` stands for ids that were listed.
    """

    protocol: Protocol
    dataset: Dataset
    documents: int
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    resamples: int = RESAMPLES
    seed: int = SEED
    repeats: int = 1
    subset: str = ""
    """A digest of the ids, where they were chosen one by one (`digest_of`)."""

    def _line(self, protocol: str) -> str:
        parts = [protocol, f"{self.dataset.name}@{self.dataset.fingerprint[:6]}", f"n={self.documents}"]
        parts += [f"documents={self.subset}"] if self.subset else []
        parts += [f"where={key}:{value}" for key, value in sorted(self.where.items())]
        parts += [f"repeats={self.repeats}"] if self.repeats > 1 else []
        parts += [
            f"unit={self.unit}",
            f"ci=expanded,{self.resamples},seed{self.seed}",
            f"histeval={version()}",
        ]
        return "|".join(part.replace("\n", " ") for part in parts)

    def __str__(self) -> str:
        return self._line(f"{self.protocol.task}|{self.protocol.short}")

    @property
    def long(self) -> str:
        """The same with every rule spelled out; its first two parts read back as the protocol."""
        return self._line(self.protocol.long)
