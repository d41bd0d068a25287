"""A corpus of generated pages scored by the local engine and by Ray on as many cores: `python -m benchmarks.scale`.

`python -m benchmarks.scale PAGES` takes another size.
"""

from __future__ import annotations

import json
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

from benchmarks.text import noisy, page

WORKERS = 2
RUNS = 5
PART = 5000
PAGES = 60_000
"""Where Ray's start (5 to 10 s) no longer decides; a run takes some 20 s on two idle cores."""
SETTINGS = 'task = "manuscripts"\nname = "generated"\nunit = "document"\nlicence = "CC0"\nlanguages = ["de"]\n'


def rows(pages: int, characters: int = 1500, seed: int = 3, variants: int = 200) -> Iterator[dict[str, Any]]:
    """Generated pages with truth and answer side by side; 5 % of the characters are misread."""
    chance = random.Random(seed)
    texts = [(text, noisy(chance, text, 0.05)) for text in (page(chance, characters) for _ in range(variants))]
    for number in range(pages):
        truth, answer = texts[chance.randrange(variants)]
        turn = chance.randrange(characters)
        truth, answer = truth[turn:] + truth[:turn], answer[turn:] + answer[:turn]
        folio = {"folio": str(number), "addition1": ""}
        yield {
            "document": f"page_{number:07}",
            "truth": {f"[{number}]": [{**folio, "text": truth}]},
            "text": json.dumps({"folios": [{**folio, "text": answer}]}, ensure_ascii=False),
        }


def write_corpus(folder: Path, pages: int, characters: int = 1500, variants: int = 200) -> Path:
    """A corpus in parts of 5 000 pages; gives the folder of its parts."""
    parts = folder / "parts"
    parts.mkdir(parents=True)
    (folder / "dataset.toml").write_text(SETTINGS)
    out = None
    for number, row in enumerate(rows(pages, characters, variants=variants)):
        if number % PART == 0:
            if out:
                out.close()
            out = (parts / f"part-{number // PART:05}.jsonl").open("w", encoding="utf-8")
        assert out is not None
        out.write(json.dumps(row, ensure_ascii=False) + "\n")
    if out:
        out.close()
    return parts


class Watched(NamedTuple):
    """What a command took: seconds, processor seconds, and peak memory in MB (proportional set size) of all its
    processes together, as seen twice a second (Linux; elsewhere 0), and what it printed."""

    seconds: float
    processor: float
    peak_mb: float
    printed: str


def watched(words: list[str]) -> Watched:
    """Runs a command line of Histeval and watches its processes."""
    begin, before = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    peak, spent = 0.0, dict[int, float]()
    with tempfile.TemporaryFile("w+") as said:  # a pipe that nobody empties would stop the command
        process = subprocess.Popen([sys.executable, "-m", "histeval", *words], stdout=said, text=True)
        while process.poll() is None:
            total = 0.0
            for one, memory, processor in processes(process.pid):
                total += memory
                spent[one] = processor
            peak = max(peak, total)
            try:
                process.wait(0.5)
            except subprocess.TimeoutExpired:
                continue
        took, after = time.perf_counter() - begin, resource.getrusage(resource.RUSAGE_CHILDREN)
        said.seek(0)
        printed = said.read()
    waited = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    if process.returncode:
        raise RuntimeError(f"histeval {' '.join(words)} ended with {process.returncode}")
    # what was seen lacks the last half second; what was waited for lacks the processes that Ray left to themselves
    return Watched(took, max(waited, sum(spent.values())), peak, printed)


def processes(root: int) -> Iterator[tuple[int, float, float]]:
    """A process and all below it: number, proportional set size in MB, processor seconds so far."""
    children: dict[int, list[int]] = {}
    ticks = os.sysconf("SC_CLK_TCK")
    spent: dict[int, float] = {}
    for status in Path("/proc").glob("[0-9]*/stat"):
        try:
            words = status.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        one = int(status.parent.name)
        children.setdefault(int(words[1]), []).append(one)
        spent[one] = (int(words[11]) + int(words[12])) / ticks
    waiting = [root]
    while waiting:
        one = waiting.pop()
        waiting += children.get(one, [])
        try:
            text = Path(f"/proc/{one}/smaps_rollup").read_text()
        except OSError:
            continue
        memory = next((int(line.split()[1]) for line in text.splitlines() if line.startswith("Pss:")), 0)
        yield one, memory / 1024, spent.get(one, 0.0)


def measure(pages: int = PAGES, runs: int = RUNS) -> list[dict[str, Any]]:
    """Ray beside the local engine, whole commands with their start; results must be equal. `wanted` is 1 / 1.3."""
    size = f"{pages:,}".replace(",", " ")
    what = f"{size} generated pages of 1 500 characters, engine ray on {WORKERS} cores"
    row: dict[str, Any] = {"what": what, "peer": f"local engine, {WORKERS} processes", "wanted": 1 / 1.3}
    try:
        import ray  # noqa: F401
    except ImportError:
        return [{**row, "peer": "local engine (Ray is not installed)", "ours_seconds": None, "peer_seconds": None,
                 "ratio": None}]  # fmt: skip
    found: dict[str, list[Watched]] = {"ray": [], "local": []}
    with tempfile.TemporaryDirectory() as name:
        parts = write_corpus(Path(name) / "corpus", pages)
        for _ in range(runs):
            for engine, seen in found.items():
                words = ["score", "manuscripts", str(parts.parent), str(parts), "--protocol", "published"]
                words += ["--format", "json", "--engine", engine, "--workers", str(WORKERS)]
                seen.append(watched(words))
        if len({one.printed for seen in found.values() for one in seen}) != 1:
            raise AssertionError("the engines' results differ")
    peak = max(one.peak_mb for one in found["ray"])
    measured = []
    for words_of, field in ((what, "seconds"), (f"{what}, processor time", "processor")):
        ours, theirs = (median(getattr(one, field) for one in found[engine]) for engine in ("ray", "local"))
        row = {**row, "what": words_of, "ours_seconds": ours, "peer_seconds": theirs}
        measured.append({**row, "ratio": theirs / ours if ours else None, "peak_mb": peak})
    return measured


if __name__ == "__main__":
    for one in measure(int(sys.argv[1]) if len(sys.argv) > 1 else PAGES):
        print(one)
