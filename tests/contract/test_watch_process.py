"""A day of `fwctl watch` as a process, at 1,000 times the speed: `fwctl sim serve` has the metrics page,
clients send it requests, and `firectl-sim` makes the incidents. Every one is told once, with the right
evidence, and ends once, though the watch is stopped and killed on the way."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest

from tests.cli.support import SPEC
from tests.contract.cli_support import Sandbox
from tests.contract.watch_child import PlatformClock

SPEED = 1000
MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
WITH_LIMITS = (
    SPEC.replace("max: 2", "max: 1").replace(
        "deployments:", "budget: {ceiling_usd_per_hour: 20}\ndeployments:"
    )
    + "    slo: {ttft_p95_ms: 400}\n"
)
WATCH = """\
apiVersion: fwctl/v1
kind: Watch
rules: # a second in which this machine is busy is a quarter of an hour
  max-never-tested: {enabled: false}
  metrics-untrusted: {limit: 1200, hold: 10m, resolve: 10m}
  error-rate: {resolve: 20m}
  slow-first-token: {resolve: 20m}
sinks: [{type: webhook, url: "${env:HOOK_URL}"}]
"""
NOTHING: dict[str, str] = {}


class Told(NamedTuple):
    """What must be told. hour: of the day, when the incident begins or ends; it is told within two."""

    hour: float
    event: str
    rule: str
    label: str
    evidence: str


# A replica that does not come. Which rule tells it depends on whether the stall or the start was a few
# milliseconds earlier: a deployment that is CREATING is stuck, one that is READY lacks what it wants.
WAITS = "stuck or replicas-not-given"


def incident(rule: str) -> str:
    return WAITS if rule in WAITS.split(" or ") else rule


# By hand from `Day`: hold times are ten minutes at most, and a look comes every few minutes.
EXPECTED = [
    Told(1, "fired", "error-rate", "chat", "requests a second fail (503: "),
    Told(3, "resolved", "error-rate", "chat", ""),
    Told(4, "fired", "slow-first-token", "chat", "400"),
    Told(6, "resolved", "slow-first-token", "chat", ""),
    Told(7, "fired", "at-max-replicas", "busy", "2 of at most 2 replicas are ready and 2 are wanted"),
    Told(7, "fired", "over-budget", "acme", "cost $24.00 an hour, $20.00 is the budget"),
    Told(9, "resolved", "at-max-replicas", "busy", ""),
    Told(9, "resolved", "over-budget", "acme", ""),
    Told(11, "fired", WAITS, "late", "1"),
    Told(13, "resolved", WAITS, "late", ""),
    Told(13, "fired", "failed", "late", "its state is FAILED: out of capacity"),
    Told(15, "resolved", "failed", "late", ""),
    Told(16, "fired", "metrics-untrusted", "acme", "cannot be reached"),
    Told(17.5, "resolved", "metrics-untrusted", "acme", ""),
]


@contextmanager
def hook() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """The address of a webhook, and the events it took."""
    taken: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            taken.extend(json.loads(self.rfile.read(int(self.headers["content-length"])))["events"])
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: Any) -> None:
            """Nothing is logged."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/T0P-S3CRET", taken
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


class Clients:
    """Eight clients of `chat`, each with some four requests a second. headers: of every fourth request."""

    def __init__(self, url: str) -> None:
        self.url, self.headers, self.every = url, NOTHING, 4
        self._stop = threading.Event()
        self._pool = ThreadPoolExecutor(8)
        self._done = [self._pool.submit(self._run) for _ in range(8)]

    def _run(self) -> None:
        body = {"model": "accounts/acme/deployments/chat", "messages": [{"role": "user", "content": "Hi."}]}
        count = 0
        with httpx.Client(headers={"authorization": "Bearer fw_test"}, timeout=5) as client:
            while not self._stop.wait(0.25):
                count += 1
                own = self.headers if count % self.every == 0 else NOTHING
                with suppress(httpx.HTTPError):
                    client.post(f"{self.url}/inference/v1/chat/completions", json=body, headers=own)

    def end(self) -> None:
        self._stop.set()
        self._pool.shutdown()
        for done in self._done:
            done.result()


