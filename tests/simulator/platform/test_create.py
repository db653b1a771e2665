from __future__ import annotations

from typing import Any

import pytest

from fwctl.simulator.platform import deployments, models, quotas
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.placing import CreateOptions
from tests.simulator.support import BF16, FAST, MODEL, MODEL_70B, NOW, SHAPES, after, create, name, world


def refusal(start: Any, **body: Any) -> PlatformError:
    with pytest.raises(PlatformError) as caught:
        create(start, **body)
    return caught.value


def test_the_shape_name_becomes_its_version_and_brings_the_hardware():
    doc = create(world())
    assert doc["deploymentShape"].startswith(f"{FAST}/versions/")
    assert (doc["acceleratorType"], doc["acceleratorCount"], doc["precision"]) == (
        "NVIDIA_H100_80GB",
        1,
        "FP8",
    )


def test_defaults_are_filled_in():
    doc = create(world())
    assert (doc["minReplicaCount"], doc["maxReplicaCount"]) == (0, 1)
    assert doc["placement"] == {"multiRegion": "GLOBAL"}
    assert doc["autoscalingPolicy"] == {
        "scaleUpWindow": "30s",
        "scaleDownWindow": "600s",
        "scaleToZeroWindow": "3600s",
        "loadTargets": {"default": 0.8},
    }
    assert doc["createTime"] == NOW.replace("Z", ".000000Z")
    assert (doc["createdBy"], doc["state"]) == ("user@example.com", "CREATING")


def test_a_random_id_has_eight_characters():
    doc = deployments.create(
        world()._replace(seed=1),
        "acme",
        {"baseModel": MODEL, "deploymentShape": FAST},
        CreateOptions(),
    )
    assert len(doc["name"].rsplit("/", 1)[1]) == 8


def test_max_replicas_follow_min_unless_the_profile_says_zero():
    assert create(world(), minReplicaCount=3)["maxReplicaCount"] == 3


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("fast", "llama-v3p1-8b-instruct-fast"),
        ("throughput", "llama-v3p1-8b-instruct-throughput"),
        ("minimal", "llama-v3p1-8b-instruct-minimal"),
        ("cost", "llama-v3p1-8b-instruct-minimal"),
        ("default", "llama-v3p1-8b-instruct-minimal"),
        ("llama-v3p1-8b-instruct-bf16", "llama-v3p1-8b-instruct-bf16"),
        (f"{BF16}/versions/latest", "llama-v3p1-8b-instruct-bf16"),
    ],
)
def test_short_forms_of_a_shape(text: str, shape: str):
    assert create(world(), deploymentShape=text)["deploymentShape"].startswith(f"{SHAPES}/{shape}/versions/")


def test_default_avoids_shapes_that_contradict_the_request():
    doc = create(
        world("2025"), deploymentShape="default", acceleratorType="NVIDIA_H100_80GB", precision="BF16"
    )
    assert doc["deploymentShape"].startswith(BF16)


def test_default_names_the_fields_and_shapes_when_none_agrees():
    error = refusal(world("2025"), deploymentShape="default", acceleratorType="NVIDIA_B200_180GB")
    assert "acceleratorType" in error.message
    assert FAST in error.message


def test_a_draft_model_comes_with_the_shape():
    doc = create(world(), baseModel=MODEL_70B, deploymentShape=f"{SHAPES}/llama-v3p1-70b-instruct-fast")
    assert doc["draftModel"] == "accounts/fireworks/models/llama-v3p2-1b-instruct"
    assert doc["draftTokenCount"] == 4


def test_own_speculation_replaces_the_shapes():
    doc = create(
        world(),
        baseModel=MODEL_70B,
        deploymentShape=f"{SHAPES}/llama-v3p1-70b-instruct-fast",
        ngramSpeculationLength=3,
        draftTokenCount=8,
    )
    assert "draftModel" not in doc
    assert (doc["ngramSpeculationLength"], doc["draftTokenCount"]) == (3, 8)


def test_speculation_can_be_turned_off_at_create_only():
    doc = deployments.create(
        world(),
        "acme",
        {"baseModel": MODEL_70B, "deploymentShape": "fast"},
        CreateOptions(deployment_id="x", disable_speculative_decoding=True),
    )
    assert "draftModel" not in doc


