"""How a drill judges what it saw, and what it makes of a file's routes."""

from __future__ import annotations

import pytest

from fwctl.routing.answers import Tried
from fwctl.routing.drill import Simulated, factor_of, judged, rehearsed
from fwctl.routing.model import BreakerPolicy, Route, Target, Timeouts
from fwctl.routing.record import Record
from fwctl.routing.scenarios import SCENARIOS, Scenario

ROUTE = Route(
    "chat", (Target("a", "ma", account="acme"), Target("b", "mb")), breaker=BreakerPolicy(open_for_s=10)
)


def row(at: float, outcome: str = "ok", target: str = "a", attempts: int = 1) -> tuple[float, Record]:
    tried = [Tried(target, None, 200, 0.1)] * attempts
    return at, Record("chat", "", stream=True, outcome=outcome, target=target, tried=tried)


def missed(scenario: str, *rows: tuple[float, Record]) -> list[str]:
    return judged(SCENARIOS[scenario], ROUTE, list(rows)).missed


CALM = [row(at / 250) for at in range(100)]
BACK = [row(2.7 + at / 100) for at in range(100)]


def test_everything_that_held_is_no_news() -> None:
    moved = [row(2.0, target="b", attempts=2)] * 10
    result = judged(SCENARIOS["outage"], ROUTE, [*CALM, *moved, *BACK])
    assert result.missed == []
    assert (result.requests, result.attempts, result.errors, result.cut) == (210, 220, 0, 0)
    assert result.recovery_s == pytest.approx(0.2)
    assert result.served == {"a": 200, "b": 10}


def test_each_bar_that_was_missed_is_named_with_its_figures() -> None:
    many = [row(2.0, target="b", attempts=2)] * 100
    assert missed("outage", *CALM, *many, *BACK) == ["400 attempts, at most 330"]
    assert missed("outage", *CALM, row(2, "all_targets_failed"), *BACK) == ["1 client errors, none allowed"]
    assert missed("outage", *CALM, row(2, "upstream_cut"), *BACK) == ["1 streams broke off"]
    assert missed("outage", *CALM, row(4, target="b")) == [
        "the route had not recovered 2 s after the trouble"
    ]
    assert missed("outage", row(0.4, "deadline"), *BACK) == [
        "1 client errors, none allowed",
        "requests failed before anything was wrong",
    ]


def test_what_no_router_can_prevent_is_allowed_where_it_belongs() -> None:
    assert missed("all-down", *CALM, row(2, "all_targets_failed", attempts=0), *BACK) == []
    assert missed("cuts", *CALM, row(2, "upstream_cut"), *BACK) == []
    flood = [row(2, "upstream_cut")] * 41
    assert missed("cuts", *CALM, *flood, *BACK) == ["41 streams broke off, at most 40"]


def test_times_shrink_by_one_factor_and_counts_stay() -> None:
    assert factor_of(ROUTE) == 25  # 10 s to the first token become 0.4 s
    made = rehearsed(ROUTE, Simulated("http://sim/v1", "m", "key"))
    assert made.breaker.open_for_s == pytest.approx(0.4)
    assert (made.breaker.min_requests, made.breaker.probes) == (20, 3)
    assert {target.url for target in made.targets} == {"http://sim/v1"}
    assert len({target.key for target in made.targets}) == 2
    assert made.targets[0].timeouts.first_token_s == pytest.approx(0.4)
    quick = Route(
        "q", (Target("a", "m", timeouts=Timeouts(first_token_s=0.1)),), breaker=BreakerPolicy(open_for_s=0.2)
    )
    assert factor_of(quick) == 1


def test_a_scenario_strikes_the_first_target_in_its_time() -> None:
    outage, everything = SCENARIOS["outage"], SCENARIOS["all-down"]
    assert [outage.strikes(0, at) for at in (0.4, 0.5, 2.4, 2.5)] == [False, True, True, False]
    assert not outage.strikes(1, 2.0)
    assert everything.strikes(1, 2.0)
    flapping = Scenario("f", "", "reset", period_s=0.2)
    assert [flapping.strikes(0, at) for at in (0.6, 0.8, 1.0)] == [True, False, True]
