"""The usual verbs of datasets, jobs, secrets, users, keys and reservations."""

from __future__ import annotations

from typing import Any

from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, prototext, table
from fwctl.simulator.platform import listing, names, resources, schema, tuning
from fwctl.simulator.timing import local_text

Doc = dict[str, Any]

# The flag that names the resource when no positional does.
_ID_FLAGS = ("job-id", "user-id", "key-id", "key")
# Values that the platform takes and never gives back.
_WRITE_ONLY = ("value", "wandb-api-key")
_SHARED = ("dry-run", "output", "account-id", "api-key", "profile", "server", "quiet")


def _noun(ctx: Context) -> str:
    return ctx.command.path.split()[0]


def _name(ctx: Context, text: str) -> str:
    kind = resources.KINDS[_noun(ctx)]
    return names.qualify(text, ctx.account, kind.collection, kind.what)


def _body(ctx: Context) -> Doc:
    body: Doc = {}
    for flag, value in ctx.flags.items():
        if flag in _SHARED or flag in _WRITE_ONLY or flag in _ID_FLAGS:
            continue
        field = schema.camel(flag.replace("-", "_"))
        body[field] = _full(ctx, flag, value)
    if _noun(ctx) == "secret":
        body["keyName"] = ctx.flags.get("key", ctx.args[0] if ctx.args else "")
    return body


def _full(ctx: Context, flag: str, value: Any) -> Any:
    """Model and dataset flags hold an ID or a full name."""
    if flag in {"base-model", "output-model", "warm-start-from", "model"}:
        return names.qualify(value, ctx.account, "models", "model")
    if flag in {"dataset", "evaluation-dataset"}:
        return names.qualify(value, ctx.account, "datasets", "dataset")
    return value


def _gerund(ctx: Context, verb: str) -> str:
    return f"{verb} {_noun(ctx).replace('-', ' ')}"


def _upload(ctx: Context, body: Doc) -> Doc | None:
    """A dataset's file leaves its sketch and its number of examples. Raises CommandError."""
    if _noun(ctx) != "dataset" or len(ctx.args) < 2:
        return None
    path = ctx.cwd / ctx.args[1]
    try:
        with path.open(encoding="utf-8", errors="replace") as lines:
            found = tuning.remember(lines)
    except OSError as error:
        raise CommandError(f"error uploading dataset: open {ctx.args[1]}: {error.strerror}") from None
    body["exampleCount"] = str(found.pop("exampleCount"))
    return found


def create(ctx: Context) -> None:
    body = _body(ctx)
    resource_id = next((str(ctx.flags[flag]) for flag in _ID_FLAGS if flag in ctx.flags), "")
    resource_id = ctx.args[0] if ctx.args else resource_id
    if ctx.flags.get("dry-run"):
        ctx.print(
            prototext(
                f"create_{_noun(ctx).replace('-', '_')}_request", {"parent": f"accounts/{ctx.account}"} | body
            )
        )
        return
    hidden = _upload(ctx, body)
    with wrapped(ctx, _gerund(ctx, "creating"), always=True), ctx.writing() as world:
        doc = resources.create(world, _noun(ctx), ctx.account, resource_id, body, hidden=hidden)
    print_one(ctx, doc)


def get(ctx: Context) -> None:
    with wrapped(ctx, _gerund(ctx, "getting")), ctx.reading() as world:
        doc = resources.get(world, _noun(ctx), _name(ctx, ctx.args[0]))
    print_one(ctx, doc)


def list_all(ctx: Context) -> None:
    noun = _noun(ctx)
    with wrapped(ctx, _gerund(ctx, "listing") + "s"), ctx.reading() as world:
        page = listing.page(resources.every(world, noun, ctx.account), ctx.query())
    rows = [
        [
            names.id_of(doc["name"]),
            doc.get("displayName", ""),
            local_text(doc["createTime"]),
            doc.get("state", "").removeprefix("JOB_STATE_"),
        ]
        for doc in page.items
    ]
    text = table(("NAME", "DISPLAY NAME", "CREATE TIME", "STATE"), rows)
    print_page(ctx, page, f"{noun.replace('-', '_')}s", text)


def update(ctx: Context) -> None:
    with wrapped(ctx, _gerund(ctx, "updating")), ctx.writing() as world:
        doc = resources.update(world, _noun(ctx), _name(ctx, ctx.args[0]), _body(ctx))
    print_one(ctx, doc)


def cancel(ctx: Context) -> None:
    with wrapped(ctx, _gerund(ctx, "cancelling")), ctx.writing() as world:
        resources.cancel(world, _noun(ctx), _name(ctx, ctx.args[0]))


def delete(ctx: Context) -> None:
    with wrapped(ctx, _gerund(ctx, "deleting")), ctx.writing() as world:
        resources.delete(world, _noun(ctx), _name(ctx, ctx.args[0]))
