"""The error of the measuring client against a server that knows the truth, beside its bar.

Poisson 30 requests/s of 200-token streams at 100 tokens/s, about 60 streams; the client is pinned to one
core where the system can do that, and the server to another. Run: `python -m benchmarks.harness`.
"""

from __future__ import annotations

import os

from fwctl.env import SystemClock
from fwctl.measure.selftest import Pace, selftest

BARS_MS = {"p95": 2.0, "p99": 3.0}
PACE = Pace(requests=600, rate_per_s=30.0, tokens=200, ttft_s=0.1, gap_s=0.01)


def main() -> int:
    """0 when the bars hold on this machine, 1 when not."""
    cores = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []
    server = cores[0] if len(cores) > 1 else None
    if server is not None:
        os.sched_setaffinity(0, cores[-1:])
    found = selftest(os.environ, SystemClock(), PACE, server)
    pinned = "pinned to one core" if server is not None else "not pinned"
    print(f"{found['requests']} requests, {found['events_per_s']} events/s, client {pinned}")
    print(f"CPU per event: {found['cpu_us_per_event']} us")
    held = True
    for name, bar in BARS_MS.items():
        value = found["ttft_error_ms"][name]
        held = held and abs(value) <= bar
        print(f"TTFT error {name}: {value} ms, bar {bar} ms")
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0 if held else 1


if __name__ == "__main__":
    raise SystemExit(main())
