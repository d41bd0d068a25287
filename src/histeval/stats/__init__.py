"""Statistics on summed counts: tables of counts, metrics, intervals, tests."""

from histeval.stats.counts import FRACTION, CountTable
from histeval.stats.intervals import RESAMPLES, SEED, Interval, intervals, intervals_of_systems
from histeval.stats.metrics import Metric, divide, f_score, mean_of
from histeval.stats.significance import Comparison, compare_all_pairs, compare_with_baseline, holm, rank_intervals

__all__ = [
    "FRACTION",
    "RESAMPLES",
    "SEED",
    "Comparison",
    "CountTable",
    "Interval",
    "Metric",
    "compare_all_pairs",
    "compare_with_baseline",
    "divide",
    "f_score",
    "holm",
    "intervals",
    "intervals_of_systems",
    "mean_of",
    "rank_intervals",
]
