"""A small typed streaming client for single requests, on httpx.

It never retries a failure by itself; only a structured answer that was cut off is asked for again, with
more tokens, and every try is counted.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from fwctl.inference.answer import Answer
from fwctl.inference.failures import ErrorClass, Failure, from_status
from fwctl.inference.opening import Opening
from fwctl.inference.perf import from_headers
from fwctl.inference.sse import EventParser, EventTooLongError
from fwctl.inference.structured import (
    RUNAWAY,
    Messages,
    judge,
    next_max_tokens,
    runs_away,
    with_instruction,
)

if TYPE_CHECKING:
    import httpx

FIREWORKS_URL = "https://api.fireworks.ai/inference/v1"
BODY_LIMIT_BYTES = 64 * 1024


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds for each phase: connecting, until the first token, between reads, everything."""

    connect_s: float = 10.0
    ttft_s: float = 120.0
    idle_s: float = 60.0
    total_s: float = 600.0


@dataclass(frozen=True, slots=True)
class Endpoint:
    """An OpenAI-compatible server. `api_key` never shows in a representation."""

    url: str = FIREWORKS_URL
    api_key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)


@dataclass(frozen=True, slots=True)
class Ask:
    """One chat request. `max_tokens_cap`: how far a cut-off structured answer may grow."""

    model: str
    messages: Messages
    max_tokens: int = 1024
    temperature: float = 0.0
    response_format: Mapping[str, Any] | None = None
    schema_in_prompt: bool = True
    max_tokens_cap: int = 16384
    prediction: str | None = None
    perf_metrics: bool = True
    extra: Mapping[str, Any] = field(default_factory=dict)

    def body(self) -> dict[str, Any]:
        """The JSON body; `extra` wins over every other key but `stream`."""
        messages = list(self.messages)
        if self.response_format is not None and self.schema_in_prompt:
            messages = with_instruction(messages, self.response_format)
        body: dict[str, Any] = {
            "model": self.model,
            "messages": messages,
            "max_tokens": self.max_tokens,
            "temperature": self.temperature,
            "stream_options": {"include_usage": True},
        }
        if self.response_format is not None:
            body["response_format"] = dict(self.response_format)
        if self.prediction is not None:
            body["prediction"] = {"type": "content", "content": self.prediction}
        if self.perf_metrics:
            body["perf_metrics_in_response"] = True
        return {**body, **self.extra, "stream": True}


@dataclass(frozen=True, slots=True)
class Reply:
    """The last answer, with times from sending in seconds; `failure` is None when all is well.

    tries: requests that were sent. wasted_tokens: output of tries that were cut off.
    """

    answer: Answer
    failure: Failure | None
    http_status: int | None
    request_id: str | None
    ttft_s: float | None
    total_s: float
    tries: int = 1
    wasted_tokens: int = 0

    @property
    def text(self) -> str:
        return self.answer.text


def ask(request: Ask, endpoint: Endpoint | None = None) -> Reply:
    """Send one request and wait for its answer. Failures are returned, never raised."""
    return asyncio.run(ask_async(request, endpoint))


async def ask_async(request: Ask, endpoint: Endpoint | None = None) -> Reply:
    """The same inside a running event loop."""
    endpoint = endpoint or Endpoint()
    reply = await _once(request, endpoint)
    while reply.failure is not None and reply.failure.error_class is ErrorClass.LENGTH:
        larger = next_max_tokens(request.max_tokens, request.max_tokens_cap)
        if larger is None:
            break
        request = replace(request, max_tokens=larger)
        tries, wasted = reply.tries + 1, reply.wasted_tokens + (reply.answer.usage.output_tokens or 0)
        reply = replace(await _once(request, endpoint), tries=tries, wasted_tokens=wasted)
    return reply


async def _once(request: Ask, endpoint: Endpoint) -> Reply:
    import httpx

    timeouts = endpoint.timeouts
    headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    phases = httpx.Timeout(None, connect=timeouts.connect_s)
    exchange = _Exchange(request, timeouts)
    try:
        async with asyncio.timeout(timeouts.total_s), httpx.AsyncClient(timeout=phases) as client:
            url = endpoint.url.rstrip("/") + "/chat/completions"
            built = client.build_request("POST", url, json=request.body(), headers=headers)
            await exchange.run(client, built)
    except TimeoutError:
        exchange.failure = exchange.failure or Failure(ErrorClass.TIMEOUT_TOTAL, "the request took too long")
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        exchange.failure = _transport(error, exchange.status)
    return exchange.reply()


