"""firectl deployment-shape …, deployment-shape-version …"""

from __future__ import annotations

from typing import Any

from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, table
from fwctl.simulator.platform import listing, models, names, shapes

Doc = dict[str, Any]

_COLUMNS = ("SHAPE NAME (version-id)", "BASE MODEL", "GPUS", "ACCELERATOR", "PRECISION", "PRESET TYPE")


def _row(version: Doc) -> list[str]:
    snapshot = version["snapshot"]
    return [
        f"{shapes.shape_of(version['name'])} ({names.id_of(version['name'])})",
        snapshot["baseModel"],
        str(snapshot["acceleratorCount"]),
        snapshot["acceleratorType"],
        snapshot["precision"],
        snapshot.get("presetType", "PRESET_TYPE_UNSPECIFIED"),
    ]


def _text(versions: list[Doc]) -> str:
    return table(_COLUMNS, [_row(doc) for doc in versions])


def _shape_name(ctx: Context, text: str) -> str:
    """A bare ID means Fireworks' shape unless the own account was named."""
    account = str(ctx.flags.get("account-id") or FIREWORKS)
    return names.qualify(text, account, "deploymentShapes", "deployment shape")


def list_versions(ctx: Context) -> None:
    with wrapped(ctx, "listing deployment shape versions"), ctx.reading() as world:
        only = ctx.args[0] if ctx.args else "-"
        shape = None if only == "-" else _shape_name(ctx, only)
        docs = list(shapes.versions(world, shape))
        model = ctx.flags.get("base-model")
        if model:
            full = names.qualify(model, ctx.account, "models", "model")
            docs = [doc for doc in docs if doc["snapshot"]["baseModel"] == full]
        if shape is None:
            docs = [doc for doc in docs if doc["latestValidated"]]
        page = listing.page(docs, ctx.query())
    print_page(ctx, page, "deployment_shape_versions", _text(page.items), numbered=True)


def get_version(ctx: Context) -> None:
    with wrapped(ctx, "getting deployment shape version"), ctx.reading() as world:
        shape, slash, version = ctx.args[0].partition("/versions/")
        if not slash:
            raise CommandError(f'invalid deployment shape version name "{ctx.args[0]}"')
        doc = shapes.get_version(world, f"{_shape_name(ctx, shape)}/versions/{version}")
    print_one(ctx, doc)


def match(ctx: Context) -> None:
    if not ctx.flags.get("model"):
        raise CommandError('required flag(s) "model" not set')
    with wrapped(ctx, "matching deployment shapes"), ctx.reading() as world:
        name = names.qualify(ctx.flags["model"], ctx.account, "models", "model")
        docs = shapes.match(world, models.get(world, name))
    page = listing.Page(docs, "", len(docs), 1, 1)
    print_page(ctx, page, "deployment_shape_versions", _text(docs))


def _shape_text(docs: list[Doc]) -> str:
    columns = ("NAME", "BASE MODEL", "GPUS", "ACCELERATOR", "PRECISION", "PRESET TYPE")
    rows = [
        [
            doc["name"],
            doc["baseModel"],
            str(doc["acceleratorCount"]),
            doc["acceleratorType"],
            doc["precision"],
            doc.get("presetType", "PRESET_TYPE_UNSPECIFIED"),
        ]
        for doc in docs
    ]
    return table(columns, rows)


def list_shapes(ctx: Context) -> None:
    with wrapped(ctx, "listing deployment shapes"), ctx.reading() as world:
        account = str(ctx.flags.get("account-id") or FIREWORKS)
        docs = [doc for doc in shapes.every_shape(world) if names.account_of(doc["name"]) == account]
        page = listing.page(docs, ctx.query())
    print_page(ctx, page, "deployment_shapes", _shape_text(page.items))


def get_shape(ctx: Context) -> None:
    with wrapped(ctx, "getting deployment shape"), ctx.reading() as world:
        doc = shapes.get_shape(world, _shape_name(ctx, ctx.args[0]))
    print_one(ctx, doc)
