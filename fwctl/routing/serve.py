"""The process around the proxy: sockets, signals, reload, drain."""

from __future__ import annotations

import asyncio
import gc
import logging
import random
import signal
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

from aiohttp import web

from fwctl.env import Env
from fwctl.errors import FwctlError, UsageError
from fwctl.exitcodes import Exit
from fwctl.routing.access import Keys, is_loopback
from fwctl.routing.app import Proxy
from fwctl.routing.engine import Router
from fwctl.routing.jsonbytes import dumps
from fwctl.routing.model import Routes
from fwctl.routing.reading import load_routes, read_routes
from fwctl.routing.trace import TraceLog

WATCH_S = 0.5
_BACKLOG = 1024
_LONGEST_LINE_BYTES = 64 * 1024


class Server:
    """One proxy of one file. config: as the user wrote it."""

    def __init__(self, env: Env, config: Path, host: str, port: int) -> None:
        self.env = env
        self.config = config
        self.host = host
        self.port = port
        self.stop = asyncio.Event()
        self.routes = load_routes(config, env.environ, env.cwd)
        if not self.routes.settings.client_keys and not is_loopback(host):
            raise UsageError(
                f"without client keys the router listens on this machine only, not on {host}",
                next_steps=['write settings: {client_keys: ["${env:ROUTER_KEY}"]}', "--host 127.0.0.1"],
            )
        self.proxy: Proxy | None = None
        self._seen = self._stamp()

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[str]:
        """The base URL, for as long as the block runs; leaving it drains."""
        async with Router(self.routes, observer=self._observe) as router:
            self.proxy = proxy = Proxy(router, self.say)
            self._apply(self.routes)
            server = web.Server(
                proxy.handle,
                access_log=None,
                logger=_quiet(self.say),
                handler_cancellation=True,
                max_line_size=_LONGEST_LINE_BYTES,
                max_field_size=_LONGEST_LINE_BYTES,
                keepalive_timeout=75.0,
            )
            runner = web.ServerRunner(server, shutdown_timeout=0.1)
            await runner.setup()
            site = web.TCPSite(runner, self.host, self.port, backlog=_BACKLOG)
            watcher = asyncio.ensure_future(self._watch(server))
            try:
                await site.start()
                bound = runner.addresses[0]
                shown = f"[{bound[0]}]" if ":" in str(bound[0]) else bound[0]
                yield f"http://{shown}:{bound[1]}/v1"
                await self._drain(site)
            finally:
                watcher.cancel()
                await runner.cleanup()

    def reload(self) -> bool:
        """Read the file again; a bad one changes nothing and is said. True when it was taken."""
        assert self.proxy is not None
        self._seen = self._stamp()
        found = read_routes(self.config, self.env.environ, self.env.cwd)
        routes = found.routes
        problem = next((item for item in found.diagnostics if routes is None), None)
        if routes is not None and not routes.settings.client_keys and not is_loopback(self.host):
            routes, reason = None, "it has no client keys, and the router listens beyond this machine"
        else:
            place = (
                f"{problem.position.file}:{problem.position.line}: " if problem and problem.position else ""
            )
            reason = f"{place}{problem.message}" if problem else ""
        if routes is None:
            self.say({"event": "reload", "ok": False, "message": f"the old file stays: {reason}"})
            self.proxy.metrics.reloads.labels("refused").inc()
            return False
        self.routes = routes
        self.proxy.router.reload(routes)
        self._apply(routes)
        self.say({"event": "reload", "ok": True, "routes": list(routes.routes)})
        self.proxy.metrics.reloads.labels("ok").inc()
        return True

    def say(self, line: dict[str, Any]) -> None:
        """One structured line on stderr, with its time and without secrets."""
        text = dumps({"at": self.env.clock.now().isoformat(), **line}).decode()
        # A request's line is made of names of the file and of numbers, but for the client's word.
        if line["event"] != "request" or line["type"] is not None:
            text = self.env.redactor.mask(text)
        with suppress(OSError, ValueError):
            print(text, file=self.env.stderr, flush=True)

    def _observe(self, record: Any) -> None:
        if self.proxy is not None:
            self.proxy.observe(record)

    def _apply(self, routes: Routes) -> None:
        assert self.proxy is not None
        self.env.redactor.register(*routes.secrets)
        self.proxy.keys = Keys(routes.settings.client_keys)
        wanted = routes.settings.trace
        self.proxy.trace = None
        if wanted is not None and wanted.share > 0:
            self.proxy.trace = TraceLog(
                wanted.file,
                wanted.share,
                chance=random.random,
                now=self.env.clock.now,
                redactor=self.env.redactor,
            )

    def _stamp(self) -> tuple[int, int] | None:
        try:
            found = (self.env.cwd / self.config).stat()
        except OSError:
            return None
        return found.st_mtime_ns, found.st_size

    async def _watch(self, server: web.Server) -> None:
        """Drop clients that stay silent, and reload when the file changes. An editor may write in two steps:
        wait until it stands still."""
        assert self.proxy is not None
        last = self._seen
        while True:
            await asyncio.sleep(WATCH_S)
            self.proxy.drop_silent(server.connections)
            now = self._stamp()
            if now == last and now != self._seen and now is not None:
                self.reload()
            last = now

    async def _drain(self, site: web.TCPSite) -> None:
        """Go on accepting until load balancers have noticed, then finish what runs."""
        assert self.proxy is not None
        settings = self.routes.settings
        self.proxy.draining = True
        self.say({"event": "drain", "running": self.proxy.running, "delay_s": settings.drain_delay_s})
        await asyncio.sleep(settings.drain_delay_s)
        await site.stop()
        with suppress(TimeoutError):
            async with asyncio.timeout(settings.drain_s):
                await self.proxy.idle()
        self.say({"event": "stopped", "cut_off": self.proxy.running})


