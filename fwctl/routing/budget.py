"""How many extra attempts the process may make. Pure: time is handed in.

Source: "Handling Overload" in Google's SRE book (retries stay near 10 % of requests), and the reserve of
Finagle's and Envoy's retry budgets that keeps a quiet client able to retry at all.
"""

from __future__ import annotations

from fwctl.routing.window import Window

WINDOW_S = 10.0
_REQUESTS, _EXTRA = range(2)


class Budget:
    """Extra attempts in ten seconds are at most `share` of the requests of ten seconds plus a floor."""

    __slots__ = ("_floor", "_share", "_window")

    def __init__(self, share: float, floor_per_s: float) -> None:
        self._window = Window(WINDOW_S, 2)
        self.change(share, floor_per_s)

    def change(self, share: float, floor_per_s: float) -> None:
        """Other limits from now on; what was counted stays."""
        self._share = share
        self._floor = floor_per_s * WINDOW_S

    def request(self, now: float) -> None:
        """Count a request of a client."""
        self._window.add(_REQUESTS, now)

    def take(self, now: float) -> bool:
        """True when one more attempt is allowed, which is then counted."""
        self._window.slot(now)
        requests, extra = self._window.totals
        if extra + 1 > self._share * requests + self._floor:
            return False
        self._window.add(_EXTRA, now)
        return True

    def give_back(self, now: float) -> None:
        """An attempt that was taken was not needed."""
        self._window.slot(now)
        if self._window.totals[_EXTRA] > 0:
            self._window.add(_EXTRA, now, -1)

    def left(self, now: float) -> float:
        """Attempts that are allowed at this moment, for the metrics page."""
        self._window.slot(now)
        requests, extra = self._window.totals
        return max(0.0, self._share * requests + self._floor - extra)
