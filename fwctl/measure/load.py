"""When requests start: a fixed number at a time, or on a schedule that does not wait for answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Container, Iterator
from dataclasses import dataclass
from itertools import count
from random import Random

from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.suite import Prompt
from fwctl.measure.target import Target


@dataclass(frozen=True, slots=True)
class Job:
    """One request to make. `name`: the target as the records call it."""

    target: Target
    name: str
    prompt: Prompt
    repeat: int
    measured: bool = True

    @property
    def key(self) -> int:
        return key(self.name, self.prompt.id, self.repeat)


@dataclass(frozen=True, slots=True)
class Share:
    """Which part of a load one process makes: every `of`-th request from `number` on."""

    number: int = 0
    of: int = 1

    def slots(self, concurrency: int) -> int:
        """How many of the requests at a time are this process's; 0 when there is none for it."""
        return concurrency // self.of + (self.number < concurrency % self.of)

    def takes(self, index: int, concurrency: int | None) -> bool:
        """True for a request of this process; processes without a slot take none."""
        of = self.of if concurrency is None else min(self.of, concurrency)
        return index % of == self.number


WHOLE = Share()

# Each job with whether this process makes it; the others only move the schedule on.
Todo = Iterator[tuple[Job, bool]]
Work = Callable[[Job, float], Awaitable[None]]


def key(name: str, prompt_id: str, repeat: int) -> int:
    """Small key of a request, to remember millions of them; stable within one process."""
    return hash((name, prompt_id, repeat))


def jobs(plan: Plan, shape: Shape, share: Share = WHOLE, done: Container[int] = ()) -> Todo:
    """Warm-up first, with prompts that are not in the suite; then the targets in random order per prompt.

    They are handed out without a pause in between, so that slots go over without draining. done: keys of
    requests that an interrupted run has made already.
    """
    closed = shape.concurrency * len(plan.targets) if shape.rate_per_s is None else None
    index = 0
    for job in _all(plan, shape):
        if job.measured and job.key in done:
            continue
        yield job, share.takes(index, closed)
        index += 1


def _all(plan: Plan, shape: Shape) -> Iterator[Job]:
    arms = [(target, plan.name_of(target, shape)) for target in plan.targets]
    for number in range(plan.warmup):
        message = {"role": "user", "content": f"Warm-up {shape.seed}-{number}: count from 1 to 20."}
        prompt = Prompt(f"warmup-{number}", "warmup", {"messages": [message], "max_tokens": 32})
        yield from (Job(target, name, prompt, 0, measured=False) for target, name in arms)
    if plan.cache is Cache.WARM:
        for prompt in plan.suite.prompts():
            yield from (Job(target, name, prompt, 0, measured=False) for target, name in arms)
    random = Random(shape.seed)  # noqa: S311 - a reproducible order, not a secret
    for repeat in count() if plan.repeats is None else range(plan.repeats):
        for prompt in plan.suite.prompts():
            for target, name in random.sample(arms, len(arms)):
                yield Job(target, name, prompt, repeat)


async def run(
    work: Work,
    todo: Todo,
    shape: Shape,
    *,
    arms: int = 1,
    slots: int | None = None,
    begin: float | None = None,
    duration_s: float | None = None,
) -> None:
    """Do every job; `work` gets the job and the moment it was due on time.monotonic().

    arms: how many targets the load is for; each gets all of it. slots: requests at a time of this process
    for all arms together, by default the whole. begin: start of the schedule.
    duration_s: no measured request starts later than this after the first one.
    """
    begin = time.monotonic() if begin is None else begin
    limited = _Limited(todo, duration_s)
    try:
        if shape.rate_per_s is None:
            await _closed(work, limited, begin, shape.concurrency * arms if slots is None else slots)
        else:
            await _open(work, limited, begin, shape, arms)
    except ExceptionGroup as group:
        # A full disk or a suite that changed meanwhile ends the run with its own words.
        raise group.exceptions[0] from None


class _Limited:
    """Jobs until the time for measuring is over."""

    def __init__(self, todo: Todo, duration_s: float | None) -> None:
        self.todo = todo
        self.duration_s = duration_s
        self.first: float | None = None

    def take(self, at: float) -> Job | None:
        """The next job for the moment `at`, None for one of another process. Raises StopIteration."""
        job, mine = next(self.todo)
        if self.duration_s is not None and job.measured:
            if self.first is None:
                self.first = at
            if at - self.first >= self.duration_s:
                raise StopIteration
        return job if mine else None


async def _closed(work: Work, jobs: _Limited, begin: float, slots: int) -> None:
    async def slot() -> None:
        while True:
            try:
                job = jobs.take(time.monotonic())
            except StopIteration:
                return
            if job is not None:
                await work(job, time.monotonic())

    await asyncio.sleep(begin - time.monotonic())
    async with asyncio.TaskGroup() as group:
        for _ in range(slots):
            group.create_task(slot())


async def _open(work: Work, jobs: _Limited, begin: float, shape: Shape, arms: int) -> None:
    random = Random(shape.seed)  # noqa: S311
    rate = (shape.rate_per_s or 1.0) * arms
    due = begin
    async with asyncio.TaskGroup() as group:
        while True:
            try:
                job = jobs.take(due)
            except StopIteration:
                return
            if job is not None:
                # uvloop rounds timers to milliseconds, so a sleep may end before its time.
                while (wait := due - time.monotonic()) > 0:
                    await asyncio.sleep(wait)
                group.create_task(_one(work, job, due))
                # The request goes out before the next prompt is read from the file.
                await asyncio.sleep(0)
            due += random.expovariate(rate) if shape.poisson else 1 / rate


async def _one(work: Work, job: Job, due: float) -> None:
    await work(job, due)
