"""Faults of the inference side: servers that hang, cut, drip, lie or shout.

A fault is written `kind;key=value;…`. The same text works in `firectl-sim faults add`, in the header
`x-sim-fault` and in FIRECTL_SIM_FAULT.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from aiohttp import web

from fwctl.simulator.http.knobs import KnobError
from fwctl.simulator.http.reply import InferenceError
from fwctl.simulator.httpfaults import KINDS
from fwctl.simulator.platform.errors import CODES

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


def from_rule(rule: Mapping[str, Any]) -> Fault | None:
    """The fault of a stored rule; None for a kind that only firectl has."""
    if rule["kind"] not in KINDS:
        return None
    return Fault(rule["kind"], {key: str(value) for key, value in rule.items()})


class InterruptedAnswerError(Exception):
    """The fault has ended the answer; nothing more is sent. response: what was begun, if anything."""

    def __init__(self, response: web.StreamResponse | None = None) -> None:
        super().__init__("a fault ended the answer")
        self.response = response or web.Response()


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
    """The error answer that a `status`, `html` or `error` fault asks for."""
    if fault.kind == "error":
        status = CODES.get(fault.options.get("code", "Unavailable"), (2, 500))[1]
        code = _CODES.get(status, "INTERNAL")
    else:
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


async def before_answer(http: web.Request, fault: Fault | None) -> None:
    """Faults that strike before any byte of an answer. Raises InferenceError or InterruptedAnswerError."""
    if fault is None:
        return
    if fault.kind == "slow":
        await asyncio.sleep(fault.number("seconds", 1.0))
    if fault.kind == "hang-before-headers":
        await pause(fault)
        if http.transport is not None:
            http.transport.close()
        raise InterruptedAnswerError
    if fault.kind == "reset" and not fault.after:
        reset(http)
        raise InterruptedAnswerError
    if fault.kind in {"status", "html", "error"}:
        raise failure(fault)


def answer_words(fault: Fault | None) -> Sequence[str]:
    """Tokens that a degenerate answer repeats; empty for a sound one."""
    return {"whitespace": (" \n",), "repeat": (" the",)}.get(fault.kind, ()) if fault else ()
