from __future__ import annotations

import pytest

from fwctl.firectl.errors import ErrorClass
from fwctl.firectl.outcome import Outcome
from fwctl.firectl.retry import RetryPolicy, is_transient, read_with_retry
from tests.firectl.support import STEADY, FakeClock


def outcome(
    error_class: ErrorClass | None = None, message: str = "", *, interrupted: bool = False
) -> Outcome:
    return Outcome(("x",), error_class is None, 0.1, 0, error_class, message, interrupted=interrupted)


GOOD = outcome()
BUSY = outcome(ErrorClass.UNAVAILABLE, "try later")


def test_a_success_is_returned_at_once():
    clock = FakeClock()
    assert read_with_retry(lambda: GOOD, clock, STEADY) is GOOD
    assert clock.slept == []


def test_a_stumbling_platform_is_asked_again_with_growing_waits():
    clock, answers = FakeClock(), [BUSY, BUSY, BUSY, GOOD]
    assert read_with_retry(lambda: answers.pop(0), clock, STEADY).ok
    assert clock.slept == [0.5, 1.0, 2.0]


def test_the_last_failure_comes_back_when_nothing_helps():
    clock = FakeClock()
    assert read_with_retry(lambda: BUSY, clock, STEADY) is BUSY
    assert len(clock.slept) == 3


def test_a_wait_is_never_longer_than_the_longest_and_jitter_takes_off_up_to_half():
    assert RetryPolicy(jitter=lambda: 0.0).wait_s(10) == 8.0
    assert RetryPolicy(jitter=lambda: 1.0).wait_s(0) == 0.25
    assert 0.25 <= RetryPolicy().wait_s(0) <= 0.5


@pytest.mark.parametrize(
    ("result", "again"),
    [
        (GOOD, False),
        (BUSY, True),
        (outcome(ErrorClass.UNKNOWN, "rpc error: code = Internal desc = x"), True),
        (outcome(ErrorClass.UNKNOWN, "rpc error: code = Unknown desc = x"), True),
        (outcome(ErrorClass.UNKNOWN, "firectl exited with code 1 and printed nothing"), False),
        (outcome(ErrorClass.NOT_FOUND), False),
        (outcome(ErrorClass.AUTH), False),
        (outcome(ErrorClass.TIMEOUT), False),
        (outcome(ErrorClass.UNAVAILABLE, interrupted=True), False),
    ],
)
def test_only_what_may_be_gone_in_a_moment_is_worth_another_try(result, again):
    assert is_transient(result) is again