class Day:
    """The watch, the platform, and the script of the day."""

    def __init__(self, folder: Path, hook_url: str) -> None:
        self.box = Sandbox(
            folder,
            FIRECTL_SIM_SPEED=str(SPEED),
            FIRECTL_SIM_METRICS_CLOCK="platform",
            FIRECTL_SIM_METRICS_WINDOW_S="0.5",
            FIRECTL_SIM_METRICS_REFRESH_S="0",
            FIRECTL_SIM_METRICS_PER_MINUTE="1000000",
            FIRECTL_SIM_TTFT_MS="20",
            FIRECTL_SIM_OUTPUT_TOKENS="3",
            HOOK_URL=hook_url,
            METRICS_KEY="fw_test",
        )
        self.box.write(WITH_LIMITS)
        self.box.write(WATCH, "watch.yaml")
        self.out = (folder / "events.jsonl").open("wb")
        self.err = (folder / "stderr.txt").open("wb")
        self.port = "0"
        self.serve()
        self.deploy("chat", "1")
        self.deploy("busy", "2")
        self.clock = PlatformClock(folder / "sim")
        self.box.firectl("deployment", "get", "chat")
        self.clients = Clients(self.url)

    def serve(self) -> None:
        command = [sys.executable, "-m", "fwctl", "sim", "serve", "--port", self.port]
        folder, environ = self.box.folder, self.box.environ
        self.server = subprocess.Popen(
            command, cwd=folder, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        assert self.server.stdout is not None
        self.url = self.server.stdout.readline().strip()
        self.port = self.url.rsplit(":", 1)[1]

    def deploy(self, name: str, most: str) -> None:
        self.firectl(
            *("deployment", "create", MODEL, "--deployment-id", name, "--region", "US"),
            *("--deployment-shape", "fast", "--min-replica-count", "1", "--max-replica-count", most),
        )

    def firectl(self, *words: str) -> None:
        done = self.box.firectl(*words)
        assert done.code == 0, done.err

    def watch(self) -> None:
        """Start the watch; its output goes on where the last one's ended."""
        command = [
            *(sys.executable, "-m", "tests.contract.watch_child", "watch", "configs", "--format", "events"),
            *("--config", "watch.yaml", "--metrics-key-env", "METRICS_KEY"),
            *("--metrics-url", f"{self.url}/v1/accounts/acme/metrics"),
        ]
        self.process = subprocess.Popen(
            command, cwd=self.box.folder, env=self.box.environ, stdout=self.out, stderr=self.err
        )

    def until(self, hour: float) -> None:
        """Let the day go on to this hour; the watch must live."""
        left_s = (self.start + timedelta(hours=hour) - self.clock.now()).total_seconds() / SPEED
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.01, left_s))
            raise AssertionError("the watch ended by itself")

    def end_watch(self, number: signal.Signals) -> int:
        self.process.send_signal(number)
        return self.process.wait(20)

    def live(self) -> None:
        self.start = self.clock.now()
        self.watch()
        self.until(1)
        self.clients.headers = {"x-sim-fault": "status;status=503"}
        self.until(3)
        self.clients.headers = NOTHING
        self.until(4)
        self.clients.headers = {"x-sim-ttft-ms": "600"}
        self.until(6)
        self.clients.headers = NOTHING
        self.until(7)
        self.firectl("sim", "traffic", "busy", "--concurrency", "200")  # more than two replicas carry
        self.until(8.9)
        assert self.end_watch(signal.SIGTERM) == 143
        self.watch()
        self.until(9)
        self.firectl("sim", "traffic", "busy", "--concurrency", "0")
        self.until(11)
        self.deploy("late", "1")
        self.firectl("sim", "stall", "late")  # no replica comes
        self.until(13)
        self.firectl("sim", "fail", "late", "--message", "out of capacity")
        self.until(14.9)
        assert self.end_watch(signal.SIGKILL) == -signal.SIGKILL
        self.watch()
        self.until(15)
        self.firectl("deployment", "delete", "late", "--ignore-checks")
        self.until(16)
        self.server.kill()
        self.server.communicate()
        self.until(17.5)
        self.serve()
        self.until(24)
        assert self.end_watch(signal.SIGINT) == 130

    def close(self) -> None:
        self.clients.end()
        for process in (self.process, self.server):
            if process.poll() is None:
                process.kill()
            process.wait()
        assert self.server.stdout is not None
        self.server.stdout.close()
        self.out.close()
        self.err.close()

    def read(self, name: str) -> str:
        return (self.box.folder / name).read_text()


@pytest.mark.deep
def test_a_process_tells_each_incident_of_a_fast_day_once(tmp_path: Path) -> None:
    with hook() as (url, taken):
        day = Day(tmp_path, url)
        try:
            day.live()
        finally:
            day.close()
    lines = [json.loads(line) for line in day.read("events.jsonl").splitlines()]
    events = [row for row in lines if "rule" in row]
    told = [(row["event"], incident(row["rule"]), row["label"]) for row in events]
    expected = [(row.event, row.rule, row.label) for row in EXPECTED]
    assert sorted(told) == sorted(expected), day.read("events.jsonl") + day.read("stderr.txt")
    for row in EXPECTED:
        event = events[told.index((row.event, row.rule, row.label))]
        hours = (datetime.fromisoformat(event["at"]) - day.start.astimezone(UTC)) / timedelta(hours=1)
        assert row.hour <= hours < row.hour + 2, event
        assert row.evidence in event["evidence"], event
    assert taken == events
    everything = day.read("stderr.txt") + day.read("events.jsonl")
    assert "S3CRET" not in everything
    assert "fw_test" not in everything
