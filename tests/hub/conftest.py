"""A small hub on localhost: files by path, ranges, redirects, refusals."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest


class Hub:
    """What the server holds and what it was asked. `other` is a second host for redirects."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.redirects: dict[str, str] = {}
        self.statuses: dict[str, int] = {}
        self.packed: set[str] = set()  # said to be gzip
        self.ignore_ranges = False
        self.asked: list[tuple[str, dict[str, str]]] = []
        self.url = ""


def _handler(hub: Hub) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            hub.asked.append((self.path, {k.lower(): v for k, v in self.headers.items()}))
            if self.path in hub.redirects:
                self.send_response(302)
                self.send_header("Location", hub.redirects[self.path])
                self.send_header("Content-Length", "0")
                self.end_headers()
                return
            body = hub.files.get(self.path.split("?")[0], b"")
            status = hub.statuses.get(self.path, 200 if self.path.split("?")[0] in hub.files else 404)
            span = self.headers.get("Range")
            if span and status == 200 and not hub.ignore_ranges:
                first, last = span.removeprefix("bytes=").split("-")
                body, status = body[int(first) : int(last) + 1], 206
            self.send_response(status)
            if self.path in hub.packed:
                self.send_header("Content-Encoding", "gzip")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *args: object) -> None:
            """Silent."""

    return Handler


def _serve() -> Iterator[Hub]:
    hub = Hub()
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub))
    hub.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    yield hub
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture
def hub() -> Iterator[Hub]:
    yield from _serve()


@pytest.fixture
def storage() -> Iterator[Hub]:
    """The other host that a hub redirects large files to."""
    yield from _serve()
