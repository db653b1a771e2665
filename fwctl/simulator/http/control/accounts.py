"""Accounts and deployed models over REST."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.http.control.call import Call, Doc, shown, shown_page
from fwctl.simulator.platform import accounts, listing, loras, names
from fwctl.simulator.platform.errors import invalid
from fwctl.simulator.platform.world import World

_MESSAGE = "DeployedModel"


def every_account(world: World, call: Call) -> Doc:
    """The caller's accounts: one."""
    page = listing.page([accounts.get(world, world.caller.account)], call.listing())
    return {"accounts": page.items, "nextPageToken": page.next_token, "totalSize": page.total}


def get_account(world: World, call: Call) -> Doc:
    return accounts.get(world, call.account)


def every_deployed_model(world: World, call: Call) -> Doc:
    page = listing.page(loras.every(world, call.account), call.listing())
    return shown_page(_MESSAGE, "deployedModels", page, call.mask("readMask"))


def get_deployed_model(world: World, call: Call) -> Doc:
    return shown(_MESSAGE, loras.get(world, call.name(loras.KIND)), call.mask("readMask"))


def load(world: World, call: Call) -> Doc:
    """Load an adapter; IDs without a path mean the account's own."""
    body = call.body(_MESSAGE)
    for field in ("model", "deployment"):
        if not body.get(field):
            raise invalid(f"{field} is required")
    doc = loras.load(
        world,
        names.qualify(body["model"], call.account, "models", "model"),
        names.qualify(body["deployment"], call.account, "deployments", "deployment"),
        public=bool(body.get("public")),
        replace_merged=call.flag("replaceMergedAddon"),
    )
    return shown(_MESSAGE, doc)


def update_deployed_model(world: World, call: Call) -> Doc:
    body: dict[str, Any] = call.body(_MESSAGE)
    mask = call.mask("updateMask")
    if mask:
        body = {key: value for key, value in body.items() if key in mask}
    return shown(_MESSAGE, loras.update(world, call.name(loras.KIND), body))


def unload(world: World, call: Call) -> Doc:
    loras.remove(world, call.name(loras.KIND))
    return {}
