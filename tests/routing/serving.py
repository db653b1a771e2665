"""A proxy that listens inside the loop of a test, with a client."""

from __future__ import annotations

import io
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import aiohttp

from fwctl.env import Env
from fwctl.routing.serve import Server

CHAT = {"model": "chat", "stream": True, "messages": [{"role": "user", "content": "Hi"}]}


@dataclass
class Proxied:
    server: Server
    url: str
    http: aiohttp.ClientSession
    log: io.StringIO

    async def post(
        self, body: Any = CHAT, path: str = "chat/completions", **headers: str
    ) -> tuple[aiohttp.ClientResponse, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        data = io.BytesIO(body if isinstance(body, bytes) else json.dumps(body).encode())
        async with self.http.post(f"{self.url}/{path}", data=data, headers=named) as response:
            return response, await response.read()

    async def get(self, path: str, **headers: str) -> tuple[int, str]:
        root = self.url.removesuffix("/v1")
        async with self.http.get(root + path, headers=headers) as response:
            return response.status, await response.text()

    def lines(self) -> list[dict[str, Any]]:
        return [json.loads(line) for line in self.log.getvalue().splitlines()]


def config(base: str, *places: str, settings: str = "drain: {delay: 0s}", route: str = "") -> str:
    """A file with one route `chat` over these places."""
    targets = "".join(
        f'      - {{name: {name}, base_url: "{base}/{name}/v1", model: m}}\n' for name in places
    )
    return (
        "apiVersion: fwctl/v1\nkind: Routes\n"
        f"settings: {{{settings}}}\nroutes:\n  chat:\n{route}    targets:\n{targets}"
    )


def make(
    folder: Path, text: str, environ: Mapping[str, str] | None = None, host: str = "127.0.0.1"
) -> Server:
    (folder / "routes.yaml").write_text(text)
    env = Env(environ or {}, folder, io.StringIO(), io.StringIO(), io.StringIO())
    return Server(env, Path("routes.yaml"), host, 0)


@asynccontextmanager
async def proxying(
    folder: Path, text: str, environ: Mapping[str, str] | None = None
) -> AsyncIterator[Proxied]:
    server = make(folder, text, environ)
    log = server.env.stderr
    assert isinstance(log, io.StringIO)
    async with server.listening() as url, aiohttp.ClientSession() as http:
        yield Proxied(server, url, http, log)
