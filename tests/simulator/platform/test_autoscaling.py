from __future__ import annotations

from typing import Any

import pytest

from fwctl.simulator.platform import autoscaling, deployments, traffic
from fwctl.simulator.platform.world import World
from tests.simulator.support import after, create, name, world

READY_S = 66.0


def loaded(at: World, **load: float) -> World:
    """The load of the deployment from this moment on."""
    doc = deployments.stored(at, name())
    assert doc
    traffic.set_load(doc, load, at.now, until_s=None, served=True)
    at.tx.put("deployments", name(), doc)
    return at


def replicas(at: World) -> int:
    return int(deployments.get(at, name())["replicaCount"])


@pytest.mark.parametrize(
    ("targets", "load", "count"),
    [
        ({"default": 0.8}, {"concurrent_requests": 25}, 1),  # 32 x 0.8 = 25.6 requests a replica
        ({"default": 0.8}, {"concurrent_requests": 26}, 2),
        ({"concurrent_requests": 5}, {"concurrent_requests": 26}, 6),
        ({"requests_per_second": 2, "default": 0.8}, {"requests_per_second": 7, "concurrent_requests": 1}, 4),
        ({"tokens_generated_per_second": 100}, {"concurrent_requests": 50}, 1),
        ({"default": 0.8}, {}, 0),
        ({"default": 0.8}, {"concurrent_requests": 0}, 0),
        ({}, {"concurrent_requests": 52}, 3),
    ],
)
def test_the_highest_count_over_all_targets_wins(targets: Any, load: dict[str, float], count: int):
    assert autoscaling.required({"autoscalingPolicy": {"loadTargets": targets}}, load) == count


def test_the_limit_of_a_replica_is_its_capacity():
    assert autoscaling.required({"maxConcurrencyPerReplica": 10}, {"concurrent_requests": 9}) == 2


def test_load_adds_replicas_after_the_window_up_to_the_maximum():
    start = world()
    create(start, maxReplicaCount=3, autoscalingPolicy={"loadTargets": {"concurrent_requests": 5}})
    at = loaded(after(start, READY_S), concurrent_requests=40)
    assert replicas(after(at, 29)) == 1
    assert replicas(after(at, 31)) == 3
    doc = deployments.get(after(at, 31), name())
    assert doc["replicaStats"]["pendingSchedulingReplicaCount"] == 2
    assert deployments.get(after(at, 31 + READY_S), name())["replicaStats"]["readyReplicaCount"] == 3


def test_less_load_removes_replicas_after_the_window():
    start = world()
    create(start, maxReplicaCount=3, autoscalingPolicy={"loadTargets": {"concurrent_requests": 5}})
    at = after(loaded(after(start, READY_S), concurrent_requests=15), 1000)
    assert replicas(at) == 3
    at = loaded(at, concurrent_requests=6)
    assert replicas(after(at, 599)) == 3
    assert replicas(after(at, 601)) == 2


def test_no_load_goes_to_one_and_then_to_zero():
    start = world()
    create(start, maxReplicaCount=3, autoscalingPolicy={"loadTargets": {"concurrent_requests": 5}})
    at = after(loaded(after(start, READY_S), concurrent_requests=15), 1000)
    at = loaded(at)
    assert replicas(after(at, 601)) == 1
    assert replicas(after(at, 3599)) == 1
    assert replicas(after(at, 3601)) == 0


def test_the_floor_is_kept():
    start = world()
    create(start, minReplicaCount=2, maxReplicaCount=3)
    assert replicas(start) == 2
    assert replicas(after(start, 86_400)) == 2


def test_a_raised_floor_and_a_lowered_ceiling_act_at_once():
    start = world()
    create(start, maxReplicaCount=4)
    deployments.update(start, name(), {"minReplicaCount": 3}, ["minReplicaCount"])
    assert replicas(start) == 3
    deployments.update(
        start, name(), {"minReplicaCount": 0, "maxReplicaCount": 0}, ["minReplicaCount", "maxReplicaCount"]
    )
    assert replicas(start) == 0


def test_a_window_of_zero_seconds_for_scaling_to_zero_means_the_default():
    assert (
        autoscaling.window_s({"autoscalingPolicy": {"scaleToZeroWindow": "0s"}}, "scaleToZeroWindow") == 3600
    )
    assert autoscaling.window_s({"autoscalingPolicy": {"scaleUpWindow": "0s"}}, "scaleUpWindow") == 0
    assert autoscaling.window_s({}, "scaleDownWindow") == 600


def test_a_reported_load_ends_by_itself():
    start = world()
    create(start, maxReplicaCount=3, autoscalingPolicy={"loadTargets": {"concurrent_requests": 5}})
    at = after(start, READY_S)
    traffic.record(at, name(), "m", usage=traffic.Usage(1), load={"concurrent_requests": 15}, for_s=60)
    assert replicas(after(at, 59)) == 3
    assert replicas(after(at, 60 + 601)) == 1


def test_a_schedule_raises_the_floor_while_its_window_is_open():
    start = world()  # Monday 2026-11-30, 12:00 UTC
    row = {"schedule": "0 14 * * 1", "duration": "3600s", "minReplicaCount": 3}
    create(start, maxReplicaCount=4, scalingSchedules=[row])
    assert replicas(after(start, 2 * 3600 - 60)) == 0
    assert replicas(after(start, 2 * 3600 + 60)) == 3
    assert replicas(after(start, 3 * 3600 + 60)) == 3
    assert replicas(after(start, 3 * 3600 + 3660)) == 0


def test_a_disabled_schedule_does_nothing():
    start = world()
    row = {"schedule": "* * * * *", "duration": "3600s", "minReplicaCount": 3, "disabled": True}
    create(start, maxReplicaCount=4, scalingSchedules=[row])
    assert replicas(after(start, 60)) == 1
