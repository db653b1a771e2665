"""firectl deployment …"""

from __future__ import annotations

import re
from typing import Any

from fwctl.simulator.commands import deployment_text, meddle
from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.deployment_request import request
from fwctl.simulator.commands.render import print_one, print_page, prototext
from fwctl.simulator.commands.waiting import wait_for_deleted, wait_for_ready
from fwctl.simulator.platform import (
    deployments,
    listing,
    models,
    names,
    schema,
    shapes,
)
from fwctl.simulator.platform.errors import invalid
from fwctl.simulator.platform.placing import CreateOptions
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import log_prefix

Doc = dict[str, Any]

_WHAT = "deployment"
_LOAD_TARGETS_WARNING = (
    'WARNING: --load-targets set via firectl; "default" is no longer added by default. Include '
    "default=<value> in --load-targets if you want the default autoscaling metrics."
)


def _name(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, "deployments", _WHAT)


def create(ctx: Context) -> None:
    if "load-targets" in ctx.flags:
        ctx.stderr.write(f"{log_prefix(ctx.clock.now())} {_LOAD_TARGETS_WARNING}\n")
    with wrapped(ctx, "creating deployment", always=True):
        with ctx.reading() as world:
            body, _ = request(ctx, world)
            body["baseModel"] = names.qualify(ctx.args[0], ctx.account, "models", "model")
            hint = _shapes_to_hint(ctx, world, body)
        if hint:
            ctx.print_on(ctx.profile["hint_stream"], deployment_text.hint_block(body["baseModel"], hint))
            _picker(ctx, body, hint)
        options = _options(ctx)
        if ctx.flags.get("dry-run"):
            ctx.print(_create_proto(ctx, body, options))
            return
        with ctx.writing() as world:
            doc = deployments.create(world, ctx.account, body, options)
    meddle.doom(ctx, doc["name"])
    print_one(ctx, doc)
    if ctx.flags.get("wait") and not options.validate_only:
        wait_for_ready(ctx, doc["name"])


def _options(ctx: Context) -> CreateOptions:
    flag = ctx.flags.get
    return CreateOptions(
        deployment_id=flag("deployment-id", ""),
        validate_only=flag("validate-only", False),
        accept_shapeless_risk=flag("accept-shapeless-risk", False),
        disable_speculative_decoding=flag("disable-speculative-decoding", False),
        skip_shape_validation=flag("skip-shape-validation", False),
    )


def _create_proto(ctx: Context, body: Doc, options: CreateOptions) -> str:
    message: Doc = {"parent": f"accounts/{ctx.account}", "deployment": body}
    message |= {"deploymentId": options.deployment_id} if options.deployment_id else {}
    for field in ("validateOnly", "acceptShapelessRisk", "disableSpeculativeDecoding"):
        if getattr(options, schema.snake(field)):
            message[field] = True
    return prototext("create_deployment_request", message)


def _shapes_to_hint(ctx: Context, world: World, body: Doc) -> list[Doc]:
    """Compatible shapes when the create names none; an unknown model has none."""
    if body.get("deploymentShape") or not ctx.profile.yes("shape_hint"):
        return []
    model = models.find(world, body["baseModel"])
    return [doc["snapshot"] for doc in shapes.match(world, model)] if model else []


def _picker(ctx: Context, body: Doc, hint: list[Doc]) -> None:
    """On a terminal firectl asks which shape to use."""
    if not ctx.stdin.isatty() or ctx.flags.get("accept-shapeless-risk"):
        return
    for number, shape in enumerate(hint, 1):
        ctx.stderr.write(f"  {number}) {shape['name']}\n")
    ctx.stderr.write("  0) Create without using shape\nSelect a deployment shape: ")
    ctx.stderr.flush()
    answer = ctx.stdin.readline().strip()
    if not re.fullmatch(r"[0-9]{1,3}", answer) or int(answer) > len(hint):
        raise invalid("no deployment shape selected")
    if int(answer):
        body["deploymentShape"] = hint[int(answer) - 1]["name"]


def get(ctx: Context) -> None:
    with wrapped(ctx, "getting deployment"), ctx.reading() as world:
        name = _name(ctx)
        if ctx.flags.get("dry-run"):
            ctx.print(prototext("get_deployment_request", {"name": name}))
            return
        doc = deployments.get(world, name)
    print_one(ctx, doc)


