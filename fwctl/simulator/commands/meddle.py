"""Changes that somebody else makes: fields set, deployments gone, behind the caller's back."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fwctl.simulator.commands.context import CommandError, Context
from fwctl.simulator.faults import Rule
from fwctl.simulator.platform import deployments, names
from fwctl.simulator.platform.world import World
from fwctl.simulator.timing import rfc3339


def change_field(world: World, name: str, field: str, value: Any) -> None:
    """Set a field of a deployment (dots reach into messages). Raises CommandError when it is not there."""
    doc = deployments.stored(world, name)
    if doc is None:
        raise CommandError(f"deployment {name} not found")
    target = doc
    *path, last = field.split(".")
    for part in path:
        target = target.setdefault(part, {})
    target[last] = value
    doc["updateTime"] = rfc3339(world.now)
    world.tx.put(deployments.KIND, name, doc)


def doom_in(world: World, name: str, rules: Sequence[Rule]) -> None:
    """Let the operation that has just begun end in FAILED, where a `fails_later` rule says so."""
    for rule in rules:
        if rule["kind"] == "fails_later":
            doc = world.tx.get(deployments.KIND, name)
            if doc and "op" in doc["_sim"]:
                doc["_sim"]["op"]["fail"] = {
                    "atS": world.now + float(rule.get("after_s", 30)),
                    "code": rule.get("code", "INTERNAL"),
                    "message": rule.get("message", "Internal error occurred"),
                }
                world.tx.put(deployments.KIND, name, doc)


def doom(ctx: Context, name: str) -> None:
    """`doom_in` for a command."""
    if any(rule["kind"] == "fails_later" for rule in ctx.faults):
        with ctx.writing() as world:
            doom_in(world, name, ctx.faults)


def apply_in(world: World, account: str, rule: Rule) -> None:
    """Do what a `mutate` or `vanish` rule says."""
    name = names.qualify(str(rule.get("name", "")), account, "deployments", "deployment")
    if rule["kind"] == "vanish":
        world.tx.remove(deployments.KIND, name)
    elif world.tx.get(deployments.KIND, name):
        change_field(world, name, str(rule.get("field", "description")), rule.get("value"))


def apply(ctx: Context, rule: Rule) -> None:
    """`apply_in` for a command."""
    with ctx.writing() as world:
        apply_in(world, ctx.account, rule)
