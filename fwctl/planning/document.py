"""The stable JSON form of a plan."""

from __future__ import annotations

from collections import Counter
from typing import Any

from fwctl.planning.digest import digest
from fwctl.planning.model import Change, Cost, FieldChange, Plan

COUNTED = (
    "create",
    "update",
    "replace",
    "delete",
    "adopt",
    "park",
    "unpark",
    "mark",
    "undelete",
    "wait",
    "blocked",
)


def summary(plan: Plan) -> dict[str, int]:
    """How many changes of each kind; every change counts once."""
    counts = Counter(change.primary for change in plan.changes)
    return {**{kind: counts[kind] for kind in COUNTED}, "unchanged": counts["no-op"]}


def has_changes(plan: Plan) -> bool:
    """True when applying would do something, or would if nothing were in the way."""
    return any(change.primary not in ("no-op", "wait") for change in plan.changes)


def plan_to_json(plan: Plan) -> dict[str, Any]:
    """The keys of docs/json.md that belong to a plan; sensitive values are the mask already."""
    return {
        "account": plan.account,
        "stack": plan.stack,
        "digest": digest(plan),
        "live_fingerprint": plan.live_fingerprint,
        "summary": summary(plan),
        "changes": [_change(change) for change in plan.changes],
        "cost": dict(plan.cost),
        "checks": [
            {
                "name": check.name,
                "status": check.status,
                "message": check.message,
                "deployment": check.deployment,
            }
            for check in plan.checks
        ],
        "drift": [dict(row) for row in plan.drift],
        "notes": list(plan.notes),
    }


def _change(change: Change) -> dict[str, Any]:
    return {
        "address": change.address,
        "deployment_id": change.deployment_id,
        "actions": list(change.actions),
        "reason": change.reason,
        "fields": [field_to_json(item) for item in change.fields],
        "commands": [list(words) for words in change.commands],
        "fit": dict(change.fit) if change.fit is not None else None,
        "cost": cost_to_json(change.cost),
        "next_id": change.next_id,
        "after": list(change.after),
        "notes": list(change.notes),
    }


def field_to_json(item: FieldChange) -> dict[str, Any]:
    at = item.source
    return {
        "path": item.path,
        "before": item.before,
        "after": item.after,
        "effect": item.effect.value,
        "output_changing": item.output_changing,
        "sensitive": item.sensitive,
        "reason": item.reason,
        "source": {"file": at.file, "line": at.line} if at else None,
    }


def cost_to_json(cost: Cost | None) -> dict[str, float | None] | None:
    if cost is None:
        return None
    return {
        "floor_usd_per_hour": cost.floor_usd_per_hour,
        "ceiling_usd_per_hour": cost.ceiling_usd_per_hour,
        "floor_change": cost.floor_change,
        "ceiling_change": cost.ceiling_change,
    }
