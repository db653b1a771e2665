"""What an experiment knows of itself and what it has cost, written down before the next thing begins."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import replace
from pathlib import Path
from typing import Any

from fwctl.live.model import LiveDeployment
from fwctl.quality.experiments import cost
from fwctl.quality.experiments.candidates import candidate_of, own
from fwctl.quality.experiments.state import State, save
from fwctl.quality.experiments.world import World
from fwctl.units import format_usd

# Seconds that the deletes take after the load was ended for the cap: until then replicas still cost.
DELETE_S = 30.0
TELL_EVERY_S = 30.0


class Ledger:
    """The state on disk, and looks at the replicas that keep its cost up to date.

    root: `.fwctl/`. look_every_s: between two looks. over: why nothing more may be begun, empty when it may.
    """

    def __init__(self, world: World, root: Path, state: State, look_every_s: float) -> None:
        self.state = state
        self.over = ""
        self._world = world
        self._root = root
        self._look_every_s = look_every_s
        self._lock = threading.Lock()
        self._told = ("", 0.0)

    def write(self, **changes: Any) -> None:
        """Change the state and keep it; on disk before this returns."""
        with self._lock:
            self.state = replace(self.state, **changes)
            save(self._root, self.state)

    def watching(self) -> AbstractContextManager[None]:
        """Looks again and again, and ends what is under way when `over` says why."""
        return self._world.watching(self.look)

    def usd_per_hour_by_id(self) -> Mapping[str, float | None]:
        """Of one replica, by deployment ID; None when unknown."""
        return {key: self.state.usd_per_hour.get(name) for name, key in self.state.candidates.items()}

    def look(self, items: Sequence[LiveDeployment]) -> bool:
        """Count what the candidates cost; False when the cap is near or the time is over."""
        mine = own({item.deployment_id: item for item in items}, self.state.stack, self.state.name)
        now = self._world.clock.now()
        usd_per_hour, unpriced = cost.running(mine, self.usd_per_hour_by_id())
        spending = cost.sampled(self.state.spending, now, usd_per_hour, unpriced=unpriced)
        self.write(spending=spending)
        ahead = usd_per_hour * (self._look_every_s + DELETE_S) / 3600
        running = ", ".join(f"{candidate_of(i)} x{cost.billed_replicas(i)}" for i in mine) or "nothing"
        self._tell(f"{', and what has no known price' if unpriced else ''}; running: {running}")
        if spending.usd + ahead > self.state.cap_usd:
            spent, cap = format_usd(spending.usd), format_usd(self.state.cap_usd)
            self.over = f"ended at {spent}: to go on could pass the spend cap of {cap}"
        elif now >= self.state.end and mine:
            self.over = "time_to_live has ended"
        return not self.over

    def _tell(self, rest: str) -> None:
        """The cost, when something else runs than before, and now and then."""
        now_s = self._world.clock.monotonic()
        if rest == self._told[0] and now_s - self._told[1] < TELL_EVERY_S:
            return
        self._told = (rest, now_s)
        spent, cap = format_usd(self.state.spending.usd), format_usd(self.state.cap_usd)
        self._world.say(f"cost so far {spent} of {cap}{rest}")
