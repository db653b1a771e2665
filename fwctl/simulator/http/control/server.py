"""Answers REST calls: key, body, transaction, error form."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from fwctl.simulator.faults import Rule
from fwctl.simulator.http.backend import Backend, bearer
from fwctl.simulator.http.control import strike
from fwctl.simulator.http.control.call import Call, Doc
from fwctl.simulator.http.control.routes import ROUTES, Route
from fwctl.simulator.http.inference.misbehave import InterruptedAnswerError
from fwctl.simulator.http.reply import InferenceError, control_error
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import World

# Work to do in the state before a call sees it: the traffic counted so far.
Flush = Callable[[], Awaitable[None]]
Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]


def _handler(backend: Backend, route: Route, flush: Flush) -> Handler:
    async def handle(http: web.Request) -> web.StreamResponse:
        try:
            caller = await backend.caller(bearer(http.headers))
            call = Call(http.match_info, http.query, (await http.read()).decode("utf-8"))
            rules = await backend.faults(f"rest {route.verb} {http.match_info.get('id', '')}".rstrip())
            await strike.before(http, rules)
            await flush()
            answer = await backend.run(
                lambda world: _work(world, route, call, rules), caller, write=route.writes or bool(rules)
            )
            answer = await strike.after(http, rules, answer)
        except PlatformError as error:
            return control_error(error)
        except InferenceError as error:
            return strike.refused(error)
        except InterruptedAnswerError as ended:
            return ended.response
        except UnicodeDecodeError:
            return control_error(PlatformError("InvalidArgument", "proto: syntax error: invalid UTF-8"))
        return await strike.send(http, rules, answer)

    return handle


def _work(world: World, route: Route, call: Call, rules: list[Rule]) -> Doc:
    strike.meddle(world, rules)
    answer = route.work(world, call)
    strike.doom(world, rules, answer)
    return answer


async def _missing(_: web.Request) -> web.StreamResponse:
    return control_error(PlatformError("NotFound", "Not Found"))


def add_routes(app: web.Application, backend: Backend, flush: Flush) -> None:
    """Register every route of the table; the ones with a verb come before the plain ones."""
    for route in sorted(ROUTES, key=lambda route: ":" not in route.path.rsplit("}", 1)[-1]):
        app.router.add_route(route.method, f"/v1{route.path}", _handler(backend, route, flush))
    app.router.add_route("*", "/v1/{rest:.*}", _missing)