PINS = {"acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 1, "precision": "FP8"}


@pytest.mark.parametrize("answer", ["accept", "equal"])
@pytest.mark.parametrize("pin", PINS)
def test_equal_pins_beside_a_shape_are_accepted_where_the_profile_says_so(answer: str, pin: str):
    doc = create(world(f"latest,pins_with_shape={answer}"), **{pin: PINS[pin]})
    assert doc[pin] == PINS[pin]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [("a", "precision cannot be specified together"), ("b", "deployment_shape conflicts with precision")],
)
def test_pins_beside_a_shape_are_refused_in_the_latest_build(texts: str, expected: str):
    error = refusal(world(f"latest,error_texts={texts}"), precision="FP8")
    assert error.code == "InvalidArgument"
    assert expected in error.message


def test_a_different_pin_is_refused_or_wins():
    assert refusal(world("latest,pins_with_shape=equal"), precision="BF16").code == "InvalidArgument"
    assert create(world("latest,pins_with_shape=accept"), precision="BF16")["precision"] == "BF16"


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ({"minReplicaCount": 3, "maxReplicaCount": 2}, "min_replica_count cannot be greater"),
        ({"maxReplicaCount": 1001}, "max_replica_count must be between 0 and 1000"),
        ({"minReplicaCount": -1}, "min_replica_count must be between"),
        ({"maxConcurrencyPerReplica": -1}, "max_concurrency_per_replica must be greater"),
        ({"maxReplicaCount": 3, "maxWithRevocableReplicaCount": 2}, "max_with_revocable_replica_count"),
        ({"displayName": "x" * 64}, "fewer than 64 characters"),
        ({"description": "x" * 1000}, "at most 999"),
        (
            {"autoscalingPolicy": {"scaleToZeroWindow": "299s"}},
            "scale_to_zero_window must be at least 5 minutes",
        ),
        ({"autoscalingPolicy": {"scaleUpWindow": "3601s"}}, "scale_up_window must be between"),
        ({"autoscalingPolicy": {"loadTargets": {"gpu": 1.0}}}, 'unknown load target key ""gpu""'),
        ({"autoscalingPolicy": {"loadTargets": {"default": 0}}}, "must be greater than 0"),
        ({"draftModel": MODEL}, "draft_token_count must be specified"),
        ({"draftModel": MODEL, "ngramSpeculationLength": 2, "draftTokenCount": 2}, "cannot both be set"),
        ({"draftModel": "accounts/acme/models/none", "draftTokenCount": 2}, "not found"),
        ({"placement": {"region": "US_IOWA_1", "multiRegion": "US"}}, "exactly one of placement"),
        ({"directRouteType": "INTERNET"}, "one single region"),
        ({"placement": {"region": "US_OHIO_1"}}, "NVIDIA_H100_80GB is not available in region US_OHIO_1"),
        ({"maxContextLength": 200_000}, "max_context_length is above the model's 131072"),
        ({"enableHotLoad": True, "hotLoadBucketType": "S3"}, "hot_load_bucket_url is required"),
        ({"deploymentShape": f"{SHAPES}/gpt-oss-120b-fast"}, "is for base model"),
        ({"deploymentShape": f"{SHAPES}/none"}, "does not exist or you do not have access"),
        ({"deploymentShape": "none-such"}, "does not exist or you do not have access"),
        ({"deploymentShape": f"{FAST}/versions/none"}, "not found"),
        ({"deploymentShape": "accounts/fireworks/models/x"}, "invalid deployment shape name"),
        ({"baseModel": ""}, "base_model is required"),
        ({"baseModel": "accounts/acme/models/none"}, "model accounts/acme/models/none not found"),
        ({"baseModel": "accounts/fireworks/models/falcon-7b", "deploymentShape": "fast"}, "preset FAST"),
        ({"annotations": {"custom/a": ""}}, 'invalid value of tag "a"'),
        ({"annotations": {"custom/-a": "x"}}, 'invalid tag key "-a"'),
        ({"annotations": {f"custom/k{i}": "v" for i in range(65)}}, "at most 64 tags"),
    ],
)
def test_a_broken_rule_is_refused_and_named(body: dict[str, Any], text: str):
    start = world()
    assert text in refusal(start, **body).message
    assert deployments.every(start, "acme") == []


@pytest.mark.parametrize("deployment_id", ["Chat", "a.b", "-a", "a-", "", "x" * 64, "a_b"])
def test_ids_are_checked(deployment_id: str):
    if deployment_id:
        with pytest.raises(PlatformError, match="invalid deployment ID"):
            create(world(), deployment_id)
    create(world(), "x" * 63)


def test_bare_annotation_keys_are_forbidden():
    assert refusal(world(), annotations={"team": "x"}).code == "PermissionDenied"


