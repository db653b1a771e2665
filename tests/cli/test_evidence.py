"""Evidence from the command line, offline: what rules and gates make of the files beside the specs."""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import chdir
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from fwctl.measure.suite import load as load_suite
from fwctl.records import evidence, lockfile
from fwctl.records.evidence import EvidenceRecord
from fwctl.records.lockfile import LockedModel, LockedShape, LockFile
from tests.cli.support import Done, fwctl, make_env
from tests.measure.runs import rows, save

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
SPEC = f"""\
apiVersion: fwctl/v1
account: acme
deployments:
  chat:
    model: {MODEL}
    shape: {SHAPE}
    accelerator: {{type: NVIDIA_H100_80GB, count: 1}}
    precision: FP8
    region: US
    replicas: {{min: 1, max: 2}}
    traffic: interactive
"""
LOCK = LockFile(
    {
        SHAPE: LockedShape(
            f"{SHAPE}/versions/v1",
            MODEL,
            "FP8",
            {"precision": "FP8", "accelerator.type": "NVIDIA_H100_80GB", "accelerator.count": 1},
        )
    },
    {MODEL: LockedModel(default_precision="BF16")},
)
BENCH = EvidenceRecord(
    "bench",
    MODEL,
    datetime(2026, 11, 30, tzinfo=UTC),
    "FP8",
    f"{SHAPE}/versions/v1",
    "NVIDIA_H100_80GB",
    1,
    replicas=2,
)
EVAL = replace(BENCH, kind="eval", passed=True)
Edit = Callable[[str], str]


class Folder:
    """A folder of specs with evidence and a lock; commands run in this process."""

    def __init__(self, path: Path) -> None:
        self.path = path
        (path / "configs").mkdir()
        self.write(SPEC)

    def write(self, text: str) -> None:
        (self.path / "configs/chat.yaml").write_text(text)

    def locked(self, lock: LockFile = LOCK) -> None:
        lockfile.write(self.path / "configs/fwctl.lock", lock)

    def store(self, *records: EvidenceRecord) -> list[str]:
        return [evidence.write(self.path / "configs/evidence", item).name for item in records]

    def run(self, *argv: str) -> Done:
        with chdir(self.path):
            return fwctl(make_env(self.path), *argv)

    def codes(self) -> list[str]:
        return [item["code"] for item in self.run("validate", "--format", "json").document["diagnostics"]]

    def gates(self) -> dict[str, tuple[str, str | None]]:
        rows = self.run("evidence", "check", "--format", "json").document["gates"]
        return {row["gate"]: (row["status"], row["evidence"]) for row in rows}


@pytest.fixture
def folder(tmp_path: Path) -> Folder:
    return Folder(tmp_path)


GATES = "    gates: {eval: block, bench: block}\n"


def test_without_evidence_and_without_gates_nobody_is_told_to_measure(folder: Folder) -> None:
    folder.locked()
    assert folder.codes() == []


def test_a_folder_of_evidence_or_a_gate_switches_the_advice_on(folder: Folder) -> None:
    folder.locked()
    folder.write(SPEC + "    gates: {bench: warn}\n")
    assert folder.codes() == ["FW404", "FW403"]
    folder.write(SPEC)
    (folder.path / "configs/evidence").mkdir()
    assert folder.codes() == ["FW404", "FW403"]


def test_fresh_evidence_takes_the_advice_away(folder: Folder) -> None:
    folder.locked()
    folder.store(BENCH, EVAL)
    assert folder.codes() == []


@pytest.mark.parametrize(
    ("edit", "reason"),
    [
        (lambda text: text.replace("max: 2", "max: 3"), "the highest load-tested count is 2"),
        (lambda text: text.replace("8b-instruct", "70b-instruct"), "no load test is on record"),
        (lambda text: text.replace("-fast\n", "-fast/versions/v2\n"), "the shape version was"),
    ],
)
def test_advice_about_load_comes_back_when_what_was_measured_changes(
    folder: Folder, edit: Edit, reason: str
) -> None:
    folder.locked()
    folder.store(BENCH, EVAL)
    folder.write(edit(SPEC))
    found = folder.run("validate", "--format", "json").document["diagnostics"]
    messages = {item["code"]: item["message"] for item in found}
    assert reason in messages["FW403"]


