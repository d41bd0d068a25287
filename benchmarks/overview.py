"""The overview of 200 runs over 57 letters: seconds to build it, to rebuild it unchanged, size, time until it answers.

The recorded runs of the published data repeated under new ids, where that data is here (HISTEVAL_DATA, or beside the
repository), else generated ones. `python -m benchmarks.overview` prints a table; the time until the leaderboard
answers needs the system's Chromium and playwright, and is left out without them.
"""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.scoring import data

RUNS = 200
DOCUMENTS = 57
LIMIT = 60.0
INTERACTIVE = 1.0
KILOBYTES = 500
LOADS = 5
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ARGUMENTS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--no-first-run"]
PEOPLE = [f"{last}, {first}" for last in ("Holm", "Vik", "Brandt", "Moser", "Keller") for first in ("Anna", "Otto")]


def inputs(folder: Path, runs: int) -> tuple[Path, Path, str]:
    """A dataset, a file of so many runs, and a word for where they are from."""
    file = folder / "runs.jsonl"
    place = data()
    if place is not None:
        recorded = place / "recorded_answers" / "letters" / "runs.jsonl"
        lines = [json.loads(line) for line in recorded.read_text(encoding="utf-8").split("\n") if line.strip()]
        with file.open("w", encoding="utf-8") as stream:
            for number in range(runs):
                name = f"R{number + 1:04d}"
                stream.write(json.dumps({**lines[number % len(lines)], "run_id": name}) + "\n")
        return place / "rise" / "benchmarks" / "business_letters", file, "recorded runs, some under two ids"
    return _generated(folder, runs), file, "generated runs; the published data is not here"


def _generated(folder: Path, runs: int) -> Path:
    """Letters without images and runs with mistakes, from a fixed seed."""
    chance = random.Random(1)
    truth = folder / "letters" / "ground_truths"
    truth.mkdir(parents=True)
    letters: dict[str, dict[str, Any]] = {}
    for number in range(DOCUMENTS):
        sender, receiver = chance.sample(PEOPLE, 2)
        letter = {
            "send_date": [f"19{chance.randrange(20, 40)}-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}"],
            "sender_persons": [sender],
            "receiver_persons": [receiver],
        }
        letters[f"letter{number + 1:02d}"] = letter
        signed = {**letter, "has_signatures": chance.choice(("TRUE", "FALSE"))}
        (truth / f"letter{number + 1:02d}.json").write_text(json.dumps(signed), encoding="utf-8")
    persons = [{"name": name, "alternateName": []} for name in PEOPLE]
    (truth / "persons.json").write_text(json.dumps(persons), encoding="utf-8")
    with (folder / "runs.jsonl").open("w", encoding="utf-8") as stream:
        for number in range(runs):
            answers = {
                name: {
                    "json": {
                        field: value if chance.random() > number / runs else [chance.choice(PEOPLE)]
                        for field, value in letter.items()
                    },
                    "seconds": 1 + 9 * chance.random(),
                    "cost": chance.random() / 100,
                }
                for name, letter in letters.items()
            }
            facts = {"provider": f"provider{number % 7}", "model": f"model-{number}", "date": "2026-01-01"}
            stream.write(json.dumps({"run_id": f"R{number + 1:04d}", **facts, "answers": answers}) + "\n")
    return folder / "letters"


def build(dataset: Path, answers: Path, out: Path) -> tuple[float, float, float]:
    """Seconds, seconds of processor time, and peak memory in MB of `histeval overview`, as a person types it."""
    import resource

    before, begin = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    words = [sys.executable, "-m", "histeval", "overview", f"{dataset}={answers}", "--out", str(out)]
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
    after, took = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter() - begin
    processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return took, processor, after.ru_maxrss / 1024


def interactive(page_file: Path) -> float | None:
    """Seconds from the request until the scripts of a page have run, median; None without a browser."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        return None
    if CHROMIUM is None:
        return None
    took = []
    with sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        for _ in range(LOADS):
            page = browser.new_page()
            page.goto(page_file.as_uri())
            page.wait_for_selector("html[data-ready]", state="attached")
            # scripts are deferred: they have run when this event ends
            took.append(page.evaluate("performance.getEntriesByType('navigation')[0].domContentLoadedEventEnd") / 1000)
            page.close()
        browser.close()
    return float(median(took))


def plots_of(out: Path) -> list[Path]:
    """The plots of the page that a site opens with; those of the other protocols are on pages of their own."""
    return [file for file in (out / "plots").glob("*.svg") if not file.name.startswith(("published-", "corrected-"))]


def figures(runs: int = RUNS) -> dict[str, Any]:
    """All that is measured, by name."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        dataset, answers, origin = inputs(folder, runs)
        out = folder / "site"
        seconds, processor, peak = build(dataset, answers, out)
        again, processor_again, _ = build(dataset, answers, out)
        files = [file for file in out.rglob("*") if file.is_file()]
        index = out / "index.html"
        return {
            "origin": origin,
            "build seconds": seconds,
            "build processor seconds": processor,
            "peak MB": peak,
            "unchanged rebuild seconds": again,
            "unchanged rebuild processor seconds": processor_again,
            "leaderboard page KB": index.stat().st_size / 1000,
            "plots on it KB": sum(file.stat().st_size for file in plots_of(out)) / 1000,
            "interactive seconds": interactive(index),
            "files": len(files),
            "site MB": sum(file.stat().st_size for file in files) / 1e6,
            "load": os.getloadavg()[0] if hasattr(os, "getloadavg") else None,
        }


def rows_of(found: dict[str, Any]) -> list[dict[str, Any]]:
    """The figures with a limit, as rows of the table of all benchmarks."""
    rows = []
    for name, what, limit in (
        ("build seconds", f"overview of {RUNS} runs of {DOCUMENTS} letters, built", LIMIT),
        ("interactive seconds", f"leaderboard of {RUNS} runs until it answers, from a disk", INTERACTIVE),
    ):
        ours = found[name]
        row: dict[str, Any] = {
            "what": what,
            "peer": f"limit of {limit:g} s",
            "wanted": 1.0,
            "peak_mb": found["peak MB"],
        }
        ratio = None if ours is None else limit / ours
        rows.append({**row, "ours_seconds": ours, "peer_seconds": limit if ours else None, "ratio": ratio})
    return rows


def measure() -> list[dict[str, Any]]:
    """Two rows: what, peer (the limit), ours_seconds, peer_seconds (the limit), ratio, wanted, peak_mb."""
    return rows_of(figures())


if __name__ == "__main__":
    measured = figures()
    limits = {"build seconds": LIMIT, "interactive seconds": INTERACTIVE, "leaderboard page KB": KILOBYTES}
    for key, value in measured.items():
        shown = f"{value:,.2f}" if isinstance(value, float) else str(value)
        print(f"{key:38} {shown:>12}" + (f"   limit {limits[key]:g}" if key in limits else ""))
