"""A server whose timing is known: it writes one event a token at a fixed pace and says when it did.

Run as a child process with a listening socket it inherits: `python -m fwctl.measure.paced_server FD [CORE]`.
The body of a request sets the pace: `ttft_s`, `gap_s`, `max_tokens`; other tools, which know none of these
fields, get the defaults. Every event carries `sent_at`, the server's monotonic clock right before the write,
which all processes of one machine share. The last event carries the server's own times as performance
metrics, counted from the moment the whole request had come. `GET /truth` gives the times to the first token,
in seconds, since the last time. A raw protocol, so that the server costs little beside the client that it
judges.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time
from array import array
from typing import Any

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"x-request-id: paced\r\n\r\n"
)
# As long as a chunk of the real platform, about 230 bytes.
TOKEN = (
    b'data: {"id":"chatcmpl-0a1b2c3d4e5f60718293a4b5","object":"chat.completion.chunk","created":1780000000,'
    b'"model":"paced","choices":[{"index":0,"delta":{"content":" word%d"},"finish_reason":null}],'
    b'"sent_at":%.6f}\n\n'
)
DEFAULTS = {"ttft_s": 0.1, "gap_s": 0.01, "max_tokens": 200}
# To a GET, by which other tools ask whether the server is there and what it serves.
MODELS = b'{"object":"list","data":[{"id":"paced","object":"model"}]}'
LONGEST_REQUEST_BYTES = 16 * 2**20


def framed(data: bytes) -> bytes:
    """One HTTP chunk."""
    return b"%x\r\n%s\r\n" % (len(data), data)


def whole(body: bytes) -> bytes:
    """One HTTP answer of JSON."""
    head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: %d\r\n\r\n"
    return head % len(body) + body


# Seconds from the whole request to the first token of every stream since the last GET /truth.
FIRST_S = array("d")


def truth() -> bytes:
    """What the server knows about the times that a client should have measured; forgotten afterwards."""
    found = json.dumps(FIRST_S.tolist()).encode()
    del FIRST_S[:]
    return found


class Paced(asyncio.Protocol):
    """One connection: requests in, streams out, one after the other."""

    def __init__(self) -> None:
        self.loop = asyncio.get_running_loop()
        self.received = b""
        self.transport: Any = None
        self.timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002 - the name is asyncio's
        if self.timer is not None:
            self.timer.cancel()

    def data_received(self, data: bytes) -> None:
        at = time.monotonic()
        self.received += data
        head, blank, body = self.received.partition(b"\r\n\r\n")
        if not blank:
            return
        if head.startswith(b"GET "):
            self.received = b""
            self.transport.write(whole(truth() if head.startswith(b"GET /truth") else MODELS))
            return
        length = head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0]
        if not length.strip().isdigit() or int(length) > LONGEST_REQUEST_BYTES:
            self.transport.close()
        elif len(body) >= int(length):
            self.received = b""
            Stream(self, json.loads(body), at).next()


class Stream:
    """One answer, written token by token on a schedule that does not drift."""

    def __init__(self, paced: Paced, request: dict[str, Any], arrived: float) -> None:
        self.paced = paced
        request = {**DEFAULTS, **request}
        self.tokens = int(request.get("max_completion_tokens") or request["max_tokens"])
        self.gap_s = float(request["gap_s"])
        self.arrived = arrived
        self.start = arrived + float(request["ttft_s"])
        self.sent = 0
        self.first = self.last = arrived

    def next(self) -> None:
        """Write what is due and wait for the next."""
        now = time.monotonic()
        while self.sent < self.tokens and now >= (due := self.start + self.sent * self.gap_s):
            self._write(now)
            now = time.monotonic()
        if self.sent == self.tokens:
            self._finish()
            return
        due = self.start + self.sent * self.gap_s
        loop = self.paced.loop
        self.paced.timer = loop.call_at(loop.time() + due - now, self.next)

    def _write(self, now: float) -> None:
        data = framed(TOKEN % (self.sent, now))
        if not self.sent:
            self.first, data = now, HEAD + data
            FIRST_S.append(now - self.arrived)
        self.last = now
        self.sent += 1
        self.paced.transport.write(data)

    def _finish(self) -> None:
        last = {
            "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 1, "completion_tokens": self.tokens},
            "perf_metrics": {
                "server-time-to-first-token": self.first - self.arrived,
                "server-processing-time": self.last - self.arrived,
            },
        }
        events = b"data: " + json.dumps(last).encode() + b"\n\ndata: [DONE]\n\n"
        self.paced.transport.write(framed(events) + b"0\r\n\r\n")


async def serve(fd: int) -> None:
    """Serve on an inherited listening socket until the process is stopped."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Paced, sock=socket.socket(fileno=fd), backlog=1024)
    async with server:
        await server.serve_forever()


def main(argv: list[str]) -> None:
    """FD and, where the system can pin, the core."""
    if len(argv) > 1 and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {int(argv[1])})
    try:
        import uvloop
    except ImportError:
        asyncio.run(serve(int(argv[0])))
    else:
        with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
            runner.run(serve(int(argv[0])))


if __name__ == "__main__":
    main(sys.argv[1:])
