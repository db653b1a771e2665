"""Runs every guard over the changes and blocks what they stop."""

from __future__ import annotations

from collections.abc import Sequence

from fwctl.errors import Diagnostic
from fwctl.planning.blocking import blocked
from fwctl.planning.context import Context, problem
from fwctl.planning.guards import budget, deletes, fit, gates, lock, platform, quota, scale
from fwctl.planning.guards.finding import FAIL, PASS, UNKNOWN, WARN, Finding, Guard
from fwctl.planning.model import Change, Check

# In the order in which their checks are shown. Deletes that are refused one by one still count for the
# threshold, so that naming them all does not slip past it.
ALL: tuple[Guard, ...] = (
    platform.models,
    platform.region_has_gpu,
    fit.fit,
    fit.context_length,
    gates.evaluation,
    gates.bench,
    deletes.protection,
    deletes.named,
    deletes.thresholds,
    deletes.traffic,
    scale.scale_down,
    lock.lock,
    lock.upstream,
    quota.quota,
    budget.budget,
)


def guarded(context: Context, changes: Sequence[Change]) -> tuple[list[Change], list[Check]]:
    """The changes with the refused ones blocked, and every check."""
    findings = [finding for guard in ALL for finding in guard(context, changes)]
    causes: dict[tuple[str, str], list[Diagnostic]] = {}
    for finding in findings:
        for change in finding.blocks if finding.status == FAIL else ():
            causes.setdefault(_key(change), []).append(_diagnostic(context, finding, change))
    checks = [_account(context), *_unread(context), *(_check(finding) for finding in findings)]
    return [blocked(change, causes.get(_key(change), ())) for change in changes], checks


def _key(change: Change) -> tuple[str, str]:
    return change.name, change.deployment_id


def _account(context: Context) -> Check:
    """Names of another account end the read, so what arrives here has been compared."""
    own, other = context.spec.account, context.live.signed_in_as
    count = len(context.live.deployments)
    said = f"{count} deployment{'' if count == 1 else 's'} read, all of account {own}"
    if other is not None and other != own:
        return Check("account", WARN, f"{said}; signed in to {other}")
    return Check("account", PASS, said)


def _unread(context: Context) -> list[Check]:
    """Optional reads that failed; quotas have a check of their own."""
    return [
        Check(what, UNKNOWN, f"{what} cannot be read: {why}")
        for what, why in context.live.unread.items()
        if what != "quotas"
    ]


def _check(finding: Finding) -> Check:
    return Check(finding.name, finding.status, finding.message, finding.deployment)


def _diagnostic(context: Context, finding: Finding, change: Change) -> Diagnostic:
    return problem(
        finding.code or finding.name,
        finding.message,
        context.spec.deployments.get(change.name),
        finding.path,
        suggestion=finding.suggestion,
        deployment=change.name,
    )
