"""How fast one replica is: a roofline of its accelerators and the bytes and FLOPs of its model.

A decode step reads the active weights once and the KV cache of every running conversation; it takes as
long as the slower of memory and arithmetic. Prefill is arithmetic. The shares of the peak that are
reached are the simulator's own and stand in POLICY.
"""

from __future__ import annotations

import math
from typing import NamedTuple

# Share of peak bandwidth and arithmetic reached, fixed cost of a step, and memory kept from the KV pool.
# Simulator's own, 2026-11-30; in the range of public vLLM runs on H100 and H200.
POLICY: dict[str, float] = {
    "bandwidth_share": 0.65,
    "decode_flops_share": 0.35,
    "prefill_flops_share": 0.45,
    "step_overhead_s": 0.0012,
    "memory_share": 0.90,
    "overhead_bytes_per_gpu": 3e9,
    "tokenizer_s_per_token": 1e-7,
}
# Smallest pool that a replica has, so that a shape known to load serves at least one conversation.
LEAST_POOL_TOKENS = 2048


class ModelSize(NamedTuple):
    """weight_bytes: all weights as served. active_bytes: those one token reads. active_parameters: for
    FLOPs. kv_bytes_per_token: over all GPUs. context_tokens: longest conversation.
    """

    weight_bytes: float
    active_bytes: float
    active_parameters: float
    kv_bytes_per_token: float
    context_tokens: int


class Device(NamedTuple):
    """One accelerator: memory bytes, memory bytes a second, FLOP a second at the served width."""

    memory_bytes: float
    bytes_per_s: float
    flops_per_s: float


class Speed(NamedTuple):
    """What the roofline gives for a replica."""

    size: ModelSize
    bytes_per_s: float
    flops_per_s: float
    kv_pool_tokens: int

    def prefill_s(self, tokens: int) -> float:
        """Seconds of arithmetic for `tokens` prompt tokens that no cache holds."""
        work = 2.0 * self.size.active_parameters * tokens
        return work / (self.flops_per_s * POLICY["prefill_flops_share"]) + POLICY["step_overhead_s"]

    def step_s(self, running: int, context_tokens: int, width: int = 1) -> float:
        """Seconds of one decode step with `running` conversations that hold `context_tokens` together.

        width: tokens computed for each of them. Verifying drafts is free as long as memory is the limit.
        """
        tokens = max(1, running) * width
        touched = self.size.weight_bytes
        if self.size.active_bytes < self.size.weight_bytes:
            touched = min(touched, self.size.active_bytes * math.pow(tokens, 0.7))
        read = touched + context_tokens * self.size.kv_bytes_per_token
        memory_s = read / (self.bytes_per_s * POLICY["bandwidth_share"])
        work = 2.0 * self.size.active_parameters * tokens
        return (
            max(memory_s, work / (self.flops_per_s * POLICY["decode_flops_share"]))
            + POLICY["step_overhead_s"]
        )


def replica_speed(size: ModelSize, device: Device, count: int) -> Speed:
    """The speed of a replica of `count` accelerators."""
    free = (
        count * (device.memory_bytes * POLICY["memory_share"] - POLICY["overhead_bytes_per_gpu"])
        - size.weight_bytes
    )
    pool = max(LEAST_POOL_TOKENS, int(free / size.kv_bytes_per_token))
    return Speed(size, device.bytes_per_s * count, device.flops_per_s * count, pool)
