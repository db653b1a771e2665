"""The REST control plane: spellings, errors and masks as public samples have them."""

from __future__ import annotations

import re
from pathlib import Path

import httpx
import pytest

from tests.simulator.http.support import KEY, LLAMA, MINIMAL, Sim, serving

DEPLOYMENTS = "/v1/accounts/acme/deployments"


def create(sim: Sim, query: str = "deploymentId=d1", **fields: object) -> httpx.Response:
    body = {"baseModel": LLAMA, "deploymentShape": MINIMAL, **fields}
    return sim.http.post(f"{DEPLOYMENTS}?{query}", json=body)


def error(answer: httpx.Response) -> tuple[int, int, str]:
    body = answer.json()
    assert set(body) == {"code", "message", "details"}
    assert body["details"] == []
    return answer.status_code, body["code"], body["message"]


def test_a_deployment_is_answered_in_camel_case_with_empty_values_and_microseconds(sim: Sim) -> None:
    doc = create(sim).json()
    assert doc["name"] == "accounts/acme/deployments/d1"
    assert doc["createTime"] == "2026-11-30T12:00:00.000000Z"
    assert doc["autoscalingPolicy"]["scaleToZeroWindow"] == "3600s"
    assert doc["deploymentShape"] == f"{MINIMAL}/versions/h8xhvg59"
    assert doc["displayName"] == ""
    assert doc["ngramSpeculationLength"] == 0
    assert doc["directRouteType"] == "DIRECT_ROUTE_TYPE_UNSPECIFIED"
    assert doc["deleteTime"] is None
    assert not any("_" in key for key in doc)


def test_int64_is_a_string(sim: Sim) -> None:
    model = sim.http.get("/v1/accounts/fireworks/models/llama-v3p1-8b-instruct").json()
    assert model["baseModelDetails"]["parameterCount"] == "8030261248"


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ('{"loadTargets": {"default": 1}}', 'proto: (line 1:2): unknown field "loadTargets"'),
        ('{"load_targets": {}}', 'proto: (line 1:2): unknown field "load_targets"'),
        (
            '{"baseModel": "m", "acceleratorType": "h200-141gb"}',
            'proto: (line 1:20): invalid value for enum field acceleratorType: "h200-141gb"',
        ),
    ],
)
def test_proto_errors_name_the_place_as_in_captured_answers(sim: Sim, body: str, message: str) -> None:
    answer = sim.http.post(DEPLOYMENTS, content=body)
    assert error(answer) == (400, 3, message)


def test_no_accelerator_and_no_shape_is_the_captured_refusal(sim: Sim) -> None:
    answer = sim.http.post(f"{DEPLOYMENTS}?acceptShapelessRisk=true", json={"baseModel": LLAMA})
    assert error(answer) == (400, 3, "accelerator_type must be specified for non-embeddings engines")


@pytest.mark.parametrize("body", ["{", "[]", "null", '"x"', "\x00", "9" * 5000, '{"a":' * 5000])
def test_a_body_that_is_no_message_is_one_error(sim: Sim, body: str) -> None:
    status, code, message = error(sim.http.post(DEPLOYMENTS, content=body))
    assert (status, code) == (400, 3)
    assert message.startswith(("proto:", "invalid deployment"))


def test_bytes_that_are_no_utf8_are_one_error(sim: Sim) -> None:
    assert error(sim.http.post(DEPLOYMENTS, content=b"\xff\xfe"))[:2] == (400, 3)


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer nope"}, {"authorization": f"Basic {KEY}"}])
def test_a_missing_or_unknown_key_is_unauthenticated(sim: Sim, headers: dict[str, str]) -> None:
    answer = httpx.get(f"{sim.url}{DEPLOYMENTS}", headers=headers)
    assert error(answer) == (401, 16, "API key not valid")


def test_a_readonly_key_reads_and_does_not_write(sim: Sim) -> None:
    headers = {"authorization": "Bearer fw_readonly"}
    assert sim.http.get(DEPLOYMENTS, headers=headers).status_code == 200
    answer = sim.http.post(DEPLOYMENTS, json={"baseModel": LLAMA}, headers=headers)
    assert error(answer)[:2] == (403, 7)


def test_another_account_is_forbidden(sim: Sim) -> None:
    assert error(sim.http.get("/v1/accounts/other/deployments"))[:2] == (403, 7)


