"""`fwctl adopt NAME...` and its kin: one intent each, planned and confirmed like an apply."""

from __future__ import annotations

from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Annotated, Any

import typer

from fwctl.cli.apply_run import APPLY_FORMATS, apply_options, carry_out
from fwctl.cli.choices import Scope
from fwctl.cli.command import Call, command
from fwctl.cli.options import duration_s
from fwctl.cli.plan_run import plan_inputs, plan_report
from fwctl.cli.session import Session, scope_spec
from fwctl.planning.options import Intent, PlanOptions
from fwctl.report.model import Report

Names = Annotated[
    list[str], typer.Argument(metavar="NAME", help="Logical names, or deployment IDs.", show_default=False)
]


@dataclass(frozen=True)
class Doing:
    """How the change is carried out."""

    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="End once the platform has accepted every call.")
    ] = False


@dataclass(frozen=True)
class Losses:
    """Guards that a scale-down or a delete can meet."""

    allow_traffic_loss: Annotated[
        bool, typer.Option("--allow-traffic-loss", help="Within an hour of traffic too.")
    ] = False
    allow_scale_down: Annotated[
        bool, typer.Option("--allow-scale-down", help="Although replicas are wanted or ready.")
    ] = False

    def lifted(self, names: list[str]) -> dict[str, Any]:
        return {item.name: tuple(names) for item in fields(self) if getattr(self, item.name)}


def _carry_out(
    call: Call, intent: Intent, names: list[str], scope: Scope, doing: Doing, **choices: Any
) -> Report:
    spec = scope_spec(call, scope)
    options = PlanOptions(intent=intent, intent_names=tuple(names), **choices)
    with Session(call, spec.account) as session:
        _, plan, problems = plan_inputs(call, session, spec, scope.paths, options)
        return carry_out(
            call,
            session,
            spec,
            plan,
            shown=plan_report("plan", plan, problems),
            options=apply_options(call, wait=not doing.no_wait),
            yes=doing.yes,
            command=_WORDS.get(intent, intent.value),
        )


_WORDS = {Intent.UNDELETE: "undo"}


@command("fwctl adopt chat", "fwctl adopt chat --yes", formats=APPLY_FORMATS)
def adopt(call: Call, *, names: Names, scope: Scope, doing: Doing) -> Report:
    """Take over deployments that carry no marker, and make them equal to the specs."""
    return _carry_out(call, Intent.ADOPT, names, scope, doing)


@command("fwctl forget chat", formats=APPLY_FORMATS)
def forget(call: Call, *, names: Names, scope: Scope, doing: Doing) -> Report:
    """Remove this stack's marker; the deployments go on running and belong to nobody."""
    return _carry_out(call, Intent.FORGET, names, scope, doing)


@command("fwctl hold chat --for 12h", formats=APPLY_FORMATS)
def hold(
    call: Call,
    *,
    names: Names,
    duration: Annotated[str, typer.Option("--for", metavar="DURATION", help="How long.")] = "12h",
    scope: Scope,
    doing: Doing,
) -> Report:
    """Suspend changes to deployments, for example so that CI does not undo a scale-up by night."""
    until = call.env.clock.now() + timedelta(seconds=duration_s(duration, "--for"))
    return _carry_out(
        call, Intent.HOLD, names, scope, doing, hold_until=until.replace(second=0, microsecond=0)
    )


@command("fwctl release chat", formats=APPLY_FORMATS)
def release(call: Call, *, names: Names, scope: Scope, doing: Doing) -> Report:
    """End a hold."""
    return _carry_out(call, Intent.RELEASE, names, scope, doing)


@command("fwctl park evaluation", "fwctl park chat --allow-scale-down --yes", formats=APPLY_FORMATS)
def park(call: Call, *, names: Names, scope: Scope, doing: Doing, losses: Losses) -> Report:
    """Stop all replicas and keep the deployment: min and max become 0, nothing is billed."""
    return _carry_out(call, Intent.PARK, names, scope, doing, **losses.lifted(names))


@command("fwctl unpark evaluation", formats=APPLY_FORMATS)
def unpark(call: Call, *, names: Names, scope: Scope, doing: Doing) -> Report:
    """Give a parked deployment the replica bounds of its spec again."""
    return _carry_out(call, Intent.UNPARK, names, scope, doing)


@command("fwctl destroy old-chat", "fwctl destroy old-chat --allow-traffic-loss --yes", formats=APPLY_FORMATS)
def destroy(call: Call, *, names: Names, scope: Scope, doing: Doing, losses: Losses) -> Report:
    """Delete deployments by name. Protected ones are refused; `fwctl undo` brings one back for a while."""
    return _carry_out(
        call, Intent.DESTROY, names, scope, doing, allow_delete=tuple(names), **losses.lifted(names)
    )


@command("fwctl undo old-chat", formats=APPLY_FORMATS)
def undo(call: Call, *, names: Names, scope: Scope, doing: Doing) -> Report:
    """Bring deleted deployments back while the platform still holds them (7 days)."""
    return _carry_out(call, Intent.UNDELETE, names, scope, doing)
