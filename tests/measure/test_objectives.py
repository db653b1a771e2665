"""Objectives are met, missed or open by whole intervals, never by a point."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.measure.objectives import (
    Objective,
    Verdict,
    judge,
    judge_summary,
    objectives_of,
    overall,
    time_of,
)

TTFT = Objective("ttft_p95_ms", "ttft_s", 0.8)
ERRORS = Objective("error_rate", None, 0.01)


def rows(values: list[float], failed: int = 0) -> list[dict[str, Any]]:
    return [
        *({"error_class": None, "ttft_s": value, "total_s": value} for value in values),
        *({"error_class": "timeout"} for _ in range(failed)),
    ]


def test_a_spec_says_its_objectives_in_milliseconds_and_percent() -> None:
    own = {"slo.ttft_p95_ms": 800, "slo.tpot_p95_ms": 25, "slo.total_p95_ms": 12000, "slo.error_rate": "0.5%"}
    assert objectives_of(own) == (
        Objective("ttft_p95_ms", "ttft_s", 0.8),
        Objective("tpot_p95_ms", "tpot_s", 0.025),
        Objective("total_p95_ms", "total_s", 12.0),
        Objective("error_rate", None, 0.005),
    )


def test_without_a_word_about_errors_one_percent_may_fail() -> None:
    assert objectives_of({}) == (ERRORS,)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.1] * 100, Verdict.MET),
        ([1.0] * 100, Verdict.MISSED),
        ([0.1] * 95 + [1.0] * 5, Verdict.OPEN),  # exactly at the limit: nobody can tell
        ([0.1] * 71, Verdict.OPEN),  # 72 samples are needed for an interval of p95
        ([], Verdict.OPEN),
    ],
)
def test_a_time_is_decided_by_the_whole_interval(values: list[float], verdict: Verdict) -> None:
    (found,) = judge(rows(values), [TTFT])
    assert found.verdict is verdict


def test_what_a_request_waited_before_it_was_sent_is_its_latency_too() -> None:
    row = {"ttft_s": 0.1, "total_s": 0.5, "tpot_s": 0.02, "ttft_from_schedule_s": 0.9}
    assert time_of(row, "ttft_s") == pytest.approx(0.9)
    assert time_of(row, "total_s") == pytest.approx(1.3)
    assert time_of(row, "tpot_s") == 0.02
    assert time_of({"ttft_s": None}, "ttft_s") is None
    assert time_of({"ttft_s": 0.2, "ttft_from_schedule_s": None}, "ttft_s") == 0.2


def test_failures_are_a_share_of_their_own() -> None:
    """Wilson's 95 % interval of 50 of 100 is 0.404 to 0.596; of 1 in 100 it is 0.002 to 0.054."""
    (half,) = judge(rows([0.1] * 50, failed=50), [ERRORS])
    assert (half.verdict, half.value) == (Verdict.MISSED, 0.5)
    assert half.low == pytest.approx(0.404, abs=0.001)
    (one,) = judge(rows([0.1] * 99, failed=1), [ERRORS])
    assert one.verdict is Verdict.OPEN
    (none,) = judge(rows([0.1] * 100), [ERRORS])
    assert none.verdict is Verdict.MET
    assert judge([], [ERRORS])[0].verdict is Verdict.OPEN


def test_one_missed_objective_decides_and_one_open_one_keeps_it_open() -> None:
    met, missed, still = judge(rows([0.1] * 100), [TTFT]), judge(rows([1.0] * 100), [TTFT]), judge([], [TTFT])
    assert overall([*met, *missed, *still]) is Verdict.MISSED
    assert overall([*met, *still]) is Verdict.OPEN
    assert overall(met) is Verdict.MET
    assert overall([]) is Verdict.OPEN


def test_a_summary_is_judged_by_its_intervals() -> None:
    def at(low: float, high: float) -> dict[str, Any]:
        return {"p95": {"value": (low + high) / 2, "low": low, "high": high, "n": 100}}

    target = {"n": 100, "n_ok": 100, "ttft_s": at(0.1, 0.2), "ttft_from_schedule_s": at(0.9, 1.0)}
    assert [item.verdict for item in judge_summary(target, [TTFT, ERRORS])] == [Verdict.MISSED, Verdict.MET]
    del target["ttft_from_schedule_s"]
    found = judge_summary(target, [TTFT])[0]
    assert found.to_json() == {
        "objective": "ttft_p95_ms",
        "limit": 0.8,
        "verdict": "met",
        "value": pytest.approx(0.15),
        "low": 0.1,
        "high": 0.2,
        "n": 100,
    }