def test_a_suspended_account_is_412_with_the_known_text(tmp_path: Path) -> None:
    with serving(tmp_path, FIRECTL_SIM_SUSPENDED="1") as sim:
        status, code, message = error(create(sim))
    assert (status, code) == (412, 9)
    assert message.startswith(
        "Account acme is suspended, possibly due to reaching the monthly spending limit"
    )


def test_a_duplicate_id_is_already_exists(sim: Sim) -> None:
    create(sim)
    assert error(create(sim)) == (409, 6, "deployment accounts/acme/deployments/d1 already exists")


def test_what_is_not_there_is_not_found(sim: Sim) -> None:
    assert error(sim.http.get(f"{DEPLOYMENTS}/nope"))[:2] == (404, 5)
    assert error(sim.http.get("/v1/nothing/here"))[:2] == (404, 5)


def test_too_many_gpus_are_resource_exhausted(sim: Sim) -> None:
    assert error(create(sim, maxReplicaCount=999))[:2] == (429, 8)


def test_validate_only_answers_and_stores_nothing(sim: Sim) -> None:
    assert create(sim, "deploymentId=d1&validateOnly=true").json()["state"] == "CREATING"
    assert sim.http.get(f"{DEPLOYMENTS}/d1").status_code == 404


def test_query_parameters_are_read_strictly(sim: Sim) -> None:
    answer = create(sim, "validateOnly=maybe")
    assert error(answer)[2].startswith(
        'parsing bool parameter validateOnly: strconv.ParseBool: parsing "maybe"'
    )
    assert error(sim.http.get(f"{DEPLOYMENTS}?pageSize=ten"))[:2] == (400, 3)


def test_what_only_the_server_writes_is_dropped_from_a_request(sim: Sim) -> None:
    doc = create(sim, state="READY", replicaCount=7, createdBy="somebody@example.com").json()
    assert doc["state"] == "CREATING"
    assert doc["createdBy"] == "user@example.com"


def test_an_update_changes_what_its_mask_names_in_snake_case(sim: Sim) -> None:
    create(sim, displayName="old", description="kept")
    body = {"baseModel": LLAMA, "displayName": "new", "description": "lost?"}
    doc = sim.http.patch(f"{DEPLOYMENTS}/d1?updateMask=display_name", json=body).json()
    assert (doc["displayName"], doc["description"]) == ("new", "kept")


def test_a_mask_reaches_into_the_autoscaling_policy(sim: Sim) -> None:
    create(sim)
    body = {"baseModel": LLAMA, "autoscalingPolicy": {"scaleDownWindow": "300s", "scaleUpWindow": "1s"}}
    mask = "updateMask=autoscaling_policy.scale_down_window"
    policy = sim.http.patch(f"{DEPLOYMENTS}/d1?{mask}", json=body).json()["autoscalingPolicy"]
    assert (policy["scaleDownWindow"], policy["scaleUpWindow"]) == ("300s", "30s")


def test_an_update_without_a_mask_replaces_every_mutable_field(sim: Sim) -> None:
    create(sim, displayName="old", maxReplicaCount=3)
    doc = sim.http.patch(f"{DEPLOYMENTS}/d1", json={"baseModel": LLAMA, "description": "x"}).json()
    assert (doc["displayName"], doc["description"], doc["maxReplicaCount"]) == ("", "x", 1)


def test_an_update_carries_the_base_model_and_cannot_change_it(sim: Sim) -> None:
    create(sim)
    path = f"{DEPLOYMENTS}/d1?updateMask=display_name"
    assert error(sim.http.patch(path, json={"displayName": "x"}))[:2] == (400, 3)
    other = {"baseModel": "accounts/fireworks/models/gpt-oss-20b", "displayName": "x"}
    assert "immutable" in error(sim.http.patch(path, json=other))[2]


def test_scale_delete_and_undelete(sim: Sim) -> None:
    create(sim, maxReplicaCount=3)
    assert sim.http.patch(f"{DEPLOYMENTS}/d1:scale", json={"replicaCount": 2}).json() == {}
    assert sim.http.get(f"{DEPLOYMENTS}/d1").json()["desiredReplicaCount"] == 2
    assert sim.http.delete(f"{DEPLOYMENTS}/d1").json() == {}
    sim.advance(120)
    deleted = sim.http.get(f"{DEPLOYMENTS}/d1").json()
    assert deleted["state"] == "DELETED"
    assert deleted["purgeTime"] == "2026-12-07T12:00:00.000000Z"
    assert sim.http.get(DEPLOYMENTS).json()["deployments"] == []
    assert len(sim.http.get(f"{DEPLOYMENTS}?showDeleted=true").json()["deployments"]) == 1
    assert sim.http.post(f"{DEPLOYMENTS}/d1:undelete", json={}).json()["state"] == "CREATING"


