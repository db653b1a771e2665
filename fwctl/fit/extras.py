"""What shares a GPU with the model: a drafter or MTP layer, and LoRA adapters."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import Architecture, Kind, Tensor
from fwctl.fit.kvcache import Growth, growths
from fwctl.fit.precision import find_precision, scheme_for
from fwctl.fit.request import Adapters, FitRequest
from fwctl.fit.setting import Setting
from fwctl.fit.weights import Layout, share, weigh

ADAPTER_BITS = 16
_ADAPTED = frozenset(
    {Kind.ATTENTION, Kind.LATENT_DOWN, Kind.LATENT_UP, Kind.MLP, Kind.SHARED_EXPERT, Kind.STATE}
)


class Extras(NamedTuple):
    """Bytes per GPU beside the model, the caches that come with them, and what is not known."""

    parts: tuple[tuple[str, float], ...] = ()
    growths: tuple[Growth, ...] = ()
    reasons: tuple[str, ...] = ()

    @property
    def weights_bytes(self) -> float:
        return sum(size for _, size in self.parts)


def extras_for(request: FitRequest, architecture: Architecture, setting: Setting, layout: Layout) -> Extras:
    """Drafter, MTP layer and adapters of a request."""
    precision, kv = setting.precision, setting.kv
    ranks = 1 if layout.data_attention else layout.tensor
    parts: list[tuple[str, float]] = []
    more: tuple[Growth, ...] = ()
    reasons: list[str] = []
    drafter = request.drafter
    if drafter is not None:
        draft_precision = find_precision(drafter.precision) if drafter.precision else precision
        if drafter.architecture is not None:
            scheme = scheme_for(drafter.architecture, draft_precision)
            parts.append(("drafter", weigh(drafter.architecture, scheme, layout).per_gpu))
            more += growths(drafter.architecture.caches, kv, ranks)
        elif drafter.parameters is not None:
            parts.append(("drafter", drafter.parameters * draft_precision.bits / 8 / layout.gpus))
            reasons.append(f"drafter {drafter.model}: its cache is not counted, its config is not known")
        else:
            reasons.append(f"drafter {drafter.model} is not counted: its config is not known")
    if request.mtp and architecture.mtp_tensors:
        scheme = scheme_for(architecture, precision)
        parts.append(("MTP layer", weigh(architecture, scheme, layout, architecture.mtp_tensors).per_gpu))
        more += growths(architecture.mtp_caches, kv, ranks)
    elif request.mtp:
        reasons.append("MTP is on but the config names no MTP layer; nothing is counted for it")
    if request.adapters is not None and request.adapters.cached:
        parts.append(("LoRA adapters", adapter_bytes(architecture, request.adapters, layout)))
    return Extras(tuple(parts), more, tuple(reasons))


def adapter_bytes(architecture: Architecture, adapters: Adapters, layout: Layout) -> float:
    """cached × rank × (inputs + outputs) of every adapted matrix, in 16 bits.

    The down-projection A is held whole by every rank, B is divided like the matrix it adapts. Routed
    experts are not adapted.
    """
    per_adapter = sum(_adapter_elements(t, layout) for t in architecture.tensors if t.kind in _ADAPTED)
    return adapters.cached * adapters.rank * per_adapter * ADAPTER_BITS / 8 / layout.pipeline


def _adapter_elements(tensor: Tensor, layout: Layout) -> float:
    return tensor.copies * (tensor.cols + tensor.rows * share(tensor, layout))
