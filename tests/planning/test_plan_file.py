"""Plan files: no secret in them, read strictly, recomputed and compared."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.errors import InvalidSpecError, StalePlanError
from fwctl.exitcodes import Exit
from fwctl.planning.digest import digest
from fwctl.planning.document import has_changes, plan_to_json
from fwctl.planning.options import PlanOptions
from fwctl.planning.plan_file import LARGEST_BYTES, Inputs, StoredPlan, dumps, loads
from fwctl.planning.stale import moved, require_digest, require_same
from fwctl.records.lockfile import LockedShape, LockFile
from fwctl.spec.load import load
from fwctl.spec.model import Evidence, Spec
from tests.planning.support import (
    CAPS,
    FAST,
    MODEL,
    NOW,
    PRICES,
    V1,
    V2,
    Platform,
    entry,
    live_of,
    marked_row,
    plan_of,
    spec,
)

YAML = """\
apiVersion: fwctl/v1
account: acme
stack: prod
budget: {ceiling_usd_per_hour: 100}
deployments:
  chat:
    model: accounts/fireworks/models/llama-v3p1-8b-instruct
    shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast
    accelerator: {type: NVIDIA_H100_80GB, count: 1}
    precision: FP8
    region: US_IOWA_1
    replicas: {min: 1, max: 2}
    traffic: batch
    description: "made for ${env:TEAM}"
    direct_route: {type: INTERNET, api_keys: ["${env:DIRECT_ROUTE_KEY}"]}
