"""Summaries and comparisons of records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.measure.compare import compare_runs
from fwctl.measure.summary import summarise


def row(number: int, ttft_s: float | None = 0.1, target: str = "t", **more: Any) -> dict[str, Any]:
    return {
        "target": target,
        "prompt_id": f"p{number}",
        "repeat": 0,
        "measured": True,
        "error_class": None,
        "dispatch_lag_s": 0.001,
        "queue_lag_s": 0.001,
        "ttft_s": ttft_s,
        "ttfv_s": ttft_s,
        "total_s": ttft_s,
        "tpot_s": None,
        "prompt_tokens": 10,
        "cached_tokens": 0,
        **more,
    }


def save(folder: Path, rows: list[dict[str, Any]], digest: str = "d") -> None:
    folder.mkdir()
    (folder / "records.jsonl").write_text("".join(json.dumps(item) + "\n" for item in rows))
    summary = summarise(rows, [0.001], suite_digest=digest, open_loop=False)
    (folder / "summary.json").write_text(json.dumps(summary))


def test_errors_stand_beside_the_latencies() -> None:
    rows = [row(n, float(n)) for n in range(1, 11)] + [row(11, None, error_class="rate_limited")]
    found = summarise(rows, [], suite_digest="d", open_loop=False)["targets"]["t"]
    assert (found["n"], found["n_ok"], found["errors"]) == (11, 10, {"rate_limited": 1})
    # Values 1..10: the median is 5.5, its interval the 2nd and 9th value, a p95 needs 72.
    assert found["ttft_s"]["p50"] == {"value": 5.5, "low": 2.0, "high": 9.0, "n": 10, "n_needed": 6}
    assert found["ttft_s"]["p95"]["value"] is None
    assert found["ttft_s"]["p95"]["n_needed"] == 72


def test_a_late_client_makes_the_run_invalid() -> None:
    summary = summarise([row(1, dispatch_lag_s=0.2)], [0.1], suite_digest="d", open_loop=False)
    assert not summary["valid"]
    assert "dispatch_lag_s p95 is 200 ms" in summary["invalid_reasons"][0]
    assert "event_loop_lag_s p95 is 100 ms" in summary["invalid_reasons"][1]


def test_nothing_measured_is_invalid() -> None:
    summary = summarise([row(1, measured=False)], [], suite_digest="d", open_loop=True)
    assert (summary["valid"], summary["targets"]) == (False, {})


def verdicts(found: dict[str, Any]) -> dict[tuple[str, str], str]:
    return {(item["metric"], item["quantile"]): item["verdict"] for item in found["comparisons"]}


def test_twice_as_slow_is_worse_and_the_unknown_inconclusive(tmp_path: Path) -> None:
    save(tmp_path / "a", [row(n, 0.1 + n / 1000) for n in range(100)])
    save(tmp_path / "b", [row(n, 0.2 + n / 500) for n in range(100)])
    found = compare_runs(tmp_path, "a", "b", tolerance=0.1)
    assert verdicts(found)["ttft_s", "p95"] == "worse"
    assert verdicts(found)["tpot_s", "p50"] == "inconclusive"
    assert found["comparisons"][0]["ratio"] == pytest.approx(2.0)
    assert found["comparisons"][0]["n_pairs"] == 100


def test_other_prompts_or_caching_make_it_invalid(tmp_path: Path) -> None:
    save(tmp_path / "a", [row(n) for n in range(10)])
    save(tmp_path / "b", [row(n, cached_tokens=9) for n in range(10)], digest="other")
    found = compare_runs(tmp_path, "a", "b", tolerance=0.1)
    assert set(verdicts(found).values()) == {"invalid"}
    assert len(found["invalid_reasons"]) == 2


def test_targets_of_one_run_are_compared_by_name(tmp_path: Path) -> None:
    save(tmp_path / "a", [row(n, target=name) for n in range(10) for name in ("x", "y")])
    assert verdicts(compare_runs(tmp_path, "a:x", "a:y", tolerance=0.1))["ttft_s", "p50"] == "same"
    with pytest.raises(UsageError, match="several targets"):
        compare_runs(tmp_path, "a", "a:y", tolerance=0.1)
    with pytest.raises(UsageError, match="its targets are: x, y"):
        compare_runs(tmp_path, "a:z", "a:y", tolerance=0.1)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("summary.json", "{", "not JSON"),
        ("summary.json", "[]", "not the summary"),
        ("records.jsonl", "{", "not JSON"),
        ("records.jsonl", "{}\n", "records.jsonl:1: this is not a record"),
        ("records.jsonl", None, "cannot read"),
        ("summary.json", None, "cannot read"),
    ],
)
def test_a_folder_that_is_no_run_is_refused(
    tmp_path: Path, name: str, content: str | None, message: str
) -> None:
    save(tmp_path / "a", [row(1)])
    (tmp_path / "a" / name).unlink()
    if content is not None:
        (tmp_path / "a" / name).write_text(content)
    with pytest.raises(UsageError, match=message):
        compare_runs(tmp_path, "a", "a", tolerance=0.1)
