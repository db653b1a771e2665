"""Exact tests against R's documentation and hand arithmetic."""

from __future__ import annotations

import pytest

from fwctl.stats.binomial import binomial_test, cdf, mcnemar, pmf, two_proportions, wilson, z_value


def test_pmf_of_a_fair_coin() -> None:
    assert pmf(2, 4, 0.5) == pytest.approx(6 / 16)
    assert pmf(5, 4, 0.5) == 0
    assert pmf(4, 4, 1.0) == 1
    assert pmf(0, 4, 0.0) == 1


def test_cdf_sums_up_to_one() -> None:
    assert cdf(1, 4, 0.5) == pytest.approx(5 / 16)
    assert cdf(9, 4, 0.3) == pytest.approx(1)


def test_binomial_test_matches_the_example_of_r() -> None:
    # R, ?binom.test: 682 of 925 dominant plants against 0.75 (Conover 1971), p-value = 0.3825.
    assert binomial_test(682, 925, 0.75) == pytest.approx(0.3825, abs=5e-5)


def test_no_trial_shows_nothing() -> None:
    assert binomial_test(0, 0) == 1
    assert mcnemar(0, 0) == 1


# 2 * (1 + 7) / 128; 2 * 1 / 64; symmetric counts cannot differ.
@pytest.mark.parametrize(("b", "c", "p"), [(6, 1, 0.125), (0, 6, 0.03125), (5, 5, 1.0)])
def test_mcnemar_is_the_sign_test_of_the_discordant_pairs(b: int, c: int, p: float) -> None:
    assert mcnemar(b, c) == pytest.approx(p)


def test_wilson_matches_newcombe() -> None:
    # Newcombe 1998, table I, method 3: 81/263, 15/148, 0/20, 1/29.
    assert wilson(81, 263) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert wilson(15, 148) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert wilson(0, 20) == pytest.approx((0.0, 0.1611), abs=5e-5)
    assert wilson(1, 29) == pytest.approx((0.0061, 0.1718), abs=5e-5)
    assert wilson(0, 0) == (0, 1)


def test_two_proportions_by_hand() -> None:
    # 60/100 against 45/100: pooled 0.525, z = 0.15 / sqrt(0.525 * 0.475 * 0.02) = 2.1240, p = 0.0337.
    assert two_proportions(60, 100, 45, 100) == pytest.approx(0.0337, abs=5e-5)
    assert two_proportions(0, 10, 0, 10) == 1
    assert two_proportions(1, 1, 0, 0) == 1


def test_z_value_of_the_usual_levels() -> None:
    assert z_value(0.975) == pytest.approx(1.959964, abs=1e-6)
