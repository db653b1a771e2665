"""desired + live -> Plan. The order of work: what-if values, one decision an entry, deletes, guards, cost.

Nothing here reads a file, a clock or the environment; the same values always give the same plan.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from itertools import takewhile
from typing import Any

from fwctl.catalog.fields import BY_PATH
from fwctl.catalog.prices import PriceList
from fwctl.errors import UsageError
from fwctl.firectl.capabilities import Capabilities, require
from fwctl.live.model import LiveState
from fwctl.planning.context import Context
from fwctl.planning.cost import change_uses, cost_of, plan_cost
from fwctl.planning.decide import decide
from fwctl.planning.digest import live_fingerprint
from fwctl.planning.guards.apply import guarded
from fwctl.planning.intents import intent_changes
from fwctl.planning.model import Change, Plan
from fwctl.planning.options import Intent, PlanOptions
from fwctl.planning.orphans import expired_changes, orphan_changes
from fwctl.planning.reservations import reserved
from fwctl.planning.steps import ROUTER_VERBS
from fwctl.planning.what_if import advice
from fwctl.records.lockfile import LockFile
from fwctl.spec.model import Deployment, Evidence, Spec


def make_plan(
    spec: Spec,
    live: LiveState,
    *,
    caps: Capabilities,
    options: PlanOptions,
    prices: PriceList,
    now: datetime,
    fit: Mapping[str, Mapping[str, Any]] | None = None,
    evidence: Evidence | None = None,
    lock: LockFile | None = None,
    traffic: Mapping[str, float | None] | None = None,
    starts: Mapping[str, Sequence[float]] | None = None,
) -> Plan:
    """The plan that takes live state to the spec.

    fit: fit-check results by logical name, as JSON. traffic: requests in the last hour by deployment ID.
    starts: seconds that earlier starts took, by model name.
    Raises UsageError when an option names a deployment that neither the spec nor this stack has,
    FirectlTooOldError when the spec requires a newer firectl.
    """
    context = Context(
        spec=with_sets(spec, options),
        live=live,
        caps=caps,
        options=options,
        prices=prices,
        now=now,
        fit=fit or {},
        evidence=evidence or Evidence(),
        lock=lock,
        traffic=traffic or {},
        starts=starts or {},
    )
    require(caps, spec.settings.get("require_firectl"))
    _check_names(context)
    return _plan(context)


def _plan(context: Context) -> Plan:
    """Looks a second time when an entry does not come behind its router after all, because others count
    on it there."""
    changes, drift, notes = _changes(context)
    changes = sorted(changes, key=lambda change: (change.address, change.deployment_id))
    changes, checks = guarded(context, [_priced(context, change) for change in changes])
    stuck = frozenset(change.name for change in changes if _stays_away(context, change))
    if stuck - context.stuck:
        return _plan(replace(context, stuck=stuck | context.stuck))
    return Plan(
        account=context.spec.account,
        stack=context.spec.stack,
        changes=tuple(changes),
        live_fingerprint=live_fingerprint(change.live for change in changes if change.live),
        cost={**plan_cost(context, changes), "reserved": reserved(context, changes)},
        checks=tuple(checks),
        drift=tuple(drift),
        diagnostics=tuple(cause for change in changes for cause in change.blocked_by),
        notes=tuple(notes),
    )


def _stays_away(context: Context, change: Change) -> bool:
    """True when a deployment is not behind the router it wants and this plan does not put it there."""
    entry = context.spec.deployments.get(change.name)
    router = entry.fields.get("router") if entry else None
    if router is None or any(step.verb in ROUTER_VERBS for step in change.steps):
        return False
    return change.live is None or router not in context.routers_of.get(change.live.deployment_id, ())


def with_sets(spec: Spec, options: PlanOptions) -> Spec:
    """The spec with the what-if values of `--set` in place."""
    if not options.sets:
        return spec
    entries = dict(spec.deployments)
    for name, values in options.sets.items():
        if name not in entries:
            raise UsageError(f"--set names {name!r}, which is not in the spec")
        fields, own = dict(entries[name].fields), dict(entries[name].own)
        for path, value in values.items():
            (fields if BY_PATH[path].managed else own)[path] = value
        entries[name] = replace(entries[name], fields=fields, own=own)
    return replace(spec, deployments=entries)


def _check_names(context: Context) -> None:
    """A misspelt name in --target would otherwise plan nothing and look like success.

    The names that lift guards are not asked for: one that means nothing lifts nothing, and the command
    that pruned a deployment must be able to run again.
    """
    options = context.options
    known = {*context.spec.deployments, *context.matches.orphans}
    lists = {
        "--target": options.targets,
        "--exclude": options.excludes,
        "--adopt": options.adopt,
    }
    for flag, names in lists.items():
        for name in names:
            if name not in known:
                raise UsageError(
                    f"{flag} names {name!r}, which neither the spec nor this stack has",
                    next_steps=[advice(name, known)],
                )


def _changes(context: Context) -> tuple[list[Change], list[Mapping[str, Any]], list[str]]:
    """What is to happen before the guards look at it, the drift, and notes about the whole."""
    if context.options.intent not in (None, Intent.ADOPT):
        return intent_changes(context), [], []
    changes, drift = _entry_changes(context)
    deletes, notes = orphan_changes(context)
    return [*changes, *deletes, *expired_changes(context)], drift, notes


def _entry_changes(context: Context) -> tuple[list[Change], list[Mapping[str, Any]]]:
    changes: list[Change] = []
    drift: list[Mapping[str, Any]] = []
    for name in sorted(context.spec.deployments):
        if context.options.selects(name):
            entry = context.spec.deployments[name]
            change, difference = decide(context, entry)
            changes.append(replace(change, after=_after(context, entry), fit=context.fit.get(name)))
            drift += difference.drift
    return changes, drift


def _after(context: Context, entry: Deployment) -> tuple[str, ...]:
    """`lifecycle.after`, and the entry before it behind a router that has to be made."""
    names = set(entry.own.get("lifecycle.after", ()))
    router = entry.fields.get("router")
    if router is not None:
        behind = context.behind_router.get(str(router), ())
        names |= set([*takewhile(lambda name: name != entry.name, behind)][-1:])
    return tuple(sorted(names))


def _priced(context: Context, change: Change) -> Change:
    return replace(change, cost=cost_of(context, *change_uses(context, change)))
