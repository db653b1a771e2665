"""Dollars an hour of deployments and plans. Pure arithmetic on a dated price list."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.live.model import LiveDeployment
from fwctl.planning.context import Context
from fwctl.planning.diff import live_value
from fwctl.planning.model import Change, Cost

HOURS_PER_MONTH = 730  # 365 days x 24 h / 12
CURRENCY = "USD"


@dataclass(frozen=True, slots=True)
class Use:
    """What one deployment takes: GPUs of one type for each replica, and how many replicas."""

    accelerator: str | None
    gpus: int | None
    floor: int
    ceiling: int
    region: str = "GLOBAL"


NOTHING = Use(None, 0, 0, 0)


def use_of_live(context: Context, live: LiveDeployment) -> Use:
    """What a live deployment takes at its bounds, running or not."""
    return _use({path: live_value(context, live, path) for path in _PATHS})


def use_of_wanted(context: Context, change: Change) -> Use:
    """What the deployment of a change takes afterwards: wanted values over the live ones."""
    values: dict[str, Any] = {}
    if change.live is not None and "create" not in change.actions:
        values = {path: live_value(context, change.live, path) for path in _PATHS}
    version = context.versions_by_name.get(str(change.desired.get("shape", "")))
    if version is not None:
        values |= {path: version.snapshot[path] for path in _PATHS if path in version.snapshot}
    values |= {path: change.desired[path] for path in _PATHS if path in change.desired}
    return _use(values)


_PATHS = (
    "accelerator.type",
    "accelerator.count",
    "replicas.min",
    "replicas.max",
    "autoscaling.schedules",
    "region",
)


def _use(values: Mapping[str, Any]) -> Use:
    ceiling = _whole(values.get("replicas.max")) or 0
    lowest = _whole(values.get("replicas.min")) or 0
    schedules = values.get("autoscaling.schedules") or ()
    windows = [_whole(row.get("min_replicas")) or 0 for row in schedules if not row.get("disabled")]
    kind = values.get("accelerator.type")
    return Use(
        accelerator=str(kind) if kind else None,
        gpus=_whole(values.get("accelerator.count")),
        floor=min(max([lowest, *windows]), ceiling) if ceiling else 0,
        ceiling=ceiling,
        region=str(values.get("region") or "GLOBAL"),
    )


def _whole(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def per_hour(context: Context, use: Use, replicas: int) -> float | None:
    """Dollars an hour of that many replicas on demand; None when price, type or count is unknown."""
    if replicas == 0:
        return 0.0
    price = context.prices.price(use.accelerator)
    return None if price is None or use.gpus is None else price * use.gpus * replicas


def cost_of(context: Context, before: Use, after: Use) -> Cost:
    """Cost afterwards and the change; a change is unknown when either side is."""
    floor, ceiling = per_hour(context, after, after.floor), per_hour(context, after, after.ceiling)
    return Cost(
        floor_usd_per_hour=floor,
        ceiling_usd_per_hour=ceiling,
        floor_change=_minus(floor, per_hour(context, before, before.floor)),
        ceiling_change=_minus(ceiling, per_hour(context, before, before.ceiling)),
    )


def _minus(after: float | None, before: float | None) -> float | None:
    return None if after is None or before is None else after - before


def change_uses(context: Context, change: Change) -> tuple[Use, Use]:
    """(before, after) of a change that is carried out; a blocked change leaves things as they are."""
    live = change.live
    exists = live is not None and live.state != "DELETED"
    before = use_of_live(context, live) if live is not None and exists else NOTHING
    if change.actions == ("delete",):
        return before, NOTHING
    if not change.desired:
        return before, before
    return before, use_of_wanted(context, change)


def plan_cost(context: Context, changes: Iterable[Change]) -> dict[str, Any]:
    """The `cost` object of a plan: the deployments of the plan, unchanged ones too."""
    rows = [(change, change.cost) for change in changes if change.cost is not None]
    costs = [cost for _, cost in rows]
    floor = _total(cost.floor_usd_per_hour for cost in costs)
    return {
        "currency": CURRENCY,
        "floor_usd_per_hour": floor,
        "ceiling_usd_per_hour": _total(cost.ceiling_usd_per_hour for cost in costs),
        "floor_change": _total(cost.floor_change for cost in costs),
        "ceiling_change": _total(cost.ceiling_change for cost in costs),
        "monthly_floor_usd": None if floor is None else round(floor * HOURS_PER_MONTH, 6),
        "price_date": context.prices.as_of.isoformat(),
        "unknown": sorted(change.name for change, cost in rows if cost.ceiling_usd_per_hour is None),
    }


def _total(values: Iterable[float | None]) -> float | None:
    amounts = list(values)
    known = [amount for amount in amounts if amount is not None]
    return round(sum(known), 6) if len(known) == len(amounts) else None
