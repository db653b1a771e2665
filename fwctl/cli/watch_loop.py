"""The watch itself: look, judge, remember, tell; again and again until a signal ends it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fwctl.cli.command import Call
from fwctl.cli.output import report_masked, write
from fwctl.cli.places import STATE_FOLDER
from fwctl.errors import FwctlError
from fwctl.exitcodes import Exit
from fwctl.operate.sinks import BODIES, MOST_AT_ONCE, Post, Sink, alertmanager_body, endpoint, queue
from fwctl.operate.watch import Look, judge, remember, sample_round
from fwctl.operate.watch_state import RESOLVED, Event, State, from_json, step, to_json
from fwctl.records.history import HISTORY_NAME
from fwctl.records.samples import RoundStore
from fwctl.records.watching import WatchStore
from fwctl.report.model import Report

if TYPE_CHECKING:
    from fwctl.operate.rules_model import Judged
    from fwctl.operate.watch_config import WatchConfig


# Wrong keys, a missing firectl, wrong options: the user has to do something.
HOPELESS = (Exit.AUTH, Exit.FIRECTL, Exit.USAGE, Exit.INVALID_SPEC)


HISTORY_HINT = f"Nothing needs {STATE_FOLDER}/{HISTORY_NAME}: when it is damaged, delete it"


@dataclass(slots=True)
class Watch:
    """One watch of one account. read: makes a look, and raises FwctlError when it cannot. post: sends a
    body to an address and says why it was not taken."""

    call: Call
    account: str
    config: WatchConfig
    read: Callable[[], Look]
    post: Post
    state: State = field(init=False)
    judged: list[Judged] = field(default_factory=list)
    _down: dict[str, str] = field(default_factory=dict)
    _store: WatchStore = field(init=False)
    _rounds: RoundStore = field(init=False)

    def __post_init__(self) -> None:
        path = self.call.env.cwd / STATE_FOLDER / HISTORY_NAME
        self._store, self._rounds = WatchStore(path), RoundStore(path)
        self.state = from_json(self._store.load(self.account))

    def once(self) -> tuple[Look, list[Event]]:
        """One look: what it saw and what began or ended. The state is stored before anybody is told, and
        again when the sinks have taken their part."""
        look = self.read()
        remember(self.state, look)
        self.judged = judge(look, self.state, self.config.rules)
        events = step(self.state, self.judged, look.now)
        documents = [self._masked(event.to_json()) for event in events]
        self._rounds.record(sample_round(look))
        for sink in self.config.sinks:
            wanted = [item for item in documents if sink.kind != "alertmanager" or item["event"] == RESOLVED]
            self.state.outbox[sink.key] = queue(self.state.outbox.get(sink.key, []), wanted)
        if self._store.save(self.account, to_json(self.state)):
            self._well("the history file")
        else:
            self._say(
                "the history file", f"the state cannot be written; a restart would forget it. {HISTORY_HINT}"
            )
        before = to_json(self.state)["outbox"]
        self._deliver(look)
        if self.state.outbox != before:
            self._store.save(self.account, to_json(self.state))
        return look, events

    def forever(self, every_s: float, show: Callable[[Sequence[Event]], None]) -> None:
        """Look until a signal ends it. A look that fails is said and tried again, but for a first one that
        no patience will mend."""
        clock, first = self.call.env.clock, True
        while True:
            begun = clock.monotonic()
            try:
                _, events = self.once()
            except FwctlError as error:
                if first and error.exit_code in HOPELESS:
                    raise
                self._say("live state", f"{error.message}; trying again in {every_s:g} s")
            else:
                self._well("live state")
                show(events)
            first = False
            clock.sleep(max(0.0, every_s - (clock.monotonic() - begun)))

    def _deliver(self, look: Look) -> None:
        """Give each sink what waits for it. What is not taken waits on."""
        left: dict[str, list[dict[str, Any]]] = {}
        for sink in self.config.sinks:
            waiting = self.state.outbox.get(sink.key, [])
            body = self._body(sink, waiting, look)
            why = self.post(endpoint(sink), body) if body else None
            if why is None:
                waiting = waiting[MOST_AT_ONCE:] if sink.kind in BODIES else []
                self._well(sink.name)
            else:
                self._say(sink.name, f"{why}; {len(waiting)} events wait for it")
            left[sink.key] = waiting
        self.state.outbox = left

    def _body(self, sink: Sink, waiting: list[dict[str, Any]], look: Look) -> Any:
        if sink.kind == "alertmanager":
            body = alertmanager_body(self.state.firing(), waiting, look.now, look.account)
            return self._masked(body)
        return BODIES[sink.kind](waiting[:MOST_AT_ONCE]) if waiting else None

    def _masked(self, value: Any) -> Any:
        return report_masked(Report("watch", {"value": value}), self.call.env).body["value"]

    def _say(self, what: str, why: str) -> None:
        """Say a trouble when it begins or changes, and not at every look."""
        if self._down.get(what) != why.partition(";")[0]:
            self.call.output.message(f"{what}: {why}")
        self._down[what] = why.partition(";")[0]

    def _well(self, what: str) -> None:
        if self._down.pop(what, None) is not None:
            self.call.output.message(f"{what}: well again")


def shown(call: Call, line: Callable[[Event], str]) -> Callable[[Sequence[Event]], None]:
    """What writes events to stdout as they come, secrets masked."""

    def show(events: Sequence[Event]) -> None:
        for event in events:
            write(call.env.stdout, call.env.redactor.mask(line(event)) + "\n")

    return show
