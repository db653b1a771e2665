"""firectl-sim sim …, faults …, calls …: control of the simulator itself."""

from __future__ import annotations

import fnmatch
import json
from typing import Any

from fwctl.simulator import calls, control, credentials, faults, profiles
from fwctl.simulator.catalogue import FIREWORKS
from fwctl.simulator.commands import meddle
from fwctl.simulator.commands.context import CommandError, Context
from fwctl.simulator.commands.render import table
from fwctl.simulator.platform import accounts, deployments, lifecycle, names, quotas, shapes, traffic
from fwctl.simulator.platform.world import World
from fwctl.simulator.settings import ADMIN_ROLES
from fwctl.simulator.timing import parse_go_duration, rfc3339

Doc = dict[str, Any]


def _print(ctx: Context, value: Any, text: str) -> None:
    ctx.print(json.dumps(value, indent=2) if ctx.output == "json" else text)


def _name(ctx: Context) -> str:
    return names.qualify(ctx.args[0], ctx.account, "deployments", "deployment")


def _json(text: str) -> Any:
    """A JSON value; anything else is taken as a string."""
    try:
        return json.loads(text)
    except ValueError:
        return text


def _number(text: str, what: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{what} is a number, not {text!r}") from None


def status(ctx: Context) -> None:
    found = control.status(ctx.settings.home, ctx.settings.profile)
    rows = [
        (key, json.dumps(value) if isinstance(value, dict) else str(value)) for key, value in found.items()
    ]
    _print(ctx, found, table(("WHAT", "VALUE"), rows))


def reset(ctx: Context) -> None:
    ctx.store.clear()
    calls.clear(ctx.settings.home)


def profile(ctx: Context) -> None:
    rows = [
        (name, ctx.profile[name], " | ".join(row.answers) or "any", row.question)
        for name, row in profiles.SWITCHES.items()
    ]
    _print(ctx, ctx.profile.answers(), table(("SWITCH", "ANSWER", "POSSIBLE", "QUESTION"), rows))


def clock_advance(ctx: Context) -> None:
    try:
        seconds = parse_go_duration(ctx.args[0])
    except ValueError as error:
        raise CommandError(str(error)) from None
    if seconds < 0:
        raise CommandError("simulated time does not go back")
    ctx.store.move_clock(seconds, ctx.clock.fixed_s is not None)


def record_traffic(ctx: Context) -> None:
    load = {
        "concurrent_requests": _number(ctx.flags.get("concurrency", "0"), "--concurrency"),
        "requests_per_second": _number(ctx.flags.get("rps", "0"), "--rps"),
    }
    with ctx.writing() as world:
        doc = _stored(ctx, world)
        traffic.set_load(doc, load, world.now, until_s=None, served=True)
        traffic.enter(world, doc["name"], doc["baseModel"], traffic.Usage(requests=1))
        world.tx.put("deployments", doc["name"], doc)


def _stored(ctx: Context, world: World) -> Doc:
    doc = deployments.stored(world, _name(ctx))
    if doc is None:
        raise CommandError(f"deployment {_name(ctx)} not found")
    return doc


def fail(ctx: Context) -> None:
    with ctx.writing() as world:
        doc = _stored(ctx, world)
        lifecycle.fail(
            doc,
            world.now,
            ctx.flags.get("code", "INTERNAL"),
            ctx.flags.get("message", "Internal error occurred"),
        )
        world.tx.put("deployments", doc["name"], doc)


def _set_stalled(ctx: Context, stalled: bool) -> None:
    with ctx.writing() as world:
        doc = _stored(ctx, world)
        doc["_sim"]["starved"] = stalled
        if "op" in doc["_sim"]:
            doc["_sim"]["op"]["stalled"] = stalled
        world.tx.put("deployments", doc["name"], doc)


def stall(ctx: Context) -> None:
    _set_stalled(ctx, True)


def unstall(ctx: Context) -> None:
    _set_stalled(ctx, False)


def vanish(ctx: Context) -> None:
    with ctx.writing() as world:
        world.tx.remove("deployments", _stored(ctx, world)["name"])


def set_field(ctx: Context) -> None:
    with ctx.writing() as world:
        meddle.change_field(world, _name(ctx), ctx.args[1], _json(ctx.args[2]))


def _shape(ctx: Context) -> str:
    return names.qualify(ctx.args[0], FIREWORKS, "deploymentShapes", "deployment shape")


def shape_publish(ctx: Context) -> None:
    """A shape moves on: the newest version's snapshot with changes becomes the next version."""
    shape = _shape(ctx)
    with ctx.writing() as world:
        found = list(shapes.versions(world, shape))
        if not found:
            raise CommandError(f"deployment shape {shape} not found")
        changes = dict(word.partition("=")[::2] for word in ctx.args[1:])
        snapshot = found[-1]["snapshot"] | {key: _json(value) for key, value in changes.items()}
        version = ctx.flags.get("version-id") or world.random_id()
        validated = not ctx.flags.get("unvalidated", False)
        if validated:
            for doc in found:
                world.tx.put(shapes.VERSIONS, doc["name"], doc | {"latestValidated": False})
        doc = {
            "name": f"{shape}/versions/{version}",
            "createTime": rfc3339(world.now),
            "snapshot": snapshot,
            "validated": validated,
            "latestValidated": validated,
            "public": True,
        }
        world.tx.put(shapes.VERSIONS, str(doc["name"]), doc)
    ctx.print(str(doc["name"]))


def shape_retire(ctx: Context) -> None:
    """A version loses its validation; the newest one that still has it becomes the latest."""
    name = ctx.args[0]
    with ctx.writing() as world:
        doc = shapes.get_version(world, name)
        world.tx.put(shapes.VERSIONS, doc["name"], doc | {"validated": False, "latestValidated": False})
        rest = [row for row in shapes.versions(world, shapes.shape_of(doc["name"])) if row["validated"]]
        if rest and not any(row["latestValidated"] for row in rest):
            world.tx.put(shapes.VERSIONS, rest[-1]["name"], rest[-1] | {"latestValidated": True})


def quota_set(ctx: Context) -> None:
    with ctx.writing() as world:
        quotas.set_limit(world, ctx.account, ctx.args[0], int(_number(ctx.args[1], "VALUE")))


def _suspend(ctx: Context, suspended: bool) -> None:
    with ctx.writing() as world:
        world.tx.set_meta(f"suspended/{ctx.account}", suspended)


def suspend(ctx: Context) -> None:
    _suspend(ctx, True)


def resume(ctx: Context) -> None:
    _suspend(ctx, False)


def account_add(ctx: Context) -> None:
    with ctx.writing() as world:
        accounts.add(world, ctx.args[0])


def key_add(ctx: Context) -> None:
    role = ctx.flags.get("role", "admin")
    if role not in ADMIN_ROLES:
        raise CommandError(f"--role is one of {', '.join(ADMIN_ROLES)}")
    account = ctx.flags.get("account", ctx.account)
    with ctx.writing() as world:
        key = credentials.digest(ctx.args[0])
        world.tx.put("keys", key, {"name": key, "account": account, "role": role})


def reservation_add(ctx: Context) -> None:
    with ctx.writing() as world:
        name = names.join(ctx.account, "reservations", ctx.args[0])
        doc = {
            "name": name,
            "createTime": rfc3339(world.now),
            "acceleratorType": ctx.flags.get("accelerator-type", "NVIDIA_H100_80GB"),
            "acceleratorCount": ctx.flags.get("accelerator-count", 8),
            "endTime": ctx.flags.get("end", rfc3339(world.now + 365 * lifecycle.DAY_S)),
            "state": "ACTIVE",
        }
        world.tx.put("reservations", name, doc)


_RULE_FLAGS = {
    "match": "match",
    "nth": "nth",
    "times": "times",
    "when": "when",
    "stream": "stream",
    "seconds": "seconds",
    "bytes": "bytes",
    "exit-code": "exit_code",
    "message": "message",
    "code": "code",
}


def fault_add(ctx: Context) -> None:
    """KIND and, for mutate and vanish, KEY=VALUE words."""
    rule: Doc = {"kind": ctx.args[0]}
    rule |= {key: ctx.flags[flag] for flag, key in _RULE_FLAGS.items() if flag in ctx.flags}
    rule |= {key: _json(value) for key, _, value in (word.partition("=") for word in ctx.args[1:])}
    try:
        with ctx.writing() as world:
            number = faults.add(world.tx, rule)
    except faults.FaultError as error:
        raise CommandError(str(error)) from None
    ctx.print(str(number))


def fault_list(ctx: Context) -> None:
    with ctx.reading() as world:
        found = faults.rules(world.tx, ctx.settings.faults_file)
        counted = faults.counts(world.tx)
    rows = [rule | {"matched": counted.get(key, 0)} for key, rule in found]
    text = table(
        ("KIND", "MATCH", "NTH", "TIMES", "MATCHED"),
        [
            [row["kind"], row["match"], str(row["nth"]), str(row["times"]), str(row["matched"])]
            for row in rows
        ],
    )
    _print(ctx, rows, text)


def fault_clear(ctx: Context) -> None:
    with ctx.writing() as world:
        faults.clear(world.tx)


def _selected(ctx: Context) -> list[Doc]:
    pattern = ctx.flags.get("match", "*")
    rows = calls.read(ctx.settings.home)
    return [row for row in rows if fnmatch.fnmatchcase(row["command"], pattern)]


def calls_list(ctx: Context) -> None:
    rows = _selected(ctx)
    text = "\n".join(
        f"{rfc3339(row['at'])}  {row.get('exit_code', '-')}  {' '.join(row['argv'])}" for row in rows
    )
    _print(ctx, rows, text)


def calls_count(ctx: Context) -> None:
    rows = [row for row in _selected(ctx) if row["mutating"] or not ctx.flags.get("mutating")]
    ctx.print(str(len(rows)))


def calls_clear(ctx: Context) -> None:
    calls.clear(ctx.settings.home)
