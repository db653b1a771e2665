"""The KV pool from the platform's metrics page."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from fwctl.cli.bench_capacity_pool import measure_pool, metrics_url, pool_of
from fwctl.cli.command import Call
from fwctl.cli.options import Settings
from fwctl.cli.output import Output
from fwctl.env import SystemClock
from fwctl.measure.capacity import Level
from fwctl.measure.capacity_run import Setup
from fwctl.measure.objectives import Verdict
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from fwctl.operate.exporter import DeploymentMetrics
from tests.cli.support import make_env
from tests.simulator.http.support import KEY, serving

NOW = datetime(2026, 12, 1, tzinfo=UTC)
SEEN = DeploymentMetrics("chat", NOW, kv_blocks=0.25, concurrent=20.0)


def test_the_pool_is_what_is_in_flight_divided_by_the_share_in_use() -> None:
    """20 requests of 1000 + 200/2 tokens are 22,000 tokens, a quarter of 88,000; two replicas hold 44,000
    each, which are 44,000 * 65,536 bytes on a GPU."""
    found = pool_of(SEEN, 1000, 200, 2, {"kv_bytes_per_token_per_gpu": 65_536.0})
    assert found["kv_pool_tokens"] == pytest.approx(44_000)
    assert found["kv_pool_bytes_per_gpu"] == pytest.approx(44_000 * 65_536)
    assert found["kv_pool_note"] is None
    assert pool_of(SEEN, 1000, 200, 2, None)["kv_pool_bytes_per_gpu"] is None


def test_without_a_usable_share_the_note_says_so() -> None:
    few = pool_of(DeploymentMetrics("chat", NOW, kv_blocks=0.01, concurrent=1.0), 10, 10, 1, None)
    assert few["kv_pool_note"] == "1.0% of the KV blocks were in use, too few to tell the size of the pool"
    none = pool_of(DeploymentMetrics("chat", NOW), 10, 10, 1, None)
    assert none == {"kv_pool_note": "the metrics page has no KV blocks of chat"}


def test_the_page_lies_beside_the_inference_server() -> None:
    assert metrics_url("https://api.fireworks.ai/inference/v1", "acme") is None
    assert (
        metrics_url("http://127.0.0.1:80/inference/v1", "acme")
        == "http://127.0.0.1:80/v1/accounts/acme/metrics"
    )


def test_a_load_is_held_while_the_page_is_read(tmp_path: Path) -> None:
    """The simulator's pool is far larger than 90 short requests need, and the note says that."""
    (tmp_path / "p.jsonl").write_text(json.dumps({"id": "a", "prompt": "Say it.", "max_tokens": 4}))
    env = make_env(tmp_path, {"SIM_KEY": KEY})
    call = Call(env, Settings(), Output(env))
    best = Level(90.0, Verdict.MET, None, 1, 100, ())
    with serving(tmp_path / "sim", FIRECTL_SIM_METRICS_REFRESH_S="0") as sim:
        name = sim.deploy()
        target = Target("d1", f"{sim.url}/inference/v1", name, api_key=KEY)
        setup = Setup(load(tmp_path / "p.jsonl"), [target], tmp_path / "runs", SystemClock())
        found = measure_pool(
            call, setup, best, resource=name, replicas=1, key_variable="SIM_KEY", fit=None, hold_s=0.5
        )
    assert "too few to tell the size of the pool" in found["kv_pool_note"]
    assert found["kv_prompt_tokens"] > 0
    assert (tmp_path / "runs/kv-pool").is_dir()
