"""`fwctl apply`."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from fwctl.applying.model import ApplyOptions, Verify
from fwctl.cli.apply_run import apply_options, carry_out
from fwctl.cli.arguments import Paths
from fwctl.cli.choices import PlanChoices
from fwctl.cli.command import Call, command
from fwctl.cli.plan_run import plan_inputs, plan_report, read_plan
from fwctl.cli.session import Gates, Session, load_specs, require_valid
from fwctl.errors import StalePlanError, UsageError
from fwctl.planning.evidence import gate_of
from fwctl.planning.model import Plan
from fwctl.planning.options import Intent, PlanOptions
from fwctl.planning.plan_file import Inputs
from fwctl.planning.stale import require_digest, require_same
from fwctl.report.model import Report


@command(
    "fwctl apply",
    "fwctl apply --plan plan.json --yes",
    "fwctl apply --expect DIGEST --yes --format events",
    "fwctl apply configs/chat.yaml --target chat --no-wait",
    formats=("text", "json", "markdown", "github", "events"),
)
def apply(
    call: Call,
    *,
    paths: Paths = None,
    plan_file: Annotated[
        str | None, typer.Option("--plan", metavar="FILE", help="Apply this saved plan exactly, or refuse.")
    ] = None,
    expect: Annotated[
        str | None, typer.Option("--expect", metavar="DIGEST", help="Refuse any plan with another digest.")
    ] = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_wait: Annotated[
        bool, typer.Option("--no-wait", help="End once the platform has accepted every call.")
    ] = False,
    verify: Annotated[
        str | None,
        typer.Option("--verify", metavar="request", help="Send one real request before calling it done."),
    ] = None,
    fail_fast: Annotated[
        bool, typer.Option("--fail-fast", help="Start nothing new after a failure.")
    ] = False,
    rollback: Annotated[
        list[str] | None,
        typer.Option("--rollback", metavar="NAME", help="Go back from the replacement of this deployment."),
    ] = None,
    choices: PlanChoices,
) -> Report:
    """Make what runs equal to the specs.

    The plan is shown and confirmed first; with --plan FILE exactly that plan is applied, or nothing
    (exit 8). A failure of one deployment does not stop the others. Waiting ends after --wait-timeout
    with exit 7 while the platform goes on. Once anything was changed a failure is exit 1.
    """
    if verify not in (None, "request"):
        raise UsageError(f"--verify: {verify!r} is not known; the only proof is `request`")
    options = apply_options(
        call, wait=not no_wait, fail_fast=fail_fast, verify=Verify.REQUEST if verify else Verify.NONE
    )
    run = _Run(call, options, expect.strip().lower() if expect else None, yes)
    if plan_file is None:
        return run.specs(paths or [], _options(choices, rollback))
    given = [*choices.words(), *(["--rollback", *rollback] if rollback else []), *(paths or [])]
    if given:
        raise UsageError(f"with --plan the choices come from the file; leave out {shlex.join(given)}")
    return run.saved(plan_file)


def _options(choices: PlanChoices, rollback: list[str] | None) -> PlanOptions:
    """The choices of the plan; a rollback is about the named deployments alone."""
    if not rollback:
        return choices.to_options()
    return choices.to_options(intent=Intent.ROLLBACK, intent_names=tuple(rollback))


@dataclass(frozen=True, slots=True)
class _Run:
    """One apply: how it is to be done, whatever the plan is made from."""

    call: Call
    options: ApplyOptions
    expect: str | None
    yes: bool

    def specs(self, paths: list[str], options: PlanOptions) -> Report:
        loaded = load_specs(self.call, paths, need_secrets=True, gates=Gates.FOLLOW)
        spec = require_valid(self.call, loaded)
        with self._session(spec.account) as session:
            inputs, plan, problems = plan_inputs(self.call, session, spec, paths, options)
            if self.expect is not None:
                require_digest(self.expect, plan)
            shown = plan_report("plan", plan, (*loaded.diagnostics, *problems))
            return self._carry_out(session, inputs, plan, shown)

    def saved(self, file: str) -> Report:
        """Recompute from the stored inputs, and apply only what was reviewed."""
        stored = read_plan(self.call, file)
        if self.expect not in (None, stored.digest):
            raise StalePlanError(f"{file} has digest {stored.digest}, {str(self.expect)[:80]} was expected")
        _same_specs(self.call, stored.spec_sha256)
        inputs = stored.inputs(self.call.env.environ)
        with self._session(inputs.spec.account) as session:
            live = session.live(inputs.spec)
            plan = inputs.plan(live, caps=session.firectl.capabilities, now=self.call.env.clock.now())
            require_same(stored.plan, plan)
            return self._carry_out(session, inputs, plan, plan_report("plan", plan, ()))

    def _carry_out(self, session: Session, inputs: Inputs, plan: Plan, shown: Report) -> Report:
        options = replace(self.options, gate=gate_of(inputs.spec, inputs.evidence))
        return carry_out(self.call, session, inputs.spec, plan, shown=shown, options=options, yes=self.yes)

    def _session(self, account: str) -> Session:
        return Session(self.call, account, interrupt=self.options.interrupt.kill)


def _same_specs(call: Call, digests: Mapping[str, str]) -> None:
    """Spec files that are present must be the ones that were planned."""
    from hashlib import sha256

    for name, wanted in digests.items():
        path = call.env.cwd / name
        if path.is_file() and sha256(path.read_bytes()).hexdigest() != wanted:
            raise StalePlanError(
                f"{name} is not the file that was planned",
                next_steps=["fwctl plan --out FILE, review, apply"],
            )
