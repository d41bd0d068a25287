"""Choosing a tagger on left-out books, without looking at a test entry.

    python benchmarks/directories_selection.py DATASET --cache DIR [--only NAME ...] [--score]

Five folds by book over the 6760 training and development rows: each book is tagged once by taggers that have never
seen it. Answers are kept in DIR, so that a stopped run goes on where it was; `--score` prints the table of what is
there (benchmarks/directories_selection.md holds it). The test books are not read.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

from histeval.datasets import Dataset, load_dataset
from histeval.runs.library import score
from histeval.systems.taggers.evaluate import (
    fold_groups,
    left_out_tagger,
    select_splits,
    tag_documents,
    write_answers,
)
from histeval.systems.taggers.examples import by_attribute

TEXTS = ("reference", "ocr")
FOLDS = 5
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    "joint IO": {"approach": "joint", "scheme": "IO"},
    "joint IO, plain tokens": {"approach": "joint", "scheme": "IO", "tokens": "plain"},
    "independent IO": {"approach": "independent", "scheme": "IO"},
    "joint IOB2": {"approach": "joint", "scheme": "IOB2"},
    "joint IOBES": {"approach": "joint", "scheme": "IOBES"},
    "joint IO, noise 1": {"approach": "joint", "scheme": "IO", "noise": 1.0},
    "joint IO, noise 2": {"approach": "joint", "scheme": "IO", "noise": 2.0},
    "joint IO, noise 1, one CRF": {"approach": "joint", "scheme": "IO", "noise": 1.0, "members": 1},
    "joint IO, seed 2": {"approach": "joint", "scheme": "IO", "seed": 2},
}
PARTS = ("crf", "bilstm", "crf+bilstm")


def predict(datasets: list[Dataset], cache: Path, only: list[str]) -> None:
    """Tag every left-out book under each configuration, unless its answers are there already."""
    parts = fold_groups(by_attribute(datasets[0], "book"), FOLDS)
    for name in only or CONFIGURATIONS:
        for number, (books, ids) in enumerate(parts):
            folder = cache / slug(name) / str(number)
            if (folder / "done.json").is_file():
                continue
            begin = time.monotonic()
            seconds: list[str] = []
            with left_out_tagger(
                datasets, ids, system="crf+bilstm", report=seconds.append, **({"noise": 0.0} | CONFIGURATIONS[name])
            ) as tagger:
                for part in PARTS:
                    used = tagger if part == "crf+bilstm" else tagger.only(part)
                    for text, dataset in zip(TEXTS, datasets, strict=True):
                        write_answers(folder / f"{part}-{text}.jsonl", tag_documents(used, dataset, ids))
            done = {"books": books, "seconds": round(time.monotonic() - begin, 1), "fits": seconds}
            (folder / "done.json").write_text(json.dumps(done), encoding="utf-8")
            print(name, number, done, flush=True)


def report(datasets: list[Dataset], cache: Path) -> str:
    """The table of what is there: F1 (published protocol) pooled over the left-out books, and the weakest book."""
    lines = [
        "| configuration | system | text | All | L1 | L2 | L1+L2 | Flat | weakest book | books |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for name in CONFIGURATIONS:
        folders = sorted((cache / slug(name)).glob("*/done.json"))
        for part in PARTS if folders else ():
            for text, dataset in zip(TEXTS, datasets, strict=True):
                records: dict[str, Any] = {}
                for done in folders:
                    for line in (done.parent / f"{part}-{text}.jsonl").read_text(encoding="utf-8").splitlines():
                        answer = json.loads(line)
                        records[answer["document"]] = answer["record"]
                kept = {key: dataset.documents[key] for key in records}
                whole = replace(dataset, documents=kept)
                rules = {"scheme": CONFIGURATIONS[name]["scheme"]}
                values = score("directories", whole, records, protocol="published", rules=rules).values
                books = {}
                for book, ids in by_attribute(whole, "book").items():
                    part_of = replace(dataset, documents={key: kept[key] for key in ids})
                    found = score(
                        "directories", part_of, {key: records[key] for key in ids}, protocol="published", rules=rules
                    )
                    books[book] = 100 * (found.values["f1[All]"] or 0.0)
                worst = min(books, key=lambda book: books[book])
                cells = [
                    f"{100 * (values[f'f1[{level}]'] or 0.0):.2f}" for level in ("All", "L1", "L2", "L1+L2", "Flat")
                ]
                lines.append(
                    f"| {name} | {part} | {text} | {' | '.join(cells)} | {worst} {books[worst]:.1f} | {len(books)} |"
                )
    return "\n".join(lines) + "\n"


def slug(name: str) -> str:
    """The folder of a configuration."""
    return name.replace(" ", "_").replace(",", "")


def main() -> None:
    """Read the command line and do what it says."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("dataset", type=Path)
    words.add_argument("--cache", type=Path, required=True)
    words.add_argument("--only", nargs="*", default=[])
    words.add_argument("--score", action="store_true")
    options = words.parse_args()
    datasets = [
        select_splits(load_dataset("directories", options.dataset, text=text, split="all"), ("train", "dev"))
        for text in TEXTS
    ]
    if options.score:
        print(report(datasets, options.cache))
    else:
        predict(datasets, options.cache, options.only)


if __name__ == "__main__":
    main()
