"""One run: its levels, the records as they end, and the summary."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from fwctl.env import Clock
from fwctl.errors import UsageError
from fwctl.measure import workers
from fwctl.measure.alone import alone
from fwctl.measure.engine import Engine
from fwctl.measure.giving_up import reasons as reasons_lost
from fwctl.measure.lags import Lags
from fwctl.measure.lines import read_rows
from fwctl.measure.load import jobs
from fwctl.measure.part import Made, Part, perform, require_aiohttp
from fwctl.measure.plan import Cache, Plan, Shape
from fwctl.measure.progress import Progress, Watch, expected
from fwctl.measure.replicas import Replicas, Sample
from fwctl.measure.resume import Journal, keys_done, start
from fwctl.measure.summary import Facts, summarise
from fwctl.measure.validity import own_failures, reasons_by
from fwctl.measure.warmup import WarmUp

__all__ = ["Cache", "Plan", "Shape", "run"]


def run(
    plan: Plan,
    clock: Clock,
    selftest: dict[str, Any] | None = None,
    *,
    environ: Mapping[str, str] | None = None,
    lock: Mapping[str, Any] | None = None,
    watch: Watch | None = None,
    sample: Sample | None = None,
    engine: Engine | None = None,
) -> dict[str, Any]:
    """Run to the end or to Ctrl-C, write records.jsonl and summary.json, and return the summary.

    environ: of the workers, by default that of this process. lock: what fwctl.lock says about the
    deployments. watch: called several times a second; sample: gives the ready replicas by target. Both
    need `plan.workers` of 1 or more, because they would disturb the load in this process. engine: makes
    the load instead of processes of this machine.

    Raises UsageError when the folder cannot be written, holds another run, or is not the one to go on with.
    """
    require_aiohttp()
    try:
        run_ = _Run(plan, clock, start(plan), os.environ if environ is None else environ)
        earlier = [look for session in run_.journal.sessions for look in session["replicas"]]
        run_.engine = engine
        run_.watch, run_.replicas = watch, Replicas(sample, clock, earlier=earlier)
        try:
            try:
                with alone(plan.records), run_.replicas:
                    run_.levels()
            finally:
                run_.save()
        except KeyboardInterrupt:
            pass  # between two levels; the session says that it was cut off
        except Exception:
            raise
        except BaseException:
            run_.write(selftest, lock)  # the process is told to end, so there is no answer but the file
            raise
        return run_.write(selftest, lock)
    except OSError as error:
        raise UsageError(f"cannot write to {plan.out}: {error.strerror or error}") from None


class _Run:
    """The state of one call of `run`."""

    watch: Watch | None = None
    engine: Engine | None = None
    replicas: Replicas

    def __init__(self, plan: Plan, clock: Clock, journal: Journal, environ: Mapping[str, str]) -> None:
        self.plan = plan
        self.clock = clock
        self.journal = journal
        self.environ = environ
        self.lags = Lags()
        self.lost: dict[str, str] = {}
        for session in journal.sessions:
            self.lags.merge(Lags((step, number) for step, number in session["lags"]))
        self.session: dict[str, Any] = {"began": clock.now().isoformat(), "interrupted": True, "cpu_s": 0.0}
        self.session |= {"levels": {}, "lags": [], "workers": plan.workers, "replicas": []}

    def levels(self) -> None:
        """Every level of the load, up to the first that was interrupted."""
        self.journal.sessions.append(self.session)
        done = keys_done(self.plan.records) if self.plan.resume else frozenset()
        progress = Progress(expected(self.plan), self.clock.monotonic(), 0.0, self.plan.shapes[0])
        progress.duration_s = self.plan.duration_s
        progress.done = len(done)
        for shape in self.plan.shapes:
            progress.level, progress.arms = shape, {}
            if self._level(shape, done, progress).interrupted:
                return
        self.session["interrupted"] = False

    def save(self) -> None:
        """Write what this session did to run.json. Raises OSError."""
        self.session["replicas"] = self.replicas.to_json()
        self.journal.save()

    def _level(self, shape: Shape, done: frozenset[int], progress: Progress) -> Made:
        plan, made = self.plan, Made()
        if self._is_done(shape, done):
            return made
        if plan.duration_s is not None:
            left = plan.duration_s - self.journal.measured_s(shape.label)
            if left <= 0:
                return made
            plan = replace(plan, duration_s=left)
        part = Part(plan, shape, self.journal.run_id, plan.records, done=done)

        def idle() -> None:
            progress.now = self.clock.monotonic()
            if self.watch is not None:
                self.watch(progress)

        try:
            if self.engine is not None:
                self.engine.perform(part, made, on_row=progress.add, idle=idle)
            elif plan.workers:
                workers.perform(part, self._count(shape), made, self.environ, on_row=progress.add, idle=idle)
            else:
                perform(part, made)
        finally:
            self.lags.merge(made.lags)
            self.lost |= made.lost
            merged = Lags((step, number) for step, number in self.session["lags"])
            merged.merge(made.lags)
            self.session["lags"] = sorted(merged.counts.items())
            self.session["cpu_s"] += made.cpu_s
            self.session["levels"][shape.label] = made.wall_s
        return made

    def _is_done(self, shape: Shape, done: frozenset[int]) -> bool:
        """True when an earlier session has measured all of a level."""
        if not done or self.plan.duration_s is not None:
            return False
        return all(
            job.key in done for job, _ in jobs(replace(self.plan, warmup=0, cache=Cache.NATURAL), shape)
        )

    def _count(self, shape: Shape) -> int:
        """Processes for a level; one without a request at a time would have nothing to do."""
        most = self.plan.workers
        return most if shape.rate_per_s is not None else min(most, shape.concurrency * len(self.plan.targets))

    def write(self, selftest: dict[str, Any] | None, lock: Mapping[str, Any] | None) -> dict[str, Any]:
        """Write summary.json and return it. Raises OSError."""
        summary = self.summary(selftest, lock)
        text = json.dumps(summary, indent=2) + "\n"
        (self.plan.out / "summary.json").write_text(text, encoding="utf-8")
        return summary

    def summary(self, selftest: Mapping[str, Any] | None, lock: Mapping[str, Any] | None) -> dict[str, Any]:
        """summary.json."""
        plan, engine = self.plan, self.engine
        selftest = selftest if engine is None else engine.selftest or selftest
        lost = [] if engine is None else engine.lost
        warm_up = WarmUp()
        found = summarise(
            warm_up.passing(read_rows(plan.records)),
            self.lags.seconds(),
            suite_digest=plan.suite.digest,
            open_loop=any(shape.rate_per_s is not None for shape in plan.shapes),
            facts=_facts(plan),
        )
        reasons = [*found["invalid_reasons"], *self.replicas.reasons()]
        reasons += reasons_by(selftest, found["lags_p95"])
        reasons += own_failures(found["targets"])
        given_up = reasons_lost(self.lost, plan.give_up_s)
        reasons += given_up.values()
        reasons += [] if engine is None else engine.reasons()
        for name, figures in warm_up.by_target.items():
            if name in found["targets"]:
                found["targets"][name]["warm_up"] = figures
        return {
            "run_id": self.journal.run_id,
            "given_up": given_up,
            "interrupted": self.session["interrupted"],
            **found,
            "valid": not reasons,
            "invalid_reasons": reasons,
            "warnings": [*found["warnings"], *self.replicas.warnings(), *lost],
            "cache": plan.cache.value,
            "engine": "fwctl" if engine is None else engine.name,
            "nodes": [] if engine is None else [node.to_json() for node in engine.nodes],
            "workers": plan.workers,
            "sessions": len(self.journal.sessions),
            "cpu_s": sum(session["cpu_s"] for session in self.journal.sessions),
            "replicas": self.replicas.all(),
            "lock": lock,
            "selftest": selftest,
        }


def _facts(plan: Plan) -> dict[str, Facts]:
    """Prices and objectives by the names of the records; targets of one deployment share its price."""
    arms = Counter(target.deployment for target in plan.targets)
    return {
        plan.name_of(target, shape): Facts(
            None if target.usd_per_hour is None else target.usd_per_hour / _sharing(arms, target.deployment),
            target.token_prices,
            target.slo_s,
        )
        for target in plan.targets
        for shape in plan.shapes
    }


def _sharing(arms: Counter[str | None], deployment: str | None) -> int:
    return 1 if deployment is None else arms[deployment]
