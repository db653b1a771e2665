"""Commands about named deployments: hold, release, park, unpark, forget, destroy, undo, roll back.

Each is planned and confirmed like an apply, whatever the specs say about the rest.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from fwctl.catalog.field import Effect
from fwctl.errors import RefusedError, UsageError
from fwctl.firectl.argv import UPDATE
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveDeployment, Marker
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.marking import marked, owner_text
from fwctl.planning.model import Change, FieldChange, Step
from fwctl.planning.options import Intent
from fwctl.planning.orphans import delete
from fwctl.planning.steps import UNDELETE, mark_steps, replace_behind_router, with_steps
from fwctl.spec.closest import did_you_mean

Plan = Callable[[Context, str, LiveDeployment], Change]


def intent_changes(context: Context) -> list[Change]:
    """One change for each named deployment. Raises UsageError for a name that means nothing here."""
    intent = context.options.intent
    assert intent is not None
    names = dict.fromkeys(context.options.intent_names)
    return [_ACTIONS[intent](context, name, _target(context, name, intent)) for name in names]


def _target(context: Context, name: str, intent: Intent) -> LiveDeployment:
    for live in _candidates(context, name):
        if (live.state in LEAVING) == (intent is Intent.UNDELETE):
            return live
    what = "deleted deployment" if intent is Intent.UNDELETE else "deployment"
    near = did_you_mean(name, (*context.matches.by_name, *context.live.deployments))
    raise UsageError(
        f"there is no {what} {name!r} in stack {context.spec.stack!r} of account {context.spec.account!r}",
        next_steps=[*([near] if near else []), "fwctl status"],
    )


def _candidates(context: Context, name: str) -> list[LiveDeployment]:
    """By spec entry, by this stack's marker, then by deployment ID."""
    found: list[LiveDeployment | None] = []
    pair = context.matches.by_name.get(name)
    if pair is not None:
        if pair.rivals:
            raise RefusedError(f"{name} could mean {' or '.join(i.deployment_id for i in pair.rivals)}")
        found += [pair.current, pair.holder]
    found += context.matches.orphans.get(name, ())
    found.append(context.live.deployments.get(name))
    found += [live for live in context.live.deployments.values() if _is_marked(context, live, name)]
    return [live for live in found if live is not None]


def _is_marked(context: Context, live: LiveDeployment, name: str) -> bool:
    marker = live.marker
    return marker is not None and (marker.stack, marker.name) == (context.spec.stack, name)


def _not_ours(context: Context, change: Change, live: LiveDeployment) -> Change | None:
    marker = live.marker
    if marker is not None and marker.stack == context.spec.stack:
        return None
    owner = f"belongs to stack {marker.stack!r}" if marker else "is not marked as this stack's"
    way_out = None if marker else f"`fwctl adopt {change.name}` takes it over"
    return blocked(
        change,
        [
            problem(
                "ownership",
                f"{live.deployment_id} {owner}",
                context.spec.deployments.get(change.name),
                suggestion=way_out,
                deployment=change.name,
            )
        ],
    )


def _change(name: str, live: LiveDeployment, reason: str) -> Change:
    return Change(name, live.deployment_id, ("no-op",), reason=reason, live=live)


def _mark_hold(context: Context, change: Change, live: LiveDeployment, goal: Marker) -> Change:
    """A change of the marker's hold alone, nothing when it says so already."""
    before, after = _hold_text(live.marker), _hold_text(goal)
    if before == after:
        return replace(change, reason="is so already")
    steps = mark_steps(context, live, goal)
    change = replace(
        change,
        actions=("mark",),
        fields=(FieldChange("marker.hold_until", before, after, Effect.NONE),),
    )
    return with_steps(context, change, steps)


def _hold_text(marker: Marker | None) -> str | None:
    return f"{marker.hold_until:%Y-%m-%dT%H:%MZ}" if marker and marker.hold_until else None


def _hold(context: Context, name: str, live: LiveDeployment) -> Change:
    until = context.options.hold_until
    change = _change(name, live, "holds changes" if until else "lets changes go on")
    other = _not_ours(context, change, live)
    if other is not None or live.marker is None:
        return other or change
    return _mark_hold(context, change, live, marked(live.marker, hold_until=until))


