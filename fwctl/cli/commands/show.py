"""`fwctl show`."""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.plan_run import PLAN_FORMATS, read_plan
from fwctl.report.model import Report


@command(
    "fwctl show plan.json",
    "fwctl show plan.json --format markdown >> $GITHUB_STEP_SUMMARY",
    formats=PLAN_FORMATS,
)
def show(
    call: Call,
    *,
    file: Annotated[str, typer.Argument(metavar="FILE", help="A plan that `fwctl plan --out` saved.")],
) -> Report:
    """Show a saved plan in any format.

    It reads nothing but the file. A file whose changes were edited is refused.
    """
    stored = read_plan(call, file)
    return Report("show", stored.plan).hinted(
        (f"saved {stored.created:%Y-%m-%d %H:%M} UTC; next: fwctl apply --plan {file}",)
    )
