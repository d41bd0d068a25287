"""How taggers learn and how they bear noise: learning curve, noise curve and cost, `benchmarks/directories_curves.md`.

    python benchmarks/directories_curves.py DATASET --cache DIR [--rows 47 95 ...] [--strengths 0 0.5 1 2 4]

Learning curve: samples of the training rows in the published sizes (ours are in proportion to books and nested; the
published ones were drawn otherwise), both texts. Noise curve: the reference text of the test rows with OCR noise learnt
from the training rows, annotations kept. Answers of each point are kept in DIR.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from histeval.datasets import Dataset, load_dataset
from histeval.systems.taggers.evaluate import tag_documents
from histeval.systems.taggers.examples import noise_model
from histeval.systems.taggers.tagger import Tagger, load_tagger
from histeval.systems.taggers.train import load_training, train
from histeval.tasks import get_task
from histeval.tasks.base import Answer

TEXTS = ("reference", "ocr")
PARTS = ("crf", "bilstm", "crf+bilstm")
ROWS = (47, 95, 190, 380, 760, 1521, 3042, 6084)
TOKENS = "plain"
OUT = Path(__file__).with_suffix(".md")


def f1(tagger: Tagger, dataset: Dataset) -> float:
    """F1 All of a tagger on a dataset, in percent; from summed counts, without an interval."""
    task = get_task("directories")
    scorer = task.scorer(dataset.context, task.protocol("published"))
    total = np.zeros(len(scorer.columns), dtype=np.int64)
    for key, record in tag_documents(tagger, dataset, list(dataset.documents)).items():
        row = scorer.score(dataset.documents[key].truth, scorer.read(Answer(key, record=record)))
        total += row.counts if row is not None else 0
    metric = next(metric for metric in scorer.metrics if metric.name == "f1[All]")
    return 100 * (metric.value(total) or 0.0)


def noisy(dataset: Dataset, model: Any, strength: float) -> Dataset:
    """The dataset with noise on every text, annotations kept."""
    documents = {}
    for key, document in dataset.documents.items():
        entry = model.apply(document.truth, 1, strength)
        documents[key] = replace(document, truth=entry, text=entry.text)
    return replace(dataset, documents=documents)


def point(path: Path, cache: Path, rows: int, strengths: Sequence[float]) -> dict[str, Any]:
    """Train on `rows` rows and score the three systems, on both texts or on noisy copies of the first."""
    kept = cache / f"{rows}-{'-'.join(map(str, strengths))}.json"
    if kept.is_file():
        found: dict[str, Any] = json.loads(kept.read_text(encoding="utf-8"))
        return found
    training = [load_training(path, text, "train") for text in TEXTS]
    tests = [load_dataset("directories", path, text=text) for text in TEXTS]
    folder = cache / f"model-{rows}"
    if not (folder / "settings.json").is_file():
        train(training, folder, system="crf+bilstm", tokens=TOKENS, texts=TEXTS, rows=rows, noise=0.0)
    tagger = load_tagger(folder)
    if strengths:
        noise = noise_model(training, list(training[0].documents))
        tests = [noisy(tests[0], noise, strength) for strength in strengths]
    names = [str(strength) for strength in strengths] or list(TEXTS)
    result: dict[str, Any] = {"seconds": tagger.settings["seconds"], "f1": {}, "tagging": {}}
    for part in PARTS:
        used = tagger if part == "crf+bilstm" else tagger.only(part)
        begin = time.perf_counter()
        result["f1"][part] = {name: f1(used, test) for name, test in zip(names, tests, strict=True)}
        result["tagging"][part] = round((time.perf_counter() - begin) / len(tests), 2)
    kept.parent.mkdir(parents=True, exist_ok=True)
    kept.write_text(json.dumps(result), encoding="utf-8")
    print(rows, strengths, result, flush=True)
    return result


def main() -> None:
    """Read the command line and do what it says."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("dataset", type=Path)
    words.add_argument("--cache", type=Path, required=True)
    words.add_argument("--rows", type=int, nargs="*", default=list(ROWS))
    words.add_argument("--strengths", type=float, nargs="*", default=[0, 0.5, 1, 2, 4, 8])
    options = words.parse_args()
    lines = [
        "# Learning curve, noise curve and cost",
        "",
        f"F1 All in percent on the 1685 test rows, joint IO, {TOKENS}",
    ]
    lines[-1] += " tokens, protocol published, seed 1, trained on both texts without noise copies."
    lines += [
        "",
        "## Learning curve",
        "",
        "| rows | text | crf | bilstm | crf+bilstm | training, s |",
        "|---|---|---|---|---|---|",
    ]
    for rows in options.rows:
        found = point(options.dataset, options.cache, rows, ())
        for text in TEXTS:
            cells = [f"{found['f1'][part][text]:.2f}" for part in PARTS]
            lines.append(f"| {rows} | {text} | {' | '.join(cells)} | {found['seconds']:.0f} |")
    if options.strengths:
        largest = max(options.rows)
        found = point(options.dataset, options.cache, largest, tuple(options.strengths))
        lines += ["", f"## Noise on the reference text (trained on {largest} rows)", ""]
        lines += ["1 is the noise learnt from the training rows' OCR.", ""]
        lines += ["| strength | crf | bilstm | crf+bilstm |", "|---|---|---|---|"]
        for strength in map(str, options.strengths):
            cells = [f"{found['f1'][part][strength]:.2f}" for part in PARTS]
            lines.append(f"| {strength} | {' | '.join(cells)} |")
    OUT.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
