"""Bytes of weights on the fullest GPU, by class of tensor."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import Architecture, Kind, Split, Tensor
from fwctl.fit.precision import Scheme

_ATTENTION_KINDS = frozenset(
    {Kind.ATTENTION, Kind.LATENT_DOWN, Kind.LATENT_UP, Kind.INDEXER, Kind.STATE, Kind.STATE_PARAMETER}
)


class Layout(NamedTuple):
    """tensor: ranks that share each layer; pipeline: stages; data_attention: each rank holds all
    attention weights and the sequences of its own (experts stay divided)."""

    tensor: int = 1
    pipeline: int = 1
    data_attention: bool = False

    @property
    def gpus(self) -> int:
        return self.tensor * self.pipeline

    @property
    def name(self) -> str:
        return "data-parallel attention" if self.data_attention else "tensor parallel"


class Weights(NamedTuple):
    """Bytes on the fullest GPU by class, and of one copy of the model."""

    by_kind: dict[Kind, float]
    total: float

    @property
    def per_gpu(self) -> float:
        return sum(self.by_kind.values())


def share(tensor: Tensor, layout: Layout) -> float:
    """Fraction of a tensor that one rank of a stage holds."""
    if tensor.split is Split.REPLICATED:
        return 1.0
    if layout.data_attention and tensor.kind in _ATTENTION_KINDS:
        return 1.0
    if tensor.split is Split.HEADS and tensor.heads:
        return -(-tensor.heads // layout.tensor) / tensor.heads
    return 1.0 / layout.tensor


def weigh(
    architecture: Architecture, scheme: Scheme, layout: Layout, tensors: tuple[Tensor, ...] | None = None
) -> Weights:
    """Weights of the architecture (or of `tensors`) at a precision, divided by a layout.

    With pipeline stages the layers are divided evenly and the fuller of the first and last stage,
    which hold the embedding and the head, counts.
    """
    by_kind: dict[Kind, float] = {}
    total = 0.0
    for tensor in architecture.tensors if tensors is None else tensors:
        total += scheme.tensor_bytes(tensor, 1.0)
        size = scheme.tensor_bytes(tensor, share(tensor, layout))
        if tensor.kind not in (Kind.EMBEDDING, Kind.HEAD):
            size /= layout.pipeline
        by_kind[tensor.kind] = by_kind.get(tensor.kind, 0.0) + size
    if layout.pipeline > 1 and Kind.HEAD in by_kind:
        smaller = min((Kind.EMBEDDING, Kind.HEAD), key=lambda kind: by_kind.get(kind, 0.0))
        by_kind[smaller] = 0.0
    return Weights(by_kind, total)
