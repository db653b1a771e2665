"""The main job: plan, apply, drift, saved plans, refusals; its core through real processes."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox

FP16_ON_ONE_GPU = """\
apiVersion: fwctl/v1
account: acme
stack: test
deployments:
  big:
    model: accounts/fireworks/models/llama-v3p1-70b-instruct
    shape: none
    accept_shapeless_risk: true
    accelerator: {type: NVIDIA_H100_80GB, count: 1}
    precision: FP16
    region: US
    replicas: {min: 1, max: 1}
    workload: {context_tokens: 8192, concurrency: 1}
"""


@pytest.fixture
def box(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path, near=True)


@pytest.fixture
def children(tmp_path: Path) -> Sandbox:
    return Sandbox(tmp_path)


@pytest.fixture(scope="module")
def applied_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder in which an apply has created one deployment."""
    box = Sandbox(tmp_path_factory.mktemp("applied"), near=True)
    box.write()
    done = box.fwctl("apply", "--yes", "--format", "json")
    assert done.code == 0, done.out + done.err
    assert [item["outcome"] for item in done.document["results"]] == ["done"]
    return box.folder


@pytest.fixture
def applied(applied_once: Path, box: Sandbox) -> Sandbox:
    """The test's own copy of that folder."""
    shutil.copytree(applied_once, box.folder, dirs_exist_ok=True)
    return box


def test_detailed_exitcode_says_2_for_changes_and_0_after_the_apply(children: Sandbox) -> None:
    children.write()
    assert children.fwctl("plan", "--detailed-exitcode").code == 2
    assert children.fwctl("plan").code == 0
    assert children.fwctl("apply", "--yes").code == 0
    after = children.fwctl("plan", "--detailed-exitcode")
    assert after.code == 0
    assert "No changes." in after.out


def test_a_second_apply_makes_no_mutating_call(applied: Sandbox) -> None:
    before = applied.mutations()
    assert applied.fwctl("apply", "--yes").code == 0
    assert applied.mutations() == before


def test_a_change_behind_its_back_is_shown_with_both_values_and_the_spec_line(applied: Sandbox) -> None:
    applied.firectl("deployment", "update", "chat", "--max-replica-count", "4")
    done = applied.fwctl("plan", "--detailed-exitcode", "--format", "json")
    assert done.code == 2
    [change] = done.document["changes"]
    [field] = change["fields"]
    assert (field["path"], field["before"], field["after"]) == ("replicas.max", 4, 2)
    assert field["source"] == {"file": "configs/chat.yaml", "line": 11}
    assert [row["path"] for row in done.document["drift"]] == ["replicas.max"]
    text = applied.fwctl("plan").out
    assert "replicas.max: 4 → 2" in text
    assert "configs/chat.yaml:11" in text


def test_replica_counts_in_flight_are_no_change(applied: Sandbox) -> None:
    scaled = applied.firectl("deployment", "scale", "chat", "--replica-count", "2")
    assert scaled.code == 0, scaled.err
    assert applied.fwctl("plan", "--detailed-exitcode").code == 0


def test_a_saved_plan_is_applied_exactly(children: Sandbox) -> None:
    children.write()
    assert children.fwctl("plan", "--out", "p.json").code == 0
    shown = children.fwctl("show", "p.json", "--format", "json")
    assert shown.document["summary"]["create"] == 1
    (children.folder / "configs/chat.yaml").unlink()  # the plan file is enough
    done = children.fwctl("apply", "--plan", "p.json", "--yes", "--format", "json")
    assert done.code == 0
    assert done.document["digest"] == shown.document["digest"]


def test_a_saved_plan_is_refused_when_live_moved_and_nothing_is_changed(applied: Sandbox) -> None:
    applied.write(SPEC.replace("max: 2", "max: 3"))
    applied.fwctl("plan", "--out", "p.json")
    applied.firectl("deployment", "update", "chat", "--max-replica-count", "5")
    before = applied.mutations()
    done = applied.fwctl("apply", "--plan", "p.json", "--yes", "--format", "json")
    assert done.code == 8
    assert done.document["error"]["code"] == "stale_plan"
    assert applied.mutations() == before


def test_a_saved_plan_is_refused_when_the_spec_file_was_edited(box: Sandbox) -> None:
    box.write()
    box.fwctl("plan", "--out", "p.json")
    box.write(SPEC.replace("max: 2", "max: 3"))
    assert box.fwctl("apply", "--plan", "p.json", "--yes").code == 8
    assert box.mutations() == 0


