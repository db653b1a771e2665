"""The question before anything is changed."""

from __future__ import annotations

from fwctl.cli.command import Call
from fwctl.errors import FwctlError, RefusedError
from fwctl.planning.model import Plan
from fwctl.report.layout import Page


class DeclinedError(FwctlError):
    """The user answered no: exit 1, nothing was changed."""

    code = "refused"


def confirm(call: Call, plan: Plan, *, yes: bool) -> None:
    """Ask on the terminal. Deleting or replacing asks for the deployment's name, anything else for yes.

    Raises RefusedError without a terminal, DeclinedError for any other answer.
    """
    destroyed = [change.name for change in plan.changes if "delete" in change.actions]
    wanted = " ".join(destroyed) if destroyed else "yes"
    what = f"type {wanted} to delete or replace" if destroyed else "type yes to apply"
    way_out = "add --yes, best with --plan FILE or --expect DIGEST"
    ask(call, what, wanted, yes=yes, way_out=way_out)


def ask(call: Call, what: str, wanted: str, *, yes: bool, way_out: str = "add --yes") -> None:
    """One question; `wanted` is the answer that goes on. Raises as `confirm`."""
    if yes:
        return
    if not call.env.interactive:
        raise RefusedError(
            "nobody is there to confirm: there is no terminal and --yes was not given", next_steps=[way_out]
        )
    page = Page(call.output.style(call.env.stderr))
    page.line(f"{what}, anything else to leave everything as it is:")
    call.env.stderr.write(call.env.redactor.mask(page.text()) + "> ")
    call.env.stderr.flush()
    if call.env.stdin.readline().strip() != wanted:
        raise DeclinedError("not confirmed; nothing was changed")
