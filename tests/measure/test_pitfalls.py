"""What made other tools measure wrong, each against a server that provokes it.

| pitfall | tests |
|---|---|
| 1 role-only, empty, null chunks; usage anywhere | only_content_starts_the_clock, the_last_usage_holds |
| 2 reasoning under either name; nothing else | reasoning_is_a_first_token |
| 3 nothing but a tool call | a_tool_call_is_a_first_token |
| 4 framing of events; tokens, chunks, reads | framing_changes_nothing, chunks_are_not_tokens |
| 5 errors after HTTP 200; a stream that ends | a_stream_that_fails_is_no_success |
| a page instead of a stream | what_is_no_stream_is_named_and_shown |
| 6 finish reasons | every_finish_reason_is_recorded |
| 7 several choices | choices_are_kept_apart |
| 8 metrics in any place and form | server_metrics_are_found_wherever_they_are |
| 9 coordinated omission | a_queue_of_the_server_is_seen_in_an_open_loop_only |
| 10 warm-up | warm_up_hands_over_without_draining; test_run.py, test_workers.py |
| 11 interleaving | targets_take_turns_in_an_order_of_the_seed |
| 12 limits of the client | no_pool_holds_requests_back, the_client_adds_nothing, |
| | running_out_of_files_is_the_harness; test_client_state.py |
| 13 length of answers | test_summary.py |
| 14 hidden retries | a_failed_request_is_sent_once |
| 15 identity of the prompt set | test_suite.py |
| 16 429 and 503 are results | a_failed_request_is_sent_once; test_run.py |
| total time up to [DONE] | total_time_ends_with_the_last_token |
| a deadline for each read only | a_drip_ends_at_the_total_deadline |
| empty answers that count as answers | an_empty_answer_is_an_error |
| Ctrl-C that loses results | test_workers.py |
"""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fwctl.env import SystemClock
from fwctl.inference.client import Timeouts
from fwctl.measure.load import jobs
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.run import run
from fwctl.measure.sender import _is_own_limit
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from tests.measure.servers import Piece, scripted, serving

LIMITS = Timeouts(connect_s=2, ttft_s=5, idle_s=5, total_s=1.0)
PAUSE = 0.1


def event(**payload: Any) -> bytes:
    return b"data: " + json.dumps(payload).encode() + b"\n\n"


def delta(index: int = 0, **found: Any) -> bytes:
    return event(choices=[{"index": index, "delta": found, "finish_reason": None}])


def finish(reason: str | None = "stop", **more: Any) -> bytes:
    return event(choices=[{"index": 0, "delta": {}, "finish_reason": reason}], **more)


DONE = b"data: [DONE]\n\n"
USAGE = {"prompt_tokens": 3, "completion_tokens": 8}
METRICS = {"server-time-to-first-token": 0.25, "num-concurrent-requests": "2"}
TEXTS = {"choices": [{"index": 0, "delta": {"content": "grün"}, "finish_reason": "stop"}]}
WHOLE = json.dumps(TEXTS, ensure_ascii=False).encode()
CALL = {"index": 0, "function": {"name": "f", "arguments": "{}"}}

KEY = "key-of-the-target"


def whole(kind: str, body: bytes) -> Sequence[Piece]:
    """An answer with HTTP 200 of any type."""
    head = (
        f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n"
    )
    return [head.encode() + body]


NO_STREAMS: Mapping[str, Sequence[Piece]] = {
    "a page": whole("text/html; charset=utf-8", f"<html>\n Sign in, {KEY}".encode()),
    "a whole answer": whole("application/json", b'{"choices":[{"message":{"content":"secret answer"}}]}'),
    "nothing": whole("text/plain", b""),
    "JSON as a stream": whole("text/event-stream", b'{"detail": "moved"}'),
}

