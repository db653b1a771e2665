"""Values worked by hand, or taken from public tables that are named."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.speculation.arithmetic import (
    Costs,
    best_draft_tokens,
    break_even_acceptance,
    check_reached,
    constant_reach,
    expected_tokens,
    speedup,
    speedups,
)


@pytest.mark.parametrize(
    ("acceptance", "count", "by_hand"),
    [
        (0.8, 4, 3.3616),  # 1 + 0.8 + 0.64 + 0.512 + 0.4096
        (0.5, 4, 1.9375),  # 1 + 1/2 + 1/4 + 1/8 + 1/16
        (1.0, 4, 5.0),
        (0.0, 4, 1.0),
        (0.7, 0, 1.0),
    ],
)
def test_expected_tokens(acceptance: float, count: int, by_hand: float) -> None:
    assert expected_tokens(acceptance, count) == pytest.approx(by_hand, abs=1e-12)


@pytest.mark.parametrize(
    ("acceptance", "count", "by_hand"),
    [
        (0.8, 4, 2.40),  # 3.3616 / 1.4
        (0.6, 4, 1.65),  # 2.30560 / 1.4 = 1.6469
        (0.4, 4, 1.18),  # 1.64960 / 1.4 = 1.1783
        (0.4, 8, 0.93),  # 1.66623 / 1.8 = 0.9257: a loss
        (0.9, 8, 3.40),  # 6.12580 / 1.8 = 3.4032
    ],
)
def test_speedup_with_a_draft_that_costs_a_tenth(acceptance: float, count: int, by_hand: float) -> None:
    found = speedup(expected_tokens(acceptance, count), count, Costs(0.1))
    assert found == pytest.approx(by_hand, abs=0.005)


def test_verification_costs_like_drafting() -> None:
    # 1.9375 / (1 + 4 * 0.1 + 4 * 0.025) = 1.9375 / 1.5
    assert speedup(1.9375, 4, Costs(0.1, 0.025)) == pytest.approx(1.29167, abs=1e-5)


def test_the_best_number_of_draft_tokens() -> None:
    # a = 0.4, c = 0.1: E is 1.4, 1.56, 1.624; over 1.1, 1.2, 1.3 that is 1.2727, 1.3, 1.2492.
    assert best_draft_tokens(constant_reach(0.4, 8), Costs(0.1)) == 2
    # a = 0.05 at c = 0.1: 1.05 / 1.1 is below 1, so drafting never pays.
    assert best_draft_tokens(constant_reach(0.05, 8), Costs(0.1)) == 0
    # Free drafts that are never right: the smaller of equals.
    assert best_draft_tokens((0.0, 0.0), Costs()) == 0
    assert speedups((0.5,), Costs(0.25)) == [1.0, 1.2]


def test_break_even() -> None:
    # k = 1: 1 + a = 1 + c, so a = c.
    assert break_even_acceptance(1, Costs(0.3)) == pytest.approx(0.3, abs=1e-12)
    # k = 2, c = 0.1: a + a^2 = 0.2, a = (sqrt(1.8) - 1) / 2.
    assert break_even_acceptance(2, Costs(0.1)) == pytest.approx(0.1708204, abs=1e-7)
    assert break_even_acceptance(4, Costs()) == 0.0
    assert break_even_acceptance(4, Costs(0.8, 0.3)) is None


def test_the_sum_over_positions_is_the_truth_and_not_the_pooled_ratio() -> None:
    # Seven positions; 1 + 0.712 + 0.521 + 0.381 + 0.284 + 0.212 + 0.155 + 0.122 = 3.387.
    reached = (0.712, 0.521, 0.381, 0.284, 0.212, 0.155, 0.122)
    assert speedups(reached, Costs())[7] == pytest.approx(3.387)
    pooled = 0.341  # 2.387 / 7
    assert expected_tokens(pooled, 7) < 1.52 < 3.387 / 2


@pytest.mark.parametrize("reached", [(0.5, 0.6), (1.2,), (-0.1,)])
def test_shares_that_cannot_be_are_refused(reached: tuple[float, ...]) -> None:
    with pytest.raises(ValueError, match="share"):
        check_reached(reached)


@pytest.mark.parametrize("call", [lambda: expected_tokens(1.1, 2), lambda: expected_tokens(0.5, -1)])
def test_impossible_input_is_refused(call: object) -> None:
    with pytest.raises(ValueError, match="number"):
        call()  # type: ignore[operator]
    for cost in (-0.1, float("nan"), 1e9):
        with pytest.raises(ValueError, match="cost"):
            Costs(cost)


@settings(max_examples=40)
@given(st.floats(0, 0.999), st.integers(0, 64))
def test_the_sum_is_the_closed_form(acceptance: float, count: int) -> None:
    closed = (1 - acceptance ** (count + 1)) / (1 - acceptance)
    assert expected_tokens(acceptance, count) == pytest.approx(closed, rel=1e-9)


@settings(max_examples=30)
@given(st.integers(1, 32), st.floats(0, 0.9))
def test_at_break_even_nothing_is_won_or_lost(count: int, cost: float) -> None:
    found = break_even_acceptance(count, Costs(cost))
    assert found is not None
    assert speedup(expected_tokens(found, count), count, Costs(cost)) == pytest.approx(1.0, abs=1e-6)
