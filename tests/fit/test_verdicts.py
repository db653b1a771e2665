"""Bands, verdicts, reasons and evidence of a check."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog import accelerators, architectures
from fwctl.fit.check import check, quick
from fwctl.fit.engines import ENGINES, budget, find_engine
from fwctl.fit.errors import RequestError
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.request import FitRequest
from fwctl.fit.result import Evidence, FitResult, Verdict
from tests.fit.builders import ask, config


def known(name: str, **options: Any) -> FitResult:
    found = architectures.find(name)
    assert found is not None
    return ask(dict(found), **options)


@pytest.mark.parametrize(
    ("concurrency", "verdict"),
    [(1, Verdict.FITS), (40, Verdict.FITS), (55, Verdict.TIGHT), (200, Verdict.DOES_NOT_FIT)],
)
def test_the_verdict_follows_the_ends_of_the_band(concurrency: int, verdict: Verdict) -> None:
    result = known("llama-v3p1-8b-instruct", context_tokens=8192, concurrency=concurrency, engine="fireworks")
    assert result.verdict is verdict
    assert result.max_concurrency is not None
    low, _, high = result.max_concurrency
    assert low < 55 < high


def test_a_measured_pool_makes_all_ends_equal_and_is_the_evidence() -> None:
    result = known("llama-v3p1-8b-instruct", kv_pool_gib=10, context_tokens=8192)
    assert result.evidence is Evidence.MEASURED
    # 10 GiB over 8,192 × 131,072 bytes
    assert result.max_concurrency == (10.0, 10.0, 10.0)
    assert result.kv_cache_tokens == (81_920, 81_920, 81_920)


def test_an_empty_measured_pool_does_not_fit() -> None:
    assert known("llama-v3p1-8b-instruct", kv_pool_gib=0).verdict is Verdict.DOES_NOT_FIT


def test_weights_above_the_gpu_are_said_so() -> None:
    result = known("llama-v3p1-70b-instruct")
    assert result.verdict is Verdict.DOES_NOT_FIT
    assert "alone exceed a GPU" in result.reasons[-1]
    assert result.max_context_tokens == 0


def test_platform_facts_are_never_contradicted() -> None:
    """Published shapes and hints: R1 needs 8 H200, 405B in FP8 runs on 4 MI300X, 70B in 16 bits on one."""
    shapes = [
        ("gpt-oss-120b", "H200", 1, "FP4"),
        ("gpt-oss-120b", "H100", 4, "FP4"),
        ("gpt-oss-20b", "H100", 1, "FP4"),
        ("qwen2p5-vl-32b-instruct", "H200", 1, "BF16"),
        ("deepseek-r1", "H200", 8, "FP8"),
        ("llama-v3p1-405b-instruct", "MI300X", 4, "FP8"),
        ("llama-v3p1-70b-instruct", "MI300X", 1, "FP16"),
    ]
    for name, accelerator, count, precision in shapes:
        result = known(name, accelerator=accelerator, count=count, precision=precision, engine="fireworks")
        assert result.verdict is Verdict.FITS, name
    assert known("deepseek-r1", count=8, precision="FP8").verdict is Verdict.DOES_NOT_FIT


def test_a_contradicting_checkpoint_is_a_reason_and_the_flag_wins() -> None:
    result = known("deepseek-r1", accelerator="B300", count=8, precision="BF16", engine="ideal")
    assert "FP8" in result.reasons[0]
    assert result.weights_bytes_total == pytest.approx(671e9 * 2, rel=0.01)


def test_a_context_above_the_models_maximum_is_a_reason() -> None:
    assert "maximum of 4,096" in ask(context_tokens=5000).reasons[0]


def test_heads_that_do_not_divide_are_a_reason() -> None:
    assert "8 attention heads do not divide among 3 GPUs" in ask(count=3).reasons


def test_the_platforms_engine_takes_both_layouts_of_an_mla_model_into_account() -> None:
    """R1 on 8 H200: one latent per rank under TP, sequences of its own per rank under DP attention."""
    replica = {"accelerator": "H200", "count": 8, "precision": "FP8", "engine": "fireworks"}
    both = known("deepseek-r1", **replica)
    tensor = known("deepseek-r1", **replica, attention="tensor")
    data = known("deepseek-r1", **replica, attention="data")
    assert both.max_concurrency is not None
    assert tensor.max_concurrency is not None
    assert data.max_concurrency is not None
    assert both.max_concurrency.low == tensor.max_concurrency.low
    assert both.max_concurrency.high == data.max_concurrency.high > 5 * tensor.max_concurrency.high


def test_pipeline_stages_share_the_cache() -> None:
    one = ask(count=2, engine="ideal", context_tokens=4096)
    two = ask(count=2, engine="ideal", context_tokens=4096, pipeline=2)
    assert one.kv_bytes_per_token_total == two.kv_bytes_per_token_total
    assert two.max_concurrency is not None
    assert one.max_concurrency is not None
    assert two.max_concurrency.mid == pytest.approx(one.max_concurrency.mid, rel=0.01)


def test_percentiles_make_does_not_fit_depend_on_the_median_and_fits_on_the_95th() -> None:
    request = fit_request_from_options(
        config=config(),
        accelerator="H100",
        count=1,
        precision="BF16",
        context_tokens=2048,
        concurrency=1,
        engine="ideal",
    )
    room = check(request).max_concurrency
    assert room is not None
    many = request._replace(workload=request.workload._replace(p50_tokens=512, concurrency=room.mid * 2))
    result = check(many)
    assert result.verdict is Verdict.TIGHT
    assert result.p50_concurrency is not None
    assert result.p50_concurrency.mid == pytest.approx(4 * room.mid)
    assert result.to_json()["max_concurrency_p50"]["mid"] == result.p50_concurrency.mid


def test_headers_replace_the_weights_of_a_checkpoint_in_its_own_width() -> None:
    exact = ask(weights_bytes=3_000_000)
    assert exact.evidence is Evidence.HEADERS
    assert exact.weights_bytes_total == 3_000_000
    other = ask(weights_bytes=3_000_000, precision="FP8")
    assert other.evidence is Evidence.CONFIG


def test_without_an_architecture_a_parameter_count_still_rules_out_what_cannot_be() -> None:
    unknown = check(
        fit_request_from_options(accelerator="H100", count=1, precision="FP8", parameters=8e9, model="m")
    )
    assert (unknown.verdict, unknown.evidence) == (Verdict.UNKNOWN, Evidence.PARAMETERS)
    assert unknown.weights_bytes_per_gpu == 8e9
    too_big = check(fit_request_from_options(accelerator="H100", count=1, precision="FP16", parameters=70e9))
    assert too_big.verdict is Verdict.DOES_NOT_FIT
    exact = check(fit_request_from_options(accelerator="H100", count=1, precision="FP16", weights_bytes=1e9))
    assert exact.evidence is Evidence.HEADERS
    nothing = check(fit_request_from_options(accelerator="H100", count=1, precision="FP16"))
    assert (nothing.verdict, nothing.evidence) == (Verdict.UNKNOWN, Evidence.ASSUMED)
    assert nothing.to_json()["max_concurrency"] is None
    assert nothing.to_json()["kv_pool_bytes_per_gpu"] is None


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"accelerator_count": 0}, "accelerator_count"),
        ({"accelerator_count": True}, "accelerator_count"),
        ({"accelerator_count": 10**9}, "accelerator_count"),
        ({"utilization": 1.5}, "engine_utilization"),
        ({"kv_pool_bytes": -1.0}, "kv_pool_gib"),
        ({"parameters": 0.0}, "parameters"),
        ({"pipeline": 3}, "pipeline"),
        ({"precision": "FP7"}, "precision"),
        ({"kv_precision": "fp7"}, "kv_precision"),
        ({"engine": "tensorrt"}, "engine"),
        ({"attention": "ring"}, "attention"),
        ({"draft_tokens": 100}, "draft_tokens"),
    ],
)
def test_a_question_that_makes_no_sense_names_its_part(change: dict[str, Any], field: str) -> None:
    request = fit_request_from_options(config=config(), accelerator="H100", count=2, precision="BF16")
    with pytest.raises(RequestError) as error:
        check(request._replace(**change))
    assert error.value.field == field


@pytest.mark.parametrize(("context", "concurrency"), [(0, 1.0), (10, 0.0), (10, float("nan"))])
def test_a_workload_that_makes_no_sense_is_refused(context: int, concurrency: float) -> None:
    with pytest.raises(RequestError):
        ask(context_tokens=context, concurrency=concurrency)


def request() -> FitRequest:
    return fit_request_from_options(config=config(), accelerator="H100", count=1, precision="BF16")


def test_a_quick_check_gives_the_same_figures_without_the_details() -> None:
    slow, fast = check(request()), quick(request())
    assert fast.max_concurrency == slow.max_concurrency
    assert (fast.roofline, fast.parts, fast.explain, fast.max_context_tokens) == (None, (), (), None)


@pytest.mark.parametrize("engine", list(ENGINES))
def test_in_every_band_low_is_the_pessimistic_end(engine: str) -> None:
    result = known("llama-v3p1-8b-instruct", engine=engine, context_tokens=8192)
    for band, growing in ((result.kv_pool, True), (result.max_concurrency, True), (result.overhead, False)):
        assert band is not None
        assert list(band) == sorted(band, reverse=not growing)


def test_the_ideal_engine_takes_nominal_memory_and_a_share_of_it_when_asked() -> None:
    assert ask(engine="ideal").usable_bytes_per_gpu == 80e9
    assert ask(engine="ideal", engine_utilization=0.5).usable_bytes_per_gpu == 40e9


def test_sglang_reserves_by_its_own_formula() -> None:
    """0.5.23: 512 MB + 1.5 × chunk + 1,024 MB per 8 GPUs, at least 10 GiB above 60 GiB."""
    gib = 2**30
    big = ask(engine="sglang").usable_bytes_per_gpu
    assert big == pytest.approx(79.19 * gib - (512 + 1.5 * 8192 + 128) * 2**20)
    small = ask(engine="sglang", accelerator="L4").usable_bytes_per_gpu
    assert small == pytest.approx(22.03 * gib - (512 + 3072 + 128) * 2**20)
    a100 = ask(engine="sglang", accelerator="A100").usable_bytes_per_gpu
    assert a100 == pytest.approx(79.25 * gib - 10 * gib)
    assert ask(engine="sglang", engine_utilization=0.5).usable_bytes_per_gpu == pytest.approx(79.19 * gib / 2)


@pytest.mark.parametrize(
    ("name", "chunk"), [("H100", 8192), ("A100", 2048), ("L4", 2048), ("B200", 8192), ("MI300X", 8192)]
)
def test_the_prefill_chunk_follows_memory(name: str, chunk: int) -> None:
    accelerator = accelerators.find(name)
    assert accelerator is not None
    assert budget(find_engine("vllm"), accelerator, 1).chunk == chunk
    huge = accelerator.visible_gib > 160
    assert budget(find_engine("sglang"), accelerator, 1).chunk == (16384 if huge else chunk)


def test_blocks_that_hold_states_are_aligned_as_the_backend_needs() -> None:
    blackwell, hopper = accelerators.find("B200"), accelerators.find("H200")
    assert blackwell is not None
    assert hopper is not None
    engine = find_engine("vllm")
    assert budget(engine, blackwell, 1, head_dim=256).alignment == 32
    assert budget(engine, hopper, 1, head_dim=256).alignment == 16
    assert budget(engine, hopper, 1, latent=True).alignment == 128


def test_peak_of_the_sampler_is_what_vllm_011_prints() -> None:
    """4.76 GiB for a vocabulary of 128,256 and 7.38 for 201,088, plus about 0.5 of buffers."""
    gib, h100 = 2**30, accelerators.find("H100")
    assert h100 is not None
    for vocabulary, printed in ((128_256, 4.76), (151_936, 5.56), (201_088, 7.38)):
        overhead = budget(find_engine("vllm"), h100, 1, vocabulary=vocabulary, utilization=0.9).overhead
        assert overhead.low / gib == pytest.approx(printed + 0.8, abs=0.2)


def test_fp8_means_another_layout_for_sparse_mla_on_hopper() -> None:
    hopper = known("deepseek-v3p2", accelerator="H200", count=8, precision="FP8", kv_precision="fp8")
    blackwell = known("deepseek-v3p2", accelerator="B200", count=8, precision="FP8", kv_precision="fp8")
    assert (hopper.kv_precision, blackwell.kv_precision) == ("fp8_ds_mla", "fp8")
    assert hopper.kv_bytes_per_token_per_gpu == 61 * (656 + 132)
    assert blackwell.kv_bytes_per_token_per_gpu == 61 * (576 + 132)


@pytest.mark.parametrize(
    ("precision", "kv"),
    [
        ("FP8", "fp16"),
        ("FP8_KV", "fp8"),
        ("FP8_MM_KV_ATTN", "fp8"),
        ("FP8_MM_KV_ATTN_V2", "fp8"),
        ("bf16", "fp16"),
    ],
)
def test_the_platforms_precision_says_how_the_cache_is_stored(precision: str, kv: str) -> None:
    assert ask(precision=precision).kv_precision == kv
