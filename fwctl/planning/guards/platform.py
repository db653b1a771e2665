"""What the platform would refuse: a model that is not there (FW501), a region without the GPU (FW506)."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from fwctl.catalog import regions
from fwctl.catalog.enums import is_multi_region
from fwctl.live.normalise import full_name
from fwctl.planning.context import Context
from fwctl.planning.cost import change_uses
from fwctl.planning.guards.finding import FAIL, Finding, active, creates
from fwctl.planning.guards.quota import gpu_of
from fwctl.planning.model import Change

_MODEL_PATHS = ("model", "speculation.draft_model", "addons.load")


def models(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """FW501 for every model that a change brings in and the platform does not have."""
    for change in active(changes):
        for path in _MODEL_PATHS:
            if path not in change.desired or not (creates(change) or path in _paths(change)):
                continue
            value = change.desired[path]
            for name in value if isinstance(value, list) else [value]:
                if name and context.live.models.get(full_name(name, context.spec.account), name) is None:
                    yield _missing(change, path, str(name))


def _paths(change: Change) -> set[str]:
    return {item.path for item in change.fields}


def _missing(change: Change, path: str, name: str) -> Finding:
    return Finding(
        "model",
        FAIL,
        f"{name} does not exist, or this account cannot see it",
        change.name,
        (change,),
        "check the name with `firectl model get`",
        "FW501",
        path,
    )


def region_has_gpu(context: Context, changes: Sequence[Change]) -> Iterable[Finding]:
    """FW506; a quota of the account for that GPU in that region is better evidence than the page."""
    for change in active(changes):
        if not creates(change) and not _paths(change) & {"region", "accelerator.type", "shape"}:
            continue
        _, after = change_uses(context, change)
        if after.accelerator is None or is_multi_region(after.region):
            continue
        name = f"{gpu_of(after.accelerator)}-{after.region.lower().replace('_', '-')}"
        if regions.offers(after.region, after.accelerator) is False and name not in context.live.quotas:
            others = ", ".join(regions.regions_with(after.accelerator))
            yield Finding(
                "region",
                FAIL,
                f"{after.region} has no {after.accelerator} (regions page of {regions.READ})",
                change.name,
                (change,),
                f"regions with it: {others}; or an area such as US",
                "FW506",
                "region",
            )
