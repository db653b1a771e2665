"""A second request to another target when the first is slow; the first with content wins.

It has a budget of its own, and it also needs one attempt of the retry budget.
"""

from __future__ import annotations

import asyncio
from typing import Any

from fwctl.routing.budget import Budget
from fwctl.routing.flight import Flight, Landed
from fwctl.routing.model import HedgePolicy, Target
from fwctl.routing.upstream import Refused


class Hedges:
    """Attempts of routes, hedged where the route says so."""

    def __init__(self) -> None:
        self._budgets: dict[str, Budget] = {}

    async def attempt(self, flight: Flight, picked: tuple[Target, bool]) -> Landed | Refused:
        """One attempt, or two at a time."""
        policy = flight.route.hedge
        if policy is None or not flight.record.stream:
            return await flight.attempt(*picked)
        budget = self._budgets.setdefault(flight.route.name, Budget(policy.budget, 0.0))
        budget.change(policy.budget, 0.0)
        budget.request(flight.loop.time())
        after = self._after_s(flight, picked[0], policy)
        if after is None:
            return await flight.attempt(*picked)
        return await self._race(flight, picked, after, budget)

    def _after_s(self, flight: Flight, target: Target, policy: HedgePolicy) -> float | None:
        if policy.after_quantile is None:
            return policy.after_s
        return flight.health(target).quantile(policy.after_quantile, flight.loop.time())

    async def _race(
        self, flight: Flight, picked: tuple[Target, bool], after: float, budget: Budget
    ) -> Landed | Refused:
        tasks: set[asyncio.Task[Landed | Refused]] = {asyncio.ensure_future(flight.attempt(*picked))}
        kept: Any = None
        try:
            done, _ = await asyncio.wait(tasks, timeout=after)
            if not done and (second := self._second(flight, budget)) is not None:
                flight.record.hedged = True
                tasks.add(asyncio.ensure_future(flight.attempt(*second, hedge=True)))
            kept = await _first_landed(tasks)
            return kept.result()  # type: ignore[no-any-return]
        finally:
            await _drop(tasks - {kept})

    def _second(self, flight: Flight, budget: Budget) -> tuple[Target, bool] | None:
        """Another target that is ready, when both budgets allow it."""
        now = flight.loop.time()
        picked = flight.pick() if len(flight.asked) < flight.route.retry.max_attempts else None
        if picked is None or picked[1] or not budget.take(now):
            return None
        return picked if flight.fleet.budget.take(now) else None


async def _first_landed(tasks: set[asyncio.Task[Landed | Refused]]) -> asyncio.Task[Landed | Refused]:
    """The first attempt with content, else the one that failed last."""
    waiting = set(tasks)
    while True:
        done, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        for task in done:
            if task.exception() is not None or isinstance(task.result(), Landed) or not waiting:
                return task


async def _drop(tasks: set[asyncio.Task[Landed | Refused]]) -> None:
    """Cancel what lost the race; content that came at the same moment is let go."""
    for task in tasks:
        task.cancel()
    for found in await asyncio.gather(*tasks, return_exceptions=True):
        if isinstance(found, Landed):
            found.release()
