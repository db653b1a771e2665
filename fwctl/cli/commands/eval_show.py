"""`fwctl eval show`: the prompts on which two evaluations differ."""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.report.model import Report

MOST = 10_000


@command("fwctl eval show runs/ab:bf16 runs/ab:fp8", "fwctl eval show runs/bf16 runs/fp8 --what broken")
def eval_show(
    call: Call,
    *,
    base: Annotated[str, typer.Argument(metavar="BASE", help="DIR or DIR:TARGET.")],
    candidate: Annotated[str, typer.Argument(metavar="CANDIDATE", help="DIR or DIR:TARGET.")],
    what: Annotated[
        str,
        typer.Option("--what", metavar="lost|gained|broken|wrong", help="wrong: in both [lost]."),
    ] = "lost",
    limit: Annotated[int, typer.Option("--limit", metavar="N", help="At most this many [5].")] = 5,
) -> Report:
    """Show the prompts that the candidate lost, with both answers.

    It prints what the models said. No other command does.
    """
    from fwctl.quality.arms import read_arm
    from fwctl.quality.showing import differing

    if not 0 < limit <= MOST:
        raise UsageError(f"--limit is a number from 1 to {MOST}")
    cwd = call.env.cwd
    return Report("eval show", differing(read_arm(cwd, base), read_arm(cwd, candidate), what, limit))
