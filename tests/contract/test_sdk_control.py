"""The official SDK (fireworks-ai 1.2.30) against the simulator: every call works, every object parses."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import fireworks
import pydantic
import pytest
from fireworks import Fireworks
from fireworks.types import (
    Account,
    Deployment,
    DeploymentShape,
    DeploymentShapeVersion,
    DeploymentShapeVersionMatchResponse,
    Model,
)
from fireworks.types.shared import DeployedModel

from fwctl.simulator.state import Store
from tests.simulator.http.support import KEY, LLAMA, MINIMAL, Sim, serving

# Fields and values of OpenAPI 5.10.0 and protos that are newer than this SDK (fireworks-schema, `since`).
NEWER_FIELDS = {
    "Deployment": {
        "annotations",
        "createdBy",
        "forTraining",
        "hotLoadTrainerJob",
        "hotLoadTransitionType",
        "maxConcurrencyPerReplica",
        "preemptible",
        "scalingSchedules",
    },
    "ReplicaStats": {"effectiveReplicaCount", "revocableReplicaCount"},
}
NEWER_VALUES = {
    "NVIDIA_B300_288GB",
    "NVIDIA_GB200",
    "NVIDIA_GB300",
    *("US_WASHINGTON_5", "US_MINNESOTA_1", "US_CALIFORNIA_2", "US_OREGON_1", "EU_NETHERLANDS_1"),
    *("NA_BRITISHCOLUMBIA_2", "NA_BRITISHCOLUMBIA_3", "AP_MALAYSIA_2", "AP_NEWSOUTHWALES_1", "AP_TAIWAN_1"),
}


@pytest.fixture(scope="module")
def sim(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Sim]:
    with serving(tmp_path_factory.mktemp("sdk")) as started:
        yield started


@pytest.fixture
def client(sim: Sim) -> Iterator[Fireworks]:
    with Fireworks(api_key=KEY, account_id="acme", base_url=sim.url, max_retries=0) as made:
        yield made


def unknown_fields(value: Any) -> Iterator[str]:
    """`Class.field` of everything in a parsed object that the SDK has no field for."""
    if isinstance(value, list):
        for item in value:
            yield from unknown_fields(item)
    if not isinstance(value, pydantic.BaseModel):
        return
    kind = type(value).__name__
    for key in value.model_extra or {}:
        if key not in NEWER_FIELDS.get(kind, set()):
            yield f"{kind}.{key}"
    for field in type(value).model_fields:
        yield from unknown_fields(getattr(value, field))


def without_newer_values(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_newer_values(item) for key, item in value.items()}
    if isinstance(value, list):
        return [without_newer_values(item) for item in value if str(item) not in NEWER_VALUES]
    return None if isinstance(value, str) and value in NEWER_VALUES else value


def parse_strictly(kind: type[pydantic.BaseModel], doc: Any) -> None:
    parsed = kind.model_validate(without_newer_values(doc))
    assert list(unknown_fields(parsed)) == []


def test_create_ready_update_scale_delete_undelete(sim: Sim, client: Fireworks) -> None:
    made = client.deployments.create(
        base_model=LLAMA,
        deployment_id="life",
        deployment_shape=MINIMAL,
        min_replica_count=1,
        max_replica_count=2,
    )
    assert (made.state, made.deployment_shape) == ("CREATING", f"{MINIMAL}/versions/h8xhvg59")
    sim.advance(600)
    ready = client.deployments.get(deployment_id="life")
    assert ready.state == "READY"
    assert ready.replica_stats is not None
    assert ready.replica_stats.ready_replica_count == 1
    changed = client.deployments.update(
        deployment_id="life",
        base_model=LLAMA,
        display_name="new name",
        extra_query={"updateMask": "display_name"},
    )
    assert (changed.display_name, changed.max_replica_count) == ("new name", 2)
    client.deployments.scale(deployment_id="life", replica_count=2)
    assert client.deployments.get(deployment_id="life").desired_replica_count == 2
    client.deployments.delete(deployment_id="life")
    sim.advance(120)
    assert client.deployments.get(deployment_id="life").state == "DELETED"
    client.deployments.undelete(deployment_id="life", body={})
    assert client.deployments.get(deployment_id="life").state == "CREATING"
    client.deployments.delete(deployment_id="life", hard=True, ignore_checks=True)


def test_205_deployments_come_in_pages_each_once(tmp_path: Path) -> None:
    """One is created, the others are copies of it in the state, each a second younger."""
    wanted = [f"page-{number:03}" for number in range(205)]
    with (
        serving(tmp_path) as sim,
        Fireworks(api_key=KEY, account_id="acme", base_url=sim.url, max_retries=0) as client,
    ):
        client.deployments.create(
            base_model=LLAMA, deployment_id=wanted[0], deployment_shape=MINIMAL, max_replica_count=0
        )
        with Store(sim.home) as store, store.write() as tx:
            first = tx.get("deployments", f"accounts/acme/deployments/{wanted[0]}")
            assert first is not None
            for number, name in enumerate(wanted[1:], 1):
                full = f"accounts/acme/deployments/{name}"
                moment = f"2026-11-30T12:{number // 60:02}:{number % 60:02}.000000Z"
                tx.put("deployments", full, first | {"name": full, "createTime": moment})
        found = [str(row.name).rsplit("/", 1)[-1] for row in client.deployments.list()]
        assert found == wanted
        page = client.deployments.list(page_size=200)
        assert len(page.deployments) == 200
        assert page.next_page_token


def test_shapes_are_matched_and_every_object_of_the_catalogue_parses(sim: Sim, client: Fireworks) -> None:
    request = {"parent": "accounts/acme", "deployment": {"base_model": LLAMA}}
    match = client.deployment_shape_versions.match(create_deployment_request=request)  # type: ignore[arg-type]
    assert match.deployment_shape_versions
    assert all(row.snapshot.base_model == LLAMA for row in match.deployment_shape_versions)
    answers = {
        Model: ("models", "/v1/accounts/fireworks/models"),
        DeploymentShape: ("deploymentShapes", "/v1/accounts/fireworks/deploymentShapes"),
        DeploymentShapeVersion: (
            "deploymentShapeVersions",
            "/v1/accounts/fireworks/deploymentShapes/-/versions",
        ),
        Account: ("accounts", "/v1/accounts"),
    }
    for kind, (key, path) in answers.items():
        rows = sim.http.get(path, params={"pageSize": 200}).json()[key]
        assert rows
        for row in rows:
            parse_strictly(kind, row)
    body = {"createDeploymentRequest": {"parent": "accounts/acme", "deployment": {"baseModel": LLAMA}}}
    parse_strictly(
        DeploymentShapeVersionMatchResponse,
        sim.http.post("/v1/accounts/acme/deploymentShapeVersions:match", json=body).json(),
    )


def test_every_deployment_parses_whatever_its_state_and_fields(sim: Sim) -> None:
    schedule = {
        "minReplicaCount": 1,
        "schedule": "0 8 * * 1-5",
        "duration": "3600s",
        "timezone": "Europe/Paris",
    }
    rows: list[dict[str, Any]] = [
        {"deploymentShape": MINIMAL},
        {"deploymentShape": MINIMAL, "enableAddons": True, "maxReplicaCount": 0},
        {
            "deploymentShape": MINIMAL,
            "displayName": "full",
            "scalingSchedules": [schedule],
            "autoscalingPolicy": {"loadTargets": {"concurrent_requests": 8, "default": 0.7}},
            "placement": {"region": "US_ILLINOIS_2"},
            "directRouteType": "INTERNET",
            "directRouteApiKeys": ["k"],
            "expireTime": "2027-01-01T00:00:00Z",
        },
        {
            "acceleratorType": "NVIDIA_H100_80GB",
            "precision": "FP8",
            "ngramSpeculationLength": 3,
            "draftTokenCount": 4,
        },
    ]
    for number, fields in enumerate(rows):
        query = {"deploymentId": f"parse-{number}"}
        if "deploymentShape" not in fields:
            query["acceptShapelessRisk"] = "true"
        answer = sim.http.post(
            "/v1/accounts/acme/deployments", params=query, json={"baseModel": LLAMA, **fields}
        )
        assert answer.status_code == 200, answer.text
        parse_strictly(Deployment, answer.json())
    sim.advance(600)
    sim.http.delete("/v1/accounts/acme/deployments/parse-0")
    page = sim.http.get("/v1/accounts/acme/deployments", params={"showDeleted": "true"}).json()
    states = {row["state"] for row in page["deployments"]}
    assert {"READY", "DELETING"} <= states
    for row in page["deployments"]:
        parse_strictly(Deployment, row)
        sim.http.delete("/v1/" + row["name"], params={"hard": "true"})


def test_an_adapter_is_loaded_and_unloaded(sim: Sim, client: Fireworks) -> None:
    client.deployments.create(
        base_model=LLAMA, deployment_id="lora", deployment_shape=MINIMAL, enable_addons=True
    )
    loaded = client.lora.load(
        model="accounts/acme/models/support-lora", deployment="accounts/acme/deployments/lora"
    )
    assert loaded.state == "DEPLOYING"
    parse_strictly(DeployedModel, sim.http.get(f"/v1/{loaded.name}").json())
    client.lora.unload(deployed_model_id=str(loaded.name).rsplit("/", 1)[-1])
    client.deployments.delete(deployment_id="lora", hard=True)


@pytest.mark.parametrize(
    ("call", "kind"),
    [
        (lambda c: c.deployments.get(deployment_id="nope"), fireworks.NotFoundError),
        (lambda c: c.deployments.create(base_model="accounts/acme/models/nope"), fireworks.NotFoundError),
        (lambda c: c.deployments.create(base_model=LLAMA), fireworks.BadRequestError),
        (lambda c: c.deployments.list(account_id="other"), fireworks.PermissionDeniedError),
        (
            lambda c: c.deployments.create(base_model=LLAMA, deployment_shape=MINIMAL, max_replica_count=900),
            fireworks.RateLimitError,
        ),
    ],
)
def test_refusals_are_the_sdk_s_own_error_classes(
    client: Fireworks, call: Any, kind: type[Exception]
) -> None:
    with pytest.raises(kind):
        call(client)


def test_an_unknown_key_is_an_authentication_error(sim: Sim) -> None:
    with (
        Fireworks(api_key="wrong", account_id="acme", base_url=sim.url, max_retries=0) as client,
        pytest.raises(fireworks.AuthenticationError),
    ):
        client.deployments.list()


def test_the_sdk_chats_and_streams_with_performance_metrics(tmp_path: Path) -> None:
    with (
        serving(tmp_path) as sim,
        Fireworks(api_key=KEY, account_id="acme", base_url=sim.url, max_retries=0) as client,
    ):
        name = sim.deploy("d1")
        messages = [{"role": "user", "content": "hello"}]
        whole = client.chat.completions.create(model=name, messages=messages, max_tokens=7)  # type: ignore[arg-type]
        assert whole.usage is not None
        assert whole.usage.completion_tokens == 7
        stream = client.chat.completions.create(
            model=name,
            messages=messages,  # type: ignore[arg-type]
            max_tokens=7,
            stream=True,
            perf_metrics_in_response=True,
        )
        chunks = list(stream)
        assert chunks[-1].perf_metrics is not None
        assert chunks[-1].perf_metrics["deployment"] == name
        text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks)
        assert text == whole.choices[0].message.content
        completion = client.completions.create(model=name, prompt="once", max_tokens=3)
        assert completion.choices[0].finish_reason == "length"


@pytest.mark.parametrize("profile", ["2025", "2026-07", "latest", "hostile"])
def test_the_life_of_a_deployment_under_every_profile(tmp_path: Path, profile: str) -> None:
    with (
        serving(tmp_path, FIRECTL_SIM_PROFILE=profile) as sim,
        Fireworks(api_key=KEY, account_id="acme", base_url=sim.url, max_retries=0) as client,
    ):
        client.deployments.create(
            base_model=LLAMA,
            deployment_id="d1",
            deployment_shape=MINIMAL.replace("minimal", "fast"),
            min_replica_count=1,
            max_replica_count=2,
        )
        sim.advance(600)
        assert client.deployments.get(deployment_id="d1").state == "READY"
        query = {"updateMask": "description,max_replica_count"}
        changed = client.deployments.update(
            deployment_id="d1", base_model=LLAMA, description="x", max_replica_count=3, extra_query=query
        )
        assert (changed.description, changed.max_replica_count, changed.min_replica_count) == ("x", 3, 1)
        answer = client.chat.completions.create(
            model="accounts/acme/deployments/d1", messages=[{"role": "user", "content": "x"}], max_tokens=1
        )
        assert answer.choices[0].finish_reason == "length"
        with pytest.raises(fireworks.BadRequestError, match="in the last hour"):
            client.deployments.delete(deployment_id="d1")
        client.deployments.delete(deployment_id="d1", ignore_checks=True)
        sim.advance(200)
        assert client.deployments.list().deployments == []
        client.deployments.undelete(deployment_id="d1", body={})
        for row in sim.http.get("/v1/accounts/acme/deployments").json()["deployments"]:
            parse_strictly(Deployment, row)
