"""firectl account …, quota …, whoami, version, signin, set-api-key, upgrade."""

from __future__ import annotations

import re
from typing import Any

from fwctl.simulator import credentials
from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.commands.context import CommandError, Context, wrapped
from fwctl.simulator.commands.render import print_one, print_page, record, table
from fwctl.simulator.platform import accounts, deployments, listing, names, quotas

Doc = dict[str, Any]


def whoami(ctx: Context) -> None:
    with wrapped(ctx, ""), ctx.reading() as world:
        world.readable(ctx.account)
    caller = ctx.caller
    if ctx.profile["whoami_output"] == "line":
        ctx.print(f"Signed in as {caller.email} (account {ctx.account})")
        return
    ctx.print(f"Account ID: {ctx.account}")
    ctx.print(f"Email: {caller.email}")
    ctx.print(f"Role: {caller.role}")


def version(ctx: Context) -> None:
    number = ctx.profile["version"]
    ctx.print(f"firectl version {number}" if ctx.profile["version_output"] == "prefixed" else number)
    if ctx.flags.get("long"):
        ctx.print("Build: firectl-sim")


def get(ctx: Context) -> None:
    with wrapped(ctx, "getting account"), ctx.reading() as world:
        account = ctx.args[0].removeprefix("accounts/") if ctx.args else ctx.account
        doc = accounts.get(world, account)
    text = record(doc, ctx.profile["text_zeros"])
    if account != FIREWORKS:
        text += f"\nBalance: USD {accounts.balance_usd(world):.2f}"
    print_one(ctx, doc, text)


def list_all(ctx: Context) -> None:
    with wrapped(ctx, "listing accounts"), ctx.reading() as world:
        page = listing.page([accounts.get(world, ctx.caller.account)], ctx.query())
    rows = [[names.id_of(doc["name"]), doc.get("displayName", ""), doc["state"]] for doc in page.items]
    print_page(ctx, page, "accounts", table(("NAME", "DISPLAY NAME", "STATE"), rows))


def _quota_rows(ctx: Context) -> list[Doc]:
    with ctx.reading() as world:
        world.readable(ctx.account)
        return quotas.every(world, ctx.account, deployments.live(world, ctx.account))


def quota_list(ctx: Context) -> None:
    with wrapped(ctx, "listing quotas"):
        page = listing.page(_quota_rows(ctx), ctx.query())
    rows = [
        [names.id_of(doc["name"]), f"{doc['value']:g}", f"{doc['maxValue']:g}", f"{doc['usage']:g}"]
        for doc in page.items
    ]
    print_page(ctx, page, "quotas", table(("NAME", "VALUE", "MAX VALUE", "USAGE"), rows))


def quota_get(ctx: Context) -> None:
    with wrapped(ctx, "getting quota"), ctx.reading() as world:
        world.readable(ctx.account)
        doc = quotas.get(world, ctx.account, ctx.args[0], deployments.live(world, ctx.account))
    print_one(ctx, doc)


def quota_update(ctx: Context) -> None:
    text = str(ctx.flags.get("value", ""))
    if not re.fullmatch(r"[0-9]{1,9}", text):
        raise CommandError(f'invalid value "{text}" for --value, must be a number')
    with wrapped(ctx, "updating quota"), ctx.writing() as world:
        doc = quotas.update(world, ctx.account, ctx.args[0], int(text))
    print_one(ctx, doc)


def signin(ctx: Context) -> None:
    """Opens no browser: whoever asks is signed in."""
    with ctx.store.write() as tx:
        credentials.sign_in(tx)
    ctx.print(f"Signed in as {ctx.caller.email}")


def set_api_key(ctx: Context) -> None:
    """Keeps the key in the simulator's home; the user's ~/.fireworks stays as it is."""
    credentials.keep_key(ctx.settings.home, ctx.args[0])


def upgrade(_: Context) -> None:
    raise CommandError("error upgrading: the simulator is part of fwctl")
