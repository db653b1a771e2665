"""Children of a run on Locust, the same on every machine: how they start, what they say, how they fail."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from fwctl.errors import FwctlError
from fwctl.measure import worker
from fwctl.measure.locust_parts import UNPATCHED, require_locust
from fwctl.measure.part import Part
from fwctl.measure.plan import Plan
from fwctl.process import Graces, Running

POLL_S = 0.1
GRACES = Graces(interrupt_s=15.0)

Say = Callable[[str], None]


class Events:
    """What a child has said since the last time, one JSON object a line."""

    def __init__(self, child: Running) -> None:
        self._child = child
        self._read = 0

    def new(self) -> Iterator[dict[str, Any]]:
        lines = self._child.output()[0].split("\n")[:-1]
        for line in lines[self._read :]:
            self._read += 1  # one by one: who stops in between gets the rest the next time
            with contextlib.suppress(ValueError):
                yield json.loads(line)


def node_row(
    plan: Plan, host: str, port: int, name: str, selftest: Mapping[str, Any] | None
) -> dict[str, Any]:
    """The file of a worker; see `locust_node`."""
    row = {"plan": plan.to_json(), "host": host, "port": port, "name": name}
    return {**row, "selftest": selftest, "parent": os.getpid()}


def start_node(path: Path, plan: Plan, environ: Mapping[str, str]) -> Running:
    """A worker; keys and headers go by its environment, never by file, argument or message."""
    part = Part(plan, plan.shape, "", plan.records)
    argv = [sys.executable, "-m", "fwctl.measure.locust_node", str(path)]
    env = {**environ, **UNPATCHED, worker.SECRETS: worker.secrets_of(part)}
    return Running(argv, env=env, graces=GRACES)


def join(
    plan: Plan,
    environ: Mapping[str, str],
    address: tuple[str, int],
    *,
    name: str,
    selftest: Mapping[str, Any] | None,
    say: Say,
) -> None:
    """Work for a master until it says that all is done. Raises FwctlError when it ends otherwise."""
    require_locust()
    with TemporaryDirectory(prefix="fwctl-") as folder:
        path = Path(folder) / "node.json"
        path.write_text(json.dumps(node_row(plan, *address, name, selftest)), encoding="utf-8")
        with start_node(path, plan, environ) as child:
            events = Events(child)
            over = False
            while not over:
                over = child.ended(POLL_S)
                for event in events.new():
                    if event["event"] == "joined":
                        say(f"joined the master at {address[0]}:{address[1]}")
            if child.stop().returncode:
                raise failed(child, "the worker")


def failed(child: Running, what: str) -> FwctlError:
    """The error of a child that ended by itself: its own words, else the last line of its log."""
    ended = child.stop()
    why = (ended.stderr.strip().splitlines() or [f"exit status {ended.returncode}"])[-1]
    for line in ended.stdout.splitlines():
        with contextlib.suppress(ValueError, LookupError, TypeError):
            row = json.loads(line)
            why = row["why"] if row["event"] == "ended" else why
    return FwctlError(f"{what} failed: {why[:500]}", next_steps=["see docs/bench.md, More than one machine"])
