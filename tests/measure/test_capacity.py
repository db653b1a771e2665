"""The search finds limits that are known in closed form, and says so when it cannot."""

from __future__ import annotations

from heapq import heappop, heappush
from math import log
from random import Random
from typing import Any

import pytest

from fwctl.measure.capacity import Capacity, Level, Limit, Load, Sent, Sizes, growth, in_flight, search
from fwctl.measure.objectives import Objective, Verdict

TOTAL_1S = Objective("total_p95_ms", "total_s", 1.0)
TTFT_1S = Objective("ttft_p95_ms", "ttft_s", 1.0)
NO_ERRORS = Objective("error_rate", None, 0.01)


def row(arrived_s: float, total_s: float, wait_s: float = 0.0, **more: Any) -> dict[str, Any]:
    """total_s with the wait before service in it, as a server that queues gives it."""
    return {
        "error_class": None,
        "arrived_s": arrived_s,
        "ttft_s": wait_s + 0.01,
        "ttft_from_schedule_s": wait_s + 0.01,
        "total_s": total_s,
        "output_tokens": 10,
        **more,
    }


def exponential(served_per_s: float, n: int = 2000) -> Load:
    """M/M/1 in its steady state: times in the system are exponential with rate mu - lambda."""

    def load(rate: float, look: int) -> Sent:
        random = Random(f"{rate}/{look}")
        slack = served_per_s - rate
        total = (lambda: 1e9) if slack <= 0 else (lambda: random.expovariate(slack))
        return Sent([row(at / rate, total()) for at in range(n)], n / rate)

    return load


def queue(slots: int, service_s: float, seconds: float) -> Load:
    """M/D/c from empty: Poisson arrivals, each served for the same time by one of `slots`, in order."""

    def load(rate: float, look: int) -> Sent:
        random = Random(f"{rate}/{look}")
        free = [0.0] * slots
        rows, at = [], 0.0
        while at < seconds:
            begin = max(at, heappop(free))
            heappush(free, begin + service_s)
            rows.append(row(at, begin + service_s - at, begin - at))
            at += random.expovariate(rate)
        return Sent(rows, seconds)

    return load


def test_the_limit_of_an_exponential_server_is_found_in_closed_form() -> None:
    """p95 of the time in an M/M/1 system is ln(20) / (mu - lambda): with mu = 10/s and 1 s it is met up to
    lambda = 10 - ln(20) = 7.0/s."""
    limit = 10 - log(20)
    found = search(exponential(10.0), [TOTAL_1S], 1.0)
    assert found.rate_per_s == pytest.approx(limit, rel=0.10)
    assert found.rate_per_s is not None
    assert found.rate_per_s <= limit * 1.01
    assert found.missed_per_s is not None
    assert found.missed_per_s > limit
    assert found.limited_by.startswith("total_p95_ms, ")


def test_the_saturation_of_a_server_with_slots_is_found_within_ten_percent() -> None:
    """Four slots of 0.2 s serve 20/s; with a second to wait for the first token that is the limit."""
    found = search(queue(4, 0.2, 60.0), [TTFT_1S, NO_ERRORS], 5.0)
    assert found.rate_per_s == pytest.approx(20.0, rel=0.10)
    assert found.rate_per_s is not None
    assert found.rate_per_s <= 20.0
    # 4 slots are busy near saturation, and what waits comes on top.
    assert found.best is not None
    assert found.best.in_flight_p50 is not None
    assert 4 <= found.best.in_flight_p50 < 12
    assert found.best.tokens_per_s == pytest.approx(10 * found.best.rate_per_s, rel=0.1)


@pytest.mark.parametrize("start", [0.05, 7.0, 400.0])
def test_the_answer_does_not_depend_on_where_the_search_begins(start: float) -> None:
    assert search(exponential(10.0), [TOTAL_1S], start).rate_per_s == pytest.approx(7.0, rel=0.10)


def test_twice_the_servers_carry_about_twice_the_load() -> None:
    one, two = (search(queue(n, 0.2, 60.0), [TTFT_1S], 5.0).rate_per_s for n in (4, 8))
    assert one is not None
    assert two is not None
    assert two / one == pytest.approx(2.0, rel=0.15)


