"""One attempt at one target, up to the first content. aiohttp never retries a POST, and neither does this,
but for a kept connection that the server had closed before the request reached it.
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any

import aiohttp

from fwctl.inference.failures import ErrorClass, Failure, from_status
from fwctl.inference.limits import limited_by
from fwctl.routing.jsonbytes import loads
from fwctl.routing.model import Target
from fwctl.routing.scanner import Opening

# From here on aiohttp wants a file, which it sends piece by piece.
_LARGE_BYTES = 2**20
ERROR_BODY_BYTES = 64 * 1024
LARGEST_ANSWER_BYTES = 64 * 2**20
_TOTAL = Failure(ErrorClass.TIMEOUT_TOTAL, "the deadline of the request is over")


@dataclass(frozen=True, slots=True)
class Call:
    """What is sent. deadline: of the whole request, on the loop's clock. answer_s: how long a whole answer
    may take on this target, so that another one still has a chance."""

    path: str
    body: bytes
    headers: Mapping[str, str]
    stream: bool
    deadline: float
    answer_s: float


@dataclass(slots=True)
class Opened:
    """A target that answers. data: the whole body, or the stream up to its first content."""

    response: aiohttp.ClientResponse
    data: bytes
    model: str | None = None


@dataclass(frozen=True, slots=True)
class Refused:
    """A target that does not. body: the start of its answer, for errors that go back as they are."""

    failure: Failure
    status: int | None = None
    body: bytes = b""
    content_type: str = "application/json"
    retry_after_s: float | None = None
    limited_by: str | None = None


def open_session() -> aiohttp.ClientSession:
    """Connections of one router: kept alive, without a limit, proxies, cookies or compression."""
    trace = aiohttp.TraceConfig()
    trace.on_connection_reuseconn.append(_reused)
    return aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0, ttl_dns_cache=30),
        cookie_jar=aiohttp.DummyCookieJar(),
        timeout=aiohttp.ClientTimeout(total=None),
        trace_configs=[trace],
        auto_decompress=True,
        read_bufsize=2**16,
    )


async def _reused(_session: Any, context: Any, _params: Any) -> None:
    context.trace_request_ctx.append(True)


class Upstream:
    """The way to all targets."""

    def __init__(self, session: aiohttp.ClientSession) -> None:
        self._session = session
        self._loop = asyncio.get_running_loop()
        self._connect: dict[float, aiohttp.ClientTimeout] = {}

    async def open(self, call: Call, target: Target) -> Opened | Refused:
        """Send once and wait for content. Failures are returned; only cancellation is raised."""
        limit = target.timeouts.first_token_s if call.stream else call.answer_s
        until = min(self._loop.time() + limit, call.deadline)
        reused: list[bool] = []
        try:
            async with asyncio.timeout_at(until) as scope:
                try:
                    return await self._exchange(call, target, reused)
                except (aiohttp.ServerDisconnectedError, aiohttp.ClientOSError):
                    if not reused:
                        raise
                return await self._exchange(call, target, [])
        except TimeoutError as error:
            if isinstance(error, aiohttp.ServerTimeoutError) or not scope.expired():
                message = "the target did not accept the connection in time"
                return Refused(Failure(ErrorClass.TIMEOUT_CONNECT, message))
            if until >= call.deadline:
                return Refused(_TOTAL)
            return Refused(Failure(ErrorClass.TIMEOUT_TTFT, "no content came in time"))
        except (aiohttp.ClientError, OSError, ValueError) as error:
            return Refused(transport_failure(error))

    async def _exchange(self, call: Call, target: Target, reused: list[bool]) -> Opened | Refused:
        response = await self._session.post(
            f"{target.url}/{call.path}",
            data=call.body if len(call.body) < _LARGE_BYTES else io.BytesIO(call.body),
            headers=call.headers,
            allow_redirects=False,
            timeout=self._timeout(target.timeouts.connect_s),
            trace_request_ctx=reused,
        )
        kept = False
        try:
            reused.clear()  # from here on the request has reached the server
            found = await _first(call, response)
            kept = isinstance(found, Opened)
            return found
        finally:
            if not kept:
                response.close()

    def _timeout(self, connect_s: float) -> aiohttp.ClientTimeout:
        found = self._connect.get(connect_s)
        if found is None:
            found = self._connect[connect_s] = aiohttp.ClientTimeout(total=None, connect=connect_s)
        return found


async def _first(call: Call, response: aiohttp.ClientResponse) -> Opened | Refused:
    if not 200 <= response.status < 300:
        return await _refusal(response)
    if not call.stream:
        return await _whole(response)
    if response.content_type != "text/event-stream":
        message = "the target answered a stream with another content type"
        return Refused(Failure(ErrorClass.SSE_ERROR, message), response.status)
    opening = Opening()
    while piece := await response.content.readany():
        if opening.feed(piece):
            break
    else:
        opening.close()
    if opening.failure is not None:
        return Refused(opening.failure, response.status)
    return Opened(response, opening.data, opening.model)


async def _refusal(response: aiohttp.ClientResponse) -> Refused:
    body = b""
    while len(body) < ERROR_BODY_BYTES and (piece := await response.content.readany()):
        body += piece
    body = body[:ERROR_BODY_BYTES]
    failure = from_status(response.status, body)
    assert failure is not None
    return Refused(
        failure,
        response.status,
        body,
        response.content_type,
        retry_after(response.headers.get("retry-after"), response.headers.get("date")),
        limited_by(response.status, response.headers, body),
    )


async def _whole(response: aiohttp.ClientResponse) -> Opened | Refused:
    pieces, size = [], 0
    while piece := await response.content.readany():
        pieces.append(piece)
        size += len(piece)
        if size > LARGEST_ANSWER_BYTES:
            message = f"the answer is longer than {LARGEST_ANSWER_BYTES} bytes"
            return Refused(Failure(ErrorClass.SSE_ERROR, message), response.status)
    data = b"".join(pieces)
    failure = whole_failure(data)
    return Opened(response, data) if failure is None else Refused(failure, response.status)


def whole_failure(data: bytes) -> Failure | None:
    """What is wrong with the body of a 200 that is not streamed."""
    try:
        payload = loads(data)
    except (ValueError, RecursionError):
        return Failure(ErrorClass.INVALID_JSON, "the answer is not JSON")
    if not isinstance(payload, dict) or payload.get("error"):
        return Failure(ErrorClass.SSE_ERROR, "the target reported an error inside a 200")
    choices = payload.get("choices")
    if choices is None:
        if isinstance(payload.get("data"), list):
            return None
        return Failure(ErrorClass.EMPTY, "the answer has neither choices nor data")
    if not isinstance(choices, list) or not choices:
        return Failure(ErrorClass.EMPTY, "the answer has no choices")
    if any(not isinstance(item, dict) or not item.get("finish_reason") for item in choices):
        return Failure(ErrorClass.TRUNCATED, "the answer has no finish_reason")
    return None


def retry_after(text: str | None, date: str | None = None) -> float | None:
    """Seconds of a Retry-After header, in both of its forms; None without one that can be read.

    date: the server's own Date header, so that its clock does not matter.
    """
    if text is None:
        return None
    text = text.strip()
    if text.isascii() and text.isdigit():
        return float(text[:9])
    try:
        wait = parsedate_to_datetime(text) - parsedate_to_datetime(date or "")
    except (ValueError, TypeError, IndexError, OverflowError):
        return None
    return max(0.0, wait.total_seconds())


def transport_failure(error: BaseException) -> Failure:
    """The class of a failure below HTTP."""
    if isinstance(error, aiohttp.ClientSSLError | ssl.SSLError):
        return Failure(ErrorClass.TLS, "the TLS handshake failed")
    if isinstance(error, aiohttp.ClientConnectorDNSError | socket.gaierror):
        return Failure(ErrorClass.DNS, "the name of the server is unknown")
    if isinstance(error, aiohttp.ServerDisconnectedError | aiohttp.ClientConnectorError):
        return Failure(ErrorClass.CONNECT, "the connection failed")
    if isinstance(error, aiohttp.ClientPayloadError):
        return Failure(ErrorClass.TRUNCATED, "the connection broke during the answer")
    if isinstance(error, aiohttp.ClientResponseError | ValueError):
        return Failure(ErrorClass.HTTP_5XX, "the answer is not HTTP")
    return Failure(ErrorClass.CONNECT, "the connection broke")
