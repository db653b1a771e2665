"""Faults of the inference side: servers that hang, cut, drip, lie or shout.

A fault is written `kind;key=value;…`. The same text works in `firectl-sim faults add`, in the header
`x-sim-fault` and in FIRECTL_SIM_FAULT.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from aiohttp import web

from fwctl.simulator.http.knobs import KnobError
from fwctl.simulator.http.reply import InferenceError

# kind -> what it does. Parameters: after (events or bytes sent before it strikes), seconds, status,
# retry_after, message, code, ms.
KINDS: dict[str, str] = {
    "hang-before-headers": "accepts the request and sends nothing for `seconds`",
    "hang-after-headers": "sends the headers of a 200, then nothing for `seconds`",
    "hang": "stops after `after` events for `seconds`, the connection stays open",
    "cut": "breaks the connection after `after` events, without the end of the body",
    "reset": "resets the TCP connection after `after` events; before any byte without it",
    "eof": "ends the body cleanly after `after` events, without finish_reason and [DONE]",
    "error-event": "sends an error object inside the 200 after `after` events, then ends",
    "event-error": "the same as an event named error",
    "garbage": "sends bytes that are no events after `after` events, then goes on",
    "drip": "sends the body byte by byte, one each `ms` milliseconds",
    "split": "sends the body in pieces of 7 bytes, across events and characters",
    "content-type": "answers with text/html as its content type",
    "html": "answers an HTML page with `status` (default 502)",
    "status": "answers an error with `status`, `code`, `message`, `retry_after`",
    "endless": "repeats the token chunks for ever and never finishes",
    "no-finish": "leaves finish_reason out of a stream that otherwise ends well",
    "no-done": "leaves [DONE] out",
    "role-only": "sends the role chunk and [DONE], no token",
    "empty": "answers with empty content and finish_reason stop",
    "crlf": "ends lines with CR LF",
    "comments": "sends a comment line before each event",
    "no-space": "writes `data:` without the space",
    "no-usage": "leaves usage out",
    "null-content": "puts content null into every chunk without text",
    "truncated-json": "cuts the body of a whole answer in half, with the right length header",
    "whitespace": "answers with white space up to max_tokens",
    "repeat": "answers with one word repeated up to max_tokens",
}
_FOREVER_S = 86_400.0


class Fault(NamedTuple):
    kind: str
    options: dict[str, str]

    def number(self, name: str, default: float) -> float:
        try:
            return float(self.options.get(name, default))
        except ValueError:
            raise KnobError(f"fault {self.kind}: {name} is not a number") from None

    @property
    def after(self) -> int:
        return int(self.number("after", 0))


def parse(text: str) -> Fault:
    """Raises KnobError on a kind that does not exist or an option without a value."""
    kind, *rest = [part.strip() for part in text.split(";") if part.strip()] or [""]
    if kind not in KINDS:
        raise KnobError(f"no fault {kind!r}; one of {', '.join(KINDS)}")
    options = {}
    for part in rest:
        key, mark, value = part.partition("=")
        if not mark:
            raise KnobError(f"fault {kind}: write {key}=value")
        options[key.strip()] = value.strip()
    return Fault(kind, options)


class InterruptedAnswerError(Exception):
    """The fault has ended the answer; nothing more is sent."""


async def pause(fault: Fault) -> None:
    """Sleep for the fault's seconds, by default as good as for ever."""
    await asyncio.sleep(fault.number("seconds", _FOREVER_S))


# Words of the platform for statuses that a fault may ask for.
_CODES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHORIZED",
    402: "PAYMENT_REQUIRED",
    403: "FORBIDDEN",
    404: "NOT_FOUND",
    408: "REQUEST_TIMEOUT",
    412: "PRECONDITION_FAILED",
    425: "TOO_EARLY",
    429: "RESOURCE_EXHAUSTED",
    502: "BAD_GATEWAY",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}


def failure(fault: Fault) -> InferenceError:
    """The error answer that a `status` or `html` fault asks for."""
    status = int(fault.number("status", 502 if fault.kind == "html" else 500))
    code = fault.options.get("code", _CODES.get(status, "INTERNAL"))
    headers = {"retry-after": fault.options["retry_after"]} if "retry_after" in fault.options else {}
    error = InferenceError(status, code, fault.options.get("message", "Injected fault"), headers=headers)
    error.html = fault.kind == "html"
    return error


def reset(request: web.Request) -> None:
    """Close the connection so that the peer sees a TCP reset."""
    transport = request.transport
    if transport is None:
        return
    sock = transport.get_extra_info("socket")
    if sock is not None:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    transport.abort()


class Sink:
    """Where the events of a stream go: to the client as they are, or through a fault."""

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
            await pause(fault)
            raise InterruptedAnswerError

    async def event(self, data: bytes, *, last: bool = False) -> None:
        """Send one event; `last` marks the finish chunk. Raises InterruptedAnswerError."""
        fault = self._fault
        if fault is None:
            await self._response.write(data)
            return
        strike = _STRIKES.get(fault.kind)
        if strike is not None and self._events >= fault.after and (last or fault.kind != "endless"):
            await strike(self, fault)
        change = _CHANGES.get(fault.kind)
        self._events += 1
        self._tokens.append(data)
        await self._write(change(data) if change else data)

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
        raise InterruptedAnswerError

    async def cut(self, _: Fault) -> None:
        if self._request.transport is not None:
            self._request.transport.close()
        raise InterruptedAnswerError

    async def reset(self, _: Fault) -> None:
        reset(self._request)
        raise InterruptedAnswerError

    async def eof(self, _: Fault) -> None:
        await self._response.write_eof()
        raise InterruptedAnswerError

    async def error_event(self, fault: Fault) -> None:
        message = fault.options.get("message", "Internal server error")
        code = fault.options.get("code", "INTERNAL")
        name = b"event: error\n" if fault.kind == "event-error" else b""
        body = f'{{"error":{{"message":"{message}","code":"{code}","type":"error"}}}}'.encode()
        await self._response.write(name + b"data: " + body + b"\n\n")
        await self._response.write_eof()
        raise InterruptedAnswerError

    async def garbage(self, _: Fault) -> None:
        await self._response.write(b'\x00\xff{not json\n\ndata: {"choices":[{"index":0\n\n')

    async def role_only(self, _: Fault) -> None:
        if self._events:
            await self._write_done()
            await self._response.write_eof()
            raise InterruptedAnswerError

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
_CHANGES: dict[str, Callable[[bytes], bytes]] = {
    "crlf": lambda data: data.replace(b"\n", b"\r\n"),
    "comments": lambda data: b": ping\n\n" + data,
    "no-space": lambda data: data.replace(b"data: ", b"data:", 1),
}


def answer_words(fault: Fault | None) -> Sequence[str]:
    """Tokens that a degenerate answer repeats; empty for a sound one."""
    return {"whitespace": (" \n",), "repeat": (" the",)}.get(fault.kind, ()) if fault else ()
