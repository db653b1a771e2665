"""Who stands behind which native router."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.live.model import LiveState
from fwctl.live.normalise import short_id


def members(row: Mapping[str, Any] | None) -> frozenset[str]:
    """IDs of the deployments behind a router; a router that is not there has none."""
    return frozenset(short_id(str(name)) for name in (row or {}).get("deployments") or ())


def routers_of(live: LiveState) -> dict[str, tuple[str, ...]]:
    """Routers that stand before a deployment, in order, by its ID."""
    found: dict[str, tuple[str, ...]] = {}
    for router, row in sorted(live.routers.items()):
        for key in members(row):
            found[key] = (*found.get(key, ()), router)
    return found
