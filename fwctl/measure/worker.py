"""A process that makes a part of the load: `python -m fwctl.measure.worker FILE`.

FILE is JSON: `part` (what to do), `go` (a file that appears when all workers are ready, with the start on
time.monotonic(), which all processes of one machine share) and `parent` (its process number). Keys and
headers of the targets come by the environment. It prints `ready`, and at the end one line of JSON.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
from collections.abc import Mapping
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from fwctl.errors import FwctlError
from fwctl.measure.lags import Lags
from fwctl.measure.load import Share
from fwctl.measure.part import Made, Part, perform
from fwctl.measure.plan import Shape
from fwctl.measure.plan import from_json as plan_from_json
from fwctl.measure.resume import keys_done
from fwctl.measure.target import from_json as target_from_json

SECRETS = "FWCTL_MEASURE_SECRETS"
GO_POLL_S = 0.005
PARENT_POLL_S = 0.5


def secrets_of(part: Part) -> str:
    """The value of the variable that carries what no file may hold."""
    return json.dumps(
        [{"api_key": item.api_key, "headers": dict(item.headers)} for item in part.plan.targets]
    )


def to_json(part: Part, go: Path) -> dict[str, Any]:
    """The file for a worker."""
    return {
        "part": {
            "plan": part.plan.to_json(),
            "shape": asdict(part.shape),
            "run_id": part.run_id,
            "records": str(part.records),
            "share": asdict(part.share),
        },
        "resume": part.plan.resume,
        "go": str(go),
        "parent": os.getpid(),
    }


def from_json(row: Mapping[str, Any], environ: Mapping[str, str]) -> Part:
    """The part that `to_json` wrote, with keys and headers from the environment."""
    part = row["part"]
    secrets = json.loads(environ[SECRETS])
    targets = [
        replace(target_from_json({**target, "headers": secret["headers"]}, {}), api_key=secret["api_key"])
        for target, secret in zip(part["plan"]["targets"], secrets, strict=True)
    ]
    plan = plan_from_json(part["plan"], targets)
    return Part(
        plan,
        Shape(**part["shape"]),
        part["run_id"],
        Path(part["records"]),
        Share(**part["share"]),
        keys_done(plan.records) if row["resume"] else frozenset(),
    )


def made_to_json(made: Made) -> dict[str, Any]:
    """The last line of a worker."""
    return {
        "lags": sorted(made.lags.counts.items()),
        "cpu_s": made.cpu_s,
        "wall_s": made.wall_s,
        "interrupted": made.interrupted,
        "lost": made.lost,
    }


def made_from_json(row: Mapping[str, Any]) -> Made:
    """What `made_to_json` wrote."""
    lags = Lags((step, number) for step, number in row["lags"])
    return Made(lags, row["cpu_s"], row["wall_s"], row["interrupted"], row["lost"])


async def started(go: Path, parent: int) -> float:
    """Say that all is ready, and wait for the common start; from then on end when the parent has gone."""
    _say("ready")
    while not go.exists():
        _end_without(parent)
        await asyncio.sleep(GO_POLL_S)
    _watch(parent, asyncio.get_running_loop())
    return float(go.read_text())


def _watch(parent: int, loop: asyncio.AbstractEventLoop) -> None:
    _end_without(parent)
    loop.call_later(PARENT_POLL_S, _watch, parent, loop)


def _end_without(parent: int) -> None:
    if hasattr(os, "getppid") and os.getppid() != parent:
        os.kill(os.getpid(), signal.SIGINT)


def _say(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def main(argv: list[str]) -> int:
    """0 when the part was done or interrupted, 1 with the reason on stdout."""
    row = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    made = Made()
    try:
        part = from_json(row, os.environ)
        perform(part, made, lambda: started(Path(row["go"]), row["parent"]))
    except FwctlError as error:
        _say(json.dumps({"error": error.message}))
        return 1
    except OSError as error:
        _say(json.dumps({"error": f"{error.filename or row['part']['records']}: {error.strerror}"}))
        return 1
    _say(json.dumps(made_to_json(made)))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
