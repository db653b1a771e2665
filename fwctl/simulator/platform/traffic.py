"""Inference traffic as the platform remembers it: the autoscaler's load, and sums by hour.

The HTTP server reports what it served in batches; `sim traffic` sets a load by hand. Hourly documents
of kind `traffic` are what metrics and billing read.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from fwctl.simulator.platform import autoscaling, deployments, names
from fwctl.simulator.platform.world import World

Doc = dict[str, Any]

KIND = "traffic"
HOUR_S = 3600


class Usage(NamedTuple):
    """Sums over a batch of requests. errors: answers from 400 on. Times in milliseconds."""

    requests: int = 0
    errors: int = 0
    prompt_tokens: int = 0
    cached_prompt_tokens: int = 0
    generated_tokens: int = 0
    drafted_tokens: int = 0
    accepted_tokens: int = 0
    latency_ms: float = 0.0
    first_token_ms: float = 0.0

    def plus(self, other: Usage) -> Usage:
        return Usage(*map(operator.add, self, other))


def record(
    world: World, name: str, base_model: str, *, usage: Usage, load: Mapping[str, float], for_s: float
) -> None:
    """Enter a batch for a deployment (or a serverless model) at `world.now`.

    load: what the autoscaler sees from now on (`concurrent_requests`, `requests_per_second`, …); it ends by
    itself after `for_s` simulated seconds unless reported again. No rights are checked: the caller served it.
    """
    enter(world, name, base_model, usage)
    doc = deployments.stored(world, name)
    if doc is not None and doc["state"] in {"CREATING", "READY", "UPDATING"}:
        set_load(doc, load, world.now, until_s=world.now + for_s, served=usage.requests > 0)
        world.tx.put(deployments.KIND, name, doc)


def set_load(doc: Doc, load: Mapping[str, float], now: float, *, until_s: float | None, served: bool) -> None:
    """Change the load of a settled deployment. until_s None: it lasts until it is changed again."""
    sim = doc["_sim"]
    before = autoscaling.required(doc, sim.get("load", {}))
    sim["load"] = {key: value for key, value in load.items() if value > 0}
    if autoscaling.required(doc, sim["load"]) != before:
        sim["loadSinceS"] = now
    if sim["load"] and sim["desired"] == 0 and doc.get("maxReplicaCount", 0):
        # A request wakes a deployment at zero at once; the 503 it gets says so.
        autoscaling.set_desired(sim, 1, now)
    if served or sim["load"]:
        sim["lastRequestS"] = now
        sim["idleSinceS"] = max(now, sim["idleSinceS"])
    if until_s is None or not sim["load"]:
        sim.pop("loadUntilS", None)
    else:
        sim["loadUntilS"] = until_s
    autoscaling.run(doc, now)


def enter(world: World, name: str, base_model: str, usage: Usage) -> None:
    """Add a batch to the sums of this hour."""
    hour = int(world.now // HOUR_S) * HOUR_S
    key = f"{name}@{hour}"
    doc = world.tx.get(KIND, key) or {
        "name": key,
        "deployment": name,
        "baseModel": base_model,
        "hourS": hour,
        **dict.fromkeys(Usage._fields, 0),
    }
    for field, value in usage._asdict().items():
        doc[field] += value
    world.tx.put(KIND, key, doc)


def hours(world: World, account: str, start_s: float, end_s: float) -> Iterator[Doc]:
    """Hourly sums of an account's deployments with `start_s` <= hour < `end_s` in order of name."""
    for doc in world.tx.all(KIND):
        if names.account_of(doc["deployment"]) == account and start_s <= doc["hourS"] < end_s:
            yield doc
