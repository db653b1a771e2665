"""Native routers: a stable name over multi-region deployments (docs.fireworks.ai, deployments/routers)."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.platform import deployments, names
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339

Doc = dict[str, Any]

KIND = "routers"
STRATEGIES = {"weighted-random": "WEIGHTED_RANDOM", "even-load": "EVEN_LOAD"}
DEFAULT_STRATEGY = "weighted-random"
_FIELDS = ("displayName", "deployments", "strategy", "model", "public", "sessionAffinity")


def strategy(text: str) -> str:
    """The enum value of a flag text in any case. Raises InvalidArgument."""
    key = text.strip().lower().replace("_", "-")
    if key not in STRATEGIES:
        raise invalid(f'invalid strategy "{text}", must be one of {{{", ".join(STRATEGIES)}}}')
    return STRATEGIES[key]


def every(world: World, account: str) -> list[Doc]:
    """Routers of an account in creation order."""
    world.readable(account)
    docs = [doc for doc in world.tx.all(KIND) if names.account_of(doc["name"]) == account]
    return sorted(docs, key=lambda doc: (doc["createTime"], doc["name"]))


def get(world: World, name: str) -> Doc:
    """Raises NotFound, PermissionDenied."""
    world.readable(names.account_of(name))
    doc = world.tx.get(KIND, name)
    if doc is None:
        raise PlatformError("NotFound", f"router {name} not found")
    return doc


def _members(world: World, account: str, texts: list[str]) -> list[str]:
    """Full names of existing multi-region deployments. Raises NotFound, InvalidArgument."""
    if not texts:
        raise invalid("a router needs at least one deployment")
    members = []
    for text in texts:
        doc = deployments.get(world, names.qualify(text, account, "deployments", "deployment"))
        if not doc["placement"].get("multiRegion"):
            raise invalid(f"deployment {doc['name']} is not a multi-region deployment")
        if doc["state"] in {"DELETING", "DELETED"}:
            raise invalid(f"deployment {doc['name']} is {doc['state']}")
        members.append(doc["name"])
    return list(dict.fromkeys(members))


def create(world: World, account: str, router_id: str, body: Doc) -> Doc:
    """Create a router; a random ID when none is given."""
    world.writable(account)
    router_id = router_id or world.random_id()
    names.check_id(router_id, "router")
    name = names.join(account, KIND, router_id)
    if world.tx.get(KIND, name):
        raise PlatformError("AlreadyExists", f"router {name} already exists")
    now = rfc3339(world.now)
    doc: Doc = {"name": name, "createTime": now, "updateTime": now, "createdBy": world.caller.email}
    doc |= {
        "strategy": STRATEGIES[DEFAULT_STRATEGY],
        "state": "READY",
        "status": {"code": "OK", "message": ""},
    }
    doc |= {field: body[field] for field in _FIELDS if field in body}
    doc["deployments"] = _members(world, account, body.get("deployments", []))
    world.tx.put(KIND, name, doc)
    return doc


def update(world: World, name: str, body: Doc) -> Doc:
    """Change the given fields; deployments are replaced as a whole."""
    account = names.account_of(name)
    world.writable(account)
    doc = get(world, name) | {field: body[field] for field in _FIELDS if field in body}
    if "deployments" in body:
        doc["deployments"] = _members(world, account, body["deployments"])
    doc["updateTime"] = rfc3339(world.now)
    world.tx.put(KIND, name, doc)
    return doc


def delete(world: World, name: str) -> None:
    """Remove a router; its deployments stay. Raises NotFound, PermissionDenied."""
    world.writable(names.account_of(name))
    get(world, name)
    world.tx.remove(KIND, name)