@pytest.mark.parametrize("body", [{"replicaCount": "two"}, {"replicaCount": True}, {"replicas": 2}])
def test_a_scale_body_is_read_strictly(sim: Sim, body: dict[str, object]) -> None:
    create(sim)
    assert error(sim.http.patch(f"{DEPLOYMENTS}/d1:scale", json=body))[:2] == (400, 3)


def test_a_hard_delete_frees_the_id(sim: Sim) -> None:
    create(sim)
    assert sim.http.delete(f"{DEPLOYMENTS}/d1?hard=true").status_code == 200
    sim.advance(60)
    assert create(sim).status_code == 200


def test_tags_are_annotations_with_a_prefix_and_bare_keys_are_refused(sim: Sim) -> None:
    create(sim)
    assert sim.http.post(f"{DEPLOYMENTS}/d1:setTags", json={"tags": {"team": "search"}}).status_code == 200
    assert sim.http.get(f"{DEPLOYMENTS}/d1").json()["annotations"] == {"custom/team": "search"}
    assert sim.http.post(f"{DEPLOYMENTS}/d1:deleteTags", json={"keys": ["team"]}).status_code == 200
    assert sim.http.get(f"{DEPLOYMENTS}/d1").json()["annotations"] == {}
    assert error(create(sim, "deploymentId=d2", annotations={"team": "x"}))[:2] == (403, 7)
    assert error(sim.http.post(f"{DEPLOYMENTS}/d1:setTags", json={"tags": ["x"]}))[:2] == (400, 3)
    assert error(sim.http.post(f"{DEPLOYMENTS}/d1:deleteTags", json={"keys": "x"}))[:2] == (400, 3)


def test_lists_page_by_fifty_and_count_all(sim: Sim) -> None:
    for number in range(51):
        create(sim, f"deploymentId=d{number}", maxReplicaCount=0)
    first = sim.http.get(DEPLOYMENTS).json()
    assert (len(first["deployments"]), first["totalSize"]) == (50, 51)
    second = sim.http.get(DEPLOYMENTS, params={"pageToken": first["nextPageToken"]}).json()
    assert (len(second["deployments"]), second["nextPageToken"]) == (1, "")


def test_a_filter_an_order_and_a_read_mask(sim: Sim) -> None:
    for name in ("b", "a"):
        create(sim, f"deploymentId={name}", displayName=name, maxReplicaCount=0)
    query = {"filter": 'display_name="a"', "readMask": "display_name"}
    assert sim.http.get(DEPLOYMENTS, params=query).json()["deployments"] == [
        {"name": "accounts/acme/deployments/a", "displayName": "a"}
    ]
    rows = sim.http.get(DEPLOYMENTS, params={"orderBy": "display_name"}).json()["deployments"]
    assert [row["displayName"] for row in rows] == ["a", "b"]


def test_shapes_versions_and_matches(sim: Sim) -> None:
    root = "/v1/accounts/fireworks/deploymentShapes"
    assert sim.http.get(root, params={"pageSize": 200}).json()["totalSize"] > 100
    shape = sim.http.get(f"{root}/llama-v3p1-8b-instruct-fast").json()
    assert shape["presetType"] == "FAST"
    versions = sim.http.get(f"{root}/llama-v3p1-8b-instruct-fast/versions").json()["deploymentShapeVersions"]
    assert [row["latestValidated"] for row in versions] == [False, True]
    assert sim.http.get(f"{root}/-/versions").json()["totalSize"] > 100
    latest = sim.http.get(f"{root}/llama-v3p1-8b-instruct-fast/versions/latest").json()
    assert latest == versions[1]
    asked = {"createDeploymentRequest": {"parent": "accounts/acme", "deployment": {"baseModel": LLAMA}}}
    match = sim.http.post("/v1/accounts/acme/deploymentShapeVersions:match", json=asked).json()
    assert {row["snapshot"]["baseModel"] for row in match["deploymentShapeVersions"]} == {LLAMA}
    for bad in ({}, {"createDeploymentRequest": {"deployment": {}}}):
        answer = sim.http.post("/v1/accounts/acme/deploymentShapeVersions:match", json=bad)
        assert error(answer)[:2] == (400, 3)


