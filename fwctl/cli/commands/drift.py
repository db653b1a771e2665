"""`fwctl drift`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fwctl.cli.arguments import DetailedExitcode, Paths
from fwctl.cli.command import Call, command
from fwctl.cli.plan_run import plan_inputs
from fwctl.cli.session import Session, load_specs, require_valid
from fwctl.exitcodes import Exit
from fwctl.planning.digest import digest
from fwctl.planning.document import field_to_json
from fwctl.planning.model import Change, Plan
from fwctl.planning.options import PlanOptions
from fwctl.report.model import Report


@command(
    "fwctl drift",
    "fwctl drift --detailed-exitcode",
    "fwctl drift configs/chat.yaml --format github",
    formats=("text", "json", "markdown", "github"),
)
def drift(call: Call, *, paths: Paths = None, detailed_exitcode: DetailedExitcode = False) -> Report:
    """Say what runs differently from the managed fields of the specs. It only reads.

    Each field that differs is shown with both values and who moved: the platform (it left the value of
    the last apply), the specs (they changed since), or unknown. Deployments that the specs have and the
    platform does not are named too. Replica counts in flight are no drift.
    """
    loaded = load_specs(call, paths or [], need_secrets=True)
    spec = require_valid(call, loaded)
    with Session(call, spec.account) as session:
        _, plan, problems = plan_inputs(call, session, spec, paths or [], PlanOptions())
    rows = list(_rows(plan))
    body = {"account": plan.account, "stack": plan.stack, "digest": digest(plan), "drift": rows}
    code = Exit.CHANGES if rows and detailed_exitcode else Exit.OK
    report = Report("drift", body, code, (*loaded.diagnostics, *problems))
    return report.hinted(("next: fwctl plan shows what an apply would do about it",) if rows else ())


def _rows(plan: Plan) -> Iterator[dict[str, Any]]:
    moved = {(row["address"], row["path"]): row["spec_changed_too"] for row in plan.drift}
    for change in plan.changes:
        if change.live is None or ("create" in change.actions and len(change.actions) == 1):
            yield _missing(change)
            continue
        for item in change.fields:
            if item.path.startswith("marker."):
                continue
            shown = field_to_json(item)
            yield {
                "address": change.address,
                "deployment_id": change.deployment_id,
                "path": item.path,
                "live": shown["before"],
                "wanted": shown["after"],
                "moved_by": _moved_by(change, moved.get((change.address, item.path))),
                "source": shown["source"],
            }


def _moved_by(change: Change, spec_changed_too: bool | None) -> str:
    """platform | both | specs | unknown, by the digest of what was applied last."""
    if change.live is None or change.live.marker is None:
        return "unknown"
    if spec_changed_too is None:
        return "specs"
    return "both" if spec_changed_too else "platform"


def _missing(change: Change) -> dict[str, Any]:
    return {
        "address": change.address,
        "deployment_id": change.deployment_id,
        "path": None,
        "live": None,
        "wanted": "a deployment",
        "moved_by": "unknown",
        "source": None,
    }
