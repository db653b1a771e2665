"""A server whose timing is known: it writes one event a token at a fixed pace and says when it did.

Run as a child process with a listening socket it inherits: `python -m fwctl.measure.paced_server FD [CORE]`.
The body of a request sets the pace: `ttft_s`, `gap_s`, `max_tokens`. The last event carries the server's
own times as performance metrics, counted from the moment the whole request had arrived.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import sys
import time

HEAD = (
    b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n"
    b"x-request-id: paced\r\n\r\n"
)


def _framed(payload: object) -> bytes:
    data = b"data: " + (payload if isinstance(payload, bytes) else json.dumps(payload).encode()) + b"\n\n"
    return b"%x\r\n%s\r\n" % (len(data), data)


async def _request(reader: asyncio.StreamReader) -> dict[str, float]:
    head = (await reader.readuntil(b"\r\n\r\n")).lower()
    length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
    found: dict[str, float] = json.loads(await reader.readexactly(length))
    return found


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Serve one connection until the client closes it."""
    try:
        while True:
            request = await _request(reader)
            await _stream(writer, request, time.monotonic())
    except (asyncio.IncompleteReadError, ConnectionError):
        pass
    finally:
        writer.close()


async def _stream(writer: asyncio.StreamWriter, request: dict[str, float], arrived: float) -> None:
    tokens, gap_s = int(request["max_tokens"]), float(request["gap_s"])
    start = arrived + float(request["ttft_s"])
    stamps = []
    for number in range(tokens):
        await asyncio.sleep(max(0.0, start + number * gap_s - time.monotonic()))
        stamps.append(time.monotonic())
        chunk = {"choices": [{"index": 0, "delta": {"content": f" word{number}"}, "finish_reason": None}]}
        writer.write((b"" if number else HEAD) + _framed({**chunk, "sent_at": stamps[-1]}))
        await writer.drain()
    last = {
        "choices": [{"index": 0, "delta": {}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": tokens},
        "perf_metrics": {
            "server-time-to-first-token": stamps[0] - arrived,
            "server-processing-time": stamps[-1] - arrived,
        },
    }
    writer.write(_framed(last) + _framed(b"[DONE]") + b"0\r\n\r\n")
    await writer.drain()


async def serve(fd: int) -> None:
    """Serve on an inherited listening socket until the process is stopped."""
    server = await asyncio.start_server(answer, sock=socket.socket(fileno=fd))
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    if len(sys.argv) > 2:
        os.sched_setaffinity(0, {int(sys.argv[2])})
    asyncio.run(serve(int(sys.argv[1])))
