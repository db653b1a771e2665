"""This stack's deployments that the spec no longer names: reported, and deleted only with `--prune`."""

from __future__ import annotations

from fwctl.live.model import LiveDeployment
from fwctl.live.routers import members
from fwctl.planning.context import Context
from fwctl.planning.model import Change
from fwctl.planning.steps import delete_step, strategy_of, with_steps


def orphan_changes(context: Context) -> tuple[list[Change], list[str]]:
    """The deletes that `--prune` asks for, and notes about what is left alone without it."""
    if not context.spec.deployments:
        return [], []  # no spec was found: nothing is ever pruned
    changes: list[Change] = []
    notes: list[str] = []
    for name, items in context.matches.orphans.items():
        if not context.options.selects(name):
            continue
        for item in items:
            if context.options.prune:
                changes.append(delete(context, name, item, "has left the spec"))
            else:
                notes.append(_left_alone(name, item))
    return changes, notes


def expired_changes(context: Context) -> list[Change]:
    """The deletes of what an experiment left behind, once its time has passed and unless an entry of the
    spec means it by ID."""
    meant = {pair.current.deployment_id for pair in context.matches.by_name.values() if pair.current}
    return [
        delete(context, marker.name, item, f"made by an experiment, to live until {marker.expires:%F %H:%M}")
        for item in context.matches.candidates
        if (marker := item.marker) is not None and context.is_over(item)
        if item.deployment_id not in meant and context.options.selects(marker.name)
    ]


def delete(context: Context, name: str, live: LiveDeployment, reason: str) -> Change:
    """The removal of one deployment; the guards decide whether it may happen."""
    lost = name in context.options.allow_traffic_loss or context.is_over(live)
    routers = context.routers_of.get(live.deployment_id, ())
    notes = tuple(_left_behind(context, live, router) for router in routers)
    change = Change(name, live.deployment_id, ("delete",), reason=reason, live=live, notes=notes)
    return with_steps(context, change, [delete_step(live.deployment_id, ignore_checks=lost)])


def _left_behind(context: Context, live: LiveDeployment, router: str) -> str:
    """What the platform does with a router whose deployment goes is not published."""
    row = context.live.routers[router]
    others = ",".join(sorted(members(row) - {live.deployment_id}))
    way_out = (
        f"firectl router update {router} --deployments={others} --strategy={strategy_of(row)}"
        if others
        else f"firectl router delete {router}"
    )
    return (
        f"it stands behind the router {router}, which apply leaves as it is; before the delete: `{way_out}`"
    )


def _left_alone(name: str, item: LiveDeployment) -> str:
    protected = ", protected" if item.marker and item.marker.protect else ""
    return (
        f"{item.deployment_id} ({name}{protected}) is marked as this stack's but has left the spec; it stays "
        f"until --prune --allow-delete {name}, or `fwctl forget {name}`"
    )
