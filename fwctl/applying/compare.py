"""Wanted against live: what differs after a write, and what moved between the plan and the write."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from fwctl.applying.problems import shown
from fwctl.catalog.field import Field
from fwctl.catalog.fields import BY_PATH
from fwctl.live.identity import LEAVING
from fwctl.live.model import LiveDeployment
from fwctl.planning.values import same

# Not flags of the deployment itself: compared where they live (routers, deployed models), not here.
ELSEWHERE = frozenset({"router", "addons.load"})


def readable(path: str) -> Field | None:
    """The row of a field that a read-back can show; None for one that the platform does not return, and
    for secrets, whose digest is part of the marker."""
    row = BY_PATH.get(path)
    if row is None or not row.read or row.live is None or row.sensitive or path in ELSEWHERE:
        return None
    return row


def differences(wanted: Mapping[str, Any], live: LiveDeployment) -> tuple[str, ...]:
    """`path: asked X, shows Y` for every field that the platform did not take"""
    found = []
    for path, value in sorted(wanted.items()):
        row = readable(path)
        if row is not None and not same(row, value, live.fields.get(path)):
            found.append(f"{path}: asked {shown(value)}, shows {shown(live.fields.get(path))}")
    return tuple(found)


def moved(planned: LiveDeployment, now: LiveDeployment | None, paths: Iterable[str]) -> tuple[str, ...]:
    """What someone else changed since the plan, among the fields that fwctl manages and its marker."""
    if now is None or (now.state in LEAVING and planned.state not in LEAVING):
        return ("it was deleted",)
    found = []
    for path in sorted(set(paths)):
        row = readable(path)
        before, after = planned.fields.get(path), now.fields.get(path)
        if row is not None and not same(row, before, after):
            found.append(f"{path}: was {shown(before)}, is {shown(after)}")
    if planned.marker != now.marker:
        found.append("its fwctl marker")
    return tuple(found)


def reads_back(wanted: Mapping[str, Any], live: LiveDeployment | None) -> bool:
    """True when the deployment is there and holds every wanted value."""
    return live is not None and live.state not in LEAVING and not differences(wanted, live)
