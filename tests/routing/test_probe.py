"""One request through every target, and where a drill sends its requests."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from fwctl.routing import drill as drilling
from fwctl.routing.model import Route, Routes, Target, Timeouts
from fwctl.routing.probe import probe
from fwctl.routing.scenarios import SCENARIOS
from tests.routing.upstreams import HELLO, QUICK, ROLE, answers, chunk, drops, hangs, says, upstreams


def test_each_target_is_asked_once_and_each_failure_has_its_advice() -> None:
    async def story() -> None:
        acts = {
            "good": says(*HELLO),
            "key": answers(401),
            "gone": answers(404),
            "closed": drops,
            "slow": hangs,
            "cut": says(ROLE, chunk("x"), drop=True),
        }
        async with upstreams(**acts) as (base, places):
            targets = tuple(
                Target(name, "m", f"{base}/{name}/v1", timeouts=QUICK if name == "slow" else Timeouts())
                for name in acts
            )
            rows = await probe(Routes("r.yaml", None, {"chat": Route("chat", targets)}))
        found = {row.target: (row.ok, row.error, row.status) for row in rows}
        assert found == {
            "good": (True, None, 200),
            "key": (False, "http_401", 401),
            "gone": (False, "http_404", 404),
            "closed": (False, "connect", None),
            "slow": (False, "timeout_ttft", None),
            "cut": (False, "upstream_cut", 200),
        }
        advice = {row.target: row.advice for row in rows}
        assert advice["key"] == "check the key of this target"
        assert advice["good"] is None
        assert all(len(place.bodies) == 1 for place in places.values())
        assert {row.route for row in rows} == {"chat"}

    asyncio.run(story())


def test_a_drill_sends_everything_to_the_simulator_with_the_fault_of_the_moment() -> None:
    async def story() -> None:
        async with upstreams(sim=says(*HELLO)) as (base, places):
            targets = (Target("a", "ma", "https://never.asked.example/v1"), Target("b", "mb"))
            routes = Routes("r.yaml", None, {"chat": Route("chat", targets)})
            simulated = drilling.Simulated(f"{base}/sim/v1", "simulated", "key")
            short = replace(SCENARIOS["outage"], fault="reset")
            result = await drilling.drill(routes, "chat", short, simulated, rate_per_s=20.0)
            assert result.requests == 90
            sent = places["sim"]
            assert {body["model"] for body in sent.bodies} == {"simulated"}
            assert {headers["authorization"] for headers in sent.headers} == {"Bearer key"}
            struck = sum("x-sim-fault" in headers for headers in sent.headers)
            assert 30 <= struck <= 50

    asyncio.run(story())
