"""A worker on Locust: `python -m fwctl.measure.locust_node FILE`.

FILE is JSON: `plan` (the worker's own), `host` and `port` of the master, `name`, `selftest`, `parent`. Keys
come by the environment. The master says which share of which load to make; the share is made by a process
of its own, the same as without Locust, and its records are sent on as they are written.
It prints one line of JSON for each thing that happens.
"""

from __future__ import annotations

import json
import os
import re
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import gevent
from gevent.event import Event

from fwctl.errors import FwctlError
from fwctl.measure import locust_parts as parts
from fwctl.measure import worker, workers
from fwctl.measure.load import Share
from fwctl.measure.locust_stream import Inbox, Outbox, portions, unpack
from fwctl.measure.plan import Shape
from fwctl.process import Completed, Running

HELLO_EVERY_S = 2.0
WITHOUT_MASTER_S = 15.0
LEAD_S = 0.05


@dataclass(slots=True)
class Order:
    """A share of a level, as the master gives it."""

    level: int
    run_id: str
    shape: Shape
    share: Share
    duration_s: float | None
    done_lines: int

    @classmethod
    def of(cls, data: Mapping[str, Any]) -> Order:
        """Raises ValueError for a message that a master of fwctl does not send."""
        try:
            run_id, share, left = str(data["run_id"]), Share(**data["share"]), data["duration_s"]
            if not re.fullmatch(r"[0-9a-f]{12}", run_id) or not 0 <= share.number < share.of:
                raise ValueError("no run or share")
            left = None if left is None else float(left)
            return cls(
                int(data["level"]), run_id, Shape(**data["shape"]), share, left, int(data["done_lines"])
            )
        except (LookupError, TypeError) as error:
            raise ValueError(str(error)) from None