def test_a_lower_precision_needs_an_evaluation_of_its_own(folder: Folder) -> None:
    folder.locked()
    folder.store(EVAL, BENCH)
    folder.write(SPEC.replace("precision: FP8", "precision: FP4"))
    document = folder.run("validate", "--format", "json").document
    found = next(item for item in document["diagnostics"] if item["code"] == "FW404")
    assert "the precision was FP8, it is FP4 now" in found["message"]
    assert found["severity"] == "warning"


def test_with_a_gate_that_blocks_it_is_an_error(folder: Folder) -> None:
    folder.locked()
    folder.write(SPEC + GATES)
    done = folder.run("validate", "--format", "json")
    assert done.code == 3
    assert [i["severity"] for i in done.document["diagnostics"] if i["code"] == "FW404"] == ["error"]


def test_more_in_flight_than_memory_holds_is_told_from_the_fit_check(folder: Folder) -> None:
    """32 layers x 8 heads x 128 x keys and values of 2 bytes = 128 KiB a token, 1 GiB for 8192 tokens: one
    H100 of 80 GB holds some sixty such conversations beside 8 GB of weights, and not a thousand."""
    workload = "    workload: {context_tokens: 8192, concurrency: 8}\n"
    folder.locked()
    folder.write(SPEC.replace("max: 2}", "max: 2, max_concurrency: 1000}") + workload)
    assert folder.codes() == ["FW410"]
    folder.write(SPEC.replace("max: 2}", "max: 2, max_concurrency: 8}") + workload)
    assert folder.codes() == []
    folder.write(SPEC.replace("max: 2}", "max: 2, max_concurrency: 1000}"))  # how long they are is not said
    assert folder.codes() == []


def test_a_quantised_draft_model_beside_adapters_is_known_from_the_lock(folder: Folder) -> None:
    draft = "accounts/fireworks/models/draft-1b"
    folder.locked(replace(LOCK, models={draft: LockedModel(default_precision="FP8")}))
    addons = f"    addons: {{mode: multi_lora}}\n    speculation: {{mode: draft, draft_model: {draft}}}\n"
    text = SPEC.replace("precision: FP8", "precision: BF16") + addons + "    overrides: [speculation]\n"
    folder.write(text)
    assert "FW305" in folder.codes()
    folder.locked(replace(LOCK, models={draft: LockedModel(default_precision="BF16")}))
    assert "FW305" not in folder.codes()


def test_a_prompt_set_that_changed_makes_evidence_stale(folder: Folder) -> None:
    prompts = folder.path / "prompts.jsonl"
    prompts.write_text('{"id": "a", "prompt": "x"}\n')
    folder.locked()
    folder.write(SPEC + GATES)
    suited = {"suite_digest": load_suite(prompts).digest, "suite_file": "prompts.jsonl"}
    folder.store(replace(BENCH, **suited), replace(EVAL, **suited))
    assert {status for status, _ in folder.gates().values()} == {"pass"}
    prompts.write_text('{"id": "a", "prompt": "y"}\n')
    assert all("prompts.jsonl has changed" in str(said) for _, said in folder.gates().values())
    prompts.write_text("not a prompt set")
    assert {status for status, _ in folder.gates().values()} == {"fail"}
    prompts.unlink()
    assert {status for status, _ in folder.gates().values()} == {"pass"}


def test_a_bench_is_about_the_prompt_set_of_the_objectives(folder: Folder) -> None:
    (folder.path / "configs/chat.jsonl").write_text('{"id": "a", "prompt": "x"}\n')
    folder.locked()
    folder.write(SPEC + GATES + "    slo: {ttft_p95_ms: 800, at: {suite: chat.jsonl}}\n")
    folder.store(EVAL, replace(BENCH, suite_digest="sha256:other"))
    assert folder.gates()["gates.bench"][0] == "fail"
    folder.store(replace(BENCH, suite_digest=load_suite(folder.path / "configs/chat.jsonl").digest))
    assert folder.gates()["gates.bench"][0] == "pass"


