"""`budget:` of the spec: what the stack may cost an hour, and how much one plan may add."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.planning.context import Context
from fwctl.planning.cost import plan_cost
from fwctl.planning.guards.finding import FAIL, PASS, UNKNOWN, Finding, active
from fwctl.planning.model import Change, Cost
from fwctl.units import format_usd

# Budget key -> (the figure it limits, the change that makes it worse).
_LIMITS = {
    "floor_usd_per_hour": ("floor_usd_per_hour", "floor_change"),
    "ceiling_usd_per_hour": ("ceiling_usd_per_hour", "ceiling_change"),
}
CHANGE_KEY = "change_usd_per_hour"


def budget(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """A plan that lowers a figure passes even where the figure stays above its limit."""
    total = plan_cost(context, changes)
    for key, (figure, change_key) in _LIMITS.items():
        limit = context.spec.budget.get(key)
        if limit is not None:
            yield _finding(context, changes, key, limit, (total[figure], total[change_key], change_key))
    limit = context.spec.budget.get(CHANGE_KEY)
    if limit is not None:
        worst = _worst(total["floor_change"], total["ceiling_change"])
        yield _finding(context, changes, CHANGE_KEY, limit, (worst, worst, "ceiling_change"))


def _worst(floor: float | None, ceiling: float | None) -> float | None:
    """The larger increase of the two; unknown when either is."""
    return None if floor is None or ceiling is None else max(floor, ceiling)


def _finding(
    context: Context,
    changes: Sequence[Change],
    key: str,
    limit: float,
    figures: tuple[float | None, float | None, str],
) -> Finding:
    amount, growth, change_key = figures
    label = key.removesuffix("_usd_per_hour")
    if amount is None or growth is None:
        unknown = ", ".join(plan_cost(context, changes)["unknown"])
        return Finding("budget", UNKNOWN, f"{label}: a price is not known ({unknown})")
    said = f"{label}: {format_usd(amount, '/h')}, budget {format_usd(limit, '/h')}"
    if amount <= limit or growth <= 0:
        return Finding("budget", PASS, said)
    raisers = tuple(
        change for change in active(changes) if change.cost is not None and _raises(change.cost, change_key)
    )
    return Finding("budget", FAIL, said, None, raisers, f"lower it, or raise `budget.{key}` in the spec")


def _raises(cost: Cost, change_key: str) -> bool:
    moves = [getattr(cost, change_key), cost.floor_change if change_key == "ceiling_change" else None]
    return any(move is not None and move > 0 for move in moves)