class _Lines(logging.Handler):
    """What aiohttp logs, as one structured line without its text: that quotes headers, and so keys."""

    def __init__(self, say: Callable[[dict[str, Any]], None]) -> None:
        super().__init__(logging.ERROR)
        self._say = say

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[0] if record.exc_info else None
        self._say({"event": "bad_http", "error": error.__name__ if error else record.levelname.lower()})


def _quiet(say: Callable[[dict[str, Any]], None]) -> logging.Logger:
    logger = logging.Logger("fwctl.routing")
    logger.addHandler(_Lines(say))
    return logger


async def _main(env: Env, config: Path, host: str, port: int) -> int:
    server = Server(env, config, host, port)
    loop = asyncio.get_running_loop()
    async with server.listening() as url:
        for name, act in _signals(server):
            with suppress(NotImplementedError):
                loop.add_signal_handler(name, act)
        print(url, file=env.stdout, flush=True)
        server.say({"event": "listening", "url": url, "routes": list(server.routes.routes)})
        gc.freeze()
        gc.set_threshold(700, 10, 10)  # short pauses, as Python begins with: no long one under an answer
        await server.stop.wait()
    return Exit.OK


def _signals(server: Server) -> list[tuple[int, Callable[[], Any]]]:
    found: list[tuple[int, Callable[[], Any]]] = [
        (signal.SIGINT, server.stop.set),
        (signal.SIGTERM, server.stop.set),
    ]
    if hasattr(signal, "SIGHUP"):
        found.append((signal.SIGHUP, server.reload))
    return found


def _runner() -> Callable[[Coroutine[Any, Any, int]], int]:
    """asyncio.run, on uvloop where it is installed."""
    with suppress(ImportError):
        import uvloop

        return uvloop.run
    return asyncio.run


def serve(env: Env, config: Path, host: str, port: int) -> int:
    """Serve until SIGINT or SIGTERM; the exit code.

    stdout gets one line, the base URL, once the socket listens. Raises InvalidSpecError for the file,
    UsageError without keys beyond this machine, FwctlError when the address cannot be had.
    """
    try:
        return _runner()(_main(env, config, host, port))
    except OSError as error:
        raise FwctlError(
            f"cannot listen on {host}:{port}: {error.strerror or error}",
            next_steps=["fwctl route serve --port 0"],
        ) from None
