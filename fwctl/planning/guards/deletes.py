"""Deletes and replacements: named one by one, never of protected deployments, and not many at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.planning.context import Context
from fwctl.planning.guards.finding import FAIL, PASS, UNKNOWN, WARN, Finding, active, removes
from fwctl.planning.model import Change
from fwctl.planning.options import Intent

STACK_FROM = 5  # deployments; below, a share says nothing
MOST_DELETES = 5
MOST_SHARE = 0.30


def protection(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Protected deployments are never deleted or replaced, whatever is named."""
    for change in filter(removes, active(changes)):
        if is_protected(context, change):
            yield Finding(
                "delete_protection",
                FAIL,
                f"{change.name} ({change.deployment_id}) is protected and would be deleted",
                change.name,
                (change,),
                "set `lifecycle.prevent_destroy: false`, apply, then delete or replace it",
            )


def is_protected(context: Context, change: Change) -> bool:
    """By its marker or by its spec: taking the block out of the file does not take protection off. A
    replacement's new half that is rolled back was never protected."""
    if context.options.intent is Intent.ROLLBACK:
        return False
    marker = change.live.marker if change.live else None
    entry = context.spec.deployments.get(change.name)
    return bool(marker and marker.protect) or bool(entry and entry.protected)


def named(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Each delete or replacement must be asked for by name."""
    if context.options.intent in (Intent.DESTROY, Intent.ROLLBACK):
        return
    for change in filter(removes, active(changes)):
        if change.name not in context.options.allow_delete and not context.is_over(change.live):
            what = "deleted" if change.actions == ("delete",) else "replaced"
            yield Finding(
                "delete",
                FAIL,
                f"{change.name} ({change.deployment_id}) would be {what}, and nobody named it",
                change.name,
                (change,),
                f"--allow-delete {change.name}",
            )


def thresholds(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Many deletes at once are more often a lost file than an intention."""
    leaving = [change for change in active(changes) if removes(change) and not context.is_over(change.live)]
    size, count = len(context.matches.managed), len(leaving)
    limit = context.options.max_deletes
    if limit is None:
        limit = min(MOST_DELETES, int(size * MOST_SHARE)) if size >= STACK_FROM else count
    if count > limit:
        yield Finding(
            "deletes",
            FAIL,
            f"{count} of the {size} deployments of the stack would be deleted or replaced, limit {limit}",
            None,
            tuple(leaving),
            f"--max-deletes {count}",
        )
    elif leaving:
        yield Finding("deletes", PASS, f"{count} of {size} deployments of the stack, limit {limit}")


def traffic(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """The platform refuses to delete what served within the last hour (firectl, September 2026)."""
    for change in filter(removes, active(changes)):
        if change.name in context.options.allow_traffic_loss or context.is_over(change.live):
            continue
        requests = context.traffic.get(change.deployment_id)
        if requests is None:
            yield Finding(
                "traffic",
                UNKNOWN,
                f"traffic of {change.deployment_id} in the last hour is not known; the platform refuses the "
                "delete if there was any",
                change.name,
            )
        elif requests > 0:
            yield _with_traffic(change, requests)


def _with_traffic(change: Change, requests: float) -> Finding:
    moves_first = change.actions == ("create", "delete")
    said = f"{change.deployment_id} had at least {requests:.0f} requests in the last hour"
    then = "; the old one can go an hour after its last one" if moves_first else ", so its delete is refused"
    return Finding(
        "traffic",
        WARN if moves_first else FAIL,
        said + then,
        change.name,
        () if moves_first else (change,),
        f"wait an hour, or --allow-traffic-loss {change.name}",
    )
