"""What nobody needs, owns or has decided about, and what it costs a day. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from fwctl.catalog.prices import PriceList
from fwctl.errors import Diagnostic, Severity
from fwctl.live.cost import usd_per_hour
from fwctl.live.identity import LEAVING, Matches, has_expired, match
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.spec.model import Deployment, Spec

HOURS_PER_DAY = 24
ORPHANED = "orphaned"  # of this stack and unprotected: what a clean-up may delete
DOCS = "docs/audit.md"


@dataclass(frozen=True, slots=True)
class Subject:
    """One deployment with all that is known about it. entry: of the specs that means it. requests: in
    the days looked at, None where nobody could read it."""

    live: LiveDeployment
    entry: Deployment | None
    stack: str | None
    requests: float | None
    days: int
    now: datetime

    @property
    def own(self) -> bool:
        """True for a deployment that the stack of the specs has marked."""
        return self.live.marker is not None and self.live.marker.stack == self.stack


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing to decide. usd_per_day: at the replicas that are ready now, None when unknown."""

    kind: str
    severity: Severity
    deployment_id: str
    name: str | None
    message: str
    fix: str
    usd_per_day: float | None

    def to_json(self) -> dict[str, Any]:
        return {
            "kind": self.kind,
            "severity": self.severity.value,
            "deployment_id": self.deployment_id,
            "name": self.name,
            "message": self.message,
            "fix": self.fix,
            "usd_per_day": self.usd_per_day,
        }


@dataclass(frozen=True, slots=True)
class Audit:
    """findings: errors first. total: dollars a day of every deployment with a finding, each counted once;
    unpriced: IDs whose cost is unknown. removable: logical names that a clean-up may delete."""

    findings: tuple[Finding, ...]
    total_usd_per_day: float
    unpriced: tuple[str, ...]
    removable: tuple[str, ...] = field(default=())


def audit(
    live: LiveState,
    spec: Spec | None,
    prices: PriceList,
    *,
    now: datetime,
    days: int,
    requests: Mapping[str, float] | None,
) -> Audit:
    """Judge every deployment that exists. requests: by deployment ID over the last `days` days, a missing
    ID had none; None when the platform's metrics could not be read."""
    found = [
        _finding(rule, subject, text, _usd_per_day(subject.live, prices, live))
        for subject in _subjects(live, spec, now, days, requests)
        for rule in RULES
        if (text := rule.test(subject)) is not None
    ]
    order = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.NOTE: 2}
    found.sort(
        key=lambda item: (order[item.severity], -(item.usd_per_day or 0), item.deployment_id, item.kind)
    )
    costs = {item.deployment_id: item.usd_per_day for item in found}
    return Audit(
        tuple(found),
        round(sum(cost for cost in costs.values() if cost is not None), 2),
        tuple(sorted(id_ for id_, cost in costs.items() if cost is None)),
        tuple(sorted({item.name for item in found if item.kind == ORPHANED and item.name})),
    )


def _subjects(
    live: LiveState, spec: Spec | None, now: datetime, days: int, requests: Mapping[str, float] | None
) -> Iterator[Subject]:
    found = match(spec.deployments.values(), live.deployments, spec.stack) if spec else None
    entries = _entries(found, spec) if found and spec else {}
    for id_, item in sorted(live.deployments.items()):
        if item.state not in LEAVING:
            count = None if requests is None else requests.get(id_, 0.0)
            yield Subject(item, entries.get(id_), spec.stack if spec else None, count, days, now)


def _entries(found: Matches, spec: Spec) -> dict[str, Deployment]:
    pairs = found.by_name.items()
    return {
        item.deployment_id: spec.deployments[name]
        for name, pair in pairs
        for item in (pair.current, pair.next, pair.retiring, *pair.rivals)
        if item is not None
    }


def _usd_per_day(item: LiveDeployment, prices: PriceList, live: LiveState) -> float | None:
    """Dollars for 24 hours of the replicas that are ready now."""
    hourly = usd_per_hour(item, prices, live.shapes)
    return None if hourly is None else round(hourly * HOURS_PER_DAY, 2)


def _unmanaged(subject: Subject) -> str | None:
    if subject.live.marker is not None:
        return None
    if subject.entry is not None:
        return "carries no marker, although the specs mean it"
    return "carries no marker: no spec owns it"


