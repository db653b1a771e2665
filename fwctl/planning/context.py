"""Everything one plan is computed from, as values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cached_property
from typing import Any

from fwctl.catalog.prices import PriceList
from fwctl.errors import Diagnostic, Severity
from fwctl.firectl.capabilities import Capabilities
from fwctl.live.identity import Matches, has_expired
from fwctl.live.identity import match as match_deployments
from fwctl.live.model import LiveDeployment, LiveState, ShapeVersion
from fwctl.live.routers import routers_of
from fwctl.planning.options import PlanOptions
from fwctl.records.lockfile import LockFile
from fwctl.spec.model import Deployment, Evidence, Spec


@dataclass(frozen=True)
class Context:
    """traffic: requests in the last hour by deployment ID, None or absent where nobody could read it.
    starts: seconds that earlier starts took, by model name.
    stuck: names that a first look found blocked, so that nobody may count on them."""

    spec: Spec
    live: LiveState
    caps: Capabilities
    options: PlanOptions
    prices: PriceList
    now: datetime
    fit: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    evidence: Evidence = field(default_factory=Evidence)
    lock: LockFile | None = None
    traffic: Mapping[str, float | None] = field(default_factory=dict)
    starts: Mapping[str, Sequence[float]] = field(default_factory=dict)
    stuck: frozenset[str] = frozenset()

    @cached_property
    def matches(self) -> Matches:
        return match_deployments(
            self.spec.deployments.values(),
            self.live.deployments,
            self.spec.stack,
            experiment=self.options.expires is not None,
        )

    def is_over(self, live: LiveDeployment | None) -> bool:
        """True for an experiment's deployment whose time has passed."""
        return live is not None and has_expired(live, self.now)

    @cached_property
    def behind_router(self) -> Mapping[str, tuple[str, ...]]:
        """Entries that will stand behind a router, in the order in which they join it."""
        names: dict[str, list[str]] = {}
        for name in sorted(self.spec.deployments):
            router = self.spec.deployments[name].fields.get("router")
            if router is not None and name not in self.stuck and self.options.selects(name):
                names.setdefault(str(router), []).append(name)
        return {router: tuple(members) for router, members in names.items()}

    @cached_property
    def routers_of(self) -> Mapping[str, tuple[str, ...]]:
        """Routers that stand before a deployment, by its ID."""
        return routers_of(self.live)

    @cached_property
    def versions_by_name(self) -> Mapping[str, ShapeVersion]:
        """Every shape version that was read, by its full name."""
        groups = [*(v for v in self.live.shapes.values() if v), *self.live.matches.values()]
        return {version.name: version for group in groups for version in group}

    def running_version(self, live: LiveDeployment) -> ShapeVersion | None:
        """The shape version that a live deployment runs, None without a shape or when it was not read."""
        return self.versions_by_name.get(str(live.fields.get("shape", "")))

    def salt(self, name: str) -> str:
        """Owner that secret digests are keyed with."""
        return f"{self.spec.account}/{self.spec.stack}/{name}"


def problem(
    code: str,
    message: str,
    entry: Deployment | None = None,
    path: str = "",
    *,
    suggestion: str | None = None,
    severity: Severity = Severity.ERROR,
    deployment: str | None = None,
) -> Diagnostic:
    """A diagnostic about a spec entry, placed at one of its fields."""
    name = entry.name if entry else deployment
    pointer = f"/deployments/{name}" + ("/" + path.replace(".", "/") if path else "") if entry else None
    return Diagnostic(
        severity=severity,
        code=code,
        message=message,
        deployment=name,
        path=pointer,
        position=entry.position_of(path) if entry else None,
        suggestion=suggestion,
        docs=f"docs/rules/{code}.md" if code.startswith("FW") else None,
    )
