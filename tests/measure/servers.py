"""A server in a thread of its own, for code that brings its own event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
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
