"""Text output in the form of captured output (tests/data/samples, firectl of July 2026)."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.simulator.support import FAST, MODEL, Sim

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
OSS = "accounts/fireworks/models/gpt-oss-120b"


def sample(name: str) -> str:
    return (SAMPLES / name).read_text()


@pytest.fixture
def sim(tmp_path: Path) -> Sim:
    return Sim(tmp_path, FIRECTL_SIM_PROFILE="2026-07")


def test_help_of_the_old_create_is_the_captured_page(sim: Sim):
    page = sim.ok("create", "deployment", "--help").stdout
    assert "\n".join(page.split("\n")[:50]) + "\n" == sample("create-deployment-help-head50.txt")


@pytest.mark.parametrize("command", ["signin", "set-api-key"])
def test_help_pages_are_the_captured_ones(sim: Sim, command: str):
    assert sim.ok(command, "--help").stdout == sample(f"{command}-help.txt")


def test_a_shapeless_create_prints_the_hint_and_the_record_as_captured(sim: Sim):
    result = sim.ok(
        *("create", "deployment", OSS, "--deployment-id", "vca-delete-probe"),
        *("--display-name", "vca-delete-probe", "--accelerator-type", "NVIDIA_H200_141GB"),
    )
    expected = sample("create-shapeless-success.txt").replace("2026-07-13 20:24:13", "2026-11-30 12:00:00")
    assert result.stdout.startswith(expected)


def test_the_list_has_the_captured_columns(sim: Sim):
    sim.ok(
        *("create", "deployment", OSS, "--deployment-id", "vca-demo-style-5cfe"),
        *("--display-name", "vca-demo-style-5cfe", "--accelerator-type", "NVIDIA_H200_141GB"),
        *("--accelerator-count", "1"),
    )
    expected = sample("deployment-list-creating-with-replica.txt").replace(
        "2026-07-13 20:42:11", "2026-11-30 12:00:00"
    )
    # The captured account's address was longer than its replacement; the column kept its width.
    expected = expected.replace("user@example.com         ", "user@example.com").replace(
        "CREATED BY                 SHAPE", "CREATED BY        SHAPE"
    )
    assert sim.ok("deployment", "list").stdout == expected


def test_shape_versions_are_listed_as_captured(sim: Sim):
    result = sim.ok("list", "deployment-shape-versions", "--base-model", OSS)
    assert result.stdout + result.stderr == sample("list-deployment-shape-versions.txt")


def test_a_delete_prints_nothing_but_the_deprecation(sim: Sim):
    sim.create("a")
    result = sim("delete", "deployment", "a")
    assert (result.code, result.stdout) == (0, "")
    captured = sample("delete-verb-noun.txt").removesuffix("exit=0\n")
    assert result.stderr == captured


def test_a_taken_id_is_refused_as_captured(sim: Sim):
    sim.create("vca-demo-vision")
    result = sim(
        *("create", "deployment", "accounts/fireworks/models/qwen2p5-vl-32b-instruct"),
        *("--deployment-id", "vca-demo-vision", "--accelerator-type", "NVIDIA_H200_141GB"),
        *("--load-targets", "default=0.8"),
    )
    log = re.sub(r"^    ", "", sample("script-log-already-exists.txt"), flags=re.MULTILINE)
    captured = log[log.index("2026/07/13 15:05:13 WARNING") : log.index("ERROR: vision")]
    warning, rest = result.stderr.split("\n", 1)
    merged = f"{warning}\n{result.stdout}{rest}"
    assert re.sub(r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "T", merged) == re.sub(
        r"\d{4}/\d\d/\d\d \d\d:\d\d:\d\d", "T", captured
    )


def test_deleting_ones_stay_in_the_list_for_a_while(sim: Sim):
    sim.create("a", "--wait")
    sim.ok("deployment", "delete", "a")
    assert re.search(
        r"^a  .* 0 \[0,1\] .* DELETING  true$", sim.ok("deployment", "list").stdout, re.MULTILINE
    )
    sim.later("98s")
    assert sim.ok("deployment", "list").stdout.count("\n") == 1


def test_a_ready_deployment_has_a_blank_state(sim: Sim):
    sim.create("a", "--wait")
    row = sim.ok("deployment", "list").stdout.splitlines()[1]
    assert re.search(r"versions/\w{8}         true$", row)


def test_an_empty_list_is_the_header_alone(sim: Sim):
    lines = sim.ok("deployment", "list").stdout.splitlines()
    assert len(lines) == 1
    assert lines[0].split("  ")[0] == "NAME"


def test_the_record_follows_the_documented_order(sim: Sim):
    sim.create("a")
    labels = re.findall(r"^(?:  )?([A-Z][A-Za-z ]+):", sim.ok("deployment", "get", "a").stdout, re.MULTILINE)
    documented = [
        line.split(":")[0].strip() for line in sample("docs-create-record-quickstart.txt").splitlines()
    ]
    wanted = [label for label in documented if label in labels]
    assert [label for label in labels if label in wanted] == wanted
    assert {"Name", "State", "Status", "Autoscaling Policy", "Base Model"} <= set(wanted)


def test_match_prints_a_bare_array_in_the_documented_shape(sim: Sim):
    documented = json.loads(sample("match-json.json"))[0]
    row = sim.ok(
        "deployment-shape-version", "match", "--model", MODEL, "-o", "json", FIRECTL_SIM_PROFILE="latest"
    ).json[0]
    assert set(documented) <= set(row)
    assert set(documented["snapshot"]) <= set(row["snapshot"])


def test_json_of_a_ready_deployment_has_the_fields_that_scripts_read(sim: Sim):
    sim.create("a", "--wait")
    documented = json.loads(sample("deployment-get-json-ready.json"))
    row = sim.get("a")
    assert {key: row[key] for key in ("state",)} == {"state": documented["state"]}
    assert row["replica_stats"]["ready_replica_count"] == documented["replica_stats"]["ready_replica_count"]


def test_tags_are_stored_as_the_documented_annotations(sim: Sim):
    sim.create("a")
    sim.ok(
        *("deployment", "tag", "set", "a", "--tag", "environment=prod", "--tag", "team=search"),
        FIRECTL_SIM_PROFILE="latest",
    )
    assert sim.get("a")["annotations"] == json.loads(sample("docs-tags-annotations.json"))["annotations"]


@pytest.mark.parametrize("spelling", ["loadTargets", "load_targets"])
def test_a_misplaced_field_is_refused_in_the_servers_words(sim: Sim, spelling: str):
    message = json.loads(sample(f"rest-create-400-unknown-field-{spelling}.json"))["message"]
    padding = " " * (202 - len('{"autoscalingPolicy": {},'))
    (sim.folder / "c.json").write_text(
        f'{{"autoscalingPolicy": {{}},{padding}"{spelling}": {{"default": 0.8}}}}'
    )
    result = sim("deployment", "create", MODEL, "--deployment-shape", FAST, "--file", "c.json")
    assert result.stderr.endswith(f"code = InvalidArgument desc = {message}\n")


def test_a_wrong_enum_value_is_refused_in_the_servers_words(sim: Sim):
    message = json.loads(sample("rest-create-400-bad-enum.json"))["message"]
    (sim.folder / "c.json").write_text("{" + " " * 129 + '"acceleratorType": "h200-141gb"}')
    result = sim("deployment", "create", MODEL, "--file", "c.json")
    assert result.stderr.endswith(f"code = InvalidArgument desc = {message}\n")


def test_no_accelerator_is_refused_in_the_servers_words(sim: Sim):
    message = json.loads(sample("rest-create-400-accelerator-required.json"))["message"]
    assert sim("deployment", "create", MODEL).stderr.endswith(f"desc = {message}\n")


def test_a_used_model_is_not_deleted(sim: Sim):
    sim.ok("model", "create", "mine", "/somewhere")
    sim.create("a", model="mine")
    code, message = sample("delete-model-in-use.txt").strip().split(": ")
    assert sim("model", "delete", "mine").stderr.endswith(f"code = {code} desc = {message}\n")
