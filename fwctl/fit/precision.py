"""The platform's precisions as widths of weights and of the KV cache.

Sources: the names in `catalog.enums.PRECISIONS`; which part each suffix changes is read from the
platform's model pages (docs.fireworks.ai, "Quantization", 2026-11-30). What stays in 16 bits when a
checkpoint does not say is what published FP8 and FP4 checkpoints keep there.
"""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import Architecture, Kind, Quantization, Tensor
from fwctl.fit.errors import RequestError
from fwctl.fit.formats import UNKNOWN_FORMAT
from fwctl.fit.quantization import LINEAR


class Precision(NamedTuple):
    """family: 16, FP8, FP4 or INT4 weights; scale: (block of weights, bytes for it); kv: KV cache name."""

    name: str
    family: str
    bits: float
    block: tuple[int, int]
    scale_bytes: float
    kv: str = "fp16"
    experts_only: bool = False


_FP8 = ("FP8", 8.0, (1, 0), 4.0)
_FP4 = ("FP4", 4.0, (1, 16), 1.0)
_MX = ("FP4", 4.0, (1, 32), 1.0)

PRECISIONS: dict[str, Precision] = {
    p.name: p
    for p in (
        Precision("FP16", "16", 16.0, (0, 0), 0.0),
        Precision("BF16", "16", 16.0, (0, 0), 0.0),
        Precision("FP8_KV", "16", 16.0, (0, 0), 0.0, "fp8"),
        Precision("FP8", *_FP8),
        Precision("FP8_MM", *_FP8),
        Precision("FP8_AR", *_FP8),
        Precision("FP8_MM_V2", *_FP8),
        Precision("FP8_V2", *_FP8),
        Precision("FP8_MM_KV_ATTN", *_FP8, "fp8"),
        Precision("FP8_MM_KV_ATTN_V2", *_FP8, "fp8"),
        Precision("FP4", *_FP4),
        Precision("FP4_BLOCKSCALED_MM", *_FP4),
        Precision("FP4_MX_MOE", *_MX, "fp16", True),
        Precision("NF4", "INT4", 4.0, (1, 64), 4.0),
    )
}

# Bytes of one cached number. MLA caches have layouts of their own, see kvcache.LATENT_LAYOUTS.
KV_BYTES: dict[str, float] = {
    "fp16": 2.0,
    "bf16": 2.0,
    "fp32": 4.0,
    "fp8": 1.0,
    "fp8_e4m3": 1.0,
    "fp8_e5m2": 1.0,
    "fp8_ds_mla": 1.0,
    "int8": 1.0,
    "nvfp4": 0.5625,
    "fp4": 0.5625,
    "nvfp4_ds_mla": 0.5625,
}


def find_precision(name: str) -> Precision:
    """The precision of a platform name, any case; RequestError when it is not known."""
    found = PRECISIONS.get(name.strip().upper().replace("-", "_"))
    if found is None:
        raise RequestError("precision", f"{name[:40]!r} is not known; known are {', '.join(PRECISIONS)}")
    return found


def find_kv_precision(name: str) -> str:
    """The normalised KV precision (`auto` is 16 bits); RequestError when it is not known."""
    key = name.strip().lower().replace("-", "_")
    key = {"auto": "fp16", "16": "fp16", "float16": "fp16", "bfloat16": "bf16", "fp8_e4m3fn": "fp8_e4m3"}.get(
        key, key
    )
    if key not in KV_BYTES:
        raise RequestError("kv_precision", f"{name[:40]!r} is not known; known are {', '.join(KV_BYTES)}")
    return key


class Scheme(NamedTuple):
    """How one architecture is stored at one precision."""

    precision: Precision
    own: bool
    bits: float
    block: tuple[int, int]
    scale_bytes: float
    kinds: frozenset[Kind]

    def tensor_bits(self, tensor: Tensor) -> float:
        """Width of a tensor's weights, scales not counted."""
        if tensor.fixed_bits is not None:
            return tensor.fixed_bits
        if self.own and tensor.stored_bits is not None:
            return tensor.stored_bits
        if tensor.kind not in self.kinds or (tensor.pinned if self.own else tensor.island):
            return 16.0
        return self.bits

    def tensor_bytes(self, tensor: Tensor, share: float) -> float:
        """Bytes of `share` of a tensor with its scales."""
        bits = self.tensor_bits(tensor)
        size = tensor.elements * share * bits / 8
        if bits >= 16:
            return size
        rows, cols = self.block if bits == self.bits else (1, 0)
        per_block = (rows or tensor.rows) * (cols or tensor.cols)
        return size + tensor.elements * share / per_block * self.scale_bytes


def same_width(own: Quantization, precision: Precision) -> bool:
    """Whether a checkpoint is stored in the width that is asked for; INT4 serves FP4, INT8 serves FP8."""
    return own.family != UNKNOWN_FORMAT and own.bits == precision.bits


def as_stored(architecture: Architecture, precision: Precision) -> bool:
    """Whether the bytes of the checkpoint's files are the bytes that are loaded at this precision."""
    own = architecture.quantization
    return precision.family == "16" if own is None else same_width(own, precision)


def scheme_for(architecture: Architecture, precision: Precision) -> Scheme:
    """The checkpoint's own layout where it is of this family, else what such checkpoints usually do.

    FP4 of a mixture packs the routed experts and dense feed-forward parts and keeps attention and
    shared experts in 16 bits, as the published NVFP4 and MXFP4 checkpoints of Kimi K2.6, GLM-5.1,
    Qwen3.5 and gpt-oss do; FP4 of a dense model packs all linear layers. Families with islands of
    their own (`Tensor.island`) keep those.
    """
    own = architecture.quantization
    if own is not None and same_width(own, precision):
        return Scheme(precision, True, own.bits, own.block, own.scale_bytes, own.quantized)
    if precision.family == "16":
        return Scheme(precision, False, 16.0, (0, 0), 0.0, frozenset())
    kinds = LINEAR
    if precision.experts_only:
        kinds = frozenset({Kind.EXPERT})
    elif precision.family == "FP4" and architecture.mixture:
        kinds = frozenset({Kind.EXPERT, Kind.MLP})
    return Scheme(precision, False, precision.bits, precision.block, precision.scale_bytes, kinds)
