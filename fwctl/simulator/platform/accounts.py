"""Accounts: the caller's, and `fireworks`, which owns the public models and shapes."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import World

Doc = dict[str, Any]

KIND = "accounts"
_CREATED = "2026-01-05T10:00:00.000000Z"
_BALANCE_USD = 1000.0
_PAUSED = "MONTHLY_SPEND_LIMIT_EXCEEDED"


def get(world: World, account: str) -> Doc:
    """The account as the platform shows it. Raises PermissionDenied for a foreign one."""
    world.readable(account)
    stored = world.tx.get(KIND, account) or {}
    suspended = account != FIREWORKS and (world.suspended or world.tx.meta(f"suspended/{account}"))
    return {
        "name": f"accounts/{account}",
        "displayName": stored.get("displayName", account),
        "createTime": stored.get("createTime", _CREATED),
        "email": world.caller.email if account == world.caller.account else "",
        "accountType": "ENTERPRISE",
        "state": "READY",
        "status": {"code": "OK", "message": ""},
        "suspendState": _PAUSED if suspended else "UNSUSPENDED",
    }


def add(world: World, account: str) -> None:
    """Make another account exist. Raises AlreadyExists."""
    if world.tx.get(KIND, account) or account in {FIREWORKS, world.caller.account}:
        raise PlatformError("AlreadyExists", f"account accounts/{account} already exists")
    world.tx.put(KIND, account, {"name": f"accounts/{account}", "displayName": account})


def balance_usd(world: World) -> float:
    """Credit left: the start credit less what was recorded as spent."""
    spent = world.tx.meta(f"spend/{world.caller.account}") or 0.0
    return _BALANCE_USD - float(spent)
