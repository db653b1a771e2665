from __future__ import annotations

from typing import Any

import pytest

from fwctl.simulator.platform import deployments, quotas
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import World
from tests.simulator.support import BF16, FAST, MODEL_70B, SHAPES, after, create, name, world

READY_S = 70.0  # an 8B model passes its start-up stages in 10 + 28 + 27 s


def ready(profile: str = "latest", **body: Any) -> World:
    start = world(profile)
    create(start, **body)
    return after(start, READY_S)


def update(at: World, **body: Any) -> dict[str, Any]:
    return deployments.update(at, name(), body, list(body))


def refusal(at: World, **body: Any) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        update(at, **body)
    return caught.value


@pytest.mark.parametrize(
    "body",
    [
        {"minReplicaCount": 1, "maxReplicaCount": 2},
        {"displayName": "x"},
        {"description": "x"},
        {"autoscalingPolicy": {"scaleDownWindow": "60s"}},
        {"enableSessionAffinity": True},
        {"maxConcurrencyPerReplica": 5},
    ],
)
def test_scaling_and_texts_change_in_place(body: dict[str, Any]):
    at = ready()
    doc = update(at, **body)
    assert doc["state"] == "READY"
    assert all(doc[key] == value for key, value in body.items() if key != "autoscalingPolicy")


def test_one_window_leaves_the_others():
    at = ready()
    deployments.update(
        at, name(), {"autoscalingPolicy": {"scaleDownWindow": "60s"}}, ["autoscalingPolicy.scaleDownWindow"]
    )
    policy = deployments.get(at, name())["autoscalingPolicy"]
    assert (policy["scaleDownWindow"], policy["scaleUpWindow"]) == ("60s", "30s")
    assert policy["loadTargets"] == {"default": 0.8}


def test_a_masked_field_that_is_absent_is_cleared():
    at = ready(displayName="x")
    assert "displayName" not in deployments.update(at, name(), {}, ["displayName"])
    policy = deployments.update(at, name(), {}, ["autoscalingPolicy.scaleDownWindow"])["autoscalingPolicy"]
    assert policy["scaleDownWindow"] == "600s"


def test_an_empty_mask_replaces_all_mutable_fields():
    at = ready(displayName="x", minReplicaCount=1, maxReplicaCount=2)
    doc = deployments.update(at, name(), {"description": "only this"}, [])
    assert "displayName" not in doc
    assert (doc["minReplicaCount"], doc["maxReplicaCount"]) == (0, 1)
    assert doc["deploymentShape"].startswith(FAST)


def test_a_new_shape_restarts_replicas_and_brings_its_hardware():
    at = ready()
    doc = update(at, deploymentShape=BF16)
    assert (doc["state"], doc["precision"], doc["enableAddons"]) == ("UPDATING", "BF16", True)
    assert doc["replicaStats"]["readyReplicaCount"] == 1
    assert deployments.get(after(at, READY_S), name())["state"] == "READY"


def test_the_same_shape_by_name_is_no_change():
    at = ready()
    assert update(at, deploymentShape=FAST)["state"] == "READY"


def test_a_drafter_and_an_n_gram_replace_each_other():
    start = world()
    create(start, baseModel=MODEL_70B, deploymentShape=f"{SHAPES}/llama-v3p1-70b-instruct-fast")
    at = after(start, 1000)
    doc = update(at, ngramSpeculationLength=3)
    assert "draftModel" not in doc
    doc = update(after(at, 1000), draftModel="accounts/fireworks/models/llama-v3p2-1b-instruct")
    assert "ngramSpeculationLength" not in doc


def test_pins_cannot_change_under_a_shape_unless_the_profile_allows_it():
    assert "accelerator_count" in refusal(ready(), acceleratorCount=2).message
    doc = update(ready("latest,pins_on_update=allow"), acceleratorCount=2)
    assert (doc["acceleratorCount"], doc["state"]) == (2, "UPDATING")


def test_pins_beside_a_new_shape_are_refused():
    assert "cannot be specified together" in refusal(ready(), deploymentShape=BF16, precision="BF16").message


