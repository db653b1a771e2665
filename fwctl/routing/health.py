"""What is known about one target at this moment: its breaker, overload, cold start, speed.

Pure: time and chance are handed in. All states live in one process and are lost with it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from enum import IntEnum

from fwctl.routing.breaker import Breaker, State, Ticket
from fwctl.routing.model import BreakerPolicy
from fwctl.routing.outcome import Verdict
from fwctl.stats.quantiles import quantile

# An overloaded target that names no time gets this long, and is still tried when nothing else is left.
SHED_S = 1.0
# A Retry-After beyond this is not believed: a server's clock may be wrong, and probes find out cheaply.
LONGEST_SHED_S = 300.0
# A target that scales up answers 503 at once, so asking now and then costs little and wakes it.
COLD_EVERY_S = 2.0
# Failures in a row after which a target stands back before its breaker has seen enough requests.
SUSPECT_AFTER = 3
# So many requests without any first token for so long mean that a target hangs.
STALLED_WAITING = 5
STALLED_LEAST_S = 0.25
_KEPT = 256


class Access(IntEnum):
    """How willing a target is; lower is better."""

    READY = 0
    PROBE = 1  # one request may find out whether it works again
    BACK = 2  # works, but others come first
    NO = 3


class Shed:
    """Overload by a server's own word: nothing is sent until it is over.

    Without a time of its own it is a guess, and somebody without another choice may try all the same.
    """

    __slots__ = ("_hard", "_until")

    def __init__(self) -> None:
        self._until = 0.0
        self._hard = False

    def shed(self, now: float, retry_after_s: float | None) -> None:
        """Begin, or go on for longer. retry_after_s: what the server asked for."""
        until = now + (SHED_S if retry_after_s is None else min(retry_after_s, LONGEST_SHED_S))
        if until > self._until:
            self._until = until
            self._hard = retry_after_s is not None

    def refuses(self, now: float, *, desperate: bool) -> bool:
        return now < self._until and (self._hard or not desperate)

    def is_shed(self, now: float) -> bool:
        return now < self._until

    def wait_s(self, now: float) -> float:
        """Seconds until it is over."""
        return max(0.0, self._until - now)


class Health(Shed):
    """One for each breaker key. Times are seconds on a monotonic clock."""

    def __init__(self, policy: BreakerPolicy, chance: Callable[[], float]) -> None:
        super().__init__()
        self.breaker = Breaker(policy, chance)
        self.waiting = 0
        self._firsts: deque[tuple[float, float]] = deque(maxlen=_KEPT)
        self._progress_at = 0.0
        self._cold = False
        self._cold_next = 0.0
        self._failures = 0
        self._suspect_next = 0.0

    def access(self, now: float, *, desperate: bool = False) -> Access:
        """Whether a request may go there. desperate: no other target is left."""
        if self.refuses(now, desperate=desperate):
            return Access.NO
        if not self.breaker.takes(now, desperate=desperate):
            return Access.NO
        if self.breaker.state(now) is not State.CLOSED:
            return Access.PROBE
        if self._cold:
            return Access.PROBE if now >= self._cold_next or desperate else Access.NO
        if self._failures >= SUSPECT_AFTER:
            return Access.PROBE if now >= self._suspect_next else Access.BACK
        return Access.BACK if self._is_slow(now) or self._hangs(now) else Access.READY

    def admit(self, now: float, *, desperate: bool = False) -> Ticket | None:
        """A ticket for a request that is sent now; `settle` must follow."""
        ticket = self.breaker.admit(now, desperate=desperate)
        if ticket is None:
            return None
        if self._cold:
            self._cold_next = now + COLD_EVERY_S
        if self._failures >= SUSPECT_AFTER:
            self._suspect_next = now + self.breaker.policy.open_for_s
        if not self.waiting:
            self._progress_at = now
        self.waiting += 1
        return ticket

    def first_token(self, ticket: Ticket, seconds: float, now: float) -> None:
        """Content has come. It ends a probe, unless the breaker opened because streams broke later."""
        self.waiting -= 1
        self._progress_at = now
        self._firsts.append((now, seconds))
        if ticket.probe and not self.breaker.opened_by_cut:
            self._good(ticket, now)

    def stops_waiting(self) -> None:
        """The attempt ended without a first token: it failed, or its answer is not a stream."""
        self.waiting -= 1

    def settle(
        self,
        ticket: Ticket,
        verdict: Verdict,
        now: float,
        *,
        retry_after_s: float | None = None,
        cut: bool = False,
    ) -> None:
        """How a request of a ticket ended. cut: after content had come."""
        if verdict is Verdict.OK:
            self._good(ticket, now)
            return
        if verdict is Verdict.OVERLOAD:
            self.shed(now, retry_after_s)
        elif verdict is Verdict.COLD:
            self._cold = True
            self._cold_next = max(self._cold_next, now + COLD_EVERY_S)
        elif verdict is Verdict.BROKEN and not ticket.settled:
            self._failures += 1
            if self._failures == SUSPECT_AFTER:
                self._suspect_next = now + self.breaker.policy.open_for_s
        self.breaker.settle(ticket, verdict, now, cut=cut)

    def wait_s(self, now: float) -> float:
        """Seconds until it is worth asking again."""
        return max(super().wait_s(now), self.breaker.wait_s(now))

    def p95(self, now: float) -> float | None:
        """First-token time that 95 % stay below, None with too few answers in the window."""
        return self.quantile(0.95, now)

    def quantile(self, q: float, now: float) -> float | None:
        """A quantile of the first-token times of the last window, None with fewer than 20."""
        since = now - self.breaker.policy.window_s
        recent = [seconds for at, seconds in self._firsts if at >= since]
        return quantile(recent, q) if len(recent) >= 20 else None

    def _good(self, ticket: Ticket, now: float) -> None:
        self._cold = False
        self._failures = 0
        self.breaker.settle(ticket, Verdict.OK, now)

    def _is_slow(self, now: float) -> bool:
        limit = self.breaker.policy.first_token_slo_s
        if limit is None:
            return False
        p95 = self.p95(now)
        return p95 is not None and p95 > limit

    def _hangs(self, now: float) -> bool:
        if self.waiting < STALLED_WAITING or now - self._progress_at < STALLED_LEAST_S:
            return False
        p95 = self.p95(now)
        return p95 is not None and now - self._progress_at > 3 * p95
