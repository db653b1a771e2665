"""A rehearsal: the routes of a file, with the simulator in place of every target, and things going wrong.

Policies are the file's. Its times are divided by one factor, so that a breaker that stays open for ten
seconds opens and closes within a scenario; the report names the factor.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from fwctl.routing.engine import Request, Router
from fwctl.routing.fleet import headers_for
from fwctl.routing.model import BreakerPolicy, Route, Routes, Target, Timeouts
from fwctl.routing.record import OK, Record
from fwctl.routing.scenarios import END_S, TROUBLE_FROM_S, TROUBLE_TO_S, Scenario

FAULT_HEADER = "x-sim-fault"
RATE_PER_S = 80.0
# The file's times are made so short that these fit into a scenario.
FIRST_TOKEN_S = 0.4
OPEN_FOR_S = 0.5
ATTEMPTS_BAR = 0.1
_BODY = {"stream": True, "max_tokens": 8, "messages": [{"role": "user", "content": "Say hello."}]}


@dataclass(frozen=True, slots=True)
class Simulated:
    """What stands in for every target. url: up to /v1. model: a string it serves."""

    url: str
    model: str
    api_key: str


@dataclass(slots=True)
class Result:
    """One scenario. recovery_s: from the end of the trouble until the first target (for all-down: any)
    answered again, None when it did not. served: answers by target. missed: bars that were."""

    scenario: Scenario
    requests: int
    attempts: int
    errors: int
    cut: int
    recovery_s: float | None
    served: Mapping[str, int]
    missed: list[str] = field(default_factory=list)

    def to_json(self) -> dict[str, Any]:
        return {
            "scenario": self.scenario.name,
            "what": self.scenario.what,
            "requests": self.requests,
            "attempts": self.attempts,
            "client_errors": self.errors,
            "cut_streams": self.cut,
            "recovery_s": None if self.recovery_s is None else round(self.recovery_s, 2),
            "served": dict(self.served),
            "missed": self.missed,
        }


def factor_of(route: Route) -> float:
    """By what the file's times are divided."""
    longest = max(target.timeouts.first_token_s for target in route.targets)
    return max(1.0, longest / FIRST_TOKEN_S, route.breaker.open_for_s / OPEN_FOR_S)


def rehearsed(route: Route, simulated: Simulated) -> Route:
    """The route with the simulator as its targets, each still a target of its own."""
    factor = factor_of(route)
    targets = []
    for target in route.targets:
        limits = target.timeouts
        targets.append(
            replace(
                target,
                url=simulated.url,
                model=simulated.model,
                region=target.name,  # keeps their breakers apart
                account=target.account or target.url,
                api_key=simulated.api_key,
                timeouts=Timeouts(
                    limits.connect_s, limits.first_token_s / factor, max(0.2, limits.idle_s / factor)
                ),
            )
        )
    policy = route.breaker
    breaker = BreakerPolicy(
        window_s=max(1.0, policy.window_s / factor),
        min_requests=policy.min_requests,
        failure_ratio=policy.failure_ratio,
        open_for_s=policy.open_for_s / factor,
        max_open_for_s=policy.max_open_for_s / factor,
        probes=policy.probes,
    )
    total_s = max(route.total_s / factor, 3 * FIRST_TOKEN_S)
    return replace(route, targets=tuple(targets), breaker=breaker, total_s=total_s, hedge=None)


async def drill(
    routes: Routes, name: str, scenario: Scenario, simulated: Simulated, *, rate_per_s: float = RATE_PER_S
) -> Result:
    """One scenario on one route, at a steady rate."""
    route = rehearsed(routes.routes[name], simulated)
    rows: list[tuple[float, Record]] = []
    struck: set[str] = set()

    def headers(target: Target, given: Mapping[str, str]) -> dict[str, str]:
        found = headers_for(target, given)
        return {**found, FAULT_HEADER: scenario.fault} if target.name in struck else found

    async with Router(replace(routes, routes={name: route}), seed=1, headers=headers) as router:
        started = router.loop.time()

        async def one(due: float) -> None:
            await asyncio.sleep(started + due - router.loop.time())
            passed_s = router.loop.time() - started
            struck.clear()
            struck.update(
                item.name for at, item in enumerate(route.targets) if scenario.strikes(at, passed_s)
            )
            async with await router.send(Request("chat/completions", {"model": name, **_BODY})) as answer:
                await answer.read()
            rows.append((router.loop.time() - started, answer.record))

        count = int(END_S * rate_per_s)
        await asyncio.gather(*(one(at / rate_per_s) for at in range(count)))
    return judged(scenario, route, rows)


def judged(scenario: Scenario, route: Route, rows: list[tuple[float, Record]]) -> Result:
    """Counts, and the bars that were missed. rows: when each request ended, and what became of it."""
    records = [record for _, record in rows]
    cut = sum(record.outcome == "upstream_cut" for record in records)
    failed = sum(record.outcome not in (OK, "upstream_cut") for record in records)
    back = [
        at - TROUBLE_TO_S
        for at, record in rows
        if at >= TROUBLE_TO_S
        and record.outcome == OK
        and (scenario.all_targets or record.target == route.targets[0].name)
    ]
    served = Counter(record.target for record in records if record.target and record.outcome == OK)
    attempts = sum(record.attempts for record in records)
    result = Result(scenario, len(rows), attempts, failed, cut, min(back, default=None), served)
    allowed = len(rows) * (1 + ATTEMPTS_BAR)
    if attempts > allowed:
        result.missed.append(f"{attempts} attempts, at most {allowed:.0f}")
    if failed and not scenario.errors:
        result.missed.append(f"{failed} client errors, none allowed")
    if cut and not scenario.cuts:
        result.missed.append(f"{cut} streams broke off")
    if cut > 2 * route.breaker.min_requests:
        result.missed.append(f"{cut} streams broke off, at most {2 * route.breaker.min_requests}")
    if result.recovery_s is None:
        result.missed.append(f"the route had not recovered {END_S - TROUBLE_TO_S:g} s after the trouble")
    if rows and any(at < TROUBLE_FROM_S and record.outcome != OK for at, record in rows):
        result.missed.append("requests failed before anything was wrong")
    return result
