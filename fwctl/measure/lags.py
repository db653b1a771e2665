"""How late the event loop was, in memory that does not grow with the length of a run."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable

TICK_S = 0.01
STEP_S = 0.0001
POINTS = 1000


class Lags:
    """Delays of a timer that asks every 10 ms, counted in steps of 0.1 ms, rounded up."""

    def __init__(self, counts: Iterable[tuple[int, int]] = ()) -> None:
        self.counts = Counter(dict(counts))

    def add(self, seconds: float) -> None:
        self.counts[-int(-max(0.0, seconds) // STEP_S)] += 1

    def merge(self, other: Lags) -> None:
        self.counts.update(other.counts)

    def seconds(self) -> list[float]:
        """Up to a thousand values with the same distribution, ascending."""
        total = self.counts.total()
        wanted = min(total, POINTS)
        found: list[float] = []
        seen = 0
        for step, number in sorted(self.counts.items()):
            seen += number
            while len(found) < wanted and (len(found) + 1) * total <= seen * wanted:
                found.append(step * STEP_S)
        return found

    async def watch(self) -> None:
        """Measure until cancelled."""
        while True:
            asked = time.monotonic()
            await asyncio.sleep(TICK_S)
            self.add(time.monotonic() - asked - TICK_S)
