"""What each kind of attention caches. Expected bytes come from engine logs or from hand arithmetic."""

from __future__ import annotations

from typing import Any

import pytest

from fwctl.catalog import architectures
from fwctl.fit.architecture import CacheKind, Kind
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.kvcache import bytes_per_token, fixed_bytes, growths
from fwctl.fit.parse import architecture_from_config
from tests.fit.builders import ask, caches, config, elements, model


def per_token(name: str, ranks: int = 1, kv: str = "fp16") -> float:
    known = architectures.find(name)
    assert known is not None
    return bytes_per_token(growths(architecture_from_config(known).caches, kv, ranks))


@pytest.mark.parametrize(
    ("name", "ranks", "kv", "expected"),
    [
        ("meta-llama/Llama-3.1-70B-Instruct", 1, "fp16", 327_680),  # 80 × 8 × 256 × 2, vLLM logs
        ("meta-llama/Llama-3.1-70B-Instruct", 4, "fp8", 40_960),
        ("Qwen/Qwen3-235B-A22B", 4, "fp16", 48_128),  # 94 × 1 × 256 × 2
        ("Qwen/Qwen3-235B-A22B", 8, "fp16", 48_128),  # 4 heads on 8 GPUs: one each, replicated
        ("deepseek-ai/DeepSeek-R1", 8, "fp16", 70_272),  # 61 × 576 × 2 on every rank
        ("deepseek-ai/DeepSeek-R1", 1, "fp8", 35_136),
        ("deepseek-ai/DeepSeek-R1", 1, "fp8_ds_mla", 61 * 656),
        ("deepseek-ai/DeepSeek-R1", 1, "nvfp4_ds_mla", 61 * 352),
        ("deepseek-ai/DeepSeek-V3.2", 8, "fp16", 78_324),  # + 61 × 132 of indexer keys
        ("zai-org/GLM-5.1", 8, "fp16", 100_152),
        ("zai-org/GLM-5.3", 4, "fp8", 47_700),  # 78 × 576 + 21 × 132: shared indexers
        ("moonshotai/Kimi-K2.5", 8, "fp16", 70_272),
    ],
)
def test_bytes_of_a_token_as_engines_log_them(name: str, ranks: int, kv: str, expected: int) -> None:
    assert per_token(name, ranks, kv) == expected


def test_explicit_head_dim_wins_over_hidden_size_over_heads() -> None:
    assert caches(model(head_dim=64), CacheKind.FULL)[0].key_dim == 64
    assert caches(model(), CacheKind.FULL)[0].key_dim == 16


def test_without_key_value_heads_every_head_has_its_own() -> None:
    assert caches(model(num_key_value_heads=None), CacheKind.FULL)[0].heads == 8


@pytest.mark.parametrize(
    ("changes", "heads"),
    [
        ({"multi_query": True, "num_key_value_heads": None}, 1),
        ({"multi_query": True, "new_decoder_architecture": False}, 1),
        ({"multi_query": True, "new_decoder_architecture": True}, 2),
        ({"multi_query": True, "new_decoder_architecture": True, "num_key_value_heads": None}, 8),
    ],
)
def test_multi_query_means_one_head_except_in_the_new_falcon(changes: dict[str, Any], heads: int) -> None:
    assert caches(model(model_type="falcon", **changes), CacheKind.FULL)[0].heads == heads


def test_a_head_count_may_be_given_per_layer() -> None:
    architecture = model(num_key_value_heads=[2, 2, 4, 4])
    assert {(c.heads, c.layers) for c in architecture.caches} == {(2, 2), (4, 2)}
    with pytest.raises(ArchitectureError, match="num_key_value_heads"):
        model(num_key_value_heads=[2, 2])


def test_alternating_window_layers_keep_their_window_only() -> None:
    architecture = model(
        model_type="gemma3_text", sliding_window=64, sliding_window_pattern=2, tie_word_embeddings=True
    )
    assert [(c.kind, c.layers, c.window) for c in architecture.caches] == [
        (CacheKind.WINDOW, 2, 64),
        (CacheKind.FULL, 2, None),
    ]


@pytest.mark.parametrize(
    ("changes", "windowed"),
    [
        ({"model_type": "mistral", "sliding_window": 64}, 4),
        ({"model_type": "mistral", "sliding_window": None}, 0),
        ({"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": False}, 0),
        (
            {"model_type": "qwen2", "sliding_window": 64, "use_sliding_window": True, "max_window_layers": 3},
            1,
        ),
        ({"model_type": "gemma2", "sliding_window": 64}, 2),
        ({"model_type": "gpt_oss", "sliding_window": 64}, 2),
        ({"model_type": "llama4", "sliding_window": 64}, 0),
        ({"model_type": "exaone4", "sliding_window": 64, "sliding_window_pattern": "LLLG"}, 3),
        ({"layer_types": ["sliding_attention", "full_attention"] * 2, "sliding_window": 64}, 2),
        ({"layer_types": ["chunked_attention", "full_attention"] * 2}, 0),
        ({"hybrid_layer_pattern": [0, 1, 1, 0], "sliding_window": 64}, 2),
    ],
)
def test_how_configs_say_which_layers_are_windowed(changes: dict[str, Any], windowed: int) -> None:
    found = caches(model(**changes), CacheKind.WINDOW)
    assert sum(cache.layers for cache in found) == windowed


