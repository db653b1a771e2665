"""Servers that misbehave on purpose, by header and by stored rule."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from fwctl.simulator import faults
from fwctl.simulator.http.inference import misbehave
from fwctl.simulator.http.knobs import KnobError
from fwctl.simulator.state import Store
from tests.simulator.http.support import LLAMA, SERVERLESS, Sim, content_of, events, serving


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("faults")) as started:
        yield started


def faulty(sim: Sim, fault: str, **body: object) -> httpx.Response:
    return sim.chat(sim={"fault": fault}, max_tokens=6, **body)


def raw(sim: Sim, fault: str, *, mark: bytes = b"", times: int = 0) -> bytes:
    """Everything that comes over the socket: until the server ends it, or, once `mark` has come `times`
    times, until a fifth of a second passes without a byte.
    """
    asked = {
        "model": SERVERLESS,
        "messages": [{"role": "user", "content": "x"}],
        "stream": True,
        "max_tokens": 6,
    }
    body = json.dumps(asked).encode()
    url = httpx.URL(sim.url)
    head = (
        f"POST /inference/v1/chat/completions HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer fw_test\r\n"
        f"x-sim-fault: {fault}\r\nContent-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    ).encode()
    with socket.create_connection((url.host, url.port or 0)) as link:
        link.sendall(head + body)
        got = b""
        try:
            while True:
                link.settimeout(0.2 if mark and got.count(mark) >= times else 20)
                data = link.recv(65536)
                if not data:
                    return got + b"<closed>"
                got += data
        except TimeoutError:
            return got + b"<open>"
        except ConnectionResetError:
            return got + b"<reset>"


def test_hang_before_headers_sends_nothing(sim: Sim) -> None:
    assert raw(sim, "hang-before-headers", mark=b"HTTP") == b"<open>"
    assert raw(sim, "hang-before-headers;seconds=0.05") == b"<closed>"


def test_hang_after_headers_sends_only_headers(sim: Sim) -> None:
    got = raw(sim, "hang-after-headers", mark=b"\r\n\r\n", times=1)
    assert got.startswith(b"HTTP/1.1 200")
    assert got.endswith(b"\r\n\r\n<open>")


def test_hang_stops_after_some_events(sim: Sim) -> None:
    got = raw(sim, "hang;after=3", mark=b"data: ", times=3)
    assert got.count(b"data: ") == 3
    assert got.endswith(b"<open>")


def test_cut_breaks_the_body_and_eof_ends_it(sim: Sim) -> None:
    cut, eof = raw(sim, "cut;after=2"), raw(sim, "eof;after=2")
    assert cut.count(b"data: ") == eof.count(b"data: ") == 2
    assert cut.endswith(b"<closed>")
    assert b"0\r\n\r\n" not in cut
    assert b"0\r\n\r\n" in eof
    assert b"[DONE]" not in eof


def test_reset_is_a_tcp_reset(sim: Sim) -> None:
    assert raw(sim, "reset") == b"<reset>"
    assert raw(sim, "reset;after=2").endswith(b"<reset>")


def test_an_error_inside_a_200(sim: Sim) -> None:
    found = events(faulty(sim, "error-event;after=2;message=boom;code=OVERLOADED", stream=True).text)
    assert found[-1] == {"error": {"message": "boom", "code": "OVERLOADED", "type": "error"}}
    text = faulty(sim, "event-error;after=1", stream=True).text
    assert "event: error\ndata: " in text


def test_garbage_between_events(sim: Sim) -> None:
    assert b"\x00\xff{not json" in faulty(sim, "garbage;after=1", stream=True).content


@pytest.mark.parametrize("fault", ["drip;ms=0", "split", "crlf", "comments", "no-space"])
def test_other_spellings_of_the_same_stream(sim: Sim, fault: str) -> None:
    plain = sim.stream(max_tokens=6)
    text = faulty(sim, fault, stream=True).text
    if fault == "crlf":
        assert "\r\n\r\n" in text
    if fault == "comments":
        assert ": ping\n\n" in text
    same = text.replace("\r\n", "\n").replace(": ping\n\n", "").replace("data:{", "data: {")
    assert content_of(same.replace("data:[", "data: [")) == content_of(plain)


def test_wrong_content_types_and_html(sim: Sim) -> None:
    assert faulty(sim, "content-type").headers["content-type"].startswith("text/html")
    assert faulty(sim, "content-type", stream=True).headers["content-type"].startswith("text/html")
    page = faulty(sim, "html")
    assert (page.status_code, page.text[:6]) == (502, "<html>")
    assert faulty(sim, "html;status=504").status_code == 504


@pytest.mark.parametrize(
    ("fault", "status", "code"),
    [
        ("status;status=429;retry_after=7", 429, "RESOURCE_EXHAUSTED"),
        ("status;status=402", 402, "PAYMENT_REQUIRED"),
        ("status;status=520", 520, "INTERNAL"),
        ("status", 500, "INTERNAL"),
        ("status;status=503;code=DEPLOYMENT_SCALING_UP", 503, "DEPLOYMENT_SCALING_UP"),
        ("error;code=Unavailable", 503, "UNAVAILABLE"),
        ("error;code=DeadlineExceeded", 504, "DEADLINE_EXCEEDED"),
    ],
)
def test_statuses_on_demand(sim: Sim, fault: str, status: int, code: str) -> None:
    answer = faulty(sim, fault)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    if "retry_after" in fault:
        assert answer.headers["retry-after"] == "7"


def test_streams_without_their_end(sim: Sim) -> None:
    assert "[DONE]" not in faulty(sim, "no-done", stream=True).text
    found = events(faulty(sim, "no-finish", stream=True).text)
    assert found[-1] == "[DONE]"
    assert all(event["choices"][0]["finish_reason"] is None for event in found[:-1])
    role_only = events(faulty(sim, "role-only", stream=True).text)
    assert len(role_only) == 2
    assert role_only[1] == "[DONE]"


def test_answers_without_usage_or_content(sim: Sim) -> None:
    assert "usage" not in faulty(sim, "no-usage").json()
    assert "usage" not in faulty(sim, "no-usage", stream=True).text
    empty = faulty(sim, "empty").json()["choices"][0]
    assert (empty["message"]["content"], empty["finish_reason"]) == ("", "stop")


@pytest.mark.parametrize(("fault", "word"), [("whitespace", " \n"), ("repeat", " the")])
def test_degenerate_answers_run_to_the_limit(sim: Sim, fault: str, word: str) -> None:
    choice = faulty(sim, fault).json()["choices"][0]
    assert (choice["message"]["content"], choice["finish_reason"]) == (word * 6, "length")


def test_null_content_where_there_is_no_text(sim: Sim) -> None:
    found = events(faulty(sim, "null-content", stream=True).text)
    assert [event["choices"][0]["delta"].get("content", 0) for event in found[:-1]].count(None) >= 1


def test_an_endless_stream_repeats_its_tokens(sim: Sim) -> None:
    count = 0
    body = {
        "model": SERVERLESS,
        "messages": [{"role": "user", "content": "x"}],
        "stream": True,
        "max_tokens": 3,
    }
    with sim.http.stream(
        "POST", "/inference/v1/chat/completions", json=body, headers={"x-sim-fault": "endless"}
    ) as answer:
        for line in answer.iter_lines():
            count += line.startswith("data: ")
            if count == 30:
                break
    assert count == 30


@pytest.mark.parametrize("fault", ["truncated-json", "garbage"])
def test_whole_answers_that_are_no_json(sim: Sim, fault: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        faulty(sim, fault).json()


@pytest.mark.parametrize("fault", ["cut", "hang;seconds=0.05", "reset;after=1"])
def test_whole_answers_that_break_off(sim: Sim, fault: str) -> None:
    with pytest.raises(httpx.TransportError):
        faulty(sim, fault)


def test_whole_answers_that_drip(sim: Sim) -> None:
    assert faulty(sim, "drip;ms=0").json()["object"] == "chat.completion"


def test_slow_waits_and_answers(sim: Sim) -> None:
    assert faulty(sim, "slow;seconds=0.01").status_code == 200


@pytest.mark.parametrize("fault", ["explode", "cut;after", "status;status=many", ";"])
def test_a_fault_that_makes_no_sense_is_refused_by_name(sim: Sim, fault: str) -> None:
    answer = faulty(sim, fault, stream=True)
    assert answer.status_code == 400
    assert "fault" in answer.json()["error"]["message"]


def test_a_fault_s_text_is_read_into_kind_and_options() -> None:
    assert misbehave.parse(" cut ; after = 3 ") == misbehave.Fault("cut", {"after": "3"})
    with pytest.raises(KnobError, match="no fault ''"):
        misbehave.parse("")


def add(sim: Sim, **rule: object) -> None:
    with Store(sim.home) as store, store.write() as tx:
        faults.add(tx, rule)


@pytest.fixture
def fresh(tmp_path: Path) -> Iterator[Sim]:
    with serving(tmp_path) as started:
        yield started


def test_a_stored_rule_strikes_the_nth_matching_request_only(fresh: Sim) -> None:
    add(fresh, kind="status", status=429, retry_after=3, match="inference chat *", nth=2, times=2)
    assert [fresh.chat().status_code for _ in range(4)] == [200, 429, 429, 200]
    add(fresh, kind="status", status=500, match="inference completion *", times=0)
    asked = {"model": SERVERLESS, "prompt": "x"}
    codes = {fresh.http.post("/inference/v1/completions", json=asked).status_code for _ in range(3)}
    assert codes == {500}


def test_a_rule_of_firectl_s_own_kinds_leaves_inference_alone(fresh: Sim) -> None:
    add(fresh, kind="noise", match="*", times=0)
    assert fresh.chat().status_code == 200


def test_stored_rules_strike_the_control_plane(fresh: Sim) -> None:
    path = "/v1/accounts/acme/deployments"
    add(fresh, kind="error", code="Unavailable", message="try later", match="rest deployment list*")
    body = fresh.http.get(path)
    assert (body.status_code, body.json()) == (503, {"code": 14, "message": "try later", "details": []})
    assert fresh.http.get(path).status_code == 200
    add(fresh, kind="status", status=429, match="rest deployment get d1")
    answer = fresh.http.get(f"{path}/d1")
    assert (answer.status_code, answer.json()["code"]) == (429, 8)
    add(fresh, kind="html", match="rest deployment list*")
    assert fresh.http.get(path).status_code == 502
    add(fresh, kind="truncated-json", match="rest deployment list*")
    with pytest.raises(ValueError, match=r"."):
        fresh.http.get(path).json()
    for kind in ("reset", "cut"):
        add(fresh, kind=kind, match="rest deployment list*")
        with pytest.raises(httpx.TransportError):
            fresh.http.get(path)


def test_an_error_after_the_effect_leaves_the_effect(fresh: Sim) -> None:
    add(fresh, kind="error", when="after", code="DeadlineExceeded", match="rest deployment create*")
    body = {"baseModel": LLAMA, "deploymentShape": "default"}
    path = "/v1/accounts/acme/deployments"
    assert fresh.http.post(f"{path}?deploymentId=d1", json=body).status_code == 504
    assert fresh.http.get(f"{path}/d1").status_code == 200


def test_an_operation_that_begins_can_fail_later(fresh: Sim) -> None:
    add(fresh, kind="fails_later", message="no luck", after_s=5, match="rest deployment create*")
    name = fresh.deploy("d1", ready=False)
    fresh.advance(6)
    doc = fresh.http.get("/v1/" + name).json()
    assert (doc["state"], doc["status"]["message"]) == ("FAILED", "no luck")
    assert fresh.chat(name).status_code == 404


def test_lost_rows_hands_behind_the_back_and_waiting(fresh: Sim) -> None:
    for name in ("d1", "d2"):
        fresh.deploy(name, maxReplicaCount=1)
    path = "/v1/accounts/acme/deployments"
    add(fresh, kind="lose_page", match="rest deployment list*")
    assert len(fresh.http.get(path).json()["deployments"]) == 1
    add(fresh, kind="mutate", name="d1", field="displayName", value="moved", match="rest deployment get d1")
    assert fresh.http.get(f"{path}/d1").json()["displayName"] == "moved"
    add(fresh, kind="vanish", name="accounts/acme/deployments/d2", match="rest deployment get d2")
    assert fresh.http.get(f"{path}/d2").status_code == 404
    add(fresh, kind="slow", seconds=0.01, match="rest deployment list*")
    add(fresh, kind="hang", seconds=0.01, match="rest deployment list*")
    assert fresh.http.get(path).status_code == 200
