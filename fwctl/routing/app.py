"""The proxy as a handler of HTTP requests."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from contextlib import suppress
from typing import Any

from aiohttp import HttpVersion11, web

from fwctl.routing import answers
from fwctl.routing.access import KIND_HEADER, Keys, sent_on
from fwctl.routing.engine import Answer, Request, Router
from fwctl.routing.fleet import EMBEDDINGS
from fwctl.routing.jsonbytes import dumps, loads
from fwctl.routing.metrics import Metrics
from fwctl.routing.record import Record
from fwctl.routing.trace import TraceLog

PATHS = ("chat/completions", "completions", EMBEDDINGS)
_JSON = "application/json"
Act = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]
# A client that does not read holds a target; it gets this long beyond the deadline of its request.
SLOW_CLIENT_S = 5.0
# A client that does not send holds a place; its body has to be here by then.
BODY_S = 60.0
HEADER_S = 15.0  # and the header of a connection's first request by then
_LONGEST_KIND = 64


class Proxy:
    """Handlers. say: one log line. `draining` turns readiness off and closes connections one by one."""

    def __init__(self, router: Router, say: Callable[[dict[str, Any]], None]) -> None:
        self.router = router
        self.metrics = Metrics(router.states, lambda: router.fleet.budget.left(router.loop.time()))
        self.keys = Keys(router.routes.settings.client_keys)
        self.trace: TraceLog | None = None
        self.draining = False
        self.slow_client_s = SLOW_CLIENT_S
        self.body_s = BODY_S
        self.header_s = HEADER_S
        self.running = 0
        self.heard: set[web.RequestHandler] = set()
        self._since: dict[web.RequestHandler, float] = {}
        self._say = say
        self._idle = asyncio.Event()
        self._idle.set()
        self._acts: dict[tuple[str, str], Act] = {
            **{("POST", f"/v1/{path}"): self._serve for path in PATHS},
            ("GET", "/v1/models"): self._models,
            ("GET", "/healthz"): self._health,
            ("GET", "/readyz"): self._ready,
            ("GET", "/metrics"): self._page,
        }

    async def handle(self, http: web.BaseRequest) -> web.StreamResponse:
        """Every request. A table instead of an application: that saves a twentieth of a millisecond."""
        self.heard.add(http.protocol)
        act = self._acts.get((http.method, http.path))
        return await (act(http) if act is not None else self._unknown(http))

    def drop_silent(self, connections: Collection[web.RequestHandler]) -> None:
        """Close those of the open connections that never brought the header of a request: aiohttp would wait
        for ever. Call it now and then."""
        now = self.router.loop.time()
        self.heard.intersection_update(connections)
        self._since = {item: self._since.get(item, now) for item in connections if item not in self.heard}
        for item, since in self._since.items():
            if now - since > self.header_s and item.transport is not None:
                item.transport.abort()

    async def idle(self) -> None:
        """Wait until no request runs."""
        await self._idle.wait()

    def observe(self, record: Record) -> None:
        """The router's observer: metrics and a log line without content."""
        self.metrics.observe(record)
        self._say({"event": "request", **record.to_json()})

    async def _serve(self, http: web.BaseRequest) -> web.StreamResponse:
        self.running += 1
        self._idle.clear()
        self.metrics.in_flight.set(self.running)
        try:
            if not self.keys.allow(http.headers):
                return self._error(answers.UNAUTHORIZED, "the key is missing or unknown", 401)
            async with asyncio.timeout(self.body_s):
                body = await self._body(http)
            if isinstance(body, web.Response):
                return body
            return await self._answer(http, body)
        except TimeoutError:
            # Only a client that does not send or read gets here: the answer has a deadline of its own.
            if http.transport is not None:
                http.transport.abort()
            return web.Response(status=408)
        except ConnectionError:
            return web.Response(status=400)
        except web.RequestPayloadError:
            return self._error(
                answers.BAD_REQUEST, "the body is not encoded as its header says", 400, close=True
            )
        except Exception as error:
            self._say({"event": "bug", "error": type(error).__name__})
            return self._error(answers.ALL_TARGETS_FAILED, "the router failed; its log has the reason", 500)
        finally:
            self.running -= 1
            self.metrics.in_flight.set(self.running)
            if not self.running:
                self._idle.set()

    async def _body(self, http: web.BaseRequest) -> dict[str, Any] | web.Response:
        limit = self.router.routes.settings.max_body_bytes
        if (http.content_length or 0) > limit:
            return self._error(answers.BAD_REQUEST, f"the body is longer than {limit} bytes", 413, close=True)
        data = bytearray()
        while piece := await http.content.readany():
            data += piece
            if len(data) > limit:
                return self._error(
                    answers.BAD_REQUEST, f"the body is longer than {limit} bytes", 413, close=True
                )
        try:
            body = loads(bytes(data))
        except (ValueError, RecursionError):
            return self._error(answers.BAD_REQUEST, "the body is not JSON", 400)
        if not isinstance(body, dict) or not isinstance(body.get("model"), str):
            return self._error(answers.BAD_REQUEST, "the body is no JSON object with a model", 400)
        return body

    async def _answer(self, http: web.BaseRequest, body: dict[str, Any]) -> web.StreamResponse:
        settings = self.router.routes.settings
        kind = http.headers.get(KIND_HEADER, "")[:_LONGEST_KIND]
        request = Request(
            http.path[4:],
            body,
            sent_on(http.headers, settings.keep_headers),
            kind if kind.isprintable() and kind else None,
        )
        route = self.router.routes.routes.get(body["model"])
        limit = (route.total_s if route else 0.0) + self.slow_client_s
        async with asyncio.timeout(limit):
            async with await self.router.send(request) as answer:
                return await self._sent(http, body, answer)

    async def _sent(self, http: web.BaseRequest, body: dict[str, Any], answer: Answer) -> web.StreamResponse:
        trace = self.trace if self.trace is not None and answer.status == 200 and self.trace.wants() else None
        if self.draining:
            answer.headers["connection"] = "close"
        if isinstance(answer.body, bytes):
            if trace is not None:
                self._keep(trace, body, answer, [answer.body])
            return web.Response(body=answer.body, status=answer.status, headers=answer.headers)
        stream = answer.body
        stream.tap = [] if trace is not None else None
        response = web.StreamResponse(headers=answer.headers)
        started = False
        # A client that went away is no error: closing the answer frees the target.
        with suppress(ConnectionError):
            await response.prepare(http)
            transport = http.transport if http.version == HttpVersion11 else None
            async for piece in stream:
                if transport is None or not started or transport.get_write_buffer_size():
                    # It takes the headers along, and waits for a client that lags behind.
                    await response.write(piece)
                    started = True
                elif transport.is_closing():
                    break
                else:
                    transport.write(b"%x\r\n%b\r\n" % (len(piece), piece))
            if answer.record.outcome != "ok":
                response.force_close()
            await response.write_eof()
        if trace is not None:
            self._keep(trace, body, answer, stream.tap or [])
        return response

    def _keep(self, trace: TraceLog, body: dict[str, Any], answer: Answer, pieces: list[bytes]) -> None:
        """Write the trace line; a log that cannot be written is said once and given up."""
        problem = trace.write(body, answer.record, pieces)
        if problem is not None:
            self.trace = None
            self._say({"event": "trace", "ok": False, "message": f"{trace.path}: {problem}"})

    def _error(self, code: str, message: str, status: int, *, close: bool = False) -> web.Response:
        self.observe(Record("none", "", stream=False, outcome=code, status=status))
        response = web.Response(
            body=answers.error_body(code, message, status), status=status, content_type=_JSON
        )
        if close:
            response.force_close()
        return response

    async def _models(self, http: web.BaseRequest) -> web.Response:
        if not self.keys.allow(http.headers):
            return self._error(answers.UNAUTHORIZED, "the key is missing or unknown", 401)
        rows = [{"id": name, "object": "model", "owned_by": "fwctl"} for name in self.router.routes.routes]
        return web.Response(body=dumps({"object": "list", "data": rows}), content_type=_JSON)

    async def _health(self, _http: web.BaseRequest) -> web.Response:
        return web.Response(text="ok\n")

    async def _ready(self, _http: web.BaseRequest) -> web.Response:
        if self.draining:
            return web.Response(text="draining\n", status=503, headers={"connection": "close"})
        return web.Response(text="ready\n")

    async def _page(self, _http: web.BaseRequest) -> web.Response:
        return web.Response(
            body=self.metrics.page(), headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"}
        )

    async def _unknown(self, http: web.BaseRequest) -> web.Response:
        paths = ", ".join(f"POST /v1/{path}" for path in PATHS)
        return self._error(
            answers.BAD_REQUEST, f"there is no {http.method} {http.path[:100]}; use {paths}", 404
        )