def test_an_overloaded_server_is_told_by_its_growing_queue_before_the_objective_is_missed() -> None:
    """At 24/s against 20/s the wait grows by 0.2 s a second, so that it is 2 s after 10 s; the limit of
    an hour is far off, and still this rate cannot be held."""
    patient = Objective("ttft_p95_ms", "ttft_s", 3600.0)
    found = search(queue(4, 0.2, 10.0), [patient], 24.0)
    assert found.levels[0].limit is Limit.QUEUE
    assert found.rate_per_s is not None
    assert found.rate_per_s < 21.0
    assert "grows without end" in found.limited_by


def test_a_level_is_looked_at_again_while_it_is_open() -> None:
    """5 of 100 answers at 1.5 s and 95 at 0.1 s lie on the limit of 1 s at p95: no look decides."""
    slow = [row(at, 1.5 if at % 20 == 0 else 0.1) for at in range(100)]
    found = search(lambda rate, look: Sent(slow, 10.0), [TOTAL_1S], 1.0, Sizes(levels=1, least=1.0))
    (level,) = found.levels
    assert (level.verdict, level.limit, level.looks, level.n) == (Verdict.OPEN, Limit.OPEN, 4, 400)
    assert found.best is None
    assert "not shown to be met" in found.limited_by


def test_a_clear_level_needs_one_look_only() -> None:
    fast = [row(at, 0.1) for at in range(200)]
    found = search(lambda rate, look: Sent(fast, 10.0), [TOTAL_1S], 1.0, Sizes(most=8.0))
    assert [(item.rate_per_s, item.looks) for item in found.levels] == [
        (1.0, 1),
        (2.0, 1),
        (4.0, 1),
        (8.0, 1),
    ]
    assert found.rate_per_s == 8.0
    assert found.missed_per_s is None
    assert found.limited_by == "nothing up to the highest rate that was tried"


def test_a_server_that_meets_nothing_is_said_to_have_no_capacity() -> None:
    found = search(lambda rate, look: Sent([row(0, 9.0)] * 200, 1.0), [TOTAL_1S], 1.0, Sizes(least=0.25))
    assert found.rate_per_s is None
    assert [item.rate_per_s for item in found.levels] == [1.0, 0.5, 0.25]


def test_failures_are_a_limit_like_any_other() -> None:
    def refusing(rate: float, look: int) -> Sent:
        """Everything above 10/s is turned away."""
        share = max(0.0, 1 - 10 / rate)
        failed = round(500 * share)
        return Sent([*[row(0, 0.1)] * (500 - failed), *[{"error_class": "rate_limited"}] * failed], 10.0)

    found = search(refusing, [TOTAL_1S, NO_ERRORS], 3.0)
    assert found.rate_per_s == pytest.approx(10.0, rel=0.06)
    assert "error_rate" in found.limited_by


def test_a_client_that_is_the_bottleneck_ends_the_search_there_and_is_named() -> None:
    def late(rate: float, look: int) -> Sent:
        return Sent([row(0, 0.1)] * 200, 1.0, ("the client was late",) if rate > 5 else ())

    found = search(late, [TOTAL_1S], 1.0)
    assert found.rate_per_s is not None
    assert 4.5 < found.rate_per_s <= 5
    assert found.missed_per_s is None
    assert found.limited_by == "this machine: the client was late"


def test_the_number_of_levels_is_bounded() -> None:
    seen: list[Level] = []
    search(exponential(10.0), [TOTAL_1S], 1.0, Sizes(precision=1e-9, levels=6), seen.append)
    assert len(seen) == 6


def test_a_second_at_the_limit_is_not_taken_for_a_growing_queue() -> None:
    noisy = Random(7)
    rows = [row(at, 1.0, noisy.uniform(0, 0.5)) for at in range(900)]
    assert growth(Sent(rows, 900.0), 0.9875) == 0
    assert growth(Sent(rows[:9], 9.0), 0.9875) == 0


def test_requests_in_flight_are_counted_at_each_arrival() -> None:
    """Arrivals at 0, 1 and 2 s that take 1.5 s: the second meets the first, the third the second."""
    assert in_flight([row(0, 1.5), row(1, 1.5), row(2, 1.5), {"error_class": "timeout"}]) == [1, 2, 2]


def test_a_search_tells_the_same_story_in_json() -> None:
    found: Capacity = search(exponential(10.0), [TOTAL_1S], 4.0, Sizes(levels=2))
    document = [item.to_json() for item in found.levels]
    assert [item["rate_per_s"] for item in document] == [4.0, 8.0]
    assert document[0]["verdict"] == "met"
    assert document[1]["limit"] in ("objective", "open")
