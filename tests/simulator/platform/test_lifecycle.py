"""Times by hand: an 8B model is pending 10 s, downloads 28.03 s, initialises 27.008 s: READY at 65.04 s."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.simulator.platform import deployments, lifecycle, traffic
from fwctl.simulator.platform.errors import PlatformError
from tests.simulator.support import MODEL, NOW_S, after, create, name, world

DAY_S = 86_400


def stats(at: Any) -> dict[str, int]:
    found = deployments.get(at, name())["replicaStats"]
    return {key.removesuffix("ReplicaCount"): value for key, value in found.items() if value}


def test_a_create_passes_the_stages():
    start = world()
    create(start)
    assert stats(after(start, 9)) == {"pendingScheduling": 1}
    assert stats(after(start, 11)) == {"downloadingModel": 1}
    assert stats(after(start, 40)) == {"initializing": 1}
    assert deployments.get(after(start, 65), name())["state"] == "CREATING"
    assert stats(after(start, 66)) == {"ready": 1, "effective": 1}
    assert deployments.get(after(start, 66), name())["state"] == "READY"


def test_larger_models_take_longer_and_there_is_an_end_to_it():
    assert sum(lifecycle.stage_seconds(70_000_000_000)) == 10 + 90 + 42.5
    assert sum(lifecycle.stage_seconds(10**12)) == 10 + 260 + 145


def test_ready_may_come_before_any_replica_serves():
    start = world("latest,ready_means_serving=no")
    create(start)
    at = after(start, 10)
    assert deployments.get(at, name())["state"] == "READY"
    assert "ready" not in stats(at)


def test_a_min_0_create_may_start_nothing():
    start = world("latest,first_replica=no")
    create(start)
    at = after(start, 10)
    doc = deployments.get(at, name())
    assert (doc["state"], doc["replicaCount"]) == ("READY", 0)


def test_idle_scales_to_zero_an_hour_after_it_could_serve():
    start = world()
    create(start)
    assert deployments.get(after(start, 3660), name())["replicaCount"] == 1
    doc = deployments.get(after(start, 3670), name())
    assert (doc["state"], doc["replicaCount"], doc["desiredReplicaCount"]) == ("READY", 0, 0)


def test_seven_idle_days_delete_a_min_0_deployment():
    start = world()
    create(start)
    idle_s = 65.05 + 7 * DAY_S
    assert deployments.get(after(start, idle_s - 1), name())["state"] == "READY"
    assert deployments.get(after(start, idle_s + 1), name())["state"] == "DELETING"
    assert deployments.get(after(start, idle_s + 99), name())["state"] == "DELETED"
    assert deployments.every(after(start, idle_s + 99), "acme") == []
    with pytest.raises(PlatformError, match="not found"):
        deployments.get(after(start, idle_s + 7 * DAY_S + 1), name())


def test_traffic_and_a_floor_keep_it_alive():
    start = world()
    create(start, "kept", minReplicaCount=1)
    create(start)
    at = after(start, 6 * DAY_S)
    traffic.record(at, name(), MODEL, usage=traffic.Usage(1), load={}, for_s=1)
    later = after(start, 8 * DAY_S)
    assert deployments.get(later, name())["state"] == "READY"
    assert deployments.get(later, name("kept"))["replicaCount"] == 1


def test_a_deleted_one_holds_its_id_for_seven_days():
    start = world()
    create(start)
    at = after(start, 100)
    deployments.delete(at, name())
    doc = deployments.get(after(at, 98), name())
    assert doc["state"] == "DELETED"
    assert doc["deleteTime"] == "2026-11-30T12:01:40.000000Z"
    assert doc["purgeTime"] == "2026-12-07T12:01:40.000000Z"
    with pytest.raises(PlatformError, match="already exists"):
        create(after(at, 6 * DAY_S))
    assert [d["name"] for d in deployments.every(at, "acme", show_deleted=True)] == [name()]
    create(after(at, 7 * DAY_S))


def test_a_hard_delete_frees_the_id_after_a_moment():
    start = world()
    create(start)
    deployments.delete(start, name(), hard=True)
    with pytest.raises(PlatformError, match="already exists"):
        create(after(start, 3))
    create(after(start, 4))


def test_a_hard_delete_frees_the_id_of_a_deleted_one():
    start = world()
    create(start)
    deployments.delete(start, name())
    with pytest.raises(PlatformError, match="is already DELETING"):
        deployments.delete(start, name())
    deployments.delete(after(start, 200), name(), hard=True)
    create(after(start, 204))


def test_a_delete_within_an_hour_of_traffic_is_refused():
    start = world()
    create(start)
    at = after(start, 100)
    traffic.record(at, name(), MODEL, usage=traffic.Usage(1), load={}, for_s=1)
    with pytest.raises(PlatformError) as caught:
        deployments.delete(after(at, 3599), name())
    assert caught.value.code == "FailedPrecondition"
    assert "received inference requests in the last hour" in caught.value.message
    deployments.delete(after(at, 3599), name(), ignore_checks=True)


def test_after_an_hour_of_quiet_it_can_be_deleted():
    start = world()
    create(start)
    traffic.record(start, name(), MODEL, usage=traffic.Usage(1), load={}, for_s=1)
    deployments.delete(after(start, 3600), name())


def test_undelete_starts_it_again():
    start = world()
    create(start)
    with pytest.raises(PlatformError, match="only DELETED"):
        deployments.undelete(start, name())
    deployments.delete(start, name())
    at = after(start, 3 * DAY_S)
    doc = deployments.undelete(at, name())
    assert doc["state"] == "CREATING"
    assert "purgeTime" not in doc
    assert deployments.get(after(at, 66), name())["state"] == "READY"
    assert deployments.get(after(at, 6 * DAY_S), name())["state"] == "READY"


def test_a_failed_one_can_be_undeleted_in_old_builds_only():
    for profile, allowed in (("2025", True), ("latest", False)):
        start = world(profile)
        create(start)
        doc = deployments.stored(start, name())
        assert doc
        lifecycle.fail(doc, NOW_S, "INTERNAL", "no luck")
        start.tx.put("deployments", name(), doc)
        failed = deployments.get(start, name())
        assert (failed["state"], failed["status"]) == ("FAILED", {"code": "INTERNAL", "message": "no luck"})
        if allowed:
            assert deployments.undelete(start, name())["state"] == "CREATING"
        else:
            with pytest.raises(PlatformError, match="is FAILED"):
                deployments.undelete(start, name())


def test_an_operation_that_is_bound_to_fail_does_so_in_its_time():
    start = world()
    create(start)
    doc = deployments.stored(start, name())
    assert doc
    doc["_sim"]["op"]["fail"] = {"atS": NOW_S + 30, "code": "RESOURCE_EXHAUSTED", "message": "no capacity"}
    start.tx.put("deployments", name(), doc)
    assert deployments.get(after(start, 29), name())["state"] == "CREATING"
    late = deployments.get(after(start, 31), name())
    assert (late["state"], late["status"]["message"]) == ("FAILED", "no capacity")


def test_deleting_a_deployment_takes_its_adapters_along():
    start = world()
    create(start)
    row = {"name": "accounts/acme/deployedModels/x", "deployment": name(), "model": "m"}
    start.tx.put("deployedModels", row["name"], row)
    deployments.delete(start, name())
    assert list(start.tx.all("deployedModels")) == []


def test_reading_changes_nothing_in_the_state():
    start = world()
    create(start)
    before = start.tx.get("deployments", name())
    deployments.get(after(start, 9 * DAY_S), name())
    assert start.tx.get("deployments", name()) == before
