"""A corpus of generated pages scored by the local engine and by Ray on as many cores, and how cost grows.

`python -m benchmarks.scale [PAGES]` compares the engines; `python -m benchmarks.scale growth [MOST]` prints the growth
table (documents, page length, runs; seconds and peak memory of scoring, of the run folder and of the overview).
"""

from __future__ import annotations

import json
import os
import random
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


def write_corpus(folder: Path, pages: int, characters: int = 1500) -> Path:
    """A corpus in parts of 5 000 pages; gives the folder of its parts."""
    parts = folder / "parts"
    parts.mkdir(parents=True)
    (folder / "dataset.toml").write_text(SETTINGS)
    out = None
    for number, row in enumerate(rows(pages, characters)):
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
    begin = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "histeval", *words], stdout=subprocess.PIPE, text=True)
    peak, spent = 0.0, dict[int, float]()
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
    took = time.perf_counter() - begin
    printed = process.stdout.read() if process.stdout else ""
    if process.returncode:
        raise RuntimeError(f"histeval {' '.join(words)} ended with {process.returncode}")
    return Watched(took, sum(spent.values()), peak, printed)


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


def measure(pages: int = 10_000, runs: int = RUNS) -> list[dict[str, Any]]:
    """Ray beside the local engine, whole commands with their start; results must be equal. `wanted` is 1 / 1.3."""
    what = f"{pages:,} generated pages of 1 500 characters, engine ray on {WORKERS} cores".replace(",", " ")
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


def growth(most: int = 10_000) -> list[dict[str, Any]]:
    """Cost of scoring against documents, page length and runs: one row each, with seconds and peak memory."""
    found = []
    sizes = [100]
    while sizes[-1] * 10 <= most:
        sizes.append(sizes[-1] * 10)
    with tempfile.TemporaryDirectory() as name:
        for pages, characters in [*((size, 1500) for size in sizes), (1000, 150), (1000, 15_000)]:
            parts = write_corpus(Path(name) / f"{pages}_{characters}", pages, characters)
            words = ["score", "manuscripts", str(parts.parent), str(parts), "--workers", "1", "--format", "json"]
            seen = watched(words)
            what = f"score, {pages} pages of {characters} characters"
            found.append({"what": what, "seconds": seen.seconds, "processor": seen.processor, "peak_mb": seen.peak_mb})
        found += folder_growth(Path(name), sizes)
    return found


def folder_growth(place: Path, sizes: list[int]) -> list[dict[str, Any]]:
    """The run folder: writing a line for each document (fsync included), and reading what is done."""
    from histeval.runs.folder import RunFolder, read_answers

    found = []
    for size in sizes:
        if size > 10_000:
            break
        description = {"task": "manuscripts", "system": "recorded/a", "dataset": "generated"}
        begin = time.perf_counter()
        with RunFolder(place / f"run_{size}", description) as run:
            for start in range(0, size, 100):
                run.append(
                    *({"document": f"page_{n}", "text": "x" * 1500} for n in range(start, min(size, start + 100)))
                )
        wrote = time.perf_counter() - begin
        begin = time.perf_counter()
        with RunFolder(place / f"run_{size}", description) as run:
            assert len(run.done) == size
        resumed = time.perf_counter() - begin
        begin = time.perf_counter()
        assert sum(1 for _ in read_answers(place / f"run_{size}")) == size
        found.append({"what": f"run folder, {size} answers: write", "seconds": wrote})
        found.append({"what": f"run folder, {size} answers: resume", "seconds": resumed})
        found.append({"what": f"run folder, {size} answers: read", "seconds": time.perf_counter() - begin})
    return found


if __name__ == "__main__":
    if sys.argv[1:2] == ["growth"]:
        for one in growth(int(sys.argv[2]) if len(sys.argv) > 2 else 10_000):
            processor = one.get("processor", 0.0)
            print(f"{one['what']:44} {one['seconds']:9.3f} s {processor:9.2f} s {one.get('peak_mb', 0):8.0f} MB")
    else:
        for one in measure(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000):
            print(one)
