"""A chat and embeddings server whose answers a test decides, in a thread of its own."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]
# From a request to text and finish reason, or to an HTTP status.
Answer = Callable[[Body], tuple[str, str] | int]


class _Handler(BaseHTTPRequestHandler):
    server: Any
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.asked.append(body)
        if self.path.endswith("/embeddings"):
            found = self.server.embed(body)
            status, data = (found, b"{}") if isinstance(found, int) else (200, json.dumps(found).encode())
        else:
            answer = self.server.answer(body)
            status, data = (answer, b"{}") if isinstance(answer, int) else (200, _stream(*answer))
        self.send_response(status)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: object) -> None:
        """Nothing."""


def _stream(text: str, finish: str) -> bytes:
    usage = {"prompt_tokens": 10, "completion_tokens": len(text.split())}
    chunks = [
        {"choices": [{"index": 0, "delta": {"content": text}}]},
        {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage},
    ]
    return b"".join(b"data: %s\n\n" % json.dumps(chunk).encode() for chunk in chunks) + b"data: [DONE]\n\n"


@contextmanager
def serving(answer: Answer | None = None, embed: Any = None) -> Iterator[tuple[str, list[Body]]]:
    """The URL up to /v1, and every body that came."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.answer, server.embed, server.asked = answer, embed, []
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/v1", server.asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
