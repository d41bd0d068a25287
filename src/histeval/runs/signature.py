"""The line that says how a number was made, printed beside every number.

`letters|documented|business_letters@9f3c1a|n=57|unit=document|ci=expanded,10000,seed1|histeval=0.1.0`
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from histeval._version import version
from histeval.datasets.base import Dataset
from histeval.tasks.base import Protocol

RESAMPLES = 10_000
SEED = 1


@dataclass(frozen=True)
class Signature:
    """How a number was made: protocol, ground truth, documents, sampling unit, interval, version.

    `where` holds the attributes the documents were selected by.
    """

    protocol: Protocol
    dataset: Dataset
    documents: int
    unit: str
    where: Mapping[str, str] = field(default_factory=dict)
    resamples: int = RESAMPLES
    seed: int = SEED
    repeats: int = 1

    def _line(self, protocol: str) -> str:
        parts = [protocol, f"{self.dataset.name}@{self.dataset.fingerprint[:6]}", f"n={self.documents}"]
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
