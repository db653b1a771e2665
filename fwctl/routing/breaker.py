"""Circuit breaker of one target. Pure: time and chance are handed in.

Libraries for this let every caller through in the half-open state, or count at the end of a request,
which is a minute late for a long answer; so this is fwctl's own.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from fwctl.routing.model import BreakerPolicy
from fwctl.routing.outcome import Verdict
from fwctl.routing.window import Window

_SENT, _ENDED, _FAILED = range(3)
# A lone target that is open gets a probe this often, so that the end of an outage is seen at once.
DESPERATE_S = 1.0


class State(IntEnum):
    """The number is what the metrics page shows."""

    CLOSED = 0
    HALF_OPEN = 1
    OPEN = 2


@dataclass(slots=True)
class Ticket:
    """Permission for one request. `generation` tells answers of an earlier state from those of now."""

    slot: int
    generation: int
    probe: bool
    settled: bool = False


class Breaker:
    """Closed, open for a growing time, then half-open with exactly one probe at a time.

    chance: a number from 0 to 1 at each call, for jitter.
    """

    def __init__(self, policy: BreakerPolicy, chance: Callable[[], float]) -> None:
        self.policy = policy
        self.opened_by_cut = False
        self._chance = chance
        self._window = Window(policy.window_s, 3)
        self._generation = 0
        self._opened = False
        self._open_until = 0.0
        self._openings = 0
        self._good_probes = 0
        self._probing = False
        self._last_probe = -DESPERATE_S

    def state(self, now: float) -> State:
        """Open turns half-open by the clock alone."""
        if not self._opened:
            return State.CLOSED
        return State.HALF_OPEN if now >= self._open_until else State.OPEN

    def wait_s(self, now: float) -> float:
        """Seconds until the next probe may go out; 0 when it may now."""
        return max(0.0, self._open_until - now) if self._opened else 0.0

    def takes(self, now: float, *, desperate: bool = False) -> bool:
        """True when `admit` would give a ticket."""
        state = self.state(now)
        if state is State.CLOSED:
            return True
        if self._probing:
            return False
        return state is State.HALF_OPEN or (desperate and now - self._last_probe >= DESPERATE_S)

    def admit(self, now: float, *, desperate: bool = False) -> Ticket | None:
        """A ticket for one request that is sent now, or None. It must be settled, whatever happens.

        desperate: there is no other target, so an open one is probed once a second.
        """
        if not self.takes(now, desperate=desperate):
            return None
        if not self._opened:
            return Ticket(self._window.add(_SENT, now), self._generation, probe=False)
        self._probing = True
        self._last_probe = now
        return Ticket(0, self._generation, probe=True)

    def settle(self, ticket: Ticket, verdict: Verdict, now: float, *, cut: bool = False) -> None:
        """Tell how the request of a ticket went; the first word counts. cut: it broke after content."""
        if ticket.settled:
            return
        ticket.settled = True
        if ticket.generation != self._generation:
            return
        if ticket.probe:
            self._settle_probe(verdict, now, cut)
        elif verdict is Verdict.TERMINAL:
            self._open(now, self.policy.max_open_for_s, cut)
        elif verdict in (Verdict.OK, Verdict.BROKEN):
            self._count(ticket, verdict is Verdict.BROKEN, now, cut)
        else:
            self._window.add_at(_SENT, ticket.slot, now, -1)

    def _settle_probe(self, verdict: Verdict, now: float, cut: bool) -> None:
        self._probing = False
        if verdict is Verdict.OK:
            self._good_probes += 1
            self._open_until = min(self._open_until, now)
            if self._good_probes >= self.policy.probes:
                self._close()
        elif verdict is Verdict.TERMINAL:
            self._open(now, self.policy.max_open_for_s, cut)
        elif verdict is Verdict.BROKEN:
            self._open(now, self.policy.open_for_s, cut or self.opened_by_cut)

    def _count(self, ticket: Ticket, failed: bool, now: float, cut: bool) -> None:
        # A request that outlived the window counts as sent now, or a ratio could pass 1.
        if not self._window.add_at(_ENDED, ticket.slot, now):
            self._window.add(_SENT, now)
            ticket.slot = self._window.add(_ENDED, now)
        if not failed:
            return
        self._window.add_at(_FAILED, ticket.slot, now)
        sent, ended, failures = self._window.totals
        least = self.policy.min_requests
        if sent >= least and failures >= self.policy.failure_ratio * max(ended, least):
            self._open(now, self.policy.open_for_s, cut)

    def _open(self, now: float, least_s: float, cut: bool) -> None:
        """Open for twice as long each time, up to the cap, with up to a quarter of jitter on top."""
        doubled = least_s * 2.0 ** min(self._openings, 30)
        wait = min(doubled, self.policy.max_open_for_s)
        self._openings += 1
        self._opened = True
        self.opened_by_cut = cut
        self._open_until = now + wait * (1 + 0.25 * self._chance())
        self._good_probes = 0
        self._fresh()

    def _close(self) -> None:
        self._opened = self.opened_by_cut = False
        self._openings = self._good_probes = 0
        self._fresh()

    def _fresh(self) -> None:
        self._generation += 1
        self._probing = False
        self._window.clear()
