"""The circuit breaker, on a clock of the test. Expectations follow docs/routing.md."""

from __future__ import annotations

from fwctl.routing.breaker import DESPERATE_S, Breaker, State
from fwctl.routing.model import BreakerPolicy
from fwctl.routing.outcome import Verdict

POLICY = BreakerPolicy(
    window_s=30, min_requests=20, failure_ratio=0.5, open_for_s=10, max_open_for_s=300, probes=3
)


def breaker(policy: BreakerPolicy = POLICY) -> Breaker:
    """Without jitter."""
    return Breaker(policy, lambda: 0.0)


def end(it: Breaker, now: float, *verdicts: Verdict, cut: bool = False) -> None:
    for verdict in verdicts:
        ticket = it.admit(now)
        assert ticket is not None
        it.settle(ticket, verdict, now, cut=cut)


def opened() -> Breaker:
    it = breaker()
    end(it, 0, *[Verdict.BROKEN] * 20)
    return it


def test_it_stays_closed_below_its_minimum_volume() -> None:
    it = breaker()
    end(it, 0, *[Verdict.BROKEN] * 19)
    assert it.state(0) is State.CLOSED
    end(it, 0, Verdict.BROKEN)
    assert it.state(0) is State.OPEN
    assert it.admit(9.9) is None


def test_half_of_the_answers_must_have_failed() -> None:
    it = breaker()
    end(it, 0, *[Verdict.OK] * 12, *[Verdict.BROKEN] * 11)
    assert it.state(0) is State.CLOSED
    end(it, 0, Verdict.BROKEN)
    assert it.state(0) is State.OPEN


def test_requests_count_when_they_are_sent_so_ten_failures_of_twenty_sent_are_enough() -> None:
    it = breaker()
    tickets = [it.admit(0) for _ in range(500)]
    for ticket in tickets[:9]:
        assert ticket is not None
        it.settle(ticket, Verdict.BROKEN, 10)
    assert it.state(10) is State.CLOSED
    assert tickets[9] is not None
    it.settle(tickets[9], Verdict.BROKEN, 10)
    assert it.state(10) is State.OPEN


def test_failures_leave_the_window() -> None:
    it = breaker()
    end(it, 0, *[Verdict.BROKEN] * 19)
    end(it, 31, Verdict.BROKEN)
    assert it.state(31) is State.CLOSED


def test_a_request_that_outlives_the_window_still_counts() -> None:
    it = breaker()
    tickets = [it.admit(0) for _ in range(20)]
    for ticket in tickets:
        assert ticket is not None
        it.settle(ticket, Verdict.BROKEN, 60)
    assert it.state(60) is State.OPEN


def test_what_is_the_callers_doing_counts_for_nothing() -> None:
    it = breaker()
    end(it, 0, *[Verdict.NOTHING, Verdict.OVERLOAD, Verdict.COLD] * 50, *[Verdict.BROKEN] * 19)
    assert it.state(0) is State.CLOSED


def test_exactly_one_probe_is_let_through_at_a_time() -> None:
    it = opened()
    assert it.state(10) is State.HALF_OPEN
    probe = it.admit(10)
    assert probe is not None
    assert probe.probe
    assert [it.admit(10 + step) for step in range(20)] == [None] * 20
    it.settle(probe, Verdict.OK, 31)
    assert it.admit(31) is not None
    assert it.admit(31) is None


def test_three_good_probes_in_a_row_close_it() -> None:
    it = opened()
    end(it, 10, Verdict.OK, Verdict.OK)
    assert it.state(10) is State.HALF_OPEN
    end(it, 10, Verdict.OK)
    assert it.state(10) is State.CLOSED


def test_one_bad_probe_opens_it_for_twice_as_long_up_to_the_cap() -> None:
    it, now, waits = opened(), 0.0, []
    for _ in range(7):
        waits.append(it.wait_s(now))
        now += waits[-1]
        end(it, now, Verdict.BROKEN)
    assert waits == [10, 20, 40, 80, 160, 300, 300]


def test_a_bad_probe_forgets_the_good_ones_before_it() -> None:
    it = opened()
    end(it, 10, Verdict.OK, Verdict.OK, Verdict.BROKEN)
    end(it, 30, Verdict.OK, Verdict.OK)
    assert it.state(30) is State.HALF_OPEN


def test_a_probe_that_says_nothing_gives_its_place_to_another() -> None:
    it = opened()
    end(it, 10, Verdict.NOTHING)
    assert it.admit(10) is not None


def test_answers_from_before_the_opening_change_nothing_after_it() -> None:
    it = breaker()
    old = it.admit(0)
    end(it, 0, *[Verdict.BROKEN] * 19)
    assert old is not None
    for _ in range(3):
        it.settle(old, Verdict.OK, 10)
    assert it.state(10) is State.HALF_OPEN


def test_a_refused_key_opens_it_at_once_and_for_long() -> None:
    it = breaker()
    end(it, 0, Verdict.TERMINAL)
    assert it.wait_s(0) == 300


def test_jitter_makes_the_wait_up_to_a_quarter_longer() -> None:
    it = Breaker(POLICY, lambda: 1.0)
    end(it, 0, *[Verdict.BROKEN] * 20)
    assert it.wait_s(0) == 12.5


def test_a_lone_target_is_probed_once_a_second_while_it_is_open() -> None:
    it = opened()
    probe = it.admit(1, desperate=True)
    assert probe is not None
    it.settle(probe, Verdict.NOTHING, 1)
    assert it.admit(1 + DESPERATE_S / 2, desperate=True) is None
    probe = it.admit(1 + DESPERATE_S, desperate=True)
    assert probe is not None
    it.settle(probe, Verdict.OK, 2)
    assert it.state(2) is State.HALF_OPEN


def test_a_breaker_that_streams_opened_remembers_it_until_it_closes() -> None:
    it = breaker()
    end(it, 0, *[Verdict.BROKEN] * 20, cut=True)
    assert it.opened_by_cut
    end(it, 10, Verdict.OK, Verdict.OK, Verdict.OK)
    assert not it.opened_by_cut
