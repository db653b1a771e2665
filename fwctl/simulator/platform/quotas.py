"""Quotas: GPUs counted as accelerators x max replicas, adapters, monthly spend."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fwctl.simulator.platform import names
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.world import World

Doc = dict[str, Any]

KIND = "quotas"
SPEND = "monthly-spend-usd"
ADAPTERS = "lora-count"
MAX_ADAPTERS = 100
REQUESTS = "requests-per-minute"
MAX_REQUESTS_PER_MINUTE = 6000
# The built-in account is an established one: its quotas are above the 8 GPUs a new account gets.
SPEND_TIERS_USD = (50, 500, 5_000, 50_000)


def gpu_quota(world: World, accelerator_type: str) -> str:
    """`global--h100-count` for NVIDIA_H100_80GB."""
    row = world.catalogue.accelerators.get(accelerator_type, {})
    return f"global--{row.get('quota', accelerator_type.lower())}-count"


def _defaults(world: World) -> dict[str, Doc]:
    rows: dict[str, Doc] = {}
    for accelerator, row in world.catalogue.accelerators.items():
        count = row.get("defaultQuota", 0)
        if count:
            rows[gpu_quota(world, accelerator)] = {"value": count, "maxValue": count}
    rows["training-h100-count"] = {"value": 8, "maxValue": 8}
    rows[ADAPTERS] = {"value": MAX_ADAPTERS, "maxValue": MAX_ADAPTERS}
    rows[REQUESTS] = {"value": MAX_REQUESTS_PER_MINUTE, "maxValue": MAX_REQUESTS_PER_MINUTE}
    rows[SPEND] = {"value": SPEND_TIERS_USD[-1], "maxValue": SPEND_TIERS_USD[-1]}
    return rows


def gpus_of(doc: Doc) -> int:
    """GPUs that a deployment holds in the quota, running or not; only min = max = 0 frees them."""
    return int(doc.get("acceleratorCount", 0)) * max(
        int(doc.get("maxReplicaCount", 0)), int(doc.get("minReplicaCount", 0))
    )


def every(world: World, account: str, deployments: Iterable[Doc]) -> list[Doc]:
    """The account's quotas with their usage, by name."""
    world.readable(account)
    used: dict[str, float] = {}
    for doc in deployments:
        key = gpu_quota(world, doc.get("acceleratorType", ""))
        used[key] = used.get(key, 0) + gpus_of(doc)
    used[SPEND] = world.tx.meta(f"spend/{account}") or 0
    used[ADAPTERS] = sum(
        1 for doc in world.tx.all("deployedModels") if names.account_of(doc["name"]) == account
    )
    rows = _defaults(world)
    for doc in world.tx.all(KIND):
        if names.account_of(doc["name"]) == account:
            rows[names.id_of(doc["name"])] = {"value": doc["value"], "maxValue": doc["maxValue"]}
    return [
        {"name": names.join(account, KIND, key), **rows[key], "usage": used.get(key, 0)}
        for key in sorted(rows)
    ]


def get(world: World, account: str, name: str, deployments: Iterable[Doc]) -> Doc:
    """One quota with its usage; `name` may be full or short. Raises NotFound."""
    for doc in every(world, account, deployments):
        if names.id_of(doc["name"]) == names.id_of(name):
            return doc
    raise PlatformError("NotFound", f"quota {names.join(account, KIND, names.id_of(name))} not found")


def update(world: World, account: str, name: str, value: int) -> Doc:
    """Set a quota's value up to its maximum. Raises NotFound, InvalidArgument."""
    world.writable(account)
    doc = get(world, account, name, ())
    if not 0 <= value <= doc["maxValue"]:
        raise invalid(f"value must be between 0 and {doc['maxValue']}")
    doc["value"] = value
    world.tx.put(KIND, doc["name"], {k: doc[k] for k in ("name", "value", "maxValue")})
    return doc


def set_limit(world: World, account: str, name: str, value: int) -> None:
    """Give the account another limit, as the vendor's support would."""
    full = names.join(account, KIND, name)
    world.tx.put(KIND, full, {"name": full, "value": value, "maxValue": value})


def check(world: World, account: str, doc: Doc, others: Iterable[Doc]) -> None:
    """Raises ResourceExhausted when the account's GPUs would not do for `doc` beside `others`."""
    accelerator = doc.get("acceleratorType", "")
    wanted = gpus_of(doc)
    if not wanted:
        return
    quota = get(world, account, gpu_quota(world, accelerator), others_of(doc, others))
    if quota["usage"] + wanted > quota["value"]:
        free = max(0, quota["value"] - quota["usage"])
        texts = {
            "a": f"quota {names.id_of(quota['name'])} exceeded: requested {wanted}, available {free}",
            "b": f"insufficient quota: {names.id_of(quota['name'])} usage {quota['usage']} + {wanted} "
            f"would exceed limit {quota['value']}",
        }
        raise PlatformError("ResourceExhausted", texts[world.profile["error_texts"]])


def others_of(doc: Doc, docs: Iterable[Doc]) -> list[Doc]:
    """All but the deployment itself."""
    return [other for other in docs if other["name"] != doc["name"]]
