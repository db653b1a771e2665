"""How far a cut-off answer may grow."""

from __future__ import annotations

import pytest

from fwctl.quality.retries import _tokens


@pytest.mark.parametrize(
    ("first", "attempt", "cap", "allowed"),
    [(64, 1, 16384, 64), (64, 3, 16384, 256), (None, 2, 16384, 4096), (20000, 4, 16384, 20000)],
)
def test_every_attempt_doubled_the_first(first: int | None, attempt: int, cap: int, allowed: int) -> None:
    assert _tokens({"max_tokens": first}, attempt, cap) == allowed


@pytest.mark.parametrize("attempt", [10**9, 10**18])
def test_an_attempt_that_no_run_has_written_costs_no_time_and_no_memory(attempt: int) -> None:
    assert _tokens({"max_tokens": 64}, attempt, 16384) == 16384
