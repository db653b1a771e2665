"""One run: load, records as they end, and the summary."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

from fwctl.env import Clock
from fwctl.errors import FwctlError, UsageError
from fwctl.measure.load import Job, Shape, jobs
from fwctl.measure.load import run as run_load
from fwctl.measure.record import Record
from fwctl.measure.sender import open_session, send
from fwctl.measure.suite import Suite
from fwctl.measure.summary import summarise
from fwctl.measure.target import Target


@dataclass(frozen=True, slots=True)
class Plan:
    """What to run and where its files go."""

    suite: Suite
    targets: list[Target]
    shape: Shape
    out: Path
    repeats: int = 1
    warmup: int = 0
    keep_text: bool = False


def run(plan: Plan, clock: Clock, selftest: dict[str, Any] | None = None) -> dict[str, Any]:
    """Run to the end or to Ctrl-C, write records.jsonl and summary.json, and return the summary.

    Raises UsageError when the folder cannot be written or holds another run.
    """
    try:
        import aiohttp  # noqa: F401
    except ImportError:
        raise FwctlError(
            "measuring needs aiohttp, which is not installed", next_steps=["pip install 'fwctl[runtime]'"]
        ) from None
    records = plan.out / "records.jsonl"
    if records.exists():
        raise UsageError(
            f"{records} exists already; a run never overwrites another", next_steps=["give --out DIR"]
        )
    recorder = _Recorder(plan, clock)
    lags: list[float] = []
    interrupted = False
    try:
        plan.out.mkdir(parents=True, exist_ok=True)
        with records.open("x", encoding="utf-8") as recorder.file:
            try:
                with _runner() as loop:
                    lags = loop.run(recorder.everything())
            except KeyboardInterrupt:
                interrupted = True
        found = summarise(
            recorder.rows, lags, suite_digest=plan.suite.digest, open_loop=plan.shape.rate_per_s is not None
        )
        summary = {"run_id": recorder.run_id, "interrupted": interrupted, **found, "lock": None}
        summary["selftest"] = selftest
        (plan.out / "summary.json").write_text(json.dumps(summary, indent=2) + "\n", encoding="utf-8")
    except OSError as error:
        raise UsageError(f"cannot write to {plan.out}: {error.strerror or error}") from None
    return summary


def _runner() -> asyncio.Runner:
    """The fastest event loop there is; uvloop does not exist on Windows."""
    try:
        import uvloop
    except ImportError:
        return asyncio.Runner()
    return asyncio.Runner(loop_factory=uvloop.new_event_loop)


class _Recorder:
    """Sends jobs and appends each record when it ends, so that an interrupted run keeps what was done."""

    def __init__(self, plan: Plan, clock: Clock) -> None:
        self.plan = plan
        self.clock = clock
        self.run_id = uuid4().hex[:12]
        self.rows: list[dict[str, Any]] = []
        self.file: Any = None
        self.began = clock.now()
        self.began_monotonic = clock.monotonic()

    async def everything(self) -> list[float]:
        plan = self.plan
        todo = jobs(plan.suite, plan.targets, repeats=plan.repeats, warmup=plan.warmup, seed=plan.shape.seed)
        connections = 0 if plan.shape.rate_per_s else plan.shape.concurrency
        async with open_session(connections) as self.session:
            return (await run_load(self._one, todo, plan.shape)).loop_s

    async def _one(self, job: Job, due: float) -> None:
        began = self.began + timedelta(seconds=self.clock.monotonic() - self.began_monotonic)
        record = Record(
            self.run_id,
            job.target.name,
            job.prompt.id,
            job.repeat,
            began.isoformat(),
            job.prompt.type,
            measured=job.measured,
        )
        body = job.target.body(job.prompt.body)
        answer = await send(self.session, job.target, body, record, due=due)
        if self.plan.keep_text:
            record.text = answer.text
        row = record.to_json()
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()
        self.rows.append(row)
