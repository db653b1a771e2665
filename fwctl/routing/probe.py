"""One small request through every target, each alone: does it answer, and how fast."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, replace
from typing import Any

from fwctl.routing.engine import Request, Router
from fwctl.routing.model import RetryPolicy, Routes, Target

BODY = {"messages": [{"role": "user", "content": "Answer with one word: ready?"}], "max_tokens": 16}
_ADVICE = {
    "http_401": "check the key of this target",
    "http_402": "the account behind the key cannot pay",
    "http_403": "the key may not use this model",
    "http_404": "the model string is wrong, or nothing is deployed there",
    "scaling_up": "it scales up from zero; ask again in some minutes",
    "rate_limited": "over a limit; ask again later",
    "connect": "nothing listens there",
    "dns": "the host name is wrong",
    "timeout_ttft": "slower than timeouts.first_token",
}


@dataclass(frozen=True, slots=True)
class Probed:
    """What one target did. first_token_s: seconds, None without an answer."""

    route: str
    target: str
    model: str
    url: str
    ok: bool
    error: str | None
    status: int | None
    first_token_s: float | None
    advice: str | None

    def to_json(self) -> dict[str, Any]:
        return {name: getattr(self, name) for name in self.__slots__}


async def probe(routes: Routes) -> list[Probed]:
    """Every target of every route, all at the same time."""
    pairs = [(route, target) for route in routes.routes.values() for target in route.targets]
    alone = {
        str(at): replace(route, name=str(at), targets=(target,), retry=RetryPolicy(1), hedge=None)
        for at, (route, target) in enumerate(pairs)
    }
    async with Router(replace(routes, routes=alone)) as router:
        return list(
            await asyncio.gather(
                *(_one(router, str(at), route.name, target) for at, (route, target) in enumerate(pairs))
            )
        )


async def _one(router: Router, name: str, route: str, target: Target) -> Probed:
    request = Request("chat/completions", {"model": name, "stream": True, **BODY})
    async with await router.send(request) as answer:
        await answer.read()
        noted = answer.record
    tried = noted.tried[-1] if noted.tried else None
    error = tried.error_class if tried else noted.outcome
    if error is None and noted.outcome != "ok":
        error = noted.outcome
    return Probed(
        route,
        target.name,
        target.model,
        target.url,
        noted.outcome == "ok",
        error,
        tried.status if tried else None,
        noted.first_token_s if noted.outcome == "ok" else None,
        _ADVICE.get(error or ""),
    )