def test_window_layers_without_a_window_are_named() -> None:
    with pytest.raises(ArchitectureError, match="sliding_window"):
        model(layer_types=["sliding_attention"] * 4)


def test_windowed_and_global_layers_may_have_heads_of_their_own() -> None:
    """MiMo-V2: 9 full layers of 4 heads × (192 + 128), 39 windowed ones of 8 heads."""
    known = architectures.find("XiaomiMiMo/MiMo-V2-Flash")
    assert known is not None
    found = {
        (c.kind, c.layers, c.heads, c.key_dim, c.value_dim) for c in architecture_from_config(known).caches
    }
    assert found == {(CacheKind.FULL, 9, 4, 192, 128), (CacheKind.WINDOW, 39, 8, 192, 128)}


def test_gemma_4_has_wider_heads_on_global_layers() -> None:
    known = architectures.find("google/gemma-4-31B-it")
    assert known is not None
    found = {(c.kind, c.layers, c.heads, c.key_dim) for c in architecture_from_config(known).caches}
    assert found == {(CacheKind.WINDOW, 50, 16, 256), (CacheKind.FULL, 10, 4, 512)}


def test_shared_caches_are_kept_once() -> None:
    assert caches(model(num_kv_shared_layers=3), CacheKind.FULL)[0].layers == 1
    assert caches(model(use_cla=True, cla_share_factor=2), CacheKind.FULL)[0].layers == 2
    with pytest.raises(ArchitectureError, match="num_kv_shared_layers"):
        model(num_kv_shared_layers=5)


def test_states_of_nemotron_and_qwen_as_engines_log_them() -> None:
    """vLLM prints attention blocks of 4,176 and 2,096 tokens for these two: a state page fits in one."""
    nemotron = architectures.find("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16")
    qwen = architectures.find("Qwen/Qwen3.5-122B-A10B")
    assert nemotron is not None
    assert qwen is not None
    # 64 × 64 × 128 × 4 + (64 × 64 + 2 × 8 × 128) × 3 × 2
    assert fixed_bytes(growths(architecture_from_config(nemotron).caches, "fp8", 1)) == 23 * 2_134_016
    # two GPUs: 32 × 128 × 128 × 4 + (2 × 8 × 128 + 32 × 128) × 3 × 2
    assert fixed_bytes(growths(architecture_from_config(qwen).caches, "fp16", 2)) == 36 * 2_134_016


MAMBA2 = {
    "mamba_num_heads": 8,
    "mamba_head_dim": 16,
    "n_groups": 1,
    "ssm_state_size": 32,
    "conv_kernel": 4,
}


def state_of(**changes: Any) -> float:
    return fixed_bytes(growths(model(**changes).caches, "fp16", 1))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        # 2 layers × (8 × 16 × 32 × 2 + (128 + 64) × 3 × 2)
        ({"model_type": "nemotron_h", "hybrid_override_pattern": "M*-M", **MAMBA2}, 2 * 9344),
        (
            {
                "model_type": "nemotron_h",
                "hybrid_override_pattern": "M*-M",
                **MAMBA2,
                "mamba_ssm_cache_dtype": "float32",
            },
            2 * 17536,
        ),
        (
            {
                "model_type": "bamba",
                "attn_layer_indices": [1, 3],
                "mamba_n_heads": 8,
                "mamba_d_head": 16,
                "mamba_d_state": 32,
            },
            2 * 9344,
        ),
        (
            {
                "model_type": "granitemoehybrid",
                "layer_types": ["mamba", "attention"] * 2,
                "mamba_n_heads": 8,
                "mamba_d_head": "auto",
                "mamba_d_state": 32,
                "mamba_expand": 1,
            },
            2 * 9344,
        ),
        # 3 of 4 layers: 4 × 32 × 32 × 2 + (2 × 2 × 32 + 4 × 32) × 3 × 2
        (
            {
                "model_type": "qwen3_next",
                "full_attention_interval": 4,
                "linear_num_key_heads": 2,
                "linear_num_value_heads": 4,
                "linear_key_head_dim": 32,
                "linear_value_head_dim": 32,
            },
            3 * 9728,
        ),
        # 2 layers of KDA: 4 × 16 × 16 × 4 + 3 × 4 × 16 × 3 × 2
        (
            {
                "model_type": "kimi_linear",
                "linear_attn_config": {
                    "kda_layers": [1, 2],
                    "full_attn_layers": [3, 4],
                    "num_heads": 4,
                    "head_dim": 16,
                },
            },
            2 * 5248,
        ),
        # Jamba: 3 of 4 layers, 256 × 16 × 2 + 256 × 3 × 2
        (
            {
                "model_type": "jamba",
                "attn_layer_period": 4,
                "attn_layer_offset": 2,
                "mamba_d_state": 16,
                "mamba_expand": 2,
            },
            3 * 9728,
        ),
        ({"model_type": "lfm2", "full_attn_idxs": [0], "conv_L_cache": 3}, 3 * 128 * 2 * 2),
        # lightning: 3 layers × 8 × 16 × 16 × 2
        ({"model_type": "minimax_text_01", "attn_type_list": [0, 0, 0, 1]}, 3 * 4096),
        ({"model_type": "bailing_hybrid", "layer_group_size": 4}, 3 * 4096),
        # every layer has both
        ({"model_type": "falcon_h1", "mamba_n_heads": 8, "mamba_d_head": 16, "mamba_d_state": 32}, 4 * 9344),
    ],
)
def test_recurrent_layers_keep_a_fixed_state(changes: dict[str, Any], expected: int) -> None:
    assert state_of(**changes) == expected


