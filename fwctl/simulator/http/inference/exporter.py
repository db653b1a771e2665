"""The metrics endpoint: looks at the replicas, refreshes the page, limits who asks too often."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Mapping

from aiohttp import web

from fwctl.simulator.http.backend import Backend, bearer
from fwctl.simulator.http.inference.exposition import Gauge, Labels, Row, page
from fwctl.simulator.http.inference.fleet import Fleet
from fwctl.simulator.http.inference.traffic import Log
from fwctl.simulator.http.knobs import Knobs
from fwctl.simulator.http.reply import control_error
from fwctl.simulator.platform import deployments
from fwctl.simulator.platform.errors import PlatformError
from fwctl.simulator.platform.world import World

_KEEP_LOOKS = 300  # one a second, as long as the longest window


class Exporter:
    """One page per account, kept for `metrics_refresh_s`."""

    def __init__(self, backend: Backend, knobs: Knobs, log: Log, fleets: Mapping[str, Fleet]) -> None:
        self._backend, self._knobs, self._log, self._fleets = backend, knobs, log, fleets
        self._looks: dict[str, deque[tuple[float, Gauge]]] = {}
        self._pages: dict[str, tuple[float, str]] = {}
        self._asked: dict[str, deque[float]] = {}

    def look(self) -> None:
        """Note what the replicas hold now; called once a second."""
        now = time.monotonic()
        for name, fleet in self._fleets.items():
            replicas = fleet.replicas
            if not replicas:
                continue
            share = sum(replica.kv_fraction for replica in replicas) / len(replicas)
            step_s = sum(replica.step_s() for replica in replicas) / len(replicas)
            looks = self._looks.setdefault(name, deque(maxlen=_KEEP_LOOKS))
            looks.append((now, Gauge(share, share, fleet.concurrent, step_s)))

    def _check_rate(self, account: str, now: float) -> None:
        asked = self._asked.setdefault(account, deque())
        while asked and now - asked[0] >= 60.0:
            asked.popleft()
        if len(asked) >= self._knobs["metrics_per_minute"]:
            raise PlatformError(
                "ResourceExhausted", "metrics may be requested 6 times per minute and account"
            )
        asked.append(now)

    async def handle(self, http: web.Request) -> web.Response:
        """GET /v1/accounts/{account}/metrics."""
        account = http.match_info["account"]
        now = time.monotonic()
        try:
            caller = await self._backend.caller(bearer(http.headers))
            if account != caller.account:
                raise PlatformError("PermissionDenied", f"caller does not have access to account {account}")
            self._check_rate(account, now)
        except PlatformError as error:
            return control_error(error)
        made_s, text = self._pages.get(account, (-1e9, ""))
        if now - made_s >= self._knobs["metrics_refresh_s"]:
            live, at_s = await self._backend.run(lambda world: (_live(world, account), world.now), caller)
            self.look()
            at_ms = int((at_s if self._knobs["metrics_clock"] == "platform" else time.time()) * 1000)
            text = page([self._row(labels) for labels in live], at_ms, self._knobs["metrics_window_s"])
            self._pages[account] = (now, text)
        return web.Response(text=text, headers={"content-type": "text/plain; version=0.0.4; charset=utf-8"})

    def _row(self, labels: Labels) -> Row:
        name, window_s = labels.deployment, self._knobs["metrics_window_s"]
        since = time.monotonic() - window_s
        samples = [sample for sample in self._log.since(window_s) if sample.deployment == name]
        gauges = [gauge for at_s, gauge in self._looks.get(name, ()) if at_s >= since]
        return Row(labels, samples, gauges)


def _live(world: World, account: str) -> list[Labels]:
    return [
        Labels(doc["baseModel"], doc["name"], account, doc["name"].rsplit("/", 1)[-1])
        for doc in deployments.live(world, account)
    ]
