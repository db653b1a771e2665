"""Drafters, adapters, engine additions, roofline, alternatives, memory bar and formulas."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog import architectures
from fwctl.fit.architecture import Architecture, Kind
from fwctl.fit.check import check
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.request import Adapters, Drafter, FitRequest, Offer
from fwctl.fit.result import FitResult, Verdict
from tests.fit.builders import ask, config, elements, model


def known(name: str) -> Architecture:
    found = architectures.find(name)
    assert found is not None
    return architecture_from_config(found)


def llama_8b() -> Architecture:
    return known("llama-v3p1-8b-instruct")


def request(architecture: Architecture | None = None, **options: Any) -> FitRequest:
    values = {
        "architecture": architecture or model(),
        "accelerator": "H100",
        "count": 1,
        "precision": "BF16",
        "context_tokens": 1024,
        "concurrency": 1,
        "engine": "ideal",
        **options,
    }
    return fit_request_from_options(**values)


def part(result: FitResult, name: str) -> float:
    return dict(result.parts)[name]


def test_a_drafter_takes_weights_and_a_cache_of_its_own() -> None:
    target, draft = known("llama-v3p1-70b-instruct"), known("llama-v3p2-1b-instruct")
    alone = request(target, accelerator="B200", count=2, precision="FP8")
    both = check(alone._replace(drafter=Drafter("d", draft, "BF16")))
    # 2 bytes, two GPUs; norms are whole on both
    assert part(both, "drafter") == pytest.approx(draft.parameters, rel=1e-4)
    # 80 × 8 × 256 × 2 / 2 + 16 × 8 × 128 × 2 / 2
    assert both.kv_bytes_per_token_per_gpu == 163_840 + 16_384
    same_width = check(alone._replace(drafter=Drafter("d", draft)))
    assert part(same_width, "drafter") < part(both, "drafter")


def test_a_drafter_without_config_counts_its_parameters_or_is_said_not_to_count() -> None:
    counted = check(request()._replace(drafter=Drafter("d", None, parameters=1e9)))
    assert part(counted, "drafter") == 2e9
    assert "its cache is not counted" in counted.reasons[-1]
    silent = check(request()._replace(drafter=Drafter("d", None)))
    assert "drafter d is not counted" in silent.reasons[-1]


def test_an_mtp_layer_takes_weights_and_one_more_layer_of_cache() -> None:
    architecture = known("deepseek-r1")
    plain = request(architecture, accelerator="H200", count=8, precision="FP8")
    with_mtp = check(plain._replace(mtp=True))
    assert with_mtp.kv_bytes_per_token_per_gpu == 62 * 576 * 2
    assert part(with_mtp, "MTP layer") > 1e9
    none = check(request()._replace(mtp=True))
    assert "names no MTP layer" in none.reasons[-1]


def test_adapters_take_rank_times_inputs_and_outputs() -> None:
    """4 layers: q 128+128, k and v 32+128 each, o 128+128, up and gate 512+128, down 128+512."""
    per_layer = 256 + 2 * 160 + 256 + 3 * 640
    result = check(request()._replace(adapters=Adapters(3, 8)))
    assert part(result, "LoRA adapters") == 3 * 8 * 4 * per_layer * 2
    assert "LoRA adapters" not in dict(check(request()._replace(adapters=Adapters(0))).parts)


def test_absorbed_projections_are_a_line_of_the_weights() -> None:
    """61 layers × 16 heads × (128 + 128) × 512 × 2 bytes on each of 8 GPUs."""
    replica = {"accelerator": "H200", "count": 8, "precision": "FP8"}
    result = check(request(known("deepseek-r1"), **replica, engine="vllm"))
    added = 61 * 16 * 256 * 512 * 2
    assert part(result, "absorbed MLA projections") == added
    assert result.padding_bytes_per_gpu == added
    bare = check(request(known("deepseek-r1"), **replica, engine="ideal"))
    assert bare.weights_bytes_per_gpu is not None
    assert result.weights_bytes_per_gpu == pytest.approx(bare.weights_bytes_per_gpu + added)


def test_gpt_oss_experts_are_padded_as_loaded_sizes_show() -> None:
    small = check(request(known("gpt-oss-20b"), precision="FP4", engine="vllm"))
    assert small.weights_bytes_per_gpu is not None
    assert small.weights_bytes_per_gpu / 2**30 == pytest.approx(13.47, rel=0.005)
    large = check(request(known("gpt-oss-120b"), accelerator="H200", precision="FP4", engine="vllm"))
    assert large.weights_bytes_per_gpu is not None
    assert 64.4 <= large.weights_bytes_per_gpu / 2**30 <= 66.0


def test_rocm_makes_16_bit_experts_larger() -> None:
    """Qwen3-VL-30B loads 79.3 GiB on one MI300X for 58.2 of weights."""
    result = check(request(known("Qwen/Qwen3-VL-30B-A3B-Instruct"), accelerator="MI300X", engine="vllm"))
    assert result.weights_bytes_per_gpu is not None
    assert result.weights_bytes_per_gpu / 2**30 == pytest.approx(79.3, rel=0.02)
    assert part(result, "padding for ROCm kernels") > 15 * 2**30


def test_the_memory_bar_adds_up_to_the_gpu() -> None:
    result = check(request(llama_8b(), engine="vllm"))
    assert sum(size for _, size in result.parts) == pytest.approx(79.19 * 2**30)
    assert [name for name, _ in result.parts] == ["weights", "overhead", "kv pool", "left outside"]


def test_the_roofline_of_a_dense_model_at_batch_one_reads_every_weight_once() -> None:
    """Llama-3.1-8B: 7.50e9 × 2 bytes + 1,024 × 131,072 of cache over 3,350 GB/s."""
    prices = {"NVIDIA_H100_80GB": 4.0}
    roofline = check(request(llama_8b(), usd_per_gpu_hour=prices)).roofline
    assert roofline is not None
    row = roofline["decode"]["batch_1"]
    assert row["bytes_per_step"] == pytest.approx(7.505e9 * 2 + 1024 * 131_072, rel=0.001)
    assert row["tokens_per_second_bandwidth"] == pytest.approx(3350e9 / 15.144e9, rel=0.001)
    assert row["bound_by"] == "bandwidth"
    assert row["usd_per_million_tokens_bound"] == pytest.approx(4 / 3600 / 221.2 * 1e6, rel=0.001)
    assert roofline["prefill_flops"] == pytest.approx(2 * 7.505e9 * 1024, rel=0.001)


def test_a_mixture_reads_more_experts_the_larger_the_batch() -> None:
    """Qwen3-30B: 8 of 128 experts for one token; 1 − (1 − 1/16)^32 = 0.873 of them for 32."""
    architecture = known("Qwen/Qwen3-30B-A3B")
    roofline = check(request(architecture, concurrency=32, context_tokens=1)).roofline
    assert roofline is not None
    experts = elements(architecture, Kind.EXPERT) * 2
    one = roofline["decode"]["batch_1"]["bytes_per_step"]
    many = roofline["decode"]["concurrency"]["bytes_per_step"]
    assert many - one == pytest.approx(experts * (0.8732 - 0.0625), rel=0.001)


def test_a_tied_embedding_is_read_as_the_head() -> None:
    roofline = check(request(known("llama-v3p2-1b-instruct"), context_tokens=1)).roofline
    assert roofline is not None
    assert roofline["decode"]["batch_1"]["bytes_per_step"] == pytest.approx(1.236e9 * 2, rel=0.001)


def test_alternatives_name_what_changes_cheapest_first() -> None:
    prices = {"NVIDIA_H100_80GB": 4.0, "NVIDIA_H200_141GB": 6.0, "NVIDIA_B200_180GB": 9.0}
    result = check(
        request(
            known("llama-v3p1-70b-instruct"),
            context_tokens=8192,
            concurrency=4,
            engine="vllm",
            usd_per_gpu_hour=prices,
        )
    )
    assert result.verdict is Verdict.DOES_NOT_FIT
    costs = [item.usd_per_hour for item in result.alternatives if item.usd_per_hour is not None]
    assert costs == sorted(costs)
    assert result.alternatives
    changes = [item.changes for item in result.alternatives]
    assert all(changes)
    assert ("count 1 -> 4",) in changes
    document = result.to_json()["alternatives"][0]
    assert set(document) == {
        "accelerator",
        "accelerator_count",
        "precision",
        "kv_precision",
        "shape",
        "max_concurrency",
        "usd_per_hour",
        "changes",
    }


def test_alternatives_are_only_what_the_platform_offers_when_that_is_known() -> None:
    offers = [
        Offer("NVIDIA_H100_80GB", 1, "BF16", "same"),
        Offer("NVIDIA_H100_80GB", 4, "FP8", "accounts/fireworks/deploymentShapes/fast"),
        Offer("NVIDIA_H100_80GB", 1, "FP8", "too small"),
        Offer("NVIDIA_X9000", 1, "FP8", "unknown"),
        Offer("NVIDIA_H200_141GB", 1, "FP7", "odd"),
        Offer("NVIDIA_H200_141GB", 2, "FP8", "odd", kv_precision="fp7"),
    ]
    result = check(
        request(known("llama-v3p1-70b-instruct"), context_tokens=8192, engine="vllm", offers=offers)
    )
    assert [item.shape for item in result.alternatives] == ["accounts/fireworks/deploymentShapes/fast"]
    assert result.alternatives[0].changes == ("count 1 -> 4", "precision BF16 -> FP8")


def test_a_precision_that_the_hardware_has_no_cores_for_is_no_alternative() -> None:
    amd = {"AMD_MI300X_192GB": 0.1, "AMD_MI325X_256GB": 0.1}  # the cheapest by far
    result = check(
        request(known("llama-v3p1-70b-instruct"), context_tokens=8192, engine="vllm", usd_per_gpu_hour=amd)
    )
    pairs = {(item.accelerator, item.precision) for item in result.alternatives}
    assert ("AMD_MI300X_192GB", "BF16") in pairs
    assert not any(name in amd and precision == "FP4" for name, precision in pairs)


def test_a_shorter_context_and_fewer_conversations_are_alternatives_too() -> None:
    result = check(request(llama_8b(), context_tokens=8192, concurrency=100, engine="vllm"))
    changes = {change.split(" ")[0] for item in result.alternatives for change in item.changes}
    assert {"context", "concurrency", "accelerator", "count", "precision"} <= changes
    shorter = next(item for item in result.alternatives if item.changes[0].startswith("context"))
    assert shorter.max_concurrency.low >= 100


def test_an_fp8_cache_is_an_alternative() -> None:
    result = check(request(llama_8b(), context_tokens=8192, concurrency=70, engine="vllm"))
    assert ("kv_precision auto -> fp8",) in [item.changes for item in result.alternatives]


def test_with_a_measured_pool_the_cache_format_is_not_guessed_at() -> None:
    result = check(request(llama_8b(), context_tokens=8192, concurrency=70, kv_pool_gib=20))
    assert not any("kv_precision" in change for item in result.alternatives for change in item.changes)


def test_every_formula_is_explained_with_its_numbers() -> None:
    lines = "\n".join(ask(precision="FP8", count=2).explain)
    assert "4 layers × 1 of 2 heads × (16 + 16) × 2 bytes = 256 bytes a token per GPU" in lines
    assert "weights of embedding" in lines
    assert "usable" in lines
    counted = "\n".join(ask(parameters=70e9, engine="ideal").explain)
    assert "70,000,000,000 parameters × 2 bytes / 1 GPUs = 140,000,000,000 bytes per GPU" in counted
    assert "measured" in "\n".join(ask(kv_pool_gib=1).explain)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "deepseek-v3p2",
            "61 layers × one latent of (512 + 64) in fp16, whole on every GPU; + 61 × (128 + 4)",
        ),
        ("deepseek-r1", "61 layers × one latent of (512 + 64) in fp16, whole on every GPU"),
        ("nemotron-nano-3-30b-a3b", "23 layers keep a fixed state per sequence"),
        ("gemma-4-31b-it", "at most 1,024 tokens and the chunk in flight"),
    ],
)
def test_each_kind_of_cache_is_explained(name: str, expected: str) -> None:
    result = check(request(known(name), accelerator="H200", count=8, precision="FP8", engine="fireworks"))
    assert expected in "\n".join(result.explain)


def test_the_document_has_every_field_of_its_contract() -> None:
    contract = """name model accelerator accelerator_count precision kv_precision engine weights_bytes_per_gpu
    weights_bytes_total state_bytes_per_sequence_per_gpu kv_bytes_per_token_per_gpu kv_bytes_per_token_total
    kv_bytes_per_sequence_per_gpu usable_bytes_per_gpu overhead_bytes_per_gpu kv_pool_bytes_per_gpu
    max_concurrency kv_cache_tokens max_context_tokens verdict evidence assumed reasons
    roofline alternatives"""
    document = ask(config()).to_json()
    assert set(contract.split()) <= set(document)
    for band in ("overhead_bytes_per_gpu", "kv_pool_bytes_per_gpu", "max_concurrency", "kv_cache_tokens"):
        assert set(document[band]) == {"low", "mid", "high"}
    assert isinstance(document["max_concurrency"]["mid"], float)
    assert isinstance(document["weights_bytes_per_gpu"], int)
