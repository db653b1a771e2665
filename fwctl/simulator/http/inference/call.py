"""One inference request on its way: what was understood, and the answer made for it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from aiohttp import web

from fwctl.simulator.http.engine.request import Request
from fwctl.simulator.http.inference import bodies, metrics_of, misbehave
from fwctl.simulator.http.inference.run import Run
from fwctl.simulator.http.inference.target import Target
from fwctl.simulator.http.knobs import Knobs
from fwctl.simulator.platform.world import Caller


@dataclass
class Call:
    """One HTTP request as far as it has been understood."""

    http: web.Request
    id: str
    received_s: float
    knobs: Knobs
    caller: Caller
    request: Request
    headers: dict[str, str]
    fault: misbehave.Fault | None
    target: Target

    @property
    def affinity(self) -> str | None:
        """What keeps a session on one replica: the cache key, else the user, else the header."""
        asked = self.request
        return asked.cache_key or asked.user or self.http.headers.get("x-session-affinity")


@dataclass
class Prepared:
    """A call with its answer made."""

    call: Call
    run: Run
    env: bodies.Envelope
    echoes: list[str]
    prediction_tokens: int | None

    def usage(self) -> dict[str, Any]:
        output = sum(len(choice.pieces) for choice in self.run.choices)
        return bodies.usage(self.run.prompt_tokens, output, self.run.cached_tokens)

    def metrics(self, now_s: float) -> dict[str, Any]:
        """`perf_metrics` at `now_s` of the pacer's clock."""
        deployment = self.call.target.deployment
        return metrics_of.complete(
            self.run,
            now=now_s,
            deployment=deployment["name"] if deployment else None,
            prediction_tokens=self.prediction_tokens,
            conditional=self.call.knobs["acceptance_format"] == "conditional",
        )

    def stamp(self) -> dict[str, Any]:
        """The server's own clock: when the request came and when this leaves, in nanoseconds."""
        return {
            "received_monotonic_ns": int(self.call.received_s * 1e9),
            "sent_monotonic_ns": time.monotonic_ns(),
            "sent_wall_ns": time.time_ns(),
        }
