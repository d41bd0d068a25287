"""The published table of nested entities beside our taggers: `benchmarks/directories_table.md`.

    python benchmarks/directories_table.py DATASET --cache DIR [--only NAME ...] [--score]

Trains on the 6084 published training rows, both texts together, and tags the 1685 test rows once. One `crf+bilstm` fit
gives three systems, since its two parts know nothing of each other. What stands beside the published means of five
runs is trained five times as well, with seeds 1 to 5, and scored as five repeats of one run. Answers are kept in DIR,
so that a stopped run goes on where it was; `--score` scores what is there and writes the table. Rows of the table
whose answers are not there stay as they stand, after the others.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path
from typing import Any

from histeval.datasets import Dataset, load_dataset
from histeval.runs.library import score
from histeval.systems.taggers.evaluate import tag_documents, write_answers
from histeval.systems.taggers.published import LEVELS, NOTE, TYPES, columns_of, metric_name, published_figures
from histeval.systems.taggers.tagger import load_tagger
from histeval.systems.taggers.train import load_training, train

TEXTS = ("reference", "ocr")
PARTS = ("crf", "bilstm", "crf+bilstm")
CONFIGURATIONS: dict[str, dict[str, Any]] = {
    f"{tokens} {approach} {scheme}": {"tokens": tokens, "approach": approach, "scheme": scheme}
    for tokens in ("published", "plain")
    for approach, scheme in (
        ("joint", "IO"),
        ("independent", "IO"),
        ("joint", "IOB2"),
        ("independent", "IOB2"),
        ("flat", "IO"),
    )
} | {
    f"{tokens} joint IO without noise": {"tokens": tokens, "approach": "joint", "scheme": "IO", "noise": 0.0}
    for tokens in ("published", "plain")
}
SEEDS = dict.fromkeys(CONFIGURATIONS, (1,)) | {"published joint IO": (1, 2, 3, 4, 5)}
TABLE = Path(__file__).with_suffix(".md")


def folder_of(cache: Path, name: str, seed: int) -> Path:
    """Where the model and the answers of a configuration and seed are kept."""
    return cache / (name.replace(" ", "_") + (f"_seed_{seed}" if seed > 1 else ""))


def predict(path: Path, cache: Path, only: list[str]) -> None:
    """Train and tag each configuration that is not there yet."""
    training = [load_training(path, text, "train") for text in TEXTS]
    tests = [load_dataset("directories", path, text=text) for text in TEXTS]
    wanted = [(name, seed) for name in only or CONFIGURATIONS for seed in SEEDS[name]]
    for name, seed in wanted:
        folder = folder_of(cache, name, seed)
        if (folder / "done.json").is_file():
            continue
        lines: list[str] = []
        if not (folder / "model" / "settings.json").is_file():
            train(
                training,
                folder / "model",
                system="crf+bilstm",
                texts=TEXTS,
                seed=seed,
                report=lines.append,
                **CONFIGURATIONS[name],
            )
        tagger = load_tagger(folder / "model")
        seconds = {}
        for part in PARTS:
            used = tagger if part == "crf+bilstm" else tagger.only(part)
            begin = time.perf_counter()
            for text, dataset in zip(TEXTS, tests, strict=True):
                write_answers(folder / f"{part}-{text}.jsonl", tag_documents(used, dataset, list(dataset.documents)))
            seconds[part] = round((time.perf_counter() - begin) / 2, 2)
        done = {"training": lines, "seconds": tagger.settings["seconds"], "tagging": seconds}
        (folder / "done.json").write_text(json.dumps(done), encoding="utf-8")
        print(name, seed, done, flush=True)


def repeats(cache: Path, name: str, file: str) -> tuple[Path, int]:
    """The answers of all seeds that are there as repeats of one run, in one file; and how many there are."""
    folders = [folder_of(cache, name, seed) for seed in SEEDS[name]]
    there = [folder for folder in folders if (folder / "done.json").is_file()]
    joined = folder_of(cache, name, 1) / f"repeats-{file}"
    with joined.open("w", encoding="utf-8") as out:
        for number, folder in enumerate(there):
            for line in (folder / file).read_text(encoding="utf-8").splitlines():
                out.write(json.dumps({**json.loads(line), "repeat": number}, ensure_ascii=False) + "\n")
    return joined, len(there)


def scored(path: Path, cache: Path) -> list[dict[str, Any]]:
    """The scores of what is there, one object a row of the table."""
    tests: dict[str, Dataset] = {text: load_dataset("directories", path, text=text) for text in TEXTS}
    rows = []
    for name, options in CONFIGURATIONS.items():
        if not (folder_of(cache, name, 1) / "done.json").is_file():
            continue
        for part in PARTS:
            for text in TEXTS:
                rules = {"scheme": options["scheme"]}
                answers, seeds = repeats(cache, name, f"{part}-{text}.jsonl")
                found = score("directories", tests[text], answers, protocol="published", rules=rules)
                cells = {}
                for column in columns_of(options["approach"]):
                    metric = metric_name(column, options["approach"])
                    interval = found.intervals[metric]
                    spread = found.spread.get(metric)
                    cells[column] = (found.values[metric], interval.low, interval.high, spread)
                shown = {key: options[key] for key in ("tokens", "scheme")}
                shown["approach"] = options["approach"] + ("" if options.get("noise") is None else ", no noise copy")
                shown |= {"seeds": seeds, "signature": str(found.signature)}
                rows.append({"text": text, "system": part, **shown, "cells": cells})
    return rows


KEYS = ("system", "approach", "scheme", "tokens", "seeds")


def standing(text: str) -> tuple[dict[str, dict[tuple[str, ...], str]], set[str]]:
    """Our rows of a table as it stands, by its parts and by what names a row; and its signatures."""
    parts: dict[str, dict[tuple[str, ...], str]] = {}
    signatures = set()
    part = ""
    for line in text.splitlines():
        cells = tuple(cell.strip() for cell in line.strip("|").split("|"))
        if line.startswith("## "):
            part = line.removeprefix("## ")
        elif line.startswith("- `"):
            signatures.add(line[3:-1])
        elif cells[: len(KEYS)] == KEYS:
            parts[part] = {}
        elif part in parts and line.startswith("| ") and not line.startswith("| *"):
            parts[part][cells[: len(KEYS)]] = line
    return parts, signatures


def table(rows: list[dict[str, Any]], former: str = "") -> str:
    """The table as Markdown, with the rows of the `former` table that are not made anew."""
    kept, signatures = standing(former)
    lines = [
        "# Nested entities in trade directories: our taggers beside the published systems",
        "",
        "F1 in percent with 95 % intervals over pages (1685 entries, 13 pages of 3 books), protocol published.",
        "Our taggers were trained on the 6084 training rows, reference and OCR text together, on a CPU; nothing was",
        "chosen on the test rows (see directories_selection.md). Published: means of five runs. Where ours are five",
        "(seeds 1 to 5), mean and, after a sign of plus or minus, standard deviation between them are shown; elsewhere",
        "the one of seed 1.",
        "The joint IO rows with published tokens and five seeds are of the last evaluation (two feature CRFs, trained",
        "with dropped features). *former CRF* are those of the evaluation before it, with one CRF that saw every",
        "feature; so is what crf and crf+bilstm show in every other row.",
        NOTE,
        "A flat tagger has the column Flat alone. *published tokens* end at the tags of the truth, as in the published",
        "benchmark; *plain tokens* see the text alone, and are read at the first characters of the published ones.",
    ]
    for text in TEXTS:
        for title, columns in (("levels", LEVELS), ("types", TYPES)):
            there = kept.get(f"{text}, {title}", {})
            flat = any("TITRE" in row["cells"] for row in rows) or any(key[1] == "flat" for key in there)
            shown = [c for c in columns if c != "TITRE" or flat]
            lines += [
                "",
                f"## {text}, {title}",
                "",
                f"| system | approach | scheme | tokens | seeds | {' | '.join(shown)} |",
            ]
            lines.append("|---" * (5 + len(shown)) + "|")
            ours = {}
            for row in rows:
                if row["text"] == text:
                    cells = [_cell(row["cells"].get(column)) for column in shown]
                    key = tuple(str(row[name]) for name in KEYS)
                    ours[key] = f"| {' | '.join([*key, *cells])} |"
            lines += (ours | {key: line for key, line in there.items() if key not in ours}).values()
            for (name, approach, backbone, scheme), figures in published_figures().items():
                if name == text:
                    cells = [f"{figures[c]:.2f}" if c in figures else "" for c in shown]
                    lines.append(f"| *{backbone}* | {approach} | {scheme} | published | 5 | {' | '.join(cells)} |")
    signatures |= {row["signature"] for row in rows}
    lines += ["", "Signatures:", ""] + [f"- `{signature}`" for signature in sorted(signatures)]
    return "\n".join(lines) + "\n"


def _cell(value: tuple[float | None, float | None, float | None, float | None] | None) -> str:
    if value is None or value[0] is None:
        return ""
    point = f"{100 * value[0]:.2f}" + ("" if value[3] is None else f" ± {100 * value[3]:.2f}")
    return point if value[1] is None or value[2] is None else f"{point} [{100 * value[1]:.1f}, {100 * value[2]:.1f}]"


def main() -> None:
    """Read the command line and do what it says."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("dataset", type=Path)
    words.add_argument("--cache", type=Path, required=True)
    words.add_argument("--only", nargs="*", default=[])
    words.add_argument("--score", action="store_true")
    options = words.parse_args()
    if options.score:
        former = TABLE.read_text(encoding="utf-8") if TABLE.is_file() else ""
        TABLE.write_text(table(scored(options.dataset, options.cache), former), encoding="utf-8")
    else:
        predict(options.dataset, options.cache, options.only)


if __name__ == "__main__":
    main()
