"""From a spec entry and what it matches to one change: the decision table of a plan."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from fwctl.catalog.field import Effect
from fwctl.errors import Diagnostic
from fwctl.live.identity import IN_FLIGHT, Match
from fwctl.live.model import LiveDeployment
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.creation import creation, not_readable
from fwctl.planning.desired import Desired, resolve
from fwctl.planning.diff import Diff, compare
from fwctl.planning.marking import hold_end, marker_changes, next_marker, owner_text, unfinished
from fwctl.planning.model import Change, FieldChange
from fwctl.planning.replacement import finish, leftover, replacement
from fwctl.planning.steps import (
    mark_steps,
    update_steps,
    with_steps,
)
from fwctl.spec.model import Deployment

NOTHING = ("no-op",)


def decide(context: Context, entry: Deployment) -> tuple[Change, Diff]:
    """The change for one entry before the guards look at it, and the difference it comes from."""
    found = context.matches.by_name[entry.name]
    if found.rivals:
        return _rivals(entry, found.rivals), Diff()
    if found.current is None:
        return creation(context, entry, found), Diff()
    return _existing(context, entry, found, found.current)


def _rivals(entry: Deployment, rivals: tuple[LiveDeployment, ...]) -> Change:
    names = " and ".join(item.deployment_id for item in rivals)
    owner = owner_text(rivals[0].marker)
    cause = problem(
        "two_candidates",
        f"{names} both carry the marker {owner}",
        entry,
        suggestion=f"keep one: `fwctl destroy` the other, or `fwctl forget {entry.name}` and adopt one again",
    )
    return blocked(Change(entry.name, entry.deployment_id, NOTHING, live=rivals[0]), [cause])


def _existing(context: Context, entry: Deployment, found: Match, live: LiveDeployment) -> tuple[Change, Diff]:
    change = Change(entry.name, live.deployment_id, NOTHING, live=live)
    foreign = _foreign(context, entry, live)
    if foreign is not None:
        return blocked(change, [foreign]), Diff()
    desired = resolve(context, entry, live)
    diff = compare(context, desired, live)
    change = replace(change, desired=desired.values, fields=diff.changes, notes=_notes(desired, diff, live))
    if found.retiring is not None:
        return finish(context, desired, live, found.retiring, change), Diff()
    hold = hold_end(context, entry.own, live)
    if hold is not None and (diff or live.state == "FAILED"):
        return _held(change, diff, f"{hold:%Y-%m-%dT%H:%MZ}"), diff
    causes = [*desired.problems, *not_readable(entry, diff.unreadable)]
    if causes:
        return blocked(change, causes), diff
    if live.marker is None:
        return _unmarked(context, desired, diff, live, change), diff
    if live.state == "FAILED" or diff.with_effect(Effect.REPLACE):
        return replacement(context, desired, diff, live, change, following=found.next), diff
    if found.next is not None:
        return blocked(change, [leftover(entry, found.next)]), diff
    return _in_place(context, desired, diff, live, change), diff


def _foreign(context: Context, entry: Deployment, live: LiveDeployment) -> Diagnostic | None:
    marker = live.marker
    if marker is None:
        return None
    if marker.stack != context.spec.stack:
        return problem(
            "foreign_stack",
            f"{live.deployment_id} belongs to stack {marker.stack!r} (as {marker.name})",
            entry,
            suggestion=f"change it from that stack, or `fwctl forget {marker.name}` there first",
        )
    if marker.name != entry.name and marker.name in context.spec.deployments:
        return problem(
            "collision",
            f"{live.deployment_id} is the deployment of {marker.name}, which is in the spec too",
            entry,
            suggestion="give one of them another `id:`",
        )
    return None


def _notes(desired: Desired, diff: Diff, live: LiveDeployment) -> tuple[str, ...]:
    notes = list(diff.notes)
    wanted_id = desired.entry.deployment_id
    if live.deployment_id != wanted_id and not live.deployment_id.startswith(f"{wanted_id}-"):
        notes.append(f"runs as {live.deployment_id}; `id: {wanted_id}` is for a new deployment only")
    notes += [f"{path} is no longer managed; it keeps its value" for path in diff.dropped]
    newer = desired.shape.moved_to
    if newer is not None:
        moved = _snapshot_difference(desired, newer.snapshot)
        notes.append(
            f"a newer validated version of the shape exists: {newer.name} ({moved}); --upgrade-shapes moves "
            "to it"
        )
    return tuple(notes)


def _snapshot_difference(desired: Desired, newer: Any) -> str:
    old = desired.shape.snapshot
    paths = [path for path in sorted({*old, *newer}) if old.get(path) != newer.get(path)]
    return ", ".join(f"{path}: {old.get(path)} -> {newer.get(path)}" for path in paths) or "same snapshot"


def _held(change: Change, diff: Diff, until: str) -> Change:
    waiting = ", ".join(diff.paths)
    note = f"held until {until}" + (f"; {waiting} would change" if waiting else "")
    return replace(change, reason=note, fields=(), notes=(*change.notes, note))


def _unmarked(context: Context, desired: Desired, diff: Diff, live: LiveDeployment, change: Change) -> Change:
    entry = desired.entry
    if context.options.adopts(entry.name):
        if live.state == "FAILED" or diff.with_effect(Effect.REPLACE):
            return replacement(context, desired, diff, live, change)
        return _in_place(context, desired, diff, live, change, adopting=True)
    if not diff:
        note = f"{live.deployment_id} is not marked as this stack's yet; the next change will mark it"
        return replace(change, reason="equal to the spec", notes=(*change.notes, note))
    return blocked(
        change,
        [
            problem(
                "collision",
                f"{live.deployment_id} exists, was not made by this stack, and differs in "
                + ", ".join(diff.paths),
                entry,
                suggestion=f"`--adopt {entry.name}` takes it over and changes it, `fwctl import "
                f"{live.deployment_id}` writes it down as it is, another `id:` leaves it alone",
            )
        ],
    )


def _in_place(
    context: Context,
    desired: Desired,
    diff: Diff,
    live: LiveDeployment,
    change: Change,
    *,
    adopting: bool = False,
) -> Change:
    stuck = [_no_way(desired.entry, item) for item in diff.with_effect(Effect.BLOCKED)]
    if stuck:
        return blocked(change, stuck)
    marker = next_marker(context, desired, live)
    moved = marker_changes(desired, live.marker, marker)
    unfinished_tags = unfinished(live, marker)
    if not diff and not moved and not unfinished_tags:
        return _settled(change, live)
    steps = (
        update_steps(context, desired, live, diff, marker)
        if diff
        else mark_steps(context, live, marker, tags=desired.values.get("tags"))
    )
    change = replace(
        change,
        actions=_actions(diff, adopting),
        reason=_reason(diff, adopting, unfinished_tags),
        fields=(*diff.changes, *moved),
    )
    return with_steps(context, change, steps, desired.entry)


def _settled(change: Change, live: LiveDeployment) -> Change:
    if live.state in IN_FLIGHT:
        return replace(change, actions=("wait",), reason=f"an operation is in flight ({live.state})")
    return change


def _no_way(entry: Deployment, change: FieldChange) -> Diagnostic:
    return problem(
        "no_way",
        f"{change.path} cannot be changed from {change.before} to {change.after}: {change.reason}",
        entry,
        change.path,
        suggestion="keep the live value, upgrade firectl, or delete the deployment and create it anew",
    )


def _actions(diff: Diff, adopting: bool) -> tuple[str, ...]:
    if adopting:
        return ("adopt", "update") if diff else ("adopt",)
    if not diff:
        return ("mark",)
    moves = {item.path: item for item in diff.changes}
    ceiling = moves.get("replicas.max")
    if ceiling is not None and ceiling.after == 0:
        return ("park",)
    return ("unpark",) if ceiling is not None and ceiling.before == 0 else ("update",)


def _reason(diff: Diff, adopting: bool, unfinished_tags: bool) -> str:
    if adopting:
        return "taken over by this stack"
    if not diff:
        return "an earlier apply ended before the tags were written" if unfinished_tags else "marker only"
    restart = diff.with_effect(Effect.ROLLING_RESTART)
    if restart:
        return "rolling restart: " + ", ".join(item.path for item in restart)
    return "in place: " + ", ".join(diff.paths)