def test_a_pinned_version_must_be_validated():
    newest = next(
        doc["name"]
        for doc in world().catalogue.shape_versions(f"{SHAPES}/llama-v3p1-70b-instruct-fast")
        if not doc["validated"]
    )
    assert "not validated" in refusal(world(), baseModel=MODEL_70B, deploymentShape=newest).message
    options = CreateOptions(deployment_id="x", skip_shape_validation=True)
    body = {"baseModel": MODEL_70B, "deploymentShape": newest}
    assert deployments.create(world(), "acme", body, options)["deploymentShape"] == newest


class TestWithoutShape:
    def test_it_needs_the_risk_flag_since_september_2026(self):
        options = CreateOptions(deployment_id="x")
        body = {"baseModel": MODEL, "acceleratorType": "NVIDIA_H100_80GB"}
        for texts in ("a", "b"):
            with pytest.raises(PlatformError, match="accept_shapeless_risk"):
                deployments.create(world(f"latest,error_texts={texts}"), "acme", body, options)
        assert deployments.create(world("2026-07"), "acme", body, options)["precision"] == "BF16"

    def test_the_flag_excludes_a_shape(self):
        options = CreateOptions(deployment_id="x", accept_shapeless_risk=True)
        with pytest.raises(PlatformError, match="cannot both be set"):
            deployments.create(world(), "acme", {"baseModel": MODEL, "deploymentShape": FAST}, options)

    def test_precision_and_count_are_the_models_and_the_estimate(self):
        doc = create(world(), shapeless=True, acceleratorType="NVIDIA_H100_80GB", baseModel=MODEL_70B)
        # 70.6e9 parameters x 2 bytes x 1.2 = 169.3 GB over 72 GB usable: 3, next power of two 4.
        assert (doc["precision"], doc["acceleratorCount"]) == ("BF16", 4)

    def test_the_models_default_drafter_is_inherited(self):
        doc = create(world(), shapeless=True, acceleratorType="NVIDIA_H100_80GB", baseModel=MODEL_70B)
        assert doc["draftTokenCount"] == 4

    def test_weights_that_cannot_fit_are_refused(self):
        body = {"baseModel": MODEL_70B, "acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 1}
        assert "too small for model" in refusal(world(), shapeless=True, **body).message
        create(world(), shapeless=True, disableDeploymentSizeValidation=True, **body)

    def test_an_odd_count_is_an_internal_error(self):
        body = {"acceleratorType": "NVIDIA_H100_80GB", "acceleratorCount": 3}
        assert refusal(world(), shapeless=True, **body).code == "Internal"

    def test_a_precision_the_model_lacks_is_refused(self):
        body = {"baseModel": "accounts/fireworks/models/gpt-oss-20b", "acceleratorType": "NVIDIA_H100_80GB"}
        assert "prepare the model first" in refusal(world(), shapeless=True, precision="BF16", **body).message

    def test_an_embedding_model_needs_no_accelerator_type(self):
        doc = create(world(), shapeless=True, baseModel="accounts/fireworks/models/qwen3-embedding-8b")
        assert doc["acceleratorType"] == "NVIDIA_H100_80GB"

    def test_an_unspecified_accelerator_is_an_internal_error(self):
        error = refusal(world(), shapeless=True, acceleratorType="ACCELERATOR_TYPE_UNSPECIFIED")
        assert error.code == "Internal"


class TestAddons:
    def test_16_bit_shapes_take_them(self):
        assert create(world(), deploymentShape=BF16)["enableAddons"] is True

    def test_quantised_precisions_refuse_them_since_september(self):
        error = refusal(world(), enableAddons=True)
        assert error.message == "addons cannot be enabled with quantized precisions (FP8/FP4)"
        assert create(world("2026-07"), enableAddons=True)["enableAddons"] is True

    def test_a_quantised_drafter_refuses_them_too(self):
        body = {
            "baseModel": "accounts/fireworks/models/qwen3-14b",
            "deploymentShape": f"{SHAPES}/qwen3-14b-bf16",
            "draftModel": "accounts/fireworks/models/qwen3-8b",
            "draftTokenCount": 2,
        }
        assert refusal(world(), **body).message.startswith("draft model precision validation failed: addons")


class TestRightsAndLimits:
    def test_a_taken_id_is_refused_as_seen(self):
        start = world()
        create(start)
        error = refusal(start)
        assert (error.code, error.message) == ("AlreadyExists", f"deployment {name()} already exists")

    def test_a_read_only_key_cannot_create(self):
        assert refusal(world(role="readonly")).code == "PermissionDenied"

    def test_another_account_is_out_of_reach(self):
        with pytest.raises(PlatformError, match="does not have access to account other"):
            deployments.create(world(), "other", {}, CreateOptions())
        with pytest.raises(PlatformError, match="does not have access to account other"):
            deployments.every(world(), "other")

    def test_a_suspended_account_cannot_create(self):
        error = refusal(world()._replace(suspended=True))
        assert error.code == "FailedPrecondition"
        assert error.message.startswith("Account acme is suspended, possibly due to reaching")

    def test_preemptible_needs_an_admin_key(self):
        assert refusal(world(role="user"), preemptible=True).code == "PermissionDenied"
        assert create(world(), preemptible=True)["preemptible"] is True

    def test_the_quota_counts_accelerators_times_max_replicas(self):
        start = world()
        quotas.set_limit(start, "acme", "global--h100-count", 8)
        create(start, "a", maxReplicaCount=7)
        error = refusal(start, maxReplicaCount=2)
        assert error.code == "ResourceExhausted"
        assert error.message == "quota global--h100-count exceeded: requested 2, available 1"
        create(start, "b", maxReplicaCount=1)

    def test_the_other_text_of_the_quota_error(self):
        start = world("latest,error_texts=b")
        quotas.set_limit(start, "acme", "global--h100-count", 1)
        assert "insufficient quota" in refusal(start, maxReplicaCount=2).message

    def test_a_parked_deployment_needs_no_quota(self):
        start = world()
        quotas.set_limit(start, "acme", "global--h100-count", 0)
        assert create(start, maxReplicaCount=0)["replicaCount"] == 0

    def test_a_private_model_of_another_account_is_not_found(self):
        start = world()
        start.tx.put(
            "models", "accounts/other/models/m", {"name": "accounts/other/models/m", "public": False}
        )
        assert refusal(start, baseModel="accounts/other/models/m").code == "NotFound"


def test_validate_only_stores_nothing():
    start = world()
    options = CreateOptions(deployment_id="x", validate_only=True)
    doc = deployments.create(start, "acme", {"baseModel": MODEL, "deploymentShape": FAST}, options)
    assert doc["name"] == name("x")
    assert deployments.every(start, "acme") == []


def test_a_region_of_any_spelling_is_placed():
    from fwctl.simulator.platform.validation import placement

    assert placement("us-iowa-1", ()) == {"region": "US_IOWA_1"}
    assert placement("Global", ()) == {"multiRegion": "GLOBAL"}
    assert placement("xx_new_1", ["XX_NEW_1"]) == {"region": "XX_NEW_1"}
    with pytest.raises(PlatformError, match='unknown region "mars"'):
        placement("mars", ())


def test_the_present_region_is_inside_the_placement():
    assert create(world(), placement={"multiRegion": "EUROPE"})["region"] == "EU_FRANKFURT_1"
    assert create(world(), placement={"regions": ["US_TEXAS_2"]})["region"] == "US_TEXAS_2"


def test_residency_limits_the_placement():
    start = world()
    start.tx.set_meta("residency/acme", "EU")
    assert "residency area EU" in refusal(start).message
    create(start, "a", placement={"multiRegion": "EUROPE"})
    create(start, "b", placement={"region": "EU_FRANKFURT_1"})


def test_an_unset_region_may_take_a_default_one():
    start = world("latest,region_unset=default_region")
    assert create(start)["placement"] == {"region": "US_IOWA_1"}


def test_a_direct_route_gets_a_host_and_its_keys_are_not_stored_in_clear():
    start = world()
    doc = create(
        start,
        placement={"region": "US_ARIZONA_1"},
        directRouteType="INTERNET",
        directRouteApiKeys=["canary-key"],
    )
    assert doc["directRouteHandle"] == "acme.us-arizona-1.direct.fireworks.ai"
    assert doc["directRouteApiKeys"] == ["canary-key"]
    assert "canary-key" not in str(start.tx.get("deployments", name()))
    assert deployments.get(after(start, 5), name())["directRouteApiKeys"] == ["canary-key"]


def test_a_lora_deploys_as_a_live_merge_on_its_bases_shape():
    doc = create(world(), baseModel="accounts/acme/models/support-lora")
    assert doc["deploymentShape"].startswith(FAST)


def test_full_weights_of_the_same_architecture_use_the_shape():
    start = world()
    base = models.get(start, MODEL)
    models.create(start, "acme", "mine", {}, base=base)
    assert create(start, baseModel="accounts/acme/models/mine")["deploymentShape"].startswith(FAST)
    models.create(start, "acme", "other", {}, base=models.get(start, MODEL_70B))
    assert "is for base model" in refusal(start, baseModel="accounts/acme/models/other").message
