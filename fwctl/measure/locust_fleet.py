"""A run on Locust as seen by the process that the user started: its master, its workers, and their levels."""

from __future__ import annotations

import contextlib
import json
import os
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from types import TracebackType
from typing import Any

from fwctl.errors import FwctlError
from fwctl.measure import worker, workers
from fwctl.measure.lags import Lags
from fwctl.measure.lines import read_rows
from fwctl.measure.locust_children import GRACES, POLL_S, Events, Say, failed, node_row, start_node
from fwctl.measure.locust_parts import UNPATCHED, require_locust
from fwctl.measure.part import Made, Part
from fwctl.measure.plan import Plan, Shape
from fwctl.measure.validity import reasons_by
from fwctl.process import Running
from fwctl.stats.quantiles import quantile

START_S = 30.0
END_S = 30.0  # after Ctrl-C: connections are closed, and what was done is sent


@dataclass(frozen=True, slots=True)
class Crew:
    """Who makes the load: `local` workers of this machine, or `expect` workers that join at `bind:port`."""

    local: int = 0
    expect: int = 0
    bind: str = "127.0.0.1"
    port: int = 0

    @property
    def count(self) -> int:
        return self.local or self.expect


@dataclass(slots=True)
class Node:
    """One worker, and what is known of it."""

    name: str
    selftest: Mapping[str, Any] | None
    lags: Lags = field(default_factory=Lags)
    cpu_s: float = 0.0
    lost: str | None = None

    def lag_p95_s(self) -> float | None:
        seconds = self.lags.seconds()
        return quantile(seconds, 0.95) if seconds else None

    def to_json(self) -> dict[str, Any]:
        return {
            "name": self.name,
            "event_loop_lag_p95_s": self.lag_p95_s(),
            "cpu_s": self.cpu_s,
            "lost": self.lost,
            "selftest": self.selftest,
        }


