"""The world of an experiment, made of firectl, the harness and a terminal."""

from __future__ import annotations

import shutil
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fwctl.applying.interrupt import Interrupt
from fwctl.applying.model import ApplyOptions, ApplyResult, Verify
from fwctl.cli.apply_run import apply_options
from fwctl.cli.command import Call
from fwctl.cli.confirm import ask
from fwctl.cli.plan_run import start_times
from fwctl.cli.progress import listener
from fwctl.cli.session import Session
from fwctl.env import FIREWORKS_KEY, Clock
from fwctl.errors import AuthError, FwctlError, UsageError
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveDeployment, LiveState
from fwctl.planning.document import has_changes
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.world import Look
from fwctl.spec.model import Spec

if TYPE_CHECKING:
    from fwctl.measure.plan import Plan as LoadPlan
    from fwctl.measure.progress import Progress
    from fwctl.measure.target import Target
    from fwctl.quality.experiments.run import Course
    from fwctl.quality.graders.means import Means

# What a grader's child process gets of the environment: no secrets.
_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "SYSTEMROOT")


class PlatformWorld:
    """An experiment on the platform (or the simulator) that firectl and FIREWORKS_BASE_URL lead to."""

    def __init__(self, call: Call, session: Session) -> None:
        self.call = call
        self.session = session
        self._interrupt = Interrupt()
        self._halted = threading.Event()
        self._told = ""

    @property
    def clock(self) -> Clock:
        return self.call.env.clock

    def live(self, spec: Spec) -> LiveState:
        return self.session.live(spec, silent=True)

    def plan(self, spec: Spec, live: LiveState, options: PlanOptions) -> Plan:
        from fwctl.cli.fit_requests import check_specs
        from fwctl.cli.prices import price_list
        from fwctl.planning.plan_file import Inputs

        prices = price_list(self.call, spec)
        fit, _ = check_specs(spec, self.call.env.cwd, prices, live, environ=self.call.env.environ)
        return Inputs(spec, options, prices, fit).plan(
            live,
            caps=self.session.firectl.capabilities,
            now=self.clock.now(),
            starts=start_times(self.call, spec),
        )

    def apply(self, plan: Plan, spec: Spec, *, serve: bool) -> ApplyResult:
        from fwctl.applying.run import apply, wait

        options = self._options(verify=Verify.REQUEST if serve else Verify.NONE)
        result = ApplyResult((), {}, Exit.OK, changed=False)
        with options.interrupt.installed():
            common: dict[str, Any] = {
                "spec": spec,
                "firectl": self.session.firectl,
                "env": self.call.env,
                "options": options,
                "on_event": listener(self.call),
            }
            if has_changes(plan):
                result = apply(plan, **common)
            if serve and result.exit_code is Exit.OK and not options.interrupt.stop.is_set():
                ids = {name: entry.deployment_id for name, entry in spec.deployments.items()}
                result = wait(ids, **common)
        return result

    def _options(self, *, verify: Verify) -> ApplyOptions:
        self._interrupt = Interrupt()
        return apply_options(self.call, verify=verify, interrupt=self._interrupt)

    @contextmanager
    def watching(self, look: Look) -> Iterator[None]:
        ended = threading.Event()
        self._halted.clear()

        def watch() -> None:
            while True:
                if not self._goes_on(look):
                    self._halted.set()
                    self._interrupt.stop.set()
                    return
                if ended.wait(self.call.settings.poll_interval_s):
                    return

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            ended.set()
            thread.join()

    def _goes_on(self, look: Look) -> bool:
        """One look. A read that fails is told and tried again; the cost of that time is counted later."""
        try:
            return look(self._deployments())
        except FwctlError as error:
            self.say(f"the replicas could not be read: {error.message}")
            return True

    def _deployments(self) -> list[LiveDeployment]:
        """One call of firectl, so that looking on does not disturb the load."""
        from fwctl.live.normalise import normalise_deployment

        return [
            normalise_deployment(row) for row in self.session.firectl.list_deployments(show_deleted=False)
        ]

    def measure(
        self, experiment: Experiment, candidates: Mapping[str, str], out: Path, number: int
    ) -> Mapping[str, Any]:
        from fwctl.measure.resume import NAME

        plan = self._load_plan(experiment, candidates, out, number)
        if (out / NAME).exists():
            try:
                return self._run(replace(plan, resume=True), candidates)
            except UsageError as error:  # begun against another address, say; what was done does not count
                self.say(f"{out.name} is measured anew: {error.message}")
                shutil.rmtree(out, ignore_errors=True)
        return self._run(plan, candidates)

    def _load_plan(
        self, experiment: Experiment, candidates: Mapping[str, str], out: Path, number: int
    ) -> LoadPlan:
        from fwctl.measure.giving_up import AFTER_S
        from fwctl.measure.plan import Plan, Shape
        from fwctl.measure.suite import load

        many, how = len(candidates), experiment.load
        shape = Shape(
            concurrency=how.concurrency * many,
            rate_per_s=None if how.rate_per_s is None else how.rate_per_s * many,
            seed=how.seed + number - 1,
        )
        targets = self._targets(experiment, candidates)
        return Plan(
            load(experiment.suite),
            targets,
            shape,
            out,
            warmup=how.warmup,
            keep_text=True,
            workers=1,
            give_up_s=AFTER_S,
        )

    def _run(self, plan: LoadPlan, candidates: Mapping[str, str]) -> Mapping[str, Any]:
        from fwctl.measure.run import run

        ended = threading.Event()

        def watch(progress: Progress) -> None:  # noqa: ARG001
            if self._halted.is_set() and not ended.is_set():
                ended.set()
                raise KeyboardInterrupt

        return run(
            plan,
            self.clock,
            environ=self.call.env.environ,
            watch=watch,
            sample=lambda: self._ready(candidates),
        )

    def _ready(self, candidates: Mapping[str, str]) -> dict[str, int]:
        live = {item.deployment_id: item.replicas.ready for item in self._deployments()}
        return {name: live[key] for name, key in candidates.items() if key in live}

    def _targets(self, experiment: Experiment, candidates: Mapping[str, str]) -> list[Target]:
        from fwctl.applying.ask import base_url
        from fwctl.measure.target import Target

        base = f"accounts/{experiment.spec.account}/deployments"
        return [
            Target(
                name,
                base_url(self.call.env),
                f"{base}/{candidates[name]}",
                self.call.env.environ.get(FIREWORKS_KEY),
                extra={"perf_metrics_in_response": True},
                deployment=f"{base}/{candidates[name]}",
                api_key_env=FIREWORKS_KEY,
            )
            for name in experiment.candidates
        ]

    def means(self, experiment: Experiment) -> Means:
        from fwctl.quality.graders.means import Means

        environ = {name: self.call.env.environ[name] for name in _PASSED_ON if name in self.call.env.environ}
        return Means(experiment.suite.parent, environ)

    def start_s(self, model: str) -> float | None:
        from fwctl.cli.places import STATE_FOLDER
        from fwctl.records.history import HISTORY_NAME, History

        known = History(self.call.env.cwd / STATE_FOLDER / HISTORY_NAME).start_times_s(model=model)
        return max(known, default=None)

    def say(self, text: str) -> None:
        """On stderr, once for each time that it changes."""
        if text != self._told:
            self._told = text
            self.call.output.message(text)

    def reached(self, point: str) -> None:
        """Nothing: the seam of the recovery tests."""


