"""Bounds from bandwidth and arithmetic: what no engine can beat. Never a forecast."""

from __future__ import annotations

from typing import Any

from fwctl.fit.architecture import Architecture, Kind
from fwctl.fit.kvcache import Growth, bytes_per_sequence
from fwctl.fit.precision import Scheme
from fwctl.fit.request import FitRequest

_NOT_READ = frozenset({Kind.EMBEDDING, Kind.TOWER})


def weights_read(architecture: Architecture, scheme: Scheme, batch: float) -> float:
    """Bytes of weights that one decode step of `batch` sequences reads, all GPUs together.

    A layer's E experts, k a token, are each visited with probability 1 − (1 − k/E)^batch when routing
    is even.
    """
    total = 0.0
    for tensor in architecture.tensors:
        if tensor.kind in _NOT_READ and not (tensor.kind is Kind.EMBEDDING and architecture.tied):
            continue
        part = 1.0
        if tensor.experts:
            part = 1 - (1 - tensor.active / tensor.experts) ** batch
        total += scheme.tensor_bytes(tensor, part)
    return total


def prefill_flops(architecture: Architecture, tokens: int) -> float:
    """2 floating-point operations for each active weight and token, attention scores not counted."""
    return 2.0 * architecture.active_parameters * tokens


def bounds(
    request: FitRequest, architecture: Architecture, scheme: Scheme, items: tuple[Growth, ...]
) -> dict[str, Any]:
    """Decode and prefill bounds at batch 1 and at the wanted concurrency, with $ when a price is given."""
    gpus, accelerator = request.accelerator_count, request.accelerator
    bandwidth = accelerator.bandwidth_gb_s * 1e9 * gpus
    flops = accelerator.tflops(scheme.bits) * 1e12 * gpus
    tokens = request.workload.context_tokens
    per_gpu = bytes_per_sequence(items, tokens)
    price = (request.usd_per_gpu_hour or {}).get(accelerator.name)
    hourly = None if price is None else price * gpus
    rows = {}
    for label, batch in (("batch_1", 1.0), ("concurrency", max(1.0, request.workload.concurrency))):
        read = weights_read(architecture, scheme, batch) + per_gpu * gpus * batch
        by_bandwidth = batch * bandwidth / read
        by_compute = flops / (2.0 * max(1, architecture.active_parameters))
        best = min(by_bandwidth, by_compute)
        rows[label] = {
            "sequences": batch,
            "bytes_per_step": round(read),
            "tokens_per_second_bandwidth": round(by_bandwidth, 1),
            "tokens_per_second_compute": round(by_compute, 1),
            "tokens_per_second_bound": round(best, 1),
            "bound_by": "bandwidth" if by_bandwidth <= by_compute else "compute",
            "usd_per_million_tokens_bound": None if hourly is None else round(hourly / best / 3600 * 1e6, 4),
        }
    prefill = prefill_flops(architecture, tokens)
    return {
        "active_parameters": architecture.active_parameters,
        "decode": rows,
        "prefill_flops": prefill,
        "prefill_seconds_bound": round(prefill / flops, 6),
        "usd_per_hour": None if hourly is None else round(hourly, 4),
        "note": "bounds of the hardware, not a forecast",
    }