class _Exchange:
    """One request on the wire; what is known survives any way in which it ends."""

    def __init__(self, request: Ask, timeouts: Timeouts) -> None:
        self.request = request
        self.timeouts = timeouts
        self.answer = Answer()
        self.failure: Failure | None = None
        self.status: int | None = None
        self.request_id: str | None = None
        self.sent_at = time.monotonic()

    async def run(self, client: httpx.AsyncClient, built: httpx.Request) -> None:
        # Making a client reads certificates, which is not the server's time.
        self.sent_at = time.monotonic()
        response = await self._within(client.send(built, stream=True))
        if response is None:
            return
        try:
            self.status = response.status_code
            self.request_id = response.headers.get("x-request-id")
            self.answer.server |= from_headers(response.headers)
            if response.is_success:
                await self._stream(response.aiter_bytes(), Opening(response.headers.get("content-type")))
            else:
                self.failure = from_status(response.status_code, await _start(response.aiter_bytes()))
        finally:
            await response.aclose()

    async def _stream(self, chunks: AsyncIterator[bytes], opening: Opening) -> None:
        parser = EventParser()
        try:
            while (chunk := await self._within(anext(chunks, b""))) != b"":
                if chunk is None:
                    return
                at = time.monotonic()
                for event in parser.feed(chunk):
                    self.answer.absorb(event, at)
                if not self.answer.began:
                    opening.add(chunk)
                if self.request.response_format and runs_away(self.answer.parts):
                    self.failure = RUNAWAY
                    return
        except EventTooLongError as error:
            self.failure = Failure(ErrorClass.SSE_ERROR, str(error))
            return
        for event in parser.close():
            self.answer.absorb(event, time.monotonic())
        self.failure = self.answer.end(opening) or self._judged()

    async def _within(self, step: Any) -> Any:
        """Await one step inside the phase's limit; None when the limit ended it, with `failure` set."""
        waiting = self.answer.first_token_at is None
        limit = self.sent_at + self.timeouts.ttft_s - time.monotonic() if waiting else self.timeouts.idle_s
        try:
            async with asyncio.timeout(max(0.0, limit)) as phase:
                return await step
        except TimeoutError:
            if not phase.expired():
                raise
        if waiting:
            self.failure = Failure(ErrorClass.TIMEOUT_TTFT, "no token came in time")
        else:
            self.failure = Failure(ErrorClass.TIMEOUT_IDLE, "the stream stood still")
        return None

    def _judged(self) -> Failure | None:
        if not self.request.response_format:
            return None
        return judge(self.answer.text, self.answer.finish_reason, self.request.response_format)

    def reply(self) -> Reply:
        first = self.answer.first_token_at
        ended = self.answer.last_token_at if self.failure is None else None
        return Reply(
            self.answer,
            self.failure,
            self.status,
            self.request_id,
            None if first is None else first - self.sent_at,
            (ended or time.monotonic()) - self.sent_at,
        )


async def _start(chunks: AsyncIterator[bytes]) -> bytes:
    """The beginning of an error body, however long it is."""
    body = b""
    async for chunk in chunks:
        body += chunk
        if len(body) >= BODY_LIMIT_BYTES:
            break
    return body[:BODY_LIMIT_BYTES]


def _transport(error: Exception, status: int | None) -> Failure:
    """The class of a failure below HTTP, from the kind of exception and the cause it wraps."""
    import socket
    import ssl

    import httpx

    causes = list(_causes(error))
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        return Failure(ErrorClass.TLS, "the TLS handshake failed")
    if any(isinstance(cause, socket.gaierror) for cause in causes):
        return Failure(ErrorClass.DNS, "the name of the server is unknown")
    if isinstance(error, httpx.ConnectTimeout):
        return Failure(ErrorClass.TIMEOUT_CONNECT, "the server did not accept the connection in time")
    if status is not None:
        return Failure(ErrorClass.TRUNCATED, "the connection broke during the answer")
    if isinstance(error, httpx.InvalidURL | httpx.UnsupportedProtocol):
        return Failure(ErrorClass.HARNESS, "the URL of the endpoint is not valid")
    return Failure(ErrorClass.CONNECT, "the connection failed")


def _causes(error: BaseException | None) -> Any:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__
