"""The change for an entry that no live deployment stands for."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta

from fwctl.catalog.field import Effect
from fwctl.catalog.fields import BY_PATH
from fwctl.errors import Diagnostic
from fwctl.live.identity import Match
from fwctl.live.model import LiveDeployment
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.desired import Desired, resolve
from fwctl.planning.diff import unreadable
from fwctl.planning.marking import next_marker
from fwctl.planning.model import Change, FieldChange
from fwctl.planning.steps import create_steps, delete_step, with_steps
from fwctl.planning.values import masked
from fwctl.spec.model import Deployment

# "Deployments with min replicas 0 are deleted after 7 days without traffic": docs.fireworks.ai, on-demand
# deployments guide, read 2026-11-30.
IDLE_LIFE = timedelta(days=7)


def creation(context: Context, entry: Deployment, found: Match) -> Change:
    desired = resolve(context, entry, None)
    marker = next_marker(context, desired, None)
    steps = create_steps(context, desired, entry.deployment_id, marker)
    change = Change(
        entry.name,
        entry.deployment_id,
        ("create",),
        reason="not on the platform yet",
        fields=_all_fields(desired),
        desired=desired.values,
    )
    causes = [
        *desired.problems,
        *not_readable(entry, unreadable(context, desired)),
        *_renamed(context, entry, desired),
    ]
    if found.holder is not None:
        if found.holder.state == "DELETING":
            waiting = f"{entry.deployment_id} is being deleted and holds its ID"
            return replace(change, actions=("wait",), reason=waiting, fields=(), live=found.holder)
        if entry.own.get("lifecycle.reuse_deleted_id") == "hard_delete":
            steps = (delete_step(entry.deployment_id, hard=True), *steps)
            change = replace(change, reason="takes over the ID of a deleted deployment", live=found.holder)
        else:
            causes.append(_id_held(entry, found.holder))
    return with_steps(context, blocked(change, causes), steps, entry)


def _all_fields(desired: Desired) -> tuple[FieldChange, ...]:
    return tuple(
        FieldChange(
            path,
            None,
            masked(BY_PATH[path], value),
            Effect.NONE,
            output_changing=BY_PATH[path].output,
            sensitive=BY_PATH[path].sensitive,
            source=desired.entry.position_of(path),
        )
        for path, value in desired.values.items()
    )


def _id_held(entry: Deployment, holder: LiveDeployment) -> Diagnostic:
    until = f" until {holder.purge:%Y-%m-%d %H:%M} UTC" if holder.purge else " for 7 days"
    return problem(
        "id_held",
        f"a deleted deployment holds the ID {entry.deployment_id}{until}{_who_deleted(holder)}",
        entry,
        suggestion=f"`fwctl undo {entry.name}` brings it back, another `id:` avoids it, or "
        "`lifecycle.reuse_deleted_id: hard_delete` removes it for good",
    )


def _who_deleted(holder: LiveDeployment) -> str:
    """The platform deletes a deployment after 7 days without traffic, and only one with min 0."""
    if holder.deleted is None:
        return ""
    by = "somebody deleted it"
    if not holder.fields.get("replicas.min", 0):
        idle = holder.created is not None and holder.deleted - holder.created >= IDLE_LIFE
        by = "the platform after 7 idle days (min 0), or somebody, deleted it" if idle else by
    return f"; {by} on {holder.deleted:%Y-%m-%d %H:%M} UTC"


def _renamed(context: Context, entry: Deployment, desired: Desired) -> list[Diagnostic]:
    """A new name beside an equal deployment whose own name has left the spec looks like a rename."""
    if context.options.prune:
        return []
    old = [
        (name, item)
        for name, items in context.matches.orphans.items()
        for item in items
        if item.fields.get("model") == desired.values.get("model")
        and item.fields.get("shape") == desired.values.get("shape")
    ]
    if not old:
        return []
    name, item = old[0]
    return [
        problem(
            "rename",
            f"{entry.name} looks like {name} under a new name: {item.deployment_id} runs the same model and "
            f"shape, and {name} has left the spec",
            entry,
            suggestion=f"`id: {item.deployment_id}` keeps the deployment under the new name, "
            f"`fwctl forget {name}` leaves it alone and lets {entry.name} be created",
        )
    ]


def not_readable(entry: Deployment, reasons: Iterable[str]) -> list[Diagnostic]:
    return [problem("unreadable", reason, entry) for reason in reasons]
