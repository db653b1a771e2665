"""`bench run` against deployments of the simulator: replicas watched and pinned, the lock recorded."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any

import pytest

from tests.contract.cli_support import Sandbox
from tests.simulator.http.support import serving

WORDS = ("bench", "run", "--suite", "s.jsonl", "--target", "chat", "--no-selftest")


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sandbox]:
    """One deployment that runs and answers, and a target that names it."""
    box = Sandbox(tmp_path_factory.mktemp("bench"))
    box.write()
    (box.folder / "s.jsonl").write_text(
        "".join(
            json.dumps({"id": f"p{n}", "prompt": "Say hello.", "max_tokens": 16}) + "\n" for n in range(6)
        )
    )
    assert box.fwctl("lock").code == 0
    done = box.fwctl("apply", "--yes")
    assert done.code == 0, done.err
    names = ("FIRECTL_SIM_HOME", "FIRECTL_SIM_SPEED")
    with serving(box.folder, FIRECTL_SIM_NOW="", **{name: box.environ[name] for name in names}) as sim:
        text = f"{{deployment: chat, base_url: {sim.url}/inference/v1, api_key: '${{env:BENCH_KEY}}'}}"
        head = "apiVersion: fwctl/v1\nkind: Targets\ntargets:\n  chat: "
        (box.folder / "targets.yaml").write_text(head + text + "\n")
        box.environ["BENCH_KEY"] = "fw_test"
        yield box


def bounds(box: Sandbox) -> tuple[int, int]:
    rows = json.loads(box.firectl("deployment", "list", "-o", "json").out)
    (row,) = rows["deployments"] if isinstance(rows, dict) else rows
    return int(row.get("min_replica_count", 0)), int(row["max_replica_count"])


def summary(box: Sandbox, folder: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((box.folder / folder / "summary.json").read_text())
    return found


def test_replicas_are_watched_and_the_lock_is_recorded(box: Sandbox) -> None:
    done = box.fwctl(*WORDS, "--out", "plain")
    assert done.code == 0, done.out + done.err
    found = summary(box, "plain")
    assert [row["ready"] for row in found["replicas"]] == [{"chat": 1}, {"chat": 1}]
    assert found["lock"]["chat"]["version"].startswith("accounts/fireworks/deploymentShapes/")
    assert found["valid"]
    assert "fw_test" not in "".join(path.read_text() for path in (box.folder / "plain").iterdir())


def test_pinned_replicas_are_there_for_the_run_and_put_back_after_it(box: Sandbox) -> None:
    before = bounds(box)
    done = box.fwctl(*WORDS, "--out", "pinned", "--pin-replicas", "2", "--yes")
    assert done.code == 0, done.out + done.err
    assert {row["ready"]["chat"] for row in summary(box, "pinned")["replicas"]} == {2}
    assert bounds(box) == before == (1, 2)
    assert not (box.folder / ".fwctl/pinned.json").exists()


@pytest.mark.deep
def test_ctrl_c_puts_the_replicas_back_too(box: Sandbox) -> None:
    argv = (*WORDS, "--out", "broken", "--pin-replicas", "2", "--yes", "--duration", "60s")
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", *argv],
        cwd=box.folder,
        env=box.environ,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    records = box.folder / "broken/records.jsonl"
    end = time.monotonic() + 60
    while not (records.exists() and records.stat().st_size) and child.poll() is None:
        assert time.monotonic() < end
        time.sleep(0.02)  # not a wait for time to pass: for what the child does
    child.send_signal(signal.SIGINT)
    out, errors = child.communicate(timeout=60)
    assert child.returncode == 130, out + errors
    assert b"interrupted: this is what was done" in out
    assert summary(box, "broken")["interrupted"]
    assert bounds(box) == (1, 2)


@pytest.mark.deep
def test_what_a_killed_run_left_pinned_is_told_and_put_back(box: Sandbox) -> None:
    (box.folder / ".fwctl/pinned.json").write_text(
        '{"before": {"chat": {"replicas.min": 1, "replicas.max": 2}}}'
    )
    assert box.firectl("deployment", "update", "chat", "--min-replica-count", "2").code == 0
    done = box.fwctl(*WORDS, "--out", "left")
    assert "left replicas pinned" in done.err
    done = box.fwctl(*WORDS, "--out", "again", "--pin-replicas", "2", "--yes")
    assert done.code == 0, done.out + done.err
    assert bounds(box) == (1, 2)


def test_a_target_without_a_deployment_of_the_specs_cannot_be_pinned(box: Sandbox) -> None:
    url = ("--target-url", "http://127.0.0.1:1/v1", "--model", "m")
    done = box.fwctl(
        "bench", "run", "--suite", "s.jsonl", *url, "--no-selftest", "--pin-replicas", "2", "--yes"
    )
    assert done.code == 64
    assert "is no deployment of the specs" in done.err


def test_specs_that_differ_in_more_than_replicas_are_refused(box: Sandbox) -> None:
    text = (box.folder / "configs/chat.yaml").read_text()
    box.write(text.replace("traffic: interactive", "traffic: interactive\n    display_name: other"))
    try:
        done = box.fwctl(*WORDS, "--out", "refused", "--pin-replicas", "2", "--yes")
    finally:
        box.write(text)
    assert done.code == 4, done.err
    assert "display_name" in done.err
    assert bounds(box) == (1, 2)


@pytest.mark.deep
def test_the_self_test_stands_beside_the_results(box: Sandbox) -> None:
    done = box.fwctl(*(word for word in WORDS if word != "--no-selftest"), "--out", "tested")
    assert done.code in (0, 1), done.err
    found = summary(box, "tested")["selftest"]
    assert found["requests"] == 100
    assert found["carries_events_per_s"] > 0
    assert "own error of this machine: TTFT" in done.out