SCRIPT: Mapping[str, Sequence[Piece]] = {
    "role first": [
        delta(role="assistant") + delta(content="") + delta(content=None) + event(choices=[]),
        PAUSE,
        delta(content="a") + finish() + DONE,
    ],
    "usage in every chunk": [
        event(
            choices=[{"index": 0, "delta": {"content": "a"}}],
            usage={"completion_tokens": n, "prompt_tokens": 3},
        )
        for n in (1, 5)
    ]
    + [finish(usage=USAGE) + DONE],
    "usage with the finish": [delta(content="a"), finish(usage=USAGE), DONE],
    "usage after the finish": [delta(content="a"), finish(), event(choices=[], usage=USAGE), DONE],
    "no usage": [delta(content="a"), finish(), DONE],
    "reasoning_content": [delta(reasoning_content="hm"), PAUSE, delta(content="a") + finish() + DONE],
    "reasoning": [delta(reasoning="hm"), PAUSE, delta(content="a") + finish() + DONE],
    "both names": [
        delta(reasoning="hm", reasoning_content="hm"),
        PAUSE,
        delta(content="a") + finish() + DONE,
    ],
    "only reasoning": [delta(reasoning_content="hm"), finish("length"), DONE],
    "tool call": [delta(role="assistant"), delta(tool_calls=[CALL]), finish("tool_calls"), DONE],
    "crlf": [b"data: " + WHOLE + b"\r\n\r\ndata: [DONE]\r\n\r\n"],
    "comments": [b": ping\n\n: ping\n\n" + b"data: " + WHOLE + b"\n\n: ping\n\n" + DONE],
    "no space": [b"data:" + WHOLE + b"\n\ndata:[DONE]\n\n"],
    "no last blank line": [b"data: " + WHOLE + b"\n\ndata: [DONE]"],
    "split in UTF-8": [b"data: " + WHOLE[:-40], 0.02, WHOLE[-40:] + b"\n\n" + DONE],
    "byte by byte": [part for byte in b"data: " + WHOLE + b"\n\n" + DONE for part in (bytes([byte]), 0.0)],
    "half an emoji": [delta(content="a\ud83d"), delta(content="\ude00"), finish() + DONE],
    "many in one read": [b"".join(delta(content="a") for _ in range(4)) + finish(usage=USAGE) + DONE],
    "many tokens a chunk": [
        delta(content="one two"),
        PAUSE,
        delta(content="three four"),
        finish(usage=USAGE),
        DONE,
    ],
    "error object": [delta(content="a"), event(error={"message": "x"})],
    "error event": [delta(content="a"), b'event: error\ndata: {"message": "x"}\n\n', DONE],
    "not JSON": [delta(content="a"), b"data: {oops\n\n", DONE],
    "just ends": [delta(content="a")],
    **NO_STREAMS,
    "finish stop": [delta(content="a"), finish("stop"), DONE],
    "finish length": [delta(content="a"), finish("length"), DONE],
    "finish tool_calls": [delta(content="a"), finish("tool_calls"), DONE],
    "finish content_filter": [delta(content="a"), finish("content_filter"), DONE],
    "finish error": [delta(content="a"), finish("error"), DONE],
    "finish null": [delta(content="a"), finish(None), DONE],
    "two choices": [delta(1, content="B"), delta(0, content="A"), delta(1, content="B"), finish() + DONE],
    "metrics with the finish": [delta(content="a"), finish(perf_metrics=METRICS), DONE],
    "metrics with the usage": [
        delta(content="a"),
        finish(),
        event(choices=[], usage=USAGE, perf_metrics=METRICS),
        DONE,
    ],
    "metrics in headers": [
        b"HTTP/1.1 200 OK\r\nfireworks-server-time-to-first-token: 0.25\r\n",
        b"fireworks-num-concurrent-requests: 2\r\nconnection: close\r\n\r\n",
        delta(content="a") + finish() + DONE,
    ],
    "late usage": [delta(content="a"), finish(), PAUSE, event(choices=[], usage=USAGE), DONE],
    "drip": [part for _ in range(40) for part in (delta(content="a"), 0.05)],
    "empty": [delta(role="assistant"), finish(), DONE],
    "broken": [b"HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n"],
}


