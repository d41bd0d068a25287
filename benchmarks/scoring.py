"""Scoring all recorded letters and manuscripts with intervals: the two commands, as a person types them.

Needs the published data (HISTEVAL_DATA, or beside the repository); without it the row has no figures.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path
from statistics import median
from typing import Any

RUNS = 5
LIMIT = 5.0
COMMANDS = (
    ("letters", "business_letters", "letters"),
    ("manuscripts", "medieval_manuscripts", "medieval"),
)


def data() -> Path | None:
    """The folder of the published data, None where it is not there."""
    named = os.environ.get("HISTEVAL_DATA")
    place = Path(named) if named else Path(__file__).resolve().parents[2] / "shared" / "data"
    return place if (place / "sources.json").is_file() else None


def timed(words: list[str]) -> tuple[float, float]:
    """Seconds and peak memory (MB, of the largest process so far) of a command line of Histeval."""
    import resource

    begin = time.perf_counter()
    subprocess.run([sys.executable, "-m", "histeval", *words], check=True, stdout=subprocess.DEVNULL)
    took = time.perf_counter() - begin
    return took, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024


def measure() -> list[dict[str, Any]]:
    """One row: what, peer (the limit), ours_seconds, peer_seconds (the limit), ratio, wanted, peak_mb."""
    what = "scoring all recorded letters and manuscripts with intervals"
    row: dict[str, Any] = {"what": what, "peer": f"limit of {LIMIT:g} s", "ours_seconds": None, "peer_seconds": None}
    row |= {"ratio": None, "wanted": 1.0}
    place = data()
    if place is None:
        return [{**row, "peer": f"limit of {LIMIT:g} s (the published data is not here)"}]
    took: list[float] = []
    peak = 0.0
    for _ in range(RUNS):
        total = 0.0
        for task, dataset, answers in COMMANDS:
            runs = place / "recorded_answers" / answers / "runs.jsonl"
            seconds, memory = timed(
                ["score", task, str(place / "rise" / "benchmarks" / dataset), str(runs), "--format", "json"]
            )
            total, peak = total + seconds, max(peak, memory)
        took.append(total)
    ours = median(took)
    return [{**row, "ours_seconds": ours, "peer_seconds": LIMIT, "ratio": LIMIT / ours, "peak_mb": peak}]


if __name__ == "__main__":
    for found in measure():
        print(found)
