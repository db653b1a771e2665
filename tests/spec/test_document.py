"""The desired state as plain JSON and back."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fwctl.errors import InvalidSpecError
from fwctl.redact import Secret
from fwctl.spec.document import from_document, to_document
from fwctl.spec.model import Deployment, Spec
from tests.spec.support import HEAD, load_text, spec

FULL = spec(
    'description: "build ${env:SHA}"\n'
    "tags: {team: search}\n"
    "autoscaling: {scale_up_window: 90s, load_targets: {default: 0.8}, schedules: "
    "[{cron: '0 8 * * *', timezone: UTC, duration: 1h, min_replicas: 1, disabled: true}]}\n"
    "direct_route: {type: INTERNET, api_keys: ['${env:KEY}']}\n"
    "workload: {input_tokens: {p50: 1800, p95: 14000}, peak_rps: 1.5}\n"
    "lifecycle: {prevent_destroy: true, ignore: [description]}\n"
    'id: "chat-${env:STAGE}"',
    head=HEAD.replace(
        "deployments:", "settings: {send_pins: never, accept_unknown: [FP6]}\n"
        "budget: {floor_usd_per_hour: 80}\ndeployments:",
    ),
    region="region: US_IOWA_1",
    precision="precision: FP6",
)  # fmt: skip
ENVIRON = {"SHA": "abc", "KEY": "canary-value", "STAGE": "prod"}


def full() -> Spec:
    loaded = load_text(FULL, environ=ENVIRON)
    assert loaded.spec is not None, loaded.diagnostics
    return loaded.spec


def document() -> dict[str, Any]:
    made: dict[str, Any] = json.loads(json.dumps(to_document(full())))
    return made


def test_a_document_gives_the_same_spec_back() -> None:
    before, after = full(), from_document(document(), ENVIRON)
    assert (after.account, after.stack, after.settings, after.budget, after.sha256) == (
        before.account,
        before.stack,
        before.settings,
        before.budget,
        before.sha256,
    )
    one, two = before.deployments["chat"], after.deployments["chat"]
    assert (two.name, two.deployment_id, two.fields, two.own, two.references) == (
        one.name,
        one.deployment_id,
        one.fields,
        one.own,
        one.references,
    )
    assert two.position_of("replicas.min") == one.position_of("replicas.min")
    assert two.position_of("") == one.position_of("")
    assert to_document(after) == to_document(before)


def test_a_document_holds_references_and_no_values() -> None:
    text = json.dumps(document())
    assert "canary-value" not in text
    assert "build abc" not in text
    assert "chat-prod" not in json.dumps(document()["deployments"]["chat"]["fields"])
    assert document()["deployments"]["chat"]["references"] == ["description", "direct_route.api_keys", "id"]


def test_a_secret_is_its_reference_even_where_none_was_kept() -> None:
    secret = Secret("${env:KEY}", "canary-value")
    deployment = Deployment("chat", "chat", {"direct_route.api_keys": [secret]})
    made = to_document(Spec("acme", deployments={"chat": deployment}))
    assert made["deployments"]["chat"]["fields"] == {"direct_route.api_keys": ["${env:KEY}"]}


def test_references_are_resolved_anew() -> None:
    after = from_document(document(), {**ENVIRON, "SHA": "def", "STAGE": "test"}).deployments["chat"]
    assert after.fields["description"] == "build def"
    assert after.deployment_id == "chat-test"


@pytest.mark.parametrize("name", ["SHA", "KEY"])
def test_a_variable_that_is_gone_is_an_error(name: str) -> None:
    with pytest.raises(InvalidSpecError) as caught:
        from_document(document(), {key: value for key, value in ENVIRON.items() if key != name})
    assert caught.value.deployment == "chat"
    assert f"environment variable {name} is not set" in caught.value.message


def damaged(path: str, value: Any) -> Any:
    """The document with one place replaced; the last part may be a new key."""
    made = document()
    *parents, last = path.split("/")
    place = made
    for key in parents:
        place = place[key]
    if value is KeyError:
        del place[last]
    else:
        place[last] = value
    return made


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("account", KeyError),
        ("account", 5),
        ("account", "NO WAY"),
        ("stack", "A"),
        ("settings", []),
        ("budget", []),
        ("budget/floor_usd_per_hour", "80"),
        ("budget/floor_usd_per_hour", True),
        ("sha256", []),
        ("sha256/f0.yaml", 5),
        ("deployments", KeyError),
        ("deployments", []),
        ("deployments/chat", []),
        ("deployments/chat/fields", KeyError),
        ("deployments/chat/own", []),
        ("deployments/chat/deployment_id", 5),
        ("deployments/chat/positions", []),
        ("deployments/chat/positions/model", [1, 2]),
        ("deployments/chat/positions/model", ["a", 1, 1, 1, "x"]),
        ("deployments/chat/fields/zzz", 1),
        ("deployments/chat/fields/traffic", "batch"),
        ("deployments/chat/own/model", "accounts/a/models/b"),
        ("deployments/chat/fields/replicas.min", "1"),
        ("deployments/chat/fields/replicas.min", 1.5),
        ("deployments/chat/fields/replicas.min", None),
        ("deployments/chat/fields/replicas.min", -1),
        ("deployments/chat/fields/precision", "FP7"),
        ("deployments/chat/fields/region", {}),
        ("deployments/chat/fields/autoscaling.scale_up_window", 30),
        ("deployments/chat/fields/autoscaling.schedules", [{"cron": 5}]),
        ("deployments/chat/fields/direct_route.api_keys", ["written out"]),
        ("deployments/chat/fields/tags", {"a": 1}),
        ("deployments/chat/fields/accept_shapeless_risk", "yes"),
    ],
)  # fmt: skip
def test_a_damaged_document_is_one_error(path: str, value: Any) -> None:
    with pytest.raises(InvalidSpecError):
        from_document(damaged(path, value), ENVIRON)


@pytest.mark.parametrize("document", [None, [], "x", 5, {}, {"deployments": {}}])
def test_something_else_is_no_document(document: Any) -> None:
    with pytest.raises(InvalidSpecError):
        from_document(document, {})


def test_optional_parts_may_be_missing() -> None:
    made = document()
    for key in ("budget", "sha256"):
        del made[key]
    del made["deployments"]["chat"]["positions"]
    made["settings"]["accept_unknown"] = "FP6"
    made["deployments"]["chat"]["fields"]["precision"] = "FP8"
    after = from_document(made, ENVIRON)
    assert after.budget == {}
    assert after.deployments["chat"].position_of("model") is None