@pytest.fixture(scope="module")
def rows(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, Any]]:
    """One record of every misbehaviour, all in one run."""
    folder = tmp_path_factory.mktemp("pitfalls")
    path = folder / "s.jsonl"
    path.write_text("".join(json.dumps({"id": name, "prompt": name}) + "\n" for name in SCRIPT))
    with scripted(SCRIPT) as url:
        plan = Plan(
            load(path),
            [Target("t", url, "m", KEY, timeouts=LIMITS)],
            Shape(40),
            folder / "out",
            keep_text=True,
        )
        run(plan, SystemClock())
    lines = plan.records.read_text().splitlines()
    return {row["prompt_id"]: row for row in map(json.loads, lines)}


Rows = dict[str, dict[str, Any]]


def test_every_misbehaviour_is_one_record(rows: Rows) -> None:
    assert set(rows) == set(SCRIPT)


def test_only_content_starts_the_clock(rows: Rows) -> None:
    assert rows["role first"]["ttft_s"] >= PAUSE
    assert rows["role first"]["error_class"] is None


def test_the_last_usage_holds(rows: Rows) -> None:
    for name in ("usage in every chunk", "usage with the finish", "usage after the finish"):
        found = rows[name]
        assert (found["output_tokens"], found["prompt_tokens"], found["tokens_source"]) == (8, 3, "usage")
    found = rows["no usage"]
    assert (found["output_tokens"], found["tokens_source"], found["tpot_s"]) == (None, None, None)


def test_reasoning_is_a_first_token(rows: Rows) -> None:
    for name in ("reasoning_content", "reasoning", "both names"):
        found = rows[name]
        assert found["ttfv_s"] - found["ttft_s"] >= PAUSE / 2
        assert found["text"] == "a"
    found = rows["only reasoning"]
    assert (found["ttfv_s"], found["finish_reason"], found["ttft_s"] > 0) == (None, "length", True)


def test_a_tool_call_is_a_first_token(rows: Rows) -> None:
    found = rows["tool call"]
    assert 0 < found["ttft_s"] == found["ttfv_s"]
    assert (found["error_class"], found["finish_reason"]) == (None, "tool_calls")


@pytest.mark.parametrize(
    "name", ["crlf", "comments", "no space", "no last blank line", "split in UTF-8", "byte by byte"]
)
def test_framing_changes_nothing(rows: Rows, name: str) -> None:
    assert (rows[name]["text"], rows[name]["error_class"], rows[name]["finish_reason"]) == (
        "grün",
        None,
        "stop",
    )


def test_an_emoji_in_two_halves_is_no_error(rows: Rows) -> None:
    assert (rows["half an emoji"]["error_class"], rows["half an emoji"]["text"]) == (None, "a😀")


def test_chunks_are_not_tokens(rows: Rows) -> None:
    # Four events of one read share a stamp, so there is no gap between them.
    found = rows["many in one read"]
    assert (found["reads_with_tokens"], found["max_gap_s"], found["output_tokens"]) == (1, None, 8)
    found = rows["many tokens a chunk"]
    assert (found["reads_with_tokens"], found["output_tokens"]) == (2, 8)
    assert found["max_gap_s"] >= PAUSE / 2
    # 8 tokens have 7 distances; the two reads are one gap apart.
    assert found["tpot_s"] == pytest.approx(found["max_gap_s"] / 7)


def test_a_stream_that_fails_is_no_success(rows: Rows) -> None:
    assert rows["error object"]["error_class"] == "sse_error"
    assert rows["error event"]["error_class"] == "sse_error"
    assert rows["not JSON"]["error_class"] == "sse_error"
    assert rows["just ends"]["error_class"] == "truncated"
    assert rows["broken"]["error_class"] == "truncated"


def test_what_is_no_stream_is_named_and_shown(rows: Rows) -> None:
    assert {rows[name]["error_class"] for name in NO_STREAMS} == {"not_a_stream"}
    told = {name: rows[name]["error_note"] for name in NO_STREAMS}
    assert "HTTP 200 with text/html instead" in told["a page"]
    assert "begins '<html> Sign in, ***'" in told["a page"]
    assert "`stream: true`" in told["a whole answer"]
    assert "secret answer" not in told["a whole answer"]
    assert "an empty body" in told["nothing"]
    assert "moved" in told["JSON as a stream"]
    assert "error_note" not in rows["just ends"]


