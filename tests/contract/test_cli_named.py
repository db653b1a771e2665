"""Commands about named deployments, drift, wait and lock on the simulator."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox

APPLY = ("apply", "--yes")


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    """A sandbox with one batch deployment, applied."""
    box = Sandbox(tmp_path, near=True)
    box.write(SPEC.replace("traffic: interactive", "traffic: batch"))
    assert box.fwctl(*APPLY).code == 0
    return box


def state_of(box: Sandbox, name: str = "chat") -> dict[str, object]:
    rows = box.fwctl("status", "--format", "json").document["deployments"]
    found: dict[str, object] = next(row for row in rows if row["name"] == name)
    return found


def test_a_hold_keeps_changes_away_until_it_is_released(box: Sandbox) -> None:
    assert box.fwctl("hold", "chat", "--for", "2h", "--yes").code == 0
    box.write(SPEC.replace("traffic: interactive", "traffic: batch").replace("max: 2", "max: 3"))
    held = box.fwctl("plan", "--detailed-exitcode")
    assert held.code == 0
    assert "held until" in held.out
    assert box.fwctl("release", "chat", "--yes").code == 0
    assert box.fwctl("plan", "--detailed-exitcode").code == 2


def test_parking_stops_all_replicas_and_unparking_brings_the_bounds_of_the_spec_back(box: Sandbox) -> None:
    assert box.fwctl("park", "chat", "--allow-scale-down", "--yes").code == 0
    parked = state_of(box)["replicas"]
    assert isinstance(parked, dict)
    assert (parked["min"], parked["max"]) == (0, 0)
    assert box.fwctl("unpark", "chat", "--yes").code == 0
    assert box.fwctl("plan", "--detailed-exitcode").code == 0


def test_parking_what_serves_is_refused_without_its_flag(box: Sandbox) -> None:
    refused = box.fwctl("park", "chat", "--yes")
    assert refused.code == 4
    assert "--allow-scale-down" in refused.err


def test_a_destroyed_deployment_comes_back_with_undo(box: Sandbox) -> None:
    assert box.fwctl("destroy", "chat", "--yes").code == 0
    box.settled()
    assert state_of(box)["state"] == "absent"
    assert box.fwctl("undo", "chat", "--yes").code == 0
    assert box.fwctl("plan", "--detailed-exitcode").code == 0


def test_nothing_is_destroyed_without_a_terminal_and_without_yes(box: Sandbox) -> None:
    refused = box.fwctl("destroy", "chat")
    assert refused.code == 4
    assert state_of(box)["state"] == "READY"


def test_a_protected_deployment_is_not_destroyed(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    box.write()
    assert box.fwctl(*APPLY).code == 0
    refused = box.fwctl("destroy", "chat", "--yes", "--format", "json")
    assert refused.code == 4
    assert refused.document["diagnostics"][0]["code"] == "delete_protection"


def test_a_forgotten_deployment_runs_on_and_can_be_adopted(box: Sandbox) -> None:
    assert box.fwctl("forget", "chat", "--yes").code == 0
    assert "chat" in [
        row["deployment_id"] for row in box.fwctl("status", "--format", "json").document["deployments"]
    ]
    assert state_of_id(box)["managed"] is False
    assert box.fwctl("adopt", "chat", "--yes").code == 0
    assert state_of_id(box)["managed"] is True


def state_of_id(box: Sandbox) -> dict[str, object]:
    rows = box.fwctl("status", "--format", "json").document["deployments"]
    found: dict[str, object] = next(row for row in rows if row["deployment_id"] == "chat")
    return found


def test_an_unknown_name_is_wrong_usage(box: Sandbox) -> None:
    assert box.fwctl("hold", "chatt", "--yes").code == 64
    assert box.fwctl("wait", "chatt").code == 64


def test_another_stack_than_that_of_the_specs_is_wrong_usage(box: Sandbox) -> None:
    assert box.fwctl("forget", "chat", "--stack", "other", "--yes").code == 64


def test_without_specs_a_deployment_is_named_by_stack_and_name(box: Sandbox) -> None:
    (box.folder / "configs" / "chat.yaml").unlink()
    (box.folder / "configs").rmdir()
    assert box.fwctl("hold", "chat", "--stack", "test", "--yes").code == 0
    assert box.fwctl("release", "chat", "--stack", "other", "--yes").code == 4


def test_drift_names_the_field_both_values_the_place_and_who_moved(box: Sandbox) -> None:
    assert box.fwctl("drift", "--detailed-exitcode").code == 0
    box.firectl("deployment", "update", "chat", "--max-replica-count", "4")
    found = box.fwctl("drift", "--detailed-exitcode", "--format", "json")
    assert found.code == 2
    (row,) = found.document["drift"]
    assert (row["path"], row["live"], row["wanted"], row["moved_by"]) == ("replicas.max", 4, 2, "platform")
    assert row["source"] == {"file": "configs/chat.yaml", "line": 11}
    assert "changed on the platform" in box.fwctl("drift").out
    assert "| `replicas.max` |" in box.fwctl("drift", "--format", "markdown").out


def test_a_changed_spec_is_told_apart_from_drift(box: Sandbox) -> None:
    box.write(SPEC.replace("traffic: interactive", "traffic: batch").replace("max: 2", "max: 3"))
    (row,) = box.fwctl("drift", "--format", "json").document["drift"]
    assert row["moved_by"] == "specs"


def test_a_deployment_that_is_gone_is_drift(box: Sandbox) -> None:
    box.firectl("deployment", "delete", "chat", "--hard", "--ignore-checks")
    (row,) = box.fwctl("drift", "--format", "json").document["drift"]
    assert (row["address"], row["path"]) == ("deployments/chat", None)
    assert "is not on the platform" in box.fwctl("drift").out


def test_waiting_resumes_what_an_apply_started(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    box.write()
    assert box.fwctl("apply", "--yes", "--no-wait").code == 0
    done = box.fwctl("wait", "--format", "json")
    assert done.code == 0
    assert [item["outcome"] for item in done.document["results"]] == ["done"]


def test_waiting_for_what_was_never_applied_is_wrong_usage(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    box.write()
    assert box.fwctl("wait").code == 64


def test_the_lock_is_stable_and_says_when_a_shape_has_moved_on(box: Sandbox) -> None:
    first = box.fwctl("lock")
    assert first.code == 0
    lock = (box.folder / "configs" / "fwctl.lock").read_bytes()
    assert "unchanged" in box.fwctl("lock").out
    assert (box.folder / "configs" / "fwctl.lock").read_bytes() == lock
    assert box.fwctl("lock", "--check").code == 0
    box.firectl("sim", "shape-publish", "llama-v3p1-8b-instruct-fast", "maxContextLength=65536")
    moved = box.fwctl("lock", "--check", "--format", "json")
    assert moved.code == 4
    assert moved.document["problems"][0]["code"] == "moved"
    assert "moved" in box.fwctl("lock", "--check").out
    assert "| moved |" in box.fwctl("lock", "--check", "--format", "markdown").out
    assert box.fwctl("lock", "--upgrade").code == 0
    assert (box.folder / "configs" / "fwctl.lock").read_bytes() != lock
    assert box.fwctl("lock", "--check").code == 0


def test_a_lock_that_is_missing_fails_its_check(box: Sandbox) -> None:
    refused = box.fwctl("lock", "--check", "--format", "json")
    assert refused.code == 4
    assert refused.document["problems"][0]["code"] == "missing"


BESIDE = SPEC.replace(
    "    traffic: interactive\n", "    lifecycle: {on_immutable_change: blue_green}\n    traffic: batch\n"
)


def moved(spec: str) -> str:
    """The same in another region, which only a replacement can do."""
    return spec.replace("region: US\n", "region: EUROPE\n")


def test_a_replacement_says_what_the_overlap_costs_and_how_long_starts_took(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True, FIRECTL_SIM_PROFILE="latest,region_update=no_flag")
    box.write(BESIDE)
    assert box.fwctl(*APPLY).code == 0
    box.write(moved(BESIDE))
    told = box.fwctl("plan", "--allow-delete", "chat").out
    assert "$8.00/h until the old one is gone" in told
    assert "median of one earlier start of this model here" in told


def test_a_replacement_that_cannot_answer_leaves_the_old_one_and_rolls_back(tmp_path: Path) -> None:
    box = Sandbox(
        tmp_path,
        near=True,
        FIRECTL_SIM_PROFILE="latest,region_update=no_flag",
        FIREWORKS_BASE_URL="http://127.0.0.1:9",
    )
    box.write(BESIDE)
    assert box.fwctl(*APPLY).code == 0
    box.write(moved(BESIDE))
    failed = box.fwctl(*APPLY, "--allow-delete", "chat", "--wait-timeout", "5s")
    assert failed.code in (1, 7)
    rows = box.fwctl("status", "--format", "json").document["deployments"]
    assert len(rows) == 2
    back = box.fwctl("apply", "--rollback", "chat", "--allow-delete", "chat", "--yes")
    assert back.code == 0, back.err
    box.settled()
    (left,) = box.fwctl("status", "--format", "json").document["deployments"]
    assert left["deployment_id"] == "chat"


def test_a_rollback_cannot_be_combined_with_a_saved_plan(box: Sandbox) -> None:
    assert box.fwctl("plan", "--out", "p.json").code == 0
    assert box.fwctl("apply", "--plan", "p.json", "--rollback", "chat", "--yes").code == 64
