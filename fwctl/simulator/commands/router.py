"""firectl router …"""

from __future__ import annotations

from typing import Any

from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, prototext, table
from fwctl.simulator.platform import listing, names, routers
from fwctl.simulator.timing import local_text

Doc = dict[str, Any]

_FIELDS = {
    "deployments": "deployments",
    "display-name": "displayName",
    "public": "public",
    "session-affinity": "sessionAffinity",
}


def _name(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, routers.KIND, "router")


def _body(ctx: Context) -> Doc:
    """`--strategy` has a default, which update sends too when the flag is absent (documented trap)."""
    body: Doc = {field: ctx.flags[flag] for flag, field in _FIELDS.items() if flag in ctx.flags}
    body["strategy"] = routers.strategy(ctx.flags.get("strategy", routers.DEFAULT_STRATEGY))
    if ctx.flags.get("model"):
        body["model"] = names.qualify(ctx.flags["model"], ctx.account, "models", "model")
    return body


def create(ctx: Context) -> None:
    if not ctx.flags.get("deployments"):
        raise CommandError('required flag(s) "deployments" not set')
    with wrapped(ctx, "creating router", always=True):
        body = _body(ctx)
        router_id = ctx.flags.get("router-id", "")
        if ctx.flags.get("dry-run"):
            ctx.print(
                prototext("create_router_request", {"parent": f"accounts/{ctx.account}", "router": body})
            )
            return
        with ctx.writing() as world:
            doc = routers.create(world, ctx.account, router_id, body)
    print_one(ctx, doc)


def get(ctx: Context) -> None:
    with wrapped(ctx, "getting router"), ctx.reading() as world:
        doc = routers.get(world, _name(ctx))
    print_one(ctx, doc)


def list_all(ctx: Context) -> None:
    with wrapped(ctx, "listing routers"), ctx.reading() as world:
        page = listing.page(routers.every(world, ctx.account), ctx.query())
    rows = [
        [
            names.id_of(doc["name"]),
            ",".join(names.id_of(name) for name in doc["deployments"]),
            doc["strategy"],
            local_text(doc["createTime"]),
        ]
        for doc in page.items
    ]
    print_page(ctx, page, "routers", table(("NAME", "DEPLOYMENTS", "STRATEGY", "CREATE TIME"), rows))


def update(ctx: Context) -> None:
    with wrapped(ctx, "updating router"):
        body = _body(ctx)
        if ctx.flags.get("dry-run"):
            ctx.print(prototext("update_router_request", {"router": {"name": _name(ctx)} | body}))
            return
        with ctx.writing() as world:
            doc = routers.update(world, _name(ctx), body)
    print_one(ctx, doc)


def delete(ctx: Context) -> None:
    with wrapped(ctx, "deleting router"), ctx.writing() as world:
        routers.delete(world, _name(ctx))
