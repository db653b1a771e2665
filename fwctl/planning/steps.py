"""The firectl calls that a change needs, as values and as command lines. Nothing unmanaged is sent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Set
from dataclasses import replace
from itertools import takewhile
from typing import Any

from fwctl.catalog.field import Owner
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Diagnostic, FirectlTooOldError
from fwctl.firectl.argv import CREATE, UPDATE, build, missing_flags
from fwctl.live.marker import TAG_PREFIX, format_tags, join_description
from fwctl.live.model import LiveDeployment, Marker
from fwctl.live.normalise import all_tags
from fwctl.live.routers import members
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.desired import Desired
from fwctl.planning.diff import Diff
from fwctl.planning.model import Change, Step
from fwctl.spec.model import Deployment

DELETE, UNDELETE = "deployment delete", "deployment undelete"
TAG_SET, TAG_UNSET = "deployment tag set", "deployment tag unset"
ROUTER_VERBS = ("router create", "router update")
DEFAULT_STRATEGY = "weighted-random"  # router page of docs.fireworks.ai, read 2026-11-30
_OWN_CALL = ("tags", "addons.load", "router")


def create_steps(context: Context, desired: Desired, deployment_id: str, marker: Marker) -> tuple[Step, ...]:
    """Create with the marker in the description, then tags, adapters and router."""
    values = {
        path: value
        for path, value in desired.values.items()
        if path not in _OWN_CALL and _sent_at_create(context, desired, path)
    }
    values["description"] = join_description(str(values.get("description", "")), marker)
    if "shape" not in values and desired.entry.fields.get("accept_shapeless_risk"):
        values["accept_shapeless_risk"] = True
    steps = [Step(CREATE, deployment_id, values)]
    steps += tag_steps(context, deployment_id, {}, desired.values.get("tags"), marker)
    steps += _lora_steps(deployment_id, (), desired.values.get("addons.load", ()))
    return (*steps, *router_steps(context, desired, deployment_id))


def _sent_at_create(context: Context, desired: Desired, path: str) -> bool:
    """Pins travel only when the shape does not carry them; overrides always."""
    row = BY_PATH[path]
    if row.owner is not Owner.SHAPE or "shape" not in desired.values or desired.overridden(path):
        return True
    if path == "speculation.mode":
        return desired.values[path] != "disabled" or bool(_drafts(desired))
    pins = context.spec.settings.get("send_pins", "auto")
    return pins == "always" or (pins == "auto" and not desired.carried(row))


def _drafts(desired: Desired) -> bool:
    return any(path.startswith("speculation.") for path in desired.shape.snapshot)


def update_steps(
    context: Context, desired: Desired, live: LiveDeployment, diff: Diff, marker: Marker
) -> tuple[Step, ...]:
    """Only what changes, with the marker in the same call."""
    sent = {
        path: desired.values[path]
        for path in diff.paths
        if path not in _OWN_CALL and path != "speculation.mode" and not _comes_with_shape(desired, diff, path)
    }
    steps = list(mark_steps(context, live, marker, sent, desired.values.get("tags")))
    if "addons.load" in diff.paths:
        loaded = context.live.loaded_addons.get(live.deployment_id, ())
        steps += _lora_steps(live.deployment_id, loaded, desired.values["addons.load"])
    if "router" in diff.paths:
        steps += router_steps(context, desired, live.deployment_id)
    return tuple(steps)


def _comes_with_shape(desired: Desired, diff: Diff, path: str) -> bool:
    return "shape" in diff.paths and desired.carried(BY_PATH[path]) and not desired.overridden(path)


def mark_steps(
    context: Context,
    live: LiveDeployment,
    marker: Marker | None,
    values: Mapping[str, Any] | None = None,
    tags: Mapping[str, str] | None = None,
) -> tuple[Step, ...]:
    """One update that carries the marker (None: takes it away) and `values`, then the tags that differ."""
    sent = dict(values or {})
    text = str(sent.get("description", live.fields.get("description", "")))
    sent["description"] = join_description(text, marker)
    have = all_tags(live)
    return (
        Step(UPDATE, live.deployment_id, sent),
        *tag_steps(context, live.deployment_id, have, tags, marker),
    )


def tag_steps(
    context: Context,
    deployment_id: str,
    have: Mapping[str, str],
    wanted: Mapping[str, str] | None,
    marker: Marker | None,
) -> list[Step]:
    """The calls that turn the tags `have` into the marker's and the user's; wanted: the user's tags,
    complete, or None when they are not managed."""
    able = context.caps.has_tags
    if not able and wanted is None:
        return []
    own = format_tags(marker) if marker and able else {}
    goal = {**(wanted or {}), **own}
    changed = {key: goal[key] for key in sorted(goal) if have.get(key) != goal[key]}
    gone = sorted(
        key for key in have if key not in goal and (wanted is not None or key.startswith(TAG_PREFIX))
    )
    steps = [Step(TAG_SET, deployment_id, {"tags": changed})] if changed else []
    return steps + ([Step(TAG_UNSET, deployment_id, {"tags": gone})] if gone else [])


def _lora_steps(deployment_id: str, have: Iterable[str], wanted: Iterable[str]) -> list[Step]:
    """Adapters that go are taken off first, so that the count never passes the limit."""
    have, wanted = set(have), set(wanted)
    rows = [("unload-lora", model) for model in sorted(have - wanted)]
    rows += [("load-lora", model) for model in sorted(wanted - have)]
    return [Step(verb, deployment_id, {"addons.load": [model]}) for verb, model in rows]


def router_steps(context: Context, desired: Desired, deployment_id: str) -> list[Step]:
    """Put a deployment behind its router; a router that exists keeps its other members."""
    router = desired.values.get("router")
    if router is None:
        return []
    exists = router in context.live.routers
    first = context.behind_router.get(router, ())[:1] == (desired.entry.name,)
    verb = ROUTER_VERBS[1] if exists or not first else ROUTER_VERBS[0]
    others = _members(context, router, desired.entry.name)
    return [_router_step(context, verb, router, others | {deployment_id})]


def _router_step(context: Context, verb: str, router: str, ids: Set[str]) -> Step:
    return router_step(verb, router, context.spec.account, ids, context.live.routers.get(router))


def router_step(verb: str, router: str, account: str, ids: Set[str], now: Mapping[str, Any] | None) -> Step:
    """Stand before exactly these deployments. now: the router as it is. `router update` falls back to a
    default strategy unless it is told one, so it is always told."""
    names = [f"accounts/{account}/deployments/{key}" for key in sorted(ids)]
    return Step(verb, router, {"deployments": names, "strategy": strategy_of(now)})


def strategy_of(router: Mapping[str, Any] | None) -> str:
    """The strategy of a router as the flag is written: `STRATEGY_EVEN_LOAD` or `EVEN_LOAD` -> `even-load`."""
    there = str((router or {}).get("strategy") or "")
    if not there or there.endswith("UNSPECIFIED"):
        return DEFAULT_STRATEGY
    return there.removeprefix("STRATEGY_").lower().replace("_", "-")


def replace_behind_router(context: Context, router: str, *, leaves: str, joins: str) -> list[Step]:
    """One deployment (ID) of a replacement takes the other's place behind a router."""
    stay = members(context.live.routers.get(router)) - {leaves}
    return [_router_step(context, ROUTER_VERBS[1], router, stay | {joins})]


