"""How often do the intervals hold the true value? A simulation, printed and written into docs/statistics.md.

    python benchmarks/coverage.py [--datasets 4000] [--write]

Archives are invented whose true value is known. From each, thousands of datasets of 12 to 200 sampling units are
drawn, each gets its interval just as `histeval score` makes it (10 000 resamples, seed 1), and we count how many
intervals hold the true value. A 95 % interval should do so for 95 of 100 datasets.
"""

from __future__ import annotations

import argparse
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from histeval.stats import FRACTION, RESAMPLES, SEED, Metric, divide, f_score
from histeval.stats.draws import Draws
from histeval.stats.intervals import quantile_intervals, replicates_of_systems, tail_probability

SIZES = (12, 25, 57, 200)
BEGIN, END = "<!-- coverage: written by benchmarks/coverage.py -->", "<!-- end of coverage -->"


@dataclass(frozen=True)
class Archive:
    """An invented archive: how a unit's counts are drawn, shape (datasets, units, columns), the metric, its truth."""

    title: str
    draw: Callable[[np.random.Generator, int, int], NDArray[np.int64]]
    metric: Metric
    truth: float


@dataclass(frozen=True)
class Coverage:
    """Shares of intervals that hold the true value, that lie wholly above it and below it, and their mean width."""

    holds: float
    above: float
    below: float
    width: float


def letters(rng: np.random.Generator, datasets: int, units: int) -> NDArray[np.int64]:
    """Letters with 1 + Poisson(2) names, found with a chance that differs from letter to letter; Poisson(0.6) wrong."""
    names = 1 + rng.poisson(2.0, (datasets, units))
    hits = rng.binomial(names, rng.beta(4.0, 2.0, (datasets, units)))
    return np.stack([hits, rng.poisson(0.6, (datasets, units)), names - hits], axis=-1).astype(np.int64)


def fuzzy(rng: np.random.Generator, datasets: int, units: int) -> NDArray[np.int64]:
    """Pages with a fuzzy score from Beta(8, 2): mean 0.8, skewness -0.8."""
    scores = rng.beta(8.0, 2.0, (datasets, units))
    return np.stack([np.rint(scores * FRACTION), np.ones_like(scores)], axis=-1).astype(np.int64)


def pages(rng: np.random.Generator, datasets: int, units: int) -> NDArray[np.int64]:
    """Pages with a character error rate from Beta(1, 9), most small and some large: mean 0.1, skewness 1.4."""
    rates = rng.beta(1.0, 9.0, (datasets, units))
    return np.stack([np.rint(rates * FRACTION), np.ones_like(rates)], axis=-1).astype(np.int64)


def texts(rng: np.random.Generator, datasets: int, units: int) -> NDArray[np.int64]:
    """Pages of very different length, the long ones read better: edits and characters."""
    lengths = np.rint(np.exp(rng.normal(7.0, 0.6, (datasets, units)))).astype(np.int64) + 1
    rates = rng.beta(1.0, 9.0, (datasets, units)) * np.minimum(1.5, 1100 / lengths)
    return np.stack([rng.binomial(lengths, np.minimum(rates, 1.0)), lengths], axis=-1).astype(np.int64)


def _ratio_truth(draw: Callable[[np.random.Generator, int, int], NDArray[np.int64]]) -> float:
    """The true ratio, from two million pages."""
    edits, characters = draw(np.random.default_rng(20), 1, 2_000_000)[0].sum(axis=0).tolist()
    return float(edits / characters)


def archives() -> list[Archive]:
    """The invented archives of the table."""
    f1 = Metric("f1", lambda sums: f_score(sums[..., 0], sums[..., 1], sums[..., 2]))
    mean = Metric("cer", lambda sums: divide(sums[..., 0], sums[..., 1] * FRACTION))
    ratio = Metric("cer_corpus", lambda sums: divide(sums[..., 0], sums[..., 1]))
    return [
        Archive("micro F1 of letters", letters, f1, 2 * 2.0 / (2 * 2.0 + 0.6 + 1.0)),  # expected tp 2, fp 0.6, fn 1
        Archive("mean fuzzy score of pages", fuzzy, mean, 0.8),
        Archive("mean CER of pages, very skewed", pages, mean, 0.1),
        Archive("CER of the corpus, edits / characters", texts, ratio, _ratio_truth(texts)),
    ]


