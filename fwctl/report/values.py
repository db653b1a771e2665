"""How values, places, money and actions are written in every format."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.units import format_usd

# action of the stable JSON -> (symbol, colour, what happens to the deployment)
ACTIONS: dict[str, tuple[str, str, str]] = {
    "create": ("+", "green", "will be created"),
    "update": ("~", "yellow", "will be updated"),
    "replace": ("-/+", "red", "will be replaced"),
    "delete": ("-", "red", "will be deleted"),
    "adopt": (">", "cyan", "will be adopted"),
    "park": ("~", "yellow", "will be parked (no replicas)"),
    "unpark": ("~", "yellow", "will be unparked"),
    "mark": (".", "cyan", "gets a new marker, nothing else"),
    "undelete": ("+", "green", "will be undeleted"),
    "wait": ("*", "cyan", "has an operation in flight"),
    "blocked": ("!", "bold red", "is blocked"),
    "no-op": (" ", "dim", "is unchanged"),
}

EFFECTS: dict[str, str] = {
    "none": "",
    "in_place": "in place",
    "rolling_restart": "rolling restart",
    "replace": "forces replacement",
    "blocked": "cannot be changed",
}

# Counts of the summary, in the order in which they are told.
COUNTS: tuple[tuple[str, str], ...] = (
    ("create", "to create"),
    ("update", "to update"),
    ("replace", "to replace"),
    ("delete", "to delete"),
    ("undelete", "to undelete"),
    ("adopt", "to adopt"),
    ("park", "to park"),
    ("unpark", "to unpark"),
    ("mark", "to mark"),
    ("wait", "in flight"),
    ("blocked", "blocked"),
    ("unchanged", "unchanged"),
)


def kind_of(actions: Sequence[str]) -> str:
    """The row of ACTIONS for a change's list of actions."""
    if "blocked" in actions:
        return "blocked"
    if "delete" in actions and "create" in actions:
        return "replace"
    return actions[0] if actions else "no-op"


def is_new(change: Mapping[str, Any]) -> bool:
    """True when there is nothing before the change to compare with, blocked ones included."""
    if kind_of(change["actions"]) in ("create", "undelete"):
        return True
    return "blocked" in change["actions"] and all(
        item["before"] is None and not item.get("sensitive") for item in change.get("fields", ())
    )


def value(item: Any) -> str:
    """A value of a spec in one line; texts stand as they are, collections as JSON."""
    if item is None:
        return "(not set)"
    if isinstance(item, str):
        return item or '""'
    return json.dumps(item, ensure_ascii=False, sort_keys=True)


def place(source: Mapping[str, Any] | None) -> str:
    """`configs/chat.yaml:12`, empty when the place is not known."""
    if not source or not source.get("file"):
        return ""
    return f"{source['file']}:{source['line']}"


def per_hour(amount: float | None) -> str:
    return format_usd(amount, "/h")


def signed_per_hour(amount: float | None) -> str:
    """A change of cost: `+$8.00/h`, `-$1.50/h`, `no change`, `unknown`."""
    if amount is None:
        return "unknown"
    if abs(amount) < 0.005:
        return "no change"
    return ("+" if amount > 0 else "") + format_usd(amount, "/h")


def counts_line(summary: Mapping[str, int]) -> str:
    """`2 to create, 1 blocked, 3 unchanged`; the zero counts are left out."""
    parts = [f"{summary[key]} {words}" for key, words in COUNTS if summary.get(key)]
    return ", ".join(parts) or "nothing"


def has_changes(summary: Mapping[str, int]) -> bool:
    """True when an apply would do something."""
    return any(count for key, count in summary.items() if key not in ("unchanged", "blocked"))


def shell_line(argv: Sequence[str]) -> str:
    """A command as it can be pasted into a shell."""
    import shlex

    return " ".join(shlex.quote(word) if word else "''" for word in argv)


def drift_rows(plan: Mapping[str, Any]) -> list[tuple[str, str, str, str]]:
    """What was changed on the platform since the last apply: deployment, field, applied, live."""
    return [
        (
            str(row.get("address") or row.get("deployment") or ""),
            str(row.get("path", "")),
            value(row.get("before")),
            value(row.get("after")),
        )
        for row in plan.get("drift", ())
    ]
