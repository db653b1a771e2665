"""A server in a thread of its own, for code that brings its own event loop."""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from aiohttp import web


@contextmanager
def serving(handle: Any) -> Iterator[str]:
    """The URL of a chat completions server, up to /v1."""
    loop = asyncio.new_event_loop()
    ready: list[int] = []
    started = threading.Event()

    async def start() -> web.AppRunner:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", handle)
        runner = web.AppRunner(app, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server: Any = site._server
        ready.append(server.sockets[0].getsockname()[1])
        started.set()
        return runner

    def forever() -> None:
        runner = loop.run_until_complete(start())
        loop.run_forever()
        loop.run_until_complete(runner.cleanup())
        loop.close()

    thread = threading.Thread(target=forever)
    thread.start()
    started.wait(10)
    try:
        yield f"http://127.0.0.1:{ready[0]}/v1"
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(10)


Piece = bytes | float


@contextmanager
def scripted(script: Mapping[str, Sequence[Piece]]) -> Iterator[str]:
    """The URL of a server that writes exactly these bytes, chosen by the last message of the request.

    A number is a pause in seconds, so that what follows is another read. An answer that does not begin
    with a status line gets that of a good stream; it ends where the connection ends.
    """

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        length = int(head.lower().partition(b"content-length:")[2].partition(b"\r\n")[0])
        asked = json.loads(await reader.readexactly(length))
        pieces = script[asked["messages"][-1]["content"]]
        if not pieces or not isinstance(pieces[0], bytes) or not pieces[0].startswith(b"HTTP/"):
            writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n")
        try:
            for piece in pieces:
                if isinstance(piece, bytes):
                    writer.write(piece)
                    await writer.drain()
                else:
                    await asyncio.sleep(piece)
        except ConnectionError:
            pass  # the client has seen enough
        finally:
            writer.close()

    loop = asyncio.new_event_loop()
    ready: list[int] = []
    started = threading.Event()

    async def listen() -> None:
        server = await asyncio.start_server(answer, "127.0.0.1", 0)
        ready.append(server.sockets[0].getsockname()[1])
        started.set()
        try:
            await asyncio.Event().wait()
        finally:
            server.close()

    task = loop.create_task(listen())

    def forever() -> None:
        with suppress(asyncio.CancelledError):
            loop.run_until_complete(task)
        loop.run_until_complete(_cancel_all(loop))
        loop.close()

    thread = threading.Thread(target=forever)
    thread.start()
    started.wait(10)
    try:
        yield f"http://127.0.0.1:{ready[0]}/v1"
    finally:
        loop.call_soon_threadsafe(task.cancel)
        thread.join(10)


async def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    left = asyncio.all_tasks(loop) - {asyncio.current_task()}
    for task in left:
        task.cancel()
    await asyncio.gather(*left, return_exceptions=True)
    await asyncio.sleep(0)
