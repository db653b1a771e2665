"""What an experiment has cost and will cost: replicas x price x time, by hand."""

from __future__ import annotations

from datetime import timedelta

import pytest

from fwctl.live.normalise import normalise_deployment
from fwctl.quality.experiments.cost import round_s, running, sampled, since_creation
from fwctl.quality.experiments.model import Load
from fwctl.quality.experiments.state import Spending
from tests.planning.support import NOW, row


def at(seconds: float, usd: float, usd_per_hour: float) -> Spending:
    return Spending(usd, usd_per_hour, (NOW + timedelta(seconds=seconds)).isoformat())


def test_the_dearer_of_two_looks_holds_between_them() -> None:
    found = sampled(at(0, 1.0, 8.0), NOW + timedelta(seconds=36), 16.0)
    assert found.usd == pytest.approx(1.0 + 16.0 / 100)  # 36 s are a hundredth of an hour
    found = sampled(found, NOW + timedelta(seconds=72), 0.0)
    assert found.usd == pytest.approx(1.0 + 16.0 / 100 + 16.0 / 100)


def test_the_first_look_costs_nothing_yet() -> None:
    assert sampled(Spending(2.0), NOW, 8.0).usd == 2.0


def test_while_fwctl_was_gone_replicas_ran_until_the_platform_stopped_them() -> None:
    found = sampled(at(0, 0.0, 10.0), NOW + timedelta(hours=5), 0.0)
    assert found.usd == pytest.approx(10.0 * 360 / 3600)  # five minutes of window and one to notice


def test_replicas_that_still_run_after_a_gap_have_run_all_the_time() -> None:
    found = sampled(at(0, 0.0, 10.0), NOW + timedelta(hours=1), 10.0)
    assert found.usd == pytest.approx(10.0)


def test_loading_replicas_cost_too_and_a_missing_price_is_told() -> None:
    loading = normalise_deployment(row("a", replica_stats={"initializing_replica_count": 1}))
    ready = normalise_deployment(row("b", replica_stats={"ready_replica_count": 2}))
    assert running([loading, ready], {"a": 3.0, "b": 4.0}) == (11.0, False)
    assert running([loading, ready], {"a": 3.0, "b": None}) == (3.0, True)
    assert running([normalise_deployment(row("c"))], {"c": None}) == (0.0, False)


def test_lost_bookkeeping_counts_every_replica_since_creation() -> None:
    created = (NOW - timedelta(hours=2)).strftime("%Y-%m-%dT%H:%M:%SZ")
    item = normalise_deployment(row("a", create_time=created, max_replica_count=2))
    assert since_creation([item], {"a": 8.0}, NOW) == pytest.approx(2 * 2 * 8.0)
    assert since_creation([normalise_deployment(row("a"))], {"a": 8.0}, NOW) == 0.0


def test_a_pass_is_predicted_by_slow_streams_until_one_was_measured() -> None:
    # 300 tokens at 30 a second and a second to begin: 11 s; without a limit 256 tokens: 9.53 s.
    slow = round_s(Load(concurrency=2, warmup=0), [300, None], [])
    assert slow == pytest.approx((11 + 9.5333) / 2, abs=1e-3)
    assert round_s(Load(rate_per_s=0.5), [300, 300], []) == pytest.approx(2 / 0.5 + 11)
    assert round_s(Load(), [300], [40.0, 80.0]) == pytest.approx(100.0)
