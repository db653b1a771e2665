"""Where the bytes of an answer go: to the client as they are, or through a fault."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any

from aiohttp import web

from fwctl.simulator.http.inference.misbehave import Fault, InterruptedAnswerError, pause, reset


class Sink:
    """The events of one stream."""

    def __init__(self, request: web.Request, response: web.StreamResponse, fault: Fault | None) -> None:
        self._request = request
        self._response = response
        self._fault = fault
        self._events = 0
        self._tokens: list[bytes] = []

    async def begin(self) -> None:
        fault = self._fault
        if fault and fault.kind == "content-type":
            self._response.content_type = "text/html"
        await self._response.prepare(self._request)
        if fault and fault.kind == "hang-after-headers":
            await self.hang(fault)

    async def event(self, data: bytes, *, last: bool = False) -> None:
        """Send one event; `last` marks the finish chunk. Raises InterruptedAnswerError."""
        fault = self._fault
        if fault is None:
            await self._response.write(data)
            return
        if self._events >= fault.after and (last or fault.kind != "endless"):
            await self.strike(fault)
        change = _CHANGES.get(fault.kind)
        self._events += 1
        self._tokens.append(data)
        await self._write(change(data) if change else data)

    async def strike(self, fault: Fault) -> None:
        """Do what the fault does at its moment; nothing for one that only changes bytes."""
        strike = _STRIKES.get(fault.kind)
        if strike is not None:
            await strike(self, fault)

    async def _write(self, data: bytes) -> None:
        fault = self._fault
        size = {"drip": 1, "split": 7}.get(fault.kind, 0) if fault else 0
        if not size:
            await self._response.write(data)
            return
        pause_s = fault.number("ms", 5 if size == 1 else 0) / 1000 if fault else 0.0
        for start in range(0, len(data), size):
            await self._response.write(data[start : start + size])
            await asyncio.sleep(pause_s)

    async def end(self) -> None:
        if self._fault is None or self._fault.kind != "no-done":
            await self._write_done()
        await self._response.write_eof()

    async def _write_done(self) -> None:
        change = _CHANGES.get(self._fault.kind) if self._fault else None
        done = b"data: [DONE]\n\n"
        await self._write(change(done) if change else done)

    async def hang(self, fault: Fault) -> None:
        await pause(fault)
        await self.cut(fault)

    async def cut(self, _: Fault) -> None:
        if self._request.transport is not None:
            self._request.transport.close()
        raise InterruptedAnswerError(self._response)

    async def reset(self, _: Fault) -> None:
        reset(self._request)
        raise InterruptedAnswerError(self._response)

    async def eof(self, _: Fault) -> None:
        await self._response.write_eof()
        raise InterruptedAnswerError(self._response)

    async def error_event(self, fault: Fault) -> None:
        message = fault.options.get("message", "Internal server error")
        code = fault.options.get("code", "INTERNAL")
        name = b"event: error\n" if fault.kind == "event-error" else b""
        body = f'{{"error":{{"message":"{message}","code":"{code}","type":"error"}}}}'.encode()
        await self._response.write(name + b"data: " + body + b"\n\n")
        await self._response.write_eof()
        raise InterruptedAnswerError(self._response)

    async def garbage(self, _: Fault) -> None:
        await self._response.write(b'\x00\xff{not json\n\ndata: {"choices":[{"index":0\n\n')

    async def role_only(self, _: Fault) -> None:
        if self._events:
            await self._write_done()
            await self._response.write_eof()
            raise InterruptedAnswerError(self._response)

    async def endless(self, _: Fault) -> None:
        while True:
            for data in self._tokens[-8:]:
                await self._response.write(data)
                await asyncio.sleep(0.01)


_STRIKES: dict[str, Callable[[Sink, Fault], Any]] = {
    "hang": Sink.hang,
    "cut": Sink.cut,
    "reset": Sink.reset,
    "eof": Sink.eof,
    "error-event": Sink.error_event,
    "event-error": Sink.error_event,
    "garbage": Sink.garbage,
    "role-only": Sink.role_only,
    "endless": Sink.endless,
}


def _null_content(data: bytes) -> bytes:
    if b'"content":' in data:
        return data
    return data.replace(b'"delta":{', b'"delta":{"content":null,', 1).replace(b"null,}", b"null}", 1)


_CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "comments": lambda data: b": ping\n\n" + data,
    "null-content": _null_content,
    "no-space": lambda data: data.replace(b"data: ", b"data:", 1),
}


async def send_whole(
    http: web.Request, body: bytes, headers: Mapping[str, str], fault: Fault | None
) -> web.StreamResponse:
    """Send a complete JSON body. Raises InterruptedAnswerError when the fault ends it early."""
    kind = fault.kind if fault else ""
    if kind == "truncated-json":
        body = body[: len(body) // 2]
    elif kind == "garbage":
        body = b"\x00\xff{not json"
    response = web.StreamResponse(headers=headers)
    response.content_type = "text/html" if kind == "content-type" else "application/json"
    if fault is None or kind not in {"cut", "reset", "hang", "hang-after-headers", "eof", "drip", "split"}:
        response.content_length = len(body)
        await response.prepare(http)
        await response.write(body)
        await response.write_eof()
        return response
    sink = Sink(http, response, fault)
    await sink.begin()
    if kind in {"drip", "split"}:
        await sink.event(body)
        await response.write_eof()
        return response
    await response.write(body[: len(body) // 2])
    await sink.strike(fault)
    return response
