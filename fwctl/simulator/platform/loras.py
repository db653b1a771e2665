"""Deployed models: LoRA adapters loaded on deployments with addons."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.platform import deployments, models, names
from fwctl.simulator.platform.errors import PlatformError, invalid, precondition
from fwctl.simulator.platform.quotas import MAX_ADAPTERS
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

KIND = "deployedModels"
_LOAD_S = 20.0


def _shown(world: World, doc: Doc) -> Doc:
    public = {key: value for key, value in doc.items() if key != "_sim"}
    public["state"] = "DEPLOYED" if world.now >= doc["_sim"]["readyS"] else "DEPLOYING"
    return public


def every(world: World, account: str) -> list[Doc]:
    """Deployed models of an account in creation order."""
    world.readable(account)
    docs = [doc for doc in world.tx.all(KIND) if names.account_of(doc["name"]) == account]
    return [_shown(world, doc) for doc in sorted(docs, key=lambda doc: (doc["createTime"], doc["name"]))]


def get(world: World, name: str) -> Doc:
    """A deployed model by full name. Raises NotFound, PermissionDenied."""
    world.readable(names.account_of(name))
    doc = world.tx.get(KIND, name)
    if doc is None:
        raise PlatformError("NotFound", f"deployed model {name} not found")
    return _shown(world, doc)


def _on(world: World, deployment: str) -> list[Doc]:
    return [doc for doc in world.tx.all(KIND) if doc["deployment"] == deployment]


def load(
    world: World, model: str, deployment: str, *, public: bool = False, replace_merged: bool = False
) -> Doc:
    """Load an adapter. Raises NotFound, InvalidArgument, FailedPrecondition, AlreadyExists."""
    account = names.account_of(deployment)
    world.writable(account)
    addon = models.get(world, model)
    if not models.is_addon(addon):
        raise invalid(f"model {model} is not a LoRA addon")
    target = deployments.get(world, deployment)
    if target["state"] not in {"READY", "CREATING", "UPDATING"}:
        raise precondition(f"deployment {deployment} is {target['state']}")
    hot = target.get("enableHotReloadLatestAddon")
    if not target.get("enableAddons") and not hot:
        raise precondition(f"deployment {deployment} does not have addons enabled")
    base = addon["peftDetails"]["baseModel"]
    if models.base_of(world, models.get(world, target["baseModel"]))["name"] != base:
        raise invalid(f"addon {model} is for base model {base}, not {target['baseModel']}")
    loaded = _on(world, deployment)
    if any(doc["model"] == model for doc in loaded):
        raise PlatformError("AlreadyExists", f"model {model} is already deployed on {deployment}")
    if hot and loaded and not replace_merged:
        raise precondition("an addon is already merged, pass replace_merged_addon to replace it")
    if hot:
        for doc in loaded:
            world.tx.remove(KIND, doc["name"])
    if sum(1 for doc in world.tx.all(KIND) if names.account_of(doc["name"]) == account) >= MAX_ADAPTERS:
        raise PlatformError("ResourceExhausted", f"quota lora-count exceeded: at most {MAX_ADAPTERS} LoRAs")
    return _shown(world, _add(world, account, model, deployment, public))


def _add(world: World, account: str, model: str, deployment: str, public: bool) -> Doc:
    first = not any(doc["model"] == model for doc in world.tx.all(KIND))
    suffix = world.random_id()
    doc = {
        "name": names.join(account, KIND, f"{names.id_of(model)}-{suffix}"),
        "model": model,
        "deployment": deployment,
        "createTime": rfc3339(world.now),
        "updateTime": rfc3339(world.now),
        "default": first,
        "public": public,
        "state": "DEPLOYING",
        "status": {"code": "OK", "message": ""},
        "_sim": {"readyS": world.now + _LOAD_S},
    }
    world.tx.put(KIND, str(doc["name"]), doc)
    return doc


def unload(world: World, model: str, deployment: str | None) -> None:
    """Unload an adapter; without a deployment it must be loaded on exactly one."""
    loaded = [doc for doc in world.tx.all(KIND) if doc["model"] == model]
    if deployment is not None:
        loaded = [doc for doc in loaded if doc["deployment"] == deployment]
    if not loaded:
        raise PlatformError("NotFound", f"model {model} is not deployed")
    if len(loaded) > 1:
        raise invalid(f"model {model} is deployed on several deployments, specify one")
    remove(world, loaded[0]["name"])


def remove(world: World, name: str) -> None:
    """Unload by the name of the deployed model. Raises NotFound, PermissionDenied."""
    world.writable(names.account_of(name))
    get(world, name)
    world.tx.remove(KIND, name)


def update(world: World, name: str, body: Doc) -> Doc:
    """Change default, public, display name or description; making it the default unmakes the others."""
    world.writable(names.account_of(name))
    get(world, name)
    doc = world.tx.get(KIND, name) or {}
    if body.get("default"):
        for other in list(world.tx.all(KIND)):
            if other["model"] == doc["model"] and other.get("default"):
                world.tx.put(KIND, other["name"], other | {"default": False})
    doc = doc | body | {"updateTime": rfc3339(world.now)}
    world.tx.put(KIND, name, doc)
    return _shown(world, doc)
