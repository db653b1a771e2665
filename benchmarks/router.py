"""What the fallback router adds: time to first token, and CPU per chunk beside a bare pass-through.

A server writes one chunk a token at a fixed pace (TTFT 100 ms, one each 10 ms, 200 tokens, 230 bytes). The
proxy has one core to itself; server and client share the other. Each way is measured in every round, so
that a busy machine is busy for all; other work can only add time, so the quietest round counts.
Run: `python -m benchmarks.router [--litellm PATH/TO/litellm]`.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import aiohttp
import uvloop

from fwctl.stats.quantiles import quantile

TTFT_S, GAP_S, TOKENS = 0.1, 0.01, 200
BODY = {"model": "chat", "stream": True, "ttft_s": TTFT_S, "gap_s": GAP_S, "max_tokens": TOKENS}
BODY |= {"messages": [{"role": "user", "content": "Say hello."}]}
ROUNDS = 8
ALONE = 400
WAVES = 1  # requests of each stream in a round
# streams -> bar for what is added to the p50, and to the p95 where there is one, in ms
BARS_MS = {16: (0.8, None), 64: (2.5, 4.0)}
CPU_BAR = 1.3
LITELLM_BAR = 15.0
ROUTES = """\
apiVersion: fwctl/v1
kind: Routes
routes:
  chat:
    targets:
      - {{name: first, base_url: "{url}", model: paced}}
      - {{name: second, base_url: "http://127.0.0.1:9/v1", model: paced}}
"""
LITELLM = """\
model_list:
  - model_name: chat
    litellm_params: {{model: openai/paced, api_base: "{url}", api_key: none}}
"""


def cores() -> tuple[int | None, int | None]:
    """The core of the proxy and the core of everything else, None where processes cannot be pinned."""
    if not hasattr(os, "sched_getaffinity"):
        return None, None
    found = sorted(os.sched_getaffinity(0))
    return (found[1], found[0]) if len(found) > 1 else (None, None)


def pin(pid: int, core: int | None) -> None:
    if core is not None:
        os.sched_setaffinity(pid, {core})


def cpu_s(pid: int) -> float:
    """User and system time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@contextmanager
def child(argv: list[str], core: int | None, **kwargs: object) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(argv, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **kwargs)  # type: ignore[call-overload]
    pin(process.pid, core)
    try:
        yield process
    finally:
        process.terminate()
        process.wait()


@contextmanager
def paced_server(core: int | None) -> Iterator[str]:
    with socket.create_server(("127.0.0.1", 0), backlog=1024) as listener:
        fd = listener.fileno()
        argv = [sys.executable, "-m", "fwctl.measure.paced_server", str(fd)]
        with child(argv, core, pass_fds=(fd,)):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}/v1"


async def one(
    session: aiohttp.ClientSession, url: str, first: list[float], body: dict[str, object] = BODY
) -> None:
    """One stream; the time to the first read that holds a token."""
    started = time.perf_counter()
    async with session.post(f"{url}/chat/completions", json=body) as response:
        seen = False
        async for chunk in response.content.iter_any():
            if not seen and b'"content":' in chunk:
                first.append(time.perf_counter() - started)
                seen = True


async def load(url: str, streams: int) -> list[float]:
    first: list[float] = []
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def worker(at: int) -> None:
            # Spread over one gap, so that a round is no burst of simultaneous starts.
            await asyncio.sleep(at / streams * (TTFT_S + TOKENS * GAP_S))
            for _ in range(WAVES):
                await one(session, url, first)

        await asyncio.gather(*(worker(at) for at in range(streams)))
    return first


async def alone(url: str) -> list[float]:
    """Short streams, one after the other."""
    first: list[float] = []
    async with aiohttp.ClientSession() as session:
        for _ in range(ALONE):
            await one(session, url, first, BODY | {"ttft_s": 0.003, "max_tokens": 2, "gap_s": 0.0005})
    return sorted(first)


def measured(url: str, streams: int, pid: int | None) -> tuple[list[float], float]:
    """First-token times, and CPU microseconds of the process per chunk."""
    before = cpu_s(pid) if pid else 0.0
    first = uvloop.run(load(url, streams))
    used = cpu_s(pid) - before if pid else 0.0
    return first, used * 1e6 / (streams * WAVES * (TOKENS + 1))


def ready(url: str, deadline_s: float = 150.0) -> None:
    """Wait until a proxy answers."""
    until = time.monotonic() + deadline_s
    while time.monotonic() < until:
        try:
            uvloop.run(load_one(url))
            return
        except aiohttp.ClientError:
            time.sleep(0.5)
    raise SystemExit(f"{url} does not answer")


async def load_one(url: str) -> None:
    async with aiohttp.ClientSession(raise_for_status=True) as session:
        await one(session, url, [])


