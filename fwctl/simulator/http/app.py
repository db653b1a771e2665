"""The application: routes of both sides and their common habits."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import suppress

from aiohttp import web

from fwctl.simulator.http.backend import Backend
from fwctl.simulator.http.control.server import add_routes
from fwctl.simulator.http.inference.service import MAX_BODY_BYTES, Service
from fwctl.simulator.http.knobs import Knobs
from fwctl.simulator.http.pacing import WallPacer
from fwctl.simulator.http.reply import InferenceError, inference_error, json_reply, request_id

Handler = Callable[[web.Request], Awaitable[web.StreamResponse]]

SERVICE: web.AppKey[Service] = web.AppKey("service", Service)
BACKEND: web.AppKey[Backend] = web.AppKey("backend", Backend)
# The official SDK, pointed at another address, sends inference below /v1 too.
_LOG = logging.getLogger("fwctl.simulator")
INFERENCE_ROOTS = ("/inference/v1", "/v1")


def _inference(app: web.Application, service: Service) -> None:
    async def chat(http: web.Request) -> web.StreamResponse:
        return await service.complete(http, chat=True)

    async def text(http: web.Request) -> web.StreamResponse:
        return await service.complete(http, chat=False)

    for root in INFERENCE_ROOTS:
        app.router.add_post(f"{root}/embeddings", service.embed)
        app.router.add_post(f"{root}/chat/completions", chat)
        app.router.add_post(f"{root}/completions", text)
    app.router.add_get("/inference/v1/models", service.models)
    app.router.add_get("/v1/accounts/{account}/metrics", service.exporter.handle)


@web.middleware
async def _errors(request: web.Request, handler: Handler) -> web.StreamResponse:
    """Errors in the form of the side they happen on; an unexpected one is logged."""
    try:
        return await handler(request)
    except web.HTTPException as error:
        status, message = error.status, error.reason
    except (asyncio.CancelledError, ConnectionError):
        raise
    except Exception:
        _LOG.exception("%s %s failed", request.method, request.path)
        status, message = 500, "Internal error occurred"
    if request.path.startswith(INFERENCE_ROOTS[0]):
        code = {413: "PAYLOAD_TOO_LARGE", 404: "NOT_FOUND", 405: "METHOD_NOT_ALLOWED"}.get(status, "INTERNAL")
        return inference_error(InferenceError(status, code, message), request_id("req"))
    code_of = {404: 5, 405: 12, 413: 3}
    return json_reply({"code": code_of.get(status, 13), "message": message, "details": []}, status)


async def _background(app: web.Application) -> AsyncIterator[None]:
    """What runs beside the requests; the traffic is written a last time at the end."""
    service = app[SERVICE]
    task = asyncio.get_running_loop().create_task(service.run())
    yield
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    await service.close()


async def _health(_: web.Request) -> web.StreamResponse:
    return json_reply({"status": "ok", "simulator": True})


def build(backend: Backend, knobs: Knobs, known: Mapping[str, str]) -> web.Application:
    """The whole server over one state. known: right answers by question."""
    app = web.Application(client_max_size=MAX_BODY_BYTES, middlewares=[_errors])
    service = Service(backend, knobs, WallPacer(), known)
    app[SERVICE], app[BACKEND] = service, backend
    _inference(app, service)
    add_routes(app, backend, service.flush)
    app.router.add_get("/healthz", _health)
    app.cleanup_ctx.append(_background)
    return app
