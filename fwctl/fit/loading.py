"""What engines add to the weights while loading them: data with its evidence.

Kernels want multiples, and MLA is served from absorbed copies of its up-projection. The sum is part of
the weights per GPU and shown as a line of its own. The `ideal` policy adds nothing.
"""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import Architecture, Kind, Tensor
from fwctl.fit.precision import Scheme
from fwctl.fit.request import FitRequest
from fwctl.fit.weights import Layout, share

COPY_BYTES = 2


class Rounding(NamedTuple):
    """The named dimension of routed experts is rounded up to `multiple`.

    vendor and bits (lowest, highest width of the stored expert) say when; gated None means both kinds.
    """

    vendor: str
    bits: tuple[float, float]
    dimension: str
    multiple: int
    model_types: tuple[str, ...]
    source: str


class Enlargement(NamedTuple):
    """Tensors of these classes take `factor` times their size."""

    vendor: str
    bits: tuple[float, float]
    kinds: frozenset[Kind]
    factor: float
    source: str


ROUNDINGS: tuple[Rounding, ...] = (
    Rounding(
        "nvidia",
        (4.0, 4.0),
        "hidden",
        256,
        ("gpt_oss",),
        "gpt-oss MXFP4 kernels take 2,880 as 3,072: 13.47 GiB loaded for 12.8 on disk (20b, vLLM 0.11), "
        "64.4 to 66.0 for 60.8 (120b)",
    ),
    Rounding(
        "nvidia",
        (8.0, 8.0),
        "width",
        128,
        ("nemotron_h", "nemotron_h_moe"),
        "FP8 experts of 1,856 columns take 1,920: 31.4 GiB loaded from vLLM 0.18 on, 30.52 before",
    ),
)
_LINEAR = frozenset({Kind.ATTENTION, Kind.MLP, Kind.LATENT_UP, Kind.SHARED_EXPERT})
ENLARGEMENTS: tuple[Enlargement, ...] = (
    Enlargement(
        "amd",
        (16.0, 16.0),
        frozenset({Kind.EXPERT}),
        1.37,
        "ROCm expert layout: Qwen3-VL-30B 79.3 GiB for 58.2, Llama-4-Maverick 126.7 for 93.8",
    ),
    Enlargement(
        "amd",
        (8.0, 8.0),
        frozenset({Kind.EXPERT}),
        1.02,
        "ROCm FP8 experts: DeepSeek-R1 81.31 GiB for 79.74, Qwen3-235B 55.92 for 55.20 per GPU",
    ),
    Enlargement("amd", (8.0, 8.0), _LINEAR, 1.01, "ROCm FP8 row padding: Llama-3.3-70B 68.36 GiB for 67.69"),
)


def added_bytes(
    request: FitRequest, architecture: Architecture, scheme: Scheme, layout: Layout
) -> tuple[tuple[str, float], ...]:
    """(what, bytes per GPU) for every rule that applies."""
    vendor = request.accelerator.vendor
    parts = [
        ("absorbed MLA projections", absorbed_bytes(architecture, layout)),
        *(
            ("padding of experts", _rounded(architecture, scheme, layout, rule))
            for rule in ROUNDINGS
            if rule.vendor == vendor and architecture.model_type in rule.model_types
        ),
        *(
            ("padding for ROCm kernels", _grown(architecture, scheme, layout, rule))
            for rule in ENLARGEMENTS
            if rule.vendor == vendor
        ),
    ]
    return tuple((name, size) for name, size in parts if size > 0)


def absorbed_bytes(architecture: Architecture, layout: Layout) -> float:
    """16-bit copies of the key and value halves of kv_b_proj, made after loading (vLLM, SGLang)."""
    elements = sum(
        tensor.elements * share(tensor, layout)
        for tensor in architecture.tensors
        if tensor.kind is Kind.LATENT_UP and tensor.module.endswith("kv_b_proj")
    )
    return elements * COPY_BYTES / layout.pipeline


def _rounded(architecture: Architecture, scheme: Scheme, layout: Layout, rule: Rounding) -> float:
    extra = 0.0
    for tensor in _of(architecture, scheme, frozenset({Kind.EXPERT}), rule.bits):
        size = tensor.rows if tensor.module.startswith("up_") == (rule.dimension == "width") else tensor.cols
        factor = -(-size // rule.multiple) * rule.multiple / size - 1
        extra += factor * scheme.tensor_bytes(tensor, share(tensor, layout))
    return extra / layout.pipeline


def _grown(architecture: Architecture, scheme: Scheme, layout: Layout, rule: Enlargement) -> float:
    return sum(
        (rule.factor - 1) * scheme.tensor_bytes(tensor, share(tensor, layout)) / layout.pipeline
        for tensor in _of(architecture, scheme, rule.kinds, rule.bits)
    )


def _of(
    architecture: Architecture, scheme: Scheme, kinds: frozenset[Kind], bits: tuple[float, float]
) -> list[Tensor]:
    low, high = bits
    return [t for t in architecture.tensors if t.kind in kinds and low <= scheme.tensor_bits(t) <= high]
