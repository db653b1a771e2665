"""Fit arithmetic against measured engine logs, beside what naive calculators would say.

    python -m benchmarks.fit_accuracy [FILE [CONFIG_DIR...]]

FILE is a list of measurements like benchmarks/data/fit_measured.json (the default). A row's `config`
names CONFIG_DIR/<config>.json or an entry of the catalogue. Exit 1 when a bar is missed.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from fwctl.catalog import accelerators, architectures
from fwctl.fit.architecture import Architecture, CacheKind
from fwctl.fit.check import quick
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.precision import find_precision
from fwctl.fit.result import FitResult, Verdict
from fwctl.units import GIB

DEFAULT_FILE = Path(__file__).parent / "data" / "fit_measured.json"
_GPU: dict[str, str] = {"A100-80GB": "A100"}

Row = Mapping[str, Any]


class Bar(NamedTuple):
    """Limits in percent, None where the bar sets none."""

    name: str
    median: float
    p90: float | None
    worst: float | None


BARS = (
    Bar("pool given, plain caches: tokens", 0.01, 0.1, None),
    Bar("pool given, hybrids: concurrency", 0.01, None, 1.0),
    Bar("weights from config, NVIDIA", 0.6, None, 4.0),
    Bar("end to end: concurrency", 2.0, 6.0, None),
)


class Case(NamedTuple):
    """A row that can be asked, its model and the answers with and without the measured pool."""

    row: Row
    architecture: Architecture
    pooled: FitResult | None
    free: FitResult


def precision_of(row: Row) -> str:
    """The platform's precision of a row's checkpoint."""
    stored = f"{row.get('weight_quantization') or ''} {row['model']}".lower()
    if "fp4" in (row.get("weight_quantization") or ""):
        return "FP4"
    return "FP8" if "fp8" in stored else "BF16"


def config_of(name: str, folders: Sequence[Path]) -> Architecture | None:
    for folder in folders:
        file = folder / f"{name}.json"
        if file.is_file():
            beside = folder / f"{name}.hf_quant_config.json"
            quant = json.loads(beside.read_text()) if beside.is_file() else None
            return architecture_from_config(json.loads(file.read_text()), quant)
    config = architectures.find(name)
    return None if config is None else architecture_from_config(config)


def gpu_name(row: Row) -> str:
    name = str(row["gpu"])
    return _GPU.get(name, name)


def gpus(row: Row) -> int:
    """GPUs of one replica; ranks with attention of their own count too when they share experts."""
    return (row.get("tensor_parallel") or 1) * (row.get("data_parallel") or 1)


def ask(row: Row, architecture: Architecture, pooled: bool) -> FitResult:
    cached = str(row.get("kv_cache_dtype") or "")
    return quick(
        fit_request_from_options(
            architecture=architecture,
            accelerator=gpu_name(row),
            count=gpus(row),
            attention="data" if (row.get("data_parallel") or 1) > 1 else "tensor",
            precision=precision_of(row),
            kv_precision="fp8" if cached.startswith("fp8") else None,
            context_tokens=row.get("max_model_len") or 8192,
            concurrency=1,
            engine="vllm",
            engine_utilization=row.get("gpu_memory_utilization"),
            kv_pool_gib=row["available_kv_gib_per_gpu"] if pooled else None,
        )
    )


def cases(rows: Iterable[Row], folders: Sequence[Path]) -> tuple[list[Case], list[str]]:
    """Cases that can be asked, and why the others cannot."""
    found, left_out = [], []
    for row in rows:
        name = row.get("config")
        if not name or accelerators.find(gpu_name(row)) is None:
            left_out.append(f"{row['id']}: {row['gpu']}, config {name}")
            continue
        try:
            architecture = config_of(name, folders)
        except ArchitectureError as error:
            left_out.append(f"{row['id']}: {error}")
            continue
        if architecture is None or architecture.unknown:
            left_out.append(f"{row['id']}: {name}: {architecture.unknown if architecture else 'no config'}")
            continue
        with_pool = (row.get("available_kv_gib_per_gpu") or 0) > 0 and not row.get("ran_out_of_memory")
        pooled = ask(row, architecture, True) if with_pool else None
        found.append(Case(row, architecture, pooled, ask(row, architecture, False)))
    return found, left_out


def is_hybrid(architecture: Architecture) -> bool:
    """Layers keep different things, so that the engine pages them in groups."""
    return any(cache.kind in (CacheKind.STATE, CacheKind.WINDOW) for cache in architecture.caches)


def other_engine(case: Case) -> str | None:
    """Why a row is shown but not counted: its engine stored the model in another way."""
    if "(V0)" in str(case.row.get("engine")) and case.architecture.latent:
        return (
            "vLLM V0 padded the MLA latent from 576 to 640 and kept fused copies of its projections (+4 GiB)"
        )
    return None


def _error(value: float, measured: float) -> float:
    return 100 * (value / measured - 1)


Errors = list[tuple[float, str]]


def measure(found: Sequence[Case]) -> dict[str, Errors]:
    """Signed errors in percent by bar."""
    errors: dict[str, Errors] = {bar.name: [] for bar in BARS}
    plain, hybrid, weights, whole = errors.values()
    for case in found:
        row, label = case.row, f"{case.row['id']} {case.row['model']} {case.row['gpu']}"
        if other_engine(case):
            continue
        if case.pooled is not None and case.pooled.max_concurrency and case.pooled.kv_cache_tokens:
            if is_hybrid(case.architecture) and row.get("max_concurrency"):
                each = case.pooled.max_concurrency.mid / (row.get("data_parallel") or 1)
                hybrid.append((_error(each, row["max_concurrency"]), label))
            elif row.get("kv_cache_tokens"):
                plain.append((_error(case.pooled.kv_cache_tokens.mid, row["kv_cache_tokens"]), label))
        if _counts_weights(row):
            size = (case.free.weights_bytes_per_gpu or 0) / GIB
            weights.append((_error(size, row["weights_gib_per_gpu"]), label))
        if _counts_end_to_end(row) and case.free.max_concurrency:
            whole.append((_error(case.free.max_concurrency.mid, row["max_concurrency"]), label))
    return errors


def gpu(row: Row) -> accelerators.Accelerator:
    """The accelerator of a row that `cases` let through."""
    found = accelerators.find(gpu_name(row))
    assert found is not None
    return found


def _counts_weights(row: Row) -> bool:
    """NVIDIA rows with a measurement, unless the config at hand is only a part of the real one."""
    whole = "PARTIAL" not in str(row.get("config"))
    return bool(row.get("weights_gib_per_gpu")) and gpu(row).vendor == "nvidia" and whole


def _counts_end_to_end(row: Row) -> bool:
    if (row.get("data_parallel") or 1) > 1:
        return False  # the log counts the conversations of one rank
    return bool(row.get("max_concurrency") and row.get("gpu_memory_utilization")) and not row.get(
        "ran_out_of_memory"
    )


def verdicts(found: Sequence[Case]) -> tuple[int, int, list[str]]:
    """(inside the band, asked, wrong verdicts)."""
    inside = asked = 0
    wrong = []
    for case in found:
        row, free = case.row, case.free
        if row.get("ran_out_of_memory") and free.verdict is Verdict.FITS:
            wrong.append(f"{row['id']}: fits, but it ran out of memory")
        ran = not row.get("ran_out_of_memory") and (row.get("max_concurrency") or 0) >= 1
        if ran and free.verdict is Verdict.DOES_NOT_FIT:
            wrong.append(f"{row['id']}: does-not-fit, but it ran")
        if _counts_end_to_end(row) and free.max_concurrency and not other_engine(case):
            asked += 1
            low, _, high = free.max_concurrency
            inside += low <= row["max_concurrency"] * 1.001 and high >= row["max_concurrency"] * 0.999
    return inside, asked, wrong


def spread(errors: Errors) -> tuple[float, float, float]:
    """Median, 90th percentile and worst of the absolute errors."""
    sizes = sorted(abs(error) for error, _ in errors)
    return statistics.median(sizes), sizes[int(0.9 * (len(sizes) - 1))], sizes[-1]


# What calculators do that multiply parameters: no 16-bit parts, one KV head per attention head, the
# label's gigabytes as GiB, nothing for the engine.


def naive_weights_gib(case: Case) -> float:
    bits = find_precision(precision_of(case.row)).bits
    return case.architecture.parameters * bits / 8 / GIB / gpus(case.row)


def naive_token_bytes(case: Case) -> float:
    """All layers, all attention heads, K and V, divided by the GPUs."""
    width = max((c.key_dim or c.latent_dim // 4 for c in case.architecture.caches), default=0)
    size = 1 if str(case.row.get("kv_cache_dtype") or "").startswith("fp8") else 2
    heads = case.architecture.attention_heads
    return case.architecture.layers * heads * 2 * width * size / gpus(case.row)


def naive(found: Sequence[Case]) -> dict[str, Errors]:
    errors: dict[str, Errors] = {bar.name: [] for bar in BARS}
    plain, hybrid, weights, whole = errors.values()
    for case in found:
        row, label = case.row, str(case.row["id"])
        token = naive_token_bytes(case)
        if other_engine(case):
            continue
        if case.pooled is not None:
            tokens = row["available_kv_gib_per_gpu"] * GIB / token
            if is_hybrid(case.architecture) and row.get("max_concurrency"):
                hybrid.append((_error(tokens / row["max_model_len"], row["max_concurrency"]), label))
            elif row.get("kv_cache_tokens"):
                plain.append((_error(tokens, row["kv_cache_tokens"]), label))
        if _counts_weights(row):
            weights.append((_error(naive_weights_gib(case), row["weights_gib_per_gpu"]), label))
        if _counts_end_to_end(row):
            room = (gpu(row).nominal_gb - naive_weights_gib(case)) * GIB
            whole.append(
                (_error(max(0.0, room) / token / row["max_model_len"], row["max_concurrency"]), label)
            )
    return errors


def report(found: Sequence[Case], left_out: Sequence[str], say: Callable[[str], None]) -> bool:
    """Print the table; True when every bar holds."""
    ours, theirs = measure(found), naive(found)
    missed = []
    say(f"{'area':<36} {'n':>4} {'median':>8} {'p90':>8} {'worst':>8}   naive median   bar")
    for bar in BARS:
        if not ours[bar.name]:
            say(f"{bar.name:<36}    0")
            continue
        median, p90, worst = spread(ours[bar.name])
        held = all(
            limit is None or value <= limit
            for value, limit in ((median, bar.median), (p90, bar.p90), (worst, bar.worst))
        )
        missed += [] if held else [bar.name]
        limits = f"median {bar.median} %" + (f", p90 {bar.p90} %" if bar.p90 else "")
        limits += f", worst {bar.worst} %" if bar.worst else ""
        say(
            f"{bar.name:<36} {len(ours[bar.name]):>4} {median:>7.3f}% {p90:>7.3f}% {worst:>7.2f}% "
            f"{spread(theirs[bar.name])[0]:>13.1f}%   {limits}: {'holds' if held else 'MISSED'}"
        )
    inside, asked, wrong = verdicts(found)
    share = inside / asked if asked else 1.0
    say(f"measured value inside the band: {inside} of {asked} ({100 * share:.1f} %), bar 95 %")
    say(f"wrong verdicts: {len(wrong)}" + "".join(f"\n  {line}" for line in wrong))
    for bar in BARS:
        far = sorted(ours[bar.name], key=lambda item: -abs(item[0]))[:3]
        say(f"furthest, {bar.name}: " + "; ".join(f"{error:+.2f} % {label}" for error, label in far))
    for case in found:
        reason = other_engine(case)
        if reason:
            say(f"not counted: {case.row['id']} {case.row['model']}: {reason}")
    for line in left_out:
        say(f"left out: {line}")
    return not missed and share >= 0.95 and not wrong


def main(arguments: Sequence[str] | None = None) -> int:
    given = list(sys.argv[1:] if arguments is None else arguments)
    file = Path(given[0]) if given else DEFAULT_FILE
    rows = json.loads(re.sub(r"^\ufeff", "", file.read_text()))
    found, left_out = cases(rows, [Path(folder) for folder in given[1:]])
    return 0 if report(found, left_out, print) else 1


if __name__ == "__main__":
    sys.exit(main())
