"""Quantiles of Student's t and tails of the normal distribution, from the standard library and numpy alone."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from histeval.errors import UsageError


def normal_tail(z: float) -> float:
    """The probability that a standard normal number exceeds `z`; accurate far into the tail.

    >>> round(normal_tail(1.959963984540054), 12)
    0.025
    """
    return math.erfc(z / math.sqrt(2)) / 2


def student_central(t: float, degrees: int) -> float:
    """The probability that |T| < t for Student's T with a whole number of `degrees` of freedom.

    Finite sums of Abramowitz and Stegun (1964), 26.7.3 and 26.7.4. Every term is positive, so nothing cancels.

    >>> round(student_central(1.0, 1), 12)  # two thirds of the angle: the Cauchy distribution
    0.5
    """
    angle = math.atan2(t, math.sqrt(degrees))
    sine, cosine_squared = math.sin(angle), math.cos(angle) ** 2
    if degrees % 2:
        steps = np.arange(1, (degrees - 1) // 2)
        ratios = cosine_squared * (2 * steps) / (2 * steps + 1)
        terms = np.concatenate([[1.0], np.cumprod(ratios)]) if degrees > 1 else np.zeros(1)
        return 2 / math.pi * (angle + sine * math.cos(angle) * math.fsum(terms))
    steps = np.arange(1, degrees // 2)
    return sine * math.fsum(np.concatenate([[1.0], np.cumprod(cosine_squared * (2 * steps - 1) / (2 * steps))]))


@lru_cache(maxsize=256)
def student_quantile(confidence: float, degrees: int) -> float:
    """The t with P(|T| < t) = `confidence`, for a whole number of `degrees` of freedom from 1.

    Bisection on the angle atan(t / sqrt(degrees)), which stays finite and well-conditioned, also for one degree.
    Raises UsageError where `confidence` is not between 0 and 1 or `degrees` is below 1.

    >>> round(student_quantile(0.95, 11), 6)
    2.200985
    """
    if not 0 < confidence < 1:
        raise UsageError(f"a confidence lies between 0 and 1, not at {confidence}")
    if degrees < 1:
        raise UsageError(f"Student's t needs at least one degree of freedom, not {degrees}")
    root, low, high = math.sqrt(degrees), 0.0, math.pi / 2
    while True:
        middle = (low + high) / 2
        if not low < middle < high:
            return root * math.tan(middle)
        if student_central(root * math.tan(middle), degrees) < confidence:
            low = middle
        else:
            high = middle


def expanded_tail(units: int, confidence: float = 0.95) -> float:
    """The tail probability of the expanded percentile interval: Phi(-sqrt(n / (n - 1)) t), t of n - 1 degrees.

    A bootstrap distribution of few units is too narrow twice: its variance lacks the factor n / (n - 1), and its
    quantiles are those of a normal where a t would be right. Reading it further out mends both.
    Source: T. C. Hesterberg, "What Teachers Should Know About the Bootstrap", The American Statistician 69 (2015).

    >>> round(expanded_tail(12), 5), round(expanded_tail(1_000_000), 5)
    (0.01076, 0.025)
    """
    if units < 2:
        raise UsageError("an interval needs at least two sampling units")
    return normal_tail(math.sqrt(units / (units - 1)) * student_quantile(confidence, units - 1))
