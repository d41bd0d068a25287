"""How cost grows with documents, page length and runs: scoring, the run folder and the overview.

`python -m benchmarks.growth [NAME ...]` with the names of `TABLES` prints one table each: size, processor seconds,
milliseconds a further unit (against the row before), and peak memory (proportional set size of all processes of the
command). `--most N` leaves out larger sizes.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from benchmarks.overview import DOCUMENTS, PEOPLE, inputs
from benchmarks.scale import Watched, watched, write_corpus

FOLDER = """
import resource, sys, time
from histeval.runs.folder import RunFolder, read_answers
step, place, size = sys.argv[1], sys.argv[2], int(sys.argv[3])
run = {"task": "manuscripts", "system": "recorded/a", "dataset": "generated"}
begin = time.process_time()
if step == "write":
    with RunFolder(place, run) as folder:
        for start in range(0, size, 100):
            folder.append(
                *({"document": f"page_{n}", "text": "x" * 1500} for n in range(start, min(size, start + 100)))
            )
elif step == "resume":
    with RunFolder(place, run) as folder:
        assert len(folder.done) == size
else:
    assert sum(1 for _ in read_answers(place)) == size
print(time.process_time() - begin, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
"""


class Row(NamedTuple):
    """One size: what grows, how many units, processor seconds, peak memory in MB."""

    what: str
    units: int
    processor: float
    peak_mb: float


def _row(what: str, units: int, seen: Watched) -> Row:
    return Row(what, units, seen.processor, seen.peak_mb)


def documents(place: Path, most: int) -> Iterator[Row]:
    """Pages of 1 500 characters in parts, one process; a million is `python -m benchmarks.scale 1000000`."""
    for pages in (100, 1000, 10_000, 100_000):
        if pages <= most:
            parts = write_corpus(place / f"pages_{pages}", pages)
            words = ["score", "manuscripts", str(parts.parent), str(parts), "--workers", "1", "--format", "json"]
            yield _row("pages of 1 500 characters", pages, watched(words))


def length(place: Path, most: int) -> Iterator[Row]:
    """Pages of more and more characters; the number of pages falls, so that a row is 3 million characters or less."""
    for characters, pages in ((150, 1000), (1500, 1000), (15_000, 200), (150_000, 20)):
        if characters <= most:
            parts = write_corpus(place / f"length_{characters}", pages, characters, variants=min(200, pages))
            words = ["score", "manuscripts", str(parts.parent), str(parts), "--workers", "1", "--format", "json"]
            yield _row(f"{pages} pages of so many characters", characters, watched(words))


def folder(place: Path, most: int) -> Iterator[Row]:
    """The run folder: lines of 1 500 characters, a hundred on disk at a time; peak memory is that of the process."""
    for step in ("write", "resume", "read"):
        for size in (100, 1000, 10_000, 100_000):
            if size <= most:
                words = [sys.executable, "-c", FOLDER, step, str(place / f"run_{size}"), str(size)]
                said = subprocess.run(words, check=True, capture_output=True, text=True).stdout.split()
                yield Row(f"run folder, {step}", size, float(said[0]), float(said[1]))


def runs(place: Path, most: int) -> Iterator[Row]:
    """Runs in one command: over 57 letters, and over a thousand."""
    for letters, sizes in ((DOCUMENTS, (1, 10, 50, 200)), (1000, (1, 5, 20))):
        for number in sizes:
            if number <= most:
                here = place / f"runs_{letters}_{number}"
                here.mkdir()
                dataset, answers = generated(here, letters, number)
                words = ["score", "letters", str(dataset), str(answers), "--format", "json", "--workers", "1"]
                yield _row(f"runs over {letters} letters, scored", number, watched(words))


def overview(place: Path, most: int) -> Iterator[Row]:
    """The overview: more runs of 57 letters, more letters of ten runs. Letters have no images."""
    for number in (10, 50, 200):
        if number <= most:
            here = place / f"overview_runs_{number}"
            here.mkdir()
            dataset, answers, _ = inputs(here, number)
            words = ["overview", f"{dataset}={answers}", "--out", str(here / "site")]
            yield _row(f"overview, runs of {DOCUMENTS} letters", number, watched(words))
    for letters in (100, 1000, 10_000):
        if letters <= most:
            here = place / f"overview_letters_{letters}"
            here.mkdir()
            dataset, answers = generated(here, letters, 10)
            words = ["overview", f"{dataset}={answers}", "--out", str(here / "site")]
            yield _row("overview, letters of 10 runs", letters, watched(words))


def generated(place: Path, letters: int, number: int) -> tuple[Path, Path]:
    """A dataset of letters and a file of so many runs over it, each with more mistakes than the one before."""
    chance = random.Random(letters)
    truth = place / "letters" / "ground_truths"
    truth.mkdir(parents=True)
    records = {}
    for one in range(letters):
        sender, receiver = chance.sample(PEOPLE, 2)
        date = f"19{chance.randrange(20, 40)}-{chance.randrange(1, 13):02d}-{chance.randrange(1, 29):02d}"
        record = {"send_date": [date], "sender_persons": [sender], "receiver_persons": [receiver]}
        records[f"letter{one + 1:05d}"] = record
        (truth / f"letter{one + 1:05d}.json").write_text(json.dumps({**record, "has_signatures": "TRUE"}))
    (truth / "persons.json").write_text(json.dumps([{"name": name, "alternateName": []} for name in PEOPLE]))
    with (place / "runs.jsonl").open("w", encoding="utf-8") as stream:
        for run in range(number):
            answers = {
                name: {"json": {k: v if chance.random() > run / number else ["x"] for k, v in record.items()}}
                for name, record in records.items()
            }
            facts = {"provider": "p", "model": f"model-{run}", "date": "2026-01-01", "answers": answers}
            stream.write(json.dumps({"run_id": f"R{run + 1:04d}", **facts}) + "\n")
    return place / "letters", place / "runs.jsonl"


TABLES: dict[str, Callable[[Path, int], Iterator[Row]]] = {
    "documents": documents,
    "length": length,
    "folder": folder,
    "runs": runs,
    "overview": overview,
}


def main() -> None:
    """Print the tables asked for, or all."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.growth", description=__doc__)
    parser.add_argument("names", nargs="*", choices=[*TABLES, []])
    parser.add_argument("--most", type=int, default=10**9)
    asked = parser.parse_args()
    print("| what | units | processor, s | ms a further unit | memory, MB |\n| --- | ---: | ---: | ---: | ---: |")
    for name in asked.names or TABLES:
        before: Row | None = None
        with tempfile.TemporaryDirectory() as place:
            for row in TABLES[name](Path(place), asked.most):
                further = "-"
                if before is not None and before.what == row.what:
                    further = f"{1000 * (row.processor - before.processor) / (row.units - before.units):.3g}"
                units = f"{row.units:,}".replace(",", " ")
                print(f"| {row.what} | {units} | {row.processor:.2f} | {further} | {row.peak_mb:.0f} |", flush=True)
                before = row


if __name__ == "__main__":
    main()
