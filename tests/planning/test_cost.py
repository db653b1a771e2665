"""Dollars an hour, by hand: $8.00 a GPU-hour for H100, $2.90 for A100."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog.prices import PriceList
from fwctl.planning.model import Cost
from tests.planning.support import (
    MINIMAL,
    NOW,
    Platform,
    check_of,
    entry,
    marked_row,
    only,
    plan_of,
    row,
    shape_row,
    spec,
)

FAST4 = "accounts/fireworks/deploymentShapes/four"


def four() -> Platform:
    """A shape of four H100."""
    return Platform(shapes={FAST4: [shape_row(f"{FAST4}/versions/v1", accelerator_count=4)]})


def test_floor_is_min_and_ceiling_is_max_replicas() -> None:
    plan = plan_of(entry(shape=FAST4, replicas__min=1, replicas__max=3), four())
    assert only(plan).cost == Cost(32.0, 96.0, 32.0, 96.0)
    assert plan.cost["floor_usd_per_hour"] == 32.0
    assert plan.cost["ceiling_usd_per_hour"] == 96.0
    assert plan.cost["monthly_floor_usd"] == 23_360.0  # 32 x 730 h
    assert plan.cost["price_date"] == "2026-11-30"
    assert (plan.cost["currency"], plan.cost["unknown"]) == ("USD", [])


def test_a_change_costs_the_difference() -> None:
    plan = plan_of(spec(entry("a", replicas__max=5), entry("b")), [marked_row("a"), marked_row("b")])
    assert plan.changes[0].cost == Cost(8.0, 40.0, 0.0, 24.0)
    assert plan.changes[1].cost == Cost(8.0, 16.0, 0.0, 0.0)
    assert (plan.cost["ceiling_usd_per_hour"], plan.cost["ceiling_change"]) == (56.0, 24.0)


def test_a_delete_gives_money_back() -> None:
    plan = plan_of(entry(), [marked_row(), marked_row("old")], prune=True, allow_delete=("old",))
    assert plan.changes[1].cost == Cost(0.0, 0.0, -8.0, -16.0)


def schedule(minimum: int, **more: Any) -> dict[str, Any]:
    return {"cron": "0 8 * * *", "timezone": "UTC", "duration": "10h0m0s", "min_replicas": minimum, **more}


@pytest.mark.parametrize(
    ("schedules", "floor"),
    [
        ([schedule(2)], 16.0),
        ([schedule(2), schedule(1)], 16.0),
        ([schedule(2, disabled=True)], 8.0),
        ([schedule(9)], 24.0),  # never above max replicas
    ],
)
def test_schedules_raise_the_floor(schedules: list[dict[str, Any]], floor: float) -> None:
    cost = only(plan_of(entry(replicas__max=3, autoscaling__schedules=schedules))).cost
    assert cost is not None
    assert cost.floor_usd_per_hour == floor


def test_parked_and_scaled_to_zero() -> None:
    assert only(plan_of(entry(replicas__min=0, replicas__max=0))).cost == Cost(0.0, 0.0, 0.0, 0.0)
    assert only(plan_of(entry(replicas__min=0))).cost == Cost(0.0, 16.0, 0.0, 16.0)


def test_an_unknown_price_is_unknown_and_named() -> None:
    plan = plan_of(
        spec(entry("a"), entry("b", shape=MINIMAL)), prices=PriceList({"NVIDIA_H100_80GB": 8.0}, NOW.date())
    )
    assert plan.changes[1].cost == Cost(None, None, None, None)
    assert plan.cost["ceiling_usd_per_hour"] is None
    assert plan.cost["monthly_floor_usd"] is None
    assert plan.cost["unknown"] == ["b"]


def test_a_deployment_without_known_gpus_is_unknown() -> None:
    plan = plan_of(entry(without=["shape"], accept_shapeless_risk=True))
    assert plan.cost["unknown"] == ["chat"]


def test_the_shape_prices_what_the_live_object_does_not_say() -> None:
    bare = marked_row()
    del bare["accelerator_type"], bare["accelerator_count"]
    assert only(plan_of(entry(), [bare])).cost == Cost(8.0, 16.0, 0.0, 0.0)


def test_reservations_are_pooled_over_the_account_and_shown_apart() -> None:
    """12 reserved H100; 8 used elsewhere at both ends and 8 at the ceiling here: 4 overflow."""
    reservations = [
        {"accelerator_type": "NVIDIA_H100_80GB", "accelerator_count": 8, "end_time": "2027-01-01T00:00:00Z"},
        {"accelerator_type": "NVIDIA_H100_80GB", "accelerator_count": 4},
        {"accelerator_type": "NVIDIA_H100_80GB", "accelerator_count": 99, "end": "2026-01-01"},
        {"accelerator_type": "NVIDIA_A100_80GB"},
    ]
    rows = [
        row("manual", accelerator_count=8, min_replica_count=1, max_replica_count=1),
        row("x", state="DELETED"),
    ]
    prices = PriceList({"NVIDIA_H100_80GB": 8.0}, NOW.date(), {"NVIDIA_H100_80GB": 5.0})
    platform = Platform(rows, reservations=reservations)
    plan = plan_of(entry(replicas__min=1, replicas__max=8), platform, prices=prices)
    assert plan.cost["reserved"] == [
        {
            "accelerator": "NVIDIA_H100_80GB",
            "gpus": 12,
            "used_at_floor": 9,
            "used_at_ceiling": 12,
            "overflow_at_floor": 0,
            "overflow_at_ceiling": 4,
            "usd_per_hour": 60.0,
        }
    ]
    unpriced = plan_of(entry(), platform)
    assert unpriced.cost["reserved"][0]["usd_per_hour"] is None


def test_unread_reservations_and_unknown_gpus_do_not_stop_a_plan() -> None:
    platform = Platform(
        [row("odd", accelerator_type="", deployment_shape="")],
        reservations=[{"accelerator_type": "NVIDIA_H100_80GB", "accelerator_count": 1}],
    )
    assert plan_of(entry(), platform).cost["reserved"][0]["used_at_floor"] == 1


def test_a_budget_is_not_checked_where_none_is_set() -> None:
    assert check_of(plan_of(entry()), "budget") == []
