"""One request over aiohttp, stamped once per socket read and before anything is parsed."""

from __future__ import annotations

import asyncio
import errno
import socket
import ssl
import time
from typing import TYPE_CHECKING, Any

from fwctl.inference.answer import STALL_S, Answer
from fwctl.inference.client import BODY_LIMIT_BYTES
from fwctl.inference.failures import ErrorClass, Failure, from_status
from fwctl.inference.limits import limited_by
from fwctl.inference.opening import Opening
from fwctl.inference.perf import from_headers
from fwctl.inference.sse import EventParser, EventTooLongError
from fwctl.inference.structured import RUNAWAY, judge, runs_away
from fwctl.measure.encoding import dumps
from fwctl.measure.target import Target
from fwctl.redact import Redactor
from fwctl.stats.quantiles import quantile_sorted

if TYPE_CHECKING:
    import aiohttp

    from fwctl.measure.record import Record

# How late an idle limit may be noticed, as a share of it: the timer is moved this seldom.
_IDLE_SLACK = 0.1


class Marks:
    """When the phases of one request were reached, on time.monotonic()."""

    __slots__ = ("connected_at", "connecting_at", "reused", "sent_at")

    def __init__(self, started: float) -> None:
        self.sent_at = started
        self.connecting_at: float | None = None
        self.connected_at: float | None = None
        self.reused = False

    @property
    def connect_s(self) -> float | None:
        if self.connecting_at is None or self.connected_at is None:
            return None
        return self.connected_at - self.connecting_at


def open_session(connections: int) -> aiohttp.ClientSession:
    """A session without retries, proxies, cookies or compression; connections are kept alive.

    connections: most at a time, 0 for as many as there are requests.
    """
    import aiohttp

    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=connections),
        cookie_jar=aiohttp.DummyCookieJar(),
        trace_configs=[_tracing()],
        timeout=aiohttp.ClientTimeout(total=None),
        headers={"accept-encoding": "identity"},
        read_bufsize=2**20,
        json_serialize=lambda body: dumps(body).decode(),
    )


def _tracing() -> aiohttp.TraceConfig:
    import aiohttp

    async def sent(_session: Any, context: Any, _params: Any) -> None:
        context.trace_request_ctx.sent_at = time.monotonic()

    async def connecting(_session: Any, context: Any, _params: Any) -> None:
        context.trace_request_ctx.connecting_at = time.monotonic()

    async def connected(_session: Any, context: Any, _params: Any) -> None:
        context.trace_request_ctx.connected_at = time.monotonic()

    async def reused(_session: Any, context: Any, _params: Any) -> None:
        context.trace_request_ctx.reused = True

    trace = aiohttp.TraceConfig()
    trace.on_request_headers_sent.append(sent)
    trace.on_request_chunk_sent.append(sent)
    trace.on_connection_create_start.append(connecting)
    trace.on_connection_create_end.append(connected)
    trace.on_connection_reuseconn.append(reused)
    return trace


async def send(
    session: aiohttp.ClientSession,
    target: Target,
    body: dict[str, Any],
    record: Record,
    *,
    due: float,
    answer: Answer | None = None,
) -> Answer:
    """Send one request and fill its record. `due`: when it should have started, on time.monotonic().

    A failure is a result: it is written into the record and never raised, and nothing is tried again.
    """
    started = time.monotonic()
    marks = Marks(started)
    answer = Answer() if answer is None else answer
    record.dispatch_lag_s = max(0.0, started - due)
    try:
        failure = await _exchange(session, target, body, record, answer=answer, marks=marks)
    except Exception as error:
        # Whatever a library raises is one failed request, not the end of a run.
        failure = _transport(error, record.http_status, answer, marks.sent_at + target.timeouts.total_s)
    _fill(record, answer, marks, started, due)
    if failure is not None:
        record.error_class = failure.error_class.value
        if failure.error_class is ErrorClass.NOT_A_STREAM:
            record.error_note = _without_secrets(failure.message, target)
    return answer


def _without_secrets(text: str, target: Target) -> str:
    """A server may say again what it was sent."""
    redactor = Redactor()
    redactor.register(target.api_key, *target.headers.values())
    return redactor.mask(text)


async def _exchange(
    session: aiohttp.ClientSession,
    target: Target,
    body: dict[str, Any],
    record: Record,
    *,
    answer: Answer,
    marks: Marks,
) -> Failure | None:
    limits = target.timeouts
    url = target.url.rstrip("/") + "/chat/completions"
    headers = dict(target.headers)
    if target.api_key:
        headers["authorization"] = f"Bearer {target.api_key}"
    async with (
        asyncio.timeout(min(limits.ttft_s, limits.total_s)) as scope,
        session.post(
            url, json=body, headers=headers, trace_request_ctx=marks, allow_redirects=False
        ) as response,
    ):
        record.http_status = response.status
        record.request_id = response.headers.get("x-request-id")
        answer.server |= from_headers(response.headers)
        if not 200 <= response.status < 300:
            start = await response.content.read(BODY_LIMIT_BYTES)
            record.limited_by = limited_by(response.status, response.headers, start)
            return from_status(response.status, start)
        failure = await _stream(response, target, answer, scope, bool(body.get("response_format")))
    if failure is None and (wanted := body.get("response_format")):
        failure = judge(answer.text, answer.finish_reason, wanted)
    return failure