@dataclass(slots=True)
class Node:
    """The state of a worker. Listeners of messages change it; `run` acts on it."""

    row: Mapping[str, Any]
    folder: Path
    runner: Any = None
    heard_at: float = field(default_factory=time.monotonic)
    welcome: bool = False
    end: str | None = None  # why to end: `bye`, or words for the user
    order: Order | None = None
    done: list[bytes] = field(default_factory=list)
    done_inbox: Inbox = field(default_factory=Inbox)
    go: Event = field(default_factory=Event)
    stopping: bool = False
    outbox: Outbox = field(default_factory=Outbox)

    def connect(self) -> None:
        """Join the master, which Locust tries for five minutes. Raises FwctlError."""
        host, port = self.row["host"], self.row["port"]
        environment = parts.environment()
        environment.events.heartbeat_received.add_listener(self._heard)
        try:
            self.runner = environment.create_worker_runner(host, port)
        except (Exception, SystemExit):
            raise FwctlError(
                f"there is no master at {host}:{port}",
                next_steps=["fwctl bench run --engine locust --master ... on that machine"],
            ) from None
        listeners: dict[str, Callable[[Any], None]] = {
            parts.WELCOME: self._on_welcome,
            parts.REFUSED: self._on_refused,
            parts.DONE: self._on_done,
            parts.PART: self._on_part,
            parts.GO: lambda _data: self.go.set(),
            parts.STOP: self._on_stop,
            parts.ACK: lambda data: self.outbox.acknowledge(int(data["number"]), time.monotonic()),
            parts.BYE: self._on_bye,
        }
        for kind, listener in listeners.items():
            self.runner.register_message(kind, _listening(listener))

    def _heard(self, **_more: Any) -> None:
        self.heard_at = time.monotonic()

    def _on_welcome(self, _data: Any) -> None:
        if not self.welcome:
            parts.told("joined")
        self.welcome = True

    def _on_refused(self, data: Any) -> None:
        self.end = f"the master refused this worker: {str(data['why'])[:300]}"

    def _on_bye(self, _data: Any) -> None:
        self.end = self.end or "bye"
        self.stopping = True

    def _on_stop(self, _data: Any) -> None:
        self.stopping = True
        self.go.set()

    def _on_done(self, data: Any) -> None:
        if int(data["number"]) == 0:
            self.done, self.done_inbox = [], Inbox()
        if self.done_inbox.accept(int(data["number"])):
            self.done += unpack(data["data"])

    def _on_part(self, data: Any) -> None:
        order = Order.of(data)
        plan = self.row["plan"]
        if order.shape not in [Shape(**shape) for shape in plan["sweep"] or [plan["shape"]]]:
            raise ValueError("a load that is not in the plan")
        if order.done_lines != len(self.done):
            raise ValueError("the list of what was done is not whole")
        self.stopping = False
        self.go.clear()
        self.outbox = Outbox()
        self.order = order

    def run(self) -> str:
        """Work until the master says that all is done; why it ended. Raises FwctlError."""
        asked_at = 0.0
        while self.end is None:
            now = time.monotonic()
            if not self.welcome and now - asked_at > HELLO_EVERY_S:
                asked_at = now
                said = parts.hello(self.row["plan"], self.row["name"], self.row["selftest"])
                self.runner.send_message(parts.HELLO, said)
            if (order := self.order) is not None:
                self.order = None
                self.level(order)
            self._look_around()
            gevent.sleep(parts.POLL_S)
        return self.end

    def _look_around(self) -> None:
        if time.monotonic() - self.heard_at > WITHOUT_MASTER_S:
            self.end = self.end or "the master has gone"
            self.stopping = True
        if hasattr(os, "getppid") and os.getppid() != self.row["parent"]:
            self.end = self.end or "the process that started this one has gone"
            self.stopping = True

    def level(self, order: Order) -> None:
        """Make a share and send its records, until the master has all of them."""
        folder = self.folder / str(order.level)
        folder.mkdir()
        (folder / "records.jsonl").write_bytes(b"".join(self.done))
        records, go = folder / "part.jsonl", folder / "go"
        (folder / "part.json").write_text(
            json.dumps(self._part(order, folder, records, go)), encoding="utf-8"
        )
        argv = [sys.executable, "-m", "fwctl.measure.worker", str(folder / "part.json")]
        follower = workers.Follower(records)
        with Running(argv, env=os.environ, graces=workers.GRACES) as child:
            try:
                if self._is_ready(child):
                    self.runner.send_message(parts.READY, {"level": order.level})
                    self._load(child, go, follower, order)
                ended = gevent.get_hub().threadpool.apply(child.stop)
                self._send(follower, order)
            finally:
                follower.close()
        self.outbox.put({"level": order.level, "made": _made(ended, self.stopping)})
        while not self.outbox.empty and self.end is None:
            self._pump()

    def _part(self, order: Order, folder: Path, records: Path, go: Path) -> dict[str, Any]:
        """The file of the process that makes the share; see `worker`."""
        plan = {**self.row["plan"], "out": str(folder), "duration_s": order.duration_s}
        part = {"plan": plan, "shape": asdict(order.shape), "run_id": order.run_id}
        part |= {"records": str(records), "share": asdict(order.share)}
        return {"part": part, "resume": bool(self.done), "go": str(go), "parent": os.getpid()}

    def _is_ready(self, child: Running) -> bool:
        while not child.output()[0].startswith("ready"):
            if self.stopping or child.ended() or child.seconds > workers.READY_S:
                return False
            self._look_around()
            gevent.sleep(parts.POLL_S / 5)
        return True

    def _load(self, child: Running, go: Path, follower: workers.Follower, order: Order) -> None:
        while not self.go.wait(parts.POLL_S):
            self._look_around()
            if self.stopping or child.ended():
                return
        if self.stopping:
            return
        fresh = go.with_suffix(".new")
        fresh.write_text(repr(time.monotonic() + LEAD_S))
        fresh.replace(go)
        while not child.ended() and not self.stopping:
            self._send(follower, order)
            self._pump()

    def _send(self, follower: workers.Follower, order: Order) -> None:
        for data in portions(follower.lines()):
            self.outbox.put({"level": order.level, "data": data})

    def _pump(self) -> None:
        for portion in self.outbox.due(time.monotonic()):
            self.runner.send_message(parts.ROWS, portion)
        self._look_around()
        gevent.sleep(parts.POLL_S)


def _made(ended: Completed, interrupted: bool) -> dict[str, Any]:
    try:
        return worker.made_to_json(workers.result_of(ended, interrupted))
    except FwctlError as error:
        return {"error": error.message}


def _listening(listener: Callable[[Any], None]) -> Callable[..., None]:
    """A listener as Locust calls it; what no master sends is left alone."""

    def listen(environment: Any, msg: Any) -> None:  # noqa: ARG001 - Locust gives it by name
        try:
            listener(msg.data)
        except (ValueError, LookupError, TypeError) as error:
            parts.told("ignored", kind=str(msg.type), why=str(error)[:200])

    return listen


def main(argv: list[str]) -> int:
    """0 when all was done, 1 with the reason on stdout."""
    row = json.loads(Path(argv[0]).read_text(encoding="utf-8"))
    with TemporaryDirectory(prefix="fwctl-") as folder:
        node = Node(row, Path(folder))
        try:
            node.connect()
            why = node.run()
        except KeyboardInterrupt:
            why = "interrupted"
        except FwctlError as error:
            why = error.message
    parts.told("ended", why=why)
    return 0 if why == "bye" else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
