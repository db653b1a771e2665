"""The few addresses of GitHub's and GitLab's API that the examples call, over real HTTP."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

BOT = {"login": "github-actions[bot]", "type": "Bot"}


class Forge:
    """Comments of one pull request (or merge request), and the pull request of each commit."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.pulls: dict[str, list[dict[str, Any]]] = {}
        self.calls: list[tuple[str, str]] = []
        self.refuse = 0
        forge = self

        class Handler(BaseHTTPRequestHandler):
            def do(self) -> None:
                length = int(self.headers.get("Content-Length") or 0)
                body = json.loads(self.rfile.read(length)) if length else None
                forge.calls.append((self.command, self.path))
                assert (self.headers.get("Authorization") or self.headers.get("PRIVATE-TOKEN") or "").strip()
                status = forge.refuse or 200
                answer = (
                    {"message": "refused"} if forge.refuse else forge.answer(self.command, self.path, body)
                )
                data = json.dumps(answer).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            do_GET = do_POST = do_PATCH = do_PUT = do  # noqa: N815 - the names that http.server calls

            def log_message(self, *arguments: object) -> None:
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self) -> None:
        self.server.shutdown()
        self.server.server_close()

    def answer(self, method: str, path: str, body: Any) -> Any:
        route, _, query = path.partition("?")
        if route.endswith("/pulls"):
            return self.pulls.get(route.split("/")[-2], [])
        if method == "GET":
            page = int(dict(pair.split("=") for pair in query.split("&")).get("page", "1"))
            return self.comments[(page - 1) * 100 : page * 100]
        if method == "POST":
            self.comments.append({"id": len(self.comments) + 1, "user": BOT, **body})
            return self.comments[-1]
        [item] = [item for item in self.comments if str(item["id"]) == route.split("/")[-1]]
        item.update(body)
        return item
