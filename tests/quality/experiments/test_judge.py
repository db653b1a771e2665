"""Who wins: hand-made measurements, and records whose figures are worked out by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fwctl.quality.experiments.judge import Decision, Measured, Met, Quality, decide, measured
from fwctl.quality.experiments.model import Experiment, Load
from fwctl.spec.model import Spec

PASSED = Quality("pass")


def item(name: str, cost: float | None, slo: Met = Met.MET, quality: Quality = PASSED) -> Measured:
    return Measured(name, 100, 100, {}, 1000, 10.0, 8.0, cost, slo, (), quality)


def winner(*items: Measured, baseline: str = "a") -> Decision:
    return decide(items, baseline, ())


def test_the_cheapest_that_passes_wins() -> None:
    found = winner(item("a", 3.0), item("b", 2.0), item("c", 1.0, slo=Met.MISSED))
    assert (found.winner, found.tied) == ("b", ())
    assert found.reason == (
        "b is the cheapest of 2 that meet the SLO and pass the quality gate: $2.000 per million output tokens"
    )


@pytest.mark.parametrize("verdict", ["fail", "inconclusive", "invalid"])
def test_not_ruled_out_is_no_pass(verdict: str) -> None:
    found = winner(item("a", 3.0, quality=Quality("baseline")), item("b", 2.0, quality=Quality(verdict)))
    assert found.winner == "a"
    assert "the only one" in found.reason


def test_too_few_answers_are_no_pass() -> None:
    assert winner(item("a", 1.0, slo=Met.NOT_SHOWN)).winner is None


def test_equal_costs_are_a_tie_that_the_baseline_wins() -> None:
    found = winner(item("a", 2.01), item("b", 2.0))
    assert (found.winner, found.tied) == ("a", ("b",))
    assert found.reason == (
        "tie: a, b cost the same within 1% ($2.010 per million output tokens), so the baseline stays"
    )


def test_a_tie_without_the_baseline_goes_to_the_cheaper() -> None:
    found = winner(item("a", 4.0), item("b", 2.01), item("c", 2.0))
    assert (found.winner, found.tied) == ("c", ("b",))


def test_an_unknown_cost_cannot_win() -> None:
    assert winner(item("a", None)).winner is None


def test_an_invalid_measurement_has_no_winner() -> None:
    found = decide([item("a", 1.0)], "a", ["late", "late"])
    assert (found.winner, found.reason) == (None, "no winner: the measurement is invalid: late")


def record(total_s: float | None, tokens: int = 50, error: str | None = None) -> dict[str, Any]:
    return {
        "error_class": error,
        "total_s": total_s,
        "ttft_s": 0.2,
        "tpot_s": 0.01,
        "output_tokens": tokens,
    }


def experiment(load: Load, **slo: float) -> Experiment:
    return Experiment("e", "e.yaml", Spec("acme"), ("a",), "a", Path("p"), 20.0, 3600.0, load, slo)


def test_cost_follows_from_the_time_the_answers_took() -> None:
    # 8 at a time, 100 answers of 50 tokens in 2 s each: 8 x 5000 / 200 = 200 tokens/s; $7.20/h is $0.002/s.
    found = measured(
        experiment(Load(concurrency=8)), "a", [record(2.0)] * 100, usd_per_hour=7.2, quality=PASSED
    )
    assert found.tokens_per_s == pytest.approx(200.0)
    assert found.usd_per_million == pytest.approx(10.0)


def test_with_a_rate_cost_follows_from_the_rate() -> None:
    # 4 requests a second, half of them fail: 2 x 50 = 100 tokens/s.
    rows = [record(2.0)] * 50 + [record(None, 0, error="timeout")] * 50
    found = measured(experiment(Load(rate_per_s=4.0)), "a", rows, usd_per_hour=7.2, quality=PASSED)
    assert found.tokens_per_s == pytest.approx(100.0)
    assert found.usd_per_million == pytest.approx(20.0)


def test_objectives_are_met_missed_or_not_shown() -> None:
    rows = [record(2.0)] * 99 + [record(None, error="timeout")]
    met = measured(
        experiment(Load(), total_p95_ms=2000, error_rate=0.01), "a", rows, usd_per_hour=8.0, quality=PASSED
    )
    assert (met.slo, met.slo_notes) == (Met.MET, ())
    missed = measured(experiment(Load(), ttft_p95_ms=199), "a", rows, usd_per_hour=8.0, quality=PASSED)
    assert (missed.slo, missed.slo_notes) == (Met.MISSED, ("ttft_p95_ms 200, allowed 199",))
    few = measured(experiment(Load(), ttft_p95_ms=500), "a", rows[:20], usd_per_hour=8.0, quality=PASSED)
    assert (few.slo, few.slo_notes) == (Met.NOT_SHOWN, ("ttft_p95_ms: 20 answers, 72 needed",))
    errors = measured(experiment(Load(), error_rate=0.005), "a", rows, usd_per_hour=8.0, quality=PASSED)
    assert errors.slo_notes == ("errors 1.0%, allowed 0.5%",)


def test_nothing_that_went_well_is_nothing_shown() -> None:
    rows = [record(None, error="timeout")] * 5
    found = measured(experiment(Load()), "a", rows, usd_per_hour=8.0, quality=PASSED)
    assert (found.slo, found.usd_per_million) == (Met.NOT_SHOWN, None)
    assert found.to_json()["why_not"] == ["no request went well"]
