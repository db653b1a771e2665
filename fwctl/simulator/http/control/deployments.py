"""Deployments over REST."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.http.control.call import Call, Doc, shown, shown_page
from fwctl.simulator.platform import deployments, listing, names
from fwctl.simulator.platform.errors import PlatformError, invalid
from fwctl.simulator.platform.placing import CreateOptions
from fwctl.simulator.platform.world import World

_MESSAGE = "Deployment"


def create(world: World, call: Call) -> Doc:
    options = CreateOptions(
        deployment_id=call.word("deploymentId"),
        validate_only=call.flag("validateOnly"),
        accept_shapeless_risk=call.flag("acceptShapelessRisk"),
        disable_speculative_decoding=call.flag("disableSpeculativeDecoding"),
        skip_shape_validation=call.flag("skipShapeValidation"),
    )
    body = call.body(_MESSAGE)
    _check_annotations(body)
    return shown(_MESSAGE, deployments.create(world, call.account, body, options))


def _check_annotations(body: Doc) -> None:
    """Tags carry the prefix custom/; bare keys are refused (docs, deployment tags)."""
    for key in body.get("annotations", {}):
        if not key.startswith("custom/"):
            raise PlatformError("PermissionDenied", f"annotation key {key} may not be set by callers")


def get(world: World, call: Call) -> Doc:
    return shown(_MESSAGE, deployments.get(world, call.name("deployments")), call.mask("readMask"))


def every(world: World, call: Call) -> Doc:
    docs = deployments.every(world, call.account, show_deleted=call.flag("showDeleted"))
    page = listing.page(docs, call.listing(), base_model_filter=world.profile.yes("base_model_filter"))
    return shown_page(_MESSAGE, "deployments", page, call.mask("readMask"))


def update(world: World, call: Call) -> Doc:
    """The body still carries baseModel, which cannot change; an empty mask replaces all mutable fields."""
    name = call.name("deployments")
    body = call.body(_MESSAGE)
    _check_annotations(body)
    world.readable(names.account_of(name))
    before = deployments.get(world, name)
    if not body.get("baseModel"):
        raise invalid("invalid deployment: base_model is required")
    if body["baseModel"] != before["baseModel"]:
        raise invalid("invalid deployment: base_model is immutable")
    mask = call.mask("updateMask")
    skip = call.flag("skipShapeValidation")
    return shown(_MESSAGE, deployments.update(world, name, body, mask, skip_shape_validation=skip))


def scale(world: World, call: Call) -> Doc:
    document = call.document()
    for key in document:
        if key not in {"replicaCount", "replica_count"}:
            raise invalid(f'proto: (line 1:2): unknown field "{key}"')
    count: Any = document.get("replicaCount", document.get("replica_count", 0))
    if isinstance(count, bool) or not isinstance(count, int):
        raise invalid("proto: invalid value for int32 field replicaCount")
    deployments.scale(world, call.name("deployments"), count)
    return {}


def delete(world: World, call: Call) -> Doc:
    deployments.delete(
        world, call.name("deployments"), hard=call.flag("hard"), ignore_checks=call.flag("ignoreChecks")
    )
    return {}


def undelete(world: World, call: Call) -> Doc:
    return shown(_MESSAGE, deployments.undelete(world, call.name("deployments")))


def set_tags(world: World, call: Call) -> Doc:
    tags = call.document().get("tags", {})
    if not isinstance(tags, dict) or not all(isinstance(value, str) for value in tags.values()):
        raise invalid("proto: invalid value for map field tags")
    return {"tags": deployments.set_tags(world, call.name("deployments"), tags)}


def delete_tags(world: World, call: Call) -> Doc:
    keys = call.document().get("keys", [])
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys):
        raise invalid("proto: invalid value for string field keys")
    return {"tags": deployments.delete_tags(world, call.name("deployments"), keys)}
