"""Waiting for exact moments, many streams at once, with one timer of the event loop."""

from __future__ import annotations

import asyncio
import heapq
import itertools
import time


class WallPacer:
    """Seconds of the monotonic clock. One armed timer serves all waiters, earliest first, so that
    thousands of paced streams cost one heap operation a chunk instead of one loop timer each.
    """

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, asyncio.Future[None]]] = []
        self._order = itertools.count()
        self._timer: asyncio.TimerHandle | None = None
        self._armed_s = 0.0

    def now(self) -> float:
        return time.monotonic()

    async def until(self, moment_s: float) -> None:
        if moment_s <= time.monotonic():
            return
        loop = asyncio.get_running_loop()
        future: asyncio.Future[None] = loop.create_future()
        heapq.heappush(self._heap, (moment_s, next(self._order), future))
        if self._timer is None or moment_s < self._armed_s:
            self._arm(loop, moment_s)
        await future

    def _arm(self, loop: asyncio.AbstractEventLoop, moment_s: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._armed_s = moment_s
        self._timer = loop.call_later(max(0.0, moment_s - time.monotonic()), self._fire, loop)

    def _fire(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = None
        # libuv counts in milliseconds; half of one early is nearer than one late.
        now = time.monotonic() + 0.0005
        while self._heap and self._heap[0][0] <= now:
            _, _, future = heapq.heappop(self._heap)
            if not future.done():
                future.set_result(None)
        while self._heap and self._heap[0][2].done():
            heapq.heappop(self._heap)
        if self._heap:
            self._arm(loop, self._heap[0][0])