def test_every_finish_reason_is_recorded(rows: Rows) -> None:
    found = {
        name: (rows[f"finish {name}"]["finish_reason"], rows[f"finish {name}"]["error_class"])
        for name in ("stop", "length", "tool_calls", "content_filter", "error", "null")
    }
    assert found == {
        "stop": ("stop", None),
        "length": ("length", None),
        "tool_calls": ("tool_calls", None),
        "content_filter": ("content_filter", "content_filter"),
        "error": ("error", "sse_error"),
        "null": (None, None),
    }


def test_choices_are_kept_apart(rows: Rows) -> None:
    assert rows["two choices"]["text"] == "A"


def test_server_metrics_are_found_wherever_they_are(rows: Rows) -> None:
    for name in ("metrics with the finish", "metrics with the usage", "metrics in headers"):
        found = rows[name]["server"]
        assert (found["server-time-to-first-token"], found["num-concurrent-requests"]) == (0.25, 2)
    assert rows["no usage"]["server"] == {}


def test_total_time_ends_with_the_last_token(rows: Rows) -> None:
    found = rows["late usage"]
    assert found["done_s"] - found["total_s"] >= PAUSE / 2
    assert found["output_tokens"] == 8


def test_a_drip_ends_at_the_total_deadline(rows: Rows) -> None:
    assert rows["drip"]["error_class"] == "timeout_total"
    assert LIMITS.total_s <= rows["drip"]["done_s"] < LIMITS.total_s + 1


def test_an_empty_answer_is_an_error(rows: Rows) -> None:
    assert (rows["empty"]["error_class"], rows["empty"]["ttft_s"]) == ("empty", None)


def plan(tmp_path: Path, url: str, names: Sequence[str], shape: Shape, **more: Any) -> Plan:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps({"id": name, "prompt": name}) + "\n" for name in names))
    return Plan(load(path), [Target("t", url, "m")], shape, tmp_path / "out", **more)


def records(made: Plan) -> list[dict[str, Any]]:
    return [json.loads(line) for line in made.records.read_text().splitlines()]


GOOD = delta(content="a") + finish() + DONE


def test_a_queue_of_the_server_is_seen_in_an_open_loop_only(tmp_path: Path) -> None:
    turn = asyncio.Lock()

    async def one_at_a_time(request: web.Request) -> web.StreamResponse:
        async with turn:
            await asyncio.sleep(0.03)
        return web.Response(body=GOOD)

    names = [str(n) for n in range(6)]
    with serving(one_at_a_time) as url:
        (tmp_path / "open").mkdir()
        opened = plan(tmp_path / "open", url, names, Shape(rate_per_s=1000.0, poisson=False))
        closed = plan(tmp_path, url, names, Shape(1))
        run(opened, SystemClock())
        run(closed, SystemClock())
    # The sixth of six requests that come at once waits for five others: 0.18 s, where each takes 0.03 s.
    assert max(row["ttft_from_schedule_s"] for row in records(opened)) >= 0.17
    assert {row["concurrency"] for row in records(opened)} == {None}
    assert {row["rate_per_s"] for row in records(closed)} == {None}


def test_warm_up_hands_over_without_draining(tmp_path: Path) -> None:
    came = asyncio.Event()

    async def waits(request: web.Request) -> web.StreamResponse:
        text = (await request.json())["messages"][0]["content"]
        if text == "measured":
            came.set()
        # Warm-up ends only once a measured request is there.
        await asyncio.wait_for(came.wait(), 20)
        return web.Response(body=GOOD)

    with serving(waits) as url:
        made = plan(tmp_path, url, ["measured"], Shape(2), warmup=1)
        summary = run(made, SystemClock())
    assert (summary["targets"]["t"]["n_ok"], summary["targets"]["t"]["warm_up"]["failed"]) == (1, 0)


