"""How wrong the harness itself is on this machine, measured against a server that knows the truth."""

from __future__ import annotations

import json
import socket
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPConnection, HTTPException
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fwctl.env import Clock
from fwctl.errors import FwctlError
from fwctl.measure import run as runs
from fwctl.measure.plan import Shape
from fwctl.measure.suite import load
from fwctl.measure.target import Target
from fwctl.process import Running
from fwctl.stats.quantiles import quantile

START_S = 30.0


@dataclass(frozen=True, slots=True)
class Pace:
    """The load of the self-test: Poisson arrivals of streams with a fixed pace."""

    requests: int = 90
    rate_per_s: float = 15.0
    tokens: int = 100
    ttft_s: float = 0.1
    gap_s: float = 0.01


def selftest(
    environ: Mapping[str, str], clock: Clock, pace: Pace | None = None, server_core: int | None = None
) -> dict[str, Any]:
    """Error figures: client minus server, in milliseconds, at p50/p95/p99; CPU and rate of events.

    The server is a process of its own and both share CLOCK_MONOTONIC; `server_core`
    pins it, where the system can do that. Raises FwctlError when it fails.
    """
    pace = pace or Pace()
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener, TemporaryDirectory() as folder:
        port, fd = listener.getsockname()[1], listener.fileno()
        argv = [sys.executable, "-m", "fwctl.measure.paced_server", str(fd)]
        argv += [] if server_core is None else [str(server_core)]
        with Running(argv, env=environ, input_fds=(fd,)):
            _await_server(port)
            return _measure(f"http://127.0.0.1:{port}", Path(folder), pace, clock)


def _await_server(port: int) -> None:
    """One request by other means, so that the start of the child is not measured."""
    connection = HTTPConnection("127.0.0.1", port, timeout=START_S)
    try:
        connection.request("POST", "/", json.dumps({"max_tokens": 1, "ttft_s": 0, "gap_s": 0}))
        connection.getresponse().read()
    except (OSError, HTTPException):
        raise FwctlError(
            "the server of the self-test did not start",
            next_steps=["run it again on a machine with less load"],
        ) from None
    finally:
        connection.close()


def _measure(url: str, folder: Path, pace: Pace, clock: Clock) -> dict[str, Any]:
    suite = folder / "paced.jsonl"
    body = {"messages": [{"role": "user", "content": "-"}], "max_tokens": pace.tokens}
    suite.write_text(
        "".join(json.dumps({"id": f"p{n}", **body}) + "\n" for n in range(pace.requests)), encoding="utf-8"
    )
    plan = runs.Plan(
        load(suite),
        [Target("paced", url, "paced", extra={"ttft_s": pace.ttft_s, "gap_s": pace.gap_s})],
        Shape(rate_per_s=pace.rate_per_s),
        folder / "out",
        warmup=5,
    )
    cpu, wall = time.process_time(), time.perf_counter()
    summary = runs.run(plan, clock)
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    lines = (folder / "out/records.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [row for row in map(json.loads, lines) if row["error_class"] is None]
    measured = [row for row in rows if row["measured"]]
    if len(measured) < pace.requests:
        raise FwctlError(
            f"only {len(measured)} of {pace.requests} requests of the self-test went well",
            next_steps=["run it again on a machine with less load"],
        )
    events = sum(row["output_tokens"] for row in rows)
    first = [row["ttft_s"] - row["server"]["server-time-to-first-token"] for row in measured]
    last = [row["total_s"] - row["server"]["server-processing-time"] for row in measured]
    return {
        "requests": len(measured),
        "events": events,
        "events_per_s": round(events / wall, 1),
        "ttft_error_ms": _spread(first),
        "last_chunk_error_ms": _spread(last),
        "dispatch_lag_ms": _spread([row["dispatch_lag_s"] for row in measured]),
        "event_loop_lag_p95_ms": round((summary["lags_p95"]["event_loop_lag_s"] or 0.0) * 1000, 3),
        "cpu_us_per_event": round(cpu / events * 1e6, 1),
        "valid": summary["valid"],
        "invalid_reasons": summary["invalid_reasons"],
    }


def _spread(seconds: list[float]) -> dict[str, float]:
    return {f"p{q}": round(quantile(seconds, q / 100) * 1000, 3) for q in (50, 95, 99)}
