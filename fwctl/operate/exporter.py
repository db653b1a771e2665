"""The platform's Prometheus page: what it says about each deployment. Pure.

Every value is already a rate or a mean over one minute, buckets too, so nothing is ever passed through
rate(). Source: docs.fireworks.ai, exporting metrics.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from fwctl.errors import FwctlError

# The page is refreshed every 30 s; public monitors of the platform take three minutes for too old.
STALE_S = 180.0
LARGEST_BYTES = 32 * 2**20
LARGEST = 1e12  # what is more, or no number, is a fault of the page

SUM = ":sum_by_deployment"
MEAN = ":avg_by_deployment"
# Series -> field of DeploymentMetrics.
_PLAIN = {
    f"request_counter_total{SUM}": "requests_per_s",
    f"tokens_prompt_total{SUM}": "prompt_per_s",
    f"tokens_cached_prompt_total{SUM}": "cached_per_s",
    f"generator_kv_blocks_fraction{MEAN}": "kv_blocks",
    f"generator_kv_slots_fraction{MEAN}": "kv_slots",
    f"requests_coordinator_concurrent_count{MEAN}": "concurrent",
}
ERRORS = f"requests_error_total{SUM}"
_BUCKET = f"_bucket{SUM}"

Buckets = Mapping[float, float]  # upper edge -> rate of values up to it; the last edge is infinite


@dataclass(slots=True)
class DeploymentMetrics:
    """One deployment on one page. None: the page does not say. errors: requests a second by HTTP status.
    histograms: by name without suffix, for example `latency_to_first_token_ms`. at: oldest of its samples."""

    deployment_id: str
    at: datetime
    requests_per_s: float | None = None
    prompt_per_s: float | None = None
    cached_per_s: float | None = None
    kv_blocks: float | None = None
    kv_slots: float | None = None
    concurrent: float | None = None
    errors: dict[str, float] = field(default_factory=dict)
    histograms: dict[str, dict[float, float]] = field(default_factory=dict)

    def stale(self, now: datetime) -> bool:
        """True when it is too old to be trusted."""
        return (now - self.at).total_seconds() > STALE_S

    @property
    def error_share(self) -> float | None:
        """Failed requests as a share of all; None without requests."""
        if not self.requests_per_s:
            return None
        return min(1.0, sum(self.errors.values()) / self.requests_per_s)

    @property
    def generated_per_s(self) -> float | None:
        """Generated tokens a second, estimated from the middles of the buckets of tokens a request."""
        buckets = self.histograms.get("tokens_generated_per_request")
        return None if buckets is None else _estimated_sum(buckets)

    def quantile(self, name: str, share: float) -> Quantile | None:
        """A quantile of one histogram; None when it is missing or empty."""
        return quantile(self.histograms.get(name, {}), share)


@dataclass(frozen=True, slots=True)
class Quantile:
    """A quantile from buckets. above: it lies beyond the largest edge, which is then `value`."""

    value: float
    above: bool = False

    def __str__(self) -> str:
        return f"{'> ' if self.above else ''}{self.value:,.0f}"


def quantile(buckets: Buckets, share: float) -> Quantile | None:
    """As PromQL's histogram_quantile: linear within the bucket it falls in. In the open last bucket
    nothing is known but that it is above the largest edge, and that is what is said."""
    edges = sorted(buckets)
    if len(edges) < 2 or not math.isinf(edges[-1]):
        return None
    counts = _rising([buckets[edge] for edge in edges])
    rank = share * counts[-1]
    if not counts[-1] > 0:
        return None
    at = next(n for n, count in enumerate(counts) if count >= rank)
    if at == len(edges) - 1:
        return Quantile(edges[-2], above=True)
    low = edges[at - 1] if at else min(0.0, edges[0])
    before = counts[at - 1] if at else 0.0
    width = counts[at] - before
    return Quantile(low + (edges[at] - low) * ((rank - before) / width if width else 1.0))


def _rising(counts: Sequence[float]) -> list[float]:
    """Cumulative counts never fall; scrapes of several replicas can make them look so."""
    highest, found = 0.0, []
    for count in counts:
        highest = max(highest, count)
        found.append(highest)
    return found


def _estimated_sum(buckets: Buckets) -> float:
    edges = sorted(buckets)
    counts = _rising([buckets[edge] for edge in edges])
    total, low, before = 0.0, 0.0, 0.0
    for edge, count in zip(edges, counts, strict=True):
        middle = low if math.isinf(edge) else (low + edge) / 2
        total += (count - before) * middle
        low, before = edge, count
    return total


def parse_page(text: str, fetched: datetime) -> dict[str, DeploymentMetrics]:
    """Metrics by deployment ID. fetched: stands for the time of samples without one.

    Several rows of a deployment are added up, those of means count by the highest. Raises FwctlError when
    the text is no such page, or the parser is not installed.
    """
    try:
        from prometheus_client.parser import text_string_to_metric_families
    except ImportError:
        raise FwctlError(
            "reading the metrics page needs an extra", next_steps=["pip install 'fwctl[runtime]'"]
        ) from None
    found: dict[str, DeploymentMetrics] = {}
    try:
        for family in text_string_to_metric_families(text):
            for sample in family.samples:
                _add(found, sample, fetched)
    except (ValueError, KeyError, IndexError, TypeError, OSError, OverflowError, RecursionError):
        raise FwctlError("the metrics page cannot be read: it is not in the Prometheus text format") from None
    return found


def _add(found: dict[str, DeploymentMetrics], sample: Any, fetched: datetime) -> None:
    id_ = sample.labels.get("deployment_id") or sample.labels.get("deployment", "").rsplit("/", 1)[-1]
    value = float(sample.value)
    if not id_ or not 0 <= value <= LARGEST:
        return
    at = fetched if sample.timestamp is None else datetime.fromtimestamp(float(sample.timestamp), UTC)
    entry = found.setdefault(id_, DeploymentMetrics(id_, at))
    entry.at = min(entry.at, at)
    name = sample.name
    if name in _PLAIN:
        before = getattr(entry, _PLAIN[name]) or 0.0
        setattr(entry, _PLAIN[name], before + value if name.endswith(SUM) else max(before, value))
    elif name == ERRORS:
        code = sample.labels.get("http_code", "unknown")
        entry.errors[code] = entry.errors.get(code, 0.0) + value
    elif name.endswith(_BUCKET) and "le" in sample.labels:
        buckets = entry.histograms.setdefault(name.removesuffix(_BUCKET), {})
        edge = float(sample.labels["le"])
        if not math.isnan(edge):
            buckets[edge] = buckets.get(edge, 0.0) + value