def _release(context: Context, name: str, live: LiveDeployment) -> Change:
    return _hold(replace(context, options=replace(context.options, hold_until=None)), name, live)


def _forget(context: Context, name: str, live: LiveDeployment) -> Change:
    change = _change(name, live, "no longer this stack's; it goes on running")
    other = _not_ours(context, change, live)
    if other is not None:
        return other
    steps = mark_steps(context, live, None)
    change = replace(
        change,
        actions=("mark",),
        fields=(FieldChange("marker.owner", owner_text(live.marker), None, Effect.NONE),),
    )
    return with_steps(context, change, steps)


def _park(context: Context, name: str, live: LiveDeployment) -> Change:
    return _scale(context, name, live, {"replicas.min": 0, "replicas.max": 0}, "park")


def _unpark(context: Context, name: str, live: LiveDeployment) -> Change:
    entry = context.spec.deployments.get(name)
    if entry is None:
        raise UsageError(
            f"{name} is not in the spec, so nobody says how many replicas it shall have",
            next_steps=["put it into the spec (`fwctl import`), then `fwctl apply`"],
        )
    values = {path: entry.fields[path] for path in ("replicas.min", "replicas.max")}
    return _scale(context, name, live, values, "unpark")


def _scale(context: Context, name: str, live: LiveDeployment, goal: Mapping[str, int], action: str) -> Change:
    change = _change(name, live, f"{action}ed by name")
    other = _not_ours(context, change, live)
    if other is not None:
        return other
    fields = tuple(
        FieldChange(path, live.fields.get(path, 0), value, Effect.IN_PLACE)
        for path, value in goal.items()
        if live.fields.get(path, 0) != value
    )
    if not fields:
        return replace(change, reason="is so already")
    steps = (Step(UPDATE, live.deployment_id, {item.path: item.after for item in fields}),)
    change = replace(change, actions=(action,), fields=fields, desired=dict(goal))
    return with_steps(context, change, steps)


def _destroy(context: Context, name: str, live: LiveDeployment) -> Change:
    change = delete(context, name, live, "deleted by name")
    other = _not_ours(context, change, live) if live.marker is not None else None
    return other or change  # naming an unmarked one is as explicit as it gets


def _undelete(context: Context, name: str, live: LiveDeployment) -> Change:
    change = _change(name, live, "brought back while the platform still holds it")
    if live.state != "DELETED":
        return replace(
            change, actions=("wait",), reason=f"it is {live.state}; undelete works once it is DELETED"
        )
    steps = (Step(UNDELETE, live.deployment_id),)
    return with_steps(context, replace(change, actions=("undelete",)), steps)


def _rollback(context: Context, name: str, live: LiveDeployment) -> Change:
    """Deletes the new half of a replacement; the next attempt gets another ID, because a deleted
    deployment keeps its own for seven days. Where the new one serves already, the old one takes over
    again first."""
    pair = context.matches.by_name.get(name)
    old, new = (pair.retiring or live, pair.next or pair.current) if pair else (live, None)
    if pair is None or new is None or new is old or old.marker is None or new.marker is None:
        return _change(name, live, "no replacement is in progress")
    change = delete(context, name, new, f"{old.deployment_id} stays, {new.deployment_id} goes")
    steps: list[Step] = []
    if pair.retiring is not None:
        steps += mark_steps(context, new, marked(new.marker, step=None))
    steps += mark_steps(context, old, marked(old.marker, attempt=old.marker.attempt + 1, step=None))
    entry = context.spec.deployments[name]
    router = entry.fields.get("router")
    if router is not None and "routers" in context.live.unread:
        why = f"router cannot be read: {context.live.unread['routers']}"
        return blocked(change, [problem("unreadable", why, entry, "router")])
    if router in context.live.routers:
        steps += replace_behind_router(
            context, str(router), leaves=new.deployment_id, joins=old.deployment_id
        )
    return with_steps(context, change, (*steps, *change.steps))


_ACTIONS: Mapping[Intent, Plan] = {
    Intent.HOLD: _hold,
    Intent.RELEASE: _release,
    Intent.PARK: _park,
    Intent.UNPARK: _unpark,
    Intent.FORGET: _forget,
    Intent.DESTROY: _destroy,
    Intent.UNDELETE: _undelete,
    Intent.ROLLBACK: _rollback,
}