def test_pure_state_space_models_keep_no_tokens() -> None:
    mamba2 = model(
        model_type="mamba2",
        num_attention_heads=None,
        num_key_value_heads=None,
        num_heads=8,
        head_dim=32,
        state_size=32,
    )
    assert {cache.kind for cache in mamba2.caches} == {CacheKind.STATE}
    mamba1 = model(
        model_type="falcon_mamba",
        num_attention_heads=None,
        num_key_value_heads=None,
        state_size=16,
        time_step_rank=8,
    )
    assert mamba1.caches[0].state is not None
    assert mamba1.caches[0].state.heads == 512
    result = ask(
        config(model_type="falcon_mamba", num_attention_heads=None, num_key_value_heads=None, state_size=16)
    )
    assert result.max_concurrency is not None
    assert result.max_concurrency.mid > 1000
    assert result.kv_bytes_per_token_per_gpu == 0


def test_both_spellings_of_nemotron_h_mean_the_same() -> None:
    letters = model(model_type="nemotron_h", hybrid_override_pattern="M*-M", **MAMBA2)
    words = model(
        model_type="nemotron_h",
        num_hidden_layers=None,
        layers_block_type=["mamba", "attention", "mlp", "mamba"],
        **MAMBA2,
    )
    assert letters.tensors == words.tensors
    assert letters.caches == words.caches
    assert words.layers == 4


def test_nemotron_nas_blocks_have_sizes_of_their_own() -> None:
    blocks = [
        {"attention": {"n_heads_in_group": 4}, "ffn": {"ffn_mult": 6}},
        {"attention": {"no_op": True}, "ffn": {"no_op": True}},
    ]
    architecture = model(
        model_type="nemotron-nas", num_hidden_layers=None, num_key_value_heads=None, block_configs=blocks
    )
    assert [(c.layers, c.heads) for c in architecture.caches] == [(1, 2)]
    assert elements(architecture, Kind.MLP) == 3 * 512 * 128  # 2 × 6 × 128 / 3 = 512


@pytest.mark.parametrize(
    ("blocks", "field"),
    [
        ([{}, {}], "attention"),
        ([{"attention": {}, "ffn": 3}] * 2, "ffn"),
        ([{"attention": {"replace_with_linear": True}, "ffn": {}}] * 2, "attention"),
        ([{"attention": {"n_heads_in_group": "x"}, "ffn": {}}] * 2, "n_heads_in_group"),
        ([{"attention": {"n_heads_in_group": 0}, "ffn": {}}] * 2, "n_heads_in_group"),
    ],
)
def test_a_block_that_is_not_understood_is_named(blocks: list[Any], field: str) -> None:
    with pytest.raises(ArchitectureError, match=field):
        model(model_type="nemotron-nas", num_hidden_layers=2, block_configs=blocks)


def test_nested_sections_of_dbrx_are_read() -> None:
    architecture = architecture_from_config(
        {
            "model_type": "dbrx",
            "d_model": 128,
            "n_heads": 8,
            "n_layers": 2,
            "vocab_size": 100,
            "attn_config": {"kv_n_heads": 2},
            "ffn_config": {"ffn_hidden_size": 64, "moe_num_experts": 4, "moe_top_k": 2},
        }
    )
    assert architecture.caches[0].heads == 2
    assert elements(architecture, Kind.EXPERT) == 2 * 4 * 3 * 64 * 128
