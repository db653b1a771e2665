"""Accelerator facts: memory as the runtime sees it, bandwidth, tensor-core rates.

`visible_gib` is what CUDA or ROCm reports as total memory, read from engine logs (never the nominal
figure: an H100 "80GB" shows 79.19 GiB, a B300 "288GB" about 268). Bandwidth and dense rates are the
vendors' data sheets, SXM or OAM form, without sparsity. Prices are not here.
"""

from __future__ import annotations

from typing import Literal, NamedTuple

from fwctl.units import GB, GIB

Vendor = Literal["nvidia", "amd"]


class Accelerator(NamedTuple):
    """One GPU type.

    name: the platform's spelling. nominal_gb: decimal gigabytes of the label. bandwidth_gb_s: memory
    bandwidth in 10^9 bytes a second. tflops: dense tensor-core rate by format, a missing format has no
    tensor-core path. source: where visible_gib was seen.
    """

    name: str
    nominal_gb: float
    visible_gib: float
    bandwidth_gb_s: float
    tflops_16bit: float
    tflops_fp8: float | None
    tflops_fp4: float | None
    vendor: Vendor
    source: str
    date: str
    aliases: tuple[str, ...] = ()

    @property
    def visible_bytes(self) -> float:
        return self.visible_gib * GIB

    @property
    def nominal_bytes(self) -> float:
        return self.nominal_gb * GB

    def tflops(self, weight_bits: float) -> float:
        """Dense rate for weights of this width; falls back to the next wider format the GPU has."""
        if weight_bits < 8 and self.tflops_fp4 is not None:
            return self.tflops_fp4
        if weight_bits <= 8 and self.tflops_fp8 is not None:
            return self.tflops_fp8
        return self.tflops_16bit


_LOGS = "total memory in vLLM start-up logs"
_SMI = "nvidia-smi total of aiconfigurator 0.12 systems/*.yaml"
_DERIVED = "label in GiB less the 0.31 GiB an MI300X reserves"
_LESS = (
    "nvidia-smi total (23,028, 23,034 and 189,471 MiB) less the driver's reserve; not seen in an engine log"
)

ACCELERATORS: tuple[Accelerator, ...] = (
    Accelerator(
        "NVIDIA_A100_80GB", 80, 79.25, 2039, 312, None, None, "nvidia", _LOGS, "2026-11-30", ("A100",)
    ),
    Accelerator("NVIDIA_A100_40GB", 40, 39.56, 1555, 312, None, None, "nvidia", _LOGS, "2026-11-30"),
    Accelerator(
        "NVIDIA_H100_80GB", 80, 79.19, 3350, 989, 1979, None, "nvidia", _LOGS, "2026-11-30", ("H100",)
    ),
    Accelerator(
        "NVIDIA_H200_141GB", 141, 139.8, 4800, 989, 1979, None, "nvidia", _LOGS, "2026-11-30", ("H200",)
    ),
    Accelerator(
        "NVIDIA_B200_180GB", 180, 178.35, 8000, 2250, 4500, 9000, "nvidia", _LOGS, "2026-11-30", ("B200",)
    ),
    Accelerator(
        "NVIDIA_B300_288GB", 288, 268.59, 8000, 2250, 4500, 14000, "nvidia", _SMI, "2026-11-30", ("B300",)
    ),
    Accelerator("NVIDIA_GB200", 186, 184.3, 8000, 2500, 5000, 10000, "nvidia", _LESS, "2026-11-30"),
    Accelerator("NVIDIA_GB300", 288, 276.62, 8000, 2500, 5000, 15000, "nvidia", _LOGS, "2026-11-30"),
    Accelerator("NVIDIA_A10G_24GB", 24, 21.99, 600, 70, None, None, "nvidia", _LESS, "2026-11-30", ("A10G",)),
    Accelerator("NVIDIA_L4_24GB", 24, 22.03, 300, 121, 242, None, "nvidia", _LESS, "2026-11-30", ("L4",)),
    Accelerator(
        "AMD_MI300X_192GB", 192, 191.69, 5300, 1307, 2615, None, "amd", _LOGS, "2026-11-30", ("MI300X",)
    ),
    Accelerator(
        "AMD_MI325X_256GB", 256, 255.69, 6000, 1307, 2615, None, "amd", _DERIVED, "2026-11-30", ("MI325X",)
    ),
    Accelerator(
        "AMD_MI350X_288GB", 288, 287.69, 8000, 2300, 4600, 9200, "amd", _DERIVED, "2026-11-30", ("MI350X",)
    ),
)


def _key(name: str) -> str:
    return name.strip().upper().replace("-", "_").replace(" ", "_")


def _short_names(item: Accelerator) -> set[str]:
    """`H100`, `H100_80GB` and `NVIDIA_H100` beside `NVIDIA_H100_80GB`."""
    without_vendor = item.name.split("_", 1)[1]
    return {
        item.name,
        without_vendor,
        *item.aliases,
        *(f"{item.name.split('_', 1)[0]}_{a}" for a in item.aliases),
    }


_BY_NAME = {_key(name): item for item in ACCELERATORS for name in _short_names(item)}


def find(name: str) -> Accelerator | None:
    """The accelerator of a platform name or a short one such as `H200`; None when it is not known."""
    return _BY_NAME.get(_key(name))
