"""firectl policy residency …"""

from __future__ import annotations

from fwctl.simulator.commands.context import CommandError, Context

AREAS = ("US", "EU")


def _key(ctx: Context) -> str:
    return f"residency/{ctx.account}"


def get(ctx: Context) -> None:
    with ctx.reading() as world:
        world.readable(ctx.account)
        area = world.tx.meta(_key(ctx))
    ctx.print(f"Residency: {area or 'none'}")


def set_area(ctx: Context) -> None:
    area = ctx.args[0].upper()
    if area not in AREAS:
        raise CommandError(f'invalid residency "{ctx.args[0]}", must be one of {{{", ".join(AREAS)}}}')
    with ctx.writing() as world:
        world.writable(ctx.account)
        world.tx.set_meta(_key(ctx), area)


def clear(ctx: Context) -> None:
    with ctx.writing() as world:
        world.writable(ctx.account)
        world.tx.set_meta(_key(ctx), None)
