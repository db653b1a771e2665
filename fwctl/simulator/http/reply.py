"""Answers of both sides: JSON with the platform's two forms of error."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from typing import Any

import orjson
from aiohttp import web

from fwctl.simulator.platform.errors import PlatformError


def json_reply(body: Any, status: int = 200, headers: Mapping[str, str] | None = None) -> web.Response:
    return web.Response(
        body=orjson.dumps(body), status=status, headers=headers, content_type="application/json"
    )


def control_error(error: PlatformError) -> web.Response:
    """The control plane's form: `{code, message, details}`."""
    return json_reply(error.to_rest(), error.http_status)


class InferenceError(Exception):
    """An inference call ends with this status and body. code: the platform's word for it. html: a gateway
    answers in the platform's place, with a page.
    """

    html = False

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status, self.code, self.message, self.param = status, code, message, param
        self.headers = dict(headers or {})

    def body(self, request_id: str) -> dict[str, Any]:
        kind = "invalid_request_error" if self.status == 400 else "error"
        return {
            "error": {"message": self.message, "param": self.param, "code": self.code, "type": kind},
            "request_id": request_id,
        }


def inference_error(error: InferenceError, request_id: str) -> web.Response:
    """The inference side's form: `{error: {message, param, code, type}, request_id}`."""
    if error.html:
        page = f"<html><body><h1>{error.status}</h1><p>{error.message}</p></body></html>"
        return web.Response(text=page, status=error.status, headers=error.headers, content_type="text/html")
    return json_reply(error.body(request_id), error.status, error.headers)


def request_id(prefix: str) -> str:
    return f"{prefix}-{secrets.token_hex(16)}"
