"""What the user asked of a plan beside the specs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any


class Intent(StrEnum):
    """One thing wanted of named deployments, whatever the specs say."""

    HOLD = "hold"
    RELEASE = "release"
    PARK = "park"
    UNPARK = "unpark"
    ADOPT = "adopt"
    FORGET = "forget"
    DESTROY = "destroy"
    UNDELETE = "undelete"
    ROLLBACK = "rollback"


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """Choices and lifted guards.

    targets/excludes: logical names; with targets only these are planned. sets: what-if values by name
    and field path, canonical. intent: restricts the plan to `intent_names`. hold_until: for
    Intent.HOLD. max_deletes: None keeps the built-in thresholds. expires: the spec holds candidates of an
    experiment, which live until then.
    """

    targets: tuple[str, ...] = ()
    excludes: tuple[str, ...] = ()
    sets: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    prune: bool = False
    upgrade_shapes: bool = False
    no_lock: bool = False
    require_fit: bool = False
    max_deletes: int | None = None
    adopt: tuple[str, ...] = ()
    allow_delete: tuple[str, ...] = ()
    allow_traffic_loss: tuple[str, ...] = ()
    allow_scale_down: tuple[str, ...] = ()
    intent: Intent | None = None
    intent_names: tuple[str, ...] = ()
    hold_until: datetime | None = None
    expires: datetime | None = None

    def adopts(self, name: str) -> bool:
        """True when this deployment may be taken over."""
        return name in self.adopt or (self.intent is Intent.ADOPT and name in self.intent_names)

    def selects(self, name: str) -> bool:
        """True when the plan is about this logical name."""
        if self.intent is not None and name not in self.intent_names:
            return False
        return name not in self.excludes and (not self.targets or name in self.targets)
