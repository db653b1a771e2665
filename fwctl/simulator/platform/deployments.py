"""Deployments: create, get, list, update, scale, delete, undelete, tags."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.simulator.platform import autoscaling, lifecycle, models, names, placing, quotas, validation
from fwctl.simulator.platform.errors import PlatformError, invalid, precondition
from fwctl.simulator.platform.placing import CreateOptions
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

KIND = "deployments"
TRAFFIC_WINDOW_S = 3600.0
# Changing one of these restarts replicas; the state is UPDATING meanwhile.
ROLLING = (
    "deploymentShape",
    "acceleratorType",
    "acceleratorCount",
    "precision",
    "draftModel",
    "draftTokenCount",
    "ngramSpeculationLength",
    "enableAddons",
    "maxContextLength",
    "autoTune",
    "placement",
)
UPDATABLE = (
    *ROLLING,
    "displayName",
    "description",
    "minReplicaCount",
    "maxReplicaCount",
    "maxWithRevocableReplicaCount",
    "maxConcurrencyPerReplica",
    "scalingSchedules",
    "autoscalingPolicy",
    "directRouteType",
    "directRouteApiKeys",
    "enableSessionAffinity",
    "annotations",
    "expireTime",
    "enableMtp",
)


def stored(world: World, name: str) -> Doc | None:
    """The deployment as it is now, with `_sim`; None when it never was or has been purged."""
    doc = world.tx.get(KIND, name)
    return None if doc is None else lifecycle.settle(doc, world.now, world.profile)


def _existing(world: World, name: str) -> Doc:
    doc = stored(world, name)
    if doc is None:
        texts = {"a": f"deployment {name} not found", "b": f"deployment not found: {name}"}
        raise PlatformError("NotFound", texts[world.profile["error_texts"]])
    return doc


def held(world: World, account: str) -> Iterator[Doc]:
    """Every deployment that has not been purged, with `_sim`, by name."""
    prefix = f"accounts/{account}/"
    for doc in world.tx.all(KIND):
        if doc["name"].startswith(prefix):
            settled = lifecycle.settle(doc, world.now, world.profile)
            if settled is not None:
                yield settled


def live(world: World, account: str) -> list[Doc]:
    """Deployments that hold quota: everything that is not deleted."""
    return [doc for doc in held(world, account) if doc["state"] not in {"DELETING", "DELETED"}]


def every(world: World, account: str, *, show_deleted: bool = False) -> list[Doc]:
    """Deployments in creation order. Deleted ones are hidden, those still DELETING are not."""
    world.readable(account)
    docs = [doc for doc in held(world, account) if show_deleted or doc["state"] != "DELETED"]
    docs.sort(key=lambda doc: (doc["createTime"], doc["name"]))
    return [shown(doc) for doc in docs]


def shown(doc: Doc) -> Doc:
    """What an answer carries."""
    public = lifecycle.public(doc)
    keys = doc["_sim"].get("directRouteApiKeys")
    if keys:
        public["directRouteApiKeys"] = placing.unseal(keys)
    return public


def get(world: World, name: str) -> Doc:
    """The deployment as it is now. Raises NotFound, PermissionDenied."""
    world.readable(names.account_of(name))
    return shown(_existing(world, name))


def create(world: World, account: str, body: Doc, options: CreateOptions) -> Doc:
    """Create a deployment, or only answer what would be created. Raises PlatformError."""
    world.writable(account)
    deployment_id = options.deployment_id or world.random_id()
    names.check_id(deployment_id, "deployment")
    if not body.get("baseModel"):
        raise invalid("invalid deployment: base_model is required")
    model = models.get(world, body["baseModel"])
    name = names.join(account, KIND, deployment_id)
    doc: Doc = {"name": name, **placing.complete(world, model, body, options)}
    validation.check(doc)
    if stored(world, name) is not None:
        raise PlatformError("AlreadyExists", f"deployment {name} already exists")
    quotas.check(world, account, doc, live(world, account))
    doc |= {
        "createTime": rfc3339(world.now),
        "updateTime": rfc3339(world.now),
        "createdBy": world.caller.email,
    }
    base = models.base_of(world, model)
    doc["_sim"] = {"stages": lifecycle.stage_seconds(models.parameter_count(base)), "createdS": world.now}
    placing.seal_keys(doc)
    lifecycle.start(doc, "create", world.now, world.profile)
    if not options.validate_only:
        world.tx.put(KIND, name, doc)
    lifecycle.settle(doc, world.now, world.profile)
    return shown(doc)


def _editable(world: World, name: str) -> Doc:
    world.writable(names.account_of(name))
    doc = _existing(world, name)
    if doc["state"] in {"DELETED", "DELETING"}:
        raise precondition(f"deployment {name} is {doc['state']}")
    return doc


def _merge(doc: Doc, body: Doc, mask: list[str]) -> Doc:
    """The masked fields of `body` over `doc`; `a.b` reaches into a message. Absent ones are cleared."""
    merged = dict(doc)
    for path in mask:
        field, _, inner = path.partition(".")
        if inner:
            message = dict(merged.get(field, {}))
            message.pop(inner, None)
            if inner in body.get(field, {}):
                message[inner] = body[field][inner]
            merged[field] = message
        elif field in body:
            merged[field] = body[field]
        else:
            merged.pop(field, None)
    return merged


def update(
    world: World, name: str, body: Doc, mask: list[str], *, skip_shape_validation: bool = False
) -> Doc:
    """Change the masked fields (REST names, `message.field` allowed). An empty mask means all of them."""
    doc = _editable(world, name)
    mask = mask or list(UPDATABLE)
    for path in mask:
        if path.partition(".")[0] not in UPDATABLE:
            raise invalid(f"field {path} of a deployment cannot be updated")
    if doc["state"] in {"CREATING", "UPDATING"} and world.profile["update_in_flight"] == "refuse":
        raise precondition(f"deployment {name} is {doc['state']}")
    before = dict(doc)
    doc = _merge(doc, body, mask)
    placing.fill(world, before, doc)
    doc = placing.reshape(world, before, doc, mask, skip_shape_validation)
    validation.check(doc)
    placing.check_changes(world, before, doc, mask)
    if quotas.gpus_of(doc) > quotas.gpus_of(before) or doc["acceleratorType"] != before["acceleratorType"]:
        account = names.account_of(name)
        quotas.check(world, account, doc, live(world, account))
    placing.seal_keys(doc)
    doc["updateTime"] = rfc3339(world.now)
    if any(doc.get(field) != before.get(field) for field in ROLLING) and doc["state"] == "READY":
        lifecycle.roll(doc, world.now)
    return _store(world, doc)


def _store(world: World, doc: Doc) -> Doc:
    world.tx.put(KIND, doc["name"], doc)
    settled = lifecycle.settle(doc, world.now, world.profile)
    return shown(settled or doc)


def scale(world: World, name: str, count: int) -> None:
    """Set the replica count now; the autoscaler goes on from there."""
    doc = _editable(world, name)
    if count < 0:
        raise invalid("replica_count must be non-negative")
    lowest, highest = doc.get("minReplicaCount", 0), doc.get("maxReplicaCount", 0)
    if not lowest <= count <= highest and world.profile["scale_outside_bounds"] == "refuse":
        raise invalid(f"replica_count must be between {lowest} and {highest}")
    autoscaling.set_desired(doc["_sim"], count, world.now)
    doc["_sim"] |= {"loadSinceS": world.now, "idleSinceS": max(world.now, doc["_sim"]["idleSinceS"])}
    _store(world, doc)


def delete(world: World, name: str, *, hard: bool = False, ignore_checks: bool = False) -> None:
    """Delete; a second soft delete of a deleted one is refused, a hard one frees its ID."""
    world.writable(names.account_of(name))
    doc = _existing(world, name)
    if doc["state"] in {"DELETED", "DELETING"} and not hard:
        raise precondition(f"deployment {name} is already {doc['state']}")
    last = doc["_sim"].get("lastRequestS")
    recent = last is not None and world.now - last < TRAFFIC_WINDOW_S
    if recent and not ignore_checks and doc["state"] not in {"DELETED", "DELETING"}:
        raise precondition(
            "deployment has received inference requests in the last hour, "
            "pass ignore_checks or --ignore-checks to delete it anyway"
        )
    lifecycle.begin_delete(doc, world.now, world.profile, hard=hard)
    _store(world, doc)
    for row in list(world.tx.all("deployedModels")):
        if row["deployment"] == name:
            world.tx.remove("deployedModels", row["name"])


def undelete(world: World, name: str) -> Doc:
    """Bring a deleted deployment back; it starts again."""
    account = names.account_of(name)
    world.writable(account)
    doc = _existing(world, name)
    allowed = {"DELETED", "DELETING"} | ({"FAILED"} if world.profile.yes("undelete_failed") else set())
    if doc["state"] not in allowed:
        raise precondition(f"deployment {name} is {doc['state']}, only DELETED deployments can be undeleted")
    quotas.check(world, account, doc, live(world, account))
    for key in ("deleteTime", "purgeTime"):
        doc.pop(key, None)
    doc["_sim"].pop("purgeS", None)
    lifecycle.start(doc, "undelete", world.now, world.profile)
    return _store(world, doc)


def set_tags(world: World, name: str, tags: dict[str, str]) -> dict[str, str]:
    """Add or change tags (keys without prefix); returns all tags of the deployment."""
    doc = _editable(world, name)
    annotations = doc.get("annotations", {}) | {validation.TAG_PREFIX + k: v for k, v in tags.items()}
    validation.check_tags(annotations)
    doc["annotations"] = annotations
    doc["updateTime"] = rfc3339(world.now)
    _store(world, doc)
    return tags_of(doc)


def delete_tags(world: World, name: str, keys: list[str]) -> dict[str, str]:
    """Remove tags; a key that is not there is no error."""
    doc = _editable(world, name)
    gone = {validation.TAG_PREFIX + key for key in keys}
    doc["annotations"] = {k: v for k, v in doc.get("annotations", {}).items() if k not in gone}
    doc["updateTime"] = rfc3339(world.now)
    _store(world, doc)
    return tags_of(doc)


def tags_of(doc: Doc) -> dict[str, str]:
    """Tags of a deployment without their prefix, by key."""
    prefix = validation.TAG_PREFIX
    return {k.removeprefix(prefix): v for k, v in sorted(doc.get("annotations", {}).items())}
