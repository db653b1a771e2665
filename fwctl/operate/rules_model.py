"""What a watch rule sees, and what it may answer. Plain frozen values."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from fwctl.errors import Severity
from fwctl.live.model import LiveDeployment
from fwctl.operate.exporter import DeploymentMetrics
from fwctl.spec.model import Deployment

# A severity as those who are alerted know it, and as files of kind Watch say it.
LEVELS = {"error": "critical", "warning": "warning", "note": "info"}


class Scope(StrEnum):
    DEPLOYMENT = "deployment"
    ACCOUNT = "account"


@dataclass(frozen=True, slots=True)
class Subject:
    """One deployment at one look. metrics: None when the page says nothing about it or is too old.

    state_since: when the watch first saw its present state. typical_start_s: longest usual start-up of
    its model in the history, None without history. last_request: last known moment with traffic, None
    when not known. tested_replicas: most replicas that a bench covered, None when nothing is known.
    usd_per_replica_hour: None when the price is unknown.
    """

    live: LiveDeployment
    now: datetime
    entry: Deployment | None = None
    metrics: DeploymentMetrics | None = None
    state_since: datetime | None = None
    typical_start_s: float | None = None
    last_request: datetime | None = None
    tested_replicas: int | None = None
    usd_per_replica_hour: float | None = None
    speculation: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """As `label_of`."""
        return label_of(self.live, self.entry)

    def objective(self, path: str) -> float | None:
        """A number of the spec's `slo`, None when it has none."""
        return objective(self.entry, path) if self.entry else None


def label_of(live: LiveDeployment, entry: Deployment | None) -> str:
    """The logical name, else the ID."""
    named = entry or live.marker
    return named.name if named is not None else live.deployment_id


def objective(entry: Deployment, path: str) -> float | None:
    """A number of `slo`, a percentage as a share; None for an entry without it."""
    value = entry.own.get(path)
    if isinstance(value, str) and value.endswith("%"):
        return float(value.removesuffix("%")) / 100
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) else None


@dataclass(frozen=True, slots=True)
class Account:
    """The whole account at one look. None: not known. metrics_age_s: of the newest reading of the page."""

    now: datetime
    subjects: tuple[Subject, ...]
    usd_per_hour: float | None = None
    budget_usd_per_hour: float | None = None
    requests_per_minute: float | None = None
    requests_per_minute_limit: float | None = None
    metrics_wanted: bool = False
    metrics_age_s: float | None = None
    metrics_error: str | None = None


@dataclass(frozen=True, slots=True)
class Proposal:
    """A change of the spec that would help. set: as `fwctl plan --set` takes it."""

    set: str
    usd_per_hour_change: float | None

    @property
    def command(self) -> str:
        return f"fwctl plan --set {self.set}"


@dataclass(frozen=True, slots=True)
class Hit:
    """A rule that is true now. evidence: with the numbers it was judged by."""

    evidence: str
    fix: str
    proposal: Proposal | None = None


class Answer(StrEnum):
    """A rule that is not true, or cannot be judged; an alert neither fires nor resolves then."""

    NO = "no"
    UNKNOWN = "unknown"


Limits = Mapping[str, float]
DeploymentTest = Callable[[Subject, Limits], Hit | Answer]
AccountTest = Callable[[Account, Limits], Hit | Answer]


@dataclass(frozen=True, slots=True)
class Rule:
    """One row of the table. hold_s: true for so long before it fires; resolve_s: not true for so long
    before it ends. limits: its thresholds by name, with their defaults. summary: what it watches, for
    `--help`, docs and Prometheus. expr: the same condition in PromQL over the exporter's series, with
    {limit} and {selector} filled in; None where the exporter does not have what it needs. objective: the
    path of the spec's `slo` that takes the place of `limit`.
    """

    name: str
    severity: Severity
    summary: str
    test: DeploymentTest | AccountTest
    scope: Scope = Scope.DEPLOYMENT
    hold_s: float = 300.0
    resolve_s: float = 300.0
    limits: Limits = field(default_factory=dict)
    expr: str | None = None
    objective: str | None = None


@dataclass(frozen=True, slots=True)
class Judged:
    """One rule about one subject at one look. subject: the deployment ID, or the account."""

    rule: Rule
    subject: str
    label: str
    answer: Hit | Answer

    @property
    def key(self) -> tuple[str, str]:
        return self.rule.name, self.subject
