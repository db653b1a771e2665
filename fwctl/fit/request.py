"""The question: which model on which hardware, for which conversations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from fwctl.catalog.accelerators import Accelerator
from fwctl.fit.architecture import Architecture

DEFAULT_CONTEXT = 8192


class Workload(NamedTuple):
    """context_tokens: length of a conversation (its 95th percentile when p50_tokens is given).
    concurrency: conversations held at once by one replica. shared_prefix_tokens: counted once."""

    context_tokens: int = DEFAULT_CONTEXT
    concurrency: float = 1.0
    p50_tokens: int | None = None
    shared_prefix_tokens: int = 0


class Drafter(NamedTuple):
    """A draft model beside the target; precision None means the target's."""

    model: str
    architecture: Architecture | None
    precision: str | None = None
    parameters: float | None = None


class Adapters(NamedTuple):
    """LoRA adapters kept on the GPU at once."""

    cached: int
    rank: int = 32


class Offer(NamedTuple):
    """A combination that the platform has: a shape's hardware, or a row of a list."""

    accelerator: str
    accelerator_count: int
    precision: str
    shape: str | None = None
    kv_precision: str | None = None


class FitRequest(NamedTuple):
    """Everything `check` needs, as values.

    architecture None gives the verdict `unknown` with `missing` as the reason, unless parameters are
    given, in which case weights are known and the cache is not. weights_bytes: exact size of the
    checkpoint when headers or an index were read. kv_pool_bytes: a measured pool per GPU. offers None
    means any combination of the catalogue. attention: "tensor" or "data" when the parallel layout is
    known, "auto" for both bounds where they differ. draft_tokens:
    tokens that speculation proposes at once. usd_per_gpu_hour: prices by platform accelerator name.
    """

    model: str
    accelerator: Accelerator
    accelerator_count: int
    precision: str
    architecture: Architecture | None = None
    workload: Workload = Workload()
    name: str | None = None
    kv_precision: str | None = None
    engine: str = "fireworks"
    utilization: float | None = None
    kv_pool_bytes: float | None = None
    parameters: float | None = None
    weights_bytes: float | None = None
    pipeline: int = 1
    drafter: Drafter | None = None
    mtp: bool = False
    adapters: Adapters | None = None
    offers: tuple[Offer, ...] | None = None
    usd_per_gpu_hour: Mapping[str, float] | None = None
    assumed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()
    attention: str = "auto"
    draft_tokens: int = 0
    shape: str | None = None
