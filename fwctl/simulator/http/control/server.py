"""Answers REST calls: key, body, transaction, error form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from fwctl.simulator.http.backend import Backend, bearer
from fwctl.simulator.http.control.call import Call
from fwctl.simulator.http.control.routes import ROUTES, Route
from fwctl.simulator.http.reply import control_error, json_reply
from fwctl.simulator.platform.errors import PlatformError

# Work to do in the state before a call sees it: the traffic counted so far.
Flush = Callable[[], Awaitable[None]]
Handler = Callable[[web.Request], Awaitable[web.Response]]


def _handler(
    backend: Backend, route: Route, flush: Flush
) -> Callable[[web.Request], Awaitable[web.Response]]:
    async def handle(http: web.Request) -> web.Response:
        try:
            caller = backend.caller(bearer(http.headers))
            text = (await http.read()).decode("utf-8")
            call = Call(http.match_info, http.query, text)
            await flush()
            answer = await backend.run(lambda world: route.work(world, call), caller, write=route.writes)
        except PlatformError as error:
            return control_error(error)
        except UnicodeDecodeError:
            return control_error(PlatformError("InvalidArgument", "proto: syntax error: invalid UTF-8"))
        return json_reply(answer)

    return handle


async def _missing(_: web.Request) -> web.Response:
    return control_error(PlatformError("NotFound", "Not Found"))


def add_routes(app: web.Application, backend: Backend, flush: Flush) -> None:
    """Register every route of the table; the ones with a verb come before the plain ones."""
    for route in sorted(ROUTES, key=lambda route: ":" not in route.path.rsplit("}", 1)[-1]):
        app.router.add_route(route.method, f"/v1{route.path}", _handler(backend, route, flush))
    app.router.add_route("*", "/v1/{rest:.*}", _missing)
