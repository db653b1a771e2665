"""The retry budget: 10 % of the requests of ten seconds, plus a floor."""

from __future__ import annotations

from fwctl.routing.budget import Budget


def test_the_floor_is_there_without_any_traffic() -> None:
    budget = Budget(0.1, 0.5)
    assert [budget.take(0.0) for _ in range(6)] == [True] * 5 + [False]


def test_a_tenth_of_the_requests_is_allowed_on_top() -> None:
    budget = Budget(0.1, 0.0)
    for _ in range(100):
        budget.request(0.0)
    assert sum(budget.take(0.0) for _ in range(50)) == 10
    assert budget.left(0.0) == 0


def test_what_was_used_comes_back_after_ten_seconds() -> None:
    budget = Budget(0.0, 0.1)
    assert budget.take(0.0)
    assert not budget.take(8.0)
    assert budget.take(11.0)


def test_an_attempt_that_was_not_needed_is_given_back() -> None:
    budget = Budget(0.0, 0.1)
    assert budget.take(0.0)
    budget.give_back(0.5)
    assert budget.take(0.5)
    budget.give_back(20.0)
    assert budget.left(20.0) == 1


def test_other_limits_hold_at_once() -> None:
    budget = Budget(0.0, 0.0)
    assert not budget.take(0.0)
    budget.change(0.0, 0.1)
    assert budget.take(0.0)
