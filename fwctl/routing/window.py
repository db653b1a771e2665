"""Counts of the last seconds, in ten slots that are dropped one by one. Pure: time is handed in."""

from __future__ import annotations

SLOTS = 10


class Window:
    """Several counters over one rolling window. Memory does not depend on traffic."""

    __slots__ = ("_counts", "_newest", "_slot_s", "_width", "totals")

    def __init__(self, window_s: float, counters: int) -> None:
        self._slot_s = window_s / SLOTS
        self._width = counters
        self.clear()

    def clear(self) -> None:
        """Forget everything."""
        self._counts = [[0] * self._width for _ in range(SLOTS)]
        self._newest: int | None = None
        self.totals = [0] * self._width

    def slot(self, now: float) -> int:
        """Move on to `now` (seconds, never going back); the number of its slot."""
        current = int(now // self._slot_s)
        if self._newest is None:
            self._newest = current
        while self._newest < current:
            if current - self._newest > SLOTS:
                self._newest = current - SLOTS
            self._newest += 1
            old = self._counts[self._newest % SLOTS]
            for at, count in enumerate(old):
                self.totals[at] -= count
                old[at] = 0
        return self._newest

    def add(self, counter: int, now: float, amount: int = 1) -> int:
        """Count at `now`; the slot it went to."""
        slot = self.slot(now)
        self._counts[slot % SLOTS][counter] += amount
        self.totals[counter] += amount
        return slot

    def add_at(self, counter: int, slot: int, now: float, amount: int = 1) -> bool:
        """Count in an earlier slot; False when that has left the window already."""
        newest = self.slot(now)
        if slot <= newest - SLOTS:
            return False
        self._counts[slot % SLOTS][counter] += amount
        self.totals[counter] += amount
        return True
