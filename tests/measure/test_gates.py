"""Conditions of --fail-if and of `slo:`: what is understood, and when one passes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from fwctl.errors import UsageError
from fwctl.measure.arm import read_arm
from fwctl.measure.compare import compare_arms
from fwctl.measure.gates import judge_gates, parse_condition, passed, quantiles_of, slo_conditions
from fwctl.measure.objectives import slo_seconds
from fwctl.measure.pairing import Options
from fwctl.measure.summary import Facts
from tests.measure.runs import rows, save


@pytest.mark.parametrize(
    ("text", "name", "limit", "relative", "quantile"),
    [
        ("ttft_p95 > 1.10x", "ttft", 1.1, True, 0.95),
        ("ttft_p95>800ms", "ttft", 0.8, False, 0.95),
        (" total_p99.9 >= 12s ", "total", 12.0, False, 0.999),
        ("ttft_from_schedule_p50 > 2x", "ttft_from_schedule", 2.0, True, 0.5),
        ("error_rate > 1%", "error_rate", 0.01, False, None),
        ("cost > 1.2x", "cost", 1.2, True, None),
        ("cost > $4.5", "cost", 4.5, False, None),
        ("goodput < 95%", "goodput", 0.95, False, None),
        ("tokens_per_s < 0.9x", "tokens_per_s", 0.9, True, None),
    ],
)
def test_a_condition_is_understood(
    text: str, name: str, limit: float, relative: bool, quantile: float | None
) -> None:
    found = parse_condition(text)
    assert (found.name, found.relative, found.quantile) == (name, relative, pytest.approx(quantile))
    assert found.limit == pytest.approx(limit)
    assert found.text == text.strip()


@pytest.mark.parametrize(
    ("text", "step"),
    [
        ("", "for example"),
        ("ttft_p95", "for example"),
        ("ttft_p95 = 1x", "for example"),
        ("ttft_p95 > 1.10x; rm", "for example"),
        ("tfft_p95 > 1x", "did you mean ttft_p95?"),
        ("ttft > 1x", "say which percentile"),
        ("ttft_p95 > 1", "x (times the base), s or ms"),
        ("ttft_p95 > 5%", "x (times the base), s or ms"),
        ("ttft_p0 > 1s", "between p1 and p99.9"),
        ("error_rate > 1", "error_rate takes %"),
        ("error_rate_p95 > 1%", "has no percentiles"),
        ("cost > 5", "x (times the base) or $ before the number"),
    ],
)
def test_what_is_no_condition_says_what_would_be_one(text: str, step: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_condition(text)
    assert step in caught.value.next_steps[0]


def judge(folder: Path, texts: list[str], *, base: str = "a", candidate: str = "b") -> list[dict[str, Any]]:
    conditions = [parse_condition(text) for text in texts]
    left, right = read_arm(folder, base), read_arm(folder, candidate)
    options = Options(resamples=200, quantiles=sorted({0.5, 0.95, *quantiles_of(conditions)}))
    return judge_gates(conditions, compare_arms(folder, left, right, options), left, right)


def outcomes(folder: Path, *texts: str, **names: str) -> list[str]:
    return [row["outcome"] for row in judge(folder, list(texts), **names)]


def test_a_limit_is_passed_when_it_is_ruled_out_and_failed_when_it_is_shown(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(300))
    save(tmp_path / "b", rows(300, factor=1.25, seed=2))
    found = outcomes(tmp_path, "ttft_p50 > 1.10x", "ttft_p50 > 1.24x", "ttft_p50 > 1.5x", "ttft_p50 < 2x")
    assert found == ["failed", "inconclusive", "passed", "failed"]
    # The median of the candidate is 1.25 * 0.3 = 0.375 s, within about 10 %.
    found = outcomes(tmp_path, "ttft_p50 > 0.3s", "ttft_p50 > 375ms", "ttft_p50 > 0.5s")
    assert found == ["failed", "inconclusive", "passed"]


def test_an_open_gate_says_what_it_needs(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(40))
    save(tmp_path / "b", rows(40, seed=2))
    relative, absolute = judge(tmp_path, ["ttft_p95 > 1.1x", "ttft_p99 > 1s"])
    assert (relative["outcome"], relative["reason"]) == ("inconclusive", "n=40, needs 72")
    assert (absolute["outcome"], absolute["reason"]) == ("inconclusive", "n=40, needs 368")
    assert not passed([relative], allow_inconclusive=False)
    assert passed([relative], allow_inconclusive=True)


def test_no_failure_passes_where_the_limit_would_let_one_be_expected(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(100))
    assert outcomes(tmp_path, "error_rate > 1%", "error_rate > 0.5%", candidate="a") == [
        "passed",
        "inconclusive",
    ]
    save(tmp_path / "b", rows(100, failures=3))
    # 3 of 100: Wilson's interval is 1.0 % to 8.5 %.
    assert outcomes(tmp_path, "error_rate > 0.5%", "error_rate > 3%", "error_rate > 9%") == [
        "failed",
        "inconclusive",
        "passed",
    ]


def test_cost_and_rates_are_compared_as_they_are(tmp_path: Path) -> None:
    facts = [{"t": Facts(usd_per_hour=price, slo_s={"ttft_s": 10.0})} for price in (4.0, 5.0)]
    save(tmp_path / "a", rows(100), facts=facts[0])
    save(tmp_path / "b", rows(100), facts=facts[1])
    found = outcomes(
        tmp_path, "cost > 1.2x", "cost > 1.3x", "cost > $1000", "tokens_per_s < 0.9x", "goodput < 90%"
    )
    assert found == ["failed", "passed", "passed", "passed", "passed"]
    save(tmp_path / "c", rows(100))
    unpriced, aimless = judge(tmp_path, ["cost > 1.2x", "goodput < 90%"], candidate="c")
    assert (unpriced["outcome"], unpriced["reason"]) == ("inconclusive", "a price is not known")
    assert (aimless["outcome"], aimless["reason"]) == ("inconclusive", "the run had no objectives")


def test_an_invalid_comparison_passes_nothing(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(100))
    save(tmp_path / "b", rows(100), digest="other")
    gates = judge(tmp_path, ["ttft_p50 > 9x"])
    assert gates[0]["outcome"] == "invalid"
    assert not passed(gates, allow_inconclusive=True)


def test_a_metric_that_was_not_measured_is_open(tmp_path: Path) -> None:
    save(tmp_path / "a", rows(100))
    (row,) = judge(tmp_path, ["ttft_from_schedule_p50 > 2x"], candidate="a")
    assert (row["outcome"], row["reason"]) == ("inconclusive", "it was not measured in both runs")


def test_objectives_of_a_spec_become_conditions(tmp_path: Path) -> None:
    own = {
        "slo.ttft_p95_ms": 2000,
        "slo.tpot_p95_ms": 8,
        "slo.total_p95_ms": 12000,
        "slo.error_rate": "1%",
        "slo.at.rps": 1000,
        "traffic": "batch",
    }
    assert slo_seconds(own) == {"ttft_s": 2.0, "tpot_s": 0.008, "total_s": 12.0}
    conditions = slo_conditions(own, "chat")
    save(tmp_path / "a", rows(300))
    left = read_arm(tmp_path, "a")
    found = judge_gates(conditions, compare_arms(tmp_path, left, left, Options(resamples=200)), left, left)
    assert [(row["condition"], row["outcome"]) for row in found] == [
        ("slo.ttft_p95_ms 2000", "passed"),
        ("slo.tpot_p95_ms 8", "failed"),
        ("slo.total_p95_ms 12000", "passed"),
        ("slo.error_rate 1%", "passed"),
        ("slo.at.rps 1000", "inconclusive"),
    ]
    assert found[0]["source"] == "slo of chat"
    assert "hold at 1000 requests a second" in found[4]["reason"]


def test_every_condition_of_the_pages_is_one() -> None:
    docs = Path(__file__).parents[2] / "docs"
    found = re.findall(r"`([a-z_0-9]+ [<>] [^`]+)`", (docs / "bench.md").read_text())
    found += re.findall(r"--fail-if\n +(.+)\n", (docs / "ci/bench.yml").read_text())
    assert len(found) > 10
    for text in found:
        parse_condition(text)
