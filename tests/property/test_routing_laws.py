"""Laws of the router's arithmetic, whatever happens in whatever order."""

from __future__ import annotations

import random

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.routing.breaker import Breaker, State, Ticket
from fwctl.routing.budget import WINDOW_S, Budget
from fwctl.routing.choose import in_order
from fwctl.routing.model import BreakerPolicy, Route, Target
from fwctl.routing.outcome import Verdict
from fwctl.routing.window import SLOTS, Window

STEPS = st.lists(
    st.tuples(st.floats(0, 20), st.sampled_from(["send", "probe", *Verdict]), st.integers(0, 30)),
    max_size=120,
)
POLICY = BreakerPolicy(window_s=10, min_requests=3, open_for_s=5, max_open_for_s=40, probes=2)


@settings(max_examples=80, deadline=None)
@given(STEPS, st.integers(0, 99))
def test_never_more_than_one_probe_and_never_a_ticket_while_open(
    steps: list[tuple[float, str, int]], seed: int
) -> None:
    breaker, now = Breaker(POLICY, random.Random(seed).random), 0.0
    open_tickets: list[Ticket] = []
    for wait, act, which in steps:
        now += wait
        if act in ("send", "probe"):
            state = breaker.state(now)
            ticket = breaker.admit(now, desperate=act == "probe")
            if ticket is not None:
                assert state is not State.OPEN or act == "probe"
                assert ticket.probe is (state is not State.CLOSED)
                open_tickets.append(ticket)
        elif open_tickets:
            breaker.settle(open_tickets.pop(which % len(open_tickets)), Verdict(act), now)
        current = [
            ticket for ticket in open_tickets if ticket.probe and ticket.generation == breaker._generation
        ]
        assert len(current) <= 1
        assert breaker.wait_s(now) <= 1.25 * POLICY.max_open_for_s


@settings(max_examples=80, deadline=None)
@given(STEPS)
def test_a_target_that_works_again_is_closed_again_in_bounded_time(
    steps: list[tuple[float, str, int]],
) -> None:
    breaker, now = Breaker(POLICY, lambda: 0.5), 0.0
    for wait, act, _ in steps:
        now += wait
        ticket = breaker.admit(now)
        if ticket is not None:
            breaker.settle(ticket, Verdict(act) if act in list(map(str, Verdict)) else Verdict.BROKEN, now)
    for _ in range(POLICY.probes + 1):
        now += 1.25 * POLICY.max_open_for_s
        ticket = breaker.admit(now)
        assert ticket is not None
        breaker.settle(ticket, Verdict.OK, now)
    assert breaker.state(now) is State.CLOSED


@settings(max_examples=80, deadline=None)
@given(st.lists(st.tuples(st.floats(0, 3), st.booleans()), max_size=300), st.floats(0, 1), st.floats(0, 2))
def test_extra_attempts_of_any_ten_seconds_stay_within_share_and_floor(
    steps: list[tuple[float, bool]], share: float, floor: float
) -> None:
    budget, now = Budget(share, floor), 0.0
    requests: list[float] = []
    extra: list[float] = []
    for wait, is_request in steps:
        now += wait
        if is_request:
            budget.request(now)
            requests.append(now)
        elif budget.take(now):
            extra.append(now)
            recent = sum(at > now - WINDOW_S * (SLOTS - 1) / SLOTS for at in extra)
            counted = sum(at > now - WINDOW_S for at in requests)
            assert recent <= share * counted + floor * WINDOW_S + 1e-6


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(0, 5), max_size=100))
def test_a_window_counts_what_is_not_older_than_itself(waits: list[float]) -> None:
    window, now = Window(10, 1), 0.0
    times: list[float] = []
    for wait in waits:
        now += wait
        window.add(0, now)
        times.append(now)
        certain = sum(at > now - 9 for at in times)
        possible = sum(at > now - 10.001 for at in times)
        assert certain <= window.totals[0] <= possible


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=20), st.lists(st.floats(0.1, 10), min_size=2, max_size=5), st.integers(0, 4))
def test_a_session_keeps_its_order_and_only_loses_its_place_with_its_target(
    session: str, weights: list[float], gone: int
) -> None:
    targets = [Target(f"t{at}", f"m{at}", weight=weight) for at, weight in enumerate(weights)]
    order = in_order(Route("r", tuple(targets)), frozenset(), session, random.random)
    assert order == in_order(Route("r", tuple(reversed(targets))), frozenset(), session, random.random)
    lost = targets[gone % len(targets)]
    rest = in_order(
        Route("r", tuple(t for t in targets if t is not lost)), frozenset(), session, random.random
    )
    if len(targets) > 2:
        assert rest == [target for target in order if target is not lost]


def test_weights_are_shares_of_sessions() -> None:
    route = Route("r", (Target("a", "a", weight=3), Target("b", "b", weight=1)))
    first = [in_order(route, frozenset(), f"s{at}", random.random)[0].name for at in range(2000)]
    assert 1400 < first.count("a") < 1600