class Fleet:
    """A context manager: it starts a master, waits until all workers have joined, and ends them again."""

    name = "locust"

    def __init__(self, plan: Plan, environ: Mapping[str, str], crew: Crew, say: Say) -> None:
        self.plan, self.crew, self.say = plan, crew, say
        self.environ = {**environ, **UNPATCHED}
        self.nodes: list[Node] = []
        self._levels = 0
        self._stack = ExitStack()

    def __enter__(self) -> Fleet:
        require_locust()
        try:
            self.folder = Path(self._stack.enter_context(TemporaryDirectory(prefix="fwctl-")))
            self._begin()
        except BaseException:
            self._stack.close()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if kind is None:
            with contextlib.suppress(KeyboardInterrupt):
                (self.folder / "quit").touch()
                self.master.ended(START_S)
        self._stack.close()

    def _begin(self) -> None:
        crew = self.crew
        row = {"plan": self.plan.to_json(), "bind": crew.bind, "port": crew.port, "expect": crew.count}
        path = self.folder / "master.json"
        path.write_text(json.dumps({**row, "parent": os.getpid()}), encoding="utf-8")
        argv = [sys.executable, "-m", "fwctl.measure.locust_master", str(path)]
        self.master = self._stack.enter_context(Running(argv, env=self.environ, graces=GRACES))
        self.events = Events(self.master)
        port = self._listening()
        if not crew.local:
            self.say(f"waiting for {crew.expect} workers on port {port} ...")
        children = [self._local(number, port) for number in range(crew.local)]
        while len(self.nodes) < crew.count:
            self._take_in()
            gone = [child for child in children if child.ended()]
            if gone or self.master.ended(POLL_S):
                raise failed((gone or [self.master])[0], "a worker" if gone else "the master")

    def _listening(self) -> int:
        while not self.master.ended(POLL_S) and self.master.seconds < START_S:
            for event in self.events.new():
                if event["event"] == "listening":
                    return int(event["port"])
        raise failed(self.master, "the master")

    def _local(self, number: int, port: int) -> Running:
        path = self.folder / f"node-{number}.json"
        row = node_row(self.plan, "127.0.0.1", port, f"worker {number + 1}", None)
        path.write_text(json.dumps(row), encoding="utf-8")
        return self._stack.enter_context(start_node(path, self.plan, self.environ))

    def _take_in(self) -> None:
        for event in self.events.new():
            if event["event"] == "joined":
                self.nodes.append(Node(event["name"], event["selftest"]))
                if not self.crew.local:
                    self.say(f"{event['name']} joined, {len(self.nodes)} of {self.crew.count}")
            elif event["event"] == "refused":
                self.say(f"{event['name']} was refused: {event['why']}")

    def perform(self, part: Part, made: Made, *, on_row: workers.OnRow, idle: workers.Idle) -> None:
        """Make one level and append its records to `part.records`; the counterpart of `workers.perform`.

        A worker that is lost ends the level as Ctrl-C does, because the rest would make another load.
        Raises FwctlError when a worker or the master fails.
        """
        number, self._levels = self._levels, self._levels + 1
        self._give(number, part)
        ended = self.folder / f"level-{number}.done"
        with part.records.open("ab") as file:
            follower = workers.Follower(self.folder / f"level-{number}.jsonl")

            def collect() -> None:
                follower.pass_on(file, on_row)
                file.flush()
                idle()

            try:
                try:
                    while not ended.exists() and not self.master.ended(POLL_S):
                        collect()
                except KeyboardInterrupt:
                    made.interrupted = True
                    (self.folder / "stop").touch()
                    began = self.master.seconds
                    while (
                        not ended.exists()
                        and not self.master.ended(POLL_S)
                        and self.master.seconds - began < END_S
                    ):
                        collect()
            finally:
                collect()
                follower.close()
        self._take_in()
        if ended.exists():
            self._result(json.loads(ended.read_bytes()), made)
        elif not made.interrupted:
            raise failed(self.master, "the master")

    def _give(self, number: int, part: Part) -> None:
        """The files by which the master starts a level."""
        plan, shape = part.plan, part.shape
        names = sorted(plan.name_of(target, shape) for target in plan.targets)
        if plan.resume:
            self._write(f"level-{number}.before", "".join(_done_lines(plan.records, set(names))))
        order = {"run_id": part.run_id, "shape": asdict(shape), "duration_s": plan.duration_s, "names": names}
        self._write(f"level-{number}.json", json.dumps({**order, "most": self._most(plan, shape)}))

    def _most(self, plan: Plan, shape: Shape) -> int:
        """Workers that have something to do: at least one request at a time for each."""
        slots = shape.concurrency * len(plan.targets)
        return self.crew.count if shape.rate_per_s is not None else min(self.crew.count, slots)

    def _write(self, name: str, text: str) -> None:
        fresh = self.folder / (name + ".new")
        fresh.write_text(text, encoding="utf-8")
        fresh.replace(self.folder / name)

    def _result(self, ended: list[dict[str, Any]], made: Made) -> None:
        failed = None
        for row in ended:
            node, said = self.nodes[row["number"]], row["made"]
            if said is not None and "error" in said:
                failed = f"{node.name} failed: {said['error']}"
            elif said is not None:
                found = worker.made_from_json(said)
                node.lags.merge(found.lags)
                node.cpu_s += found.cpu_s
                made.merge(found)
            if row["lost"]:
                node.lost = row["lost"]
                made.interrupted = True
        if failed is not None:
            raise FwctlError(failed, next_steps=["--resume DIR goes on with the run"])

    @property
    def lost(self) -> list[str]:
        """Workers that were lost, with the reason."""
        return [f"{node.name} was lost: {node.lost}" for node in self.nodes if node.lost]

    @property
    def selftest(self) -> Mapping[str, Any] | None:
        """The worst of those that the workers made, because a figure is as good as the worst of them."""
        found = [node.selftest for node in self.nodes if node.selftest]
        return max(found, key=lambda item: item["ttft_error_ms"]["p95"]) if found else None

    def reasons(self) -> list[str]:
        """Why the run is invalid by what each worker's own self-test allows it."""
        return [
            f"{node.name}: {reason}"
            for node in self.nodes
            for reason in reasons_by(node.selftest, {"event_loop_lag_s": node.lag_p95_s()})
        ]


def _done_lines(records: Path, names: set[str]) -> Iterator[str]:
    """As much of each measured record as tells which request it was."""
    for row in read_rows(records):
        if row["measured"] and row["target"] in names:
            kept = {key: row[key] for key in ("target", "prompt_id", "repeat", "measured")}
            yield json.dumps(kept) + "\n"
