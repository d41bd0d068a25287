"""`scores.json` in a run folder: the last scores, derived from the answers and always recomputable."""

from __future__ import annotations

import json
from pathlib import Path

from histeval.datasets.files import atomic_write
from histeval.runs.score import Score

SCORES = "scores.json"


def write_scores(folder: Path, score: Score) -> None:
    """Writes the scores of a run beside its answers, whole or not at all; raises OutputError where it cannot."""
    text = json.dumps(score.as_json(per_document=True), ensure_ascii=False, allow_nan=False, indent=1)
    atomic_write(folder / SCORES, text.encode("utf-8", "backslashreplace"))
