"""Weights that engines make larger while loading: data with its evidence, shown as a line of its own."""

from __future__ import annotations

from dataclasses import dataclass

from fwctl.fit.architecture import Architecture, Kind
from fwctl.fit.precision import Scheme
from fwctl.fit.request import FitRequest
from fwctl.fit.weights import Layout, share


@dataclass(frozen=True, slots=True)
class Padding:
    """Expert widths are rounded up to `multiple` on accelerators of `vendor` for weights of `bits`."""

    vendor: str
    max_bits: float
    model_types: tuple[str, ...]
    multiple: int
    source: str


PADDINGS: tuple[Padding, ...] = (
    Padding(
        "nvidia",
        4.0,
        ("gpt_oss",),
        256,
        "gpt-oss MXFP4: 2,880 is padded for the expert kernels; 64.4 to 66.0 GiB loaded for 60.8 GiB on disk",
    ),
)


def padding_bytes(request: FitRequest, architecture: Architecture, scheme: Scheme, layout: Layout) -> float:
    """Extra bytes per GPU from rounding both dimensions of routed experts up."""
    for rule in PADDINGS:
        if request.accelerator.vendor != rule.vendor or architecture.model_type not in rule.model_types:
            continue
        extra = 0.0
        for tensor in architecture.tensors:
            if tensor.kind is Kind.EXPERT and scheme.tensor_bits(tensor) <= rule.max_bits:
                rows, cols = (_up(n, rule.multiple) for n in (tensor.rows, tensor.cols))
                factor = rows * cols / (tensor.rows * tensor.cols) - 1
                extra += factor * scheme.tensor_bytes(tensor, share(tensor, layout))
        return extra
    return 0.0


def _up(value: int, multiple: int) -> int:
    return -(-value // multiple) * multiple
