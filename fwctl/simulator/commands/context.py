"""What a command handler gets: the call, the state, the clock, the streams."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple, TextIO

from fwctl.simulator.catalogue import Catalogue
from fwctl.simulator.commands.parse import Invocation
from fwctl.simulator.commands.table import Command
from fwctl.simulator.faults import Rule
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.listing import Query
from fwctl.simulator.platform.world import Caller, World
from fwctl.simulator.profiles import Profile
from fwctl.simulator.settings import Settings
from fwctl.simulator.state import Store, Tx
from fwctl.simulator.timing import Clock

POLL_SIM_S = 2.0
_POLL_REAL_S = (0.01, 2.0)


class CommandError(Exception):
    """The command failed; the message follows `Failed to execute: `."""


class Session(NamedTuple):
    """What is fixed for one call before its command is known. streams: stdin, stdout, stderr."""

    argv: list[str]
    settings: Settings
    profile: Profile
    store: Store
    clock: Clock
    streams: tuple[TextIO, TextIO, TextIO]
    environ: Mapping[str, str]
    cwd: Path


class Context:
    """One command of firectl-sim in execution."""

    def __init__(
        self, session: Session, invocation: Invocation, catalogue: Catalogue, caller: Caller, stdout: TextIO
    ) -> None:
        assert invocation.command is not None
        self.command: Command = invocation.command
        self.args = invocation.args
        self.flags = invocation.flags
        self.settings = session.settings
        self.profile = session.profile
        self.store = session.store
        self.clock = session.clock
        self.catalogue = catalogue
        self.caller = caller
        self.stdin, self.stdout, self.stderr = session.streams[0], stdout, session.streams[2]
        self.environ = session.environ
        self.cwd = session.cwd
        self.faults: list[Rule] = []

    @property
    def account(self) -> str:
        """The account that `-a` names, the caller's otherwise."""
        return str(self.flags.get("account-id") or self.caller.account)

    @property
    def output(self) -> str:
        return str(self.flags.get("output") or "text")

    def print(self, text: str) -> None:
        self.stdout.write(text + "\n")

    def print_on(self, stream: str, text: str) -> None:
        (self.stdout if stream == "stdout" else self.stderr).write(text + "\n")

    def query(self) -> Query:
        flags = self.flags
        return Query(
            flags.get("filter", ""),
            flags.get("order-by", ""),
            flags.get("page-size", 0),
            flags.get("page-token", ""),
            flags.get("no-paginate", False),
        )

    @contextmanager
    def reading(self) -> Iterator[World]:
        with self.store.read() as tx:
            yield self._world(tx)

    @contextmanager
    def writing(self) -> Iterator[World]:
        with self.store.write() as tx:
            yield self._world(tx)

    def _world(self, tx: Tx) -> World:
        return World(tx, self.clock.now(), self.profile, self.catalogue, self.caller, self.settings.suspended)

    def wait(self, sim_seconds: float) -> None:
        """Let simulated time pass; a fixed clock is moved on instead."""
        fixed_s = self.clock.fixed_s
        if fixed_s is not None:
            self.store.move_clock(sim_seconds, fixed=True)
        else:
            low, high = _POLL_REAL_S
            time.sleep(min(max(self.clock.real_seconds(sim_seconds), low), high))
        self.clock = Clock(self.store.anchor(None, fixed_s is not None), fixed_s)


@contextmanager
def wrapped(ctx: Context, action: str, *, always: bool = False) -> Iterator[None]:
    """Errors of the platform as firectl words them: `error creating deployment: rpc error: …`."""
    try:
        yield
    except PlatformError as error:
        text = f"rpc error: code = {error.code} desc = {error.message}"
        if action and (always or ctx.profile.yes("error_wrapper")):
            text = f"error {action}: {text}"
        raise CommandError(text) from None
