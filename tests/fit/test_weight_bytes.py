"""Weights by class of tensor; expected counts are the models' published sizes or hand arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog import architectures
from fwctl.fit.architecture import Architecture, Kind
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.precision import find_precision, scheme_for
from fwctl.fit.weights import Layout, Weights, weigh
from tests.fit.builders import ask, config, elements, model, tensors


def known(name: str) -> Architecture:
    found = architectures.find(name)
    assert found is not None
    return architecture_from_config(found)


def weights(architecture: Architecture, precision: str, tensor: int = 1, **layout: Any) -> Weights:
    return weigh(architecture, scheme_for(architecture, find_precision(precision)), Layout(tensor, **layout))


@pytest.mark.parametrize(
    ("name", "billions", "active"),
    [
        ("meta-llama/Llama-3.1-8B-Instruct", 8.03, 7.50),
        ("meta-llama/Llama-3.1-70B-Instruct", 70.55, 69.5),
        ("meta-llama/Llama-3.1-405B-Instruct", 405.85, 403.7),
        ("meta-llama/Llama-3.2-1B-Instruct", 1.24, 1.24),
        ("mistralai/Mixtral-8x7B-Instruct-v0.1", 46.7, 12.75),
        ("Qwen/Qwen2.5-72B-Instruct", 72.7, 71.5),
        ("Qwen/Qwen3-235B-A22B", 235.1, 21.6),
        ("Qwen/Qwen3-30B-A3B", 30.5, 3.04),
        ("Qwen/Qwen3-Next-80B-A3B-Instruct", 79.7, 3.56),
        ("deepseek-ai/DeepSeek-V3", 671.0, 36.6),
        ("deepseek-ai/DeepSeek-V2-Lite-Chat", 15.7, 2.45),
        ("moonshotai/Kimi-K2-Instruct", 1026.4, 31.7),
        ("openai/gpt-oss-120b", 116.8, 5.13),
        ("openai/gpt-oss-20b", 20.9, 3.61),
        ("zai-org/GLM-4.5-Air", 106.9, 12.8),
        ("google/gemma-2-27b-it", 27.2, 27.2),
        ("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", 31.6, 3.23),
        ("nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-BF16", 120.7, 12.2),
        ("microsoft/phi-4", 14.7, 14.1),
        ("tiiuae/falcon-7b", 6.92, 6.92),
        ("mistralai/Mistral-Large-Instruct-2411", 122.6, 122.2),
    ],
)
def test_parameter_counts_are_the_published_ones(name: str, billions: float, active: float) -> None:
    architecture = known(name)
    assert architecture.parameters / 1e9 == pytest.approx(billions, rel=0.005)
    assert architecture.active_parameters / 1e9 == pytest.approx(active, rel=0.01)


def test_every_catalogue_entry_is_understood_or_says_why_not() -> None:
    for entry in architectures.models():
        architecture = architecture_from_config(entry.config)
        assert architecture.parameters > 0
        if architecture.unknown:
            assert architecture.model_type in ("deepseek_v4", "minimax_m3")


def test_fp8_keeps_embedding_and_head_in_16_bits() -> None:
    """Llama-3.3-70B FP8 loads 67.7 GiB on one GPU; 70.55e9 bytes would be 65.7."""
    assert weights(known("llama-v3p3-70b-instruct"), "FP8").per_gpu / 2**30 == pytest.approx(67.7, rel=0.001)


def test_tied_embeddings_are_counted_once() -> None:
    separate, tied = model(), model(tie_word_embeddings=True)
    assert separate.parameters - tied.parameters == 1000 * 128


def test_latent_down_projections_are_whole_on_every_gpu() -> None:
    whole = weights(known("deepseek-ai/DeepSeek-R1"), "FP8")
    eighth = weights(known("deepseek-ai/DeepSeek-R1"), "FP8", 8)
    assert eighth.by_kind[Kind.LATENT_DOWN] == whole.by_kind[Kind.LATENT_DOWN]
    assert eighth.by_kind[Kind.LATENT_UP] == pytest.approx(whole.by_kind[Kind.LATENT_UP] / 8)


def test_key_value_heads_are_replicated_when_there_are_more_gpus() -> None:
    architecture = model()  # 2 KV heads
    by_two, by_eight = weights(architecture, "BF16", 2), weights(architecture, "BF16", 8)
    keys = 4 * 2 * 16 * 128 * 2  # layers × one head of K and V × hidden × bytes
    queries = 4 * 2 * 8 * 16 * 128 * 2
    assert by_two.by_kind[Kind.ATTENTION] == queries / 2 + keys
    assert by_eight.by_kind[Kind.ATTENTION] == queries / 8 + keys


def test_data_parallel_attention_holds_attention_whole_and_divides_experts() -> None:
    architecture = known("Qwen/Qwen3-30B-A3B")
    whole = weights(architecture, "BF16")
    found = weights(architecture, "BF16", 4, data_attention=True)
    assert found.by_kind[Kind.ATTENTION] == whole.by_kind[Kind.ATTENTION]
    assert found.by_kind[Kind.EXPERT] == whole.by_kind[Kind.EXPERT] / 4
    assert Layout(4, data_attention=True).name == "data-parallel attention"


def test_pipeline_stages_divide_layers_and_hold_one_end_each() -> None:
    architecture = model()
    one, two = weights(architecture, "BF16"), weights(architecture, "BF16", 1, pipeline=2)
    assert two.by_kind[Kind.MLP] == one.by_kind[Kind.MLP] / 2
    assert two.by_kind[Kind.EMBEDDING] + two.by_kind[Kind.HEAD] == one.by_kind[Kind.HEAD]
    tied = weights(model(tie_word_embeddings=True), "BF16", 1, pipeline=2)
    assert tied.by_kind[Kind.EMBEDDING] == 1000 * 128 * 2
    assert Layout(2, 4).gpus == 8


def test_block_scales_are_counted() -> None:
    plain = model(quantization_config={"quant_method": "fp8"})
    blocks = model(quantization_config={"quant_method": "fp8", "weight_block_size": [128, 128]})
    linear = elements(plain, Kind.ATTENTION, Kind.MLP)
    difference = weights(blocks, "FP8").total - weights(model(), "BF16").total
    assert difference == pytest.approx(-linear + linear / 16384 * 4)


MOE = {
    "model_type": "qwen3_moe",
    "num_experts": 8,
    "num_experts_per_tok": 2,
    "moe_intermediate_size": 64,
}
EXPERTS = 4 * 8 * 3 * 64 * 128


@pytest.mark.parametrize(
    ("quantization", "precision", "expert_bits"),
    [
        ({"quant_method": "mxfp4"}, "FP4", 4 + 8 / 32),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, "FP4", 4 + 8 / 16),
        ({"quant_method": "awq", "bits": 4, "group_size": 128}, "FP4", 4 + 20 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": -1}, "FP8", 8),
        ({"quant_method": "bitsandbytes", "load_in_8bit": True}, "FP8", 8),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True}, "NF4", 4 + 32 / 64),
        ({"quant_method": "compressed-tensors", "format": "float-quantized"}, "FP8", 8),
        ({"quant_method": "compressed-tensors", "format": "int-quantized"}, "FP8", 8),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "config_groups": {"g": {"weights": {"num_bits": 4}, "targets": ["Linear"]}, "odd": 3},
            },
            "FP4",
            4 + 16 / 128,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "pack-quantized",
                "config_groups": {"g": {"weights": {"num_bits": 4, "group_size": 32}}},
            },
            "FP4",
            4 + 16 / 32,
        ),
        (
            {
                "quant_method": "compressed-tensors",
                "format": "mxfp4-pack-quantized",
                "config_groups": {"g": {"weights": {"num_bits": 4}, "targets": ["Linear"]}},
            },
            "FP4",
            4 + 8 / 32,
        ),
        ({"quant_method": "fbgemm_fp8"}, "FP8", 8),
        ({"quant_method": "auto-round", "bits": 4, "group_size": 128}, "FP4", 4 + 20 / 128),
        ({"quant_method": "quark", "global_quant_config": {"weight": {"dtype": "fp4"}}}, "FP4", 4 + 8 / 32),
        ({"quant_method": "quark", "global_quant_config": {"weight": [{"dtype": "fp8_e4m3"}]}}, "FP8", 8),
    ],
)
def test_each_quantisation_method_has_its_width(
    quantization: dict[str, Any], precision: str, expert_bits: float
) -> None:
    found = weights(model(**MOE, quantization_config=quantization), precision)
    assert found.by_kind[Kind.EXPERT] == pytest.approx(EXPERTS * expert_bits / 8, rel=0.05)
    assert found.by_kind[Kind.EMBEDDING] == 1000 * 128 * 2
    assert found.by_kind[Kind.ROUTER] == 4 * 8 * 128 * 2


def test_mxfp4_packs_experts_only() -> None:
    found = weights(model(**MOE, quantization_config={"quant_method": "mxfp4"}), "FP4")
    assert found.by_kind[Kind.ATTENTION] == elements(model(**MOE), Kind.ATTENTION) * 2


@pytest.mark.parametrize(
    "excluded",
    [
        ["model.layers.0.self_attn.q_proj", "lm_head"],
        ["layers.0.self_attn.q_proj"],
        ["re:.*layers\\.0\\.self_attn\\.q_proj"],
        ["model.layers.0.attention.q_proj"],
    ],
)
def test_one_module_may_stay_in_16_bits(excluded: list[str]) -> None:
    quantization = {"quant_method": "fp8", "modules_to_not_convert": excluded}
    found = weights(model(quantization_config=quantization), "FP8")
    plain = weights(model(quantization_config={"quant_method": "fp8"}), "FP8")
    assert found.total - plain.total == pytest.approx(128 * 128, rel=0.05)


@pytest.mark.parametrize(
    "excluded",
    [
        "model.layers.*.self_attn",
        "*.self_attn.*",
        "self_attn",
        "model.layers.3*",
        "re:.*layers.3.*",
        "model.layers.3",
    ],
)
def test_patterns_may_name_a_part_of_every_layer_or_a_whole_one(excluded: str) -> None:
    architecture = model(quantization_config={"quant_method": "fp8", "ignore": [excluded, 7]})
    pinned = {tensor.kind for tensor in architecture.tensors if tensor.pinned}
    assert pinned == ({Kind.ATTENTION} if "self_attn" in excluded else {Kind.ATTENTION, Kind.MLP})


def test_a_dangerous_or_broken_expression_is_left_out() -> None:
    for bad in ("re:(a+)+$", "re:(.|.)*x", "re:" + ".*" * 9 + "x", "re:(", "re:" + "a" * 500):
        architecture = model(quantization_config={"quant_method": "fp8", "ignore": [bad]})
        assert not any(tensor.pinned for tensor in architecture.tensors)


def test_a_mixed_checkpoint_has_a_width_per_group() -> None:
    quantization = {
        "quant_method": "modelopt",
        "quant_algo": "MIXED_PRECISION",
        "config_groups": {
            "a": {"weights": {"num_bits": 8}, "targets": ["model.layers.0.self_attn.q_proj"]},
            "b": {"weights": {"num_bits": 4}, "targets": ["re:.*mlp.*", "lm_head"]},
            "odd": {"weights": {"num_bits": "x"}},
            "none": 3,
        },
    }
    architecture = model(quantization_config=quantization)
    bits = {(t.kind, t.module, t.stored_bits, t.pinned) for t in architecture.tensors if t.module}
    assert (Kind.ATTENTION, "q_proj", 8.0, False) in bits
    assert (Kind.ATTENTION, "q_proj", None, True) in bits
    assert (Kind.MLP, "up_proj", 4.0, False) in bits
    assert (Kind.HEAD, "lm_head", 4.0, False) in bits
    found = weights(architecture, "FP4")
    assert found.by_kind[Kind.HEAD] == pytest.approx(1000 * 128 * 4.5 / 8)


def test_quantized_layers_of_modelopt_are_groups_too() -> None:
    beside = {
        "quantization": {
            "quant_algo": "MIXED_PRECISION",
            "quantized_layers": {
                "model.layers.0.mlp": {"quant_algo": "NVFP4"},
                "model.layers.1.mlp": {"quant_algo": "FP8"},
                "model.layers.2.mlp": 1,
            },
        }
    }
    architecture = architecture_from_config(config(), beside)
    stored = [t.stored_bits for t in tensors(architecture, Kind.MLP)]
    assert sorted(s for s in stored if s) == [4.0, 4.0, 8.0, 8.0]
    head = tensors(architecture, Kind.HEAD)[0]
    assert head.stored_bits is None


def test_hf_quant_config_beside_the_config_counts_when_the_config_says_nothing() -> None:
    beside = {
        "quantization": {"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]}
    }
    found = architecture_from_config(config(), beside).quantization
    assert found is not None
    assert found.family == "FP8"
    assert architecture_from_config(config(), {"producer": {}}).quantization is None
    both = architecture_from_config(config(quantization_config={"quant_method": "modelopt"}), beside)
    assert both.quantization is not None
    assert both.quantization.method == "modelopt"


def test_an_unknown_method_is_named_and_its_bytes_are_not_used() -> None:
    architecture = model(quantization_config={"quant_method": "brand_new"})
    assert architecture.quantization is not None
    assert architecture.quantization.family == "UNKNOWN"
    assert weights(architecture, "FP8").total == weights(model(), "FP8").total
    assert model(
        quantization_config={"quant_method": "quark"}
    ).quantization == architecture.quantization._replace(method="quark")
    result = ask(config(quantization_config={"quant_method": "brand_new"}))
    assert "brand_new" in result.reasons[0]


def test_islands_of_families_stay_in_16_bits_when_the_config_does_not_say() -> None:
    """Nemotron-3-Nano FP8 loads 30.52 GiB: attention and the state layer before it stay in 16 bits."""
    nano = weights(known("nemotron-nano-3-30b-a3b"), "FP8").per_gpu / 2**30
    assert nano == pytest.approx(30.52, rel=0.002)
    # FBGEMM FP8 of the 405B loads 17 % more than a byte a weight would say
    large = weights(known("llama-v3p1-405b-instruct"), "FP8").total
    assert large / 405.85e9 == pytest.approx(1.20, rel=0.01)
    scout = weights(known("llama4-scout-instruct-basic"), "FP8")
    assert scout.by_kind[Kind.ATTENTION] == elements(known("llama4-scout-instruct-basic"), Kind.ATTENTION) * 2


def test_fp4_of_a_mixture_packs_experts_and_of_a_dense_model_everything() -> None:
    mixture = weights(model(**MOE), "FP4")
    assert mixture.by_kind[Kind.ATTENTION] == elements(model(**MOE), Kind.ATTENTION) * 2
    assert mixture.by_kind[Kind.EXPERT] == EXPERTS * 4.5 / 8
    assert weights(model(**MOE), "FP4_MX_MOE").by_kind[Kind.EXPERT] == EXPERTS * 4.25 / 8
    assert weights(model(), "FP4").by_kind[Kind.ATTENTION] == elements(model(), Kind.ATTENTION) * 4.5 / 8


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        ({"first_k_dense_replace": 1}, 3),
        ({"decoder_sparse_step": 2}, 2),
        ({"mlp_only_layers": [0, 1]}, 2),
        ({"moe_layer_freq": [0, 1, 1, 0]}, 2),
        ({"moe_layer_freq": 2}, 2),
        ({"mlp_layer_types": ["dense", "sparse", "sparse", "sparse"]}, 3),
        ({"moe_layers_enum": "1,3"}, 2),
        ({"moe_layers_enum": [1, 2, 3]}, 3),
        ({"expert_layer_period": 2, "expert_layer_offset": 1}, 2),
        ({"interleave_moe_layer_step": 4}, 1),
        ({"num_experts": 0}, 0),
    ],
)
def test_how_configs_say_which_layers_have_experts(changes: dict[str, Any], expected: int) -> None:
    architecture = model(**{**MOE, **changes})
    assert elements(architecture, Kind.EXPERT) == expected * EXPERTS // 4
    assert bool(elements(architecture, Kind.MLP)) == (expected < 4)


@pytest.mark.parametrize(
    ("changes", "width"),
    [
        ({"shared_expert_intermediate_size": 96}, 96),
        ({"n_shared_experts": 2}, 128),
        ({"n_shared_experts": 0}, 0),
        ({"shared_intermediate_size": 0}, 0),
        ({"model_type": "llama4"}, 64),
        ({}, 0),
    ],
)
def test_how_configs_say_how_wide_shared_experts_are(changes: dict[str, Any], width: int) -> None:
    assert elements(model(**{**MOE, **changes}), Kind.SHARED_EXPERT) == 4 * 3 * 128 * width


def test_latent_experts_work_on_a_narrower_vector() -> None:
    architecture = model(**{**MOE, "moe_latent_size": 32})
    assert elements(architecture, Kind.EXPERT) == 4 * 8 * 3 * 64 * 32
    assert elements(architecture, Kind.SHARED_EXPERT) == 4 * 2 * 32 * 128


def test_gemma_4_runs_dense_and_experts_side_by_side() -> None:
    architecture = model(**{**MOE, "model_type": "gemma4_text"})
    assert elements(architecture, Kind.MLP) == 4 * 3 * 512 * 128


def test_excluding_the_dense_part_of_gemma_4_does_not_exclude_its_experts() -> None:
    quantization = {"quant_method": "modelopt", "quant_algo": "NVFP4", "ignore": ["model.layers.*.mlp*"]}
    architecture = model(**{**MOE, "model_type": "gemma4_text"}, quantization_config=quantization)
    assert {t.kind for t in architecture.tensors if t.pinned} == {Kind.MLP}


def test_experts_may_be_stored_narrower_than_the_rest() -> None:
    """DeepSeek-V4: quant_method fp8, expert_dtype fp4; Flash loads 148 GiB for 291e9 parameters."""
    flash = known("deepseek-ai/DeepSeek-V4-Flash")
    assert weights(flash, "FP8").total / 2**30 == pytest.approx(148.2, rel=0.03)


def test_routers_of_deepseeks_kind_stay_in_32_bits() -> None:
    narrow, wide = weights(model(**MOE), "FP8"), weights(model(**MOE, topk_method="noaux_tc"), "FP8")
    assert wide.by_kind[Kind.ROUTER] == 2 * narrow.by_kind[Kind.ROUTER]


def test_ungated_feed_forward_parts_have_two_matrices() -> None:
    assert elements(model(model_type="starcoder2"), Kind.MLP) == 4 * 2 * 512 * 128
    assert elements(model(hidden_act="relu2"), Kind.MLP) == 4 * 2 * 512 * 128
    assert elements(model(intermediate_size=None), Kind.MLP) == 4 * 3 * 512 * 128


def test_the_last_layers_of_gemma_e2b_are_twice_as_wide() -> None:
    architecture = model(model_type="gemma4_text", use_double_wide_mlp=True, num_kv_shared_layers=1)
    assert elements(architecture, Kind.MLP) == 5 * 3 * 512 * 128


def test_per_layer_embeddings_and_learned_positions_are_counted() -> None:
    with_inputs = model(model_type="gemma3n_text", hidden_size_per_layer_input=16)
    assert elements(with_inputs, Kind.EMBEDDING) == 1000 * 128 + 1000 * 16 * 4
    positions = model(model_type="gpt_bigcode")
    assert elements(positions, Kind.EMBEDDING) == (1000 + 4096) * 128


def test_a_tower_is_counted_in_16_bits_and_whole_on_every_gpu() -> None:
    """27 layers of 1,152 with 4,304: about 0.41e9, plus projectors."""
    architecture = known("Qwen/Qwen3-VL-235B-A22B-Instruct")
    tower = elements(architecture, Kind.TOWER)
    assert tower == pytest.approx(0.58e9, rel=0.03)
    assert weights(architecture, "FP8", 8).by_kind[Kind.TOWER] == tower * 2


@pytest.mark.parametrize(
    ("vision", "expected"),
    [
        ({"num_hidden_layers": 0, "hidden_size": 8}, 0),
        ({"hidden_size": 8, "layers": 2, "intermediate_size": 16, "patch_size": 2}, 2 * 512 + 96 + 1088),
        ({"hidden_size": 8, "depth": 2, "mlp_ratio": 4, "patch_size": 2}, 2 * 768 + 96 + 1088),
        ({"hidden_size": 8, "depth": 2, "patch_size": 2}, 2 * 768 + 96 + 1088),
        (
            {"hidden_size": 8, "depth": 1, "intermediate_size": 16, "patch_size": 2, "hidden_act": "silu"},
            640 + 96 + 1088,
        ),
        ({"hidden_size": 128, "embed_dim": 8, "depth": 1, "mlp_ratio": 2, "patch_size": 2}, 512 + 96 + 1088),
    ],
)
def test_how_towers_are_described(vision: dict[str, Any], expected: int) -> None:
    assert elements(model(vision_config=vision), Kind.TOWER) == expected


def test_omni_models_nest_their_towers() -> None:
    architecture = known("Qwen/Qwen3-Omni-30B-A3B-Instruct")
    assert elements(architecture, Kind.TOWER) > 1.0e9
    assert architecture.caches[0].layers == 48


def test_a_draft_layer_is_kept_apart() -> None:
    plain, with_draft = known("deepseek-ai/DeepSeek-V3"), known("deepseek-ai/DeepSeek-V3")
    assert plain.parameters == with_draft.parameters
    draft = sum(tensor.elements for tensor in with_draft.mtp_tensors)
    assert draft == pytest.approx(11.5e9, rel=0.05)  # the published MTP module has 14e9 with its embeddings
    assert with_draft.mtp_caches[0].layers == 1
    nemotron = model(
        model_type="nemotron_h",
        hybrid_override_pattern="M*M*",
        num_nextn_predict_layers=1,
        mamba_num_heads=2,
        mamba_head_dim=4,
        ssm_state_size=4,
    )
    assert nemotron.mtp_tensors