def list_all(ctx: Context) -> None:
    with wrapped(ctx, "listing deployments"), ctx.reading() as world:
        if ctx.flags.get("dry-run"):
            ctx.print(prototext("list_deployments_request", {"parent": f"accounts/{ctx.account}"}))
            return
        docs = deployments.every(world, ctx.account, show_deleted=bool(ctx.flags.get("show-deleted")))
        works = ctx.profile.yes("base_model_filter")
        page = listing.page(docs, ctx.query(), base_model_filter=works)
    print_page(ctx, page, "deployments", deployment_text.listing(page.items))


def update(ctx: Context) -> None:
    if "load-targets" in ctx.flags:
        ctx.stderr.write(f"{log_prefix(ctx.clock.now())} {_LOAD_TARGETS_WARNING}\n")
    with wrapped(ctx, "updating deployment"):
        with ctx.reading() as world:
            name = _name(ctx)
            body, mask = request(ctx, world)
        if not mask:
            raise CommandError("no fields to update were specified")
        if ctx.flags.get("dry-run"):
            message = {
                "deployment": {"name": name} | body,
                "updateMask": {"paths": [_mask_path(p) for p in mask]},
            }
            ctx.print(prototext("update_deployment_request", message))
            return
        with ctx.writing() as world:
            doc = deployments.update(world, name, body, mask)
    meddle.doom(ctx, name)
    print_one(ctx, doc)


def _mask_path(path: str) -> str:
    return ".".join(map(schema.snake, path.split(".")))


def scale(ctx: Context) -> None:
    if "replica-count" not in ctx.flags:
        raise CommandError('required flag(s) "replica-count" not set')
    with wrapped(ctx, "scaling deployment"), ctx.writing() as world:
        deployments.scale(world, _name(ctx), ctx.flags["replica-count"])


def delete(ctx: Context) -> None:
    with wrapped(ctx, "deleting deployment"):
        name = _name(ctx)
        if ctx.flags.get("dry-run"):
            ctx.print(
                prototext("delete_deployment_request", {"name": name, "hard": bool(ctx.flags.get("hard"))})
            )
            return
        _confirm(ctx, name)
        with ctx.writing() as world:
            deployments.delete(
                world,
                name,
                hard=ctx.flags.get("hard", False),
                ignore_checks=ctx.flags.get("ignore-checks", False),
            )
    if ctx.flags.get("wait"):
        wait_for_deleted(ctx, name)


def _confirm(ctx: Context, name: str) -> None:
    if ctx.profile["delete_prompt"] != "tty" or not ctx.stdin.isatty():
        return
    ctx.stderr.write(f"Are you sure you want to delete {name}? [y/N] ")
    ctx.stderr.flush()
    if ctx.stdin.readline().strip().lower() not in {"y", "yes"}:
        raise CommandError("aborted")


def undelete(ctx: Context) -> None:
    with wrapped(ctx, "undeleting deployment"), ctx.writing() as world:
        doc = deployments.undelete(world, _name(ctx))
    meddle.doom(ctx, doc["name"])
    print_one(ctx, doc)
    if ctx.flags.get("wait"):
        wait_for_ready(ctx, doc["name"])


def _pairs(ctx: Context) -> dict[str, str]:
    """Tags of `--key K --value V` or of repeated `--tag K=V`; both forms together are refused."""
    pairs = ctx.flags.get("tag")
    single = "key" in ctx.flags or "value" in ctx.flags
    if pairs and single:
        raise CommandError("--tag cannot be used together with --key and --value")
    if pairs:
        split = [pair.partition("=") for pair in pairs]
        wrong = [key for key, equals, _ in split if not equals]
        if wrong:
            raise CommandError(f'invalid tag "{wrong[0]}", must be formatted as key=value')
        return {key: value for key, _, value in split}
    if "key" not in ctx.flags or "value" not in ctx.flags:
        raise CommandError("either --tag or both --key and --value must be specified")
    return {ctx.flags["key"]: ctx.flags["value"]}


def tag_set(ctx: Context) -> None:
    pairs = _pairs(ctx)
    with wrapped(ctx, "setting deployment tags"), ctx.writing() as world:
        tags = deployments.set_tags(world, _name(ctx), pairs)
    ctx.print(deployment_text.tags(tags))


def tag_list(ctx: Context) -> None:
    with wrapped(ctx, "listing deployment tags"), ctx.reading() as world:
        doc = deployments.get(world, _name(ctx))
    ctx.print(deployment_text.tags(deployments.tags_of(doc)))


def tag_unset(ctx: Context) -> None:
    if not ctx.flags.get("key"):
        raise CommandError('required flag(s) "key" not set')
    with wrapped(ctx, "unsetting deployment tags"), ctx.writing() as world:
        deployments.delete_tags(world, _name(ctx), ctx.flags["key"])
