"""`fwctl bench run`: send a prompt set to one or more targets and record every answer."""

from __future__ import annotations

import os
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.bench_engine import Machines, fleet, join
from fwctl.cli.bench_options import Load, Running, make_plan, own_error, worker_count
from fwctl.cli.bench_pin import pinned
from fwctl.cli.bench_progress import watching
from fwctl.cli.bench_replicas import lock_entries, sampling
from fwctl.cli.command import Call, command
from fwctl.cli.eval_options import Arms, targets_of
from fwctl.exitcodes import Exit
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.measure.plan import Plan


@command(
    "fwctl bench run --suite prompts.jsonl --target fast --target fp8 --concurrency 8 --repeat 3",
    "fwctl bench run --suite prompts.jsonl --target fast --rate 5/s --duration 10m",
    "fwctl bench run --suite prompts.jsonl --target-url URL --model M --sweep 1,2,4,8,16 --out runs/today",
    "fwctl bench run --suite prompts.jsonl --target fast --repeat 3 --resume runs/today",
    "fwctl bench run --suite prompts.jsonl --target fast --engine locust --master --expect-workers 4",
)
def bench_run(
    call: Call,
    *,
    suite: Annotated[
        Path, typer.Option("--suite", metavar="FILE", help="Prompt set, one JSON request a line.")
    ],
    arms: Arms,
    load: Load,
    running: Running,
    machines: Machines,
) -> Report:
    """Send a prompt set and write DIR/records.jsonl and DIR/summary.json.

    Several targets are measured at the same time, in a random order for each prompt. Nothing is
    retried; errors are results. Exit 1 when a target answered nothing, or when the run is invalid
    because this machine was the bottleneck, replicas changed or a worker was lost; 130 after Ctrl-C, with
    the summary of what was done.
    """
    from fwctl.measure.locust_parts import require_locust
    from fwctl.measure.run import run

    machines.check(running)
    wanted = worker_count(running.workers)
    plan = make_plan(call, suite, targets_of(call, arms), load, running)
    env = call.env
    if machines.engine == "locust":
        require_locust()
    selftest = None if running.no_selftest or machines.master else own_error(call)
    if machines.worker is not None:
        join(call, plan, machines, selftest)
        return Report("bench run", {"out": None, "summary": None}, text="the master has every record\n")
    lock = lock_entries(call, arms.specs or [], plan.targets)
    workers = machines.expect_workers or 1 if machines.master else wanted or _processes(plan, selftest)
    plan = replace(plan, workers=workers)
    with ExitStack() as stack:
        specs = arms.specs or []
        stack.enter_context(pinned(call, running.pin_replicas, plan.targets, specs, yes=running.yes))
        engine = stack.enter_context(fleet(call, plan, machines))
        sample = stack.enter_context(sampling(call, plan.targets))
        watch = stack.enter_context(watching(call))
        summary = run(
            plan,
            env.clock,
            selftest,
            environ=env.environ,
            lock=lock,
            watch=watch,
            sample=sample,
            engine=engine,
        )
    return _report(plan, summary, call.env.cwd)


def _processes(plan: Plan, selftest: dict[str, Any] | None) -> int:
    from fwctl.measure.sizing import processes

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return processes(plan, selftest, cores)


def _report(plan: Plan, summary: dict[str, Any], cwd: Path) -> Report:
    answered = bool(summary["targets"]) and all(item["n_ok"] for item in summary["targets"].values())
    code = Exit.OK if summary["valid"] and answered else Exit.FAILED
    lost = any(node["lost"] for node in summary["nodes"])
    if summary["interrupted"]:
        code = Exit.FAILED if lost else Exit.INTERRUPTED
    folder = plan.out.relative_to(cwd) if plan.out.is_relative_to(cwd) else plan.out
    return Report(
        "bench run", {"out": str(plan.out), "summary": summary}, code, hints=_hints(folder, summary, code)
    )


def _hints(folder: Path, summary: dict[str, Any], code: Exit) -> tuple[str, ...]:
    if summary["interrupted"]:
        return (f"next: add --resume {folder} to go on",)
    if code is not Exit.OK:
        return ()
    first, *others = summary["targets"]
    arms = f"{folder}:{first} {folder}:{others[0]}" if others else f"BASE {folder}"
    return (f"next: fwctl bench report {folder}", f"next: fwctl bench compare {arms}")
