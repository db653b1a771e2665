"""One request through a replica: admission, prefill, and its tokens at their moments."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from fwctl.simulator.http.engine.answer import Choice
from fwctl.simulator.http.engine.hardware import POLICY
from fwctl.simulator.http.engine.replica import Pacer, Replica
from fwctl.simulator.http.engine.speculation import Passes

# Without waiting a long answer would keep the event loop to itself.
_YIELD_EVERY = 32


class Emission(NamedTuple):
    """Tokens start..end of a choice leave the server now; last: the choice is complete."""

    choice: int
    start: int
    end: int
    last: bool


class Timing(NamedTuple):
    """speed: 0 means without waiting. ttft_s and tokens_per_s override the model."""

    speed: float = 1.0
    ttft_s: float | None = None
    tokens_per_s: float | None = None
    tokens_per_chunk: int = 1


@dataclass
class Times:
    """Moments in seconds of the pacer's clock."""

    received: float
    admitted: float = 0.0
    prefill_start: float = 0.0
    prefill_end: float = 0.0
    first_token: float = 0.0
    done: float = 0.0


@dataclass
class Run:
    """A request with its answer made and its place chosen; `emissions` plays it once."""

    replica: Replica
    pacer: Pacer
    timing: Timing
    prompt_tokens: int
    cached_tokens: int
    choices: Sequence[Choice]
    passes: Sequence[Passes]
    times: Times
    running_at_start: int = 0
    emitted: list[int] = field(default_factory=list)

    @property
    def kv_tokens(self) -> int:
        return self.prompt_tokens + sum(len(choice.pieces) for choice in self.choices)

    async def emissions(self) -> AsyncGenerator[list[Emission], None]:
        """Groups of tokens as they leave. Closing the iterator frees the replica at once."""
        kv_tokens = min(self.kv_tokens, self.replica.speed.kv_pool_tokens)
        await self.replica.admit(kv_tokens)
        self.replica.context_tokens += kv_tokens
        self.emitted = [0] * len(self.choices)
        try:
            self.times.admitted = self.pacer.now()
            self.running_at_start = self.replica.running
            await self._prefill()
            async for group in self._decode():
                yield group
        finally:
            self.times.done = self.pacer.now()
            self.replica.context_tokens -= kv_tokens
            self.replica.leave(kv_tokens)

    async def _prefill(self) -> None:
        times, speed = self.times, self.timing.speed
        if not speed:
            times.prefill_start = times.prefill_end = times.first_token = times.admitted
            return
        if self.timing.ttft_s is not None:
            times.prefill_start = times.admitted
            times.prefill_end = max(times.admitted, times.received + self.timing.ttft_s / speed)
        else:
            seconds = self.replica.speed.prefill_s(self.prompt_tokens - self.cached_tokens) / speed
            times.prefill_start = self.replica.reserve_prefill(times.admitted, seconds)
            times.prefill_end = times.prefill_start + seconds
        await self.pacer.until(times.prefill_end)
        times.first_token = times.prefill_end

    async def _decode(self) -> AsyncIterator[list[Emission]]:
        moment, step = self.times.prefill_end, 0
        steps = max((len(passes.sizes) for passes in self.passes), default=0)
        sent = [0] * len(self.choices)
        while step < steps or step == 0:
            size, width, cost = 0, 1, 1.0
            for index, passes in enumerate(self.passes):
                if step < len(passes.sizes):
                    self.emitted[index] += passes.sizes[step]
                    size, width = max(size, passes.sizes[step]), max(width, passes.widths[step])
                    cost = max(cost, passes.costs[step])
            step += 1
            group = self._due(sent, step)
            if group:
                await self._reach(moment, step)
                yield group
            moment += self._step_seconds(size, width, cost)

    def _due(self, sent: list[int], step: int) -> list[Emission]:
        group = []
        for index, passes in enumerate(self.passes):
            last = step == max(1, len(passes.sizes))
            fresh = self.emitted[index] - sent[index]
            if last or fresh >= self.timing.tokens_per_chunk:
                if fresh or last:
                    group.append(Emission(index, sent[index], self.emitted[index], last))
                sent[index] = self.emitted[index]
        return group

    def _step_seconds(self, size: int, width: int, cost: float) -> float:
        if not self.timing.speed:
            return 0.0
        if self.timing.tokens_per_s is not None:
            return size / self.timing.tokens_per_s / self.timing.speed
        return self.replica.step_s(width) * cost / self.timing.speed

    async def _reach(self, moment: float, step: int) -> None:
        if not self.timing.speed:
            if step % _YIELD_EVERY == 0:
                await asyncio.sleep(0)
        else:
            await self.pacer.until(moment)


def tokenizer_s(tokens: int) -> float:
    """Seconds the tokenizer takes."""
    return POLICY["tokenizer_s_per_token"] * tokens
