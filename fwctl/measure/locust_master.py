"""The master on Locust: `python -m fwctl.measure.locust_master FILE`.

FILE is JSON: `plan`, `bind`, `port`, `expect` (workers to wait for), `parent`. It stands in the folder by
which the process that started this one gives the levels: `level-0.json` there starts a level, whose records
come to `level-0.jsonl` and whose end is `level-0.done`; `stop` ends a level, `quit` ends everything.
It prints one line of JSON for each thing that happens.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

import gevent

from fwctl.measure import locust_parts as parts
from fwctl.measure.lines import parse
from fwctl.measure.locust_stream import Inbox, portions, unpack

READY_S = 90.0
STOP_S = 20.0


@dataclass(slots=True)
class Member:
    """A worker that takes part."""

    client: str
    number: int
    name: str
    selftest: Mapping[str, Any] | None
    inbox: Inbox = field(default_factory=Inbox)
    ready: bool = False
    made: Mapping[str, Any] | None = None
    lost: str | None = None


@dataclass(slots=True)
class Level:
    """What goes on now."""

    number: int
    run_id: str
    names: frozenset[str]
    file: IO[bytes]
    members: list[Member]

    def over(self) -> bool:
        return all(member.made is not None or member.lost for member in self.members)


class Master:
    """Takes workers in, gives each its share, and writes down what they send."""

    def __init__(self, row: Mapping[str, Any], folder: Path) -> None:
        self.row = row
        self.folder = folder
        self.members: dict[str, Member] = {}
        self.level: Level | None = None
        environment = parts.environment()
        self.runner = environment.create_master_runner(row["bind"], row["port"])
        listeners = {parts.HELLO: self._on_hello, parts.READY: self._on_ready, parts.ROWS: self._on_rows}
        for kind, listener in listeners.items():
            self.runner.register_message(kind, _listening(listener))

    def _on_hello(self, client: str, data: Any) -> None:
        if client in self.members:
            self.runner.send_message(parts.WELCOME, {}, client)
            return
        why = parts.refusal(self.row["plan"], data)
        if why is None and len(self.members) >= self.row["expect"]:
            why = f"{len(self.members)} workers have joined, and no more were expected"
        if why is not None:
            self.runner.send_message(parts.REFUSED, {"why": why}, client)
            parts.told("refused", name=_name(data), why=why)
            return
        member = Member(client, len(self.members), _name(data), data.get("selftest"))
        self.members[client] = member
        self.runner.send_message(parts.WELCOME, {}, client)
        parts.told("joined", name=member.name, number=member.number, selftest=member.selftest)

    def _on_ready(self, client: str, data: Any) -> None:
        if self.level is not None and data["level"] == self.level.number:
            self.members[client].ready = True

    def _on_rows(self, client: str, data: Any) -> None:
        level, member = self.level, self.members[client]
        if level is None or data["level"] != level.number or member.lost:
            return
        number = int(data["number"])
        if member.inbox.accept(number):
            if "made" in data:
                member.made = dict(data["made"])
            else:
                lines = unpack(data["data"])
                if not all(_belongs(line, level) for line in lines):
                    member.lost = "it sent what is no record of this run"
                    return
                level.file.write(b"".join(lines))
                level.file.flush()
        if member.inbox.acknowledged >= 0:
            self.runner.send_message(parts.ACK, {"number": member.inbox.acknowledged}, client)

    def run(self) -> None:
        """Until `quit` stands in the folder or the process that started this one has gone."""
        parts.told("listening", port=self.runner.server.port)
        number = 0
        while not self._is_over():
            path = self.folder / f"level-{number}.json"
            if path.exists():
                self._perform(number, json.loads(path.read_text(encoding="utf-8")))
                number += 1
            gevent.sleep(parts.POLL_S)

    def close(self) -> None:
        """Send all workers home."""
        for client in self.members:
            self.runner.send_message(parts.BYE, {}, client)
        gevent.sleep(parts.POLL_S)
        self.runner.quit()

    def _is_over(self) -> bool:
        gone = hasattr(os, "getppid") and os.getppid() != self.row["parent"]
        return gone or (self.folder / "quit").exists()

    def _perform(self, number: int, order: Mapping[str, Any]) -> None:
        taking = list(self.members.values())[: order["most"]]
        for member in taking:
            member.inbox, member.ready, member.made = Inbox(), False, None
        with (self.folder / f"level-{number}.jsonl").open("ab", buffering=0) as file:
            level = Level(number, order["run_id"], frozenset(order["names"]), file, taking)
            self.level = level
            self._hand_out(level, order)
            if self._wait(level, lambda: all(member.ready or member.made for member in taking), READY_S):
                self._tell(level, parts.GO)
                self._wait(level, level.over, None)
            if not level.over():
                self._tell(level, parts.STOP)
                self._wait(level, level.over, STOP_S, stopping=True)
            self.level = None
        for member in taking:
            if member.made is None and member.lost is None:
                member.lost = "it did not say what it had done"
        ended = [{"name": m.name, "number": m.number, "made": m.made, "lost": m.lost} for m in taking]
        fresh = self.folder / f"level-{number}.new"
        fresh.write_text(json.dumps(ended), encoding="utf-8")
        fresh.replace(self.folder / f"level-{number}.done")

    def _hand_out(self, level: Level, order: Mapping[str, Any]) -> None:
        done = self.folder / f"level-{level.number}.before"
        lines = done.read_bytes().splitlines(keepends=True) if done.exists() else []
        packed = list(portions(lines))
        part = {key: order[key] for key in ("run_id", "shape", "duration_s")}
        for member in level.members:
            for number, data in enumerate(packed):
                message = {"number": number, "data": data}
                self.runner.send_message(parts.DONE, message, member.client)
            share = {"number": member.number, "of": len(level.members)}
            more = {"level": level.number, "done_lines": len(lines), "share": share}
            self.runner.send_message(parts.PART, {**part, **more}, member.client)

    def _tell(self, level: Level, kind: str) -> None:
        for member in level.members:
            if not member.lost:
                self.runner.send_message(kind, {}, member.client)

    def _wait(
        self, level: Level, until: Callable[[], bool], most_s: float | None, *, stopping: bool = False
    ) -> bool:
        """True when it came; false when the level has to end: `stop`, a lost worker, or too long."""
        began = time.monotonic()
        while not until():
            self._look_for_lost(level)
            wrong = any(member.lost or (member.made or {}).get("error") for member in level.members)
            if not stopping and (wrong or self._is_over() or (self.folder / "stop").exists()):
                return False
            if most_s is not None and time.monotonic() - began > most_s:
                return False
            gevent.sleep(parts.POLL_S)
        return True

    def _look_for_lost(self, level: Level) -> None:
        """Locust calls a worker missing whose heartbeat did not come for three seconds."""
        known = {client.id: client.state for client in self.runner.clients.all}
        for member in level.members:
            if member.made is None and known.get(member.client, "missing") in ("missing", "stopped"):
                member.lost = member.lost or "the connection to it was lost"


def _belongs(line: bytes, level: Level) -> bool:
    row = parse(line)
    return row is not None and row.get("run_id") == level.run_id and row["target"] in level.names


def _name(data: Any) -> str:
    """The name that a worker gives itself, for messages."""
    name = data.get("name") if isinstance(data, Mapping) else None
    return "".join(c for c in str(name or "a worker")[:80] if c.isprintable())


def _listening(listener: Callable[[str, Any], None]) -> Callable[..., None]:
    """A listener as Locust calls it; a message that no worker of fwctl sends is left alone."""

    def listen(environment: Any, msg: Any) -> None:  # noqa: ARG001 - Locust gives it by name
        try:
            listener(msg.node_id, msg.data)
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            parts.told("ignored", kind=str(msg.type), why=str(error)[:200])

    return listen


def main(argv: list[str]) -> int:
    """0 at its end, 1 when it cannot listen."""
    path = Path(argv[0])
    row = json.loads(path.read_text(encoding="utf-8"))
    try:
        master = Master(row, path.parent)
    except (Exception, SystemExit) as error:
        parts.told("ended", why=f"cannot listen on {row['bind']}:{row['port']}: {error}")
        return 1
    try:
        master.run()
    except KeyboardInterrupt:
        pass
    finally:
        master.close()
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
