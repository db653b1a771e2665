"""The process around the application: event loop, sockets, signals, readiness."""

from __future__ import annotations

import asyncio
import gc
import signal
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any, TextIO

from aiohttp import web

from fwctl.simulator import settings as sim_settings
from fwctl.simulator.http import answers
from fwctl.simulator.http import knobs as sim_knobs
from fwctl.simulator.http.app import build
from fwctl.simulator.http.backend import Backend

# Streams that still run when the server is told to stop get this long.
_DRAIN_S = 1.0


def _runner() -> Callable[[Coroutine[Any, Any, int]], int]:
    """asyncio.run, on uvloop where it is installed."""
    with suppress(ImportError):
        import uvloop

        return uvloop.run
    return asyncio.run


@asynccontextmanager
async def listening(host: str, port: int, *, environ: Mapping[str, str], cwd: Path) -> AsyncIterator[str]:
    """A server inside the running loop; yields its base URL. For tests and the demo."""
    backend = Backend(sim_settings.from_environ(environ, cwd))
    try:
        await backend.check()
        file = environ.get("FIRECTL_SIM_ANSWERS")
        known = answers.read(cwd / file) if file else {}
        app = build(backend, sim_knobs.from_environ(environ), known)
        runner = web.AppRunner(app, access_log=None, handler_cancellation=True, shutdown_timeout=_DRAIN_S)
        await runner.setup()
        site = web.TCPSite(runner, host, port, backlog=1024)
        try:
            await site.start()
            bound = runner.addresses[0]
            shown = f"[{bound[0]}]" if ":" in str(bound[0]) else bound[0]
            yield f"http://{shown}:{bound[1]}"
        finally:
            await runner.cleanup()
    finally:
        backend.close()


async def _serve(
    host: str, port: int, environ: Mapping[str, str], cwd: Path, *, out: TextIO, err: TextIO
) -> int:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError):
            loop.add_signal_handler(name, stop.set)
    async with listening(host, port, environ=environ, cwd=cwd) as url:
        print(url, file=out, flush=True)
        print(f"fwctl sim: the Fireworks simulator listens on {url}; nothing is billed", file=err, flush=True)
        gc.freeze()
        gc.set_threshold(700, 10, 10)  # short pauses, as Python begins with: no long one under an answer
        await stop.wait()
        print("fwctl sim: stopping", file=err, flush=True)
    return 0


def run(
    host: str, port: int, *, environ: Mapping[str, str], cwd: Path, stdout: TextIO, stderr: TextIO
) -> int:
    """Serve until a signal; 0."""
    return _runner()(_serve(host, port, environ, cwd, out=stdout, err=stderr))
