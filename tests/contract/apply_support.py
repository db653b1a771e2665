"""One apply after another against the simulator, each call a real child process."""

from __future__ import annotations

import io
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fwctl.applying.model import ApplyOptions, ApplyResult
from fwctl.applying.run import apply
from fwctl.catalog.prices import published
from fwctl.env import Env, SystemClock
from fwctl.firectl.client import Firectl
from fwctl.firectl.retry import RetryPolicy
from fwctl.live.reader import read_live
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.redact import Secret
from fwctl.spec.model import Deployment, Spec

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
FAST = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
BF16 = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-bf16"
OTHER_MODEL = "accounts/fireworks/models/qwen2p5-7b-instruct"
OTHER_SHAPE = "accounts/fireworks/deploymentShapes/qwen2p5-7b-instruct-fast"
SIMULATOR = [sys.executable, "-m", "fwctl.simulator"]
ROOT = Path(__file__).parents[2]


def values(**extra: Any) -> dict[str, Any]:
    """Managed fields of one deployment; two underscores stand for a dot, None takes a field out."""
    base: dict[str, Any] = {
        "model": MODEL,
        "shape": FAST,
        "region": "US",
        "replicas.min": 1,
        "replicas.max": 1,
    }
    merged = {**base, **{key.replace("__", "."): value for key, value in extra.items()}}
    return {key: value for key, value in merged.items() if value is not None}


def entry(name: str, fields: Mapping[str, Any] | None = None, **own: Any) -> Deployment:
    return Deployment(name, name, dict(fields or values()), {k.replace("__", "."): v for k, v in own.items()})


def spec(*entries: Deployment) -> Spec:
    return Spec("acme", "prod", {item.name: item for item in entries})


@dataclass
class Cell:
    """A working folder and a simulated platform of its own."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    events: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "FIRECTL_SIM_HOME": str(self.folder / "sim"),
            "FIRECTL_SIM_SPEED": "100000",
            "FIREWORKS_API_KEY": "fw_test",
            **self.environ,
        }

    def env(self) -> Env:
        stream = io.StringIO()
        return Env(self.environ, self.folder, stream, stream, stream, SystemClock())

    def firectl(self, timeout_s: float = 20.0, command: Sequence[str] = SIMULATOR) -> Firectl:
        from fwctl.firectl.runner import Runner

        runner = Runner(command, "acme", self.env(), timeout_s)
        return Firectl(runner, retry=RetryPolicy(attempts=4, first_s=0.01))

    def sim(self, *words: str) -> str:
        """One call of the simulator itself."""
        done = subprocess.run(
            [*SIMULATOR, *words],
            env=self.environ,
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def fault(self, **rule: Any) -> None:
        rules = self.folder / "faults.json"
        before = json.loads(rules.read_text()) if rules.exists() else []
        rules.write_text(json.dumps([*before, rule]))
        self.environ["FIRECTL_SIM_FAULTS"] = str(rules)

    def no_faults(self) -> None:
        self.environ.pop("FIRECTL_SIM_FAULTS", None)

    def forget(self) -> None:
        """What another machine, or a runner that keeps no files, starts from."""
        shutil.rmtree(self.folder / ".fwctl", ignore_errors=True)

    def plan(self, wanted: Spec, firectl: Firectl | None = None, **options: Any) -> Plan:
        client = firectl or self.firectl()
        live = read_live(client, wanted, client.capabilities)
        names = tuple(wanted.deployments)
        choices = PlanOptions(**{"allow_delete": names, "allow_traffic_loss": (), **options})
        now = SystemClock().now()
        return make_plan(
            wanted, live, caps=client.capabilities, options=choices, prices=published(now.date()), now=now
        )

    def apply(self, wanted: Spec, planned: Plan | None = None, **options: Any) -> ApplyResult:
        timeout_s = options.pop("timeout_s", 20.0)
        plan_options = options.pop("plan_options", {})
        client = self.firectl(timeout_s)
        planned = planned or self.plan(wanted, client, **plan_options)
        chosen = apply_options(self.folder, **options)
        return apply(
            planned, spec=wanted, firectl=client, env=self.env(), options=chosen, on_event=self.events.append
        )

    def state(self) -> dict[str, Any]:
        """What two runs must agree on: everything but times, names of people and counters."""
        rows = json.loads(self.sim("deployment", "list", "-a", "acme", "-o", "json") or "[]")
        return {row["name"].rsplit("/", 1)[-1]: stable(row) for row in rows}


VOLATILE = ("time", "created_by", "replica", "status", "etag", "handle")


def stable(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"min_replica_count", "max_replica_count"}
    return {key: value for key, value in row.items() if key in kept or not any(v in key for v in VOLATILE)}


def apply_options(folder: Path, **options: Any) -> ApplyOptions:
    quick = {"poll_interval_s": 0.05, "wait_timeout_s": 30.0, "drain_s": 0.0}
    return ApplyOptions(folder=folder / ".fwctl", **{**quick, **options})


def secret(name: str, value: str) -> Secret:
    return Secret(f"${{env:{name}}}", value)


Crash = Callable[[str], None]
