"""Shapes, shape versions, models and quotas over REST."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.http.control.call import Call, Doc, shown, shown_page, writable
from fwctl.simulator.platform import deployments, listing, models, names, protojson, quotas, shapes
from fwctl.simulator.platform.errors import invalid
from fwctl.simulator.platform.world import World

_SHAPE, _VERSION, _MODEL = "DeploymentShape", "DeploymentShapeVersion", "Model"


def every_shape(world: World, call: Call) -> Doc:
    world.readable(call.account)
    rows = (doc for doc in shapes.every_shape(world) if names.account_of(doc["name"]) == call.account)
    page = listing.page(rows, call.listing())
    return shown_page(_SHAPE, "deploymentShapes", page, call.mask("readMask"))


def get_shape(world: World, call: Call) -> Doc:
    world.readable(call.account)
    return shown(_SHAPE, shapes.get_shape(world, call.name("deploymentShapes")), call.mask("readMask"))


def every_version(world: World, call: Call) -> Doc:
    """Versions of one shape, or of all with `-`."""
    world.readable(call.account)
    shape = None if call.path["id"] == "-" else call.name("deploymentShapes")
    rows = (doc for doc in shapes.versions(world, shape) if names.account_of(doc["name"]) == call.account)
    page = listing.page(rows, call.listing())
    return shown_page(_VERSION, "deploymentShapeVersions", page, call.mask("readMask"))


def get_version(world: World, call: Call) -> Doc:
    world.readable(call.account)
    name = f"{call.name('deploymentShapes')}/versions/{call.path['version']}"
    return shown(_VERSION, shapes.get_version(world, name), call.mask("readMask"))


def match(world: World, call: Call) -> Doc:
    """Shape versions this account can deploy for a model; the path's account may be Fireworks' own."""
    world.readable(call.account)
    document = call.document()
    asked = document.get("createDeploymentRequest")
    if not isinstance(asked, dict):
        raise invalid("create_deployment_request is required")
    body = protojson.convert("Deployment", asked.get("deployment", {}))
    if not body.get("baseModel"):
        raise invalid("create_deployment_request.deployment.base_model is required")
    model = models.get(world, names.qualify(body["baseModel"], world.caller.account, "models", "model"))
    rows = shapes.match(world, model, enable_addons=bool(body.get("enableAddons")))
    page = listing.page(rows, call.listing())
    return shown_page(_VERSION, "deploymentShapeVersions", page, [])


def every_model(world: World, call: Call) -> Doc:
    page = listing.page(models.every(world, call.account), call.listing())
    return shown_page(_MODEL, "models", page, call.mask("readMask"))


def get_model(world: World, call: Call) -> Doc:
    world.readable(call.account)
    return shown(_MODEL, models.get(world, call.name("models")), call.mask("readMask"))


def create_model(world: World, call: Call) -> Doc:
    """`{modelId, model}`; the simulator needs no upload."""
    document = call.document()
    model_id: Any = document.get("modelId", document.get("model_id"))
    if not isinstance(model_id, str):
        raise invalid("model_id is required")
    body = writable(_MODEL, protojson.convert(_MODEL, document.get("model", {})))
    base = None
    if body.get("peftDetails", {}).get("baseModel"):
        base = models.get(world, body["peftDetails"]["baseModel"])
    return shown(_MODEL, models.create(world, call.account, model_id, body, base=base))


def update_model(world: World, call: Call) -> Doc:
    body = call.body(_MODEL)
    mask = call.mask("updateMask")
    if mask:
        body = {key: value for key, value in body.items() if key in mask}
    return shown(_MODEL, models.update(world, call.name("models"), body))


def delete_model(world: World, call: Call) -> Doc:
    name = call.name("models")
    world.readable(call.account)
    users = [d["name"] for d in deployments.live(world, call.account) if d["baseModel"] == name]
    models.delete(world, name, users)
    return {}


def prepare_model(world: World, call: Call) -> Doc:
    document = call.document()
    precision = document.get("precision")
    if not isinstance(precision, str):
        raise invalid("precision is required")
    body = protojson.convert("DeploymentShape", {"precision": precision})
    models.prepare(world, call.name("models"), body["precision"])
    return {}


def every_quota(world: World, call: Call) -> Doc:
    rows = quotas.every(world, call.account, deployments.live(world, call.account))
    page = listing.page(rows, call.listing())
    return {"quotas": page.items, "nextPageToken": page.next_token, "totalSize": page.total}


def get_quota(world: World, call: Call) -> Doc:
    return quotas.get(world, call.account, call.path["id"], deployments.live(world, call.account))


def update_quota(world: World, call: Call) -> Doc:
    value: Any = call.document().get("value")
    try:
        number = int(value)
    except (TypeError, ValueError):
        raise invalid("value must be a whole number") from None
    return quotas.update(world, call.account, call.path["id"], number)
