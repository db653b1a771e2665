"""When requests start: a fixed number at a time, or on a schedule that does not wait for answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from fwctl.measure.suite import Prompt, Suite
from fwctl.measure.target import Target

LAG_TICK_S = 0.01


@dataclass(frozen=True, slots=True)
class Job:
    """One request to make."""

    target: Target
    prompt: Prompt
    repeat: int
    measured: bool = True


@dataclass(frozen=True, slots=True)
class Shape:
    """The load. `rate_per_s` makes an open loop with Poisson or constant arrivals; else `concurrency`."""

    concurrency: int = 1
    rate_per_s: float | None = None
    poisson: bool = True
    seed: int = 1


@dataclass(slots=True)
class Lags:
    """How late the event loop itself was, sampled every 10 ms."""

    loop_s: list[float] = field(default_factory=list)


Work = Callable[[Job, float], Awaitable[None]]


def jobs(suite: Suite, targets: list[Target], *, repeats: int, warmup: int, seed: int) -> Iterator[Job]:
    """Warm-up first, with prompts that are not in the suite; then the targets in random order per prompt.

    The caller hands them out without a pause in between, so that slots go over without draining.
    """
    for number in range(warmup):
        message = {"role": "user", "content": f"Warm-up {seed}-{number}: count from 1 to 20."}
        prompt = Prompt(f"warmup-{number}", "warmup", {"messages": [message], "max_tokens": 32})
        yield from (Job(target, prompt, 0, measured=False) for target in targets)
    random = Random(seed)  # noqa: S311 - a reproducible order, not a secret
    for repeat in range(repeats):
        for prompt in suite.prompts():
            yield from (Job(target, prompt, repeat) for target in random.sample(targets, len(targets)))


async def run(work: Work, todo: Iterator[Job], shape: Shape) -> Lags:
    """Do every job; `work` gets the job and the moment it was due on time.monotonic()."""
    lags = Lags()
    probe = asyncio.create_task(_probe(lags))
    try:
        await (_open(work, todo, shape) if shape.rate_per_s else _closed(work, todo, shape.concurrency))
    except ExceptionGroup as group:
        # A full disk or a suite that changed meanwhile ends the run with its own words.
        raise group.exceptions[0] from None
    finally:
        probe.cancel()
    return lags


async def _closed(work: Work, todo: Iterator[Job], concurrency: int) -> None:
    async def slot() -> None:
        for job in todo:
            await work(job, time.monotonic())

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(slot())


async def _open(work: Work, todo: Iterator[Job], shape: Shape) -> None:
    random = Random(shape.seed)  # noqa: S311
    rate = shape.rate_per_s or 1.0
    due = time.monotonic()
    async with asyncio.TaskGroup() as group:
        for job in todo:
            # uvloop rounds timers to milliseconds, so a sleep may end before its time.
            while (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            group.create_task(_one(work, job, due))
            due += random.expovariate(rate) if shape.poisson else 1 / rate


async def _one(work: Work, job: Job, due: float) -> None:
    await work(job, due)


async def _probe(lags: Lags) -> None:
    while True:
        asked = time.monotonic()
        await asyncio.sleep(LAG_TICK_S)
        lags.loop_s.append(max(0.0, time.monotonic() - asked - LAG_TICK_S))
