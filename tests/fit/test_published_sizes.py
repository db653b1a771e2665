"""Configs that leave something to the model's code; expected sizes are those of the published checkpoints."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.fit.architecture import Kind
from fwctl.fit.parse import architecture_from_config
from tests.fit.builders import ask, config, elements, model

_GEMMA3_4B = {  # google/gemma-3-4b-it as published: all else is the default of its class
    "model_type": "gemma3",
    "text_config": {
        "model_type": "gemma3_text",
        "hidden_size": 2560,
        "intermediate_size": 10240,
        "num_hidden_layers": 34,
        "sliding_window": 1024,
    },
    "vision_config": {
        "model_type": "siglip_vision_model",
        "hidden_size": 1152,
        "intermediate_size": 4304,
        "num_hidden_layers": 27,
        "patch_size": 14,
    },
}
_QWEN_7B = {  # the first generation: 22,016 is gate and up together
    "model_type": "qwen",
    "hidden_size": 4096,
    "intermediate_size": 22016,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "vocab_size": 151936,
}
_MOLMO_7B = {
    "model_type": "molmo",
    "hidden_size": 3584,
    "intermediate_size": 37888,
    "num_hidden_layers": 28,
    "num_attention_heads": 28,
    "num_key_value_heads": 4,
    "vocab_size": 152064,
}
_LFM2_1_2B = {
    "model_type": "lfm2",
    "hidden_size": 2048,
    "block_ff_dim": 12288,
    "block_auto_adjust_ff_dim": True,
    "block_multiple_of": 256,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "full_attn_idxs": [2, 5, 8, 10, 12, 14],
    "conv_L_cache": 3,
    "vocab_size": 65536,
}
_CODESTRAL_MAMBA_7B = {
    "model_type": "mamba2",
    "hidden_size": 4096,
    "num_hidden_layers": 64,
    "num_heads": 128,
    "head_dim": 64,
    "state_size": 128,
    "n_groups": 8,
    "expand": 2,
    "conv_kernel": 4,
    "vocab_size": 32768,
}
_FALCON_MAMBA_7B = {
    "model_type": "falcon_mamba",
    "hidden_size": 4096,
    "intermediate_size": 8192,
    "num_hidden_layers": 64,
    "state_size": 16,
    "expand": 2,
    "conv_kernel": 4,
    "time_step_rank": 256,
    "vocab_size": 65024,
}
_MINICPM_2B = {
    "model_type": "minicpm",
    "hidden_size": 2304,
    "intermediate_size": 5760,
    "num_hidden_layers": 40,
    "num_attention_heads": 36,
    "num_key_value_heads": 36,
    "vocab_size": 122753,
}
_STEP_3 = {
    "model_type": "step3_text",
    "hidden_size": 7168,
    "intermediate_size": 18432,
    "moe_intermediate_size": 5120,
    "num_hidden_layers": 61,
    "num_attention_heads": 64,
    "num_attention_groups": 1,
    "head_dim": 256,
    "share_q_dim": 2048,
    "share_expert_dim": 5120,
    "moe_num_experts": 48,
    "moe_top_k": 3,
    "moe_layers_enum": ",".join(map(str, range(4, 60))),
    "vocab_size": 128815,
}
_GLM_41V_9B = {
    "model_type": "glm4v",
    "text_config": {
        "model_type": "glm4v_text",
        "hidden_size": 4096,
        "intermediate_size": 13696,
        "num_hidden_layers": 40,
        "num_attention_heads": 32,
        "num_key_value_heads": 2,
        "vocab_size": 151552,
    },
    "vision_config": {
        "model_type": "glm4v",
        "hidden_act": "silu",
        "depth": 24,
        "hidden_size": 1536,
        "intermediate_size": 13696,
        "out_hidden_size": 4096,
        "patch_size": 14,
        "spatial_merge_size": 2,
        "temporal_patch_size": 2,
        "in_channels": 3,
    },
}


@pytest.mark.parametrize(
    ("published", "billions"),
    [
        (_GEMMA3_4B, 4.30),
        (_QWEN_7B, 7.72),
        (_MOLMO_7B, 8.02),
        (_LFM2_1_2B, 1.17),
        (_CODESTRAL_MAMBA_7B, 7.29),
        (_FALCON_MAMBA_7B, 7.27),
        (_GLM_41V_9B, 10.29),
        (_MINICPM_2B, 2.72),
        (_STEP_3, 316.0),
    ],
    ids=lambda value: value["model_type"] if isinstance(value, dict) else "",
)
def test_the_parameters_are_those_of_the_checkpoint(published: dict[str, Any], billions: float) -> None:
    understood = architecture_from_config(published)
    assert understood.parameters / 1e9 == pytest.approx(billions, rel=0.015)
    assert not understood.unknown


def test_a_config_of_its_own_has_no_defaults_to_fall_back_on() -> None:
    shown = ask({"model_type": "llama", "vocab_size": 32000, "num_hidden_layers": 4})
    assert shown.verdict == "unknown"


@pytest.mark.parametrize(
    ("architecture", "head"),
    [
        ("MistralModel", 0),
        ("Qwen2ForSequenceClassification", 0),
        ("LlamaForCausalLM", 128_000),  # 1,000 tokens × 128
        ("ChatGLMModel", 128_000),
        ("InternVLChatModel", 128_000),
    ],
)
def test_embedding_and_reward_models_have_no_output_head(architecture: str, head: int) -> None:
    assert elements(model(architectures=[architecture]), Kind.HEAD) == head


@pytest.mark.parametrize("model_type", ["bert", "xlm-roberta", "modernbert"])
def test_an_encoder_is_unknown_for_the_reason_that_it_has_no_cache(model_type: str) -> None:
    shown = ask(config(model_type=model_type))
    assert shown.verdict == "unknown"
    assert "no KV cache" in " ".join(shown.reasons)
