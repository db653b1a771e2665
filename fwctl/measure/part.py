"""What one process does of a run: its share of the requests, each record written as it ends."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections.abc import Awaitable, Callable, Container
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING

from fwctl.errors import FwctlError
from fwctl.measure.encoding import dumps
from fwctl.measure.giving_up import GivingUp
from fwctl.measure.lags import Lags
from fwctl.measure.load import Job, Share, jobs
from fwctl.measure.load import run as run_load
from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.quiet import Sweeper, quiet
from fwctl.measure.record import Record
from fwctl.measure.sender import open_session, send
from fwctl.measure.writer import Writer

if TYPE_CHECKING:
    import aiohttp

# Called when all is ready; gives the moment on time.monotonic() at which the load starts.
Begin = Callable[[], Awaitable[float]]


@dataclass(frozen=True, slots=True)
class Part:
    """One process's share of one level. `records`: file that gets its lines. `done`: keys to leave out."""

    plan: Plan
    shape: Shape
    run_id: str
    records: Path
    share: Share = field(default_factory=Share)
    done: Container[int] = ()


@dataclass(slots=True)
class Made:
    """What is known about a part beside its records. Seconds. `lost`: see `GivingUp`."""

    lags: Lags = field(default_factory=Lags)
    cpu_s: float = 0.0
    wall_s: float = 0.0
    interrupted: bool = False
    lost: dict[str, str] = field(default_factory=dict)

    def merge(self, other: Made) -> None:
        """Add another process of the same level."""
        self.lags.merge(other.lags)
        self.cpu_s += other.cpu_s
        self.wall_s = max(self.wall_s, other.wall_s)
        self.interrupted = self.interrupted or other.interrupted
        self.lost |= other.lost


def require_aiohttp() -> None:
    """Raises FwctlError when it is not installed."""
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise FwctlError(
            "measuring needs aiohttp, which is not installed", next_steps=["pip install 'fwctl[runtime]'"]
        ) from None


def perform(part: Part, made: Made, begin: Begin | None = None) -> None:
    """Make the requests; `made` is filled, also when Ctrl-C ends it. Raises OSError and FwctlError."""
    raise_file_limit()
    with Writer(part.records) as writer, new_runner() as runner, quiet():
        cpu, wall = time.process_time(), time.monotonic()
        try:
            runner.run(_Sending(part, writer, made).everything(begin))
        except KeyboardInterrupt:
            made.interrupted = True
        finally:
            made.cpu_s = time.process_time() - cpu
            made.wall_s = time.monotonic() - wall


def raise_file_limit() -> None:
    """As many open files as the system lets this process have: each request at a time needs one."""
    try:
        import resource
    except ImportError:
        return  # Windows counts no files
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))


def new_runner() -> asyncio.Runner:
    """The fastest event loop there is; uvloop does not exist on Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


class _Sending:
    """Turns jobs into requests and requests into lines."""

    def __init__(self, part: Part, writer: Writer, made: Made) -> None:
        self.part = part
        self.made = made
        self.plan = part.plan
        self.shape = part.shape
        self.writer = writer
        self.sweeper = Sweeper()
        self.giving_up = GivingUp(part.plan.give_up_s, len(part.plan.targets))
        made.lost = self.giving_up.lost
        self.session: aiohttp.ClientSession
        # One reading of the wall clock; the rest is counted on the one that never jumps.
        self.wall_offset_s = time.time() - time.monotonic()

    async def everything(self, begin: Begin | None) -> None:
        part, shape = self.part, self.shape
        todo = self.giving_up.rest(jobs(part.plan, shape, part.share, part.done))
        slots = part.share.slots(shape.concurrency * len(part.plan.targets))
        async with open_session(0 if shape.rate_per_s else slots) as self.session:
            start = None if begin is None else await begin()
            probe = asyncio.create_task(self.made.lags.watch())
            try:
                await run_load(
                    self._one,
                    todo,
                    shape,
                    arms=len(part.plan.targets),
                    slots=slots,
                    begin=start,
                    duration_s=part.plan.duration_s,
                )
            finally:
                probe.cancel()

    async def _one(self, job: Job, due: float) -> None:
        record = self._record(job)
        body = job.target.body(job.prompt.body)
        if self.plan.cache is Cache.COLD:
            body["prompt_cache_isolation_key"] = self._isolation(job)
        answer = await send(self.session, job.target, body, record, due=due)
        self.giving_up.note(job.name, record, time.monotonic())
        if self.plan.keep_text:
            record.text = answer.text
        self.writer.put(dumps(record.to_json()) + b"\n")
        self.sweeper.count()

    def _record(self, job: Job) -> Record:
        began = datetime.fromtimestamp(0, UTC) + timedelta(seconds=self.wall_offset_s + time.monotonic())
        shape = self.shape
        return Record(
            self.part.run_id,
            job.name,
            job.prompt.id,
            job.repeat,
            began.isoformat(),
            job.prompt.type,
            measured=job.measured,
            concurrency=shape.concurrency if shape.rate_per_s is None else None,
            rate_per_s=shape.rate_per_s,
        )

    def _isolation(self, job: Job) -> str:
        """No two requests share it, so that no prefix of one is found by another."""
        text = f"{self.part.run_id} {job.name} {job.prompt.id} {job.repeat} {job.measured}"
        return "fwctl-" + sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:24]
