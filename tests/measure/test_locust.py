"""A run on Locust with two workers of this machine, beside the same run without Locust."""

from __future__ import annotations

import json
import os
from importlib.util import find_spec
from pathlib import Path

import pytest

from fwctl.env import SystemClock
from fwctl.measure.locust_fleet import Crew, Fleet
from fwctl.measure.locust_parts import hello, refusal
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.run import run
from fwctl.measure.selftest import paced_server
from fwctl.measure.suite import load
from fwctl.measure.target import Target

PAUSE_S = 0.1  # what the paced server waits before the first token


def plan(folder: Path, url: str = "http://127.0.0.1:1", concurrency: int = 4) -> Plan:
    path = folder / "s.jsonl"
    lines = (json.dumps({"id": f"p{n}", "prompt": "x", "max_tokens": 2}) for n in range(10))
    path.write_text("".join(line + "\n" for line in lines))
    targets = [Target("a", url, "m", "sesame", headers={"x-team": "blue"})]
    return Plan(load(path), targets, Shape(concurrency), folder / "out", repeats=2, warmup=1, workers=2)


@pytest.mark.skipif(find_spec("locust") is None, reason="needs the extra load")
def test_workers_on_locust_send_what_the_own_engine_sends_and_see_the_same_server(tmp_path: Path) -> None:
    found = {}
    with paced_server(os.environ) as url:
        for engine in ("fwctl", "locust"):
            folder = tmp_path / engine
            folder.mkdir()
            made = plan(folder, url)
            if engine == "locust":
                with Fleet(made, os.environ, Crew(local=2), lambda _text: None) as fleet:
                    summary = run(made, SystemClock(), engine=fleet)
                assert sorted(node["name"] for node in summary["nodes"]) == ["worker 1", "worker 2"]
                assert all(node["cpu_s"] > 0 and node["lost"] is None for node in summary["nodes"])
            else:
                summary = run(made, SystemClock())
            rows = [json.loads(line) for line in made.records.read_text().splitlines()]
            assert (summary["engine"], summary["interrupted"]) == (engine, False)
            keys = sorted((row["prompt_id"], row["repeat"]) for row in rows if row["measured"])
            assert keys == sorted((f"p{n}", repeat) for n in range(10) for repeat in (0, 1))
            found[engine] = summary["targets"]["a"]["ttft_s"]["p50"]["value"]
    # A busy machine is slow, never early.
    assert all(PAUSE_S - 0.005 < p50 < 5 * PAUSE_S for p50 in found.values())


def test_what_a_worker_says_holds_no_key_and_no_value_of_a_header(tmp_path: Path) -> None:
    said = json.dumps(hello(plan(tmp_path).to_json(), "vm", None))
    assert "sesame" not in said
    assert "blue" not in said


def test_a_worker_with_the_same_options_may_write_elsewhere(tmp_path: Path) -> None:
    mine = plan(tmp_path).to_json()
    assert refusal(mine, hello({**mine, "out": "/elsewhere"}, "vm", None)) is None


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"shape": {"concurrency": 9}}, "it has other options: the load is not the same"),
        ({"suite": {"digest": "sha256:other"}}, "it has other options: the prompt set is not the same"),
        ({"suite": None}, "it has other options: the prompt set is not the same"),
    ],
)
def test_a_worker_with_other_options_is_refused(tmp_path: Path, change: dict[str, object], why: str) -> None:
    mine = plan(tmp_path).to_json()
    assert refusal(mine, hello({**mine, **change}, "vm", None)) == why


@pytest.mark.parametrize("said", [None, "text", {}, {"plan": "text"}])
def test_what_is_no_worker_of_fwctl_is_refused(tmp_path: Path, said: object) -> None:
    assert refusal(plan(tmp_path).to_json(), said) == "it is no worker of fwctl"


def test_a_worker_of_another_version_is_refused(tmp_path: Path) -> None:
    mine = plan(tmp_path).to_json()
    why = refusal(mine, {**hello(mine, "vm", None), "version": "0.0.0"})
    assert why is not None
    assert why.startswith("it is fwctl 0.0.0, the master is ")
