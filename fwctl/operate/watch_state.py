"""From what is true at each look to alerts that fire once and resolve once. Pure; the state is plain JSON."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

from fwctl.operate.rules_model import Answer, Hit, Judged, Rule

PENDING, FIRING = "pending", "firing"
FIRED, RESOLVED = "fired", "resolved"


@dataclass(frozen=True, slots=True)
class Alert:
    """One rule that is or was true for one subject. since: first look at which it was true. fired: when
    it began to fire. quiet_since: first look of those in a row at which it was not true."""

    rule: str
    subject: str
    label: str
    severity: str
    phase: str
    since: datetime
    fired: datetime | None = None
    quiet_since: datetime | None = None
    evidence: str = ""
    fix: str = ""
    proposal: str | None = None
    usd_per_hour_change: float | None = None

    @property
    def key(self) -> tuple[str, str]:
        return self.rule, self.subject

    def to_json(self) -> dict[str, Any]:
        """The object of docs/json.md."""
        return {
            "rule": self.rule,
            "subject": self.subject,
            "label": self.label,
            "severity": self.severity,
            "phase": self.phase,
            "since": self.since.isoformat(),
            "fired": self.fired.isoformat() if self.fired else None,
            "quiet_since": self.quiet_since.isoformat() if self.quiet_since else None,
            "evidence": self.evidence,
            "fix": self.fix,
            "proposal": self.proposal,
            "usd_per_hour_change": self.usd_per_hour_change,
        }


@dataclass(frozen=True, slots=True)
class Event:
    """An alert that began or ended. kind: `fired` or `resolved`. at: when."""

    kind: str
    at: datetime
    alert: Alert

    @property
    def id(self) -> str:
        """The same at every delivery of this event and of no other, so that receivers can tell repeats."""
        return f"{self.alert.rule}/{self.alert.subject}/{self.alert.since.isoformat()}/{self.kind}"

    def to_json(self) -> dict[str, Any]:
        """The object of docs/json.md."""
        return {"event": self.kind, "id": self.id, "at": self.at.isoformat(), **self.alert.to_json()}


@dataclass(slots=True)
class State:
    """All that a watch must remember. seen: deployment ID -> (state, since). requests: deployment ID ->
    last moment with traffic. outbox: key of a sink -> events that it did not take yet."""

    alerts: dict[tuple[str, str], Alert] = field(default_factory=dict)
    seen: dict[str, tuple[str, datetime]] = field(default_factory=dict)
    requests: dict[str, datetime] = field(default_factory=dict)
    outbox: dict[str, list[dict[str, Any]]] = field(default_factory=dict)

    def firing(self) -> list[Alert]:
        """Alerts that fire, worst first."""
        order = {"error": 0, "warning": 1, "note": 2}
        found = [alert for alert in self.alerts.values() if alert.phase == FIRING]
        return sorted(found, key=lambda alert: (order.get(alert.severity, 3), alert.since, alert.key))


def step(state: State, judged: Iterable[Judged], now: datetime) -> list[Event]:
    """Move every alert by one look and return what began or ended. A rule that cannot be judged leaves
    its alert as it is; a subject that is gone has its alerts resolved."""
    events: list[Event] = []
    rows = {item.key: item for item in judged}
    for key, item in rows.items():
        alert = state.alerts.get(key)
        if isinstance(item.answer, Hit):
            events += _moved(state, key, alert, _true(alert, item, item.answer, now), now)
        elif item.answer is Answer.NO:
            events += _moved(state, key, alert, _false(alert, item.rule, now), now)
    for key in [key for key in state.alerts if key not in rows]:
        events += _moved(state, key, state.alerts[key], None, now)
    return events


def _true(alert: Alert | None, item: Judged, hit: Hit, now: datetime) -> Alert:
    base = alert or Alert(
        item.rule.name, item.subject, item.label, item.rule.severity.value, PENDING, since=now
    )
    since = base.since if base.phase == FIRING else min(base.since, now)  # clocks are set back
    firing = base.phase == FIRING or now - since >= timedelta(seconds=item.rule.hold_s)
    return replace(
        base,
        since=since,
        label=item.label,
        severity=item.rule.severity.value,
        phase=FIRING if firing else PENDING,
        fired=base.fired or (now if firing else None),
        quiet_since=None,
        evidence=hit.evidence,
        fix=hit.fix,
        proposal=hit.proposal.command if hit.proposal else None,
        usd_per_hour_change=hit.proposal.usd_per_hour_change if hit.proposal else None,
    )


def _false(alert: Alert | None, rule: Rule, now: datetime) -> Alert | None:
    """A pending alert is forgotten at once; a firing one when it was quiet for long enough."""
    if alert is None or alert.phase == PENDING:
        return None
    quiet = min(alert.quiet_since or now, now)
    return None if now - quiet >= timedelta(seconds=rule.resolve_s) else replace(alert, quiet_since=quiet)


def _moved(
    state: State, key: tuple[str, str], before: Alert | None, after: Alert | None, now: datetime
) -> list[Event]:
    """Store the alert; the event when it began or ended."""
    was = before is not None and before.phase == FIRING
    if after is None:
        state.alerts.pop(key, None)
        return [Event(RESOLVED, now, before)] if before is not None and was else []
    state.alerts[key] = after
    return [Event(FIRED, now, after)] if after.phase == FIRING and not was else []


def to_json(state: State) -> dict[str, Any]:
    """The state as it is stored."""
    return {
        "alerts": [alert.to_json() for alert in state.alerts.values()],
        "seen": {id_: [name, at.isoformat()] for id_, (name, at) in state.seen.items()},
        "requests": {id_: at.isoformat() for id_, at in state.requests.items()},
        "outbox": state.outbox,
    }


def from_json(document: Any) -> State:
    """What `to_json` wrote; an empty state for anything else, because the file may be deleted or
    damaged at any time without harm."""
    try:
        alerts = [_alert(row) for row in document["alerts"]]
        return State(
            {alert.key: alert for alert in alerts},
            {id_: (str(name), _time(at)) for id_, (name, at) in document["seen"].items()},
            {id_: _time(at) for id_, at in document["requests"].items()},
            {name: [_waiting(event) for event in events] for name, events in document["outbox"].items()},
        )
    except (TypeError, KeyError, ValueError, AttributeError):
        return State()


_TEXTS = ("event", "at", "rule", "subject", "label", "severity", "since", "evidence", "fix")


def _waiting(row: Mapping[str, Any]) -> dict[str, Any]:
    """An event of the outbox with all that a sink tells of it."""
    if not all(isinstance(row[key], str) for key in _TEXTS):
        raise ValueError(row)
    float(row["usd_per_hour_change"] or 0.0)
    return {**row, "fired": row["fired"], "proposal": row["proposal"] and str(row["proposal"])}


def _alert(row: Mapping[str, Any]) -> Alert:
    times = {key: _time(row[key]) if row[key] else None for key in ("fired", "quiet_since")}
    return Alert(**{**row, "since": _time(row["since"]), **times})


def _time(text: str) -> datetime:
    found = datetime.fromisoformat(text)
    if found.tzinfo is None:
        raise ValueError(text)
    return found
