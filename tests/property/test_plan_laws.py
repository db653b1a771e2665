"""Laws that hold for every spec and every account."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from fwctl.firectl.argv import build
from fwctl.planning.digest import digest
from fwctl.planning.document import plan_to_json
from fwctl.planning.model import Plan
from fwctl.redact import Secret
from fwctl.spec.model import Deployment, Spec
from tests.planning.support import (
    CAPS,
    FAST,
    MINIMAL,
    MODEL,
    OLD_CAPS,
    V1,
    Platform,
    entry,
    plan_of,
    row,
    spec,
)

EXAMPLES = settings(max_examples=40, deadline=None)
NAMES = ("a", "b", "c", "d")
CANARY = "sk-canary-do-not-show"

FIELDS: dict[str, st.SearchStrategy[Any]] = {
    "shape": st.sampled_from([FAST, V1, MINIMAL, "fast", "minimal", "default"]),
    "region": st.sampled_from(["GLOBAL", "US", "EUROPE", "US_NEVADA_1"]),
    "replicas.min": st.integers(0, 1),
    "replicas.max": st.integers(1, 4),
    "replicas.max_with_revocable": st.integers(0, 3),
    "autoscaling.scale_up_window": st.sampled_from(["0s", "30s", "5m0s"]),
    "autoscaling.load_targets": st.dictionaries(
        st.sampled_from(["default", "requests_per_second"]), st.floats(0.125, 4, width=16), min_size=1
    ),
    "long_prompt": st.booleans(),
    "session_affinity": st.booleans(),
    "display_name": st.text(st.characters(codec="ascii", exclude_characters="\n"), max_size=20),
    "description": st.text(max_size=30).filter(lambda text: "[fwctl" not in text),
    "tags": st.dictionaries(st.sampled_from(["team", "tier"]), st.sampled_from(["x", "y"])),
    "direct_route.api_keys": st.lists(
        st.sampled_from([CANARY, CANARY + "-2"]).map(lambda value: Secret("${env:KEY}", value)), max_size=2
    ),
    "router": st.sampled_from(["r1", "r2"]),
}
OPTIONAL = sorted(set(FIELDS) - {"shape", "replicas.min", "replicas.max"})


@st.composite
def entries(draw: st.DrawFn) -> dict[str, Deployment]:
    """Up to four deployments with any mixture of managed fields."""
    found = {}
    for name in draw(st.sets(st.sampled_from(NAMES), min_size=1)):
        paths = ["shape", "replicas.min", "replicas.max", *draw(st.sets(st.sampled_from(OPTIONAL)))]
        values = {path: draw(FIELDS[path]) for path in sorted(paths)}
        base = entry(name)
        own = {
            "lifecycle.prevent_destroy": draw(st.booleans()),
            "lifecycle.on_immutable_change": draw(st.sampled_from(["refuse", "recreate", "blue_green"])),
        }
        found[name] = replace(base, fields={"model": MODEL, **values}, own=own)
    return found


SPECS = entries().map(lambda found: spec(*found.values()))
LIVE = st.lists(
    st.builds(
        lambda name, marked, most, region: row(
            name,
            description=f"[fwctl prod/{name}]" if marked else "",
            max_replica_count=most,
            placement={"multi_region": region},
        ),
        st.sampled_from([*NAMES, "old"]),
        st.booleans(),
        st.integers(1, 4),
        st.sampled_from(["US", "EUROPE"]),
    ),
    unique_by=lambda item: str(item["name"]),
    max_size=5,
)


def everything(plan: Plan) -> str:
    return repr(plan_to_json(plan)) + repr(plan)


def reversed_spec(wanted: Spec) -> Spec:
    """The same spec with its files, keys and deployments in another order."""
    turned = {
        name: replace(item, fields=dict(reversed(item.fields.items())), own=dict(reversed(item.own.items())))
        for name, item in reversed(wanted.deployments.items())
    }
    return replace(wanted, deployments=turned)


@EXAMPLES
@given(SPECS)
def test_nothing_is_left_to_plan_after_an_apply(wanted: Spec) -> None:
    platform = Platform()
    platform.obey(plan_of(wanted, platform))
    again = plan_of(wanted, platform)
    assert {change.actions for change in again.changes} == {("no-op",)}
    assert not any(change.steps or change.commands for change in again.changes)
    assert again.drift == ()
    assert digest(again) == digest(plan_of(spec(), Platform()))


@EXAMPLES
@given(SPECS)
def test_the_same_holds_without_tags(wanted: Spec) -> None:
    plain = replace(
        wanted,
        deployments={
            name: replace(
                item,
                fields={
                    path: value
                    for path, value in item.fields.items()
                    if path != "tags" and value not in ("fast", "minimal", "default")
                },
            )
            for name, item in wanted.deployments.items()
        },
    )
    platform = Platform()
    platform.obey(plan_of(plain, platform, caps=OLD_CAPS))
    assert {change.actions for change in plan_of(plain, platform, caps=OLD_CAPS).changes} == {("no-op",)}


@EXAMPLES
@given(SPECS, LIVE)
def test_a_plan_does_not_depend_on_the_order_of_files_keys_or_server(
    wanted: Spec, rows: list[dict[str, Any]]
) -> None:
    turned = [dict(reversed(item.items())) for item in reversed(rows)]
    first, second = plan_of(wanted, rows), plan_of(reversed_spec(wanted), turned)
    assert plan_to_json(first) == plan_to_json(second)


@EXAMPLES
@given(SPECS, LIVE)
def test_a_field_that_the_spec_does_not_name_is_never_written(
    wanted: Spec, rows: list[dict[str, Any]]
) -> None:
    for change in plan_of(wanted, rows, adopt=tuple(wanted.deployments)).changes:
        managed = set(wanted.deployments[change.name].fields) | {"description", "id"}
        for step in change.steps:
            if step.verb in ("deployment create", "deployment update"):
                assert set(step.fields) <= managed
            elif step.verb.startswith("deployment tag"):
                own = wanted.deployments[change.name].fields.get("tags")
                assert all(key.startswith("fwctl.") or own is not None for key in step.fields["tags"])


@EXAMPLES
@given(SPECS, LIVE)
def test_unmanaged_values_of_the_platform_survive_an_apply(wanted: Spec, rows: list[dict[str, Any]]) -> None:
    for item in rows:
        item |= {"hot_load_bucket_url": "s3://hand/made", "annotations": {"custom/hand": "made"}}
    platform = Platform(rows)
    plan = plan_of(wanted, platform)
    kept = {
        change.deployment_id
        for change in plan.changes
        if change.primary in ("update", "mark", "no-op", "blocked") and "tags" not in change.desired
    }
    platform.obey(plan)
    for item in platform.rows:
        if item["name"].rpartition("/")[2] in kept and "hot_load_bucket_url" in item:
            assert item["hot_load_bucket_url"] == "s3://hand/made"
            assert item["annotations"]["custom/hand"] == "made"


@EXAMPLES
@given(SPECS, LIVE)
def test_the_digest_is_the_same_exactly_when_the_actions_are(
    wanted: Spec, rows: list[dict[str, Any]]
) -> None:
    first = plan_of(wanted, rows)
    smaller = replace(wanted, deployments=dict(list(wanted.deployments.items())[1:]))
    second = plan_of(smaller, rows)
    asked = [_asked(plan) for plan in (first, second)]
    assert (digest(first) == digest(second)) == (asked[0] == asked[1])


def _asked(plan: Plan) -> list[Any]:
    return [
        (
            change.name,
            change.deployment_id,
            change.actions,
            sorted((f.path, repr(f.before), repr(f.after)) for f in change.fields),
        )
        for change in plan.changes
        if change.primary not in ("no-op", "wait")
    ]


@EXAMPLES
@given(SPECS, LIVE)
def test_no_secret_is_in_anything_a_plan_says(wanted: Spec, rows: list[dict[str, Any]]) -> None:
    plan = plan_of(wanted, rows, adopt=tuple(wanted.deployments))
    assert CANARY not in everything(plan)


@EXAMPLES
@given(SPECS, LIVE)
def test_the_commands_are_exactly_the_steps(wanted: Spec, rows: list[dict[str, Any]]) -> None:
    plan = plan_of(wanted, rows, adopt=tuple(wanted.deployments), allow_delete=tuple(wanted.deployments))
    for change in plan.changes:
        words = [
            ("firectl", *build(step.verb, step.target, step.fields, CAPS, account="acme"))
            for step in change.steps
        ]
        assert list(change.commands) == words
        assert bool(change.blocked_by) == change.blocked
        assert not (change.blocked and change.steps)


@EXAMPLES
@given(SPECS, LIVE)
def test_only_this_stacks_deployments_are_ever_pruned(wanted: Spec, rows: list[dict[str, Any]]) -> None:
    plan = plan_of(wanted, rows, prune=True, allow_delete=("old", *NAMES))
    marked = {item["name"].rpartition("/")[2] for item in rows if item["description"]}
    deleted = {change.deployment_id for change in plan.changes if change.actions == ("delete",)}
    assert deleted <= marked - set(wanted.deployments)
    unasked = plan_of(wanted, rows)
    assert not any(change.actions == ("delete",) for change in unasked.changes)


@EXAMPLES
@given(SPECS, SPECS)
def test_applying_twice_converges_whatever_was_there_before(before: Spec, after: Spec) -> None:
    platform = Platform()
    platform.obey(plan_of(before, platform))
    names = tuple({*before.deployments, *after.deployments})
    for _ in range(3):
        platform.obey(plan_of(after, platform, allow_delete=names))
    end = plan_of(after, platform, allow_delete=names)
    assert {change.primary for change in end.changes} <= {"no-op", "blocked"}
