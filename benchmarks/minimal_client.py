"""The least that an aiohttp + uvloop client can do: read, split, parse, stamp. A yardstick for CPU.

`python -m benchmarks.minimal_client URL REQUESTS RATE TOKENS TTFT_S GAP_S` prints one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
import time
from typing import Any

import aiohttp
import orjson
import uvloop


async def one(session: aiohttp.ClientSession, url: str, body: dict[str, Any]) -> dict[str, Any]:
    """One stream; times on time.monotonic()."""
    sent = time.monotonic()
    first, events, rest, metrics = 0.0, 0, b"", {}
    async with session.post(url, json=body) as response:
        async for chunk in response.content.iter_any():
            at = time.monotonic()
            *blocks, rest = (rest + chunk).split(b"\n\n")
            for block in blocks:
                if block == b"data: [DONE]":
                    continue
                payload = orjson.loads(block[6:])
                if payload["choices"][0]["delta"].get("content"):
                    events += 1
                    first = first or at
                metrics = payload.get("perf_metrics", metrics)
    return {"ttft_s": first - sent, "server": metrics, "events": events}


async def load(argv: list[str]) -> dict[str, Any]:
    """Poisson arrivals until all requests are done."""
    url, (count, rate, tokens, ttft, gap) = argv[0], map(float, argv[1:])
    body = {"model": "m", "stream": True, "max_tokens": int(tokens), "ttft_s": ttft, "gap_s": gap}
    arrivals = random.Random(1)
    tasks = []
    async with aiohttp.ClientSession(
        connector=aiohttp.TCPConnector(limit=0), timeout=aiohttp.ClientTimeout(total=None)
    ) as session:
        cpu, due = time.process_time(), time.monotonic()
        for _ in range(int(count)):
            while (wait := due - time.monotonic()) > 0:
                await asyncio.sleep(wait)
            tasks.append(asyncio.create_task(one(session, url + "/chat/completions", body)))
            due += arrivals.expovariate(rate)
        rows = await asyncio.gather(*tasks)
        cpu = time.process_time() - cpu
    errors = sorted(row["ttft_s"] - row["server"]["server-time-to-first-token"] for row in rows)
    events = sum(row["events"] for row in rows)
    spread = {f"p{q}": round(errors[int((len(errors) - 1) * q / 100)] * 1000, 3) for q in (50, 95, 99)}
    return {"events": events, "cpu_us_per_event": round(cpu / events * 1e6, 1), "ttft_error_ms": spread}


if __name__ == "__main__":
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        print(json.dumps(runner.run(load(sys.argv[1:]))))
