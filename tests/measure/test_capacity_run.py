"""Levels on the real harness against the simulator, whose slots make its limit known."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from fwctl.env import SystemClock
from fwctl.errors import RefusedError
from fwctl.measure.capacity import Sizes, search
from fwctl.measure.capacity_run import Setup, loader
from fwctl.measure.objectives import Objective
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from tests.measure.servers import serving as answering
from tests.simulator.http.support import KEY, serving

# 11 tokens at 100/s take 0.1 s (ten gaps); 8 slots serve 80 requests a second.
KNOBS = {
    "FIRECTL_SIM_INFERENCE_SPEED": "1",
    "FIRECTL_SIM_SLOTS": "8",
    "FIRECTL_SIM_TTFT_MS": "0",
    "FIRECTL_SIM_OUTPUT_TOKENS": "11",
    "FIRECTL_SIM_TOKENS_PER_SECOND": "100",
}
LIMIT_PER_S = 80.0
TTFT = Objective("ttft_p95_ms", "ttft_s", 0.25)


async def page(_: web.Request) -> web.Response:
    return web.Response(text="<title>Sign in</title>", content_type="text/html")


def suite(folder: Path) -> Any:
    rows = [{"id": f"p{n}", "prompt": f"Say {n}.", "max_tokens": 11} for n in range(40)]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return load(folder / "prompts.jsonl")


def test_the_search_encloses_the_limit_of_the_simulator(tmp_path: Path) -> None:
    """Short levels on a busy machine: within 30 %. docs/evidence.md has the long check within 10 %."""
    with serving(tmp_path / "sim", **KNOBS) as sim:
        target = Target("d1", f"{sim.url}/inference/v1", sim.deploy(), api_key=KEY)
        sizes = Sizes(precision=0.3, looks=1, levels=4)
        setup = Setup(suite(tmp_path), [target], tmp_path / "runs", SystemClock(), level_s=0.5)
        found = search(loader(setup, sizes), [TTFT], 50.0, sizes)
    for level in found.levels:  # a machine that is too busy to measure says so, which is no verdict
        assert level.verdict != "met" or level.rate_per_s <= LIMIT_PER_S * 1.4
        assert level.verdict != "missed" or level.rate_per_s >= LIMIT_PER_S * 0.7
    assert found.best is not None or found.limited_by.startswith("this machine")
    assert (tmp_path / "runs/50-per-s-1/records.jsonl").is_file()


def test_replicas_that_come_or_go_end_the_search(tmp_path: Path) -> None:
    counts = iter([1, 2])
    setup = Setup(suite(tmp_path), [], tmp_path, SystemClock(), ready=lambda: next(counts))
    load_one = loader(setup, Sizes())
    with pytest.raises(RefusedError, match="changed from 1 to 2 during the search"):
        load_one(1.0, 0)


def test_a_target_that_serves_nothing_ends_the_search_with_the_reason(tmp_path: Path) -> None:
    with answering(page) as url:
        setup = Setup(suite(tmp_path), [Target("chat", url, "m")], tmp_path / "r", SystemClock(), level_s=0.2)
        with pytest.raises(RefusedError, match=r"chat served no request: not_a_stream: .*Sign in") as caught:
            loader(setup, Sizes(looks=1))(200.0, 0)
    assert caught.value.next_steps == (f"see {tmp_path / 'r' / '200-per-s-1' / 'records.jsonl'}",)


def test_the_targets_of_a_mix_share_the_rate(tmp_path: Path) -> None:
    """Two adapters at 60/s together for a second: about 30 requests of each."""
    with serving(tmp_path / "sim", **{**KNOBS, "FIRECTL_SIM_TOKENS_PER_SECOND": "1000"}) as sim:
        one = Target("a", f"{sim.url}/inference/v1", sim.deploy(), api_key=KEY)
        setup = Setup(suite(tmp_path), [one, replace(one, name="b")], tmp_path / "r", SystemClock(), 1.0)
        sent = loader(setup, Sizes(looks=1))(60.0, 0)
    names = [row["target"] for row in sent.rows]
    assert len(names) == pytest.approx(60 * sent.seconds, rel=0.4)
    assert names.count("a") == pytest.approx(names.count("b"), abs=2)
    assert [row["arrived_s"] for row in sent.rows] == sorted(row["arrived_s"] for row in sent.rows)
