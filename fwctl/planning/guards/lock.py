"""Notes about `fwctl.lock`; what it forbids is found where the shape version is chosen."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.planning.context import Context
from fwctl.planning.guards.finding import PASS, WARN, Finding, active, creates
from fwctl.planning.locked import wanted_of
from fwctl.planning.model import Change
from fwctl.records.resolve import upstream as upstream_changes


def lock(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """Says which creates take a version that nobody wrote down."""
    new = [change for change in active(changes) if creates(change) and "shape" in change.desired]
    if not new or context.options.no_lock:
        return
    if context.lock is None:
        yield Finding("lock", WARN, "there is no fwctl.lock: `fwctl lock` records the shape versions")
        return
    for change in new:
        entry = context.spec.deployments[change.name]
        shape = str(entry.fields["shape"])
        if context.lock.shape(shape, str(change.desired["model"])) is None:
            message = f"{shape} is not in fwctl.lock; it takes {change.desired['shape']}"
            yield Finding("lock", WARN, message, change.name)
        else:
            yield Finding("lock", PASS, f"{change.desired['shape']} as locked", change.name)


def upstream(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """What others changed behind locked names, as a difference; evidence of before no longer counts."""
    if context.lock is None or context.options.no_lock:
        return
    shown = {change.name for change in changes}
    wanted = [item for item in wanted_of(context.spec) if item.deployment in shown]
    for found in upstream_changes(context.lock, wanted, context.live):
        yield Finding("upstream", WARN, found.message, found.deployment)
