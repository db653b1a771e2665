"""What a measured capacity means for a spec: replicas, load targets, concurrency. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import ceil, floor
from typing import Any

from fwctl.measure.capacity import Level

# The autoscaler is asked to add a replica at this share of the measured limit, because a new replica
# takes minutes to serve and traffic goes on rising meanwhile.
HEADROOM = 0.8
LOAD_TARGETS = "autoscaling.load_targets"


@dataclass(frozen=True, slots=True)
class Proposal:
    """values: what the spec should say, by path. notes: why, and what could not be proposed."""

    values: Mapping[str, Any]
    notes: tuple[str, ...]

    def yaml(self, name: str) -> str:
        """The values as a piece of a spec, to be merged by hand into the entry."""
        groups: dict[str, dict[str, Any]] = {}
        for path, value in self.values.items():
            group, _, key = path.partition(".")
            groups.setdefault(group, {})[key] = value
        lines = ["deployments:", f"  {name}:"]
        lines += [f"    {group}: {_flow(rows)}" for group, rows in groups.items()]
        return "\n".join(lines) + "\n"


def _flow(value: Any) -> str:
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key}: {_flow(item)}" for key, item in value.items()) + "}"
    return f"{value:g}" if isinstance(value, float) else str(value)


def propose(
    best: Level,
    replicas: int,
    *,
    peak_rps: float | None,
    conversations: float | None = None,
    current: Mapping[str, Any] | None = None,
) -> Proposal:
    """best: the largest level that met the objectives, with `replicas` ready. peak_rps: requests a second
    of all replicas at peak. conversations: what fits in the KV memory of a replica, by the fit check.
    current: fields of the spec by path, for what must not be lost."""
    each = best.rate_per_s / replicas
    fields = current or {}
    notes = [f"one replica meets the objectives up to {each:.3g} requests a second"]
    values: dict[str, Any] = {}
    low = int(fields.get("replicas.min") or 0)
    if peak_rps:
        values["replicas.max"] = max(ceil(peak_rps / each - 1e-9), low, 1)
        notes.append(f"{peak_rps:g} requests a second at peak need {values['replicas.max']} replicas")
    else:
        notes.append("without workload.peak_rps there is nothing to say about replicas.max")
    if best.in_flight_p95 is not None:
        most = max(1, ceil(best.in_flight_p95 / replicas))
        if conversations is not None and most > conversations >= 1:
            notes.append(f"{most} requests were in flight, memory holds {conversations:.1f} conversations")
            most = floor(conversations)
        values["replicas.max_concurrency"] = most
    targets = dict(fields.get(LOAD_TARGETS) or {"default": HEADROOM})
    values[LOAD_TARGETS] = {**targets, "requests_per_second": float(f"{each * HEADROOM:.3g}")}
    notes.append(f"the load target is {HEADROOM:.0%} of the limit: a replica takes minutes to start")
    return Proposal(values, tuple(notes))


def kv_pool_tokens(
    fraction: float, in_flight: float, prompt_tokens: float, output_tokens: float, replicas: int
) -> float | None:
    """Tokens that the KV pool of a replica holds, from the share in use and what was in flight.

    A request holds its prompt and, over its life, half of its output. in_flight: requests at a time, all
    replicas. fraction: `generator_kv_blocks_fraction` while that load ran. None below 5 %, where the share
    is mostly rounding.
    """
    if fraction < 0.05 or not in_flight:
        return None
    return in_flight * (prompt_tokens + output_tokens / 2) / fraction / replicas
