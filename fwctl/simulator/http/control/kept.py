"""Resources that the platform only keeps, and routers, over REST."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from fwctl.simulator.http.control.call import Call, Doc
from fwctl.simulator.platform import listing, names, resources, routers, schema, tuning
from fwctl.simulator.platform.errors import invalid
from fwctl.simulator.platform.world import World

Work = Callable[[World, Call], Doc]

# Values that are taken and never given back.
_WRITE_ONLY = ("value",)


class Spelling(NamedTuple):
    """How the gateway spells a collection. wrapper: key of the resource in a create body, "" when the body
    is the resource. id_key: where its ID stands, in the query or beside the wrapper.
    """

    noun: str
    wrapper: str
    id_key: str


SPELLINGS: tuple[Spelling, ...] = (
    Spelling("dataset", "dataset", "datasetId"),
    Spelling("supervised-fine-tuning-job", "", "supervisedFineTuningJobId"),
    Spelling("reinforcement-fine-tuning-job", "", "reinforcementFineTuningJobId"),
    Spelling("dpo-job", "", "dpoJobId"),
    Spelling("rlor-trainer-job", "", "rlorTrainerJobId"),
    Spelling("batch-inference-job", "", "batchInferenceJobId"),
    Spelling("reservation", "reservation", "reservationId"),
    Spelling("secret", "", "secretId"),
    Spelling("user", "", "userId"),
)


def _camel(document: Doc) -> Doc:
    return {schema.camel(key): value for key, value in document.items()}


def _body(call: Call, spelling: Spelling) -> tuple[str, Doc]:
    """The ID asked for and the resource. Raises InvalidArgument."""
    document = _camel(call.document())
    resource_id: Any = call.word(spelling.id_key) or document.pop(spelling.id_key, "")
    body = _camel(document.get(spelling.wrapper) or {}) if spelling.wrapper else document
    if not isinstance(resource_id, str) or not isinstance(body, dict):
        raise invalid(f"{schema.snake(spelling.id_key)} is a string and {spelling.noun} an object")
    if resource_id:
        names.check_id(resource_id, spelling.noun.replace("-", " "))
    kept = {
        k: v for k, v in body.items() if k not in {"name", "state", "createTime", "updateTime", *_WRITE_ONLY}
    }
    return resource_id, kept


def works(spelling: Spelling) -> dict[str, Work]:
    """The calls of one collection by verb."""
    kind = resources.KINDS[spelling.noun]

    def create(world: World, call: Call) -> Doc:
        resource_id, body = _body(call, spelling)
        return resources.create(world, spelling.noun, call.account, resource_id, body)

    def get(world: World, call: Call) -> Doc:
        return resources.get(world, spelling.noun, call.name(kind.collection))

    def every(world: World, call: Call) -> Doc:
        page = listing.page(resources.every(world, spelling.noun, call.account), call.listing())
        return {kind.collection: page.items, "nextPageToken": page.next_token, "totalSize": page.total}

    def update(world: World, call: Call) -> Doc:
        body = _camel(call.document())
        mask = call.mask("updateMask")
        body = {k: v for k, v in body.items() if (not mask or k in mask) and k not in {"name", *_WRITE_ONLY}}
        return resources.update(world, spelling.noun, call.name(kind.collection), body)

    def delete(world: World, call: Call) -> Doc:
        resources.delete(world, spelling.noun, call.name(kind.collection))
        return {}

    def cancel(world: World, call: Call) -> Doc:
        resources.cancel(world, spelling.noun, call.name(kind.collection))
        return {}

    found: dict[str, Work] = {"create": create, "get": get, "list": every, "update": update, "delete": delete}
    return found | ({"cancel": cancel} if kind.job else {})


def upload_dataset(world: World, call: Call) -> Doc:
    """The file of a dataset, as a form or bare: its examples leave a sketch and their number."""
    name = call.name("datasets")
    resources.get(world, "dataset", name)
    found = tuning.remember(call.text.splitlines())
    examples = str(found.pop("exampleCount"))
    resources.update(world, "dataset", name, {"exampleCount": examples, "state": "READY"}, hidden=found)
    return {}


def _router_body(call: Call) -> Doc:
    document = _camel(call.document())
    given: Any = document.get("router", document)
    if not isinstance(given, dict):
        raise invalid("router is an object")
    body = _camel(given)
    if "strategy" in body:
        body["strategy"] = routers.strategy(str(body["strategy"]))
    members = body.get("deployments", [])
    if not isinstance(members, list) or not all(isinstance(name, str) for name in members):
        raise invalid("deployments is a list of names")
    return body


def create_router(world: World, call: Call) -> Doc:
    return routers.create(world, call.account, call.word("routerId"), _router_body(call))


def get_router(world: World, call: Call) -> Doc:
    return routers.get(world, call.name(routers.KIND))


def every_router(world: World, call: Call) -> Doc:
    page = listing.page(routers.every(world, call.account), call.listing())
    return {"routers": page.items, "nextPageToken": page.next_token, "totalSize": page.total}


def update_router(world: World, call: Call) -> Doc:
    body, mask = _router_body(call), call.mask("updateMask")
    return routers.update(
        world, call.name(routers.KIND), {k: v for k, v in body.items() if not mask or k in mask}
    )


def delete_router(world: World, call: Call) -> Doc:
    routers.delete(world, call.name(routers.KIND))
    return {}
