"""Has acceptance moved? Windows of live traffic against the traffic that drafts were chosen on. Pure.

Passes of one answer are alike, so requests are what is counted: the variance of tokens per pass is that of
a ratio over requests (delta method), never that of a binomial over passes, which alarms far too often.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import sqrt
from statistics import NormalDist

LEAST_CHANGE = 0.10  # of tokens per pass; less is not worth a new drafter
FALSE_ALARMS = 0.01  # most, per window, while nothing moves; all CONSECUTIVE must agree on top of that
CONSECUTIVE = 3
MIN_REQUESTS = 30  # for a normal approximation of a mean over requests


class Trend(StrEnum):
    """What the last windows say. RISE is suspicious, too: loops raise acceptance."""

    STEADY = "steady"
    FALL = "fall"
    RISE = "rise"
    UNKNOWN = "unknown"


@dataclass(slots=True)
class Window:
    """Sums over requests: passes with drafts, drafted tokens that were accepted, and their products."""

    requests: int = 0
    passes: float = 0.0
    accepted: float = 0.0
    passes_squared: float = 0.0
    accepted_squared: float = 0.0
    product: float = 0.0

    def add(self, passes: float, accepted: float) -> None:
        """One request. A request without a drafted pass says nothing and is left out."""
        if passes <= 0:
            return
        self.requests += 1
        self.passes += passes
        self.accepted += accepted
        self.passes_squared += passes * passes
        self.accepted_squared += accepted * accepted
        self.product += passes * accepted

    @classmethod
    def of(cls, rows: Iterable[tuple[float, float]]) -> Window:
        """A window of (passes, accepted) rows."""
        found = cls()
        for passes, accepted in rows:
            found.add(passes, accepted)
        return found

    @property
    def tokens_per_pass(self) -> float | None:
        return 1 + self.accepted / self.passes if self.passes else None

    @property
    def variance(self) -> float:
        """Of tokens per pass, by the delta method for a ratio of two sums."""
        n, ratio = self.requests, self.accepted / self.passes
        squares = self.accepted_squared - 2 * ratio * self.product + ratio * ratio * self.passes_squared
        return max(squares, 0.0) / (n - 1) * n / (self.passes * self.passes)


@dataclass(frozen=True, slots=True)
class Drift:
    """change: of tokens per pass in the last window, a share of the base. p_value: of the last window.
    windows: how many of the last ones agree."""

    trend: Trend
    change: float | None = None
    p_value: float | None = None
    windows: int = 0


def p_value(base: Window, recent: Window) -> float:
    """Two-sided, that both windows have the same tokens per pass. 1.0 when nothing varies or differs."""
    difference = recent.accepted / recent.passes - base.accepted / base.passes
    spread = sqrt(base.variance + recent.variance)
    if not spread:
        return 1.0 if not difference else 0.0
    return 2 * NormalDist().cdf(-abs(difference) / spread)


def detect(
    base: Window,
    recent: Sequence[Window],
    *,
    least_change: float = LEAST_CHANGE,
    false_alarms: float = FALSE_ALARMS,
    consecutive: int = CONSECUTIVE,
) -> Drift:
    """The trend over the last `consecutive` windows, oldest first.

    FALL or RISE when each of them differs from the base in the same direction by at least `least_change`
    of its tokens per pass, and not by chance. UNKNOWN while there are too few windows or requests.
    """
    looked = recent[-consecutive:]
    if len(looked) < consecutive or any(window.requests < MIN_REQUESTS for window in (base, *looked)):
        return Drift(Trend.UNKNOWN)
    base_tokens = base.tokens_per_pass or 1.0
    changes = [(window.tokens_per_pass or 1.0) / base_tokens - 1 for window in looked]
    p_values = [p_value(base, window) for window in looked]
    moved = [
        (1 if change > 0 else -1) if abs(change) >= least_change and chance < false_alarms else 0
        for change, chance in zip(changes, p_values, strict=True)
    ]
    agree = 0
    for way in reversed(moved):
        if not way or way != moved[-1]:
            break
        agree += 1
    trend = Trend.STEADY if agree < consecutive else Trend.FALL if moved[-1] < 0 else Trend.RISE
    return Drift(trend, changes[-1], p_values[-1], agree)
