"""Storage formats of quantised checkpoints: width, block and scale, by quantisation method.

Sources: the quantization_config of published checkpoints and the loaders of vLLM 0.33 and compressed-tensors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

UNKNOWN_FORMAT = "UNKNOWN"
# Methods that pack integers in groups with a 16-bit scale and a zero point for each.
_GROUPED = ("awq", "awq_marlin", "gptq", "gptq_marlin", "auto-round", "moe_wna16")
_PLAIN_FP8 = ("fp8", "fbgemm_fp8", "compressed-tensors", "modelopt")


class Stored(NamedTuple):
    """bits of a weight; family FP8, FP4, INT8, INT4 or UNKNOWN; scale_bytes for each block of (rows, cols)
    weights, where 0 spans the whole dimension."""

    bits: float
    family: str
    block: tuple[int, int]
    scale_bytes: float


MXFP4 = Stored(4.0, "FP4", (1, 32), 1.0)
NVFP4 = Stored(4.0, "FP4", (1, 16), 1.0)
FP8_ROWS = Stored(8.0, "FP8", (1, 0), 4.0)
INT8_ROWS = Stored(8.0, "INT8", (1, 0), 2.0)
BNB_8BIT = Stored(8.0, "INT8", (1, 0), 4.0)
BNB_4BIT = Stored(4.0, "INT4", (1, 64), 4.0)
UNKNOWN = Stored(16.0, UNKNOWN_FORMAT, (0, 0), 0.0)


def stored_format(method: str, values: Mapping[str, Any], narrowest_bits: float) -> Stored:
    """The main format of a quantization_config. narrowest_bits: of its groups, 8 without any."""
    algorithm = str(values.get("quant_algo") or values.get("format") or "").upper()
    if method == "mxfp4" or "MXFP4" in algorithm:
        return MXFP4
    if method == "quark":
        return _quark(values)
    if method in _GROUPED:
        return _grouped(values)
    if method == "bitsandbytes":
        return BNB_8BIT if values.get("load_in_8bit") else BNB_4BIT
    if "NVFP4" in algorithm or "W4A" in algorithm or narrowest_bits <= 4:
        return _four_bits(algorithm, values)
    return _eight_bits(method, algorithm, values)


def _grouped(values: Mapping[str, Any]) -> Stored:
    bits = values.get("bits") or values.get("w_bit")
    size = values.get("group_size")
    block = (1, size if isinstance(size, int) and size > 0 else 0)
    if bits == 8:
        return Stored(8.0, "INT8", block, 2.5)
    return Stored(float(bits) if bits in (2, 3) else 4.0, "INT4", block, 2.5)


def _four_bits(algorithm: str, values: Mapping[str, Any]) -> Stored:
    """NVFP4, or integers packed by compressed-tensors in groups of the size that its first group states."""
    if "PACK-QUANTIZED" not in algorithm or "FP4" in algorithm:
        return NVFP4
    sizes = [
        weights.get("group_size")
        for group in (values.get("config_groups") or {}).values()
        if isinstance(group, Mapping) and isinstance(weights := group.get("weights"), Mapping)
    ]
    size = next((s for s in sizes if isinstance(s, int) and s > 0), 128)
    return Stored(4.0, "INT4", (1, size), 2.0)


def _eight_bits(method: str, algorithm: str, values: Mapping[str, Any]) -> Stored:
    if method == "compressed-tensors" and "INT" in algorithm:
        return INT8_ROWS
    block = values.get("weight_block_size")
    if isinstance(block, list) and len(block) == 2 and all(isinstance(b, int) and b > 0 for b in block):
        return Stored(8.0, "FP8", (block[0], block[1]), 4.0)
    return FP8_ROWS if method in _PLAIN_FP8 or "FP8" in algorithm else UNKNOWN


def _quark(values: Mapping[str, Any]) -> Stored:
    """AMD Quark: the weight's type stands in global_quant_config."""
    overall = values.get("global_quant_config")
    weight = str(overall.get("weight") if isinstance(overall, Mapping) else "").lower()
    if "fp4" in weight:
        return MXFP4
    return FP8_ROWS if "fp8" in weight else UNKNOWN
