"""Non-inferiority against published sizes and hand arithmetic."""

from __future__ import annotations

import pytest

from fwctl.stats.noninferiority import assess, pairs_needed, smallest_margin


# (1.6449 + 0.8416)^2 = 6.1826: * 0.06 / 0.0004 = 927.4 and * 0.10 / 0.0009 = 686.9.
@pytest.mark.parametrize(("margin", "discordance", "n"), [(0.02, 0.06, 928), (0.03, 0.10, 687)])
def test_pairs_needed(margin: float, discordance: float, n: int) -> None:
    assert pairs_needed(margin, discordance) == n


def test_500_prompts_at_6_percent_rule_out_2_7_points() -> None:
    assert smallest_margin(500, 0.06) == pytest.approx(0.0272, abs=1e-4)
    assert smallest_margin(0, 0.06) == 1


@pytest.mark.parametrize(("margin", "discordance"), [(0, 0.1), (0.1, 0), (1.5, 0.1)])
def test_shares_outside_their_range_are_refused(margin: float, discordance: float) -> None:
    with pytest.raises(ValueError, match="shares between 0 and 1"):
        pairs_needed(margin, discordance)


def test_without_discordant_pairs_the_bound_is_not_zero() -> None:
    # b = c = 0: n * d / (1 - d) = z^2, so d = 2.7055 / (100 + 2.7055) = 0.02634.
    found = assess(100, 0, 0, margin=0.02)
    assert found.upper == pytest.approx(0.02634, abs=1e-5)
    assert not found.passed
    assert assess(200, 0, 0, margin=0.02).passed


def test_a_loss_above_the_margin_fails() -> None:
    found = assess(500, 30, 5, margin=0.02)
    assert found.loss == pytest.approx(0.05)
    assert found.upper > 0.05
    assert not found.passed


def test_many_balanced_pairs_pass() -> None:
    # Wald: 1.645 * sqrt(60) / 1000 = 0.0127; the score bound lies close to it.
    found = assess(1000, 30, 30, margin=0.02)
    assert found.upper == pytest.approx(0.0127, abs=5e-4)
    assert found.passed


def test_everything_lost_is_a_full_loss() -> None:
    assert assess(10, 10, 0, margin=0.02).upper == pytest.approx(1.0)


def test_no_pairs_never_pass() -> None:
    assert not assess(0, 0, 0, margin=0.5).passed
