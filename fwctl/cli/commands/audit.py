"""`fwctl audit`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.arguments import Paths
from fwctl.cli.command import Call, command
from fwctl.cli.places import has_specs
from fwctl.cli.plan_run import plan_inputs, write_plan
from fwctl.cli.prices import price_list
from fwctl.cli.session import Session, load_specs, own_account, require_valid
from fwctl.errors import Diagnostic, FwctlError, RefusedError, UsageError
from fwctl.live.identity import LEAVING
from fwctl.operate.audit import Audit, diagnostics
from fwctl.operate.audit import audit as judge
from fwctl.operate.daily_requests import requests_of
from fwctl.planning.options import PlanOptions
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.spec.model import Spec


@command(
    "fwctl audit",
    "fwctl audit --idle-days 14 --format sarif",
    "fwctl audit --fix-plan cleanup.json",
    formats=("text", "json", "markdown", "sarif", "junit"),
)
def audit(
    call: Call,
    *,
    paths: Paths = None,
    idle_days: Annotated[
        int, typer.Option("--idle-days", min=1, max=90, metavar="N", help="Days without a request.")
    ] = 7,
    fix_plan: Annotated[
        str | None,
        typer.Option("--fix-plan", metavar="FILE", help="Save a plan that deletes what nothing lists."),
    ] = None,
) -> Report:
    """List what is idle, failed, unmanaged or orphaned, and what each costs a day. It only reads.

    --fix-plan saves a plan that deletes this stack's deployments that the specs no longer list.
    `fwctl apply --plan FILE` carries it out; protected deployments and those of other stacks are never
    in it.
    """
    spec = _spec(call, paths)
    if fix_plan and spec is None:
        raise UsageError("--fix-plan needs the specs: without them nothing is known to be left over")
    with Session(call, spec.account if spec else own_account(call)) as session:
        requests, unknown = _requests(call, session, idle_days)
        live = session.live(spec)
        found = judge(
            live,
            spec,
            price_list(call, spec),
            now=call.env.clock.now(),
            days=idle_days,
            requests=requests,
        )
        saved = None
        if spec is not None and fix_plan and found.removable:
            _save(call, session, spec, found.removable, Target(fix_plan, tuple(paths or ())))
            saved = fix_plan
    count = sum(item.state not in LEAVING for item in live.deployments.values())
    body = _body(live.account, count, found, unknown) | {"fix_plan": saved}
    report = Report("audit", body, diagnostics=_told(call, found, spec))
    return report.hinted(_hints(found, fix_plan, saved))


def _spec(call: Call, paths: list[str] | None) -> Spec | None:
    if not has_specs(call, paths or []):
        return None
    return require_valid(call, load_specs(call, paths or []))


def _requests(call: Call, session: Session, days: int) -> tuple[dict[str, float] | None, list[str]]:
    """Requests by deployment over whole days up to now; None and the reason where nobody can read them."""
    try:
        rows = session.requests_by_day(call.env.clock.now().date() - timedelta(days=days))
    except FwctlError as error:
        if error.error_class in ("auth", "suspended"):
            raise
        return None, [f"which deployments are idle: their metrics cannot be read ({error.message})"]
    return requests_of(rows), []


def _body(account: str, count: int, found: Audit, unknown: list[str]) -> dict[str, Any]:
    return {
        "account": account,
        "deployments": count,
        "findings": [item.to_json() for item in found.findings],
        "usd_per_day": found.total_usd_per_day,
        "unpriced": list(found.unpriced),
        "unknown": unknown,
    }


def _told(call: Call, found: Audit, spec: Spec | None) -> tuple[Diagnostic, ...]:
    """Diagnostics for the formats that show nothing else; people read the findings on stdout."""
    return () if call.settings.format in ("text", "markdown") else diagnostics(found, spec)


@dataclass(frozen=True, slots=True)
class Target:
    """The file of the clean-up plan, and the paths of the specs it is made with."""

    file: str
    paths: tuple[str, ...]


def _save(call: Call, session: Session, spec: Spec, names: tuple[str, ...], to: Target) -> None:
    """Writes the plan of the clean-up without what a guard refuses. RefusedError when nothing is left."""
    options = PlanOptions(targets=names, prune=True, allow_delete=names, max_deletes=len(names))
    inputs, plan, _ = plan_inputs(call, session, spec, to.paths, options)
    blocked = [change.name for change in plan.changes if change.blocked]
    if blocked:
        call.output.message(f"left out, because a guard says no: {', '.join(blocked)}")
        rest = tuple(name for name in names if name not in blocked)
        if not rest:
            raise RefusedError(f"guards refuse every delete: {', '.join(blocked)}", next_steps=["fwctl plan"])
        inputs, plan, _ = plan_inputs(call, session, spec, to.paths, replace(options, targets=rest))
    write_plan(call, Path(to.file), plan, inputs, session)


def _hints(found: Audit, wanted: str | None, saved: str | None) -> tuple[str, ...]:
    if saved:
        return (f"saved to {saved}; next: fwctl show {saved}, then fwctl apply --plan {saved}",)
    if wanted:
        return ("nothing to delete, so no plan was written",)
    return (
        ("next: fwctl audit --fix-plan FILE saves a plan that removes what is left over",)
        if found.removable
        else ()
    )
