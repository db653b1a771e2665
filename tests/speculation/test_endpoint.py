"""A draft model behind HTTP: its first choices must come out as if they had been recorded."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import AuthError, FwctlError, NetworkError
from fwctl.speculation.endpoint import Drafter, ask, sample
from fwctl.speculation.replay import digest
from fwctl.speculation.tally import TRAIN, split
from fwctl.speculation.tokens import approximate, pieces
from fwctl.speculation.trace import Trace, read
from tests.speculation import traffic
from tests.speculation.test_commands import fwctl

TOKENS = approximate()
QUESTION = "what is it?"
SAID = "one two three four five six"


class Model(BaseHTTPRequestHandler):
    """Knows one answer, and takes it up wherever the beginning ends: a word of it is wrong for ever."""

    speaks = " one two three FOUR five six"
    seen: list[dict[str, Any]]
    status = 200
    raw: bytes | None = None

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.seen.append({**body, "path": self.path, "key": self.headers["authorization"]})  # type: ignore[attr-defined]
        settings: dict[str, Any] = self.server.settings  # type: ignore[attr-defined]
        beginning = (
            body["messages"][-1]["content"] if "messages" in body else body["prompt"].removeprefix(QUESTION)
        )
        if "hold" in settings and body.get("prompt", "").startswith("slow"):
            settings["hold"].wait(30)
        words = pieces(self.speaks)[len(pieces(beginning)) :]
        text = "".join(words[: body["max_tokens"]])
        choice: dict[str, Any] = {"finish_reason": "length" if len(words) > body["max_tokens"] else "stop"}
        choice |= {"message": {"content": text}} if "messages" in body else {"text": text}
        data = settings.get("raw") or json.dumps({"choices": [choice]}).encode()
        self.send_response(settings.get("status", 200))
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *args: Any) -> None:
        """Say nothing."""


class Server(ThreadingHTTPServer):
    seen: list[dict[str, Any]]
    settings: dict[str, Any]

    def handle_error(self, *args: Any) -> None:
        """A client that hangs up is part of the test."""

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_port}/v1"

    def of(self, model: str) -> list[dict[str, Any]]:
        """Requests for one model: what an earlier test gave up may still arrive."""
        return [item for item in self.seen if item["model"] == model]


@pytest.fixture(scope="module")
def listening() -> Iterator[Server]:
    with Server(("127.0.0.1", 0), Model) as found:
        thread = threading.Thread(target=found.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield found
        found.shutdown()
        thread.join()


@pytest.fixture
def server(listening: Server) -> Server:
    listening.seen, listening.settings = [], {}
    return listening


def trace(**more: Any) -> Trace:
    return read({"completion": SAID, "prompt": QUESTION, **more})


def test_every_choice_is_found_by_asking_behind_the_wrong_ones(server: Server) -> None:
    found = ask([trace()], TOKENS, Drafter(server.url, "small-1", "secret"), 3)
    # one | two three (cut: the last token may be half) | FOUR is wrong | five six. The first comes along.
    assert found.right[digest(trace())] == [0, 1, 1, 0, 1, 1]
    seen = server.of("small-1")
    assert [item["prompt"].removeprefix(QUESTION) for item in seen] == [
        "one",
        "one two three",
        "one two three four",
    ]
    assert found.asks == 3
    assert {item["path"] for item in seen} == {"/v1/completions"}
    assert {item["key"] for item in seen} == {"Bearer secret"}
    assert {(item["model"], item["temperature"], item["max_tokens"]) for item in seen} == {("small-1", 0, 3)}


def test_messages_are_continued(server: Server) -> None:
    messages = [{"role": "user", "content": QUESTION}]
    found = ask([trace(messages=messages)], TOKENS, Drafter(server.url, "small-2"), 8)
    assert list(found.right.values()) == [[0, 1, 1, 0, 1, 1]]
    first = server.of("small-2")[0]
    assert first["path"] == "/v1/chat/completions"
    assert first["messages"] == [*messages, {"role": "assistant", "content": "one"}]
    assert first["continue_final_message"] is True


def test_a_draft_that_goes_on_inside_a_word_is_wrong(server: Server) -> None:
    server.settings["raw"] = b'{"choices": [{"text": "s two", "finish_reason": "stop"}]}'
    found = ask([trace(completion="one two")], TOKENS, Drafter(server.url, "small"), 4)
    assert list(found.right.values()) == [[0, 0]]


def test_a_model_that_says_nothing_is_wrong_everywhere(server: Server) -> None:
    server.settings["raw"] = b'{"choices": [{"text": "", "finish_reason": "length"}]}'
    found = ask([trace(completion="one two three")], TOKENS, Drafter(server.url, "small"), 4)
    assert (list(found.right.values()), found.asks) == ([[0, 0, 0]], 2)


@pytest.mark.parametrize(
    ("settings", "kind", "message"),
    [
        ({"status": 401}, AuthError, "HTTP 401"),
        ({"status": 404}, NetworkError, "HTTP 404"),
        ({"status": 400}, NetworkError, "HTTP 400"),
        ({"raw": b"hello"}, NetworkError, "something else"),
        ({"raw": b"[" * 100_000}, NetworkError, "something else"),
        ({"raw": b'{"choices": []}'}, NetworkError, "something else"),
        ({"raw": b'{"choices": [{"text": 7}]}'}, NetworkError, "something else"),
        ({"raw": b" " * (2**20 + 1)}, NetworkError, "more than"),
    ],
)
def test_what_goes_wrong_is_one_error(
    server: Server, settings: dict[str, Any], kind: type[FwctlError], message: str
) -> None:
    server.settings = settings
    with pytest.raises(kind, match=message) as caught:
        ask([trace(), trace(messages=[], completion="a b c")], TOKENS, Drafter(server.url, "small"), 4)
    assert isinstance(caught.value, FwctlError)


def test_a_server_that_is_not_there_is_one_error() -> None:
    for url in ("http://127.0.0.1:1/v1", "http://[broken", "ftp://x"):
        with pytest.raises(NetworkError, match="did not answer"):
            ask([trace()], TOKENS, Drafter(url, "small"), 4)


def test_a_server_that_is_too_slow_holds_nobody_for_ever(server: Server) -> None:
    hold = server.settings["hold"] = threading.Event()
    try:
        slow = trace(prompt="slow")
        found = ask([trace(), slow], TOKENS, Drafter(server.url, "small", limit_s=1.0), 3)
        assert (list(found.right), found.left_out) == ([digest(trace())], 1)
        with pytest.raises(NetworkError, match="finished no request within"):
            ask([slow], TOKENS, Drafter(server.url, "small", limit_s=0.1), 3)
    finally:
        hold.set()


def test_a_sample_is_taken_by_type_and_not_from_the_training_part() -> None:
    traces = [read(item) for item in [*traffic.chat(40), *traffic.edit(40), *traffic.narrow(40)]]
    found = sample(traces, 5)
    assert [item.type for item in found] == ["chat"] * 5 + ["edit"] * 5  # narrow has its choices recorded
    assert TRAIN not in {split(item.cluster) for item in found}


def test_the_command_asks_and_recommends(server: Server, tmp_path: Path) -> None:
    items = [
        {"id": f"{number}", "prompt": f"{number} {QUESTION}", "completion": SAID} for number in range(60)
    ]
    (tmp_path / "t.jsonl").write_text("".join(json.dumps(item) + "\n" for item in items))
    where = ("replay", "t.jsonl", "--draft-url", server.url)
    server.settings["raw"] = json.dumps(
        {"choices": [{"text": " two three four five six", "finish_reason": "stop"}]}
    ).encode()
    code, text, errors = fwctl(
        tmp_path, *where, "--draft-model", "small", "--format", "json", "--draft-requests", "30"
    )
    assert code == 0, errors
    found = json.loads(text)
    assert found["draft_requests_sent"] == 30  # all five tokens are right at once
    [draft] = [item for item in found["by_type"]["other"]["sources"] if item["source"] == "draft"]
    assert 8 < draft["n_requests"] < 30
    # Five tokens and the end in two passes of 4, or one of 8: 6 / (1 + 8 * 0.12) = 3.06.
    assert found["by_type"]["other"]["recommendation"]["settings"] == {"model": "small", "k": 8}
    assert draft["speedup"]["value"] == pytest.approx(6 / 1.96)
    assert found["overall"]["recommendation"]["source"] == "none"  # a sample by type is none of all
    for argv, message in (
        (where, "--draft-model"),
        ((*where, "--draft-model", "m", "--draft-requests", "0"), "--draft-requests"),
        ((*where, "--draft-model", "m", "--api-key-env", "NO_KEY"), "NO_KEY is not set"),
        (("replay", "t.jsonl", "--api-key-env", "KEY"), "belongs to --draft-url"),
        (("replay", "t.jsonl", "--draft-url", "nowhere", "--draft-model", "m"), "--draft-url"),
    ):
        code, _, errors = fwctl(tmp_path, *argv)
        assert code == 64
        assert message in errors
