"""The metrics page: attempts, outcomes, breaker states, times and tokens, for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from fwctl.routing.breaker import State
from fwctl.routing.record import Record

States = Callable[[], Iterable[tuple[str, str, State]]]

_SECONDS = (0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1, 1.5, 2, 3, 5, 7.5, 10, 15, 30, 60, 120)


class _Breakers(Collector):
    """The states at the moment of the scrape, so that an idle target is right too."""

    def __init__(self, states: States) -> None:
        self._states = states

    def collect(self) -> Iterator[GaugeMetricFamily]:
        family = GaugeMetricFamily(
            "fwctl_route_breaker_state",
            "0 closed, 1 half-open, 2 open",
            labels=("route", "target"),
        )
        for route, target, state in self._states():
            family.add_metric((route, target), float(state))
        yield family


class Metrics:
    """Counters of one process."""

    def __init__(self, states: States, budget_left: Callable[[], float]) -> None:
        registry = self.registry = CollectorRegistry()
        self._children: dict[tuple[int, tuple[str, ...]], Any] = {}
        name = "fwctl_route_"
        self._requests = Counter(
            name + "requests", "Requests by how they ended", ("route", "outcome"), registry=registry
        )
        self._attempts = Counter(
            name + "attempts", "Attempts at targets", ("route", "target", "outcome"), registry=registry
        )
        self._first = Histogram(
            name + "first_token_seconds",
            "From the request to its first content, all attempts included",
            ("route", "target"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._total = Histogram(
            name + "seconds",
            "From the request to its end",
            ("route", "target"),
            buckets=_SECONDS,
            registry=registry,
        )
        self._tokens = Counter(
            name + "tokens",
            "Tokens as the targets count them",
            ("route", "target", "kind"),
            registry=registry,
        )
        self.in_flight = Gauge(name + "in_flight", "Requests that run now", registry=registry)
        left = Gauge(name + "retry_budget_left", "Extra attempts allowed now", registry=registry)
        left.set_function(budget_left)
        self.reloads = Counter(name + "reloads", "Reloads of the file", ("result",), registry=registry)
        registry.register(_Breakers(states))

    def observe(self, record: Record) -> None:
        """Count one request at its end."""
        route, target = record.route, record.target
        self._child(self._requests, route, record.outcome).inc()
        for item in record.tried:
            self._child(self._attempts, route, item.target, item.error_class or "ok").inc()
        if target is None:
            return
        self._child(self._total, route, target).observe(record.total_s)
        if record.first_token_s is not None:
            self._child(self._first, route, target).observe(record.first_token_s)
        for kind in ("prompt_tokens", "completion_tokens"):
            if isinstance(count := (record.usage or {}).get(kind), int) and count > 0:
                self._child(self._tokens, route, target, kind.partition("_")[0]).inc(count)

    def _child(self, metric: Any, *labels: str) -> Any:
        """The child of these labels, kept: looking it up in the library takes a lock each time."""
        key = (id(metric), labels)
        found = self._children.get(key)
        if found is None:
            found = self._children[key] = metric.labels(*labels)
        return found

    def page(self) -> bytes:
        """The page in Prometheus' text format."""
        return generate_latest(self.registry)
