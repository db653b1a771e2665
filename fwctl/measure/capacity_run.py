"""Levels of a capacity search as runs of the harness: one folder of records each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from fwctl.env import Clock
from fwctl.errors import RefusedError
from fwctl.measure.capacity import Load, Row, Sent, Sizes
from fwctl.measure.giving_up import AFTER_S, UNSERVED, why
from fwctl.measure.lines import read_rows
from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.run import run
from fwctl.measure.suite import Suite
from fwctl.measure.target import Target

SETTLE = 0.2  # share of a level that runs before it is measured, so that its queue is there


@dataclass(frozen=True, slots=True)
class Setup:
    """What every level has in common. targets: several share the rate, such as adapters of one deployment.
    level_s: seconds that a level is measured at least. sized: gives a plan the processes it needs, by
    default none but this one. ready: replicas that are ready, asked before every level; None where nobody
    can tell."""

    suite: Suite
    targets: Sequence[Target]
    folder: Path
    clock: Clock
    level_s: float = 30.0
    cache: Cache = Cache.NATURAL
    sized: Callable[[Plan], Plan] | None = None
    selftest: dict[str, Any] | None = None
    ready: Callable[[], int] | None = None


def loader(setup: Setup, sizes: Sizes) -> Load:
    """The function that `capacity.search` takes.

    It raises RefusedError when the ready replicas changed between two levels and when a target has never
    served a request, KeyboardInterrupt when a level was interrupted.
    """
    expected = setup.ready() if setup.ready is not None else None
    served: set[str] = set()

    def load(rate: float, look: int) -> Sent:
        if setup.ready is not None and (now := setup.ready()) != expected:
            raise RefusedError(
                f"the ready replicas changed from {expected} to {now} during the search",
                next_steps=["give the deployment as many replicas as at least and at most, and search again"],
            )
        seconds = max(setup.level_s, sizes.requests / rate)
        out = setup.folder / f"{rate:.4g}-per-s-{look + 1}"
        plan = Plan(
            setup.suite,
            list(setup.targets),
            Shape(rate_per_s=rate / len(setup.targets), seed=look + 1),
            out,
            repeats=None,
            warmup=max(1, round(rate * seconds * SETTLE / len(setup.targets))),
            duration_s=seconds,
            cache=setup.cache,
            give_up_s=AFTER_S,
        )
        plan = plan if setup.sized is None else setup.sized(plan)
        summary = run(plan, setup.clock, setup.selftest)
        if summary["interrupted"]:
            raise KeyboardInterrupt
        rows = arrivals(out)
        served.update(row["target"] for row in rows if row["error_class"] not in UNSERVED)
        if dead := [reason for name, reason in _failures(rows).items() if name not in served]:
            raise RefusedError("; ".join(dead), next_steps=[f"see {out / 'records.jsonl'}"])
        # A target that served before and then no more has missed this rate; this machine is not to blame.
        own = [reason for reason in summary["invalid_reasons"] if reason not in summary["given_up"].values()]
        return Sent(rows, seconds, tuple(own))

    return load


def arrivals(folder: Path) -> list[Row]:
    """The measured records of a run in order of arrival, with `arrived_s` (epoch seconds when due)."""
    rows = [
        {**row, "arrived_s": datetime.fromisoformat(row["started_at"]).timestamp() - _late(row)}
        for row in read_rows(folder / "records.jsonl")
        if row["measured"]
    ]
    return sorted(rows, key=lambda row: row["arrived_s"])


def _failures(rows: Sequence[Row]) -> dict[str, str]:
    """By target, for those with a failed request: its first failure in words."""
    found: dict[str, str] = {}
    for row in rows:
        if row["error_class"] is not None:
            found.setdefault(row["target"], f"{row['target']} served no request: {why(row)}")
    return found


def _late(row: Row) -> float:
    return float(row.get("dispatch_lag_s") or 0.0)
