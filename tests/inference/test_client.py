"""The client against a real server on this machine that misbehaves on purpose."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from aiohttp import web

from fwctl.inference import Ask, Endpoint, Timeouts, ask
from fwctl.inference.client import Reply, ask_async
from fwctl.inference.failures import ErrorClass

Handler = Callable[[web.Request, web.StreamResponse, dict[str, Any]], Awaitable[None]]
QUICK = Timeouts(connect_s=2, ttft_s=0.4, idle_s=0.4, total_s=20)
PATIENT = Timeouts()
REQUEST = Ask("m", [{"role": "user", "content": "Hi"}])


def event(finish: str | None = None, **delta: Any) -> bytes:
    body = {"choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}
    return b"data: " + json.dumps(body).encode() + b"\n\n"


def talk(handler: Handler, request: Ask = REQUEST, timeouts: Timeouts = PATIENT) -> Reply:
    async def handle(received: web.Request) -> web.StreamResponse:
        response = web.StreamResponse(headers={"x-request-id": "r1", "fireworks-prompt-tokens": "7"})
        await response.prepare(received)
        try:
            await handler(received, response, await received.json())
        except (ConnectionError, asyncio.CancelledError):
            return response
        return response

    return asyncio.run(serve(handle, request, timeouts))


async def serve(handle: Any, request: Ask, timeouts: Timeouts) -> Reply:
    app = web.Application()
    app.router.add_post("/v1/chat/completions", handle)
    runner = web.AppRunner(app, shutdown_timeout=0.1)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server: Any = site._server
    port = server.sockets[0].getsockname()[1]
    try:
        return await ask_async(request, Endpoint(f"http://127.0.0.1:{port}/v1", "key", timeouts))
    finally:
        await runner.cleanup()


def error_class(reply: Reply) -> ErrorClass | None:
    return reply.failure.error_class if reply.failure else None


def test_a_good_stream_gives_text_times_and_metrics() -> None:
    seen: list[Any] = []

    async def good(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
        seen.append((received.headers["authorization"], body["stream"], body["prediction"]["content"]))
        await response.write(event(role="assistant"))
        await response.write(event(content="Hé")[:-20])
        await response.write(event(content="Hé")[-20:] + event("stop") + b"data: [DONE]\n\n")

    reply = talk(good, Ask("m", REQUEST.messages, prediction="Hé"))
    assert (reply.text, error_class(reply), reply.http_status, reply.request_id) == ("Hé", None, 200, "r1")
    assert reply.answer.server == {"prompt-tokens": 7.0}
    assert reply.ttft_s is not None
    assert 0 < reply.ttft_s <= reply.total_s
    assert seen == [("Bearer key", True, "Hé")]


async def silent(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    await asyncio.Event().wait()


async def pings(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    while True:
        await response.write(b": ping\n\n" + event(role="assistant"))
        await asyncio.sleep(0.02)


async def stalls(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    await response.write(event(content="a"))
    await asyncio.Event().wait()


async def drips(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    while True:
        await response.write(event(content="a"))
        await asyncio.sleep(0.02)


async def cut(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    await response.write(event(content="a"))


async def broken(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    await response.write(event(content="a"))
    assert received.transport is not None
    received.transport.abort()


async def late_error(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
    await response.write(event(content="a") + b'event: error\ndata: {"message": "busy"}\n\n')


@pytest.mark.parametrize(
    ("handler", "expected"),
    [
        (silent, ErrorClass.TIMEOUT_TTFT),
        (pings, ErrorClass.TIMEOUT_TTFT),
        (stalls, ErrorClass.TIMEOUT_IDLE),
        (cut, ErrorClass.TRUNCATED),
        (broken, ErrorClass.TRUNCATED),
        (late_error, ErrorClass.SSE_ERROR),
    ],
)
def test_each_misbehaviour_has_its_class(handler: Handler, expected: ErrorClass) -> None:
    limits = QUICK if expected.startswith("timeout") else PATIENT
    assert error_class(talk(handler, timeouts=limits)) is expected


def test_a_stream_without_end_meets_the_total_limit() -> None:
    reply = talk(drips, timeouts=Timeouts(total_s=1.5))
    assert error_class(reply) is ErrorClass.TIMEOUT_TOTAL
    assert reply.ttft_s is not None


@pytest.mark.parametrize(
    ("status", "expected"),
    [(429, ErrorClass.RATE_LIMITED), (503, ErrorClass.SCALING_UP), (401, ErrorClass.HTTP_401)],
)
def test_an_http_error_is_a_result_and_is_not_retried(status: int, expected: ErrorClass) -> None:
    calls = []

    async def refuse(received: web.Request) -> web.Response:
        calls.append(1)
        return web.Response(status=status, text='{"code": "DEPLOYMENT_SCALING_UP"}' + "x" * 100_000)

    reply = asyncio.run(serve(refuse, REQUEST, Timeouts()))
    assert (error_class(reply), reply.http_status, calls) == (expected, status, [1])


def test_whitespace_is_cut_off_early() -> None:
    async def blank(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
        while True:
            await response.write(event(content=" " * 100))

    reply = talk(blank, Ask("m", REQUEST.messages, response_format={"type": "json_object"}))
    assert error_class(reply) is ErrorClass.INVALID_JSON


def test_a_cut_off_structured_answer_is_asked_for_again_with_more_tokens() -> None:
    limits: list[int] = []

    async def grows(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
        limits.append(body["max_tokens"])
        finish = "stop" if len(limits) == 3 else "length"
        usage = b'data: {"choices": [], "usage": {"completion_tokens": 10}}\n\n'
        await response.write(event(content="{}") + event(finish) + usage + b"data: [DONE]\n\n")

    request = Ask("m", REQUEST.messages, 100, response_format={"type": "json_object"}, max_tokens_cap=300)
    reply = talk(grows, request)
    assert (error_class(reply), reply.tries, reply.wasted_tokens, limits) == (None, 3, 20, [100, 200, 300])


def test_at_the_cap_the_answer_stays_cut_off() -> None:
    async def never(received: web.Request, response: web.StreamResponse, body: dict[str, Any]) -> None:
        await response.write(event(content="{}") + event("length"))

    request = Ask("m", REQUEST.messages, 100, response_format={"type": "json_object"}, max_tokens_cap=100)
    reply = talk(never, request)
    assert (error_class(reply), reply.tries) == (ErrorClass.LENGTH, 1)


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:1/v1", ErrorClass.CONNECT),
        ("http://no-such-host.invalid/v1", ErrorClass.DNS),
        ("ftp://127.0.0.1/v1", ErrorClass.HARNESS),
        ("127.0.0.1/v1", ErrorClass.HARNESS),
    ],
)
def test_an_endpoint_that_is_not_there(url: str, expected: ErrorClass) -> None:
    assert error_class(ask(REQUEST, Endpoint(url, timeouts=QUICK))) is expected


def test_the_key_is_not_in_representations() -> None:
    assert "sesame" not in repr(Endpoint(api_key="sesame"))
