"""Bounds that the self-test sets: its error figures hold only while the client is as idle as it was then."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# A run may be this many times later than the self-test was, at the 95th percentile; below the floor a
# delay is lost in the noise of any network.
FACTOR = 10.0
FLOOR_S = 0.010
# A machine whose own error is larger than this measures itself.
WORST_ERROR_MS = 25.0

_FIGURES = {"dispatch_lag_s": "dispatch_lag_ms", "event_loop_lag_s": "event_loop_lag_ms"}


def bounds(selftest: Mapping[str, Any]) -> dict[str, float]:
    """Latest allowed p95 of each lag, in seconds."""
    return {
        name: max(FLOOR_S, FACTOR * selftest[figure]["p95"] / 1000)
        for name, figure in _FIGURES.items()
        if figure in selftest
    }


def reasons_by(selftest: Mapping[str, Any] | None, lags_p95: Mapping[str, float | None]) -> list[str]:
    """Why a run is invalid by what the self-test found on this machine right before it."""
    if selftest is None:
        return []
    found = []
    error = selftest["ttft_error_ms"]["p95"]
    if error > WORST_ERROR_MS:
        found.append(
            f"the self-test's own error is {error:.0f} ms at p95, above {WORST_ERROR_MS:.0f} ms: "
            "this machine is too busy to measure"
        )
    for name, bound in bounds(selftest).items():
        value = lags_p95.get(name)
        if value is not None and value > bound:
            found.append(
                f"{name} p95 is {value * 1000:.0f} ms, above {bound * 1000:.0f} ms, the bound of the "
                "self-test: its error figures do not hold for this run"
            )
    return found


def own_failures(targets: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Requests that this machine failed, not the server."""
    failed = sum(item["errors"].get("harness", 0) for item in targets.values())
    return [f"{failed} requests failed on this machine (error class harness)"] if failed else []
