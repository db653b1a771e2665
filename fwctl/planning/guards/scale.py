"""Scale-downs below what is in use."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.planning.context import Context
from fwctl.planning.guards.finding import FAIL, UNKNOWN, Finding, active
from fwctl.planning.model import Change


def scale_down(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """A ceiling below the replicas that run or are wanted takes capacity away from traffic."""
    for change in active(changes):
        moved = next((item for item in change.fields if item.path == "replicas.max"), None)
        if change.live is None or moved is None or "create" in change.actions or moved.after is None:
            continue
        if change.name in context.options.allow_scale_down:
            continue
        in_use = max(change.live.replicas.desired, change.live.replicas.ready)
        if moved.after == 0:
            yield from _parking(context, change, in_use)
        elif moved.after < in_use:
            yield _refused(change, f"max replicas would be {moved.after}, {in_use} are in use")


def _parking(context: Context, change: Change, in_use: int) -> Iterable[Finding]:
    requests = context.traffic.get(change.deployment_id)
    if requests:
        yield _refused(change, f"it would be parked and had {requests:.0f} requests in the last hour")
    elif in_use > 0 and requests is None:
        yield _refused(change, f"it would be parked while {in_use} replicas are in use")
    elif requests is None:
        message = f"traffic of {change.deployment_id} in the last hour is not known"
        yield Finding("scale_down", UNKNOWN, message, change.name)


def _refused(change: Change, why: str) -> Finding:
    return Finding(
        "scale_down",
        FAIL,
        f"{change.name}: {why}",
        change.name,
        (change,),
        f"--allow-scale-down {change.name}",
        path="replicas.max",
    )
