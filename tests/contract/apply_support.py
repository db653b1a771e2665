"""One apply after another against the simulator."""

from __future__ import annotations

import io
import json
import os
import shutil
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
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
from fwctl.spec.model import Deployment, Spec
from tests.contract import near_simulator

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


class Serving(BaseHTTPRequestHandler):
    """An inference endpoint that answers 503 to its first `server.refusals` requests, then like a
    deployment (or with `server.body`)."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        server: Any = self.server
        server.refusals -= 1
        status, body = (503, {}) if server.refusals >= 0 else (200, {"choices": [{"text": "1"}]})
        data = server.body if status == 200 and server.body else json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *words: object) -> None:
        pass


@contextmanager
def serving(refusals: int = 0, body: bytes = b"") -> Iterator[str]:
    """The address of an endpoint that answers for every deployment while the block runs."""
    server: Any = ThreadingHTTPServer(("127.0.0.1", 0), Serving)
    server.refusals, server.body = refusals, body
    thread = threading.Thread(target=server.serve_forever, args=(0.02,))
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@dataclass
class Cell:
    """A working folder and a simulated platform of its own.

    children: every call of firectl is a process; otherwise only those that meet faults.
    """

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)  # added to the cell's own
    children: bool = False
    events: list[Mapping[str, Any]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.folder.mkdir(parents=True, exist_ok=True)
        self.environ = {
            "PATH": os.environ.get("PATH", ""),
            "HOME": str(self.folder),
            "TMPDIR": str(self.folder),
            "PYTHONPATH": str(ROOT),
            "FIRECTL_SIM_HOME": str(self.folder / "sim"),
            "FIRECTL_SIM_SPEED": "3000",  # a start-up takes 0.1 s; seven idle days do not pass during a test
            "FIREWORKS_API_KEY": "fw_test",
            **self.environ,
        }

    def env(self) -> Env:
        stream = io.StringIO()
        start = None if self.children else near_simulator.start
        return Env(self.environ, self.folder, stream, stream, stream, SystemClock(), start_firectl=start)

    def firectl(self, timeout_s: float = 20.0, command: Sequence[str] = SIMULATOR) -> Firectl:
        from fwctl.firectl.runner import Runner

        runner = Runner(command, "acme", self.env(), timeout_s)
        return Firectl(runner, retry=RetryPolicy(attempts=4, first_s=0.01))

    def sim(self, *words: str) -> str:
        """One call of the simulator itself."""
        done = near_simulator.start([*SIMULATOR, *words], env=self.environ, cwd=self.folder, deadline_s=60.0)
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
        choices = PlanOptions(**{"allow_delete": tuple(wanted.deployments), **options})
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
        """Deployments when none is on its way out: what two runs must agree on, everything but times,
        people and counters."""
        return self._listed("deployment")

    def everything(self) -> dict[str, Any]:
        """All that an apply can change."""
        return {noun: self._listed(noun) for noun in ("deployment", "router", "deployed-model")}

    def _listed(self, noun: str) -> dict[str, Any]:
        rows = self._rows(noun)
        while any(row.get("state") == "DELETING" for row in rows):
            time.sleep(0.01)
            rows = self._rows(noun)
        return {identity(noun, row): stable(row) for row in rows}

    def _rows(self, noun: str) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = json.loads(self.sim(noun, "list", "-a", "acme", "-o", "json") or "[]")
        return found


def identity(noun: str, row: Mapping[str, Any]) -> str:
    """Deployed models get random names; what they are is a model on a deployment."""
    if noun == "deployed-model":
        return f"{row['model']} on {row['deployment']}"
    return str(row["name"]).rsplit("/", 1)[-1]


VOLATILE = ("name", "time", "created_by", "replica", "status", "etag", "handle")


def stable(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {"min_replica_count", "max_replica_count", "display_name"}
    return {key: value for key, value in row.items() if key in kept or not any(v in key for v in VOLATILE)}


def apply_options(folder: Path, **options: Any) -> ApplyOptions:
    quick = {"poll_interval_s": 0.05, "wait_timeout_s": 30.0, "retry_pause_s": 0.0, "drain_s": 0.0}
    return ApplyOptions(folder=folder / ".fwctl", **{**quick, **options})