def require_key(call: Call) -> None:
    """The load needs a key; better to know before anything is created. Raises AuthError."""
    if not call.env.environ.get(FIREWORKS_KEY):
        raise AuthError(
            f"{FIREWORKS_KEY} is not set, so no request could be sent to the candidates",
            next_steps=[f"set {FIREWORKS_KEY}; docs/simulator.md has the keys of the simulator"],
        )


def confirm_course(call: Call, course: Course, *, yes: bool) -> None:
    """Say what it will do and cost, and ask once when something is created."""
    from fwctl.quality.experiments.quality import foretold
    from fwctl.units import format_usd

    for line in foretold(course.experiment, course.cases):
        call.output.message(line)
    creates = [
        change for change in (course.plan.changes if course.plan else ()) if "create" in change.actions
    ]
    if not creates:
        return
    state = course.state
    for name in state.candidates:
        price = state.usd_per_hour.get(name)
        call.output.message(f"{name}: {state.candidates[name]}, {format_usd(price, ' an hour a replica')}")
    call.output.message(
        f"{format_usd(course.start_usd())} to start them all, at most {format_usd(state.cap_usd)} in all, "
        f"deleted by {state.end:%Y-%m-%d %H:%M} UTC"
    )
    ask(call, f"type yes to create {len(creates)} candidates", "yes", yes=yes)
