"""Student's t and the expanded tail against printed tables and, where it is installed, scipy."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from histeval.errors import UsageError
from histeval.stats.student import expanded_tail, normal_tail, student_central, student_quantile
from support import examples

# two-sided 95 % and 99 % points as every printed table gives them, to three digits
TABLE = {1: (12.706, 63.657), 2: (4.303, 9.925), 3: (3.182, 5.841), 5: (2.571, 4.032), 11: (2.201, 3.106)}
TABLE |= {24: (2.064, 2.797), 30: (2.042, 2.750), 120: (1.980, 2.617)}


@pytest.mark.parametrize("degrees", sorted(TABLE))
def test_quantiles_equal_the_printed_table(degrees: int) -> None:
    wanted = TABLE[degrees]
    assert (round(student_quantile(0.95, degrees), 3), round(student_quantile(0.99, degrees), 3)) == wanted


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 20_000), st.floats(0.01, 0.999))
def test_quantiles_equal_scipy(degrees: int, confidence: float) -> None:
    stats = pytest.importorskip("scipy.stats", reason="scipy is not installed: the comparison with it is left out")
    assert student_quantile(confidence, degrees) == pytest.approx(stats.t.ppf((1 + confidence) / 2, degrees), rel=1e-9)
    assert normal_tail(student_quantile(confidence, degrees)) == pytest.approx(
        stats.norm.sf(student_quantile(confidence, degrees)), rel=1e-12, abs=1e-300
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(1, 5_000), st.floats(0.01, 0.999))
def test_quantile_inverts_the_distribution(degrees: int, confidence: float) -> None:
    assert student_central(student_quantile(confidence, degrees), degrees) == pytest.approx(confidence, abs=1e-13)


def test_the_tail_approaches_that_of_the_normal_from_below() -> None:
    tails = [expanded_tail(units) for units in (2, 3, 5, 12, 13, 25, 57, 200, 1685, 20_000)]
    assert tails == sorted(tails)
    assert tails[0] < 1e-70  # with two units the whole range
    assert 0.02499 < tails[-1] < 0.025


@pytest.mark.parametrize(("confidence", "degrees"), [(0.0, 5), (1.0, 5), (1.5, 5), (0.95, 0)])
def test_impossible_questions_are_refused(confidence: float, degrees: int) -> None:
    with pytest.raises(UsageError):
        student_quantile(confidence, degrees)


def test_one_unit_has_no_tail() -> None:
    with pytest.raises(UsageError, match="two sampling units"):
        expanded_tail(1)
