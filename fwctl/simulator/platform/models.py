"""Models: the catalogue's and the account's own, which live in the state."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.platform import names, tuning
from fwctl.simulator.platform.errors import PlatformError, invalid, precondition
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

KIND = "models"
_GONE = {"_sim": {"gone": True}}
_ADDON_KINDS = ("HF_PEFT_ADDON", "HF_TEFT_ADDON", "FLUMINA_ADDON", "DRAFT_ADDON")
BITS = {"BF16": 16, "FP16": 16, "FP4": 4, "NF4": 4, "FP4_BLOCKSCALED_MM": 4, "FP4_MX_MOE": 4}
_FP8_BITS = 8
UPDATABLE = (
    "displayName",
    "description",
    "public",
    "contextLength",
    "defaultDraftModel",
    "defaultDraftTokenCount",
    "githubUrl",
    "huggingFaceUrl",
    "supportsImageInput",
    "supportsTools",
    "supportsLora",
)


def find(world: World, name: str) -> Doc | None:
    """The model of a full name, None when it does not exist or is another account's private one."""
    doc = world.tx.get(KIND, name) or world.catalogue.model(name)
    doc = doc or tuning.outputs(world, names.account_of(name)).get(name)
    if doc is None or doc.get("_sim", {}).get("gone"):
        return None
    own = names.account_of(name) == world.caller.account
    return doc if own or doc.get("public") else None


def get(world: World, name: str) -> Doc:
    """The model of a full name. Raises NotFound."""
    doc = find(world, name)
    if doc is None:
        raise PlatformError("NotFound", f"model {name} not found")
    return doc


def every(world: World, account: str) -> Iterator[Doc]:
    """The models of an account that the caller may see, by name."""
    world.readable(account)
    docs = {doc["name"]: doc for doc in world.catalogue.models(account)}
    docs |= tuning.outputs(world, account)
    docs |= {d["name"]: d for d in world.tx.all(KIND) if names.account_of(d.get("name", "")) == account}
    for name in sorted(docs):
        doc = find(world, name)
        if doc is not None:
            yield doc


def is_addon(model: Doc) -> bool:
    """True for adapters, which need a base model."""
    return model.get("kind") in _ADDON_KINDS


def base_of(world: World, model: Doc) -> Doc:
    """The base model of an addon (live merge); the model itself otherwise."""
    details = model.get("peftDetails")
    return get(world, details["baseModel"]) if is_addon(model) and details else model


def parameter_count(model: Doc) -> int:
    """Parameters of a base model, 0 when not known."""
    return int(model.get("baseModelDetails", {}).get("parameterCount", "0"))


def weight_bytes(model: Doc, precision: str) -> float:
    """Size of the weights alone: parameters x bits / 8."""
    return parameter_count(model) * BITS.get(precision, _FP8_BITS) / 8


def estimated_accelerators(world: World, model: Doc, accelerator_type: str, precision: str) -> int:
    """The server's estimate of the minimum count: weights plus a fifth, in a power of two, 8 at most.

    Beyond 8 a replica spans nodes of 8. The rule is the simulator's own; the platform's is not public.
    """
    memory_bytes = world.catalogue.accelerators[accelerator_type]["memoryGb"] * 1e9 * 0.9
    needed = max(1, math.ceil(weight_bytes(model, precision) * 1.2 / memory_bytes))
    return int(1 << (needed - 1).bit_length())


def create(world: World, account: str, model_id: str, body: Doc, *, base: Doc | None = None) -> Doc:
    """Create and finish the upload of a model in one step.

    base: the model whose architecture it shares: the base of a LoRA, or the twin of full weights.
    """
    world.writable(account)
    names.check_id(model_id, "model")
    name = names.join(account, KIND, model_id)
    if find(world, name):
        raise PlatformError("AlreadyExists", f"model {name} already exists")
    now = rfc3339(world.now)
    doc = {
        "createTime": now,
        "updateTime": now,
        "kind": "CUSTOM_MODEL",
        "state": "READY",
        "status": {"code": "OK", "message": ""},
        "public": False,
    } | body
    doc["name"] = name
    if base and not is_addon(doc):
        doc["baseModelDetails"] = dict(base["baseModelDetails"])
        doc["supportedPrecisions"] = ["BF16", "FP16"]
        doc["supportedPrecisionsWithCalibration"] = ["FP8", "FP4"]
        doc.setdefault("contextLength", base.get("contextLength", 0))
    world.tx.put(KIND, name, doc)
    return doc


def update(world: World, name: str, body: Doc) -> Doc:
    """Change the fields named in `body`. Raises NotFound, PermissionDenied, InvalidArgument."""
    world.writable(names.account_of(name))
    for key in body:
        if key not in UPDATABLE:
            raise invalid(f"field {key} of a model cannot be updated")
    doc = get(world, name) | body | {"updateTime": rfc3339(world.now)}
    world.tx.put(KIND, name, doc)
    return doc


def delete(world: World, name: str, users: list[str]) -> None:
    """Raises FailedPrecondition while `users` (deployments of it) exist."""
    world.writable(names.account_of(name))
    get(world, name)
    if users:
        raise precondition("cannot delete model with active deployments")
    world.tx.put(KIND, name, {"name": name} | _GONE)


def prepare(world: World, name: str, precision: str) -> Doc:
    """Make a quantised precision of an own model servable; Fireworks' own models are not the caller's."""
    if names.account_of(name) == FIREWORKS:
        raise PlatformError("PermissionDenied", "caller does not have permission to perform this action")
    world.writable(names.account_of(name))
    doc = get(world, name)
    supported = doc.get("supportedPrecisions", [])
    if precision not in [*supported, *doc.get("supportedPrecisionsWithCalibration", [])]:
        raise invalid(f"model {name} cannot be prepared for precision {precision}")
    doc["supportedPrecisions"] = supported + [precision] * (precision not in supported)
    doc["calibrated"] = True
    world.tx.put(KIND, name, doc)
    return doc
