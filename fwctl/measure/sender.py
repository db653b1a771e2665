"""One request over aiohttp, stamped once per socket read and before anything is parsed."""

from __future__ import annotations

import asyncio
import socket
import ssl
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

from fwctl.inference.answer import Answer
from fwctl.inference.client import BODY_LIMIT_BYTES, Timeouts
from fwctl.inference.failures import ErrorClass, Failure, from_status
from fwctl.inference.perf import from_headers
from fwctl.inference.sse import EventParser, EventTooLongError
from fwctl.inference.structured import judge

if TYPE_CHECKING:
    import aiohttp

    from fwctl.measure.record import Record


@dataclass(frozen=True, slots=True)
class Target:
    """Where requests go. `url` ends before `/chat/completions`; `extra` joins every body."""

    name: str
    url: str
    model: str
    api_key: str | None = field(default=None, repr=False)
    timeouts: Timeouts = field(default_factory=Timeouts)
    extra: Mapping[str, Any] = field(default_factory=dict)


def open_session(connections: int) -> aiohttp.ClientSession:
    """A session without retries, proxies, cookies or compression; connections are kept alive."""
    import aiohttp

    async def sent(_session: Any, context: Any, _params: Any) -> None:
        context.trace_request_ctx.sent_at = time.monotonic()

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(sent)
    trace.on_request_chunk_sent.append(sent)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[trace],
        timeout=aiohttp.ClientTimeout(total=None),
        headers={"accept-encoding": "identity"},
        read_bufsize=2**20,
    )


async def send(
    session: aiohttp.ClientSession, target: Target, body: dict[str, Any], record: Record, *, due: float
) -> Answer:
    """Send one request and fill its record. `due`: when it should have started, on time.monotonic().

    A failure is a result: it is written into the record and never raised, and nothing is tried again.
    """
    started = time.monotonic()
    marks = SimpleNamespace(sent_at=started)
    answer = Answer()
    record.dispatch_lag_s = max(0.0, started - due)
    try:
        failure = await _exchange(session, target, body, record, answer=answer, marks=marks)
    except Exception as error:
        # Whatever a library raises is one failed request, not the end of a run.
        failure = _transport(error, record.http_status, answer)
    _fill(record, answer, marks.sent_at, started, due)
    record.error_class = failure.error_class.value if failure else None
    return answer


async def _exchange(
    session: aiohttp.ClientSession,
    target: Target,
    body: dict[str, Any],
    record: Record,
    *,
    answer: Answer,
    marks: SimpleNamespace,
) -> Failure | None:
    headers = {"authorization": f"Bearer {target.api_key}"} if target.api_key else {}
    limits, loop = target.timeouts, asyncio.get_running_loop()
    url = target.url.rstrip("/") + "/chat/completions"
    end = loop.time() + limits.total_s
    async with (
        asyncio.timeout(min(limits.ttft_s, limits.total_s)) as scope,
        session.post(url, json=body, headers=headers, trace_request_ctx=marks) as response,
    ):
        record.http_status = response.status
        record.request_id = response.headers.get("x-request-id")
        answer.server |= from_headers(response.headers)
        if not 200 <= response.status < 300:
            return from_status(response.status, await response.content.read(BODY_LIMIT_BYTES))
        parser = EventParser()
        while chunk := await response.content.readany():
            at = time.monotonic()
            for event in parser.feed(chunk):
                answer.absorb(event, at)
            if answer.first_token_at is not None:
                scope.reschedule(min(end, loop.time() + limits.idle_s))
        at = time.monotonic()
        for event in parser.close():
            answer.absorb(event, at)
    wanted = body.get("response_format")
    failure = answer.end()
    if failure is None and wanted:
        failure = judge(answer.text, answer.finish_reason, wanted)
    return failure


def _fill(record: Record, answer: Answer, sent_at: float, started: float, due: float) -> None:
    usage, first, last = answer.usage, answer.first_token_at, answer.last_token_at
    record.queue_lag_s = sent_at - started
    if first is not None and last is not None:
        record.ttft_s = first - sent_at
        record.ttft_from_schedule_s = first - due
        record.total_s = last - sent_at
        if usage.output_tokens is not None and usage.output_tokens >= 2:
            record.tpot_s = (last - first) / (usage.output_tokens - 1)
        record.response_digest = answer.digest
    if answer.first_visible_at is not None:
        record.ttfv_s = answer.first_visible_at - sent_at
    record.max_gap_s = answer.max_gap_s
    record.reads_with_tokens = answer.reads_with_tokens or None
    record.prompt_tokens, record.cached_tokens = usage.prompt_tokens, usage.cached_tokens
    record.output_tokens, record.reasoning_tokens = usage.output_tokens, usage.reasoning_tokens
    record.tokens_source = "usage" if usage.output_tokens is not None else None
    record.finish_reason = answer.finish_reason
    record.server = answer.server


def _transport(error: Exception, status: int | None, answer: Answer) -> Failure:
    import aiohttp

    if isinstance(error, EventTooLongError):
        return Failure(ErrorClass.SSE_ERROR, str(error))
    if isinstance(error, TimeoutError):
        waiting = answer.first_token_at is None
        found = ErrorClass.TIMEOUT_TTFT if waiting else ErrorClass.TIMEOUT_IDLE
        return Failure(found, "the server was silent for too long")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Failure(ErrorClass.TLS, "the TLS handshake failed")
    if isinstance(error, aiohttp.ClientConnectorError):
        name = isinstance(error.os_error, socket.gaierror)
        return Failure(ErrorClass.DNS if name else ErrorClass.CONNECT, "the connection failed")
    if isinstance(error, aiohttp.ClientError | OSError):
        return Failure(ErrorClass.TRUNCATED if status else ErrorClass.CONNECT, "the connection broke")
    return Failure(ErrorClass.HARNESS, f"the harness failed with {type(error).__name__}")
