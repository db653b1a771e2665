"""What a plan costs, as rows: each deployment that moves, the rest together, and the whole."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from fwctl.report.values import kind_of, per_hour, signed_per_hour
from fwctl.units import format_usd

HOURS_PER_MONTH = 730  # 365 days x 24 h / 12
_NAMES_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Row:
    """Dollars an hour of one deployment, or of several; None where a price is unknown."""

    name: str
    floor: float | None
    floor_change: float | None
    ceiling: float | None
    ceiling_change: float | None

    def cells(self, arrow: str) -> tuple[str, str, str]:
        """(name, floor, ceiling), each amount as `$40.00/h`, or `$40.00/h → $48.00/h (+$8.00/h)`."""
        return (
            self.name,
            moved(self.floor, self.floor_change, arrow),
            moved(self.ceiling, self.ceiling_change, arrow),
        )


def moved(after: float | None, change: float | None, arrow: str) -> str:
    """An amount with what it was before, when that differs."""
    if after is None or change is None or abs(change) < 0.005:
        return per_hour(after)
    return f"{per_hour(after - change)} {arrow} {per_hour(after)} ({signed_per_hour(change)})"


def rows(body: Mapping[str, Any]) -> list[Row]:
    """Rows of a plan: changes first, then all unchanged deployments as one, then the total.

    Empty when the plan has no cost.
    """
    money = body.get("cost") or {}
    if "floor_usd_per_hour" not in money:
        return []
    priced = [change for change in body["changes"] if change.get("cost")]
    found = [row(change) for change in priced if kind_of(change["actions"]) != "no-op"]
    still = [change["cost"] for change in priced if kind_of(change["actions"]) == "no-op"]
    if still and found:
        found.append(_sum(f"{len(still)} unchanged", still))
    return [*found, _row("total", money)]


def row(change: Mapping[str, Any]) -> Row:
    """The row of one change that has a cost."""
    return _row(change["address"].partition("/")[2], change["cost"])


def remarks(body: Mapping[str, Any]) -> list[str]:
    """What stands under the amounts: the month, the budget, reserved GPUs, prices that are not known."""
    cost = body["cost"]
    lines = [text for text in (monthly(cost),) if text]
    lines += [f"budget {check['status']}: {check['message']}" for check in budget_checks(body)]
    lines += [_reserved(pool) for pool in cost.get("reserved", ())]
    unknown = cost.get("unknown", ())
    if unknown:
        rest = len(unknown) - _NAMES_SHOWN
        more = f" and {rest} more" if rest > 0 else ""
        lines.append(f"no price is known for {', '.join(unknown[:_NAMES_SHOWN])}{more}")
    return lines


def monthly(money: Mapping[str, Any]) -> str | None:
    """`floor of a month (730 h): $29,200.00 (+$5,840.00)`; None when a price is unknown."""
    amount, change = money.get("monthly_floor_usd"), money.get("floor_change")
    if amount is None:
        return None
    told = f"floor of a month ({HOURS_PER_MONTH} h): {format_usd(amount)}"
    if change is None or abs(change) < 0.005:
        return told
    return f"{told} ({'+' if change > 0 else ''}{format_usd(change * HOURS_PER_MONTH)})"


def prices(money: Mapping[str, Any]) -> str:
    """`prices of 2026-09-01, USD`."""
    return (
        f"prices of {money['price_date']}, {money.get('currency', 'USD')}" if money.get("price_date") else ""
    )


def budget_checks(body: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The checks that compare the cost with the budget of the spec."""
    return [check for check in body.get("checks", ()) if check["name"] == "budget"]


def _reserved(pool: Mapping[str, Any]) -> str:
    """Reserved GPUs of the account: billed whether used or not, what goes beyond them on demand."""
    price = pool.get("usd_per_hour")
    paid = "contract price not known" if price is None else f"{per_hour(price)} whether used or not"
    told = f"reserved: {pool['gpus']} x {pool['accelerator']} ({paid})"
    told += f", used {pool['used_at_floor']} at the floor and {pool['used_at_ceiling']} at the ceiling"
    return f"{told}, on demand beyond them {pool['overflow_at_floor']} and {pool['overflow_at_ceiling']}"


def _row(name: str, cost: Mapping[str, Any]) -> Row:
    return Row(
        name,
        cost.get("floor_usd_per_hour"),
        cost.get("floor_change"),
        cost.get("ceiling_usd_per_hour"),
        cost.get("ceiling_change"),
    )


def _sum(name: str, costs: Iterable[Mapping[str, Any]]) -> Row:
    keys = ("floor_usd_per_hour", "floor_change", "ceiling_usd_per_hour", "ceiling_change")
    costs = list(costs)
    return Row(name, *(_total([cost.get(key) for cost in costs]) for key in keys))


def _total(amounts: list[float | None]) -> float | None:
    known = [amount for amount in amounts if amount is not None]
    return sum(known) if len(known) == len(amounts) else None
