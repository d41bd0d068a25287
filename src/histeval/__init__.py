"""Histeval: which system reads my historical documents best, how sure is that, and why does it fail?

What stands here is imported when it is first used, so that `import histeval` costs nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from histeval.datasets import load_dataset
    from histeval.entities import score_entities, score_tags
    from histeval.runs import score
    from histeval.text import cer, error_rate, fuzzy_ratio, wer

__all__ = ["cer", "error_rate", "fuzzy_ratio", "load_dataset", "score", "score_entities", "score_tags", "wer"]

_ROOMS = {
    "cer": "histeval.text",
    "error_rate": "histeval.text",
    "fuzzy_ratio": "histeval.text",
    "wer": "histeval.text",
    "score_entities": "histeval.entities",
    "score_tags": "histeval.entities",
    "load_dataset": "histeval.datasets",
    "score": "histeval.runs",
}


def __getattr__(name: str) -> Any:
    if name in _ROOMS:
        return getattr(import_module(_ROOMS[name]), name)
    raise AttributeError(f"module 'histeval' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
