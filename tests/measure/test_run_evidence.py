"""What a finished run says about itself, for evidence."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import RefusedError, UsageError
from fwctl.measure.evidence import facts_of_run
from fwctl.measure.objectives import Objective
from tests.measure.runs import rows, save

TTFT = (Objective("ttft_p95_ms", "ttft_s", 2.0), Objective("error_rate", None, 0.01))


def finished(
    folder: Path, records: list[dict[str, Any]], plan: dict[str, Any] | None, **summary: Any
) -> None:
    save(folder, records, valid=True, **summary)
    if plan is not None:
        (folder / "run.json").write_text(json.dumps({"run_id": "r", "plan": plan, "sessions": []}))


def test_a_run_without_its_plan_still_says_what_it_measured(tmp_path: Path) -> None:
    finished(tmp_path, rows(100), None)
    found = facts_of_run(tmp_path, None)
    assert (found.target, found.model, found.replicas, found.rate_per_s) == ("t", None, None, None)
    assert found.suite_digest == "sha256:d"
    assert found.passed(TTFT, None) is True
    assert found.passed(TTFT[1:], None) is None
    assert found.passed(TTFT, 1.0) is False  # nobody knows at which rate it was
    assert found.results(TTFT, None)["n_ok"] == 100


def test_a_level_of_a_sweep_has_its_own_load(tmp_path: Path) -> None:
    plan = {
        "suite": {"path": "p.jsonl"},
        "targets": [{"name": "t", "model": "m"}],
        "shape": {"concurrency": 1, "rate_per_s": None},
        "sweep": [{"concurrency": 4, "rate_per_s": None}, {"concurrency": 1, "rate_per_s": 2.5}],
    }
    watched = [{"at": "x", "ready": {"t": 2}}, {"at": "y", "ready": {"t": 2}}]
    records = [*rows(80, target="t@4"), *rows(80, target="t@2.5/s")]
    finished(tmp_path, records, plan, replicas=watched)
    slow, fast = facts_of_run(tmp_path, "t@4"), facts_of_run(tmp_path, "t@2.5/s")
    assert (slow.concurrency, slow.rate_per_s, slow.replicas, slow.model) == (4, None, 2, "m")
    assert (fast.concurrency, fast.rate_per_s) == (None, 2.5)
    with pytest.raises(UsageError, match=r"holds several targets: t@2.5/s, t@4"):
        facts_of_run(tmp_path, None)


def test_a_run_in_which_nothing_went_well_is_refused(tmp_path: Path) -> None:
    finished(tmp_path, rows(10, failures=10), None)
    with pytest.raises(RefusedError, match="no request went well"):
        facts_of_run(tmp_path, None)


@pytest.mark.parametrize(
    "summary",
    [
        {"targets": {"t": {}}},
        {"targets": {"t": {"n_ok": 5}}, "suite_digest": None, "replicas": 7},
        {"targets": []},
    ],
)
def test_a_summary_that_fwctl_would_not_write_is_no_run(tmp_path: Path, summary: dict[str, Any]) -> None:
    finished(tmp_path, rows(10), None, **summary)
    with pytest.raises(UsageError):
        facts_of_run(tmp_path, None)


def test_a_folder_is_not_taken_for_its_file(tmp_path: Path) -> None:
    (tmp_path / "summary.json").mkdir()
    with pytest.raises(UsageError, match="not the folder of a finished run"):
        facts_of_run(tmp_path, None)
