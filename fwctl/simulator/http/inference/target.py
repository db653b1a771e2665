"""Which deployment a model string means, and what serves it.

Rules of model strings: public reports and docs collected in 2026. `accounts/A/deployments/ID` serves the
base; `<model>#accounts/A/deployments/ID` with full paths is safest; `model#ID` works for adapters on a
multi-LoRA deployment and not for live merge; a bare adapter is 404 on a dedicated deployment.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from typing import Any, NamedTuple

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.http.reply import InferenceError
from fwctl.simulator.platform import deployments, loras, models, names, routers
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import parse_rfc3339

Doc = dict[str, Any]

NOT_FOUND = "Model not found, inaccessible, and/or not deployed"
SCALING_UP = (
    "Deployment is currently scaled to zero and is scaling up. Please retry your request in a few minutes."
)
_SERVING = ("READY", "UPDATING", "CREATING")


class Target(NamedTuple):
    """deployment: its settled document, None on serverless. base: the base model's document. adapter: the
    LoRA asked for. ready: replicas that serve. draft: document of the draft model, or of its base. sketch:
    what the draft model was tuned on.
    """

    model: str
    deployment: Doc | None
    base: Doc
    adapter: str | None
    ready: int
    draft: Doc | None = None
    sketch: tuple[int, ...] = ()

    @property
    def name(self) -> str:
        return str(self.deployment["name"] if self.deployment else self.base["name"])


def missing() -> InferenceError:
    return InferenceError(404, "NOT_FOUND", NOT_FOUND, param="model")


def _visible_deployment(world: World, name: str) -> Doc:
    if names.account_of(name) != world.caller.account:
        raise missing()
    doc = deployments.stored(world, name)
    if doc is None or doc["state"] not in _SERVING:
        raise missing()
    return doc


def _on(world: World, deployment: Doc, adapter: str | None) -> Target:
    model = models.find(world, deployment["baseModel"])
    if model is None:
        raise missing()
    base = models.base_of(world, model)
    ready = deployment["replicaStats"]["readyReplicaCount"]
    draft = models.find(world, deployment["draftModel"]) if deployment.get("draftModel") else None
    sketch = (draft or {}).get("_sim", {}).get("fingerprint", [])
    if draft is not None and models.is_addon(draft):
        draft = models.base_of(world, draft)
    return Target(deployment["name"], deployment, base, adapter, ready, draft, tuple(sketch))


def _adapters(world: World, deployment: Doc) -> set[str]:
    """Adapters that answer. On a quantised deployment they say DEPLOYED and answer nowhere (July 2026)."""
    if deployment.get("precision") not in {"BF16", "FP16"}:
        return set()
    return {
        row["model"]
        for row in loras.every(world, names.account_of(deployment["name"]))
        if row["deployment"] == deployment["name"] and row["state"] == "DEPLOYED"
    }


def _with_suffix(world: World, model: str, suffix: str) -> Target:
    """`model#deployment` in full or short form."""
    short = "/" not in suffix
    account = world.caller.account
    deployment = _visible_deployment(world, names.join(account, "deployments", suffix) if short else suffix)
    full = model if model.startswith("accounts/") else names.join(account, "models", model)
    if full in _adapters(world, deployment):
        return _on(world, deployment, full)
    target = _on(world, deployment, None)
    live_merge = deployment["baseModel"] != target.base["name"]
    if full == deployment["baseModel"] and not (live_merge and (short or full != model)):
        return target
    raise missing()


def _routed(world: World, name: str, draw: random.Random, busy: Mapping[str, int]) -> Target:
    """One of a router's deployments: by replica count at random, or the least busy per replica."""
    router = world.tx.get(routers.KIND, name)
    own = names.account_of(name) == world.caller.account
    if router is None or not (own or router.get("public")):
        raise missing()
    settled = [deployments.stored(world, member) for member in router["deployments"]]
    found = [doc for doc in settled if doc is not None and doc["state"] in _SERVING]
    if not found:
        raise missing()
    ready = [doc["replicaStats"]["readyReplicaCount"] for doc in found]
    if not any(ready):
        return _on(world, found[0], None)
    if router["strategy"] == routers.STRATEGIES["even-load"]:
        able = [
            (busy.get(doc["name"], 0) / count, at)
            for at, (doc, count) in enumerate(zip(found, ready, strict=True))
            if count
        ]
        return _on(world, found[min(able)[1]], None)
    return _on(world, draw.choices(found, ready)[0], None)


def resolve(world: World, text: str, draw: random.Random, busy: Mapping[str, int]) -> Target:
    """What the model string means for this caller. Raises InferenceError 404.

    draw: chooses among a router's deployments. busy: requests by deployment, for routers too.
    """
    model, hash_mark, suffix = text.partition("#")
    if hash_mark:
        return _with_suffix(world, model, suffix)
    parts = text.split("/")
    if len(parts) == 4 and parts[0] == "accounts":
        if parts[2] == "deployments":
            return _on(world, _visible_deployment(world, text), None)
        if parts[2] == routers.KIND:
            return _routed(world, text, draw, busy)
        if parts[2] == "models":
            return _serverless(world, text)
    raise missing()


def _serverless(world: World, name: str) -> Target:
    model = models.find(world, name)
    if model is None or models.is_addon(model) or not model.get("supportsServerless"):
        raise missing()
    return Target(name, None, model, None, 1)


def callable_models(world: World) -> list[Doc]:
    """What the caller can name as a model: its deployments, then serverless models."""
    own = deployments.live(world, world.caller.account)
    serverless = [doc for doc in models.every(world, FIREWORKS) if doc.get("supportsServerless")]
    return [
        {
            "id": doc["name"],
            "object": "model",
            "owned_by": names.account_of(doc["name"]),
            "created": int(parse_rfc3339(doc["createTime"])),
        }
        for doc in [*own, *serverless]
    ]
