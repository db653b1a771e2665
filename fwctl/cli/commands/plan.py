"""`fwctl plan`."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from fwctl.cli.arguments import DetailedExitcode, Paths
from fwctl.cli.choices import PlanChoices
from fwctl.cli.command import Call, command
from fwctl.cli.plan_run import PLAN_FORMATS, plan_inputs, plan_report, write_plan
from fwctl.cli.session import Gates, Session, load_specs, require_valid
from fwctl.errors import UsageError
from fwctl.planning.model import Plan
from fwctl.planning.what_if import parse_sets
from fwctl.report.model import Report


@command(
    "fwctl plan",
    "fwctl plan configs/chat.yaml --out plan.json",
    "fwctl plan --detailed-exitcode --format json",
    "fwctl plan --set chat.replicas.max=6",
    formats=PLAN_FORMATS,
)
def plan(
    call: Call,
    *,
    paths: Paths = None,
    out: Annotated[
        str | None, typer.Option("--out", metavar="FILE", help="Save the plan for `fwctl apply --plan`.")
    ] = None,
    detailed_exitcode: DetailedExitcode = False,
    set_values: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="NAME.FIELD=VALUE", help="Plan as if the spec said so; may be repeated."
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say more about each change and the fit arithmetic.")
    ] = False,
    choices: PlanChoices,
) -> Report:
    """Compare the specs with what runs and show what an apply would do.

    It only reads. Each change shows its fields before and after, what the change does to a running
    deployment, and the line of the spec that asks for it; then come checks, cost and a digest. Exit 0
    with and without changes (2 for changes with --detailed-exitcode), 4 when a change is blocked.
    """
    if out == "":  # `--out "$FILE"` with a variable that is not set: the plan would be lost in silence
        raise UsageError("--out needs the name of a file")
    if out and set_values:
        raise UsageError("--set is for looking only and cannot be saved; leave out --out or --set")
    loaded = load_specs(call, paths or [], need_secrets=True, gates=Gates.FOLLOW)
    spec = require_valid(call, loaded)
    options = choices.to_options(parse_sets(spec, set_values or [], call.env.environ))
    with Session(call, spec.account) as session:
        inputs, found, problems = plan_inputs(call, session, spec, paths or [], options)
        if out:
            write_plan(call, Path(out), found, inputs, session)
    report = plan_report(
        "plan",
        _what_if(found, set_values) if set_values else found,
        [*loaded.diagnostics, *problems],
        detailed=detailed_exitcode,
        detail=explain or call.settings.verbose,
    )
    return report.hinted(() if set_values else _hints(report, out, [*(paths or []), *choices.words()]))


def _what_if(plan: Plan, sets: list[str]) -> Plan:
    """The plan with a note that the specs do not say this; values stay out, they may be secrets."""
    fields = ", ".join(dict.fromkeys(item.partition("=")[0] for item in sets))
    return replace(plan, notes=(f"what if: {fields} by --set; the specs do not say so", *plan.notes))


def _hints(report: Report, out: str | None, about: list[str]) -> tuple[str, ...]:
    """What to type next; about: paths and options that the digest depends on."""
    if report.error is not None:
        return ()
    if out:
        return (f"saved to {out}; next: fwctl apply --plan {out}",)
    changes = any(count for key, count in report.body["summary"].items() if key != "unchanged")
    words = ["fwctl", "apply", *about, "--expect", report.body["digest"]]
    return (f"next: {shlex.join(words)}",) if changes else ()