def test_evidence_may_be_too_old(folder: Folder) -> None:
    folder.locked()
    folder.store(replace(BENCH, date=datetime(2020, 1, 1, tzinfo=UTC)), EVAL)
    folder.write(SPEC + "    gates: {bench: block, max_age: 90d}\n")
    assert folder.gates()["gates.bench"][0] == "fail"
    folder.write(SPEC + "    gates: {bench: block}\n")
    assert folder.gates()["gates.bench"][0] == "pass"


def test_the_check_names_the_command_that_makes_what_is_missing(folder: Folder) -> None:
    folder.locked()
    folder.write(SPEC + GATES)
    done = folder.run("evidence", "check")
    assert done.code == 4
    assert "gates.eval: no evidence" in done.out
    assert "next: fwctl bench capacity chat" in done.out
    folder.store(BENCH, EVAL)
    passed = folder.run("evidence", "check")
    assert passed.code == 0
    assert "evidence/bench-llama-v3p1-8b-instruct-" in passed.out


def test_gates_that_warn_or_are_absent_never_fail_the_check(folder: Folder) -> None:
    assert folder.run("evidence", "check").code == 0
    folder.write(SPEC + "    gates: {eval: warn, bench: ignore}\n")
    assert folder.gates() == {"gates.eval": ("warn", None)}


def test_the_list_says_what_each_file_counts_for(folder: Folder) -> None:
    assert "no evidence in the folder configs/evidence" in folder.run("evidence", "list").out
    folder.locked()
    folder.store(BENCH, replace(EVAL, precision="BF16"), replace(EVAL, model="accounts/a/models/other"))
    document = folder.run("evidence", "list", "--format", "json").document
    assert document["folder"] == "configs/evidence"
    found = sorted((row["kind"], row["precision"], row["fresh_for"]) for row in document["records"])
    assert found == [("bench", "FP8", ["chat"]), ("eval", "BF16", []), ("eval", "FP8", [])]
    shown = folder.run("evidence", "list").out
    assert "counts for chat" in shown
    assert "stale for chat: the precision was BF16, it is FP8 now" in shown
    assert "no deployment of the specs runs this model" in shown


def test_a_file_that_was_tampered_with_is_a_warning_and_no_evidence(folder: Folder) -> None:
    folder.locked()
    folder.write(SPEC + "    gates: {eval: block}\n")
    (name,) = folder.store(replace(EVAL, passed=False))
    path = folder.path / "configs/evidence" / name
    path.write_text(path.read_text().replace('"passed": false', '"passed": true'))
    done = folder.run("evidence", "check", "--format", "json")
    assert done.code == 4
    (problem,) = done.document["diagnostics"]
    assert problem["code"] == "evidence"
    assert problem["file"] == f"configs/evidence/{name}"
    assert "was changed after it was written" in problem["message"]


def test_the_folder_can_be_named_in_the_spec(folder: Folder) -> None:
    folder.locked()
    folder.write(SPEC.replace("account: acme\n", "account: acme\nsettings: {evidence: ../proofs}\n") + GATES)
    evidence.write(folder.path / "proofs", BENCH)
    evidence.write(folder.path / "proofs", EVAL)
    assert {status for status, _ in folder.gates().values()} == {"pass"}


def finished(folder: Path, **summary: Any) -> None:
    """The folder of a run of 100 requests at 5/s on a deployment of the account."""
    save(folder, rows(100))
    document = json.loads((folder / "summary.json").read_text())
    (folder / "summary.json").write_text(json.dumps({**document, "valid": True, **summary}))
    plan = {
        "suite": {
            "path": str(folder.parent / "prompts.jsonl"),
            "digest": document["suite_digest"],
            "count": 1,
        },
        "targets": [{"name": "t", "model": "accounts/acme/deployments/chat"}],
        "shape": {"concurrency": 1, "rate_per_s": 5.0},
        "sweep": [],
    }
    (folder / "run.json").write_text(json.dumps({"run_id": "r", "plan": plan, "sessions": []}))


ADD = ("evidence", "add", "today", "--deployment", "chat", "--offline")


