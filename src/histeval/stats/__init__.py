"""Statistics on summed counts: tables of counts, metrics, intervals, tests."""

from histeval.stats.counts import FRACTION, CountTable
from histeval.stats.intervals import RESAMPLES, SEED, Interval, intervals, intervals_of_systems
from histeval.stats.metrics import Metric, divide, f_score, mean_of

__all__ = [
    "FRACTION",
    "RESAMPLES",
    "SEED",
    "CountTable",
    "Interval",
    "Metric",
    "divide",
    "f_score",
    "intervals",
    "intervals_of_systems",
    "mean_of",
]
