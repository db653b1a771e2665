"""Which method and path is which call."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from fwctl.simulator.http.control import accounts, catalogue, deployments, kept
from fwctl.simulator.http.control.call import Call, Doc
from fwctl.simulator.platform import resources
from fwctl.simulator.platform.world import World

Work = Callable[[World, Call], Doc]


class Route(NamedTuple):
    """path: below /v1, `{id}` never holds a colon. writes: needs a writing transaction. verb: the name by
    which faults and the call log know it.
    """

    method: str
    path: str
    work: Work
    verb: str
    writes: bool = False


_A = "/accounts/{account:[^/:]+}"
_D, _M, _S = f"{_A}/deployments", f"{_A}/models", f"{_A}/deploymentShapes"
_L = f"{_A}/deployedModels"
_ID = "{id:[^/:]+}"

_R = f"{_A}/routers"
_VERBS: dict[str, tuple[str, str]] = {
    "create": ("POST", ""),
    "list": ("GET", ""),
    "get": ("GET", f"/{_ID}"),
    "update": ("PATCH", f"/{_ID}"),
    "delete": ("DELETE", f"/{_ID}"),
    "cancel": ("POST", f"/{_ID}:cancel"),
}


def _kept() -> Iterator[Route]:
    for spelling in kept.SPELLINGS:
        root = f"{_A}/{resources.KINDS[spelling.noun].collection}"
        for verb, work in kept.works(spelling).items():
            method, tail = _VERBS[verb]
            yield Route(method, root + tail, work, f"{spelling.noun} {verb}", verb not in {"get", "list"})


ROUTES: tuple[Route, ...] = (
    Route("POST", _D, deployments.create, "deployment create", writes=True),
    Route("GET", _D, deployments.every, "deployment list"),
    Route("GET", f"{_D}/{_ID}", deployments.get, "deployment get"),
    Route("PATCH", f"{_D}/{_ID}", deployments.update, "deployment update", writes=True),
    Route("PATCH", f"{_D}/{_ID}:scale", deployments.scale, "deployment scale", writes=True),
    Route("DELETE", f"{_D}/{_ID}", deployments.delete, "deployment delete", writes=True),
    Route("POST", f"{_D}/{_ID}:undelete", deployments.undelete, "deployment undelete", writes=True),
    Route("POST", f"{_D}/{_ID}:setTags", deployments.set_tags, "deployment tag set", writes=True),
    Route("POST", f"{_D}/{_ID}:deleteTags", deployments.delete_tags, "deployment tag unset", writes=True),
    Route("GET", _S, catalogue.every_shape, "deployment-shape list"),
    Route("GET", f"{_S}/{_ID}", catalogue.get_shape, "deployment-shape get"),
    Route("GET", f"{_S}/{_ID}/versions", catalogue.every_version, "deployment-shape-version list"),
    Route("GET", f"{_S}/{_ID}/versions/{{version}}", catalogue.get_version, "deployment-shape-version get"),
    Route("POST", f"{_A}/deploymentShapeVersions:match", catalogue.match, "deployment-shape-version match"),
    Route("GET", _M, catalogue.every_model, "model list"),
    Route("POST", _M, catalogue.create_model, "model create", writes=True),
    Route("GET", f"{_M}/{_ID}", catalogue.get_model, "model get"),
    Route("PATCH", f"{_M}/{_ID}", catalogue.update_model, "model update", writes=True),
    Route("DELETE", f"{_M}/{_ID}", catalogue.delete_model, "model delete", writes=True),
    Route("POST", f"{_M}/{_ID}:prepare", catalogue.prepare_model, "model prepare", writes=True),
    Route("GET", "/accounts", accounts.every_account, "account list"),
    Route("GET", _A, accounts.get_account, "account get"),
    Route("GET", _L, accounts.every_deployed_model, "deployed-model list"),
    Route("POST", _L, accounts.load, "load-lora", writes=True),
    Route("GET", f"{_L}/{_ID}", accounts.get_deployed_model, "deployed-model get"),
    Route("PATCH", f"{_L}/{_ID}", accounts.update_deployed_model, "deployed-model update", writes=True),
    Route("DELETE", f"{_L}/{_ID}", accounts.unload, "unload-lora", writes=True),
    Route("GET", f"{_A}/quotas", catalogue.every_quota, "quota list"),
    Route("GET", f"{_A}/quotas/{_ID}", catalogue.get_quota, "quota get"),
    Route("PATCH", f"{_A}/quotas/{_ID}", catalogue.update_quota, "quota update", writes=True),
    Route("POST", _R, kept.create_router, "router create", writes=True),
    Route("GET", _R, kept.every_router, "router list"),
    Route("GET", f"{_R}/{_ID}", kept.get_router, "router get"),
    Route("PATCH", f"{_R}/{_ID}", kept.update_router, "router update", writes=True),
    Route("DELETE", f"{_R}/{_ID}", kept.delete_router, "router delete", writes=True),
    Route("POST", f"{_A}/datasets/{_ID}:upload", kept.upload_dataset, "dataset upload", writes=True),
    *_kept(),
)
