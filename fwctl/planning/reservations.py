"""Reserved capacity: pooled over the account, billed whether used or not, overflow on demand."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from fwctl.live.identity import LEAVING
from fwctl.planning.context import Context
from fwctl.planning.cost import Use, change_uses, use_of_live
from fwctl.planning.guards.finding import active
from fwctl.planning.model import Change


def reserved(context: Context, changes: Iterable[Change]) -> list[dict[str, Any]]:
    """One row an accelerator: GPUs reserved, how many of them the account uses after the plan at floor
    and at ceiling, the overflow that is billed on demand, and the contract price of the reserved ones."""
    pool = pool_of(context.live.reservations, context.now)
    if not pool:
        return []
    floor, ceiling = _use_after(context, list(changes))
    rows = []
    for accelerator, gpus in sorted(pool.items()):
        price = context.prices.reserved_usd_per_gpu_hour.get(accelerator)
        rows.append(
            {
                "accelerator": accelerator,
                "gpus": gpus,
                "used_at_floor": min(gpus, floor[accelerator]),
                "used_at_ceiling": min(gpus, ceiling[accelerator]),
                "overflow_at_floor": max(0, floor[accelerator] - gpus),
                "overflow_at_ceiling": max(0, ceiling[accelerator] - gpus),
                "usd_per_hour": None if price is None else round(price * gpus, 6),
            }
        )
    return rows


def pool_of(rows: Iterable[Mapping[str, Any]], now: datetime) -> Counter[str]:
    """Reserved GPUs by accelerator, of reservations that have not ended."""
    pool: Counter[str] = Counter()
    for row in rows:
        accelerator, count = row.get("accelerator_type"), row.get("accelerator_count")
        if isinstance(accelerator, str) and isinstance(count, int) and not _ended(row, now):
            pool[accelerator] += count
    return pool


def _ended(row: Mapping[str, Any], now: datetime) -> bool:
    for key in ("end_time", "end"):
        try:
            end = datetime.fromisoformat(str(row.get(key)))
        except ValueError:
            continue
        return (end if end.tzinfo else end.replace(tzinfo=UTC)) <= now
    return False


def _use_after(context: Context, changes: list[Change]) -> tuple[Counter[str], Counter[str]]:
    floor: Counter[str] = Counter()
    ceiling: Counter[str] = Counter()
    for item in context.live.deployments.values():
        if item.state not in LEAVING:
            _add(floor, ceiling, use_of_live(context, item), 1)
    for change in active(changes):
        before, after = change_uses(context, change)
        _add(floor, ceiling, before, -1)
        _add(floor, ceiling, after, 1)
    return floor, ceiling


def _add(floor: Counter[str], ceiling: Counter[str], use: Use, sign: int) -> None:
    if use.accelerator is not None and use.gpus is not None:
        floor[use.accelerator] += sign * use.gpus * use.floor
        ceiling[use.accelerator] += sign * use.gpus * use.ceiling
