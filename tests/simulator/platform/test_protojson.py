from __future__ import annotations

import contextlib
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.simulator.platform import protojson, schema, wire
from fwctl.simulator.platform.errors import PlatformError


def test_both_casings_are_read():
    assert protojson.parse("Deployment", '{"min_replica_count": 1, "maxReplicaCount": "2"}') == {
        "minReplicaCount": 1,
        "maxReplicaCount": 2,
    }


def test_messages_maps_lists_and_nulls():
    text = """{"autoscalingPolicy": {"loadTargets": {"default": 1}, "scaleUpWindow": "30s"},
      "annotations": {"custom/a_b": "x"}, "directRouteApiKeys": ["k"], "displayName": null,
      "scalingSchedules": [{"schedule": "* * * * *", "duration": "300s", "minReplicaCount": 1}]}"""
    doc = protojson.parse("Deployment", text)
    assert doc["autoscalingPolicy"]["loadTargets"] == {"default": 1.0}
    assert doc["annotations"] == {"custom/a_b": "x"}
    assert "displayName" not in doc


def test_enums_by_number_and_large_numbers_as_text():
    assert protojson.parse("Deployment", '{"acceleratorType": 2}')["acceleratorType"] == "NVIDIA_H100_80GB"
    assert protojson.parse("DeploymentShape", '{"parameterCount": 5}')["parameterCount"] == "5"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{\n "nope": 1}', '(line 2:2): unknown field "nope"'),
        ('{"minReplicaCount": 1, "min_replica_count": 2}', 'duplicate field "min_replica_count"'),
        ('{"minReplicaCount": true}', "invalid value for int32 field minReplicaCount: true"),
        ('{"minReplicaCount": 1.5}', "invalid value for int32"),
        ('{"minReplicaCount": 4294967296}', "invalid value for int32"),
        ('{"minReplicaCount": "x"}', "invalid value for int32"),
        ('{"displayName": 1}', "invalid value for string field displayName: 1"),
        ('{"enableAddons": "true"}', "invalid value for bool"),
        ('{"autoscalingPolicy": {"scaleUpWindow": "5m"}}', "invalid value for duration"),
        ('{"autoscalingPolicy": {"loadTargets": {"default": true}}}', "invalid value for float"),
        ('{"autoscalingPolicy": 5}', "unexpected token 5"),
        ('{"directRouteApiKeys": "k"}', "expected a list"),
        ('{"annotations": []}', "expected an object"),
        ('{"expireTime": "soon"}', "invalid value for timestamp"),
        ('{"precision": "fp8"}', 'invalid value for enum field precision: "fp8"'),
        ("[]", "unexpected token []"),
        ("{", "syntax error"),
        ('{"a": NaN}', "syntax error"),
        ('{"displayName": "\\ud800"}', "syntax error"),
        ('{"a": ' * 70 + "1" + "}" * 70, "recursion depth"),
        ("[" * 100_000, "syntax error"),
    ],
)
def test_mistakes_are_named_with_their_place(text: str, message: str):
    with pytest.raises(PlatformError) as caught:
        protojson.parse("Deployment", text)
    assert caught.value.code == "InvalidArgument"
    assert message in caught.value.message
    assert caught.value.message.startswith("proto: ")


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=8,
)


@given(st.dictionaries(st.sampled_from(sorted(schema.fields("Deployment"))), _JSON, max_size=4))
@settings(max_examples=150)
def test_any_value_is_read_or_refused(value: dict[str, Any]):
    with contextlib.suppress(PlatformError):
        assert set(protojson.convert("Deployment", value)) <= set(value)


def test_names_convert_both_ways():
    for message in ("Deployment", "ReplicaStats", "Model", "DeploymentShape"):
        assert [schema.camel(schema.snake(field)) for field in schema.fields(message)] == list(
            schema.fields(message)
        )


def test_compact_drops_zeros_and_full_adds_them():
    doc = {"name": "n", "minReplicaCount": 0, "status": {"code": "OK", "message": ""}, "tags": [{"a": 0}]}
    assert wire.compact(doc) == {"name": "n", "status": {"code": "OK"}, "tags": [{}]}
    whole = wire.full("Deployment", {"name": "n", "scalingSchedules": [{"schedule": "* * * * *"}]})
    assert (whole["minReplicaCount"], whole["precision"], whole["displayName"]) == (
        0,
        "PRECISION_UNSPECIFIED",
        "",
    )
    assert whole["scalingSchedules"][0]["minReplicaCount"] == 0
    assert wire.full("ReplicaStats", {"readyReplicaCount": 2, "new": 1})["new"] == 1


def test_keys_of_maps_are_data():
    doc = {"annotations": {"custom/teamName": "x"}, "displayName": "y", "rows": [{"aB": 1}]}
    assert wire.snake_keys(doc) == {
        "annotations": {"custom/teamName": "x"},
        "display_name": "y",
        "rows": [{"a_b": 1}],
    }
