"""firectl load-lora, unload-lora, deployed-model …"""

from __future__ import annotations

from typing import Any

from fwctl.simulator.commands.context import POLL_SIM_S, CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, table
from fwctl.simulator.platform import listing, loras, names
from fwctl.simulator.timing import local_text

Doc = dict[str, Any]

_COLUMNS = ("NAME", "MODEL", "DEPLOYMENT ID", "STATE", "DEFAULT", "PUBLIC", "CREATE TIME")
_FIELDS = {
    "default": "default",
    "description": "description",
    "display-name": "displayName",
    "public": "public",
}
_LOAD_TIMEOUT_S = 1800.0


def _deployment(ctx: Context) -> str:
    if not ctx.flags.get("deployment"):
        raise CommandError('required flag(s) "deployment" not set')
    return names.qualify(ctx.flags["deployment"], ctx.account, "deployments", "deployment")


def _model(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, "models", "model")


def load(ctx: Context) -> None:
    with wrapped(ctx, "loading LoRA", always=True), ctx.writing() as world:
        doc = loras.load(
            world,
            _model(ctx),
            _deployment(ctx),
            public=ctx.flags.get("public", False),
            replace_merged=ctx.flags.get("replace-merged-addon", False),
        )
    print_one(ctx, doc)
    if ctx.flags.get("wait"):
        _wait(ctx, doc["name"])


def _wait(ctx: Context, name: str) -> None:
    started = ctx.clock.now()
    while True:
        with wrapped(ctx, "waiting for deployed model"), ctx.reading() as world:
            if loras.get(world, name)["state"] == "DEPLOYED":
                return
        if ctx.clock.now() - started >= ctx.flags.get("wait-timeout", _LOAD_TIMEOUT_S):
            raise CommandError(f"timed out waiting for deployed model {name}: context deadline exceeded")
        ctx.wait(POLL_SIM_S)


def unload(ctx: Context) -> None:
    with wrapped(ctx, "unloading LoRA", always=True), ctx.writing() as world:
        deployment = _deployment(ctx) if ctx.flags.get("deployment") else None
        loras.unload(world, _model(ctx), deployment)


def _name(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, "deployedModels", "deployed model")


def get(ctx: Context) -> None:
    with wrapped(ctx, "getting deployed model"), ctx.reading() as world:
        doc = loras.get(world, _name(ctx))
    print_one(ctx, doc)


def list_all(ctx: Context) -> None:
    with wrapped(ctx, "listing deployed models"), ctx.reading() as world:
        page = listing.page(loras.every(world, ctx.account), ctx.query())
    rows = [
        [
            names.id_of(doc["name"]),
            doc["model"],
            names.id_of(doc["deployment"]),
            doc["state"],
            str(doc.get("default", False)).lower(),
            str(doc.get("public", False)).lower(),
            local_text(doc["createTime"]),
        ]
        for doc in page.items
    ]
    print_page(ctx, page, "deployed_models", table(_COLUMNS, rows))


def update(ctx: Context) -> None:
    body = {field: ctx.flags[flag] for flag, field in _FIELDS.items() if flag in ctx.flags}
    with wrapped(ctx, "updating deployed model"), ctx.writing() as world:
        doc = loras.update(world, _name(ctx), body)
    print_one(ctx, doc)