def start(
    stack: ExitStack, server: str, core: int | None, litellm: str | None
) -> dict[str, tuple[str, int | None]]:
    """Name of each way -> its URL and the process whose CPU counts."""
    folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
    ways: dict[str, tuple[str, int | None]] = {"direct": (server, None)}
    argv = [sys.executable, "-m", "benchmarks.passthrough", f"{server}/chat/completions"]
    thin = stack.enter_context(child(argv, core))
    (folder / "routes.yaml").write_text(ROUTES.format(url=server))
    argv = [
        sys.executable,
        "-m",
        "fwctl",
        "route",
        "serve",
        "--config",
        str(folder / "routes.yaml"),
        "--port",
        "0",
    ]
    own = stack.enter_context(child(argv, core))
    for name, process in (("pass-through", thin), ("fwctl", own)):
        assert process.stdout is not None
        ways[name] = (process.stdout.readline().strip(), process.pid)
    if litellm:
        (folder / "litellm.yaml").write_text(LITELLM.format(url=server))
        argv = [litellm, "--config", str(folder / "litellm.yaml"), "--port", "4999", "--host", "127.0.0.1"]
        quiet = {**os.environ, "LITELLM_LOCAL_MODEL_COST_MAP": "True", "LITELLM_TELEMETRY": "False"}
        quiet["LITELLM_DANGEROUSLY_PERMIT_WEAK_OR_UNSET_MASTER_KEY"] = "true"  # one test on this machine
        process = stack.enter_context(child(argv, core, env=quiet))
        ready("http://127.0.0.1:4999/v1")
        ways["litellm"] = ("http://127.0.0.1:4999/v1", process.pid)
    return ways


def main() -> int:
    """0 when the bars hold on this machine, 1 when not."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--litellm", help="the litellm program of an environment of its own")
    litellm = parser.parse_args().litellm
    proxy_core, other_core = cores()
    pin(0, other_core)
    held = True
    with ExitStack() as stack:
        server = stack.enter_context(paced_server(other_core))
        ways = start(stack, server, proxy_core, litellm)
        for url, _pid in ways.values():
            uvloop.run(load(url, 4))
        fastest = {
            name: 1e3 * min(uvloop.run(alone(ways[name][0]))[0] for _ in range(4))
            for name in ("direct", "pass-through", "fwctl")
        }
        print("one stream at a time, fastest of all")
        for name in ("pass-through", "fwctl"):
            print(f"  TTFT added by {name}: {fastest[name] - fastest['direct']:.2f} ms")
        for streams, bars in BARS_MS.items():
            held = report(ways, streams, bars) and held
    print(f"load of the machine: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores")
    return 0 if held else 1


def report(ways: dict[str, tuple[str, int | None]], streams: int, bars: tuple[float, float | None]) -> bool:
    """Measure every way in turn, several times, and print it beside the bars."""
    firsts: dict[str, list[list[float]]] = {name: [] for name in ways}
    costs: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, (url, pid) in ways.items():
            if name == "litellm" and costs[name]:
                continue  # one round of it takes longer than all others together
            first, cost = measured(url, streams, pid)
            firsts[name].append(first)
            costs[name].append(cost)
    print(f"\n{streams} streams, the quietest of {ROUNDS} rounds")
    best = {
        name: [min(1e3 * quantile(first, q) for first in rounds) for q in (0.5, 0.95)]
        for name, rounds in firsts.items()
        if rounds
    }
    for name, (p50, p95) in best.items():
        cost = f"{statistics.median(costs[name]):6.1f} us/chunk" if name != "direct" else ""
        print(f"  {name:13} TTFT p50 {p50:8.2f} ms  p95 {p95:8.2f} ms  {cost}")
    held = True
    for at, (name, bar) in enumerate(zip(("p50", "p95"), bars, strict=True)):
        added = best["fwctl"][at] - best["direct"][at]
        bare = best["pass-through"][at] - best["direct"][at]
        shown = f", bar {bar} ms" if bar is not None else ""
        print(f"  TTFT added {name}: {added:.2f} ms{shown}; by the pass-through: {bare:.2f} ms")
        held = held and (bar is None or added <= bar)
    ratio = statistics.median(a / b for a, b in zip(costs["fwctl"], costs["pass-through"], strict=True))
    print(f"  CPU per chunk: {ratio:.2f} x the pass-through, bar {CPU_BAR} x")
    held = held and ratio <= CPU_BAR
    if costs.get("litellm"):
        times = statistics.median(costs["litellm"]) / statistics.median(costs["fwctl"])
        print(f"  CPU per chunk: {times:.1f} times less than LiteLLM, bar {LITELLM_BAR:.0f}")
        held = held and times >= LITELLM_BAR
    return held


if __name__ == "__main__":
    raise SystemExit(main())
