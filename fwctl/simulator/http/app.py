"""The application: routes of both sides and their common habits."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from aiohttp import web

from fwctl.simulator.http.backend import Backend
from fwctl.simulator.http.control.server import add_routes
from fwctl.simulator.http.inference.service import MAX_BODY_BYTES, Service
from fwctl.simulator.http.knobs import Knobs
from fwctl.simulator.http.pacing import WallPacer
from fwctl.simulator.http.reply import json_reply

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SERVICE: web.AppKey[Service] = web.AppKey("service", Service)
BACKEND: web.AppKey[Backend] = web.AppKey("backend", Backend)
# The official SDK, pointed at another address, sends inference below /v1 too.
INFERENCE_ROOTS = ("/inference/v1", "/v1")


def _inference(app: web.Application, service: Service) -> None:
    async def chat(http: web.Request) -> web.StreamResponse:
        return await service.complete(http, chat=True)

    async def text(http: web.Request) -> web.StreamResponse:
        return await service.complete(http, chat=False)

    for root in INFERENCE_ROOTS:
        app.router.add_post(f"{root}/chat/completions", chat)
        app.router.add_post(f"{root}/completions", text)


async def _health(_: web.Request) -> web.StreamResponse:
    return json_reply({"status": "ok", "simulator": True})


def build(backend: Backend, knobs: Knobs) -> web.Application:
    """The whole server over one state."""
    app = web.Application(client_max_size=MAX_BODY_BYTES)
    service = Service(backend, knobs, WallPacer())
    app[SERVICE], app[BACKEND] = service, backend
    _inference(app, service)
    add_routes(app, backend, service.flush)
    app.router.add_get("/healthz", _health)
    return app
