"""A verdict becomes evidence, and the gates of the specs read it."""

from __future__ import annotations

import json
from contextlib import chdir
from pathlib import Path
from typing import Any

import pytest

from tests.cli.support import SPEC, Done, fwctl, make_env
from tests.quality.runs import record, write_arm, write_records

GATED = (
    SPEC.replace("-fast\n", "-fast/versions/v1\n")
    .replace("max: 2", "max: 1")
    .replace("traffic: interactive", "traffic: evaluation\n    gates: {eval: block}")
)


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "chat.yaml").write_text(GATED)
    right = {(f"p{n}", 0): "right" for n in range(200)}
    lost = right | {(f"p{n}", 0): "wrong" for n in range(12)}
    for name, outcomes in (
        ("base", right),
        ("good", right),
        ("bad", lost),
        ("few", dict([*right.items()][:9])),
    ):
        write_arm(tmp_path / name, outcomes)
        write_records(tmp_path / name, [record("p0")])
        plan = {"suite": {"path": str(tmp_path / "suite.jsonl")}, "targets": [{"name": "m", "model": "M"}]}
        (tmp_path / name / "run.json").write_text(json.dumps({"plan": plan}))
    return tmp_path


def call(folder: Path, *argv: str) -> Done:
    with chdir(folder):
        return fwctl(make_env(folder), *argv)


def compared(folder: Path, candidate: str, *more: str, base: str = "base") -> Done:
    words = ("eval", "compare", base, candidate, "--specs", "chat.yaml", "--deployment", "chat", "--offline")
    return call(folder, *words, "--format", "json", *more)


def test_a_pass_opens_the_gate(here: Path) -> None:
    assert call(here, "evidence", "check", "chat.yaml").code == 4
    found = compared(here, "good")
    assert found.code == 0, found.err
    row: Any = json.loads((here / found.document["evidence"]).read_text())
    assert (row["kind"], row["passed"], row["deployment"]) == ("eval", True, "chat")
    assert (row["precision"], row["suite_digest"], row["suite_file"]) == ("FP8", "sha256:a", "suite.jsonl")
    assert row["shape_version"].endswith("/versions/v1")
    assert row["date"] == "2026-11-30T12:00:00+00:00"
    assert (row["results"]["verdict"], row["results"]["candidate_model"]) == ("pass", "M")
    assert row["results"]["quality"]["n_pairs"] == 200
    assert call(here, "evidence", "check", "chat.yaml").code == 0


def test_a_shown_loss_closes_it(here: Path) -> None:
    found = compared(here, "bad")
    assert found.code == 4
    assert json.loads((here / found.document["evidence"]).read_text())["passed"] is False
    checked = call(here, "evidence", "check", "chat.yaml")
    assert (checked.code, "says that it does not pass" in checked.out) == (4, True)


def test_what_decided_nothing_is_no_evidence(here: Path) -> None:
    found = compared(here, "few", "--allow-inconclusive", base="few")
    assert (found.code, found.document["verdict"], found.document["evidence"]) == (4, "inconclusive", None)
    assert "an inconclusive comparison is no evidence" in found.document["error"]["message"]
    assert not (here / "evidence").exists()


def test_evidence_goes_where_it_is_wanted(here: Path) -> None:
    found = compared(here, "good", "--evidence", "kept")
    assert found.document["evidence"].startswith("kept/eval-llama")
    assert (here / found.document["evidence"]).is_file()


def test_a_name_that_the_specs_do_not_have_is_a_usage_error(here: Path) -> None:
    words = ("eval", "compare", "base", "good", "--specs", "chat.yaml", "--deployment", "chta", "--offline")
    found = call(here, *words)
    assert (found.code, "'chta' is not in the specs" in found.err) == (64, True)
