"""From a confirmed plan to the report of carrying it out; shared by every command that changes something."""

from __future__ import annotations

from typing import Any

from fwctl.applying.model import ApplyOptions, ApplyResult
from fwctl.applying.run import apply
from fwctl.cli.command import Call
from fwctl.cli.confirm import confirm
from fwctl.cli.places import STATE_FOLDER
from fwctl.cli.progress import listener
from fwctl.cli.session import Session
from fwctl.errors import FwctlError
from fwctl.exitcodes import Exit
from fwctl.planning.digest import digest
from fwctl.planning.document import has_changes
from fwctl.planning.model import Plan
from fwctl.report.model import Report
from fwctl.spec.model import Spec

APPLY_FORMATS = ("text", "json", "markdown", "github", "events")
_NOTHING: dict[str, Any] = {"results": [], "model_strings": {}}


def apply_options(call: Call, **choices: Any) -> ApplyOptions:
    """The common options of a call as choices of an apply."""
    settings = call.settings
    return ApplyOptions(
        folder=call.env.cwd / STATE_FOLDER,
        parallelism=settings.parallelism,
        wait_timeout_s=settings.wait_timeout_s,
        poll_interval_s=settings.poll_interval_s,
        **choices,
    )


def carry_out(
    call: Call,
    session: Session,
    spec: Spec,
    plan: Plan,
    *,
    shown: Report,
    options: ApplyOptions,
    yes: bool,
    command: str = "apply",
) -> Report:
    """Show the plan, ask, apply, report. `shown` is the plan's report; blocked changes end here."""
    call.output.aside(shown)
    body = {"account": plan.account, "stack": plan.stack, "digest": digest(plan), "plan": shown.body}
    if shown.error is not None:
        return Report(command, {**body, **_NOTHING}, shown.exit_code, shown.diagnostics, shown.error)
    if has_changes(plan):
        confirm(call, plan, yes=yes)
    with options.interrupt.installed():
        result = apply(
            plan,
            spec=spec,
            firectl=session.firectl,
            env=call.env,
            options=options,
            on_event=listener(call),
        )
    return result_report(command, body, shown, result)


def result_report(command: str, body: dict[str, Any], shown: Report | None, result: ApplyResult) -> Report:
    """What was done, and the first thing that went wrong as its error."""
    failed = [item for item in result.results if item.problem is not None]
    error = None
    if result.exit_code is not Exit.OK:
        first = failed[0].problem if failed else None
        error = _ApplyError(first.message if first else "the apply was stopped", next_steps=result.next_steps)
        error.deployment = failed[0].name if failed else None
        error.name = first.code if first else "interrupted"
    diagnostics = shown.diagnostics if shown else ()
    report = Report(command, {**body, **result.to_json()}, result.exit_code, diagnostics, error)
    return report.hinted(() if error else tuple(f"next: {step}" for step in result.next_steps))


class _ApplyError(FwctlError):
    """Carries the stable code of the first deployment that failed."""

    name = "firectl_failed"

    def to_json(self) -> dict[str, Any]:
        return {**super().to_json(), "code": self.name}
