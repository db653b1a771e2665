"""The bridge to the platform's state: calls run in one worker thread, so that paced streams go on."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, TypeVar

from fwctl.simulator import catalogue, credentials, faults, profiles
from fwctl.simulator.faults import Rule
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import Caller, World
from fwctl.simulator.settings import Settings
from fwctl.simulator.state import DATABASE, Store, Tx
from fwctl.simulator.timing import Clock

T = TypeVar("T")

_NOBODY = Caller("fireworks", "readonly")


class _Opened(NamedTuple):
    store: Store
    clock: Clock


class Backend:
    """settings: those of the server's environment, read once at the start."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.profile = profiles.load(settings.profile)
        home_file = settings.home / catalogue.HOME_FILE
        extra = [*([home_file] if home_file.exists() else []), *settings.catalogues]
        self.catalogue = catalogue.load(extra)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="state")
        self._opened: _Opened | None = None
        self._watch: sqlite3.Connection | None = None
        self._faulty = False
        self._looked_at = -1

    def _open(self) -> _Opened:
        if self._opened is None:
            store = Store(self.settings.home)
            fixed = self.settings.fixed_now_s
            anchor = store.anchor(self.settings.speed, fixed is not None)
            self._opened = _Opened(store, Clock(anchor, fixed))
        return self._opened

    def _world(self, tx: Tx, clock: Clock, caller: Caller) -> World:
        return World(tx, clock.now(), self.profile, self.catalogue, caller, self.settings.suspended)

    def _call(self, work: Callable[[World], T], caller: Caller, write: bool) -> T:
        opened = self._open()
        fixed = self.settings.fixed_now_s
        clock = Clock(opened.store.anchor(self.settings.speed, fixed is not None), fixed)
        with opened.store.write() if write else opened.store.read() as tx:
            return work(self._world(tx, clock, caller))

    async def run(self, work: Callable[[World], T], caller: Caller, *, write: bool = False) -> T:
        """`work` inside one transaction; PlatformError comes through."""
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._call, work, caller, write)

    def version(self) -> int:
        """Changes whenever any process has changed the state; costs microseconds."""
        if self._watch is None:
            self._watch = sqlite3.connect(self.settings.home / DATABASE)
        return int(self._watch.execute("PRAGMA data_version").fetchone()[0])

    def close(self) -> None:
        """Finish what runs and close the file."""
        if self._watch is not None:
            self._watch.close()
        if self._opened is not None:
            self._thread.submit(self._opened.store.close).result()
        self._thread.shutdown()

    async def check(self) -> None:
        """Open the state and read the fault rules once, so that a bad file stops the start."""
        await self.run(lambda world: faults.rules(world.tx, self.settings.faults_file), _NOBODY)

    async def caller(self, key: str | None) -> Caller:
        """Whose key this is. Raises Unauthenticated, in the platform's words."""
        if key is None:
            raise PlatformError("Unauthenticated", "API key not valid")
        role = self.settings.keys.get(key)
        if role is not None:
            return Caller(self.settings.account, role)
        found = await self.run(lambda world: credentials.role_of(world.tx, self.settings, key), _NOBODY)
        if found is None:
            raise PlatformError("Unauthenticated", "API key not valid")
        return Caller(*found)

    def _due(self, words: str) -> list[Rule]:
        return faults.due(self._open().store, self.settings.faults_file, words)

    async def faults(self, words: str) -> list[Rule]:
        """The stored fault rules that hit this call; it is counted for every rule that matches."""
        version = self.version()
        if version != self._looked_at:
            file = self.settings.faults_file
            self._faulty = file is not None or await self.run(
                lambda world: bool(world.tx.meta("faults")), _NOBODY
            )
            self._looked_at = version
        if not self._faulty:
            return []
        return await asyncio.get_running_loop().run_in_executor(self._thread, self._due, words)


def bearer(headers: Mapping[str, str]) -> str | None:
    """The key of `Authorization: Bearer …`, the one form the platform documents."""
    scheme, _, key = headers.get("Authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" and key.strip() else None