def _members(context: Context, router: str, name: str) -> set[str]:
    """What the router covers now, and what earlier entries of this run added."""
    found = set(members(context.live.routers.get(router)))
    for other in takewhile(lambda other: other != name, context.behind_router.get(router, ())):
        live = context.matches.by_name[other].current
        found.add(live.deployment_id if live else context.spec.deployments[other].deployment_id)
    return found


def delete_step(deployment_id: str, *, hard: bool = False, ignore_checks: bool = False) -> Step:
    fields = {key: True for key, on in (("hard", hard), ("ignore_checks", ignore_checks)) if on}
    return Step(DELETE, deployment_id, fields)


def with_steps(
    context: Context, change: Change, steps: Iterable[Step], entry: Deployment | None = None
) -> Change:
    """The change with its calls and their exact command lines, which hold no secret: secret values travel
    in a private file. What the installed firectl cannot carry is FW508 and blocks the change."""
    calls = tuple(steps)
    lines: list[tuple[str, ...]] = []
    lacking: list[Diagnostic] = []
    for step in calls:
        try:
            words = build(step.verb, step.target, step.fields, context.caps, account=context.spec.account)
            lines.append(("firectl", *words))
        except FirectlTooOldError:
            lacking += _unsupported(context, step, entry)
        if step.verb in (TAG_SET, TAG_UNSET):
            lacking += _unsupported(context, step, entry)
    if not change.blocked:
        change = replace(change, steps=calls, commands=tuple(lines))
    return blocked(change, lacking)


def _unsupported(context: Context, step: Step, entry: Deployment | None) -> list[Diagnostic]:
    """FW508 for each field of a call that the installed firectl has no flag for."""
    version = context.caps.version or "of an unknown version"
    return [
        problem(
            "FW508",
            f"the installed firectl ({version}) has no `{step.verb}`"
            + (f" {flag}" if flag != step.verb else "")
            + f", which {path} needs",
            entry,
            path,
            suggestion="upgrade firectl, or take the field out",
        )
        for path, flag in missing_flags(step.verb, step.fields, context.caps)
    ]