def test_the_expected_digest_binds_an_apply(box: Sandbox) -> None:
    box.write()
    digest = box.fwctl("plan", "--format", "json").document["digest"]
    assert box.fwctl("apply", "--yes", "--expect", "0" * 64).code == 8
    assert box.mutations() == 0
    assert box.fwctl("apply", "--yes", "--expect", digest).code == 0


def test_with_a_saved_plan_further_choices_are_wrong_usage(box: Sandbox) -> None:
    box.write()
    box.fwctl("plan", "--out", "p.json")
    assert box.fwctl("apply", "--plan", "p.json", "--prune").code == 64
    assert box.fwctl("apply", "configs", "--plan", "p.json").code == 64
    assert box.fwctl("plan", "--out", "p.json", "--set", "chat.replicas.max=3").code == 64


def test_without_a_terminal_and_without_yes_nothing_is_applied(children: Sandbox) -> None:
    children.write()
    done = children.fwctl("apply", "--format", "json", stdin="yes\n")
    assert done.code == 4
    assert done.document["error"]["code"] == "refused"
    assert children.mutations() == 0


def test_nothing_to_do_asks_nothing(applied: Sandbox) -> None:
    assert applied.fwctl("apply").code == 0


def test_a_spec_without_a_shape_stops_everything_before_firectl(box: Sandbox) -> None:
    box.write("".join(line for line in SPEC.splitlines(keepends=True) if "shape:" not in line))
    done = box.fwctl("validate", "--format", "json")
    assert done.code == 3
    found = [item for item in done.document["diagnostics"] if item["code"] == "FW301"]
    assert [(item["file"], item["line"]) for item in found] == [("configs/chat.yaml", 5)]
    for command in ("plan", "apply"):
        refused = box.fwctl(command)
        assert refused.code == 3
        assert "FW301" in refused.err
        assert refused.out == ""
    assert box.mutations() == 0


def test_70b_in_16_bits_on_one_h100_is_refused_with_what_would_fit(box: Sandbox) -> None:
    box.write(FP16_ON_ONE_GPU)
    checked = box.fwctl("fit-check", "--format", "json")
    assert checked.code == 4
    [result] = checked.document["results"]
    # 70.6e9 parameters of 2 bytes are 131 GiB; an H100 has 80 GB.
    assert result["verdict"] == "does-not-fit"
    assert result["weights_bytes_total"] > 140e9
    assert result["alternatives"]
    done = box.fwctl("apply", "--yes", "--format", "json")
    assert done.code == 4
    assert done.document["plan"]["summary"]["blocked"] == 1
    assert box.mutations() == 0


def test_a_blocked_change_shows_the_whole_plan_and_exits_4_with_detailed_exitcode_too(box: Sandbox) -> None:
    box.write(SPEC.replace("count: 1", "count: 4"))
    done = box.fwctl("plan", "--detailed-exitcode", "--format", "json")
    assert done.code == 4
    assert done.document["changes"][0]["actions"] == ["blocked"]
    assert "FW505" in [item["code"] for item in done.document["diagnostics"]]
    online = box.fwctl("validate", "--online", "--format", "json")
    assert online.code == 3
    assert "FW505" in [item["code"] for item in online.document["diagnostics"]]


def test_apply_can_be_limited_to_what_is_not_blocked(box: Sandbox) -> None:
    box.write(SPEC)
    box.write(SPEC.replace("  chat:", "  broken:").replace("count: 1", "count: 4"), "configs/b.yaml")
    assert box.fwctl("apply", "--yes").code == 4
    assert box.mutations() == 0
    done = box.fwctl("apply", "--yes", "--target", "chat", "--format", "json")
    assert done.code == 0
    assert [item["address"] for item in done.document["results"]] == ["deployments/chat"]


def test_events_are_one_json_object_a_line_from_version_to_document(box: Sandbox) -> None:
    box.write()
    done = box.fwctl("apply", "--yes", "--format", "events")
    assert done.code == 0
    events = [json.loads(line) for line in done.out.splitlines()]
    assert events[0]["event"] == "version"
    assert events[-1]["event"] == "document"
    assert events[-1]["results"][0]["outcome"] == "done"


def test_status_names_what_is_wanted_and_what_runs(applied: Sandbox) -> None:
    applied.write(SPEC.replace("  chat:", "  later:"), "configs/later.yaml")
    rows = {row["name"]: row for row in applied.fwctl("status", "--format", "json").document["deployments"]}
    assert rows["chat"]["state"] == "READY"
    assert rows["chat"]["model_string"] == "accounts/acme/deployments/chat"
    assert rows["chat"]["usd_per_hour"] == 8.0  # one H100 at the price of 2026-09-01
    assert rows["later"]["state"] == "absent"