def test_a_run_becomes_evidence_with_the_setting_of_spec_and_lock(folder: Folder) -> None:
    folder.locked()
    finished(folder.path / "today")
    done = folder.run(*ADD, "--replicas", "2", "--format", "json")
    assert done.code == 0, done.err
    record = done.document["record"]
    assert record["model"] == MODEL
    assert record["shape_version"] == f"{SHAPE}/versions/v1"
    assert (record["precision"], record["replicas"], record["passed"]) == ("FP8", 2, None)
    assert record["suite_file"] == "prompts.jsonl"
    assert record["results"]["rate_per_s"] == 5.0
    assert record["date"] == "2026-12-01T00:01:39+00:00"
    assert (folder.path / done.document["file"]).is_file()
    assert "FW403" not in folder.codes()


def test_objectives_of_the_spec_are_judged_at_their_load(folder: Folder) -> None:
    """Times to first token lie around 0.3 s; p95 of them is near 0.3 * exp(1.645 * 0.5) = 0.68 s."""
    folder.locked()
    finished(folder.path / "today")

    def passed(slo: str) -> object:
        folder.write(SPEC + f"    slo: {slo}\n")
        return folder.run(*ADD, "--replicas", "2", "--format", "json").document["record"]["passed"]

    assert passed("{ttft_p95_ms: 2000}") is True
    assert passed("{ttft_p95_ms: 300}") is False
    assert passed("{ttft_p95_ms: 680}") is False  # not shown is no pass
    assert passed("{ttft_p95_ms: 2000, at: {rps: 5}}") is True
    assert passed("{ttft_p95_ms: 2000, at: {rps: 6}}") is False


@pytest.mark.parametrize(
    ("summary", "said"),
    [
        ({"valid": False, "invalid_reasons": ["the client was late"]}, "the client was late"),
        ({"interrupted": True}, "was interrupted"),
        ({"targets": {}}, "names no target"),
    ],
)
def test_a_run_that_does_not_count_is_refused(folder: Folder, summary: dict[str, Any], said: str) -> None:
    folder.locked()
    finished(folder.path / "today", **summary)
    done = folder.run(*ADD)
    assert done.code in (64, 4)
    assert said in done.err
    assert not (folder.path / "configs/evidence").exists()


def test_what_cannot_be_added_says_why_and_what_to_do(folder: Folder) -> None:
    finished(folder.path / "today")
    assert "fwctl lock" in folder.run(*ADD).err  # no lock: the version is not known
    folder.locked()
    assert (
        "not in the specs" in folder.run("evidence", "add", "today", "--deployment", "nope", "--offline").err
    )
    assert "no target 'x': t" in folder.run(*ADD, "--target", "x").err
    assert "not the folder of a finished run" in folder.run("evidence", "add", "gone", *ADD[3:]).err
    (folder.path / "today/summary.json").write_text("{")
    assert "is not JSON" in folder.run(*ADD).err


def test_a_lock_that_cannot_be_read_is_left_to_the_plan(folder: Folder) -> None:
    (folder.path / "configs/fwctl.lock").write_text("<<<<<<< ours\n")
    folder.store(BENCH)
    assert folder.run("validate").code == 0


def test_a_measured_pool_takes_the_place_of_the_estimate_in_a_fit_check(folder: Folder) -> None:
    """40 GB of pool at 128 KiB a token (32 layers, 8 heads of 128, keys and values of two bytes) hold 305,176
    tokens, which are 37.3 conversations of 8192."""
    folder.locked()
    folder.write(SPEC + "    workload: {context_tokens: 8192, concurrency: 8}\n")
    assert folder.run("fit-check", "--format", "json").document["results"][0]["evidence"] == "config"
    folder.store(replace(BENCH, kind="capacity", results={"kv_pool_bytes_per_gpu": 40e9}))
    (result,) = folder.run("fit-check", "--format", "json").document["results"]
    assert result["evidence"] == "measured"
    assert result["max_concurrency"]["low"] == result["max_concurrency"]["high"]
    assert result["max_concurrency"]["mid"] == pytest.approx(37.3, abs=0.1)
