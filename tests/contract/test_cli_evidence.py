"""Gates: a plan is blocked, passes with evidence, keeps it when it is saved, and
evidence goes stale with what runs."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fwctl.records import evidence, lockfile
from fwctl.records.evidence import EvidenceRecord
from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox
from tests.simulator.http.support import serving

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
GATES = "    gates: {eval: block, bench: block}\n"
FAST = ("--poll-interval", "1s")


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A sandbox with gates that block and a lock, which can be made for want of evidence."""
    found = Sandbox(tmp_path, near=True)
    found.write(SPEC + GATES)
    assert found.fwctl("lock").code == 0
    return found


def store(box: Sandbox, **changes: Any) -> list[str]:
    """A passing evaluation and a load test of what the lock names."""
    lock = lockfile.read(box.folder / "configs/fwctl.lock")
    assert lock is not None
    (shape,) = lock.shapes.values()
    record = EvidenceRecord(
        "eval", MODEL, datetime(2026, 11, 30, tzinfo=UTC), "FP8", shape.version, passed=True, replicas=2
    )
    folder = box.folder / "configs/evidence"
    return [evidence.write(folder, replace(record, kind=kind, **changes)).name for kind in ("eval", "bench")]


def checks(document: dict[str, Any]) -> dict[str, tuple[str, str]]:
    return {row["name"]: (row["status"], row["message"]) for row in document["checks"]}


def test_a_gate_lets_a_plan_through_with_fresh_evidence_and_the_saved_plan_keeps_it(box: Sandbox) -> None:
    refused = box.fwctl("plan", "--format", "json")
    assert refused.code == 4
    errors = [row["code"] for row in refused.document["diagnostics"] if row["severity"] == "error"]
    assert errors == ["gate_eval", "gate_bench"]
    assert box.fwctl("validate").code == 3
    names = store(box)
    planned = box.fwctl("plan", "--out", "plan.json", "--format", "json")
    assert planned.code == 0, planned.out + planned.err
    found = checks(planned.document)
    assert found["gate_eval"][0] == found["gate_bench"][0] == "pass"
    assert f"configs/evidence/{names[0]} of 2026-11-30" in found["gate_eval"][1]
    assert f"configs/evidence/{names[1]} of 2026-11-30" in found["gate_bench"][1]
    for name in names:  # the plan needs the files no more
        (box.folder / "configs/evidence" / name).unlink()
    stored = json.loads((box.folder / "plan.json").read_text())
    assert stored["inputs"]["evidence"]["evaluated"] == {"chat": True}
    applied = box.fwctl("apply", "--plan", "plan.json", "--yes", *FAST)
    assert applied.code == 0, applied.err


def test_evidence_of_another_precision_is_named_with_what_changed(box: Sandbox) -> None:
    names = store(box, precision="BF16")
    refused = box.fwctl("plan", "--format", "json")
    assert refused.code == 4
    said = checks(refused.document)["gate_eval"][1]
    assert f"{names[0]} of 2026-11-30 is stale: the precision was BF16, it is FP8 now" in said
    assert "fwctl eval compare" in refused.document["error"]["next_steps"][0]


def test_a_silent_change_upstream_is_a_difference_in_plan_and_in_the_check_of_the_lock(box: Sandbox) -> None:
    path = box.folder / "configs/fwctl.lock"
    lock = lockfile.read(path)
    assert lock is not None
    ((key, shape),) = lock.shapes.items()
    older = replace(shape, snapshot={**shape.snapshot, "accelerator.count": 4})
    lockfile.write(path, replace(lock, shapes={key: older}))
    checked = box.fwctl("lock", "--check", "--format", "json")
    assert checked.code == 4
    (problem,) = checked.document["problems"]
    assert problem["code"] == "changed"
    assert "accelerator.count: 4 -> 1" in problem["message"]
    planned = box.fwctl("plan", "--format", "json")
    assert "accelerator.count: 4 -> 1" in checks(planned.document)["upstream"][1]


KNOBS = {"FIRECTL_SIM_NOW": "", "FIRECTL_SIM_SPEED": "600"}
QWEN = "accounts/fireworks/models/qwen3-8b"
BLUE_GREEN = "    lifecycle: {on_immutable_change: blue_green, prevent_destroy: false}\n"


@pytest.mark.deep
def test_a_replacement_needs_an_evaluation_of_what_takes_over(box: Sandbox) -> None:
    """The deployment moves to another model beside the old one: refused without, done with evidence."""
    text = SPEC.replace("    traffic: interactive\n", "    traffic: batch\n") + BLUE_GREEN
    box.write(text)
    assert box.fwctl("apply", "--yes", *FAST).code == 0
    other = text.replace(MODEL, QWEN).replace("llama-v3p1-8b-instruct-fast", "qwen3-8b-fast")
    box.write(other + "    gates: {eval: block}\n")
    assert box.fwctl("lock").code == 0
    options = ("--allow-delete", "chat", "--allow-traffic-loss", "chat")
    refused = box.fwctl("apply", "--yes", *options, *FAST)
    assert refused.code == 4
    assert "no passing, fresh evaluation evidence" in refused.err + refused.out
    names = store(box, model=QWEN)
    with serving(box.folder / "http", FIRECTL_SIM_HOME=box.environ["FIRECTL_SIM_HOME"], **KNOBS) as sim:
        key = {"FIREWORKS_API_KEY": "fw_test", "FIREWORKS_BASE_URL": sim.url}
        done = box.fwctl("apply", "--yes", *options, *FAST, "--format", "json", **key)
    assert done.code == 0, done.out + done.err
    assert any(names[0] in row["message"] for row in done.document["plan"]["checks"])
    assert [item["outcome"] for item in done.document["results"]] == ["done"]
