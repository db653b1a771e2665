"""How many replicas a deployment wants, and when it gets them. Pure arithmetic over one document.

Sources: docs.fireworks.ai, deployments/autoscaling (windows, several targets: the highest count wins,
default target 0.8); fireworks-ai 1.2.30 (defaults of the windows). A replica's capacity for the
`default` target is the simulator's own figure.
"""

from __future__ import annotations

import math
from typing import Any

from fwctl.simulator.platform.schedules import floor_at, next_change
from fwctl.simulator.timing import parse_wire_duration

Doc = dict[str, Any]

DEFAULT_TARGETS = {"default": 0.8}
DEFAULT_WINDOWS_S = {"scaleUpWindow": 30.0, "scaleDownWindow": 600.0, "scaleToZeroWindow": 3600.0}
CONCURRENCY_PER_REPLICA = 32
_MAX_STEPS = 10_000
_KEPT_SPANS = 300


def window_s(doc: Doc, name: str) -> float:
    """Seconds of a window; an absent one, and a scale-to-zero window of 0, mean the server's default."""
    text = doc.get("autoscalingPolicy", {}).get(name)
    seconds = DEFAULT_WINDOWS_S[name] if text is None else parse_wire_duration(text)
    return DEFAULT_WINDOWS_S[name] if seconds == 0 and name == "scaleToZeroWindow" else seconds


def required(doc: Doc, load: dict[str, float]) -> int:
    """Replicas that the load asks for, before bounds: the highest over all targets."""
    if not any(load.values()):
        return 0
    targets = doc.get("autoscalingPolicy", {}).get("loadTargets") or DEFAULT_TARGETS
    capacity = doc.get("maxConcurrencyPerReplica") or CONCURRENCY_PER_REPLICA
    counts = [1]
    for key, target in targets.items():
        if key == "default":
            counts.append(math.ceil(load.get("concurrent_requests", 0.0) / (capacity * target)))
        elif key in load and target > 0:
            counts.append(math.ceil(load[key] / target))
    return max(counts)


def floor(doc: Doc, now: float) -> int:
    """The smallest count at `now`: min replicas or the highest open schedule, at most the maximum."""
    wanted = max(int(doc.get("minReplicaCount", 0)), floor_at(doc.get("scalingSchedules", ()), now))
    return min(wanted, int(doc.get("maxReplicaCount", 0)))


def _wish(doc: Doc, sim: Doc, at: float) -> tuple[int, float]:
    """The count wanted from `at` on, and the moment it becomes effective."""
    desired = sim["desired"]
    lowest, highest = floor(doc, at), doc.get("maxReplicaCount", 0)
    if desired < lowest or desired > highest:
        return min(max(desired, lowest), highest), at
    count = min(max(required(doc, sim.get("load", {})), lowest), highest)
    if count > desired:
        return count, sim["loadSinceS"] + window_s(doc, "scaleUpWindow")
    if count == desired:
        return count, math.inf
    if count == 0:
        if desired > 1:
            return 1, sim["loadSinceS"] + window_s(doc, "scaleDownWindow")
        return 0, sim["idleSinceS"] + window_s(doc, "scaleToZeroWindow")
    return count, sim["loadSinceS"] + window_s(doc, "scaleDownWindow")


def set_desired(sim: Doc, count: int, at: float) -> None:
    """Start or stop replicas so that `count` are there from `at` on; the newest stop first.

    Spans of stopped replicas are kept for the bill, the last few hundred of them.
    """
    sim["desired"] = count
    stopped = [[begun, at] for begun in sim["replicas"][count:]]
    sim["ended"] = [*sim.get("ended", []), *stopped][-_KEPT_SPANS:]
    sim["replicas"] = sim["replicas"][:count] + [at] * (count - len(sim["replicas"]))


def run(doc: Doc, until: float) -> None:
    """Let the autoscaler act from where it stood up to `until` (epoch seconds).

    A load with `loadUntilS` ends there by itself: whoever reported it may be gone.
    """
    sim = doc["_sim"]
    ends = sim.get("loadUntilS", until)
    if ends < until:
        _act(doc, max(ends, sim["settledS"]))
        sim |= {"load": {}, "loadSinceS": ends, "idleSinceS": max(ends, sim["idleSinceS"])}
        del sim["loadUntilS"]
    _act(doc, until)


def _act(doc: Doc, until: float) -> None:
    sim = doc["_sim"]
    at = sim["settledS"]
    for _ in range(_MAX_STEPS):
        count, due = _wish(doc, sim, at)
        turn = next_change(doc.get("scalingSchedules", ()), at, until)
        if turn < due and turn < until:
            at = sim["loadSinceS"] = turn
            continue
        due = max(due, at)
        if due > until:
            break
        at = due
        set_desired(sim, count, at)
    sim["settledS"] = max(until, at)
