"""Wall time of 48 creates at parallelism 8 against a firectl that takes 0.5 s a call.

    python -m benchmarks.apply_wall

Bar: at most 1.25 times the ideal, which is (creates + tag calls) / 8 * 0.5 s plus 0.5 s for each list.
Exit 1 when missed.
"""

from __future__ import annotations

import io
import os
import sys
import tempfile
import time
from datetime import date
from pathlib import Path

from fwctl.applying.model import ApplyOptions
from fwctl.applying.run import apply
from fwctl.catalog.prices import published
from fwctl.env import Env, SystemClock
from fwctl.firectl.capabilities import Capabilities
from fwctl.firectl.client import Firectl
from fwctl.firectl.runner import Runner
from fwctl.live.model import LiveModel, LiveState, ShapeVersion
from fwctl.planning.engine import make_plan
from fwctl.planning.model import Plan
from fwctl.planning.options import PlanOptions
from fwctl.spec.model import Deployment, Spec

COUNT, PARALLEL, CALL_S, BAR = 48, 8, 0.5, 1.25
MODEL = "accounts/fireworks/models/llama"
SHAPE = "accounts/fireworks/deploymentShapes/llama-bf16"
VERSION = f"{SHAPE}/versions/v1"
CAPABILITIES = Capabilities("1.8.9")

# A control plane in a folder: one file a deployment, READY at once.
FIRECTL = f"""#!/bin/sh
sleep {CALL_S}
case "$1 $2" in
"deployment create")
  while [ $# -gt 1 ]; do [ "$1" = --deployment-id ] && id=$2; [ "$1" = --description ] && text=$2; shift; done
  printf '{{"name":"accounts/acme/deployments/%s","state":"READY",' "$id" > "$STATE/.$id"
  printf '"base_model":"{MODEL}","deployment_shape":"{VERSION}",' >> "$STATE/.$id"
  printf '"placement":{{"multi_region":"US"}},"min_replica_count":1,"max_replica_count":1,' >> "$STATE/.$id"
  printf '"replica_stats":{{"ready_replica_count":1}},"description":"%s"}}' "$text" >> "$STATE/.$id"
  mv "$STATE/.$id" "$STATE/$id";;
"deployment list")
  comma=
  printf '['
  for file in "$STATE"/*; do [ -e "$file" ] && printf '%s' "$comma" && cat "$file" && comma=,; done
  printf ']';;
esac
"""


def a_plan(wanted: Spec) -> Plan:
    version = ShapeVersion(VERSION, SHAPE, "v1", True, True, MODEL, "MINIMAL", {"precision": "BF16"})
    live = LiveState(
        account="acme",
        shapes={SHAPE: (version,)},
        models={MODEL: LiveModel(MODEL, "HF_BASE_MODEL", context_length=8192)},
    )
    now = SystemClock().now()
    prices = published(date(2026, 12, 1))
    return make_plan(wanted, live, caps=CAPABILITIES, options=PlanOptions(), prices=prices, now=now)


def main() -> int:
    fields = {"model": MODEL, "shape": SHAPE, "region": "US", "replicas.min": 1, "replicas.max": 1}
    names = [f"d{number:02}" for number in range(COUNT)]
    wanted = Spec("acme", "bench", {name: Deployment(name, name, fields) for name in names})
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        script = place / "firectl"
        script.write_text(FIRECTL)
        script.chmod(0o700)
        (place / "state").mkdir()
        stream = io.StringIO()
        environ = {"PATH": os.environ["PATH"], "TMPDIR": folder, "STATE": str(place / "state")}
        env = Env(environ, place, stream, stream, stream)
        with Runner([str(script)], "acme", env) as runner:
            plan = a_plan(wanted)
            start = time.perf_counter()
            result = apply(
                plan,
                spec=wanted,
                firectl=Firectl(runner, CAPABILITIES),
                env=env,
                options=ApplyOptions(folder=place / ".fwctl", parallelism=PARALLEL),
                on_event=lambda _: None,
            )
            wall_s = time.perf_counter() - start
            lists = runner.calls - 2 * COUNT
    done = sum(item.outcome.value == "done" for item in result.results)
    ideal_s = 2 * COUNT / PARALLEL * CALL_S + lists * CALL_S
    print(f"{done} of {COUNT} done, {lists} list calls")
    print(f"wall {wall_s:.2f} s, ideal {ideal_s:.2f} s, {wall_s / ideal_s:.3f} times (bar {BAR})")
    return 0 if done == COUNT and wall_s <= BAR * ideal_s else 1


if __name__ == "__main__":
    sys.exit(main())