"""
CANARY = "sk-canary-0123456789"
ENVIRON = {"DIRECT_ROUTE_KEY": CANARY, "TEAM": "search"}
VERSIONS = {"fwctl": "1.0.0", "firectl": "1.8.9"}
LOCK = LockFile(shapes={FAST: LockedShape(V1, MODEL, "FP8", {"precision": "FP8"})})


@pytest.fixture
def wanted(tmp_path: Path) -> Spec:
    (tmp_path / "chat.yaml").write_text(YAML)
    loaded = load([tmp_path / "chat.yaml"], environ=ENVIRON, need_secrets=True)
    assert loaded.spec is not None, loaded.diagnostics
    return loaded.spec


def inputs_of(wanted: Spec, **options: Any) -> Inputs:
    return Inputs(
        wanted,
        PlanOptions(**options),
        PRICES,
        {"chat": {"verdict": "fits", "evidence": "config"}},
        Evidence(tested_replicas={"chat": 2}, evaluated={"chat": True}, conversations={"chat": 1.5}),
        LOCK,
    )


def plan_with(inputs: Inputs, platform: Platform) -> Any:
    return inputs.plan(live_of(platform, inputs.spec), caps=CAPS, now=NOW)


def stored(inputs: Inputs, platform: Platform) -> StoredPlan:
    plan = plan_with(inputs, platform)
    return loads(dumps(plan, inputs, created=NOW, versions=VERSIONS), "plan.json")


def test_a_plan_file_gives_back_the_plan_and_everything_it_came_from(wanted: Spec) -> None:
    inputs = inputs_of(wanted, prune=True, allow_delete=("old",), max_deletes=3)
    platform = Platform()
    plan = plan_with(inputs, platform)
    read = stored(inputs, platform)
    assert read.plan == json.loads(json.dumps(plan_to_json(plan)))
    assert read.digest == digest(plan)
    assert (read.created, dict(read.versions)) == (NOW, VERSIONS)
    assert read.spec_sha256 == wanted.sha256
    again = read.inputs(ENVIRON)
    assert again.options == inputs.options
    assert (again.evidence, again.lock, again.fit) == (inputs.evidence, inputs.lock, inputs.fit)
    assert dict(again.prices.usd_per_gpu_hour) == dict(PRICES.usd_per_gpu_hour)
    assert digest(plan_with(again, platform)) == read.digest


def test_a_plan_file_holds_no_secret_and_no_resolved_reference(wanted: Spec) -> None:
    inputs = inputs_of(wanted)
    text = dumps(plan_with(inputs, Platform()), inputs, created=NOW, versions=VERSIONS)
    assert CANARY not in text
    assert "${env:DIRECT_ROUTE_KEY}" in text
    assert "${env:TEAM}" in text


def test_references_are_resolved_where_the_plan_is_applied(wanted: Spec) -> None:
    read = stored(inputs_of(wanted), Platform())
    fields = read.inputs({**ENVIRON, "TEAM": "infra"}).spec.deployments["chat"].fields
    assert fields["description"] == "made for infra"
    with pytest.raises(InvalidSpecError):
        read.inputs({"TEAM": "infra"})


def test_two_rotations_of_one_secret_share_a_digest(wanted: Spec) -> None:
    read = stored(inputs_of(wanted), Platform())
    rotated = read.inputs({**ENVIRON, "DIRECT_ROUTE_KEY": "sk-another-0123456789"})
    assert digest(plan_with(rotated, Platform())) == read.digest


def test_a_plan_without_a_lock_says_so(wanted: Spec) -> None:
    inputs = Inputs(wanted, PlanOptions(), PRICES)
    assert stored(inputs, Platform()).inputs(ENVIRON).lock is None


def document(wanted: Spec) -> dict[str, Any]:
    inputs = inputs_of(wanted)
    plan = plan_with(inputs, Platform())
    whole: dict[str, Any] = json.loads(dumps(plan, inputs, created=NOW, versions=VERSIONS))
    return whole


def broken(content: str | bytes) -> str:
    with pytest.raises(InvalidSpecError) as caught:
        loads(content, "plan.json").inputs(ENVIRON)
    assert caught.value.exit_code is Exit.INVALID_SPEC
    return caught.value.message


@pytest.mark.parametrize(
    ("content", "why"),
    [
        ("", "not JSON"),
        ("[]", "not an object"),
        ("{", "not JSON"),
        (b"\xff\xfe", "not UTF-8"),
        ('{"kind": "other"}', "no plan file"),
        ('{"kind": "fwctl-plan", "kind": "fwctl-plan"}', "twice"),
        ('{"kind": NaN}', "NaN is not a number"),
        ('{"kind": "fwctl-plan"}', "format_version is not a text"),
        ('{"kind": "fwctl-plan", "format_version": "2.0"}', "format '2.0'"),
        ('{"kind": "fwctl-plan", "format_version": "1.7"}', "'created' is missing"),
        ("[" * 100_000, "nested too deeply"),
        (b" " * (LARGEST_BYTES + 1), "larger than 64 MiB"),
    ],
)
def test_what_is_no_plan_file_is_named(content: str | bytes, why: str) -> None:
    message = broken(content)
    assert message.startswith("plan.json: ")
    assert why in message


def edited(wanted: Spec, *path: str | int, value: Any) -> str:
    whole = document(wanted)
    place: Any = whole
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(whole)


@pytest.mark.parametrize(
    ("path", "value", "why"),
    [
        (("created",), "yesterday", "created is not a time"),
        (("created",), "2026-11-30T12:00:00", "no time zone"),
        (("created",), 7, "created is not a text"),
        (("versions",), [], "versions is not an object"),
        (("versions", "fwctl"), 3, "a version is not a text"),
        (("inputs",), [], "inputs is not an object"),
        (("plan",), [], "the plan is not an object"),
        (("plan", "changes"), "x", "changes are not readable"),
        (("plan", "changes"), [{}], "changes are not readable"),
        (("plan", "changes", 0, "actions"), [], "changes are not readable"),
        (("plan", "changes", 0, "actions"), ["delete"], "do not have the digest"),
        (("plan", "digest"), "0", "do not have the digest"),
        (("plan", "changes", 0, "reason"), 5, "not as it was written"),
        (("plan", "cost"), [], "not as it was written"),
        (("plan_sha256",), None, "not as it was written"),
        (("inputs", "options"), [], "options is not an object"),
        (("inputs", "options", "force"), True, "'force' is not known"),
        (("inputs", "options", "prune"), "yes", "prune is neither true nor false"),
        (("inputs", "options", "targets"), "chat", "targets is not a list"),
        (("inputs", "options", "targets"), [1], "targets is not a text"),
        (("inputs", "options", "max_deletes"), True, "max_deletes is not a number"),
        (("inputs", "options", "max_deletes"), "3", "max_deletes is not a number"),
        (("inputs", "evidence"), [], "evidence is not an object"),
        (("inputs", "evidence", "extra"), {}, "'extra' is not known"),
        (("inputs", "evidence", "tested_replicas"), {"a": True}, "is not a int"),
        (("inputs", "evidence", "evaluated"), {"a": 1}, "is not a bool"),
        (("inputs", "fit"), {"chat": 1}, "fit of chat is not an object"),
        (("inputs", "lock"), 7, "lock is not a text"),
        (("inputs", "lock"), "<<<<<<<", "merge conflict"),
        (("inputs", "prices"), 7, "not a mapping"),
        (("inputs", "prices", "as_of"), "soon", "write it as"),
        (("inputs", "spec"), 7, "damaged"),
    ],
)
def test_a_damaged_plan_file_names_what_is_wrong(
    wanted: Spec, path: tuple[str | int, ...], value: Any, why: str
) -> None:
    assert why in broken(edited(wanted, *path, value=value))


def test_a_missing_part_is_named(wanted: Spec) -> None:
    whole = document(wanted)
    del whole["inputs"]["lock"]
    assert "'lock' is missing" in broken(json.dumps(whole))


@settings(max_examples=60, deadline=None)
@given(st.binary(max_size=200) | st.text(max_size=200))
def test_any_bytes_end_in_one_clear_error(content: str | bytes) -> None:
    assert broken(content).startswith("plan.json: ")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(["created", "versions", "plan", "inputs", "spec", "options", "fit", "prices"]), JSON)
def test_any_json_in_any_place_ends_in_one_clear_error_or_is_read(key: str, value: Any) -> None:
    inputs = Inputs(spec(entry()), PlanOptions(), PRICES)
    plan = plan_with(inputs, Platform())
    whole = json.loads(dumps(plan, inputs, created=NOW, versions=VERSIONS))
    (whole if key in whole else whole["inputs"])[key] = value
    with suppress(InvalidSpecError):
        loads(json.dumps(whole), "plan.json").inputs({})


def stale(before: Any, after: Any) -> tuple[str, ...]:
    document: Mapping[str, Any] = plan_to_json(before)
    return moved(document, after)


def test_the_same_plan_is_not_stale() -> None:
    before, after = plan_of(entry()), plan_of(entry())
    assert stale(before, after) == ()
    require_same(plan_to_json(before), after)


def test_counts_states_and_prices_that_move_by_themselves_are_not_stale() -> None:
    wanted = entry(replicas__max=4)
    busy = marked_row(desired_replica_count=2, replica_stats={"ready_replica_count": 2}, update_time="2027")
    assert stale(plan_of(wanted, [marked_row()]), plan_of(wanted, [busy])) == ()


def test_a_managed_field_that_moved_is_named() -> None:
    wanted = entry(replicas__max=4)
    found = stale(plan_of(wanted, [marked_row()]), plan_of(wanted, [marked_row(max_replica_count=3)]))
    assert found == ("deployments/chat replicas.max: 2 -> 4 was planned, now it is 3 -> 4",)


def test_a_change_that_somebody_else_made_is_named() -> None:
    wanted = entry(replicas__max=4)
    found = stale(plan_of(wanted, [marked_row()]), plan_of(wanted, [marked_row(max_replica_count=4)]))
    assert found == ("deployments/chat: update was planned, now it is nothing",)
    back = stale(plan_of(wanted, [marked_row(max_replica_count=4)]), plan_of(wanted, [marked_row()]))
    assert back == ("deployments/chat: nothing was planned, now it is update",)


def test_another_action_and_another_account_are_named() -> None:
    before = plan_of(entry(replicas__max=4), [marked_row()])
    after = plan_of(entry(replicas__max=4), [marked_row("chat", "[fwctl dev/chat]")])
    assert (
        "deployments/chat: update was planned, now it is blocked (chat belongs to stack 'dev'"
        in stale(before, after)[0]
    )
    other = plan_of(spec(entry(replicas__max=4), stack="dev"), [marked_row("chat", "[fwctl dev/chat]")])
    assert stale(before, other)[0] == "stack was prod, is dev"


def test_a_field_that_is_no_longer_part_of_the_change_is_named() -> None:
    wanted = entry(replicas__max=4, display_name="x")
    found = stale(plan_of(wanted, [marked_row()]), plan_of(wanted, [marked_row(display_name="x")]))
    assert found == ("deployments/chat display_name:  -> x was planned, now it is no change",)


def test_a_stale_plan_is_refused_with_at_most_ten_differences() -> None:
    many = spec(*(entry(f"d{n:02}") for n in range(12)))
    before = plan_to_json(plan_of(many))
    with pytest.raises(StalePlanError, match="and 2 more") as caught:
        require_same(before, plan_of(many, [marked_row(f"d{n:02}") for n in range(12)]))
    assert caught.value.exit_code is Exit.STALE_PLAN


def test_an_expected_digest_binds_an_apply_without_a_file() -> None:
    plan = plan_of(entry())
    require_digest(f" {digest(plan).upper()} ", plan)
    with pytest.raises(StalePlanError, match="was expected"):
        require_digest("0" * 64, plan)


def test_a_newer_shape_version_makes_a_reviewed_create_stale(wanted: Spec) -> None:
    from tests.planning.support import shape_row

    before = plan_of(entry())
    shapes = {FAST: [shape_row(V1, latest=False), shape_row(V2)]}
    assert "shape: None ->" in stale(before, plan_of(entry(), Platform(shapes=shapes)))[0]
    assert not has_changes(plan_of(entry(), [marked_row()]))
    assert has_changes(before)
