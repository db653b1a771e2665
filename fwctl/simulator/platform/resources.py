"""Resources that the simulator only keeps: datasets, training jobs, secrets, users, …

Their rules on the platform are of no concern to deployments; what matters is that they can be created,
read, listed and deleted, and that jobs end.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from fwctl.simulator.platform import names
from fwctl.simulator.platform.errors import PlatformError, precondition
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]


class Kind(NamedTuple):
    """collection: the part of the name. what: for error texts. job: it passes states by time."""

    collection: str
    what: str
    job: bool = False
    state: str = "READY"


KINDS: dict[str, Kind] = {
    "dataset": Kind("datasets", "dataset"),
    "supervised-fine-tuning-job": Kind("supervisedFineTuningJobs", "supervised fine-tuning job", True),
    "reinforcement-fine-tuning-job": Kind(
        "reinforcementFineTuningJobs", "reinforcement fine-tuning job", True
    ),
    "dpo-job": Kind("dpoJobs", "DPO job", True),
    "rlor-trainer-job": Kind("rlorTrainerJobs", "trainer job", True),
    "batch-inference-job": Kind("batchInferenceJobs", "batch inference job", True),
    "training-shape": Kind("trainingShapes", "training shape"),
    "evaluator-revision": Kind("evaluatorRevisions", "evaluator revision"),
    "identity-provider": Kind("identityProviders", "identity provider"),
    "credit-redemption": Kind("creditRedemptions", "credit redemption"),
    "secret": Kind("secrets", "secret"),
    "user": Kind("users", "user"),
    "api-key": Kind("apiKeys", "API key"),
    "reservation": Kind("reservations", "reservation"),
}
# Shown for the account `fireworks`; hardware as in the vendor's cookbook.
_TRAINING_SHAPES = (
    ("llama-v3p1-8b-instruct-lora", "llama-v3p1-8b-instruct", "NVIDIA_H100_80GB", 1),
    ("qwen3-32b-lora", "qwen3-32b", "NVIDIA_H200_141GB", 4),
    ("gpt-oss-120b-lora", "gpt-oss-120b", "NVIDIA_B200_180GB", 4),
)


def _shown(world: World, kind: Kind, doc: Doc) -> Doc:
    public = {key: value for key, value in doc.items() if key != "_sim"}
    if kind.job and doc.get("state") == "JOB_STATE_RUNNING":
        started = doc["_sim"]["createdS"]
        end = started + world.profile.number("job_s")
        if world.now >= end:
            public |= {"state": "JOB_STATE_COMPLETED", "completedTime": rfc3339(end)}
    return public


def _built_in(kind: Kind) -> list[Doc]:
    if kind.collection != "trainingShapes":
        return []
    return [
        {
            "name": f"accounts/fireworks/trainingShapes/{shape}",
            "createTime": "2026-01-15T09:00:00.000000Z",
            "baseModel": f"accounts/fireworks/models/{model}",
            "acceleratorType": accelerator,
            "acceleratorCount": count,
        }
        for shape, model, accelerator, count in _TRAINING_SHAPES
    ]


def every(world: World, noun: str, account: str) -> list[Doc]:
    """Resources of a noun in creation order."""
    world.readable(account)
    kind = KINDS[noun]
    docs = [*_built_in(kind), *world.tx.all(kind.collection)]
    own = [_shown(world, kind, doc) for doc in docs if names.account_of(doc["name"]) == account]
    return sorted(own, key=lambda doc: (doc["createTime"], doc["name"]))


def get(world: World, noun: str, name: str) -> Doc:
    """One resource by full name. Raises NotFound, PermissionDenied."""
    for doc in every(world, noun, names.account_of(name)):
        if doc["name"] == name:
            return doc
    raise PlatformError("NotFound", f"{KINDS[noun].what} {name} not found")


def create(
    world: World, noun: str, account: str, resource_id: str, body: Doc, *, hidden: Doc | None = None
) -> Doc:
    """Keep a new resource; a random ID when none is given. hidden: what is remembered and never shown."""
    world.writable(account)
    kind = KINDS[noun]
    resource_id = resource_id or world.random_id()
    name = names.join(account, kind.collection, resource_id)
    if world.tx.get(kind.collection, name):
        raise PlatformError("AlreadyExists", f"{kind.what} {name} already exists")
    now = rfc3339(world.now)
    doc: Doc = {"name": name, "createTime": now, "updateTime": now, "createdBy": world.caller.email}
    doc |= {"state": "JOB_STATE_RUNNING" if kind.job else kind.state} | body
    doc["_sim"] = {"createdS": world.now} | (hidden or {})
    world.tx.put(kind.collection, name, doc)
    return _shown(world, kind, doc)


def update(world: World, noun: str, name: str, body: Doc, *, hidden: Doc | None = None) -> Doc:
    """Change the given fields, and what is remembered unseen. Raises NotFound, PermissionDenied."""
    world.writable(names.account_of(name))
    get(world, noun, name)
    kind = KINDS[noun]
    doc = (world.tx.get(kind.collection, name) or {}) | body | {"updateTime": rfc3339(world.now)}
    doc["_sim"] = doc.get("_sim", {}) | (hidden or {})
    world.tx.put(kind.collection, name, doc)
    return _shown(world, kind, doc)


def cancel(world: World, noun: str, name: str) -> Doc:
    """Stop a running job. Raises FailedPrecondition when it has ended."""
    if get(world, noun, name)["state"] != "JOB_STATE_RUNNING":
        raise precondition(f"{KINDS[noun].what} {name} is not running")
    return update(world, noun, name, {"state": "JOB_STATE_CANCELLED"})


def delete(world: World, noun: str, name: str) -> None:
    """Forget a resource. Raises NotFound, PermissionDenied."""
    world.writable(names.account_of(name))
    get(world, noun, name)
    world.tx.remove(KINDS[noun].collection, name)
