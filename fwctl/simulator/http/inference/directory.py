"""Targets by model string, cached until the state or the moment makes them old."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import NamedTuple

from fwctl.simulator.http.backend import Backend
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.inference.target import Target, resolve
from fwctl.simulator.http.reply import InferenceError
from fwctl.simulator.platform import quotas, routers
from fwctl.simulator.platform.world import Caller, World

# Replica stages and states move with time alone, so that no answer may be kept for longer than this.
_FRESH_S = 0.05
_MOST = 4096


class Seen(NamedTuple):
    """target: what the model string means, or the refusal. per_minute: the account's request limit."""

    target: Target | InferenceError
    per_minute: int
    suspended: bool
    at_s: float
    version: int


class Directory:
    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._seen: dict[tuple[str, str], Seen] = {}
        self._draws = 0

    async def find(self, caller: Caller, model: str, busy: Mapping[str, int]) -> Seen:
        """What `model` means now; routers choose anew each time."""
        key = (caller.account, model)
        seen = self._seen.get(key)
        now = time.monotonic()
        version = self._backend.version()
        fresh = seen is not None and now - seen.at_s < _FRESH_S and seen.version == version
        if seen is not None and fresh and f"/{routers.KIND}/" not in model:
            return seen
        self._draws += 1
        draw = self._draws

        def work(world: World) -> Seen:
            try:
                found: Target | InferenceError = resolve(world, model, rng("router", model, draw), busy)
            except InferenceError as error:
                found = error
            limit = quotas.get(world, caller.account, quotas.REQUESTS, ())
            suspended = bool(world.suspended or world.tx.meta(f"suspended/{caller.account}"))
            return Seen(found, int(limit["value"]), suspended, now, version)

        seen = await self._backend.run(work, caller)
        if len(self._seen) >= _MOST:
            self._seen.clear()
        self._seen[key] = seen
        return seen
