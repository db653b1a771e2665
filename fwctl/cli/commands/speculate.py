"""`fwctl speculate explain`: the arithmetic of one speculation setting."""

from __future__ import annotations

from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.errors import UsageError
from fwctl.report.model import Report

USUAL_DRAFT_TOKENS = 4  # where the platform's documentation tells to start


@command(
    "fwctl speculate explain --acceptance 0.62 --draft-tokens 4 --draft-cost 0.08",
    "fwctl speculate explain --acceptance 1:710/1000,2:540/1000 --verify-cost 0.05",
)
def speculate_explain(
    call: Call,  # noqa: ARG001 - every command takes the call
    *,
    acceptance: Annotated[
        str,
        typer.Option(
            "--acceptance", metavar="A", help="Share 0..1, shares by position, or position:hits/total,..."
        ),
    ],
    draft_tokens: Annotated[
        int | None,
        typer.Option("--draft-tokens", metavar="K", help="Drafted tokens a pass [4, or all positions]."),
    ] = None,
    draft_cost: Annotated[
        float, typer.Option("--draft-cost", metavar="C", help="Drafting a token, in target passes [0.1].")
    ] = 0.1,
    verify_cost: Annotated[
        float, typer.Option("--verify-cost", metavar="V", help="Verifying a token, in target passes [0].")
    ] = 0.0,
) -> Report:
    """Show what a draft gains: tokens a pass, speed-up, best number of draft tokens, break-even.

    A list of shares is taken as it is measured: how often each position and all before it were accepted.
    """
    from fwctl.speculation import explain
    from fwctl.speculation.arithmetic import Costs

    try:
        given = explain.acceptance(acceptance)
        usual = USUAL_DRAFT_TOKENS if given.constant is not None else len(given.reached)
        count = usual if draft_tokens is None else draft_tokens
        found = explain.explain(given, count, Costs(draft_cost, verify_cost))
    except ValueError as error:
        raise UsageError(str(error), next_steps=["see docs/speculation.md"]) from None
    return Report("speculate explain", found)
