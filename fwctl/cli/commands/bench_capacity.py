"""`fwctl bench capacity`: the largest load that meets the objectives, and what it means for the spec."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from fwctl.cli.bench_capacity import Search, Work
from fwctl.cli.command import Call, command
from fwctl.cli.eval_options import Arms
from fwctl.exitcodes import Exit
from fwctl.report.capacity_text import level_line
from fwctl.report.model import Report


@command(
    "fwctl bench capacity chat",
    "fwctl bench capacity chat --suite prompts.jsonl --start 2 --level-time 1m",
    "fwctl bench capacity lora --targets adapters.yaml --target legal --target support",
)
def bench_capacity(
    call: Call,
    *,
    deployment: Annotated[str, typer.Argument(metavar="NAME", help="Logical name of the deployment.")],
    suite: Annotated[
        Path | None, typer.Option("--suite", metavar="FILE", help="Prompt set [slo.at.suite of the spec].")
    ] = None,
    arms: Arms,
    search: Search,
) -> Report:
    """Find the largest load that meets the objectives (`slo:`) of a deployment.

    Rates are doubled until one is not met, then bisected. Each rate runs as an open loop, and again while
    its intervals leave the answer open. The deployment is asked by its own model string; several targets
    or models (adapters) share the rate. The result proposes replicas.max, a load target and a concurrency
    limit for `workload.peak_rps`, and becomes evidence beside the specs. Exit 4 when no rate was met.
    """
    from fwctl.measure.capacity import search as find
    from fwctl.measure.capacity_run import loader

    work = Work(call, deployment, arms, search, suite)
    sizes = work.sizes()
    with ExitStack() as stack:
        setup = work.setup(stack)
        found = find(
            loader(setup, sizes),
            work.objectives,
            work.start,
            sizes,
            lambda level: call.output.message(level_line(level.to_json())),
        )
    return Report("bench capacity", work.body(found, setup), Exit.OK if found.best else Exit.REFUSED)
