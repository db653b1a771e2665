"""One replica at work: admission by KV memory, one prefill at a time, continuous batching of decodes.

The clock is handed in, so that tests run hours of it at once.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Awaitable
from typing import NamedTuple, Protocol

from fwctl.simulator.http.engine.cache import PrefixCache
from fwctl.simulator.http.engine.hardware import Speed


class Pacer(Protocol):
    """Seconds on a clock that never goes back, and waiting for one of its moments."""

    def now(self) -> float: ...
    def until(self, moment_s: float) -> Awaitable[None]: ...


class Job(NamedTuple):
    """A running request as the replica counts it. kv_tokens: what is reserved for it."""

    kv_tokens: int


class Replica:
    """speed: what the roofline gives. host: name in `backend-host`. slots: most that run at a time, None
    for as many as the memory holds."""

    def __init__(self, speed: Speed, host: str) -> None:
        self.speed = speed
        self.host = host
        self.cache = PrefixCache(speed.kv_pool_tokens)
        self.running = 0
        self.kv_used = 0
        self.context_tokens = 0
        self.slots: int | None = None
        self._waiting: deque[tuple[int, asyncio.Future[None]]] = deque()
        self._prefill_free_at = 0.0

    @property
    def load(self) -> int:
        """Requests here, running or waiting."""
        return self.running + len(self._waiting)

    @property
    def waiting(self) -> int:
        return len(self._waiting)

    @property
    def kv_fraction(self) -> float:
        return min(1.0, self.kv_used / self.speed.kv_pool_tokens)

    def _fits(self, kv_tokens: int) -> bool:
        if self.slots is not None and self.running >= self.slots:
            return False
        return self.running == 0 or self.kv_used + kv_tokens <= self.speed.kv_pool_tokens

    def _enter(self, kv_tokens: int) -> None:
        self.running += 1
        self.kv_used += kv_tokens

    async def admit(self, kv_tokens: int) -> None:
        """Wait, first come first served, until the KV pool and a slot have room. Call `leave` afterwards."""
        if not self._waiting and self._fits(kv_tokens):
            self._enter(kv_tokens)
            return
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.append((kv_tokens, turn))
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave(kv_tokens)
            else:
                self._waiting = deque(entry for entry in self._waiting if entry[1] is not turn)
                self._wake()
            raise

    def leave(self, kv_tokens: int) -> None:
        """Give the reservation back and let the next ones in."""
        self.running -= 1
        self.kv_used -= kv_tokens
        self._wake()

    def _wake(self) -> None:
        while self._waiting and self._fits(self._waiting[0][0]):
            kv_tokens, turn = self._waiting.popleft()
            if not turn.cancelled():
                self._enter(kv_tokens)
                turn.set_result(None)

    def reserve_prefill(self, now_s: float, duration_s: float) -> float:
        """Queue a prefill behind the others; its start in clock seconds."""
        start = max(now_s, self._prefill_free_at)
        self._prefill_free_at = start + duration_s
        return start

    def step_s(self, width: int = 1) -> float:
        """Length of one decode step of `width` tokens with what runs now."""
        return self.speed.step_s(self.running, self.context_tokens, width)
