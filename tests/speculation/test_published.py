"""The published case of a generic and a tuned drafter, by hand."""

from __future__ import annotations

import pytest

from tests.speculation.published import PUBLISHED, Case, fit, limit, nearest


def test_no_constant_acceptance_gives_a_factor_of_three() -> None:
    assert PUBLISHED.ratio == pytest.approx(3.0)
    # (1 - 0.29) / (1 - 0.76) = 0.71 / 0.24
    assert limit(PUBLISHED) == pytest.approx(2.9583, abs=1e-4)


@pytest.mark.parametrize(
    ("count", "by_hand"),
    [
        # (1 - 0.76^5) / (1 - 0.29^5) * 2.9583 = 0.746447 / 0.997949 * 2.9583
        (4, 2.2128),
        # (1 - 0.76^9) / (1 - 0.29^9) * 2.9583 = 0.915408 / 0.999985 * 2.9583
        (8, 2.7081),
    ],
)
def test_the_factor_at_a_number_of_draft_tokens(count: int, by_hand: float) -> None:
    assert fit(PUBLISHED, count).ratio == pytest.approx(by_hand, abs=2e-4)


def test_the_residual_is_shared_by_both_speed_ups() -> None:
    found = fit(PUBLISHED, 4)
    # sqrt(3 / 2.2128) = 1.1644: each speed-up is missed by 16.4 %, in opposite directions.
    assert found.residual == pytest.approx(0.1644, abs=2e-4)
    assert PUBLISHED.tuned_speedup / found.tuned_speedup == pytest.approx(1.1644, abs=2e-4)
    assert found.generic_speedup / PUBLISHED.generic_speedup == pytest.approx(1.1644, abs=2e-4)


def test_the_nearest_fit_leaves_less_than_a_percent() -> None:
    found = nearest(PUBLISHED)
    # sqrt(3 / 2.9583) - 1 = 0.70 %, the least that any number of tokens leaves.
    assert found.residual == pytest.approx(0.0070, abs=1e-4)
    assert 20 < found.draft_tokens <= 64


def test_a_case_that_fits_has_no_residual() -> None:
    # k = 1, c = 0.5: 1.2 / 1.5 = 0.8 and 1.8 / 1.5 = 1.2.
    found = nearest(Case(0.2, 0.8, 0.8, 1.2), most=3)
    assert (found.draft_tokens, found.cost) == (1, pytest.approx(0.5))
    assert found.residual == pytest.approx(0.0, abs=1e-12)
