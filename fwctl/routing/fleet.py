"""What the requests of one process share: the state of every target, the retry budget, the connections."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from fwctl.routing.breaker import State
from fwctl.routing.budget import Budget
from fwctl.routing.health import Health, Shed
from fwctl.routing.model import Route, Routes, Target
from fwctl.routing.upstream import Upstream, open_session

EMBEDDINGS = "embeddings"


Headers = Callable[[Target, Mapping[str, str]], dict[str, str]]


class Fleet:
    """Make it inside a running loop and close it. chance: a random number below 1, for jitter. headers: what
    a target receives, from those of the client that are sent on."""

    def __init__(self, routes: Routes, chance: Callable[[], float], headers: Headers) -> None:
        self.loop = asyncio.get_running_loop()
        self.chance = chance
        self.headers = headers
        self.budget = Budget(routes.retry.budget, routes.retry.floor_per_s)
        self._session = open_session()
        self.upstream = Upstream(self._session)
        self._healths: dict[tuple[Any, ...], Health] = {}
        self._payers: dict[tuple[str, str], Shed] = {}

    async def close(self) -> None:
        """Close every connection."""
        await self._session.close()

    def reload(self, routes: Routes) -> None:
        """Other routes from now on; targets that stay keep their state."""
        self.budget.change(routes.retry.budget, routes.retry.floor_per_s)
        targets = [target for route in routes.routes.values() for target in route.targets]
        known, payers = {target.key for target in targets}, {target.payer for target in targets}
        self._healths = {key: health for key, health in self._healths.items() if key[:4] in known}
        self._payers = {key: shed for key, shed in self._payers.items() if key in payers}

    def health(self, target: Target, route: Route, path: str) -> Health:
        """The state of a target, made on first use."""
        # A model that has no embeddings must not count as gone for chat. The breaker's policy belongs to
        # the key, so that a reload that changes it begins anew.
        key = (*target.key, target.api_key, route.breaker, path == EMBEDDINGS)
        found = self._healths.get(key)
        if found is None:
            found = self._healths[key] = Health(route.breaker, self.chance)
        return found

    def payer(self, target: Target) -> Shed:
        """The limit that all targets of one account share."""
        return self._payers.setdefault(target.payer, Shed())

    def states(self, routes: Routes) -> list[tuple[str, str, State]]:
        """Route, target and state of its breaker."""
        now = self.loop.time()
        return [
            (route.name, target.name, self.health(target, route, "").breaker.state(now))
            for route in routes.routes.values()
            for target in route.targets
        ]


def headers_for(target: Target, given: Mapping[str, str]) -> dict[str, str]:
    """What a target receives: the client's allowed headers and its own key."""
    found = {**given, "content-type": "application/json", "accept-encoding": "identity"}
    if target.api_key:
        found["authorization"] = f"Bearer {target.api_key}"
    return found
