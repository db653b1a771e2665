"""A platform, a clock and a load in memory for experiments; what a candidate does is written down."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from fwctl.applying.model import ApplyResult
from fwctl.exitcodes import Exit
from fwctl.live.model import LiveState
from fwctl.live.normalise import normalise_deployment
from fwctl.live.reader import read_live
from fwctl.measure.suite import Suite, load
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.quality.experiments.file import load_experiment
from fwctl.quality.experiments.model import Experiment
from fwctl.quality.experiments.run import Choices, Course
from fwctl.quality.experiments.world import Look
from fwctl.quality.graders.means import Means
from fwctl.spec.model import Spec
from tests.planning.support import CAPS, NOW, PRICES, Platform, row

PROMPTS = 80
MINE = "[fwctl prod/shapes--"

TEXT = """\
apiVersion: fwctl/v1
kind: Experiment
account: acme
stack: prod
name: shapes
suite: prompts.jsonl
baseline: bf16
load: {concurrency: 4, repeat: 2}
slo: {total_p95_ms: 3000, error_rate: 1%}
quality: {margin: 10%}
spend_cap: $20
time_to_live: 4h
base:
  model: accounts/fireworks/models/llama-v3p1-8b-instruct
  region: US
candidates:
  bf16: {shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-minimal}
  fp8: {shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast}
  b200: {shape: accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-b200}
