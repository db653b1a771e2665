"""From specs or a plan file to a plan, and from a plan to its report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from fwctl import __version__
from fwctl.cli.command import Call
from fwctl.cli.evidence_files import Found, find_evidence
from fwctl.cli.evidence_fit import measured_pools
from fwctl.cli.evidence_weighed import planned_evidence
from fwctl.cli.fit_requests import check_specs
from fwctl.cli.places import STATE_FOLDER, has_specs, lock_of
from fwctl.cli.prices import price_list
from fwctl.cli.recent_traffic import deleted, recent_traffic
from fwctl.cli.session import Session
from fwctl.cli.writing import write_file
from fwctl.collector import collector_paused
from fwctl.errors import Diagnostic, InvalidSpecError, RefusedError
from fwctl.exitcodes import Exit
from fwctl.planning.context import Context
from fwctl.planning.document import has_changes, plan_to_json
from fwctl.planning.engine import with_sets
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.planning.plan_file import LARGEST_BYTES, Inputs, StoredPlan, dumps, loads
from fwctl.records.history import HISTORY_NAME, History
from fwctl.report.model import Report
from fwctl.spec.model import Spec

PLAN_FORMATS = ("text", "json", "markdown", "github", "html")


def plan_inputs(
    call: Call, session: Session, spec: Spec, paths: Sequence[str], options: PlanOptions
) -> tuple[Inputs, Plan, tuple[Diagnostic, ...]]:
    """Read live state once, check the fit, and plan."""
    with collector_paused():
        return _plan_inputs(call, session, spec, paths, options)


def _plan_inputs(
    call: Call, session: Session, spec: Spec, paths: Sequence[str], options: PlanOptions
) -> tuple[Inputs, Plan, tuple[Diagnostic, ...]]:
    live = session.live(spec)
    prices = price_list(call, spec)
    lock = None if options.no_lock else lock_of(call, paths)
    caps, now = session.firectl.capabilities, call.env.clock.now()
    context = Context(with_sets(spec, options), live, caps, options, prices, now, lock=lock)
    found = find_evidence(call, paths, spec) if has_specs(call, paths) else Found((), (), there=False)
    pools = measured_pools(call, context, found)
    fit, problems = check_specs(spec, call.env.cwd, prices, live, environ=call.env.environ, pools=pools)
    evidence = planned_evidence(call, replace(context, fit=fit), found)
    inputs = Inputs(spec, options, prices, fit, evidence, lock=lock)
    starts = start_times(call, spec)
    plan = inputs.plan(live, caps=caps, now=now, starts=starts)
    if leaving := deleted(plan):
        from fwctl.cli.metrics_page import metrics_page

        traffic = recent_traffic(call, session, leaving, metrics_page(call, spec.account, None, None))
        plan = inputs.plan(live, caps=caps, now=now, starts=starts, traffic=traffic)
    return inputs, plan, (*problems, *found.problems)


def start_times(call: Call, spec: Spec) -> dict[str, list[float]]:
    """Seconds that earlier starts took, by model, from the history of this folder."""
    history = History(call.env.cwd / STATE_FOLDER / HISTORY_NAME)
    models = {str(item.fields.get("model")) for item in spec.deployments.values()}
    return {model: history.start_times_s(model=model) for model in models}


def plan_report(
    command: str,
    plan: Plan,
    diagnostics: Iterable[Diagnostic],
    *,
    detailed: bool = False,
    detail: bool = False,
) -> Report:
    """The report of a plan: 4 when something is blocked, 2 for changes when asked, else 0."""
    blocked = [change for change in plan.changes if change.blocked]
    found = dict.fromkeys([*diagnostics, *plan.diagnostics, *(d for c in blocked for d in c.blocked_by)])
    code, error = Exit.OK, None
    if blocked:
        code = Exit.REFUSED
        names = ", ".join(change.address for change in blocked)
        steps = dict.fromkeys(d.suggestion for c in blocked for d in c.blocked_by if d.suggestion)
        error = RefusedError(f"blocked: {names}", next_steps=list(steps))
    elif detailed and has_changes(plan):
        code = Exit.CHANGES
    return Report(command, plan_to_json(plan), code, tuple(found), error, detail=detail)


def write_plan(call: Call, path: Path, plan: Plan, inputs: Inputs, session: Session) -> None:
    """Write a plan file. Raises FwctlError when it cannot be written."""
    versions = {"fwctl": __version__, "firectl": session.firectl.capabilities.version}
    text = dumps(plan, inputs, created=call.env.clock.now(), versions=versions)
    if call.env.redactor.mask(text) != text:
        raise RefusedError(
            "the specs hold a credential as plain text; a plan file is public and must not",
            next_steps=["write ${env:NAME} in its place; `grep -n fw_` finds it"],
        )
    write_file(call.env, path, text)


def read_plan(call: Call, path: str) -> StoredPlan:
    """A plan file that `plan --out` wrote. Raises InvalidSpecError."""
    file, why = call.env.cwd / path, "it is not a regular file"
    try:
        if file.is_file() or file.is_dir() or not file.exists():  # a pipe could stay silent for ever
            with file.open("rb") as stream:
                return loads(stream.read(LARGEST_BYTES + 1), path)
    except OSError as error:
        why = error.strerror or str(error)
    raise InvalidSpecError(
        f"the plan file {path} cannot be read: {why}", next_steps=["fwctl plan --out FILE"]
    )
