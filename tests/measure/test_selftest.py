"""The self-test runs a real server process and reports figures of this machine."""

from __future__ import annotations

import os

from fwctl.env import SystemClock
from fwctl.measure.selftest import Pace, selftest


def test_the_error_is_small_against_the_paced_server() -> None:
    found = selftest(os.environ, SystemClock(), Pace(requests=10, rate_per_s=50, tokens=5))
    # 10 measured streams of 5 tokens, and 5 of 32 tokens to warm up: 50 + 160.
    assert (found["requests"], found["events"]) == (10, 210)
    assert 0 <= found["ttft_error_ms"]["p50"] < 250
