"""A run from suite to files, against a server that misbehaves on purpose."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fwctl.env import SystemClock
from fwctl.errors import UsageError
from fwctl.inference.client import Timeouts
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.run import run
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from tests.measure.servers import serving

MODES = ("ok", "busy", "cold", "cut", "silent", "stall", "error", "long")
END = b'data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}],"usage":{"completion_tokens":3}}\n\n'


def chunk(**delta: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [{"index": 0, "delta": delta}]}).encode() + b"\n\n"


async def moody(request: web.Request) -> web.StreamResponse:
    """Behaves as the content of the last message says."""
    import asyncio

    mode = (await request.json())["messages"][-1]["content"]
    if mode == "busy":
        return web.Response(status=429)
    if mode == "cold":
        return web.Response(status=503, text="DEPLOYMENT_SCALING_UP")
    response = web.StreamResponse(headers={"x-request-id": "r1"})
    await response.prepare(request)
    if mode == "silent":
        await asyncio.sleep(0.6)
        return response
    await response.write(chunk(role="assistant") + chunk(reasoning_content="hm"))
    await response.write(chunk(content="a"))
    if mode == "stall":
        await asyncio.sleep(0.6)
    if mode == "error":
        await response.write(b'data: {"error": {"message": "x"}}\n\n')
    if mode == "long":
        await response.write(b"data: " + b"x" * (17 * 1024 * 1024))
    if mode not in ("cut", "stall"):
        await response.write(END + b"data: [DONE]\n\n")
    return response


def plan(tmp_path: Path, url: str, contents: tuple[str, ...], shape: Shape, **more: Any) -> Plan:
    path = tmp_path / "s.jsonl"
    path.write_text("".join(json.dumps({"id": text, "prompt": text}) + "\n" for text in contents))
    target = Target("t", url, "m", "sesame", Timeouts(connect_s=2, ttft_s=0.3, idle_s=0.3, total_s=5))
    return Plan(load(path), [target], shape, tmp_path / "out", **more)


def records(tmp_path: Path) -> dict[str, dict[str, Any]]:
    lines = (tmp_path / "out/records.jsonl").read_text().splitlines()
    return {row["prompt_id"]: row for row in map(json.loads, lines)}


def test_every_misbehaviour_is_a_record_with_its_class(tmp_path: Path) -> None:
    with serving(moody) as url:
        summary = run(plan(tmp_path, url, MODES, Shape(concurrency=4)), SystemClock())
    found = {name: row["error_class"] for name, row in records(tmp_path).items()}
    assert found == {
        "ok": None,
        "busy": "rate_limited",
        "cold": "scaling_up",
        "cut": "truncated",
        "silent": "timeout_ttft",
        "stall": "timeout_idle",
        "error": "sse_error",
        "long": "sse_error",
    }
    assert (summary["targets"]["t"]["n"], summary["targets"]["t"]["n_ok"]) == (8, 1)
    assert summary["targets"]["t"]["errors"]["sse_error"] == 2
    assert json.loads((tmp_path / "out/summary.json").read_text()) == summary


def test_a_record_knows_its_times_and_keeps_null_for_the_unknown(tmp_path: Path) -> None:
    with serving(moody) as url:
        run(plan(tmp_path, url, ("ok",), Shape(), keep_text=True), SystemClock())
    row = records(tmp_path)["ok"]
    assert 0 < row["ttft_s"] <= row["ttfv_s"] <= row["total_s"]
    assert (row["output_tokens"], row["tokens_source"], row["finish_reason"]) == (3, "usage", "stop")
    assert (row["prompt_tokens"], row["cached_tokens"], row["text"]) == (None, None, "a")
    assert (row["http_status"], row["request_id"]) == (200, "r1")


def test_the_key_is_in_no_file(tmp_path: Path) -> None:
    with serving(moody) as url:
        run(plan(tmp_path, url, ("ok",), Shape()), SystemClock())
    assert not [path for path in (tmp_path / "out").iterdir() if "sesame" in path.read_text()]


def test_warm_up_uses_other_prompts_and_is_left_out(tmp_path: Path) -> None:
    with serving(moody) as url:
        summary = run(plan(tmp_path, url, ("ok",), Shape(), warmup=2, repeats=2), SystemClock())
    assert summary["targets"]["t"]["n"] == 2
    assert not records(tmp_path)["warmup-0"]["measured"]


@pytest.mark.parametrize("poisson", [True, False])
def test_an_open_loop_counts_from_the_schedule(tmp_path: Path, poisson: bool) -> None:
    with serving(moody) as url:
        shape = Shape(rate_per_s=200, poisson=poisson)
        summary = run(plan(tmp_path, url, ("ok",), shape, repeats=8), SystemClock())
    assert summary["targets"]["t"]["ttft_from_schedule_s"]["p50"]["value"] > 0
    row = records(tmp_path)["ok"]
    assert row["ttft_from_schedule_s"] >= row["ttft_s"]


def test_nobody_listening_is_a_result(tmp_path: Path) -> None:
    run(plan(tmp_path, "http://127.0.0.1:1", ("ok",), Shape()), SystemClock())
    assert records(tmp_path)["ok"]["error_class"] == "connect"


def test_a_run_never_overwrites_another(tmp_path: Path) -> None:
    made = plan(tmp_path, "http://127.0.0.1:1", ("ok",), Shape())
    run(made, SystemClock())
    with pytest.raises(UsageError, match="exists already"):
        run(made, SystemClock())


def test_a_folder_that_cannot_be_made_is_said(tmp_path: Path) -> None:
    (tmp_path / "out").write_text("a file")
    with pytest.raises(UsageError, match="cannot write"):
        run(plan(tmp_path, "http://127.0.0.1:1", ("ok",), Shape()), SystemClock())
