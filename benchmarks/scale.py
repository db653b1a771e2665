"""How validate and plan grow, and how often a plan calls firectl.

    python -m benchmarks.scale
    python -m benchmarks.scale 100000    only this size: times and memory

Bars: 1,000 deployments validate in at most 1.0 s beyond start-up and plan in at most 1.0 s of fwctl's own
CPU time; 10,000 take at most 12 times the time of 1,000. A plan calls firectl for the pages of the
list, once for each distinct shape and model, and for the fixed reads, whatever the number of deployments.
Exit 1 when a bar is missed.
"""

from __future__ import annotations

import json
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from fwctl.catalog.prices import published
from fwctl.collector import collector_paused
from fwctl.env import SystemClock
from fwctl.firectl.capabilities import Capabilities
from fwctl.live.model import LiveState
from fwctl.live.normalise import normalise_deployment
from fwctl.planning.document import plan_to_json
from fwctl.planning.engine import make_plan
from fwctl.planning.options import PlanOptions
from fwctl.spec.load import load

MODEL = "accounts/fireworks/models/llama-v3p1-8b-instruct"
SHAPE = "accounts/fireworks/deploymentShapes/llama-v3p1-8b-instruct-fast"
ENTRY = """\
  d{number:05}:
    model: {model}
    shape: {shape}
    accelerator: {{type: NVIDIA_H100_80GB, count: 1}}
    precision: FP8
    region: US
    replicas: {{min: 0, max: 1}}
    traffic: batch
"""
SECONDS_BAR, GROWTH_BAR = 1.0, 12.0
PER_FILE = 10_000  # a spec file holds at most 16 MiB
SIZES = (100, 1_000, 10_000)
# version, whoami, quotas, routers, reservations; help pages are read once for each build and then kept.
FIXED_READS = 5


def spec_text(count: int, first: int = 0) -> str:
    entries = "".join(ENTRY.format(number=first + n, model=MODEL, shape=SHAPE) for n in range(count))
    return f"apiVersion: fwctl/v1\naccount: acme\nstack: bench\ndeployments:\n{entries}"


def validate_s(*paths: Path) -> float:
    start = time.process_time()
    loaded = load(paths, environ={})
    assert loaded.spec is not None
    return time.process_time() - start


def raw(number: int) -> dict[str, object]:
    """A deployment as `-o json` tells it, equal to the spec but for its ceiling."""
    return {
        "name": f"accounts/acme/deployments/d{number:05}",
        "base_model": MODEL,
        "deployment_shape": f"{SHAPE}/versions/v1",
        "accelerator_type": "NVIDIA_H100_80GB",
        "accelerator_count": 1,
        "precision": "FP8",
        "placement": {"multi_region": "US"},
        "max_replica_count": 2,
        "state": "READY",
        "description": f"[fwctl bench/d{number:05}]",
    }


def plan_s(count: int, *paths: Path) -> float:
    """Normalising live state, planning and the JSON document; every deployment changes."""
    spec = load(paths, environ={}).spec
    assert spec is not None
    rows = json.loads(json.dumps([raw(number) for number in range(count)]))
    start = time.process_time()
    with collector_paused():
        live = [normalise_deployment(row) for row in rows]
        state = LiveState(account="acme", deployments={item.deployment_id: item for item in live})
        now = SystemClock().now()
        plan = make_plan(
            spec,
            state,
            caps=Capabilities("1.8.9"),
            options=PlanOptions(),
            prices=published(now.date()),
            now=now,
        )
        json.dumps(plan_to_json(plan))
    return time.process_time() - start


def firectl_calls(folder: Path, count: int) -> int:
    """Calls of one `fwctl plan` on the simulator; the help pages are known already."""
    folder.mkdir()
    (folder / "spec.yaml").write_text(spec_text(count))
    environ = {
        **os.environ,
        "FWCTL_FIRECTL": "sim",
        "FIRECTL_SIM_HOME": str(folder / "sim"),
        "XDG_CACHE_HOME": str(folder / "cache"),
    }

    def run(*words: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=folder,
            env=environ,
            capture_output=True,
            text=True,
            check=False,
        )
        return done.stdout

    run("fwctl", "doctor")
    before = int(run("fwctl.simulator", "calls", "count"))
    run("fwctl", "plan", "spec.yaml", "--format", "json")
    return int(run("fwctl.simulator", "calls", "count")) - before


def one_size(count: int) -> None:
    """Times of one size and the peak memory of a process that does nothing else."""
    with tempfile.TemporaryDirectory() as name:
        paths = [Path(name) / f"{first}.yaml" for first in range(0, count, PER_FILE)]
        for number, path in enumerate(paths):
            path.write_text(spec_text(min(PER_FILE, count), number * PER_FILE))
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        validated, planned = validate_s(*paths), plan_s(count, *paths)
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"{count:,} deployments: validate {validated:.2f} s, plan {planned:.2f} s of CPU, "
        f"{(peak - before) / 1024:.0f} MiB beyond start-up"
    )


def main() -> int:
    if len(sys.argv) > 1:
        one_size(int(sys.argv[1]))
        return 0
    missed = False
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        times: dict[str, dict[int, float]] = {"validate": {}, "plan": {}}
        for count in SIZES:
            path = folder / f"{count}.yaml"
            path.write_text(spec_text(count))
            times["validate"][count] = min(validate_s(path) for _ in range(3))
            times["plan"][count] = min(plan_s(count, path) for _ in range(3))
        for what, found in times.items():
            growth = found[10_000] / found[1_000]
            fails = found[1_000] > SECONDS_BAR or growth > GROWTH_BAR
            missed = missed or fails
            told = ", ".join(f"{count:,}: {seconds:.2f} s" for count, seconds in found.items())
            print(
                f"{what}: {told}; 10,000 take {growth:.1f} x of 1,000 "
                f"(bars {SECONDS_BAR} s, {GROWTH_BAR:.0f} x): {'MISSED' if fails else 'holds'}"
            )
        few, many = firectl_calls(folder / "few", 2), firectl_calls(folder / "many", 200)
        most = FIXED_READS + 3  # the list, one shape, one model
        fails = few != many or many > most
        missed = missed or fails
        print(
            f"firectl calls of a plan: {few} for 2 deployments, {many} for 200 "
            f"(bar: the same, at most {most}): {'MISSED' if fails else 'holds'}"
        )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
