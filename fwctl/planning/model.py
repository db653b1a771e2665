"""The plan: what would change, why, at what cost, and what stands in the way."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.catalog.field import Effect
from fwctl.errors import Diagnostic, Position
from fwctl.live.model import LiveDeployment


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
class Step:
    """One mutating firectl call that a change needs.

    The plan decides what is sent, apply decides when. verb and target: as `firectl.argv.build` takes
    them. fields: every value to send, canonical, by spec path (the marker already inside
    `description`, the shape already the version that will run, tags already with `fwctl.*`); sensitive
    values are `redact.Secret`.
    """

    verb: str
    target: str
    fields: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Change:
    """What happens to one deployment.

    actions: one of create, update, delete, adopt, park, unpark, mark, undelete, wait, blocked, no-op;
    a replacement is ("delete", "create") or ("create", "delete"). commands: the exact firectl calls,
    secrets masked. steps: the same calls as values, in order, for apply. live: what the plan saw on the
    platform, so that apply can tell whether it moved. next_id: in a blue-green replacement the ID of
    the new deployment. after: names whose changes come first. desired: the resolved values (full names,
    the shape as the version that runs) that the deployment must show afterwards. notes: what else a
    reader should know about it.
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
    steps: tuple[Step, ...] = ()
    live: LiveDeployment | None = None
    next_id: str | None = None
    after: tuple[str, ...] = ()
    desired: Mapping[str, Any] = field(default_factory=dict)
    notes: tuple[str, ...] = ()

    @property
    def primary(self) -> str:
        """The word that counts in the summary: a replacement is `replace`, else the first action."""
        return "replace" if set(self.actions) == {"delete", "create"} else self.actions[0]

    @property
    def blocked(self) -> bool:
        return "blocked" in self.actions

    @property
    def address(self) -> str:
        return f"deployments/{self.name}"


@dataclass(frozen=True, slots=True)
class Plan:
    """The whole plan, changes sorted by address. What it is recomputed from is `plan_file.Inputs`."""

    account: str
    stack: str
    changes: tuple[Change, ...]
    live_fingerprint: str
    cost: Mapping[str, Any] = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    drift: tuple[Mapping[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    diagnostics: tuple[Diagnostic, ...] = ()