def test_models_are_created_changed_prepared_and_deleted(sim: Sim) -> None:
    root = "/v1/accounts/acme/models"
    body = {
        "modelId": "tuned",
        "model": {"kind": "HF_PEFT_ADDON", "peftDetails": {"baseModel": LLAMA, "r": 8}},
    }
    assert sim.http.post(root, json=body).json()["state"] == "READY"
    doc = sim.http.patch(
        f"{root}/tuned?updateMask=display_name", json={"displayName": "T", "public": True}
    ).json()
    assert (doc["displayName"], doc["public"]) == ("T", False)
    assert "accounts/acme/models/tuned" in [m["name"] for m in sim.http.get(root).json()["models"]]
    assert error(sim.http.post(f"{root}/tuned:prepare", json={"precision": "FP9"}))[:2] == (400, 3)
    assert error(sim.http.post(f"{root}/tuned:prepare", json={}))[:2] == (400, 3)
    assert sim.http.delete(f"{root}/tuned").json() == {}
    assert sim.http.get(f"{root}/tuned").status_code == 404
    assert error(sim.http.post(root, json={"model": {}}))[:2] == (400, 3)


def test_a_model_in_use_cannot_be_deleted(sim: Sim) -> None:
    sim.http.post("/v1/accounts/acme/models", json={"modelId": "own", "model": {"kind": "CUSTOM_MODEL"}})
    answer = sim.http.delete("/v1/accounts/acme/models/own")
    assert answer.status_code == 200
    create(sim, baseModel="accounts/acme/models/support-lora")
    answer = sim.http.delete("/v1/accounts/acme/models/support-lora")
    assert error(answer) == (400, 9, "cannot delete model with active deployments")


def test_an_adapter_is_loaded_listed_changed_and_unloaded(sim: Sim) -> None:
    create(sim, enableAddons=True)
    body = {"model": "support-lora", "deployment": "d1"}
    loaded = sim.http.post("/v1/accounts/acme/deployedModels", json=body).json()
    assert loaded["state"] == "DEPLOYING"
    sim.advance(60)
    path = "/v1/" + loaded["name"]
    assert sim.http.get(path).json()["state"] == "DEPLOYED"
    assert (
        sim.http.patch(f"{path}?updateMask=display_name", json={"displayName": "S"}).json()["displayName"]
        == "S"
    )
    assert sim.http.get("/v1/accounts/acme/deployedModels").json()["totalSize"] == 1
    assert sim.http.delete(path).json() == {}
    assert error(sim.http.post("/v1/accounts/acme/deployedModels", json={"model": "x"}))[:2] == (400, 3)


def test_quotas_count_accelerators_times_max_replicas(sim: Sim) -> None:
    create(sim, maxReplicaCount=3)
    quota = sim.http.get("/v1/accounts/acme/quotas/global--a100-count").json()
    assert (quota["usage"], quota["value"]) == (3, 16)
    names = [row["name"] for row in sim.http.get("/v1/accounts/acme/quotas").json()["quotas"]]
    assert "accounts/acme/quotas/monthly-spend-usd" in names
    changed = sim.http.patch("/v1/accounts/acme/quotas/monthly-spend-usd", json={"value": "100"}).json()
    assert changed["value"] == 100
    assert error(sim.http.patch("/v1/accounts/acme/quotas/monthly-spend-usd", json={}))[:2] == (400, 3)


def test_accounts_show_the_caller_s_own(sim: Sim) -> None:
    assert [row["name"] for row in sim.http.get("/v1/accounts").json()["accounts"]] == ["accounts/acme"]
    assert sim.http.get("/v1/accounts/acme").json()["suspendState"] == "UNSUSPENDED"


def test_a_random_id_has_eight_letters_or_digits(sim: Sim) -> None:
    name = sim.http.post(DEPLOYMENTS, json={"baseModel": LLAMA, "deploymentShape": MINIMAL}).json()["name"]
    assert re.fullmatch(r"accounts/acme/deployments/[a-z0-9]{8}", name)


def test_firectl_sim_and_the_server_share_one_state(sim: Sim) -> None:
    create(sim)
    from fwctl.simulator.control import status

    assert status(sim.home)["resources"]["deployments"] == 1
