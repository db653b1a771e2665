"""import and audit on the simulator."""

from __future__ import annotations

import json
from pathlib import Path

import xmlschema
from jsonschema import Draft4Validator

from tests.contract.cli_support import Sandbox

DATA = Path(__file__).parents[1] / "data"
SARIF = Draft4Validator(json.loads((DATA / "sarif/sarif-2.1.0-rtm.5.json").read_text()))
JUNIT = xmlschema.XMLSchema(str(DATA / "junit/junit-10.xsd"))

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
CREATES = (
    ("chat", "--deployment-shape", "fast", "--min-replica-count", "1", "--load-targets", "default=0.7"),
    ("mini", "--deployment-shape", "minimal", "--display-name", "x: y", "--scale-down-window", "90s"),
    ("bare", "--accept-shapeless-risk", "--accelerator-type", "NVIDIA_H100_80GB", "--accelerator-count", "2"),
    ("lora", "--accept-shapeless-risk", "--accelerator-type", "NVIDIA_H100_80GB", "--precision", "BF16",
     "--enable-addons", "--region", "us-iowa-1", "--description", "two\nlines"),
)  # fmt: skip


def test_import_of_a_varied_account_plans_to_no_changes(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    for name, *flags in CREATES:
        done = box.firectl("deployment", "create", MODEL, "--deployment-id", name, *flags, "-a", "acme")
        assert done.code == 0, done.err
    found = box.fwctl("import", "--all", "--account", "acme")
    assert found.code == 0, found.err
    box.write(found.out, "configs/all.yaml")
    planned = box.fwctl("plan", "--format", "json")
    summary = planned.document["summary"]
    assert planned.code == 0
    assert {key: count for key, count in summary.items() if count} == {"unchanged": 4}


def test_a_script_becomes_a_spec_and_remarks_with_their_line(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    box.write(f"#!/bin/sh\nfirectl deployment create {MODEL} --deployment-id c --api-key fw_zzz\n", "d.sh")
    found = box.fwctl("import", "--from-script", "d.sh", "--format", "json")
    body = found.document
    assert found.code == 0
    assert not body["valid"]
    assert [(row["file"], row["line"], row["code"]) for row in body["remarks"]] == [("d.sh", 2, "no_shape")]
    assert "fw_zzz" not in found.out + found.err


def test_an_unknown_id_fails_and_a_missing_choice_is_wrong_usage(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    assert box.fwctl("import", "nobody", "--account", "acme").code == 1
    assert box.fwctl("import").code == 64
    assert box.fwctl("import", "--from-script", "absent.sh").code == 3


def test_the_plan_of_an_audit_removes_what_the_specs_no_longer_list(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    shape = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
    entry = f"{{model: {MODEL}, shape: {shape}, replicas: {{min: 1, max: 1}}}}"
    head = "apiVersion: fwctl/v1\naccount: acme\nstack: s\ndeployments:\n"
    box.write(f"{head}  keep: {entry}\n  old: {entry}\n")
    assert box.fwctl("apply", "--yes").code == 0
    box.write(f"{head}  keep: {entry}\n")
    found = box.fwctl("audit", "--fix-plan", "fix.json", "--format", "json")
    kinds = {(row["kind"], row["deployment_id"]) for row in found.document["findings"]}
    assert ("orphaned", "old") in kinds
    live = {row["deployment_id"] for row in box.fwctl("status", "--format", "json").document["deployments"]}
    assert live == {"keep", "old"}  # writing the plan did nothing
    assert box.fwctl("apply", "--plan", "fix.json", "--yes").code == 0
    again = box.fwctl("audit", "--format", "json")
    assert {row["deployment_id"] for row in again.document["findings"]} == {"keep"}


def test_findings_are_sarif_and_junit_by_their_schemas(tmp_path: Path) -> None:
    box = Sandbox(tmp_path, near=True)
    for name, *flags in CREATES:
        box.firectl("deployment", "create", MODEL, "--deployment-id", name, *flags, "-a", "acme")
    box.firectl("sim", "fail", "bare", "--message", "]]> <b>&\x1b[31m 100 %")
    sarif = box.fwctl("audit", "--account", "acme", "--format", "sarif")
    assert [error.message for error in SARIF.iter_errors(sarif.document)] == []
    rules = {row["ruleId"] for row in sarif.document["runs"][0]["results"]}
    assert rules == {"check/unmanaged", "check/unshaped", "check/failed"}
    junit = box.fwctl("audit", "--account", "acme", "--format", "junit")
    JUNIT.validate(junit.out.encode())
    assert "is FAILED: ]]&gt; &lt;b&gt;" in junit.out
    assert (sarif.code, junit.code) == (0, 0)
