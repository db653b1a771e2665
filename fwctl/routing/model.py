"""What a file of `kind: Routes` says, as plain values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from fwctl.errors import Position
from fwctl.inference.client import FIREWORKS_URL


@dataclass(frozen=True, slots=True)
class Timeouts:
    """Seconds. One deadline (`total_s`) is shared by all attempts; the others hold for each attempt.

    first_token_s: from sending to the first content. idle_s: between two reads of a stream.
    """

    connect_s: float = 2.0
    first_token_s: float = 10.0
    idle_s: float = 15.0
    total_s: float = 120.0


@dataclass(frozen=True, slots=True)
class RetryPolicy:
    """How much more than once a request may be sent.

    max_attempts: per request, over all targets. budget: share of the requests of the last ten seconds.
    floor_per_s: attempts a second that are always allowed. The budget is one for the whole process.
    """

    max_attempts: int = 3
    budget: float = 0.1
    floor_per_s: float = 10.0


@dataclass(frozen=True, slots=True)
class BreakerPolicy:
    """When a target counts as broken. Times in seconds.

    It opens when, within `window_s`, at least `min_requests` were sent and failures are at least
    `failure_ratio` of what ended. probes: single successful requests in a row that close it again.
    first_token_slo_s: a target whose p95 is above it stands back behind others; None: never.
    """

    window_s: float = 30.0
    min_requests: int = 20
    failure_ratio: float = 0.5
    open_for_s: float = 10.0
    max_open_for_s: float = 300.0
    probes: int = 3
    first_token_slo_s: float | None = None


@dataclass(frozen=True, slots=True)
class HedgePolicy:
    """A second request when the first is slow: after this quantile of its first-token times, or after
    `after_s` seconds, for at most this share of requests."""

    budget: float
    after_quantile: float | None = None
    after_s: float | None = None


@dataclass(frozen=True, slots=True)
class Target:
    """One place that can answer. `api_key` shows in no representation.

    name: unique within the file, what headers, logs and metrics say. model: the string that is sent.
    deployment: the resource behind it, None for serverless and other providers. weight: share of the
    traffic; 0: only when others cannot. lacks: capabilities that it does not have.
    """

    name: str
    model: str
    url: str = FIREWORKS_URL
    api_key: str | None = field(default=None, repr=False)
    account: str | None = None
    deployment: str | None = None
    region: str | None = None
    weight: float | None = None
    lacks: frozenset[str] = frozenset()
    context_length: int | None = None
    timeouts: Timeouts = field(default_factory=Timeouts)
    position: Position | None = None

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What a breaker belongs to: provider, region, deployment, model."""
        return self.url, self.region or "", self.deployment or "", self.model

    @property
    def payer(self) -> tuple[str, str]:
        """Who shares an account-wide limit with it: the server and its account, else its key."""
        return self.url, self.account or self.api_key or ""


@dataclass(frozen=True, slots=True)
class Route:
    """What clients name as `model`. report_model: the name that answers carry, `target` or `route`."""

    name: str
    targets: tuple[Target, ...]
    total_s: float = 120.0
    retry: RetryPolicy = field(default_factory=RetryPolicy)
    breaker: BreakerPolicy = field(default_factory=BreakerPolicy)
    hedge: HedgePolicy | None = None
    report_model: str = "target"
    position: Position | None = None


@dataclass(frozen=True, slots=True)
class Trace:
    """A log of requests and answers for `speculate replay` and `bench import`, off by default.

    share: of the requests, from 0 to 1.
    """

    file: Path
    share: float


@dataclass(frozen=True, slots=True)
class Settings:
    """What holds for the whole process. Sizes in bytes, times in seconds.

    drain_delay_s: how long it goes on accepting after SIGTERM, until load balancers have noticed.
    drain_s: how long running answers get after that.
    """

    client_keys: tuple[str, ...] = field(default=(), repr=False)
    trace: Trace | None = None
    max_body_bytes: int = 16 * 2**20
    drain_delay_s: float = 5.0
    drain_s: float = 120.0
    keep_headers: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Routes:
    """One file. `retry` of the process: the largest budget and floor of its routes."""

    file: str
    account: str | None
    routes: Mapping[str, Route]
    settings: Settings = field(default_factory=Settings)
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @property
    def retry(self) -> RetryPolicy:
        """The budget that all routes share."""
        policies = [route.retry for route in self.routes.values()]
        return RetryPolicy(
            max(policy.max_attempts for policy in policies),
            max(policy.budget for policy in policies),
            max(policy.floor_per_s for policy in policies),
        )
