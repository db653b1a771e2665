"""From firectl's objects to live values, under the server's habits."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.live.model import Marker, Replicas
from fwctl.live.normalise import (
    account_of,
    all_tags,
    full_name,
    normalise_deployment,
    normalise_model,
    normalise_shape_version,
    shape_of,
    short_id,
)
from fwctl.redact import Secret

NAME = "accounts/acme/deployments/chat"


def fields(**raw: Any) -> dict[str, Any]:
    """The live values of an object, its replica bounds left out."""
    found = dict(normalise_deployment({"name": NAME, **raw}).fields)
    del found["replicas.min"], found["replicas.max"]
    return found


def test_names_are_taken_apart() -> None:
    live = normalise_deployment({"name": NAME})
    assert (live.name, live.deployment_id, live.account) == (NAME, "chat", "acme")
    assert account_of("chat") == ""
    assert account_of("models/x") == ""
    assert short_id("chat") == "chat"
    assert shape_of("a/s/versions/v1") == "a/s"
    assert full_name("mine", "acme") == "accounts/acme/models/mine"
    assert full_name("accounts/x/models/m", "acme") == "accounts/x/models/m"


@pytest.mark.parametrize(
    ("state", "expected"),
    [
        ("", "READY"),
        (None, "READY"),
        ("STATE_UNSPECIFIED", "READY"),
        ("FAILED", "FAILED"),
        ("NEW_ONE", "NEW_ONE"),
    ],
)
def test_a_blank_state_is_ready_and_an_unknown_one_is_carried_through(
    state: str | None, expected: str
) -> None:
    assert normalise_deployment({"name": NAME, "state": state}).state == expected


def test_zeros_and_absent_fields_are_the_same_but_replica_bounds_are_always_said() -> None:
    zeros = {
        "display_name": "",
        "precision": "PRECISION_UNSPECIFIED",
        "max_context_length": 0,
        "annotations": {},
    }
    assert fields(**zeros) == fields() == {}
    assert normalise_deployment({"name": NAME}).fields == {"replicas.min": 0, "replicas.max": 0}


@pytest.mark.parametrize(
    "window", ["300s", "5m", "5m0s", {"seconds": "300"}, {"seconds": 299, "nanos": 10**9}]
)
def test_durations_have_one_form(window: Any) -> None:
    assert fields(autoscaling_policy={"scale_up_window": window}) == {"autoscaling.scale_up_window": "5m0s"}


def test_a_zero_window_is_an_absent_one() -> None:
    assert fields(autoscaling_policy={"scale_to_zero_window": "0s"}) == {}


def test_load_targets_are_sorted_numbers() -> None:
    policy = {"load_targets": {"requests_per_second": 3, "default": "0.8"}}
    assert fields(autoscaling_policy=policy) == {
        "autoscaling.load_targets": {"default": 0.8, "requests_per_second": 3.0}
    }


@pytest.mark.parametrize(
    ("placement", "region"),
    [
        ({"multi_region": "US"}, "US"),
        ({"region": "US_IOWA_1", "multi_region": "MULTI_REGION_UNSPECIFIED"}, "US_IOWA_1"),
        ({"regions": ["US_UTAH_1", "US_IOWA_1", "REGION_UNSPECIFIED"]}, "US_IOWA_1,US_UTAH_1"),
        ("us-iowa-1", "US_IOWA_1"),
        ({"regions": [7, "US_IOWA_1"]}, "7,US_IOWA_1"),
        ({"regions": "US_IOWA_1"}, None),
        ({}, None),
        (None, None),
    ],
)
def test_placement_has_three_forms(placement: Any, region: str | None) -> None:
    assert fields(placement=placement).get("region") == region


def test_where_it_runs_now_is_kept_apart_from_where_it_may_run() -> None:
    live = normalise_deployment({"name": NAME, "placement": {"multi_region": "US"}, "region": "US_IOWA_1"})
    assert (live.fields["region"], live.running_region) == ("US", "US_IOWA_1")
    assert normalise_deployment({"name": NAME, "region": "REGION_UNSPECIFIED"}).running_region is None


def test_schedules_get_the_words_of_the_spec() -> None:
    raw = [
        {"schedule": "0 8 * * *", "timezone": "UTC", "duration": "36000s", "min_replica_count": 2},
        {"schedule": "0 20 * * *", "timezone": "UTC", "duration": "3600s", "disabled": True},
    ]
    assert fields(scaling_schedules=raw)["autoscaling.schedules"] == [
        {"cron": "0 20 * * *", "timezone": "UTC", "duration": "1h0m0s", "disabled": True, "min_replicas": 0},
        {"cron": "0 8 * * *", "timezone": "UTC", "duration": "10h0m0s", "min_replicas": 2},
    ]
    assert fields(scaling_schedules="odd") == {}
    assert fields(scaling_schedules=[{"duration": "soon"}])["autoscaling.schedules"] == [
        {"duration": "soon", "min_replicas": 0}
    ]


def test_addons_and_int64_texts() -> None:
    assert fields(enable_addons=True, max_context_length="32768") == {
        "addons.mode": "multi_lora",
        "max_context_length": 32768,
    }


def test_tags_lose_the_platforms_prefix_and_fwctls_own_are_the_marker() -> None:
    live = normalise_deployment(
        {
            "name": NAME,
            "annotations": {
                "custom/team": "search",
                "custom/fwctl.owner": "prod/chat",
                "internal": "x",
                "custom/n": 7,
            },
        }
    )
    assert live.fields["tags"] == {"team": "search", "n": "7"}
    assert live.marker == Marker("prod", "chat")
    assert all_tags(live) == {"fwctl.owner": "prod/chat", "n": "7", "team": "search"}


def test_the_description_is_the_users_and_the_marker_is_read_from_it() -> None:
    live = normalise_deployment({"name": NAME, "description": "hello [fwctl prod/chat protect]"})
    assert live.fields["description"] == "hello"
    assert live.marker == Marker("prod", "chat", protect=True)
    assert (
        "description" not in normalise_deployment({"name": NAME, "description": "[fwctl prod/chat]"}).fields
    )


def test_secrets_are_wrapped_at_once_and_nowhere_else() -> None:
    live = normalise_deployment({"name": NAME, "direct_route_api_keys": ["sk-live-secret"]})
    assert live.fields["direct_route.api_keys"] == [Secret("***", "sk-live-secret")]
    assert "sk-live-secret" not in repr(live)
    assert fields(direct_route_api_keys="odd") == {}


def test_replica_counts_of_both_places_are_read() -> None:
    live = normalise_deployment(
        {
            "name": NAME,
            "min_replica_count": 1,
            "max_replica_count": "4",
            "desired_replica_count": 3,
            "replica_stats": {
                "ready_replica_count": 2,
                "pending_scheduling_replica_count": 1,
                "downloading_model_replica_count": "x",
            },
        }
    )
    assert live.replicas == Replicas(min=1, max=4, desired=3, ready=2, pending=1)


def test_status_and_times() -> None:
    live = normalise_deployment(
        {
            "name": NAME,
            "status": {"code": "INTERNAL", "message": "boom"},
            "create_time": "2026-11-30T12:00:00Z",
            "delete_time": "2026-11-30T13:00:00",
            "purge_time": "soon",
        }
    )
    assert (live.status_code, live.status_message) == ("INTERNAL", "boom")
    assert live.created == datetime(2026, 11, 30, 12, tzinfo=UTC)
    assert live.deleted == datetime(2026, 11, 30, 13, tzinfo=UTC)
    assert live.purge is None
    assert normalise_deployment({"name": NAME}).status_code == "OK"


def test_unknown_values_are_carried_through() -> None:
    odd = fields(
        accelerator_type="NVIDIA_R900", autoscaling_policy={"scale_up_window": "soon", "load_targets": 5}
    )
    assert odd == {
        "accelerator.type": "NVIDIA_R900",
        "autoscaling.scale_up_window": "soon",
        "autoscaling.load_targets": 5,
    }


def test_a_shape_version_keeps_what_the_shape_decides() -> None:
    version = normalise_shape_version(
        {
            "name": "accounts/fireworks/deploymentShapes/s/versions/v1",
            "validated": True,
            "latest_validated": True,
            "snapshot": {
                "name": "accounts/fireworks/deploymentShapes/s",
                "base_model": "m",
                "accelerator_type": "NVIDIA_H100_80GB",
                "accelerator_count": 2,
                "precision": "FP8",
                "preset_type": "FAST",
                "display_name": "S",
                "enable_addons": True,
            },
        }
    )
    assert (version.shape, version.version) == ("accounts/fireworks/deploymentShapes/s", "v1")
    assert (version.validated, version.latest_validated, version.preset) == (True, True, "FAST")
    assert version.base_model == "m"
    assert version.snapshot == {
        "accelerator.type": "NVIDIA_H100_80GB",
        "accelerator.count": 2,
        "precision": "FP8",
        "addons.mode": "multi_lora",
    }
    assert normalise_shape_version({"name": "x"}).preset is None


def test_a_model_says_what_it_knows() -> None:
    model = normalise_model(
        {
            "name": "accounts/fireworks/models/m",
            "kind": "HF_BASE_MODEL",
            "context_length": 131072,
            "hugging_face_url": "https://huggingface.co/x/m",
            "base_model_details": {"parameter_count": "8030261248", "default_precision": "BF16"},
        }
    )
    assert (model.kind, model.parameter_count, model.context_length) == ("HF_BASE_MODEL", 8030261248, 131072)
    assert model.default_precision == "BF16"
    assert model.hugging_face_url == "https://huggingface.co/x/m"


def test_a_model_that_says_nothing_is_a_lora_without_facts() -> None:
    model = normalise_model({"peft_details": {"base_model": "b"}, "context_length": 0}, "asked")
    assert (model.name, model.kind, model.base_model) == ("asked", "HF_PEFT_ADDON", "b")
    assert (model.context_length, model.parameter_count, model.hugging_face_url) == (None, None, None)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=6,
)
KEYS = st.sampled_from(
    [
        "state",
        "description",
        "annotations",
        "status",
        "placement",
        "region",
        "autoscaling_policy",
        "scaling_schedules",
        "replica_stats",
        "min_replica_count",
        "precision",
        "base_model",
        "deployment_shape",
        "direct_route_api_keys",
        "enable_addons",
        "create_time",
        "auto_tune",
        "snapshot",
        "base_model_details",
        "peft_details",
        "draft_token_count",
    ]
)


@settings(max_examples=150, deadline=None)
@given(st.dictionaries(KEYS, JSON, max_size=6))
def test_no_object_is_refused_whatever_the_platform_sends(raw: dict[str, Any]) -> None:
    live = normalise_deployment({"name": NAME, **raw})
    assert live.deployment_id == "chat"
    normalise_shape_version({"name": "s/versions/v", **raw})
    normalise_model(raw, "m")


@pytest.mark.parametrize(("written", "meant"), [("false", False), ("true", True), (False, False), (1, True)])
def test_a_boolean_that_arrives_as_text_keeps_its_meaning(written: Any, meant: bool) -> None:
    version = normalise_shape_version(
        {"name": "accounts/f/deploymentShapes/s/versions/v", "validated": written}
    )
    assert version.validated is meant
    assert fields(preemptible=written, enable_addons=written) == (
        {"preemptible": True, "addons.mode": "multi_lora"} if meant else {}
    )
