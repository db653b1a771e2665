"""FW507: GPU quota counts accelerators x max replicas of everything on the account, running or not."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from fwctl.catalog.enums import is_multi_region
from fwctl.live.identity import LEAVING
from fwctl.planning.context import Context
from fwctl.planning.cost import Use, change_uses, use_of_live
from fwctl.planning.guards.finding import FAIL, PASS, UNKNOWN, Finding, active
from fwctl.planning.model import Change

GLOBAL = "GLOBAL"
# `h100-us-iowa-1`, `global--h100-count`, and `training-h100-count`, which deployments do not use
# (docs.fireworks.ai quotas page and later findings, read 2026-11-30).
_NAME = re.compile(r"(?P<training>training-)?(?:global--)?(?P<gpu>[a-z]+[0-9]+[a-z]*)(?:-(?P<rest>.+))?")
_GPU = re.compile(r"(?:NVIDIA|AMD)_([A-Z]+[0-9]+[A-Z]*)(?:_.*)?")
Key = tuple[str, str]  # (short GPU name, region or GLOBAL)


def quota(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """One check for each accelerator (and region with a quota of its own) that the plan asks more of."""
    if "quotas" in context.live.unread:
        yield Finding("quota", UNKNOWN, f"quotas cannot be read: {context.live.unread['quotas']}")
        return
    limits = _limits(context.live.quotas)
    after, growing = _totals(context, changes, limits)
    for key in sorted(growing):
        gpu, region = key
        where = f"{gpu.upper()}" + (f" in {region}" if region != GLOBAL else "")
        if key not in limits:
            yield Finding("quota", UNKNOWN, f"{where}: {after[key]} GPUs at max replicas, quota not known")
            continue
        name, limit = limits[key]
        said = (
            f"{where}: {after[key]} GPUs at max replicas of everything on the account, "
            f"quota {name} is {limit}"
        )
        if after[key] <= limit:
            yield Finding("quota", PASS, said)
        else:
            way_out = "lower `replicas.max`, park something, or ask for more quota"
            yield Finding(
                "quota", FAIL, said, None, tuple(growing[key]), way_out, "FW507", path="replicas.max"
            )


def _limits(quotas: Mapping[str, Mapping[str, Any]]) -> dict[Key, tuple[str, int]]:
    limits: dict[Key, tuple[str, int]] = {}
    for name, row in sorted(quotas.items()):
        found = _NAME.fullmatch(name)
        value = row.get("value", 0)
        if found is None or found["training"] or not isinstance(value, int | float):
            continue
        rest = found["rest"] or "count"
        region = GLOBAL if rest == "count" else rest.removesuffix("-count").upper().replace("-", "_")
        limits[found["gpu"], region] = (name, int(value))
    return limits


def gpu_of(accelerator: str) -> str:
    """`h100` of NVIDIA_H100_80GB; another spelling stays as it is, in lower case."""
    found = _GPU.fullmatch(accelerator)
    return (found[1] if found else accelerator).lower()


def _key(use: Use, limits: Mapping[Key, Any]) -> Key | None:
    if use.accelerator is None or not use.gpus or use.ceiling == 0:
        return None
    gpu = gpu_of(use.accelerator)
    own = (gpu, use.region)
    return own if not is_multi_region(use.region) and own in limits else (gpu, GLOBAL)


def _gpus(use: Use) -> int:
    return (use.gpus or 0) * use.ceiling


def _totals(
    context: Context, changes: Sequence[Change], limits: Mapping[Key, Any]
) -> tuple[Counter[Key], dict[Key, list[Change]]]:
    """GPUs at max replicas after the plan by quota, and the changes that ask for more of it."""
    total: Counter[Key] = Counter()
    for item in context.live.deployments.values():
        if item.state not in LEAVING:
            _add(total, use_of_live(context, item), limits)
    growing: dict[Key, list[Change]] = {}
    for change in active(changes):
        before, after = change_uses(context, change)
        mine: Counter[Key] = Counter()
        _add(mine, after, limits)
        if change.actions != ("create", "delete"):  # blue_green: both exist for a while
            _add(mine, before, limits, sign=-1)
        total.update(mine)
        for key, count in mine.items():
            if count > 0:
                growing.setdefault(key, []).append(change)
    return total, growing


def _add(total: Counter[Key], use: Use, limits: Mapping[Key, Any], sign: int = 1) -> None:
    key = _key(use, limits)
    if key is not None:
        total[key] += sign * _gpus(use)