def test_targets_take_turns_in_an_order_of_the_seed(tmp_path: Path) -> None:
    made = plan(tmp_path, "http://t", [str(n) for n in range(40)], Shape())
    both = Plan(made.suite, [Target("a", "u", "m"), Target("b", "u", "m")], made.shape, made.out)

    def order(seed: int) -> list[tuple[str, str]]:
        return [(job.prompt.id, job.name) for job, _ in jobs(both, Shape(seed=seed))]

    pairs = [order(1)[at : at + 2] for at in range(0, 80, 2)]
    assert [sorted(pair) for pair in pairs] == [[(str(n), "a"), (str(n), "b")] for n in range(40)]
    assert {pair[0][1] for pair in pairs} == {"a", "b"}
    assert order(1) == order(1) != order(2)


def test_no_pool_holds_requests_back(tmp_path: Path) -> None:
    # aiohttp's own pool ends at 100 connections.
    many, here, everybody = 130, 0, asyncio.Event()

    async def together(request: web.Request) -> web.StreamResponse:
        nonlocal here
        here += 1
        if here == many:
            everybody.set()
        await asyncio.wait_for(everybody.wait(), 20)
        return web.Response(body=GOOD)

    with serving(together) as url:
        summary = run(plan(tmp_path, url, [str(n) for n in range(many)], Shape(many)), SystemClock())
    assert summary["targets"]["t"]["n_ok"] == many


def test_the_client_adds_nothing(tmp_path: Path) -> None:
    seen: list[dict[str, str]] = []

    async def sets_cookie(request: web.Request) -> web.StreamResponse:
        seen.append(dict(request.headers))
        return web.Response(body=GOOD, headers={"set-cookie": "a=b; Path=/"})

    with serving(sets_cookie) as url:
        made = plan(tmp_path, url, ["1", "2"], Shape())
        run(made, SystemClock())
    assert [(row["connection"], row["connect_s"] is None) for row in records(made)] == [
        ("new", False),
        ("reused", True),
    ]
    assert {headers.get("Accept-Encoding") for headers in seen} == {"identity"}
    assert not [headers for headers in seen if "Cookie" in headers or "Authorization" in headers]


def test_running_out_of_files_is_the_harness() -> None:
    outer = RuntimeError()
    outer.__cause__ = OSError(errno.EMFILE, "too many open files")
    assert _is_own_limit(outer)
    assert not _is_own_limit(OSError(errno.ECONNREFUSED, "refused"))


@pytest.mark.parametrize("status", [429, 500, 503])
def test_a_failed_request_is_sent_once(tmp_path: Path, status: int) -> None:
    asked = 0

    async def fails(request: web.Request) -> web.StreamResponse:
        nonlocal asked
        asked += 1
        return web.Response(status=status, headers={"retry-after": "0"})

    with serving(fails) as url:
        made = plan(tmp_path, url, ["1"], Shape())
        summary = run(made, SystemClock())
    assert asked == len(records(made)) == summary["targets"]["t"]["n"] == 1


def test_nonsense_of_a_server_costs_one_request_and_no_run(tmp_path: Path) -> None:
    """A count that no library reads back, and an id with half a surrogate pair, stay readable records."""
    wild = event(choices=[], usage={"prompt_tokens": 10**400, "completion_tokens": 10**30})
    script = {"wild": [delta(content="a") + finish("stop") + wild + b"data: [DONE]\n\n"]}
    suite = tmp_path / "s.jsonl"
    suite.write_text('{"id": "\\ud800", "prompt": "wild"}\n')
    with scripted(script) as url:
        plan = Plan(load(suite), [Target("t", url, "m", timeouts=LIMITS)], Shape(), tmp_path / "out")
        summary = run(plan, SystemClock())
    assert (summary["targets"]["t"]["n"], summary["targets"]["t"]["n_ok"]) == (1, 1)
    (row,) = (json.loads(line) for line in plan.records.read_text().splitlines())
    assert (row["prompt_tokens"], row["output_tokens"], row["prompt_id"]) == (None, None, "\ud800")
