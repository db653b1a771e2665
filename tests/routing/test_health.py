"""What is known about one target, on a clock of the test."""

from __future__ import annotations

from fwctl.routing.health import COLD_EVERY_S, Access, Health
from fwctl.routing.model import BreakerPolicy
from fwctl.routing.outcome import Verdict


def health(**policy: float) -> Health:
    return Health(BreakerPolicy(**policy), lambda: 0.0)  # type: ignore[arg-type]


def end(it: Health, now: float, verdict: Verdict, *, retry_after_s: float | None = None) -> None:
    ticket = it.admit(now)
    assert ticket is not None
    it.stops_waiting()
    it.settle(ticket, verdict, now, retry_after_s=retry_after_s)


def answer(it: Health, now: float, first_token_s: float) -> None:
    ticket = it.admit(now - first_token_s)
    assert ticket is not None
    it.first_token(ticket, first_token_s, now)
    it.settle(ticket, Verdict.OK, now)


def test_an_overloaded_target_rests_as_long_as_it_asked() -> None:
    it = health()
    end(it, 0, Verdict.OVERLOAD, retry_after_s=7)
    assert it.access(6.9) is Access.NO
    assert it.access(6.9, desperate=True) is Access.NO
    assert it.access(7) is Access.READY


def test_an_overloaded_target_that_names_no_time_is_the_last_resort() -> None:
    it = health()
    end(it, 0, Verdict.OVERLOAD)
    assert it.access(0.5) is Access.NO
    assert it.access(0.5, desperate=True) is Access.READY
    assert it.access(1.0) is Access.READY


def test_a_retry_after_of_a_day_is_not_believed() -> None:
    it = health()
    end(it, 0, Verdict.OVERLOAD, retry_after_s=86400)
    assert it.wait_s(0) == 300


def test_overload_never_opens_the_breaker() -> None:
    it = health(min_requests=2)
    for at in range(50):
        end(it, at * 2, Verdict.OVERLOAD)
    assert it.access(200) is Access.READY


def test_a_cold_target_gets_one_request_every_two_seconds_until_it_answers() -> None:
    it = health()
    end(it, 0, Verdict.COLD)
    assert it.access(COLD_EVERY_S - 0.1) is Access.NO
    assert it.access(COLD_EVERY_S) is Access.PROBE
    ticket = it.admit(COLD_EVERY_S)
    assert ticket is not None
    assert it.access(COLD_EVERY_S + 0.1) is Access.NO
    it.settle(ticket, Verdict.OK, COLD_EVERY_S + 0.2)
    assert it.access(COLD_EVERY_S + 0.3) is Access.READY


def test_three_failures_in_a_row_put_it_behind_others_before_the_breaker_opens() -> None:
    it = health(open_for_s=10)
    for _ in range(3):
        end(it, 0, Verdict.BROKEN)
    assert it.access(1) is Access.BACK
    assert it.access(10) is Access.PROBE
    answer(it, 10.5, 0.1)
    assert it.access(11) is Access.READY


def test_a_target_over_its_first_token_objective_stands_back_for_a_window() -> None:
    it = health(first_token_slo_s=0.5)
    for at in range(20):
        answer(it, 1 + at * 0.1, 0.6 if at % 2 else 0.1)
    assert it.access(3) is Access.BACK
    assert it.access(40) is Access.READY


def test_a_target_that_hangs_stands_back_before_anything_timed_out() -> None:
    it = health()
    for at in range(20):
        answer(it, 1 + at * 0.1, 0.1)
    for _ in range(5):
        it.admit(3)
    assert it.access(3.29) is Access.READY
    assert it.access(3.31) is Access.BACK


def test_a_probe_is_over_with_its_first_token_unless_streams_used_to_break() -> None:
    for cut, closed in ((False, True), (True, False)):
        it = health(min_requests=1, probes=1, open_for_s=1)
        ticket = it.admit(0)
        assert ticket is not None
        it.stops_waiting()
        it.settle(ticket, Verdict.BROKEN, 0, cut=cut)
        probe = it.admit(1)
        assert probe is not None
        it.first_token(probe, 0.1, 1.1)
        assert (it.access(1.2) is Access.READY) is closed
