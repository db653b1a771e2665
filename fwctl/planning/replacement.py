"""Changes that no running deployment can take: refuse, delete and create anew, or build beside it."""

from __future__ import annotations

import base64
import hashlib
import json
from dataclasses import replace

from fwctl.catalog.enums import is_multi_region
from fwctl.catalog.field import Effect
from fwctl.errors import Diagnostic
from fwctl.firectl.argv import UPDATE
from fwctl.live.identity import IN_FLIGHT, NEXT, SWITCHED
from fwctl.live.marker import format_tags, join_description, values_digest
from fwctl.live.model import LiveDeployment, Marker
from fwctl.live.normalise import all_tags
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.desired import Desired, resolve
from fwctl.planning.diff import Diff, compare
from fwctl.planning.marking import marked, marker_changes, next_marker
from fwctl.planning.model import Change, Step
from fwctl.planning.steps import (
    create_steps,
    delete_step,
    mark_steps,
    replace_behind_router,
    tag_steps,
    with_steps,
)
from fwctl.planning.timing import overlap_cost, start_time
from fwctl.spec.model import Deployment

_ID_DIGITS = 4


def replacement(
    context: Context,
    desired: Desired,
    diff: Diff,
    live: LiveDeployment,
    change: Change,
    *,
    following: LiveDeployment | None = None,
) -> Change:
    """The change for a deployment that cannot become what the spec wants. `following`: the new
    deployment of a replacement that an earlier run began."""
    why = _why(diff, live)
    if live.state in IN_FLIGHT:
        note = f"an operation is in flight ({live.state}); the replacement ({why}) waits for its end"
        return replace(change, actions=("wait",), reason=note)
    entry = desired.entry
    marker = live.marker
    if marker is not None and marker.protect and not entry.protected:
        return _unprotect_first(context, desired, live, change, old=marker, why=why)
    strategy = entry.own.get("lifecycle.on_immutable_change", "refuse")
    if strategy == "refuse":
        return blocked(change, [_refused(entry, why)])
    anew = resolve(context, entry, None)
    change = replace(
        change, reason=why, fields=compare(context, anew, live).changes or change.fields, desired=anew.values
    )
    if strategy == "recreate":
        change = _recreate(context, anew, live, change)
    else:
        change = _blue_green(context, anew, live, following, change)
    return blocked(change, anew.problems)


def _why(diff: Diff, live: LiveDeployment) -> str:
    causes = [f"{item.path} {item.reason}" for item in diff.with_effect(Effect.REPLACE)]
    if live.state == "FAILED":
        message = f": {live.status_message}" if live.status_message else ""
        causes.insert(0, f"it has FAILED ({live.status_code}{message})")
    return "; ".join(causes)


def _refused(entry: Deployment, why: str) -> Diagnostic:
    return problem(
        "replace_refused",
        f"{entry.name} would have to be replaced: {why}",
        entry,
        "lifecycle.on_immutable_change",
        suggestion="`lifecycle.on_immutable_change: blue_green` builds the new one beside it, `recreate` "
        "deletes it first (downtime)",
    )


def _unprotect_first(
    context: Context, desired: Desired, live: LiveDeployment, change: Change, *, old: Marker, why: str
) -> Change:
    """Protection is taken off by an apply of its own, so that it is a decision of its own."""
    marker = marked(old, protect=False)
    change = replace(
        change,
        actions=("mark",),
        reason="takes delete protection off; the replacement comes with the next plan",
        fields=marker_changes(desired, old, marked(next_marker(context, desired, live), role=old.role)),
        notes=(*change.notes, f"then it will be replaced: {why}"),
    )
    return with_steps(context, change, mark_steps(context, live, marker), desired.entry)


def _recreate(context: Context, desired: Desired, live: LiveDeployment, change: Change) -> Change:
    """Under the ID it has, so that its model string stays."""
    key = live.deployment_id
    steps = (
        delete_step(key, hard=True, ignore_checks=_traffic_may_be_lost(context, change.name)),
        *create_steps(context, desired, key, next_marker(context, desired, None)),
    )
    note = f"downtime from the delete until the new deployment serves: {start_time(context, desired)}"
    change = replace(change, actions=("delete", "create"), notes=(*change.notes, note))
    return with_steps(context, change, steps, desired.entry)


def _traffic_may_be_lost(context: Context, name: str) -> bool:
    return name in context.options.allow_traffic_loss