def cover(
    counts: Sequence[NDArray[np.int64]], metric: Metric, truth: float, draws: Draws, methods: Sequence[str]
) -> dict[str, Coverage]:
    """The coverage over many datasets, each with counts of shape (units, columns), by method."""
    tails = {method: tail_probability(draws.units, method=method) for method in methods}  # type: ignore[arg-type]
    seen: dict[str, list[tuple[float, float]]] = {method: [] for method in methods}
    for values in replicates_of_systems(counts, [metric], draws):
        for method, tail in tails.items():
            interval = quantile_intervals(values, tail)[0]
            if interval.low is not None and interval.high is not None:
                seen[method].append((interval.low, interval.high))
    found = {}
    for method, pairs in seen.items():
        low, high = np.array(pairs).T
        above, below = float(np.mean(low > truth)), float(np.mean(high < truth))
        # an interval that is missing holds nothing
        found[method] = Coverage(len(pairs) / len(counts) - above - below, above, below, float(np.mean(high - low)))
    return found


def table(
    datasets: int = 4_000,
    sizes: Sequence[int] = SIZES,
    resamples: int = RESAMPLES,
    methods: Sequence[str] = ("expanded", "percentile"),
) -> list[tuple[str, int, dict[str, Coverage]]]:
    """Rows (archive, units, coverage by method)."""
    rows = []
    for number, archive in enumerate(archives()):
        for units in sizes:
            rng = np.random.default_rng([2026, number, units])
            counts = list(archive.draw(rng, datasets, units))
            draws = Draws(units, resamples, SEED)
            rows.append((archive.title, units, cover(counts, archive.metric, archive.truth, draws, methods)))
    return rows


def directory(
    rng: np.random.Generator, datasets: int, units: int = 13, entries: int = 130
) -> tuple[NDArray[np.int64], float]:
    """Directory pages of 130 entries of five entities; print and paper make whole pages easy or hard. And the truth."""
    chance = rng.beta(90.0, 10.0, (datasets, units, 1))
    hits = rng.binomial(5, np.broadcast_to(chance, (datasets, units, entries)))
    return np.stack([hits, 5 - hits, 5 - hits], axis=-1).astype(np.int64), 0.9


def unit_table(datasets: int = 400, resamples: int = RESAMPLES) -> dict[str, Coverage]:
    """The same directories with pages and, wrongly, with single entries as sampling units."""
    f1 = archives()[0].metric
    counts, truth = directory(np.random.default_rng([2026, 13]), datasets)
    by_page = list(counts.sum(axis=2))
    by_entry = list(counts.reshape(datasets, -1, 3))
    return {
        "page": cover(by_page, f1, truth, Draws(len(by_page[0]), resamples, SEED), ["expanded"])["expanded"],
        "entry": cover(by_entry, f1, truth, Draws(len(by_entry[0]), resamples, SEED), ["expanded"])["expanded"],
    }


def markdown(datasets: int) -> str:
    """Both tables as Markdown."""
    lines = [
        f"{datasets} datasets a row, {RESAMPLES} resamples; the standard error of a share is at most "
        f"{100 * (0.05 * 0.95 / datasets) ** 0.5:.1f} points (at 95 %). In brackets: missed on the low side (the whole "
        "interval lies below the true value) and on the high side.",
        "",
        "| what | units | expanded percentile | plain percentile |",
        "| --- | ---: | ---: | ---: |",
    ]
    for title, units, found in table(datasets):
        cells = " | ".join(
            f"{100 * one.holds:.1f} % ({100 * one.below:.1f}, {100 * one.above:.1f})"
            for one in (found["expanded"], found["percentile"])
        )
        lines.append(f"| {title} | {units} | {cells} |")
    few = max(100, datasets // 10)
    lines += [
        "",
        f"Thirteen directory pages of 130 entries, {few} datasets, what is resampled:",
        "",
        "| sampling unit | holds the true value | mean width |",
        "| --- | ---: | ---: |",
    ]
    for unit, one in unit_table(few).items():
        lines.append(f"| {unit} | {100 * one.holds:.1f} % | {one.width:.3f} |")
    return "\n".join(lines)


def main() -> None:
    """Print the tables and, with --write, put them into docs/statistics.md."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--datasets", type=int, default=4_000)
    parser.add_argument("--write", action="store_true", help="write the tables into docs/statistics.md")
    chosen = parser.parse_args()
    if hasattr(os, "nice"):
        os.nice(10)
    text = markdown(chosen.datasets)
    print(text)
    if chosen.write:
        page = Path(__file__).resolve().parents[1] / "docs" / "statistics.md"
        before, _, rest = page.read_text(encoding="utf-8").partition(BEGIN)
        _, _, after = rest.partition(END)
        page.write_text(f"{before}{BEGIN}\n{text}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
