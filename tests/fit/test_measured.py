"""Fit arithmetic against engine logs: each row of tests/data/fit/measured.json names its source.

Tolerances are the project's bars, row by row: arithmetic with the logged pool, weights from the
config alone on NVIDIA, and verdicts.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fwctl.catalog import architectures
from fwctl.fit.architecture import Architecture
from fwctl.fit.check import quick
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.result import FitResult, Verdict

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).parents[1] / "data" / "fit" / "measured.json").read_text()
)


@cache
def architecture(name: str) -> Architecture:
    config = architectures.find(name)
    assert config is not None
    return architecture_from_config(config)


def answer(row: dict[str, Any], *, pooled: bool) -> FitResult:
    quantization = row["weight_quantization"] or ""
    eight = "fp8" in f"{quantization} {row['model']}".lower()
    precision = "FP4" if "fp4" in quantization else "FP8" if eight else "BF16"
    return quick(
        fit_request_from_options(
            architecture=architecture(row["config"]),
            accelerator=row["gpu"].removesuffix("-80GB"),
            count=row["tensor_parallel"],
            precision=precision,
            kv_precision="fp8" if (row["kv_cache_dtype"] or "").startswith("fp8") else "auto",
            context_tokens=row["max_model_len"] or 8192,
            concurrency=1,
            engine="vllm",
            engine_utilization=row["gpu_memory_utilization"],
            kv_pool_gib=row["available_kv_gib_per_gpu"] if pooled else None,
        )
    )


def chosen(*fields: str) -> Any:
    rows = [row for row in ROWS if all(row[field] for field in fields)]
    return pytest.mark.parametrize("row", rows, ids=[f"{row['id']} {row['model']}" for row in rows])


@chosen("available_kv_gib_per_gpu", "max_concurrency")
def test_conversations_of_a_logged_pool(row: dict[str, Any]) -> None:
    """The pool is logged to 0.01 GiB and belongs to one rank, which the smallest may undercut."""
    result = answer(row, pooled=True)
    assert result.max_concurrency is not None
    loose = 0.005 if row["gpu"] == "MI300X" or "GLM" in row["model"] else 0.001
    assert result.max_concurrency.mid == pytest.approx(row["max_concurrency"], rel=loose, abs=0.006)
    assert result.max_concurrency.low == result.max_concurrency.mid == result.max_concurrency.high


@chosen("weights_gib_per_gpu")
def test_weights_from_the_config_alone(row: dict[str, Any]) -> None:
    found = answer(row, pooled=False).weights_bytes_per_gpu
    assert found is not None
    assert found / 2**30 == pytest.approx(row["weights_gib_per_gpu"], rel=0.04)


@chosen("max_concurrency", "gpu_memory_utilization")
def test_the_measured_value_lies_inside_the_band(row: dict[str, Any]) -> None:
    if row["engine"].startswith("vLLM v0.20"):
        pytest.skip("its log records utilisation 0.9 and shows 0.92")
    result = answer(row, pooled=False)
    assert result.max_concurrency is not None
    assert result.max_concurrency.low * 0.999 <= row["max_concurrency"] <= result.max_concurrency.high * 1.001
    assert result.max_concurrency.mid == pytest.approx(row["max_concurrency"], rel=0.06)


@chosen("ran_out_of_memory")
def test_what_ran_out_of_memory_is_never_said_to_fit(row: dict[str, Any]) -> None:
    assert answer(row, pooled=False).verdict is not Verdict.FITS


@chosen("max_concurrency")
def test_what_ran_is_never_said_not_to_fit(row: dict[str, Any]) -> None:
    assert answer(row, pooled=False).verdict is not Verdict.DOES_NOT_FIT
