"""Between evidence and the fit check: conversations that fit, for the rules; measured pools, for the fit."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from fwctl.cli.command import Call
from fwctl.cli.evidence_files import Found, around_each, find_evidence
from fwctl.cli.places import lock_of
from fwctl.spec.model import Deployment, Spec

if TYPE_CHECKING:
    from fwctl.planning.context import Context
    from fwctl.records.freshness import Setting

# FW410 compares these with what fits in memory; only then is the fit worth its time.
_IN_FLIGHT = ("replicas.max_concurrency", "autoscaling.load_targets")


def own_conversations(call: Call, spec: Spec) -> dict[str, float]:
    """Conversations that fit on a replica, for entries that say how many may be in flight."""
    asked = {
        name: entry
        for name, entry in spec.deployments.items()
        if any(path in entry.fields for path in _IN_FLIGHT) and declares_lengths(entry)
    }
    if not asked:
        return {}
    from fwctl.cli.fit_requests import check_specs
    from fwctl.cli.prices import price_list

    results, _ = check_specs(replace(spec, deployments=asked), call.env.cwd, price_list(call, spec))
    return conversations_of(spec, results)


def declares_lengths(entry: Deployment) -> bool:
    """True when the spec says how long a conversation is; else the fit check assumes the longest."""
    return any(
        path == "workload.context_tokens" or path.startswith("workload.input_tokens.") for path in entry.own
    )


def conversations_of(spec: Spec, fit: Mapping[str, Mapping[str, object]]) -> dict[str, float]:
    """Middle of the band of conversations of the declared workload that fit, by logical name, where the
    fit check knows one."""
    found: dict[str, float] = {}
    for name, result in fit.items():
        if name not in spec.deployments or not declares_lengths(spec.deployments[name]):
            continue
        band = result.get("max_concurrency")
        if isinstance(band, Mapping) and isinstance(band.get("mid"), int | float):
            found[name] = float(band["mid"])
    return found


def measured_pools(call: Call, context: Context, found: Found) -> dict[str, float]:
    """KV pool per GPU in bytes that a fresh capacity test measured, by logical name."""
    from fwctl.planning.evidence import settings_of

    return _pools(call, context.spec, found, lambda: settings_of(context))


def offline_pools(call: Call, paths: Sequence[str], spec: Spec) -> dict[str, float]:
    """The same without a look at the platform, as far as spec and lock say what runs."""
    from fwctl.planning.evidence import offline_settings

    found = find_evidence(call, paths, spec)
    return _pools(call, spec, found, lambda: offline_settings(spec, lock_of(call, paths)))


def _pools(
    call: Call, spec: Spec, found: Found, settings: Callable[[], Mapping[str, Setting]]
) -> dict[str, float]:
    from fwctl.planning.evidence import measured_pool_bytes

    if not any(item.record.kind == "capacity" for item in found.stored):
        return {}
    around = around_each(call, spec, found)
    pools = {
        name: measured_pool_bytes(found.stored, setting, around[name]) for name, setting in settings().items()
    }
    return {name: pool for name, pool in pools.items() if pool is not None}