def _idle(subject: Subject) -> str | None:
    young = subject.live.created is not None and subject.now - subject.live.created < timedelta(
        days=subject.days
    )
    if (
        subject.requests is None
        or subject.requests > 0
        or young
        or subject.live.fields.get("replicas.max") == 0
    ):
        return None
    return f"had no request for {subject.days} days"


def _orphaned(subject: Subject) -> str | None:
    marker = subject.live.marker
    if marker is None or subject.entry is not None or not subject.own or marker.protect:
        return None
    if marker.expires is not None:  # an experiment's, which no spec lists; `expired` says when it is over
        return None
    return f"is marked {marker.stack}/{marker.name}, and the specs no longer list it"


def _protected(subject: Subject) -> str | None:
    marker = subject.live.marker
    if marker is None or subject.entry is not None or not subject.own or not marker.protect:
        return None
    return f"is protected and marked {marker.stack}/{marker.name}, and the specs no longer list it"


def _expired(subject: Subject) -> str | None:
    marker = subject.live.marker
    if marker is None or not has_expired(subject.live, subject.now):
        return None
    return f"was made by an experiment, to live until {marker.expires:%Y-%m-%dT%H:%MZ}"


def _failed(subject: Subject) -> str | None:
    if subject.live.state != "FAILED":
        return None
    why = subject.live.status_message
    return f"is FAILED: {why}" if why else "is FAILED"


def _unpinned(subject: Subject) -> str | None:
    if subject.entry is None:
        return None
    pins = ("accelerator.type", "precision", "region")
    missing = [path for path in pins if path not in subject.entry.fields]
    return f"is not pinned: the spec says nothing about {', '.join(missing)}" if missing else None


def _unshaped(subject: Subject) -> str | None:
    if subject.live.fields.get("shape"):
        return None
    return f"runs {subject.live.fields.get('model', 'its model')} without a shape"


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the audit. fix: with {id}, {name} and {model} filled in."""

    kind: str
    severity: Severity
    test: Callable[[Subject], str | None]
    fix: str


_ERROR, _WARNING, _NOTE = Severity.ERROR, Severity.WARNING, Severity.NOTE
RULES: tuple[Rule, ...] = (
    Rule("failed", _ERROR, _failed, "`fwctl plan` shows the way back, `fwctl destroy {name}` removes it"),
    Rule(ORPHANED, _ERROR, _orphaned, "`fwctl destroy {name}`, or list it again, or `fwctl forget {name}`"),
    Rule(
        "expired", _ERROR, _expired, "`fwctl destroy {name}`; any `fwctl apply` of its stack deletes it too"
    ),
    Rule(
        "protected-but-removed",
        _ERROR,
        _protected,
        "list it with lifecycle.prevent_destroy: false, apply, then remove it; or `fwctl forget {name}`",
    ),
    Rule("idle", _WARNING, _idle, "`fwctl park {name}` stops its replicas and keeps it"),
    Rule(
        "unmanaged",
        _WARNING,
        _unmanaged,
        "`fwctl import {id}` writes its spec, `fwctl adopt {id}` takes it over",
    ),
    Rule("unshaped", _WARNING, _unshaped, "`fwctl shapes {model}` lists validated shapes"),
    Rule("unpinned", _NOTE, _unpinned, "write these fields, so that a change of default cannot move it"),
)


def _finding(rule: Rule, subject: Subject, text: str, cost: float | None) -> Finding:
    item = subject.live
    name = item.marker.name if item.marker else subject.entry.name if subject.entry else None
    model = item.fields.get("model", "MODEL")
    fix = rule.fix.format(id=item.deployment_id, name=name or item.deployment_id, model=model)
    message = f"{item.deployment_id} {text}"
    return Finding(rule.kind, rule.severity, item.deployment_id, name, message, fix, cost)


def diagnostics(result: Audit, spec: Spec | None) -> tuple[Diagnostic, ...]:
    """The findings as every report format knows them; the place is the entry of the spec, where one is."""
    found = []
    for item in result.findings:
        entry = spec.deployments.get(item.name) if spec and item.name else None
        cost = "" if item.usd_per_day is None else f" (${item.usd_per_day:,.2f} a day)"
        found.append(
            Diagnostic(
                item.severity,
                item.kind,
                item.message + cost,
                item.name or item.deployment_id,
                position=entry.position_of("") if entry else None,
                suggestion=item.fix,
                docs=f"{DOCS}#{item.kind}",
            )
        )
    return tuple(found)
