"""The adaptive pipeline by real processes on the simulator: the whole loop, a kill in its middle, drift."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from tests.contract.cli_support import Sandbox
from tests.contract.test_cli_json import DOCS
from tests.simulator.http.support import serving

TARGET = "accounts/acme/deployments/evaluation"
TEXT = f"""\
apiVersion: fwctl/v1
kind: Adapt
account: acme
stack: demo
name: nightly
deployment: evaluation
specs: [configs/evaluation.yaml]
collect: {{traces: [traces.jsonl], models: [{TARGET}], least_tokens: 5000}}
train: {{base_models: [accounts/fireworks/models/llama-v3p2-1b-instruct], usd_per_million_tokens: 0.50}}
evaluate: {{draft_tokens: [5], requests: 40, repeat: 1, spend_cap: $20}}
watch: {{records: [today.jsonl], on_drift: DRIFT}}
"""
ADAPT = ("speculate", "adapt", "-f", "adapt.yaml", "--yes")


def answer(number: int) -> str:
    """A support desk that says nearly the same every time: what a small model learns."""
    return (
        f"Dear customer, your parcel {number % 7} has left our warehouse and is with the carrier now. You "
        "will get the tracking link by mail. If it does not arrive within five working days, please answer "
        "this message, and we will look into it at once. Kind regards, your service team."
    )


@pytest.fixture
def box(tmp_path: Path) -> Iterator[Sandbox]:
    """Specs, 300 traces, and a simulator that answers as they do, at half its speed: a busy machine is small
    beside it."""
    traces = tmp_path / "traces.jsonl"
    with traces.open("w") as file:
        for number in range(300):
            row = {
                "id": f"r{number}",
                "type": "support",
                "model": TARGET,
                "finish_reason": "stop",
                "created_at": "2026-11-20T10:00:00+00:00",
                "messages": [{"role": "user", "content": f"Order {number}: where is the parcel?"}],
            }
            print(json.dumps(row | {"completion": answer(number), "answer": answer(number)}), file=file)
    profile = {"FIRECTL_SIM_PROFILE": "latest,job_s=120", "FIRECTL_SIM_SPEED": "60"}
    box = Sandbox(tmp_path, **profile)
    box.copy_examples()
    (tmp_path / "adapt.yaml").write_text(TEXT.replace("DRIFT", "alert"))
    answers = {
        **profile,
        "FIRECTL_SIM_HOME": box.environ["FIRECTL_SIM_HOME"],
        "FIRECTL_SIM_NOW": "",
        "FIRECTL_SIM_INFERENCE_SPEED": "0.5",
        "FIRECTL_SIM_ANSWERS": str(traces),
    }
    with serving(tmp_path, **answers) as sim:
        box.environ |= {"FIREWORKS_API_KEY": "fw_test", "FIREWORKS_BASE_URL": sim.url}
        yield box


def verbs(box: Sandbox, verb: str) -> int:
    """How many calls of a verb the platform received."""
    words = verb.split()
    return [row["argv"][: len(words)] for row in box.calls()].count(words)


def today(box: Sandbox, acceptance: str) -> None:
    """Records of three days of traffic with this acceptance."""
    rows = [
        {
            "started_at": (datetime.now(UTC) - timedelta(days=day, hours=1)).isoformat(),
            "target": "evaluation",
            "server": {"speculation-acceptance": acceptance},
        }
        for day in range(3)
        for _ in range(40)
    ]
    (box.folder / "today.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def watched(box: Sandbox) -> Any:
    return box.fwctl("speculate", "watch", "-f", "adapt.yaml", "--yes", "--format", "json", timeout=120)


@pytest.mark.deep
def test_traffic_becomes_a_drafter_that_is_measured_proposed_applied_and_watched(box: Sandbox) -> None:
    done = box.fwctl(*ADAPT, "--format", "json", timeout=180)
    assert done.code == 0, done.err
    found = done.document["adapt"]
    assert set(found) == DOCS["adapt"]
    assert set(found["evaluate"]["arms"][0]) == DOCS["arms of an evaluation"]
    assert set(done.document) >= DOCS["speculate adapt, collect, train, evaluate and decide"]
    assert found["train"]["asked"][-1]["accepted"] is True
    assert found["decide"]["verdict"] == "promote", found["decide"]
    tuned = next(arm for arm in found["evaluate"]["arms"] if arm["name"] == "c1-k5")
    assert tuned["against_off"]["agree"] is True
    assert verbs(box, "supervised-fine-tuning-job create") == 1
    box.settled()
    assert "nightly-" not in box.firectl("deployment", "list").out

    before = box.mutations()
    again = box.fwctl(*ADAPT, "--format", "json")
    assert again.document["adapt"] == found
    assert box.mutations() == before

    written = box.fwctl("speculate", "decide", "-f", "adapt.yaml", "--write")
    assert written.code == 0
    spec = (box.folder / "configs/evaluation.yaml").read_text()
    assert found["train"]["jobs"][0]["model"] in spec
    assert "# fwctl: ignore[FW401]" in spec
    applied = box.fwctl("apply", "configs/evaluation.yaml", "--yes")
    assert applied.code == 0, applied.err
    assert box.fwctl("plan", "configs/evaluation.yaml", "--detailed-exitcode").code == 0

    passes = tuned["drafts"]["passes"]
    shares = [
        f"{at}:{share * passes:.0f}/{passes:.0f}" for at, share in enumerate(tuned["acceptance_by_position"])
    ]
    today(box, ",".join(shares))
    assert watched(box).document["drift"]["trend"] == "steady"
    today(box, "0:60/100,1:30/100")
    alarm = watched(box)
    assert alarm.code == 4
    assert set(alarm.document["drift"]) == {
        *("trend", "change", "p_value", "base_tokens_per_pass", "rule", "windows")
    }
    assert "acceptance fell" in alarm.document["error"]["message"]

    (box.folder / "adapt.yaml").write_text(TEXT.replace("DRIFT", "restart"))
    restarted = watched(box)
    assert restarted.document["drift"]["trend"] == "fall"
    assert restarted.document["adapt"]["round"] == 2
    assert restarted.document["adapt"]["decide"] is not None


def test_killed_while_it_trains_it_goes_on_with_the_job_that_runs(box: Sandbox) -> None:
    words = ("speculate", "train", "-f", "adapt.yaml", "--yes")
    assert box.fwctl("speculate", "collect", "-f", "adapt.yaml").code == 0
    child = subprocess.Popen(
        [sys.executable, "-m", "fwctl", *words],
        cwd=box.folder,
        env=box.environ,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    end = time.monotonic() + 60
    while not verbs(box, "supervised-fine-tuning-job create") and time.monotonic() < end:
        assert child.poll() is None
    child.send_signal(signal.SIGKILL)
    child.wait()
    done = box.fwctl(*words, "--format", "json")
    assert done.code == 0, done.err
    (job,) = done.document["adapt"]["train"]["jobs"]
    assert job["state"] == "COMPLETED"
    assert verbs(box, "dataset create") == 1
    assert verbs(box, "supervised-fine-tuning-job create") == 1
