"""`fwctl eval init|outlook`: an example set, and what a set can show."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from fwctl.cli.command import Call, command
from fwctl.cli.eval_options import MOST, Power
from fwctl.errors import UsageError
from fwctl.report.model import Report


@command("fwctl eval init > eval.jsonl")
def eval_init(call: Call) -> Report:  # noqa: ARG001 - every command takes the call
    """Print a small evaluation set, one prompt for each kind of grader."""
    from fwctl.quality.example import example

    text = example()
    return Report("eval init", {"suite": text.splitlines()}, text=text)


@command("fwctl eval outlook --suite eval.jsonl", "fwctl eval outlook --prompts 500 --discordance 0.06")
def eval_outlook(
    call: Call,
    *,
    suite: Annotated[Path | None, typer.Option("--suite", metavar="FILE", help="Prompt set.")] = None,
    prompts: Annotated[
        int | None, typer.Option("--prompts", metavar="N", help="Number of prompts instead of a set.")
    ] = None,
    repeat: Annotated[int, typer.Option("--repeat", metavar="N", help="Times each is asked [1].")] = 1,
    power: Power,
) -> Report:
    """Say what a prompt set can show before anything is sent.

    Exit 0 whatever it can show; `missing_prompts` says what it lacks.
    """
    from fwctl.quality.outlook import outlook, sentences

    power.check()
    if (suite is None) == (prompts is None):
        raise UsageError("give either --suite or --prompts")
    if not 1 <= repeat <= MOST or (prompts is not None and prompts < 1):
        raise UsageError("--prompts and --repeat are numbers from 1")
    counts = {"all": prompts} if prompts is not None else _counts(call, suite or Path())
    found = outlook(counts, repeats=repeat, discordance=power.discordance, margin=power.margin)
    return Report("eval outlook", {"outlook": found.to_json()}, text="\n".join(sentences(found)) + "\n")


def _counts(call: Call, suite: Path) -> dict[str, int]:
    """Prompts by type that name a grader or expect something; the graders are not checked here."""
    from collections import Counter

    from fwctl.measure.suite import load

    prompts = load(call.env.cwd / suite).prompts()
    return dict(
        Counter(item.type for item in prompts if item.grader is not None or item.expected is not None)
    )
