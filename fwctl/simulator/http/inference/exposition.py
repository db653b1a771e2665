"""The Prometheus page of an account: rates and averages over one minute, in the platform's names.

Source: docs.fireworks.ai, exporting metrics. Every value is a gauge; buckets are rates too, so
`histogram_quantile(0.95, X)` works on them directly. Dedicated deployments only.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

from fwctl.simulator.http.inference.traffic import Sample

_MS_EDGES = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000)
_TOKEN_EDGES = (1, 8, 32, 128, 512, 1024, 2048, 4096, 8192, 16_384, 32_768, 65_536, 131_072)
CACHE_TTL_S = 300.0


class Labels(NamedTuple):
    base_model: str
    deployment: str
    deployment_account: str
    deployment_id: str

    def text(self, extra: str = "") -> str:
        inner = ",".join(f'{key}="{value}"' for key, value in self._asdict().items())
        return "{" + inner + extra + "}"


class Gauge(NamedTuple):
    """One look at a deployment's replicas: shares of KV blocks and slots in use, requests, seconds a step."""

    kv_blocks: float
    kv_slots: float
    concurrent: float
    forward_s: float


class Row(NamedTuple):
    labels: Labels
    samples: Sequence[Sample]
    gauges: Sequence[Gauge]


def _zero(sample: Sample) -> float | None:
    return None if sample.ttft_ms is None else 0.0


def _one(_: Sample) -> float:
    return 1.0


def _cache_ttl(_: Gauge) -> float:
    return CACHE_TTL_S


_COUNTERS: dict[str, tuple[str, Callable[[Sample], float]]] = {
    "request_counter_total": ("Request rate", _one),
    "tokens_cached_prompt_total": ("Cached prompt token rate", lambda sample: sample.cached_tokens),
    "tokens_prompt_total": ("Prompt token rate", lambda sample: sample.prompt_tokens),
}
_HISTOGRAMS: dict[str, tuple[str, Sequence[float], Callable[[Sample], float | None]]] = {
    "latency_generation_per_token_ms": ("Time per generated token", _MS_EDGES, lambda s: s.per_token_ms),
    "latency_generation_queue_ms": ("Time in the generation queue", _MS_EDGES, _zero),
    "latency_overall_ms": ("Request latency", _MS_EDGES, lambda s: s.total_ms),
    "latency_to_first_token_ms": ("Time to first token", _MS_EDGES, lambda s: s.ttft_ms),
    "latency_prefill_ms": ("Prefill time", _MS_EDGES, lambda s: s.prefill_ms),
    "latency_prefill_queue_ms": ("Time in the prefill queue", _MS_EDGES, lambda s: s.queue_ms),
    "tokens_generated_per_request": (
        "Generated tokens of a request",
        _TOKEN_EDGES,
        lambda s: s.output_tokens,
    ),
    "tokens_prompt_per_request": ("Prompt tokens of a request", _TOKEN_EDGES, lambda s: s.prompt_tokens),
}
_AVERAGES: dict[str, tuple[str, Callable[[Gauge], float]]] = {
    "generator_kv_blocks_fraction": ("Share of KV blocks in use", lambda g: g.kv_blocks),
    "generator_kv_slots_fraction": ("Share of KV slots in use", lambda g: g.kv_slots),
    "generator_model_forward_time": ("Seconds of a forward pass", lambda g: g.forward_s),
    "requests_coordinator_concurrent_count": ("Concurrent requests", lambda g: g.concurrent),
    "prefiller_prompt_cache_ttl": ("Seconds a prompt stays cached", _cache_ttl),
}


def _number(value: float) -> str:
    return f"{value:.6g}"


def _counter_lines(rows: Sequence[Row], stamp: str, window_s: float) -> Iterable[str]:
    for name, (text, measure) in _COUNTERS.items():
        full = f"{name}:sum_by_deployment"
        yield f"# HELP {full} {text}"
        yield f"# TYPE {full} gauge"
        for row in rows:
            rate = sum(measure(sample) for sample in row.samples) / window_s
            yield f"{full}{row.labels.text()} {_number(rate)}{stamp}"


def _error_lines(rows: Sequence[Row], stamp: str, window_s: float) -> Iterable[str]:
    full = "requests_error_total:sum_by_deployment"
    yield f"# HELP {full} Error rate by HTTP status"
    yield f"# TYPE {full} gauge"
    for row in rows:
        counts: dict[int, int] = {}
        for sample in row.samples:
            if sample.status >= 400:
                counts[sample.status] = counts.get(sample.status, 0) + 1
        for status, count in sorted(counts.items()):
            labels = row.labels.text(f',http_code="{status}"')
            yield f"{full}{labels} {_number(count / window_s)}{stamp}"


def _bucket_lines(rows: Sequence[Row], stamp: str, window_s: float) -> Iterable[str]:
    for name, (text, edges, measure) in _HISTOGRAMS.items():
        full = f"{name}_bucket:sum_by_deployment"
        yield f"# HELP {full} {text}, cumulative rate by bucket"
        yield f"# TYPE {full} gauge"
        for row in rows:
            counts = [0] * (len(edges) + 1)
            for sample in row.samples:
                value = measure(sample) if sample.status < 400 else None
                if value is not None:
                    counts[bisect_left(edges, value)] += 1
            running = 0
            for edge, count in zip([*map(_number, edges), "+Inf"], counts, strict=True):
                running += count
                labels = row.labels.text(f',le="{edge}"')
                yield f"{full}{labels} {_number(running / window_s)}{stamp}"


def _average_lines(rows: Sequence[Row], stamp: str, _window_s: float) -> Iterable[str]:
    for name, (text, measure) in _AVERAGES.items():
        full = f"{name}:avg_by_deployment"
        yield f"# HELP {full} {text}"
        yield f"# TYPE {full} gauge"
        for row in rows:
            if row.gauges:
                mean = sum(measure(gauge) for gauge in row.gauges) / len(row.gauges)
                yield f"{full}{row.labels.text()} {_number(mean)}{stamp}"


def page(rows: Sequence[Row], at_ms: int, window_s: float = 60.0) -> str:
    """The page as text; every sample carries the moment of the refresh. window_s: seconds in which the
    samples and gauges of the rows were taken."""
    stamp = f" {at_ms}"
    parts = (_counter_lines, _error_lines, _bucket_lines, _average_lines)
    return "\n".join(line for part in parts for line in part(rows, stamp, window_s)) + "\n"