def test_the_accelerator_type_stays():
    start = world("latest,pins_on_update=allow")
    create(start, shapeless=True, acceleratorType="NVIDIA_H100_80GB")
    at = after(start, READY_S)
    assert refusal(at, acceleratorType="NVIDIA_A100_80GB").message.startswith("accelerator_type cannot be")
    allowed = at._replace(profile=world("latest,accelerator_type_update=allow").profile)
    assert update(allowed, acceleratorType="NVIDIA_A100_80GB")["state"] == "UPDATING"


def test_the_place_may_change_in_the_newest_build():
    assert update(ready(), placement={"multiRegion": "US"})["placement"] == {"multiRegion": "US"}
    assert refusal(ready("2026-07"), placement={"multiRegion": "US"}).message == "placement is immutable"


def test_immutable_and_unknown_fields_are_refused():
    assert "cannot be updated" in refusal(ready(), baseModel="x").message
    assert "cannot be updated" in refusal(ready(), preemptible=True).message


def test_rules_and_quota_hold_for_updates_too():
    at = ready()
    quotas.set_limit(at, "acme", "global--h100-count", 2)
    assert refusal(at, maxReplicaCount=3).code == "ResourceExhausted"
    assert "min_replica_count" in refusal(at, minReplicaCount=2).message
    update(at, maxReplicaCount=2)
    quotas.set_limit(at, "acme", "global--h100-count", 0)
    update(at, maxReplicaCount=1)


def test_an_update_in_flight_is_refused_where_the_profile_says_so():
    start = world("latest,update_in_flight=refuse")
    create(start)
    assert refusal(start, displayName="x").message == f"deployment {name()} is CREATING"
    start = world()
    create(start)
    assert update(start, displayName="x")["state"] == "CREATING"


def test_what_is_gone_cannot_be_changed():
    at = ready()
    deployments.delete(at, name())
    assert refusal(at, displayName="x").message == f"deployment {name()} is DELETING"
    with pytest.raises(PlatformError, match="deployment accounts/acme/deployments/no not found"):
        deployments.update(at, name("no"), {}, ["displayName"])


def test_the_other_text_of_not_found():
    with pytest.raises(PlatformError, match="deployment not found: accounts"):
        deployments.get(world("latest,error_texts=b"), name("no"))


class TestScale:
    def test_it_sets_the_count_now(self):
        at = ready(maxReplicaCount=4)
        deployments.scale(at, name(), 3)
        assert deployments.get(at, name())["desiredReplicaCount"] == 3
        deployments.scale(at, name(), 0)
        assert deployments.get(at, name())["replicaCount"] == 0

    def test_it_stays_inside_the_bounds_unless_the_profile_lets_it(self):
        with pytest.raises(PlatformError, match="replica_count must be between 0 and 1"):
            deployments.scale(ready(), name(), 2)
        with pytest.raises(PlatformError, match="non-negative"):
            deployments.scale(ready(), name(), -1)
        deployments.scale(ready("latest,scale_outside_bounds=accept"), name(), 2)

    def test_a_scaled_down_one_returns_to_zero_by_itself_only_after_the_window(self):
        at = ready(maxReplicaCount=4)
        deployments.scale(at, name(), 2)
        # 600 s to one replica, an hour after the scale call to none.
        assert deployments.get(after(at, 599), name())["replicaCount"] == 2
        assert deployments.get(after(at, 601), name())["replicaCount"] == 1
        assert deployments.get(after(at, 3601), name())["replicaCount"] == 0


class TestTags:
    def test_they_are_kept_with_a_prefix_and_shown_without(self):
        at = ready()
        assert deployments.set_tags(at, name(), {"b": "2", "a": "1"}) == {"a": "1", "b": "2"}
        assert deployments.get(at, name())["annotations"] == {"custom/b": "2", "custom/a": "1"}
        assert deployments.delete_tags(at, name(), ["a", "none"]) == {"b": "2"}

    @pytest.mark.parametrize(
        ("key", "value"),
        [("", "x"), ("a b", "x"), ("-a", "x"), ("a" * 122, "x"), ("a", " x"), ("a", "x" * 129)],
    )
    def test_bad_ones_are_refused(self, key: str, value: str):
        with pytest.raises(PlatformError, match="invalid"):
            deployments.set_tags(ready(), name(), {key: value})

    def test_the_longest_ones_are_taken(self):
        deployments.set_tags(ready(), name(), {"a" * 121: "ü" * 128, "a/b.c_d-e": "x"})