async def _stream(
    response: aiohttp.ClientResponse,
    target: Target,
    answer: Answer,
    scope: asyncio.Timeout,
    structured: bool,
) -> Failure | None:
    """Read to the end; the failure of the stream itself, if any."""
    limits, loop, parser = target.timeouts, asyncio.get_running_loop(), EventParser()
    end = loop.time() + limits.total_s
    renew_at = 0.0
    opening = Opening(response.headers.get("content-type"))
    read, feed, absorb, clock = response.content.readany, parser.feed, answer.absorb, time.monotonic
    only, absorb_plain = parser.only, answer.absorb_plain
    while chunk := await read():
        at = clock()
        data = only(chunk)
        if data is None or not absorb_plain(data, at):
            for event in feed(chunk):
                absorb(event, at)
            if not answer.began:
                opening.add(chunk)
        if at >= renew_at and answer.first_token_at is not None:
            # Moving a timer costs more than parsing a chunk, so it moves only now and then.
            scope.reschedule(min(end, loop.time() + limits.idle_s * (1 + _IDLE_SLACK)))
            renew_at = at + limits.idle_s * _IDLE_SLACK
        if structured and runs_away(answer.parts):
            return RUNAWAY
    at = clock()
    for event in parser.close():
        absorb(event, at)
    return answer.end(opening)


def _fill(record: Record, answer: Answer, marks: Marks, started: float, due: float) -> None:
    usage, sent_at = answer.usage, marks.sent_at
    first, last = answer.first_token_at, answer.last_token_at
    record.connect_s = marks.connect_s
    record.connection = "reused" if marks.reused else "new" if marks.connected_at is not None else None
    record.queue_lag_s = max(0.0, sent_at - started - (marks.connect_s or 0.0))
    record.done_s = time.monotonic() - sent_at
    if first is not None and last is not None:
        record.ttft_s = first - sent_at
        record.ttft_from_schedule_s = first - due
        record.total_s = last - sent_at
        if usage.output_tokens is not None and usage.output_tokens >= 2:
            record.tpot_s = (last - first) / (usage.output_tokens - 1)
        record.response_digest = answer.digest
    if answer.first_visible_at is not None:
        record.ttfv_s = answer.first_visible_at - sent_at
    if answer.gaps_s:
        ordered = sorted(answer.gaps_s)
        record.gap_p50_s, record.gap_p95_s = quantile_sorted(ordered, 0.5), quantile_sorted(ordered, 0.95)
        record.max_gap_s = ordered[-1]
        record.stalls = answer.stalls if ordered[-1] > STALL_S else 0
    record.reads_with_tokens = answer.reads_with_tokens or None
    record.prompt_tokens, record.cached_tokens = usage.prompt_tokens, usage.cached_tokens
    record.output_tokens, record.reasoning_tokens = usage.output_tokens, usage.reasoning_tokens
    record.tokens_source = "usage" if usage.output_tokens is not None else None
    record.finish_reason = answer.finish_reason
    record.server = answer.server


def _transport(error: Exception, status: int | None, answer: Answer, end: float) -> Failure:
    import aiohttp

    if isinstance(error, EventTooLongError):
        return Failure(ErrorClass.SSE_ERROR, str(error))
    if isinstance(error, TimeoutError):
        if time.monotonic() >= end:
            return Failure(ErrorClass.TIMEOUT_TOTAL, "the request took too long")
        waiting = answer.first_token_at is None
        found = ErrorClass.TIMEOUT_TTFT if waiting else ErrorClass.TIMEOUT_IDLE
        return Failure(found, "the server was silent for too long")
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Failure(ErrorClass.TLS, "the TLS handshake failed")
    if _is_own_limit(error):
        return Failure(ErrorClass.HARNESS, "this machine has no file, port or memory left for a connection")
    if isinstance(error, aiohttp.ClientConnectorError):
        name = isinstance(error.os_error, socket.gaierror)
        return Failure(ErrorClass.DNS if name else ErrorClass.CONNECT, "the connection failed")
    if isinstance(error, aiohttp.ClientError | OSError):
        return Failure(ErrorClass.TRUNCATED if status else ErrorClass.CONNECT, "the connection broke")
    return Failure(ErrorClass.HARNESS, f"the harness failed with {type(error).__name__}")


# What a system says when the client itself has run out of something.
_OWN_LIMITS = frozenset({errno.EMFILE, errno.ENFILE, errno.EADDRNOTAVAIL, errno.ENOBUFS, errno.ENOMEM})


def _is_own_limit(error: BaseException | None) -> bool:
    while error is not None:
        if isinstance(error, OSError) and error.errno in _OWN_LIMITS:
            return True
        error = error.__cause__ or error.__context__
    return False
