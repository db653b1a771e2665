"""Quantiles and intervals against published tables."""

from __future__ import annotations

import pytest

from fwctl.stats.quantiles import estimate, interval_ranks, quantile, samples_needed


@pytest.mark.parametrize(
    ("values", "q", "expected"),
    [
        ([4, 1, 3, 2], 0.5, 2.5),  # numpy.percentile's own example of linear interpolation
        ([10, 7, 4, 3, 2, 1], 0.5, 3.5),  # numpy.percentile documentation
        ([1, 2, 3, 4, 5], 0.95, 4.8),  # place 3.8 counted from 0
        ([7.0], 0.99, 7.0),
        ([1, 2], 0.0, 1.0),
        ([1, 2], 1.0, 2.0),
    ],
)
def test_quantile_is_type_seven(values: list[float], q: float, expected: float) -> None:
    assert quantile(values, q) == pytest.approx(expected)


def test_quantile_of_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="at least one value"):
        quantile([], 0.5)


# Ranks of the 95 % interval of the median: Conover, Practical Nonparametric Statistics, sign test.
@pytest.mark.parametrize(("n", "ranks"), [(5, None), (6, (1, 6)), (10, (2, 9)), (20, (6, 15)), (25, (8, 18))])
def test_interval_of_the_median_matches_the_table(n: int, ranks: tuple[int, int] | None) -> None:
    assert interval_ranks(n, 0.5) == ranks


# 1 - q^n >= 0.975: 0.95^71 = 0.0262, 0.95^72 = 0.0249; 0.99^367 = 0.02501, 0.99^368 = 0.0248.
@pytest.mark.parametrize(("q", "n"), [(0.5, 6), (0.95, 72), (0.99, 368), (0.05, 72)])
def test_samples_needed_is_where_the_interval_becomes_finite(q: float, n: int) -> None:
    assert samples_needed(q) == n
    assert interval_ranks(n, q) is not None
    assert interval_ranks(n - 1, q) is None


def test_one_sided_need_of_the_ninety_fifth_is_59() -> None:
    # The classic 95/95 number: one-sided 95 % is two-sided 90 %. Source: Wilks 1941.
    assert samples_needed(0.95, 0.90) == 59
    assert samples_needed(0.99, 0.90) == 299


def test_too_few_samples_give_no_value_and_say_how_many_are_needed() -> None:
    found = estimate([1.0] * 40, 0.95)
    assert found.value is None
    assert str(found) == "n/a (n=40, needs 72)"
    assert found.to_json() == {"value": None, "low": None, "high": None, "n": 40, "n_needed": 72}


def test_estimate_takes_order_statistics_as_bounds() -> None:
    found = estimate([float(i) for i in range(20, 0, -1)], 0.5)
    assert (found.value, found.low, found.high) == (10.5, 6.0, 15.0)
    assert str(found) == "10.500 [6.000, 15.000]"


def test_a_million_samples_take_no_sum_over_all_of_them() -> None:
    ranks = interval_ranks(1_000_000, 0.95)
    assert ranks is not None
    # 950,000 -/+ 1.96 * sqrt(1,000,000 * 0.95 * 0.05) = 427.
    assert ranks == pytest.approx((949_573, 950_428), abs=2)
