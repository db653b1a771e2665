"""Summaries and comparisons of records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from fwctl.measure.summary import Facts, summarise


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


START = datetime(2026, 12, 1, tzinfo=UTC)


def timed(number: int, at_s: float, **more: Any) -> dict[str, Any]:
    """A request of 11 tokens: the first after 1 s, the last after 2 s."""
    moment = (START + timedelta(seconds=at_s)).isoformat()
    times = {"started_at": moment, "done_s": 2.0, "total_s": 2.0, "tpot_s": 0.1, "output_tokens": 11}
    return row(number, **{"ttft_s": 1.0, **times, "tokens_source": "usage", **more})


def target(rows: list[dict[str, Any]], facts: Facts | None = None, **options: Any) -> dict[str, Any]:
    found = summarise(
        rows, [], suite_digest="d", open_loop=False, facts={"t": facts} if facts else None, **options
    )
    one: dict[str, Any] = found["targets"]["t"]
    return one


def test_throughput_counts_what_happened_before_the_last_start() -> None:
    # Two slots, a request every 2 s in each: starts at 0, 0, 2, 2, ... 18, 18.
    found = target([timed(n, 2.0 * (n // 2)) for n in range(20)])["throughput"]
    # The window is 0..18 s: all 20 starts, 18 requests wholly inside.
    assert (found["window_s"], found["steady"]) == (18.0, True)
    assert found["requests_per_s"] == pytest.approx(20 / 18)
    assert found["concurrency"] == pytest.approx(2.0)
    assert found["output_tokens_per_s"] == pytest.approx(18 * 11 / 18)


def test_a_burst_is_measured_to_its_end() -> None:
    found = target([timed(n, 0.0) for n in range(4)])["throughput"]
    assert (found["window_s"], found["steady"], found["output_tokens_per_s"]) == (2.0, False, 22.0)


def test_cost_is_hours_over_tokens_and_unknown_prices_stay_unknown() -> None:
    rows = [timed(n, 2.0 * (n // 2)) for n in range(20)]
    # 11 tokens a second; 3.96 dollars an hour are 0.0011 a second.
    assert target(rows, Facts(usd_per_hour=3.96))["usd_per_million_output_tokens"] == pytest.approx(100.0)
    assert target(rows)["usd_per_million_output_tokens"] is None
    prices = {"input": 0.2, "output": 0.8, "cached_input": 0.1}
    priced = [timed(n, 2.0 * n, prompt_tokens=110, cached_tokens=11) for n in range(10)]
    # For 11 output tokens: 99 at 0.2, 11 at 0.1, 11 at 0.8 = 19.8 + 1.1 + 8.8 = 29.7; 29.7 / 11 = 2.7.
    found = target(priced, Facts(token_prices=prices))
    assert found["usd_per_million_output_tokens"] == pytest.approx(2.7)
    assert target(priced, Facts(token_prices={"input": 1.0}))["usd_per_million_output_tokens"] is None
    unknown = [timed(n, 2.0 * n, output_tokens=None) for n in range(10)]
    assert target(unknown, Facts(usd_per_hour=1.0))["usd_per_million_output_tokens"] is None


def test_goodput_keeps_failures_in_the_denominator() -> None:
    rows = [timed(n, float(n)) for n in range(6)]
    rows += [timed(n, float(n), error_class="truncated") for n in range(6, 8)]
    rows += [timed(8, 8.0, total_s=9.0), timed(9, 9.0, ttft_s=None)]
    found = target(rows, Facts(slo_s={"ttft_s": 1.0, "total_s": 2.0}))["goodput"]
    assert (found["n_met"], found["share"]["value"]) == (6, 0.6)
    assert target(rows)["goodput"] is None
    single = [timed(0, 0.0, tpot_s=None, output_tokens=1), timed(1, 1.0)]
    assert target(single, Facts(slo_s={"tpot_s": 0.2}))["goodput"]["n_met"] == 2


def test_a_slow_user_is_the_low_end_of_tokens_a_second() -> None:
    found = target([timed(n, float(n)) for n in range(80)])["output_tokens_per_s_per_user"]
    # 11 tokens in the second from first to last.
    assert found["p50"]["value"] == pytest.approx(11.0)
    assert found["p05"]["value"] == pytest.approx(11.0)


def test_lengths_limits_and_answers_are_counted() -> None:
    rows = [timed(n, float(n), output_tokens=n + 1) for n in range(10)]
    rows += [timed(20 + n, 1.0, error_class="rate_limited", limited_by=word) for n, word in enumerate("aab")]
    rows += [timed(30, 1.0, error_class="rate_limited"), timed(31, 1.0, error_class="length")]
    found = target(rows)
    assert (found["output_tokens"]["min"], found["output_tokens"]["max"]) == (1, 10)
    assert (found["output_tokens"]["p50"]["value"], found["output_tokens"]["sum"]) == (5.5, 55)
    assert found["rate_limited_by"] == {"a": 2, "b": 1, "unknown": 1}
    assert found["answer_errors"]["length"] == 1
    assert found["error_rate"]["value"] == pytest.approx(5 / 15)


def test_answers_without_usage_are_marked_and_warned_of() -> None:
    rows = [timed(n, float(n)) for n in range(9)] + [timed(9, 9.0, tokens_source=None, output_tokens=None)]
    found = summarise(rows, [], suite_digest="d", open_loop=False)
    assert found["targets"]["t"]["tokens_source"] == {"usage": 9, "none": 1}
    assert found["warnings"] == [
        "t: 1 of 10 answers carry no usage; tokens, time per token and cost of them are left out or estimated"
    ]


def test_several_loads_are_told_apart_and_so_are_types() -> None:
    rows = [timed(n, float(n), concurrency=1, type="chat") for n in range(10)]
    rows += [timed(n, 100.0 + n, concurrency=4, type="edit") for n in range(20)]
    found = target(rows)
    assert [(item["concurrency"], item["n"]) for item in found["loads"]] == [(1, 10), (4, 20)]
    assert {name: item["n"] for name, item in found["types"].items()} == {"edit": 20, "chat": 10}
    assert found["throughput"]["output_tokens_per_s"] is None
    assert found["loads"][0]["throughput"]["output_tokens_per_s"] is not None


def test_percentiles_on_demand() -> None:
    found = target([timed(n, float(n), ttft_s=n / 100) for n in range(1, 401)], quantiles=(0.9, 0.99, 0.999))
    # Values 0.01 .. 4.00: type 7 puts the p90 at 1 + 0.9 * 399 = 360.1 hundredths.
    assert found["ttft_s"]["p90"]["value"] == pytest.approx(3.601)
    assert found["ttft_s"]["p99"]["value"] == pytest.approx(3.9601)
    assert found["ttft_s"]["p99.9"] == {"value": None, "low": None, "high": None, "n": 400, "n_needed": 3688}
    assert "p50" not in found["ttft_s"]


def test_records_are_read_once_and_may_be_endless_for_all_that_is_kept() -> None:
    found = summarise((timed(n, n / 10) for n in range(2000)), [], suite_digest="d", open_loop=True)
    assert found["targets"]["t"]["n"] == 2000
    assert found["targets"]["t"]["ttft_from_schedule_s"]["p50"]["n"] == 0


def test_times_that_are_no_times_leave_rates_unknown() -> None:
    found = target([timed(n, 0.0, started_at="yesterday") for n in range(3)])["throughput"]
    assert set(found.values()) == {None}
