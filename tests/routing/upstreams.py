"""Targets that do as they are told, in the loop of the test, and routes that lead to them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web

from fwctl.routing.engine import Answer, Request, Router
from fwctl.routing.model import BreakerPolicy, Route, Routes, Target, Timeouts
from fwctl.routing.record import Record

Act = Callable[[web.Request], Awaitable[web.StreamResponse]]


def chunk(content: str | None = None, *, finish: str | None = None, role: str | None = None) -> bytes:
    """One event as the platform writes it."""
    delta = {key: value for key, value in (("role", role), ("content", content)) if value is not None}
    row = {"index": 0, "delta": delta, "finish_reason": finish}
    data = {"id": "c1", "object": "chat.completion.chunk", "model": "m", "choices": [row]}
    return b"data: " + json.dumps(data, separators=(",", ":")).encode() + b"\n\n"


ROLE = chunk("", role="assistant")
STOP = chunk(finish="stop")
DONE = b"data: [DONE]\n\n"
USAGE = (
    b'data: {"id":"c1","choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"total_tokens":9}}\n\n'
)
HELLO = (ROLE, chunk("Hel"), chunk("lo"), STOP, USAGE, DONE)


def says(*pieces: bytes, gap_s: float = 0.0, hang: bool = False, drop: bool = False) -> Act:
    """Streams these bytes. hang: then nothing more. drop: then the connection breaks."""

    async def act(request: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"content-type": "text/event-stream"})
        await response.prepare(request)
        for piece in pieces:
            await response.write(piece)
            if gap_s:
                await asyncio.sleep(gap_s)
        if hang:
            await asyncio.sleep(60)
        if drop and request.transport is not None:
            request.transport.abort()
            await asyncio.sleep(60)
        return response

    return act


def answers(status: int, body: Mapping[str, Any] | bytes = b"", **headers: str) -> Act:
    """A whole answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    async def act(_request: web.Request) -> web.StreamResponse:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return web.Response(status=status, body=data, headers={"content-type": "application/json", **named})

    return act


WHOLE = {
    "id": "c1",
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "Hello"}, "finish_reason": "stop"}],
    "usage": {"prompt_tokens": 7, "completion_tokens": 2},
}


async def drops(request: web.Request) -> web.StreamResponse:
    """Closes the connection without a word."""
    assert request.transport is not None
    request.transport.abort()
    await asyncio.sleep(60)
    raise AssertionError


async def hangs(_request: web.Request) -> web.StreamResponse:
    """Never answers."""
    await asyncio.sleep(60)
    raise AssertionError


@dataclass
class Place:
    """One target: what it does next (the last act repeats), and what it was sent."""

    acts: list[Act]
    bodies: list[dict[str, Any]] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    cancelled: int = 0

    async def handle(self, request: web.Request) -> web.StreamResponse:
        self.headers.append({name.lower(): value for name, value in request.headers.items()})
        self.bodies.append(json.loads(await request.read()))
        act = self.acts.pop(0) if len(self.acts) > 1 else self.acts[0]
        try:
            return await act(request)
        except (asyncio.CancelledError, ConnectionError):
            self.cancelled += 1
            raise


@asynccontextmanager
async def upstreams(**places: Act | list[Act]) -> AsyncIterator[tuple[str, dict[str, Place]]]:
    """A server with a target below each name; yields its base URL."""
    found = {name: Place(acts if isinstance(acts, list) else [acts]) for name, acts in places.items()}
    app = web.Application(client_max_size=2**30)
    for name, place in found.items():
        for path in ("chat/completions", "completions", "embeddings"):
            app.router.add_post(f"/{name}/v1/{path}", place.handle)
    runner = web.AppRunner(app, handler_cancellation=True, shutdown_timeout=0.05)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}", found
    finally:
        await runner.cleanup()


QUICK = Timeouts(connect_s=1.0, first_token_s=0.25, idle_s=0.25)
CALM = Timeouts(connect_s=5.0, first_token_s=10.0, idle_s=10.0)
PATIENT = BreakerPolicy(min_requests=1000)


@dataclass
class Box:
    """A router over places, and what it reported."""

    router: Router
    places: dict[str, Place]
    records: list[Record]
    base: str

    async def send(self, **body: Any) -> tuple[Answer, bytes]:
        """One streamed chat request of the route `chat`."""
        asked = {"model": "chat", "stream": True, "messages": [{"role": "user", "content": "Hi"}], **body}
        async with await self.router.send(Request("chat/completions", asked)) as answer:
            return answer, await answer.read()

    def sent(self) -> dict[str, int]:
        return {name: len(place.bodies) for name, place in self.places.items()}


@asynccontextmanager
async def routing(
    *,
    targets: Mapping[str, Mapping[str, Any]] | None = None,
    breaker: BreakerPolicy = PATIENT,
    timeouts: Timeouts = CALM,
    route: Mapping[str, Any] | None = None,
    **places: Act | list[Act],
) -> AsyncIterator[Box]:
    """A router whose route `chat` has one target for each place, in this order."""
    async with upstreams(**places) as (base, found):
        made = tuple(
            Target(name, "m", f"{base}/{name}/v1", timeouts=timeouts, **(targets or {}).get(name, {}))
            for name in places
        )
        chat = Route("chat", made, **{"total_s": 20.0, "breaker": breaker, **(route or {})})
        records: list[Record] = []
        async with Router(
            Routes("routes.yaml", None, {"chat": chat}), observer=records.append, seed=1
        ) as router:
            yield Box(router, found, records, base)