"""


class Killed(BaseException):
    """The process ended here."""


@dataclass
class Witness:
    """Hears what is said. kill: the point at which the process ends."""

    said: list[str] = field(default_factory=list, kw_only=True)
    points: list[str] = field(default_factory=list, kw_only=True)
    kill: str = field(default="", kw_only=True)

    def say(self, text: str) -> None:
        self.said.append(text)

    def reached(self, point: str) -> None:
        self.points.append(point)
        if point == self.kill:
            raise Killed


@dataclass
class FakeClock:
    at: datetime = NOW

    def now(self) -> datetime:
        return self.at

    def monotonic(self) -> float:
        return (self.at - NOW).total_seconds()

    def sleep(self, seconds: float) -> None:
        self.at += timedelta(seconds=seconds)


@dataclass(frozen=True)
class Behaviour:
    """total_s: of every answer. tokens: of every answer. wrong: prompts answered wrong. errors: that fail."""

    total_s: float = 1.0
    tokens: int = 100
    wrong: frozenset[int] = frozenset()
    errors: frozenset[int] = frozenset()


@dataclass
class FakeWorld(Witness):
    """pass_s, start_up_s: how long they take. look_s: between two looks at the replicas. start_code: how the
    next apply ends."""

    folder: Path
    platform: Platform = field(default_factory=Platform)
    clock: FakeClock = field(default_factory=FakeClock)
    behaviours: Mapping[str, Behaviour] = field(default_factory=dict)
    pass_s: float = 60.0
    start_up_s: float = 300.0
    look_s: float = 60.0
    prices: Any = PRICES
    invalid: list[str] = field(default_factory=list)
    interrupts: int = 0
    given_up: Mapping[str, str] = field(default_factory=dict)
    start_code: Exit = Exit.OK
    looks: list[Look] = field(default_factory=list)

    def live(self, spec: Spec) -> LiveState:
        return read_live(self.platform, spec, CAPS, account=spec.account)

    def plan(self, spec: Spec, live: LiveState, options: PlanOptions) -> Plan:
        return make_plan(spec, live, caps=CAPS, options=options, prices=self.prices, now=self.clock.now())

    def apply(self, plan: Plan, spec: Spec, *, serve: bool) -> ApplyResult:
        self.platform.obey(plan)
        if serve:
            self._run(1)
            self._pass_time(self.start_up_s)
        code, self.start_code = self.start_code, Exit.OK
        return ApplyResult((), {}, code, changed=True)

    def _run(self, count: int) -> None:
        for item in self.platform.rows:
            if item["state"] == "READY" and MINE in str(item.get("description")):
                item["replica_stats"] = {"ready_replica_count": count}
                item["created"] = None

    def _pass_time(self, seconds: float) -> bool:
        """Time goes by, looked at now and then; False once a look ends it."""
        for _ in range(int(seconds // self.look_s)):
            self.clock.sleep(self.look_s)
            if not all(look(self._deployments()) for look in self.looks):
                return False
        return True

    def _deployments(self) -> list[Any]:
        return [normalise_deployment(item) for item in self.platform.rows if item["state"] == "READY"]

    @contextmanager
    def watching(self, look: Look) -> Iterator[None]:
        self.looks.append(look)
        try:
            look(self._deployments())
            yield
        finally:
            self.looks.remove(look)

    def measure(
        self, experiment: Experiment, candidates: Mapping[str, str], out: Path, number: int
    ) -> Mapping[str, Any]:
        assert all(self.platform.row(key)["state"] == "READY" for key in candidates.values())
        out.mkdir(parents=True, exist_ok=True)
        self.reached(f"load {number}")
        lasted = self._pass_time(self.pass_s)
        rows = [
            self._row(name, at, self.behaviours.get(name, Behaviour()))
            for name in candidates
            for at in range(PROMPTS)
        ]
        text = "".join(json.dumps(item) + "\n" for item in rows)
        (out / "records.jsonl").write_text(text)
        reasons = [self.invalid.pop()] if self.invalid else []
        stopped = not lasted or self.interrupts > 0
        self.interrupts = max(0, self.interrupts - 1)
        return {
            "interrupted": stopped,
            "valid": not reasons,
            "invalid_reasons": reasons,
            "given_up": self.given_up,
            "replicas": [],
        }

    @staticmethod
    def _row(name: str, at: int, does: Behaviour) -> dict[str, Any]:
        failed = at in does.errors
        return {
            "target": name,
            "prompt_id": f"p{at}",
            "repeat": 0,
            "measured": True,
            "attempt": 1,
            "error_class": "http_5xx" if failed else None,
            "ttft_s": 0.1,
            "tpot_s": 0.01,
            "total_s": None if failed else does.total_s,
            "output_tokens": None if failed else does.tokens,
            "finish_reason": None if failed else "stop",
            "text": None if failed else "no" if at in does.wrong else str(at),
        }

    def means(self, experiment: Experiment) -> Means:
        return Means(experiment.suite.parent, {})

    def start_s(self, model: str) -> float | None:
        return None

    def candidates(self) -> list[str]:
        """Short names of the candidates that exist."""
        found = []
        for item in self.platform.rows:
            text = str(item.get("description"))
            if item["state"] == "READY" and MINE in text:
                found.append(text.partition(MINE)[2].split()[0])
        return sorted(found)


def write_files(folder: Path, text: str = TEXT) -> Path:
    """The experiment and its suite."""
    lines = [
        {"id": f"p{at}", "prompt": f"Say {at}.", "expected": str(at), "grader": "exact", "max_tokens": 100}
        for at in range(PROMPTS)
    ]
    (folder / "prompts.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    path = folder / "experiment.yaml"
    path.write_text(text)
    return path


def experiment_in(folder: Path, text: str = TEXT) -> tuple[Experiment, Suite]:
    experiment = load_experiment(write_files(folder, text), environ={}, shown_as="experiment.yaml")
    return experiment, load(experiment.suite)


def course(world: FakeWorld, text: str = TEXT, **choices: Any) -> Course:
    experiment, suite = experiment_in(world.folder, text)
    return Course(experiment, world, world.folder / ".fwctl", suite, Choices(**choices))


def run(world: FakeWorld, text: str = TEXT, **choices: Any) -> Any:
    """One `experiment run`, to its end; the state it leaves."""
    found = course(world, text, **choices)
    found.prepare()
    return found.go()


def own_rows() -> Sequence[Mapping[str, Any]]:
    """Deployments that no experiment may touch: the stack's own, one of nobody, another stack's."""
    return [
        row("chat", description="[fwctl prod/chat]"),
        row("plain"),
        row("other", description="[fwctl dev/shapes--fp8 exp=20261130T1100Z]"),
    ]
