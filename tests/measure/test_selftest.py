"""The self-test runs a real server process and reports figures of this machine."""

from __future__ import annotations

import json
import os
from urllib.request import urlopen

from fwctl.env import SystemClock
from fwctl.measure.selftest import Pace, paced_server, selftest


def test_the_error_is_small_against_the_paced_server() -> None:
    found = selftest(os.environ, SystemClock(), Pace(requests=10, rate_per_s=50, tokens=5))
    # 10 measured streams of 5 tokens, and 5 of 32 tokens to warm up: 50 + 160.
    assert (found["requests"], found["events"]) == (10, 210)
    assert 0 <= found["ttft_error_ms"]["p50"] < 250


def test_the_paced_server_serves_other_tools_and_tells_them_the_truth() -> None:
    with paced_server(os.environ) as url:
        with urlopen(f"{url}/v1/models") as answer:
            assert json.load(answer)["data"][0]["id"] == "paced"
        body = json.dumps({"model": "paced", "max_completion_tokens": 2, "gap_s": 0}).encode()
        with urlopen(f"{url}/v1/chat/completions", data=body) as answer:
            assert answer.read().count(b'"content"') == 2
        truth = []
        for _ in range(2):
            with urlopen(f"{url}/truth") as answer:
                truth.append(json.load(answer))
    # The request that waits for the server's start, and the one above at the default pace; then nothing.
    assert [len(values) for values in truth] == [2, 0]
    assert truth[0][1] >= 0.1