def next_id(context: Context, desired: Desired, attempt: int) -> str:
    """`<id>-<h>`: four lower-case base-32 digits of SHA-256 over stack, name, the new managed values and
    the attempt, so that every runner picks the same ID."""
    entry = desired.entry
    values = values_digest(desired.values, context.salt(entry.name))
    text = json.dumps([context.spec.stack, entry.name, values, attempt], separators=(",", ":"))
    digits = base64.b32encode(hashlib.sha256(text.encode()).digest()).decode().lower()
    return f"{entry.deployment_id}-{digits[:_ID_DIGITS]}"


def _blue_green(
    context: Context,
    desired: Desired,
    live: LiveDeployment,
    following: LiveDeployment | None,
    change: Change,
) -> Change:
    attempt = live.marker.attempt if live.marker else 0
    key = next_id(context, desired, attempt)
    if following is not None and following.deployment_id != key:
        return blocked(change, [leftover(desired.entry, following)])
    final = marked(next_marker(context, desired, None), attempt=attempt)
    first = marked(final, role=NEXT)
    steps: list[Step] = []
    if following is None:
        steps += create_steps(context, desired, key, first)
    steps.append(_marking(desired, key, marked(first, step=SWITCHED), following))
    steps += _retiring(context, desired, live, key=key, final=final, new=following)
    change = replace(
        change,
        actions=("create", "delete"),
        next_id=key,
        notes=(*change.notes, *_switch_notes(context, desired, live, key=key, following=following)),
    )
    return with_steps(context, change, steps, desired.entry)


def finish(
    context: Context, desired: Desired, serving: LiveDeployment, old: LiveDeployment, change: Change
) -> Change:
    """A replacement that an earlier run switched but did not end: the old deployment goes, and the new
    one's marker loses its role. Other changes of the spec wait for the next plan."""
    final = marked(next_marker(context, desired, serving), role=None, step=None)
    key = serving.deployment_id
    steps = _retiring(context, desired, old, key=key, final=final, new=serving)
    change = replace(
        change,
        deployment_id=old.deployment_id,
        next_id=key,
        live=old,
        actions=("create", "delete"),
        reason=f"{key} serves already; {old.deployment_id}, which it replaces, is deleted",
        fields=(),
    )
    return with_steps(context, change, steps, desired.entry)


def _retiring(
    context: Context,
    desired: Desired,
    old: LiveDeployment,
    *,
    key: str,
    final: Marker,
    new: LiveDeployment | None,
) -> list[Step]:
    """The end of a replacement: out of the router, deleted, and the new one's marker without a role.

    In this order, so that at every moment one deployment is the one that serves the logical name.
    """
    lost = _traffic_may_be_lost(context, desired.entry.name)
    have = all_tags(new) if new is not None else _tags_after_create(context, desired, final)
    router = desired.values.get("router")
    moves = replace_behind_router(context, str(router), leaves=old.deployment_id, joins=key) if router else ()
    return [
        *moves,
        delete_step(old.deployment_id, ignore_checks=lost),
        _marking(desired, key, final, new),
        *tag_steps(context, key, have, desired.values.get("tags"), final),
    ]


def _tags_after_create(context: Context, desired: Desired, final: Marker) -> dict[str, str]:
    own = format_tags(marked(final, role=NEXT)) if context.caps.has_tags else {}
    return {**desired.values.get("tags", {}), **own}


def _marking(desired: Desired, key: str, marker: Marker, new: LiveDeployment | None) -> Step:
    """A write of the new deployment's marker alone; a description that nobody manages stays."""
    there = new.fields.get("description", "") if new is not None else ""
    text = str(desired.values.get("description", there))
    return Step(UPDATE, key, {"description": join_description(text, marker)})


def _switch_notes(
    context: Context,
    desired: Desired,
    live: LiveDeployment,
    *,
    key: str,
    following: LiveDeployment | None,
) -> tuple[str, ...]:
    price = overlap_cost(context, live)
    notes = [
        f"{key} is built beside {live.deployment_id}: {price} until the old one is gone",
        f"time until the new one serves: {start_time(context, desired)}",
    ]
    if following is not None:
        notes.append(f"goes on with {key}, which an earlier run created ({following.state})")
    router = desired.values.get("router")
    if router is not None and is_multi_region(str(desired.values.get("region", "GLOBAL"))):
        notes.append(f"traffic moves behind the router {router}; clients keep their model string")
    else:
        notes.append("the model string changes: clients must follow, see `settings.outputs`")
    return tuple(notes)


def leftover(entry: Deployment, following: LiveDeployment) -> Diagnostic:
    """A replacement for other values than the spec's stands half done."""
    return problem(
        "replacement_in_progress",
        f"{following.deployment_id} was begun as the replacement of {entry.name} for other values than the "
        "spec's now",
        entry,
        suggestion=f"`fwctl apply --rollback {entry.name}` deletes it, or restore the spec it was made for",
    )
