"""The event stream of a long command: a version first, then one object for each thing that happens.

At least every 30 seconds something is said, so that whoever reads can tell a quiet run from a dead one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from fwctl.applying.model import OnEvent, Result, Subject
from fwctl.env import Clock

FORMAT_VERSION = 1


class Events:
    """Hands out events in order, from one thread."""

    def __init__(self, on_event: OnEvent, clock: Clock, *, heartbeat_s: float) -> None:
        self._on_event = on_event
        self._clock = clock
        self._heartbeat_s = heartbeat_s
        self._last_s = clock.monotonic()

    def begin(self, command: str, **facts: Any) -> None:
        """The first line: which format the rest has."""
        self._send("version", format_version=FORMAT_VERSION, command=command, **facts)

    def emit(self, event: str, subject: Subject, **facts: Any) -> None:
        """Something about one deployment."""
        self._send(
            event,
            address=subject.address,
            deployment_id=subject.deployment_id,
            name=subject.name,
            **facts,
        )

    def note(self, message: str) -> None:
        """A remark about the run as a whole."""
        self._send("note", message=message)

    def finished(self, subject: Subject, result: Result) -> None:
        """The end of one change, with its result as in the JSON document."""
        self._send("result", name=subject.name, **result.to_json())

    def end(self, exit_code: int, **facts: Any) -> None:
        """The last line."""
        self._send("end", exit_code=exit_code, **facts)

    def next_heartbeat_s(self) -> float:
        """When, on the monotonic clock, silence has lasted too long."""
        return self._last_s + self._heartbeat_s

    def heartbeat(self, active: Iterable[Subject]) -> None:
        """Says who is still under way, if nothing was said for a while."""
        if self._clock.monotonic() >= self.next_heartbeat_s():
            self._send("heartbeat", active=sorted(subject.name for subject in active))

    def _send(self, event: str, **facts: Any) -> None:
        self._last_s = self._clock.monotonic()
        self._on_event({"event": event, "time": self._clock.now().isoformat(), **facts})
