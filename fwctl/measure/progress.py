"""What is known of a run while it goes on."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fwctl.measure.plan import Plan, Shape
from fwctl.stats.quantiles import quantile

RECENT = 500


@dataclass(slots=True)
class Arm:
    """One target at the present load. The times are of the last requests that went well, in seconds."""

    done: int = 0
    errors: Counter[str] = field(default_factory=Counter)
    ttft_s: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))
    total_s: deque[float] = field(default_factory=lambda: deque(maxlen=RECENT))

    def spread(self, values: deque[float]) -> tuple[float, float] | None:
        """p50 and p95 of the recent values."""
        return (quantile(values, 0.5), quantile(values, 0.95)) if values else None


@dataclass(slots=True)
class Progress:
    """Counts since the start; `total` is None when only time ends the run. Seconds on the caller's clock."""

    total: int | None
    began: float
    now: float
    level: Shape
    duration_s: float | None = None
    done: int = 0
    warming: int = 0
    arms: dict[str, Arm] = field(default_factory=dict)

    @property
    def rate_per_s(self) -> float:
        """Requests that ended, per second."""
        return (self.done + self.warming) / (self.now - self.began) if self.now > self.began else 0.0

    def add(self, row: Mapping[str, Any]) -> None:
        """Count one record."""
        if not row["measured"]:
            self.warming += 1
            return
        self.done += 1
        arm = self.arms.setdefault(row["target"], Arm())
        arm.done += 1
        if row["error_class"] is not None:
            arm.errors[row["error_class"]] += 1
            return
        for values, name in ((arm.ttft_s, "ttft_s"), (arm.total_s, "total_s")):
            if row[name] is not None:
                values.append(row[name])


Watch = Callable[[Progress], None]


def expected(plan: Plan) -> int | None:
    """Measured requests of a whole run, None when only time ends it."""
    if plan.repeats is None or plan.duration_s is not None:
        return None
    return plan.suite.count * plan.repeats * len(plan.targets) * len(plan.shapes)
