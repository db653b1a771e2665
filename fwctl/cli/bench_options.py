"""Options of `bench run`, and from them to a plan."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from fwctl.cli.command import Call
from fwctl.cli.options import duration_s
from fwctl.errors import UsageError

if TYPE_CHECKING:
    from fwctl.measure.plan import Plan, Shape
    from fwctl.measure.target import Target

MOST = 10_000
MOST_WORKERS = 256
MOST_REPEATS = 1_000_000


@dataclass(frozen=True)
class Load:
    """How much, how long, and from what state of the cache."""

    concurrency: Annotated[
        int | None, typer.Option("--concurrency", metavar="N", help="Requests at a time for each target [1].")
    ] = None
    rate: Annotated[
        str | None,
        typer.Option("--rate", metavar="N/s", help="Requests per second for each target instead: 5 or 5/s."),
    ] = None
    sweep: Annotated[
        str | None,
        typer.Option("--sweep", metavar="N,N,...", help="Several loads in turn: 1,2,4,8 or 1/s,2/s."),
    ] = None
    arrivals: Annotated[
        str, typer.Option("--arrivals", metavar="poisson|constant", help="Of --rate [poisson].")
    ] = "poisson"
    duration: Annotated[
        str | None,
        typer.Option("--duration", metavar="TIME", help="Go on this long, for each load: 10m."),
    ] = None
    repeat: Annotated[
        int | None,
        typer.Option("--repeat", metavar="N", help="Times to go through the set [1, or as --duration says]."),
    ] = None
    warmup: Annotated[
        int | None,
        typer.Option("--warmup", metavar="N", help="Requests before measuring [5, or one for each slot]."),
    ] = None
    give_up: Annotated[
        str,
        typer.Option(
            "--give-up",
            metavar="TIME",
            help="Stop a target that serves nothing this long, 0s: never [30s].",
        ),
    ] = "30s"
    cache: Annotated[
        str,
        typer.Option("--cache", metavar="natural|cold|warm", help="What the prompt cache may do [natural]."),
    ] = "natural"
    seed: Annotated[int, typer.Option("--seed", metavar="N", help="Seed of order and arrivals [1].")] = 1


@dataclass(frozen=True)
class Running:
    """Where the run goes, and what is done around it."""

    keep_text: Annotated[bool, typer.Option("--keep-text", help="Keep answers in the records.")] = False
    workers: Annotated[
        str, typer.Option("--workers", metavar="N", help="Processes that make the load, or auto [auto].")
    ] = "auto"
    no_selftest: Annotated[
        bool, typer.Option("--no-selftest", help="Do not measure the error of this machine first.")
    ] = False
    out: Annotated[
        Path | None, typer.Option("--out", metavar="DIR", help="Folder for records and summary [a new one].")
    ] = None
    pin_replicas: Annotated[
        int | None,
        typer.Option("--pin-replicas", metavar="N", help="Fix the replicas for the run, and undo it."),
    ] = None
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask before --pin-replicas.")] = False
    resume: Annotated[
        Path | None, typer.Option("--resume", metavar="DIR", help="Go on with an interrupted run.")
    ] = None


def make_plan(call: Call, suite: Path, targets: list[Target], load: Load, running: Running) -> Plan:
    """The plan that the options describe, with `workers` still 0. Raises UsageError."""
    from fwctl.measure import suite as suites
    from fwctl.measure.plan import Cache, Plan

    shapes = _shapes(load)
    if running.resume is not None and running.out is not None:
        raise UsageError("--resume names the folder already; leave out --out")
    if load.cache not in tuple(Cache):
        raise UsageError(f"--cache is one of {', '.join(Cache)}")
    duration = None if load.duration is None else duration_s(load.duration, "--duration")
    if duration is not None and duration <= 0:
        raise UsageError("--duration is longer than nothing")
    repeats = _whole(load.repeat, "--repeat", 1, MOST_REPEATS)
    slots = max(shape.concurrency for shape in shapes)
    warmup = _whole(load.warmup, "--warmup", 0, MOST)
    env = call.env
    named = running.resume or running.out
    folder = env.cwd / (named or Path("runs") / env.clock.now().strftime("%Y%m%dT%H%M%SZ"))
    return Plan(
        suites.load(env.cwd / suite),
        targets,
        shapes[0],
        folder,
        repeats=repeats if repeats is not None or duration is not None else 1,
        warmup=max(5, slots) if warmup is None else warmup,
        keep_text=running.keep_text,
        sweep=shapes if load.sweep is not None else (),
        duration_s=duration,
        cache=Cache(load.cache),
        resume=running.resume is not None,
        give_up_s=duration_s(load.give_up, "--give-up") or None,
    )


def own_error(call: Call) -> dict[str, Any]:
    """The short self-test that goes before a measurement."""
    from fwctl.measure.selftest import SHORT, selftest

    call.output.message("measuring the error of this machine first; --no-selftest leaves it out ...")
    return selftest(call.env.environ, call.env.clock, SHORT)


def worker_count(text: str) -> int | None:
    """None for `auto`. Raises UsageError."""
    if text == "auto":
        return None
    if not text.isdecimal() or not 1 <= int(text) <= MOST_WORKERS:
        raise UsageError(f"--workers is auto or a number from 1 to {MOST_WORKERS}")
    return int(text)


def _shapes(load: Load) -> tuple[Shape, ...]:
    from fwctl.measure.plan import Shape

    if sum(item is not None for item in (load.concurrency, load.rate, load.sweep)) > 1:
        raise UsageError("give one of --concurrency, --rate and --sweep")
    if load.arrivals not in ("poisson", "constant"):
        raise UsageError("--arrivals is poisson or constant")
    poisson = load.arrivals == "poisson"
    if load.rate is not None:
        return (Shape(rate_per_s=_rate(load.rate, "--rate"), poisson=poisson, seed=load.seed),)
    if load.sweep is None:
        return (Shape(_whole(load.concurrency, "--concurrency", 1, MOST) or 1, seed=load.seed),)
    parts = [part.strip() for part in load.sweep.split(",")]
    found = tuple(
        Shape(rate_per_s=_rate(part, "--sweep"), poisson=poisson, seed=load.seed)
        if part.endswith("/s")
        else Shape(_number(part), seed=load.seed)
        for part in parts
    )
    if len({shape.label for shape in found}) < len(found):
        raise UsageError("--sweep names a load twice")
    return found


def _rate(text: str, option: str) -> float:
    try:
        value = float(text.removesuffix("/s"))
    except ValueError:
        value = math.nan
    if not 0 < value <= MOST:
        raise UsageError(f"{option}: a rate is a number above 0, up to {MOST} per second, such as 5/s")
    return value


def _number(text: str) -> int:
    if not text.isascii() or not text.isdecimal() or len(text) > 9:
        raise UsageError("--sweep is a list such as 1,2,4,8 or 1/s,2/s")
    return _whole(int(text), "--sweep", 1, MOST) or 1


def _whole(value: int | None, option: str, low: int, high: int) -> int | None:
    if value is not None and not low <= value <= high:
        raise UsageError(f"{option} is a number from {low} to {high}")
    return value
