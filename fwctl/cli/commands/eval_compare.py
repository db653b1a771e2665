"""`fwctl eval compare`: is the candidate as good as the base?"""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

FORMATS = ("text", "json", "markdown", "html", "junit", "github")


@command(
    "fwctl eval compare runs/bf16 runs/fp8 --margin 0.02",
    "fwctl eval compare runs/ab:bf16 runs/ab:fp8 --floor runs/bf16-again --format markdown",
    formats=FORMATS,
)
def eval_compare(
    call: Call,
    *,
    base: Annotated[str, typer.Argument(metavar="BASE", help="DIR or DIR:TARGET.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="DIR or DIR:TARGET.")],
    margin: Annotated[
        float, typer.Option("--margin", metavar="X", help="Loss of right answers that is allowed [0.02].")
    ] = 0.02,
    broken_margin: Annotated[
        float | None,
        typer.Option("--broken-margin", metavar="X", help="More broken answers allowed [as --margin]."),
    ] = None,
    floor: Annotated[
        str | None,
        typer.Option("--floor", metavar="DIR", help="Second run of BASE: how far it differs from itself."),
    ] = None,
    allow_inconclusive: Annotated[
        bool, typer.Option("--allow-inconclusive", help="Exit 0 when nothing was shown either way.")
    ] = False,
) -> Report:
    """Compare two evaluations, paired by prompt and repeat.

    Passes only when a loss larger than the margin is ruled out. Exit 4 when a loss
    is shown, when the runs cannot be compared, and when neither could be shown.
    """
    from fwctl.quality.arms import read_arm
    from fwctl.quality.checks import checks_of
    from fwctl.quality.compare import compare_arms
    from fwctl.quality.verdict import Gate

    for name, value in (("--margin", margin), ("--broken-margin", broken_margin)):
        if value is not None and not 0 < value < 1:
            raise UsageError(f"{name} is a share such as 0.02 for 2 points")
    cwd = call.env.cwd
    found = compare_arms(
        read_arm(cwd, base),
        read_arm(cwd, candidate),
        margin=margin,
        broken_margin=margin if broken_margin is None else broken_margin,
        floor=read_arm(cwd, floor) if floor is not None else None,
    )
    body = {**found, "checks": checks_of(found, allow_inconclusive=allow_inconclusive)}
    passes = (Gate.PASS, Gate.INCONCLUSIVE) if allow_inconclusive else (Gate.PASS,)
    return Report("eval compare", body, Exit.OK if found["verdict"] in passes else Exit.REFUSED)
