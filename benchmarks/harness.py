"""The error of the measuring client against a server that knows the truth, beside its bar.

1. Poisson 30 requests/s of 200-token streams at 100 tokens/s, about 60 streams.
2. The same load by a minimal aiohttp + uvloop client: what a chunk costs at least.
3. About 400 streams at 50 tokens/s.
4. With `--peer NAME=EXECUTABLE`, other tools on the same server (`benchmarks/peers.py` says which).

The clients are pinned to one core where the system can do that, and the server to another. `--realtime`
gives both a real-time priority (needs root), so that other programs of a busy machine are not measured.
Run: `python -m benchmarks.harness`.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from statistics import median
from typing import Any

from benchmarks.peers import HEAD, line, measure_peers, truth_ms
from fwctl.env import SystemClock
from fwctl.measure.selftest import Pace, measure, paced_server
from fwctl.process import run

PACE = Pace(requests=600, rate_per_s=30.0, tokens=200, ttft_s=0.1, gap_s=0.01)
MANY = Pace(requests=1500, rate_per_s=100.0, tokens=200, ttft_s=0.1, gap_s=0.02)
TURN = Pace(requests=300, rate_per_s=30.0, tokens=200, ttft_s=0.1, gap_s=0.01)
ROUNDS = 5
BARS_MS = {"p95": 2.0, "p99": 3.0}
MANY_BAR_MS = 6.0
CPU_BAR = 1.3
REALTIME = 20


def main(argv: Sequence[str] = ()) -> int:
    """0 when the bars hold on this machine, 1 when not."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.harness")
    parser.add_argument("--realtime", action="store_true", help="real-time priority; needs root")
    parser.add_argument("--peer", action="append", default=[], metavar="NAME=EXECUTABLE", help="other tool")
    options = parser.parse_args(argv)
    if options.realtime:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(REALTIME))
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server = cores[0] if len(cores) > 1 else None
    if server is not None:
        os.sched_setaffinity(0, cores[-1:])
    pinned = "pinned to one core" if server is not None else "not pinned"
    print(f"clients {pinned}; load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    with paced_server(os.environ, server) as url:
        held = [_ours(url, PACE, BARS_MS), _cpu(url), _ours(url, MANY, {"p95": MANY_BAR_MS})]
        if options.peer:
            _beside(url, options.peer, cores)
    return 0 if all(held) else 1


def _ours(url: str, pace: Pace, bars_ms: dict[str, float]) -> bool:
    """Whether the bars hold."""
    found = measure(url, SystemClock(), pace)
    streams = pace.rate_per_s * (pace.ttft_s + pace.tokens * pace.gap_s)
    print(f"\nfwctl, about {streams:.0f} streams, {found['requests']} requests")
    for name in ("ttft_error_ms", "last_chunk_error_ms", "dispatch_lag_ms", "event_loop_lag_ms"):
        print(f"  {name:22}" + "".join(f"{q} {value:8.3f}  " for q, value in found[name].items()))
    print(f"  {found['events_per_s']} events/s, {found['cpu_us_per_event']} us of CPU each")
    for name, bar in bars_ms.items():
        print(f"  TTFT error {name}: {found['ttft_error_ms'][name]} ms, bar {bar} ms")
    return all(abs(found["ttft_error_ms"][name]) <= bar for name, bar in bars_ms.items())


def _beside(url: str, peers: Sequence[str], cores: Sequence[int]) -> None:
    """What each tool reports as TTFT in milliseconds, beside what the server saw in the same time."""
    truth_ms(url)
    found = measure(url, SystemClock(), TURN)["ttft_ms"]
    print(f"\nTTFT in ms that is reported, beside what the server saw\n{HEAD}")
    print(line("fwctl", "Poisson 30/s", (found["p50"], found["p95"]), truth_ms(url)), flush=True)
    measure_peers(url, peers, cores)


def _cpu(url: str) -> bool:
    """Whether fwctl stays close to the least that such a client takes; the two take turns, because what
    else the machine does changes the price of a chunk."""
    ours, least = [], []
    for _ in range(ROUNDS):
        ours.append(measure(url, SystemClock(), TURN)["cpu_us_per_event"])
        found = _minimal(url)
        least.append(found["cpu_us_per_event"])
    errors = "".join(f"{q} {value:8.3f}  " for q, value in found["ttft_error_ms"].items())
    print(f"\nminimal aiohttp + uvloop client, about 63 streams\n  {'ttft_error_ms':22}{errors}")
    ratio = median(mine / other for mine, other in zip(ours, least, strict=True))
    print(f"  CPU of an event in turns, us: fwctl {ours}, minimal {least}")
    print(f"  fwctl takes {ratio:.2f} x, bar {CPU_BAR} x")
    return ratio <= CPU_BAR


def _minimal(url: str) -> dict[str, Any]:
    numbers = (TURN.requests, TURN.rate_per_s, TURN.tokens, TURN.ttft_s, TURN.gap_s)
    argv = [sys.executable, "-m", "benchmarks.minimal_client", url, *map(str, numbers)]
    ended = run(argv, env=os.environ, deadline_s=300)
    if ended.returncode:
        raise SystemExit(ended.stderr)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
