"""The replicas of every deployment that was asked something, with the state their memory holds."""

from __future__ import annotations

import zlib
from typing import Any

from fwctl.simulator.http.engine.hardware import Speed
from fwctl.simulator.http.engine.replica import Replica
from fwctl.simulator.http.reply import InferenceError


class Fleet:
    """Replicas of one deployment; their number follows the platform's ready replicas."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._key: Any = None
        self.replicas: list[Replica] = []
        self._turn = 0

    def resize(self, ready: int, key: Any, speed: Speed) -> None:
        """As many replicas as are ready. `key` names hardware and revision: another one starts afresh, with
        cold caches, while requests that run go on where they are.
        """
        if key != self._key:
            self._key, self.replicas = key, []
        short = self._name.rsplit("/", 1)[-1]
        while len(self.replicas) < ready:
            self.replicas.append(Replica(speed, f"{short}-{len(self.replicas)}"))
        del self.replicas[max(1, ready) :]

    @property
    def concurrent(self) -> int:
        return sum(replica.load for replica in self.replicas)

    def choose(self, affinity: str | None) -> Replica:
        """The session's replica, else the least loaded one, in turn among equals."""
        if affinity is not None:
            return self.replicas[zlib.crc32(affinity.encode()) % len(self.replicas)]
        self._turn += 1
        order = range(self._turn, self._turn + len(self.replicas))
        return min((self.replicas[i % len(self.replicas)] for i in order), key=lambda replica: replica.load)

    def check_concurrency(self, per_replica: int) -> None:
        """Raises 429 when every replica is at its `maxConcurrencyPerReplica`; 0 is no limit."""
        if per_replica and self.concurrent >= per_replica * len(self.replicas):
            raise InferenceError(
                429,
                "RESOURCE_EXHAUSTED",
                f"Deployment {self._name} is at its limit of {per_replica} concurrent requests per replica. "
                "Please retry later.",
                headers={"retry-after": "1", "x-sim-limited-by": "deployment"},
            )


class RequestLimit:
    """Requests an account may send in a minute, dedicated and serverless together."""

    def __init__(self) -> None:
        self._sent: dict[str, list[float]] = {}

    def take(self, account: str, per_minute: int, now_s: float) -> dict[str, str]:
        """Count one request; the rate headers. Raises 429 with Retry-After over the limit."""
        sent = [moment for moment in self._sent.get(account, ()) if now_s - moment < 60.0]
        self._sent[account] = sent
        headers = {"x-ratelimit-limit-requests": str(per_minute)}
        if len(sent) >= per_minute:
            wait_s = max(1, -int(-(60.0 - (now_s - sent[0])) // 1)) if sent else 60
            raise InferenceError(
                429,
                "RATE_LIMIT_EXCEEDED",
                f"Account {account} exceeded its limit of {per_minute} requests per minute over all "
                "deployments and serverless models.",
                headers=headers
                | {
                    "x-ratelimit-remaining-requests": "0",
                    "x-ratelimit-over-limit": "yes",
                    "retry-after": str(wait_s),
                    "x-sim-limited-by": "account",
                },
            )
        sent.append(now_s)
        return headers | {"x-ratelimit-remaining-requests": str(per_minute - len(sent))}
