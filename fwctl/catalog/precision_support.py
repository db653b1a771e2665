"""Which serving precision runs on which accelerator.

Sources, read 2026-11-30: NVIDIA tensor-core data formats by architecture (CUDA C Programming Guide,
compute capabilities: FP8 from 8.9, FP4 from 10.0); AMD CDNA 3 and CDNA 4 white papers (FP8 from MI300,
FP4 and MXFP4 from MI350); published Fireworks shapes (gpt-oss-120b: FP4 on H100, H200, B200, B300).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

READ_ON = "2026-11-30"


class Support(StrEnum):
    OK = "ok"
    WARNING = "warning"
    ERROR = "error"


_AMPERE = ("NVIDIA_A100_80GB", "NVIDIA_A100_40GB", "NVIDIA_A10G_24GB")
_ADA = ("NVIDIA_L4_24GB",)
_HOPPER = ("NVIDIA_H100_80GB", "NVIDIA_H200_141GB")
_BLACKWELL = (
    "NVIDIA_B200_180GB",
    "NVIDIA_B300_288GB",
    "NVIDIA_GB200",
    "NVIDIA_GB300",
)
_CDNA3 = ("AMD_MI300X_192GB", "AMD_MI325X_256GB")
_CDNA4 = ("AMD_MI350X_288GB",)

_FP8_MATMUL = ("FP8", "FP8_MM", "FP8_MM_V2", "FP8_V2", "FP8_AR", "FP8_MM_KV_ATTN", "FP8_MM_KV_ATTN_V2")


@dataclass(frozen=True, slots=True)
class Row:
    """These precisions on these accelerators; a pair that no row names is fine."""

    precisions: tuple[str, ...]
    accelerators: tuple[str, ...]
    support: Support
    why: str
    source: str


ROWS: tuple[Row, ...] = (
    Row(
        _FP8_MATMUL,
        _AMPERE,
        Support.ERROR,
        "Ampere has no FP8 tensor cores",
        "CUDA C Programming Guide, compute capability 8.0 and 8.6",
    ),
    Row(
        ("FP4", "FP4_MX_MOE", "NF4"),
        _AMPERE + _ADA,
        Support.WARNING,
        "no published shape serves 4-bit weights on it",
        "shape list of docs.fireworks.ai",
    ),
    Row(
        ("FP4", "FP4_MX_MOE", "NF4"),
        _CDNA3,
        Support.WARNING,
        "CDNA 3 has no 4-bit matrix cores and no published shape uses it so",
        "AMD CDNA 3 white paper",
    ),
    Row(
        ("FP4_BLOCKSCALED_MM",),
        _AMPERE + _ADA + _HOPPER + _CDNA3,
        Support.ERROR,
        "block-scaled FP4 matrix multiplication needs Blackwell or CDNA 4",
        "CUDA C Programming Guide, compute capability 10.0; AMD CDNA 4 white paper",
    ),
    Row(
        ("NF4",),
        _HOPPER + _BLACKWELL + _CDNA4,
        Support.WARNING,
        "NF4 is a storage type; firectl does not list it as a serving precision",
        "firectl deployment create",
    ),
)

SIXTEEN_BIT = frozenset({"FP16", "BF16"})
# Bits of the weights, for telling a precision below the checkpoint's own; FP8_KV quantises the cache only.
WEIGHT_BITS = {
    "FP16": 16,
    "BF16": 16,
    "FP8_KV": 16,
    **dict.fromkeys(_FP8_MATMUL, 8),
    "FP4": 4,
    "FP4_BLOCKSCALED_MM": 4,
    "FP4_MX_MOE": 4,
    "NF4": 4,
}


def support(precision: str, accelerator: str) -> Row | None:
    """The row that restricts this pair, None when it is fine or not known."""
    for row in ROWS:
        if precision in row.precisions and accelerator in row.accelerators:
            return row
    return None
