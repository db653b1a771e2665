"""The plan: what would change, why, at what cost, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.catalog.fields import Effect
from fwctl.errors import Diagnostic, Position


@dataclass(frozen=True, slots=True)
class FieldChange:
    """One field that moves. `before`/`after` are canonical values, None when absent; sensitive ones
    are never held here, only the mask."""

    path: str
    before: Any
    after: Any
    effect: Effect
    output_changing: bool = False
    sensitive: bool = False
    source: Position | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Check:
    """Result of one guard or comparison: fit, budget, quota, ownership, shape, lock ..."""

    name: str
    status: str  # pass | fail | warn | unknown
    message: str
    deployment: str | None = None


@dataclass(frozen=True, slots=True)
class Cost:
    """Dollars an hour of one deployment or a whole plan; None where a price is unknown."""

    floor_usd_per_hour: float | None
    ceiling_usd_per_hour: float | None
    floor_change: float | None
    ceiling_change: float | None


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one deployment.

    actions: one of create, update, delete, adopt, park, unpark, mark, undelete, wait, blocked, no-op;
    a replacement is ("delete", "create") or ("create", "delete"). commands: the exact firectl calls,
    secrets masked.
    """

    name: str
    deployment_id: str
    actions: tuple[str, ...]
    reason: str = ""
    fields: tuple[FieldChange, ...] = ()
    commands: tuple[tuple[str, ...], ...] = ()
    fit: Mapping[str, Any] | None = None
    cost: Cost | None = None
    blocked_by: tuple[Diagnostic, ...] = ()

    @property
    def address(self) -> str:
        return f"deployments/{self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole plan, changes sorted by address. `desired` is what `apply --plan` recomputes from."""

    account: str
    stack: str
    changes: tuple[Change, ...]
    live_fingerprint: str
    cost: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    drift: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
    desired: Mapping[str, Any] = field(default_factory=dict)
