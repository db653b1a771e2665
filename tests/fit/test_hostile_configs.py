"""Configs that are wrong: one error that names the field, or `unknown` with the reason."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.fit.errors import ArchitectureError
from fwctl.fit.options import understand
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.result import Verdict
from tests.fit.builders import ask, config, model


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"num_hidden_layers": None}, "num_hidden_layers"),
        ({"num_hidden_layers": 10**9}, "num_hidden_layers"),
        ({"num_hidden_layers": "80"}, "num_hidden_layers"),
        ({"num_hidden_layers": True}, "num_hidden_layers"),
        ({"num_hidden_layers": 2.5}, "num_hidden_layers"),
        ({"num_hidden_layers": float("nan")}, "num_hidden_layers"),
        ({"hidden_size": -1}, "hidden_size"),
        ({"hidden_size": 2**40}, "hidden_size"),
        ({"vocab_size": None}, "vocab_size"),
        ({"num_attention_heads": None}, "num_attention_heads"),
        ({"num_attention_heads": 4096}, "head_dim"),
        ({"num_attention_heads": []}, "num_attention_heads"),
        ({"num_key_value_heads": 16}, "num_key_value_heads"),
        ({"num_key_value_heads": 3}, "num_key_value_heads"),
        ({"tie_word_embeddings": "false"}, "tie_word_embeddings"),
        ({"layer_types": "full"}, "layer_types"),
        ({"layer_types": ["full_attention"]}, "layer_types"),
        ({"layer_types": ["quantum_attention"] * 4}, "layer_types"),
        ({"layer_types": [None] * 4}, "layer_types"),
        ({"layer_types": ["full_attention"] * 5000}, "layer_types"),
        ({"layer_types": ["linear_attention"] * 4}, "layer_types"),
        ({"hybrid_override_pattern": "M*"}, "hybrid_override_pattern"),
        ({"hybrid_override_pattern": "MMM?"}, "hybrid_override_pattern"),
        ({"hybrid_layer_pattern": [0, 1, 2, 0], "sliding_window": 4}, "hybrid_layer_pattern"),
        ({"attn_type_list": [1]}, "attn_type_list"),
        ({"linear_attn_config": {}}, "linear_attn_config"),
        ({"linear_attn_config": {"kda_layers": [1], "full_attn_layers": [2]}}, "linear_attn_config"),
        ({"model_type": "qwen3_next"}, "layer_types"),
        (
            {"model_type": "nemotron_h", "layers_block_type": ["mlp", "moe", "odd", "mlp"]},
            "layers_block_type",
        ),
        ({"kv_lora_rank": 8}, "qk_rope_head_dim"),
        ({"num_experts": 4}, "num_experts_per_tok"),
        ({"num_experts": 4, "num_experts_per_tok": 1, "mlp_layer_types": ["sparse"]}, "mlp_layer_types"),
        ({"quantization_config": {"quant_method": "fp8", "ignore": "lm_head"}}, "quantization_config"),
        ({"vision_config": {"depth": 3}}, "vision_config"),
    ],
)
def test_the_field_that_stops_the_arithmetic_is_named(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(ArchitectureError, match=field):
        model(**changes)


def test_indexer_types_that_are_not_understood_are_named() -> None:
    latent = {
        "kv_lora_rank": 8,
        "qk_rope_head_dim": 4,
        "qk_nope_head_dim": 8,
        "v_head_dim": 8,
        "index_head_dim": 8,
        "index_n_heads": 2,
    }
    for types in (["full"], ["full", "odd", "full", "full"]):
        with pytest.raises(ArchitectureError, match="indexer_types"):
            model(model_type="glm_moe_dsa", indexer_types=types, **latent)


def test_a_state_type_that_is_not_understood_is_named() -> None:
    with pytest.raises(ArchitectureError, match="mamba_ssm_cache_dtype"):
        model(
            model_type="nemotron_h",
            hybrid_override_pattern="MMMM",
            mamba_num_heads=2,
            ssm_state_size=4,
            mamba_ssm_cache_dtype="float8",
        )


@pytest.mark.parametrize("value", [[], "text", 3, None])
def test_a_config_that_is_no_object_is_an_error(value: Any) -> None:
    with pytest.raises(ArchitectureError, match="JSON object"):
        architecture_from_config(value)


def test_understand_turns_an_error_into_a_reason() -> None:
    assert understand(None) == (None, ())
    architecture, reasons = understand({"model_type": "llama"})
    assert architecture is None
    assert reasons == ("num_hidden_layers: is missing from the config",)


def test_a_missing_field_gives_unknown_with_its_name() -> None:
    result = ask({"model_type": "llama", "num_hidden_layers": 2})
    assert result.verdict is Verdict.UNKNOWN
    assert "hidden_size" in result.reasons[0]
    assert result.max_concurrency is None


@pytest.mark.parametrize("name", ["deepseek_v4", "minimax_m3", "zamba2", "whisper"])
def test_attention_that_is_not_modelled_gives_unknown_with_the_reason(name: str) -> None:
    result = ask(config(model_type=name))
    assert result.verdict is Verdict.UNKNOWN
    assert name in result.reasons[0]


def test_an_unknown_model_type_gives_unknown_and_shows_what_its_fields_say() -> None:
    result = ask(config(model_type="brand_new"))
    assert result.verdict is Verdict.UNKNOWN
    assert "'brand_new'" in result.reasons[0]
    assert result.kv_bytes_per_token_per_gpu == 4 * 2 * 32 * 2


def test_new_keys_in_a_known_type_change_nothing() -> None:
    assert model(some_new_key={"a": 1}, another=[1, 2]) == model()


def test_a_config_without_a_type_is_read_by_its_fields() -> None:
    assert model(model_type=None).caches == model().caches


def test_a_whole_number_written_as_float_is_one() -> None:
    assert model(num_hidden_layers=4.0) == model()


def test_nesting_is_followed_a_few_levels_and_no_further() -> None:
    nested: dict[str, Any] = config()
    for _ in range(3):
        nested = {"text_config": nested}
    assert architecture_from_config(nested).layers == 4
    for _ in range(50):
        nested = {"text_config": nested}
    with pytest.raises(ArchitectureError):
        architecture_from_config(nested)


def test_blocks_beside_a_pattern_are_read_where_they_say_something() -> None:
    latent = model(
        model_type="nemotron_h",
        hybrid_override_pattern="**--",
        block_configs=[{"attention": {"n_heads_in_group": 8}}, 3, {"ffn": {}}],
    )
    assert {cache.heads for cache in latent.caches} == {1, 2}
