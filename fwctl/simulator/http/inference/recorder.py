"""Writes the traffic log to the state: at once when a deployment was quiet, in batches while it is busy."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterable, Mapping

from fwctl.simulator.http.backend import Backend
from fwctl.simulator.http.inference.traffic import Log, Sample
from fwctl.simulator.platform import traffic
from fwctl.simulator.platform.world import Caller, World

# Real seconds between two writes of a busy server, and how long a reported load lasts unrepeated.
_EVERY_S = 1.0
_LOAD_LASTS_S = 30.0
# Rates are counted over this long.
_RATE_WINDOW_S = 10.0
_WRITER = Caller("fireworks")


def sums(samples: Iterable[Sample]) -> traffic.Usage:
    """Samples of one deployment added up."""
    total = traffic.Usage()
    for sample in samples:
        added = traffic.Usage(
            1,
            int(sample.status >= 400),
            sample.prompt_tokens,
            sample.cached_tokens,
            sample.output_tokens,
            sample.drafted,
            sample.accepted,
            sample.total_ms or 0.0,
            sample.ttft_ms or 0.0,
        )
        total = total.plus(added)
    return total


def load_of(samples: list[Sample], concurrent: int, window_s: float) -> dict[str, float]:
    """What the autoscaler is told, in the words of load targets."""
    served = [sample for sample in samples if sample.status < 400]
    busy_s = sum(sample.total_ms or 0.0 for sample in samples) / 1000
    # A refused request still shows demand: that is what wakes a deployment at zero.
    waiting = 1.0 if len(served) < len(samples) else 0.0
    return {
        "concurrent_requests": max(float(concurrent), busy_s / window_s, waiting),
        "requests_per_second": len(samples) / window_s,
        "tokens_generated_per_second": sum(sample.output_tokens for sample in served) / window_s,
        "prompt_tokens_per_second": sum(sample.prompt_tokens for sample in served) / window_s,
    }


class Recorder:
    """concurrent: requests of each deployment that run now, asked for at each write."""

    def __init__(self, backend: Backend, log: Log) -> None:
        self._backend = backend
        self._log = log
        self._last_s: dict[str, float] = {}
        self._lock = asyncio.Lock()

    def due(self, name: str) -> bool:
        """True when this deployment's traffic should be written now: it was quiet until just now."""
        return time.monotonic() - self._last_s.get(name, -_EVERY_S) >= _EVERY_S

    async def write(self, concurrent: Mapping[str, int]) -> None:
        """Write what was counted and the load of every deployment that is busy or just was."""
        async with self._lock:
            taken = self._log.take()
            busy = {name for name, count in concurrent.items() if count}
            names = {sample.deployment for sample in taken} | busy
            if not names:
                return
            recent = self._log.since(_RATE_WINDOW_S)
            now = time.monotonic()
            for name in names:
                self._last_s[name] = now
            for_s = _LOAD_LASTS_S * (self._backend.settings.speed or 1.0)

            def work(world: World) -> None:
                for name in sorted(names):
                    own = [sample for sample in taken if sample.deployment == name]
                    of_name = [sample for sample in recent if sample.deployment == name]
                    load = load_of(of_name, concurrent.get(name, 0), _RATE_WINDOW_S)
                    base = of_name[-1].base_model if of_name else ""
                    traffic.record(world, name, base, usage=sums(own), load=load, for_s=for_s)

            await self._backend.run(work, _WRITER, write=True)
