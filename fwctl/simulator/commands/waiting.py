"""`--wait`: blocks until a deployment is where it should be."""

from __future__ import annotations

from fwctl.simulator.commands.context import POLL_SIM_S, CommandError, Context, wrapped
from fwctl.simulator.platform import deployments

_DEFAULT_WAIT_S = 3600.0


def _waiting(ctx: Context, name: str, waited_s: float, state: str) -> None:
    """One more poll, or the time-out. The operation goes on remotely."""
    limit_s = ctx.flags.get("wait-timeout", _DEFAULT_WAIT_S)
    if waited_s >= limit_s:
        raise CommandError(f"timed out waiting for deployment {name}: context deadline exceeded")
    if ctx.profile["wait_output"] == "progress":
        ctx.stderr.write(f"Waiting for deployment {name}, state {state}\n")
        ctx.stderr.flush()
    ctx.wait(POLL_SIM_S)


def wait_for_ready(ctx: Context, name: str) -> None:
    """Blocks until READY; a FAILED deployment is an error."""
    ctx.stdout.flush()
    started = ctx.clock.now()
    while True:
        with wrapped(ctx, "waiting for deployment"), ctx.reading() as world:
            doc = deployments.get(world, name)
        if doc["state"] == "READY":
            return
        if doc["state"] != "CREATING":
            text = doc["status"].get("message") or f"deployment is {doc['state']}"
            raise CommandError(f"deployment {name} entered state {doc['state']}: {text}")
        _waiting(ctx, name, ctx.clock.now() - started, doc["state"])


def wait_for_deleted(ctx: Context, name: str) -> None:
    ctx.stdout.flush()
    started = ctx.clock.now()
    while True:
        with ctx.reading() as world:
            doc = deployments.stored(world, name)
        if doc is None or doc["state"] == "DELETED":
            return
        _waiting(ctx, name, ctx.clock.now() - started, doc["state"])
