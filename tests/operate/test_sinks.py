"""Sinks: what they are sent, and that none of them can stop the watch."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

from fwctl.operate.sinks import (
    MOST_LEFT,
    MOST_WAITING,
    Sink,
    endpoint,
    post,
    queue,
    slack_body,
    webhook_body,
    within,
)
from tests.operate.support import NOW

FIRED = {
    "event": "fired",
    "at": NOW.isoformat(),
    "rule": "saturated",
    "label": "chat",
    "severity": "error",
    "since": NOW.isoformat(),
    "evidence": "a <b> & c",
    "fix": "raise it",
    "proposal": "fwctl plan --set chat.replicas.max=5",
    "usd_per_hour_change": 16.0,
}


class Server(BaseHTTPRequestHandler):
    """Answers by path: /ok, /bad, /slow (after the test), /moved."""

    got: list[object] = []  # noqa: RUF012 - one for the class, read by the tests
    release = threading.Event()

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/slow":
            Server.release.wait(5)
        status = {"/ok": 200, "/bad": 500, "/slow": 200, "/moved": 307}[self.path]
        Server.got.append(json.loads(body))
        self.send_response(status)
        if status == 307:
            self.send_header("location", "/ok")
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *_: object) -> None:
        pass


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    Server.release.set()
    server.shutdown()
    server.server_close()
    thread.join()


def test_a_sink_that_takes_it_says_nothing(address: str) -> None:
    assert post(f"{address}/ok", webhook_body([FIRED])) is None
    assert Server.got[-1] == {"source": "fwctl watch", "events": [FIRED]}


def test_a_refusal_and_a_redirect_are_told(address: str) -> None:
    assert post(f"{address}/bad", {}) == "it answered HTTP 500"
    assert post(f"{address}/moved", {}) == "it answered HTTP 307"


def test_a_sink_that_hangs_is_left_alone_at_the_deadline(address: str) -> None:
    assert post(f"{address}/slow", {}, deadline_s=0.2) in (
        "no answer within 0.2 s",
        "ReadTimeout: 127.0.0.1 cannot be reached",
    )


def test_a_side_that_never_ends_gathers_no_threads() -> None:
    release, begun = threading.Event(), []

    def hang() -> None:
        begun.append(1)
        release.wait(10)

    for _ in range(MOST_LEFT + 5):
        assert within(0.01, "a test that hangs", hang) is None
    release.set()
    assert len(begun) == MOST_LEFT


def test_trouble_names_the_host_and_never_the_secret_path() -> None:
    for url in ("http://127.0.0.1:1/T0/secret", "http://[::1/secret", "https://nowhere.invalid/secret"):
        why = post(url, {})
        assert why
        assert "secret" not in why


def test_slack_gets_a_text_without_its_own_marks() -> None:
    text = slack_body([FIRED, {**FIRED, "event": "resolved"}])["text"]
    assert "*saturated* chat: a &lt;b&gt; &amp; c\n> raise it\n> fwctl plan --set chat.replicas.max=5" in text
    assert "(+16.00 $/h)" in text
    assert text.splitlines()[-1].startswith(":white_check_mark: *saturated* chat resolved")


def test_the_outbox_keeps_the_newest() -> None:
    rows = queue([{"n": n} for n in range(MOST_WAITING)], [{"n": "new"}])
    assert len(rows) == MOST_WAITING
    assert (rows[0], rows[-1]) == ({"n": 1}, {"n": "new"})


def test_alertmanager_has_one_path() -> None:
    assert endpoint(Sink("alertmanager", "http://am:9093/", "a")) == "http://am:9093/api/v2/alerts"
    assert endpoint(Sink("slack", "https://x/y", "s")) == "https://x/y"
