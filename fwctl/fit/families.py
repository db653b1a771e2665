"""Model types whose attention is understood, with what their config files leave unsaid.

The config decides wherever it says something; a trait only fills what the model's code hard-wires.
Source: the model classes of transformers 4.57 to 5.12 and vLLM 0.33, read 2026-11-30.
"""

from __future__ import annotations

from typing import NamedTuple


class Family(NamedTuple):
    """Traits of a model type.

    gated: the feed-forward part has a gate beside up and down. tied: output head shares the embedding
    unless the config says otherwise. qk_norm, qkv_bias, sandwich: small tensors. window_every: each
    n-th layer is full attention when the config names a window but no layer types. recurrent: which
    layer `linear_attention` or `mamba` means. mixer_only: no feed-forward parts. dense_beside_experts:
    every layer runs both. fused_width: the intermediate size counts gate and up together. output_gate:
    the query projection also makes a gate. islands: which mixers quantised checkpoints usually leave
    in 16 bits ("state": recurrent layers, RedHatAI and nvidia Qwen3.5; "attention": RedHatAI and Meta
    Llama-4; "attention and before": nvidia Nemotron-H FP8 and NVFP4, with the state layer that
    precedes).
    """

    gated: bool = True
    tied: bool = False
    qk_norm: bool = False
    qkv_bias: bool = False
    sandwich: bool = False
    window_every: int = 0
    ignore_window: bool = False
    recurrent: str = ""
    mixer_only: bool = False
    fused_width: bool = False
    dense_beside_experts: bool = False
    output_gate: bool = False
    learned_positions: bool = False
    parallel_state: bool = False
    shared_expert_gate: bool = False
    islands: str = ""


# (model types, traits). A type that stands in several rows takes the last one.
_ROWS: tuple[tuple[str, Family], ...] = (
    (
        """
        llama mistral mistral3 ministral ministral3 mistral4 mixtral pixtral llava llava_next
        llava_onevision yi aquila baichuan internlm internlm2 internlm3 internvl internvl_chat deepseek
        phi3 phi3_v phi4mm phimoe
        """,
        Family(),
    ),
    (
        """
        granite granitemoe granitemoeshared olmo olmoe seed_oss exaone deci nemotron-nas nemotron_nas
        stablelm ernie4_5 ernie4_5_moe ernie4_5_vl_moe hunyuan hunyuan_v1_dense hunyuan_v1_moe dots1
        smollm3 minicpmv minicpmo chatglm glm glm4 glm4v xverse orion mimo bailing_moe
        bailing_moe_v2 dbrx telechat2 idefics3 smolvlm aria ovis ultravox lfm2_vl
        """,
        Family(),
    ),
    (
        """
        deepseek_v2 deepseek_v3 deepseek_v32 deepseek_vl_v2 kimi_k2 kimi_k25 kimi_vl glm_moe_dsa
        glm4_moe_lite pangu_ultra_moe sarvam_mla sarvam_moe step3 step3_text step3_vl step3p5 step3p7
        """,
        Family(),
    ),
    ("glm4_moe glm4v_moe glm4v_moe_text", Family(qk_norm=True, qkv_bias=True)),
    (
        """
        qwen2 qwen2_vl qwen2_vl_text qwen2_5_vl qwen2_5_vl_text qwen2_audio qwen2_5_omni
        qwen2_5_omni_thinker qwen2_5_omni_text
        """,
        Family(qkv_bias=True),
    ),
    ("qwen", Family(qkv_bias=True, fused_width=True)),
    ("molmo", Family(fused_width=True)),
    ("qwen2_moe", Family(qkv_bias=True, shared_expert_gate=True)),
    (
        """
        qwen3 qwen3_moe qwen3_vl qwen3_vl_text qwen3_vl_moe qwen3_vl_moe_text qwen3_omni_moe qwen3_asr
        qwen3_omni_moe_thinker qwen3_omni_moe_text minimax_m2 mimo_v2_flash mimo_v2 olmo2 flex_olmo
        hunyuan_vl
        """,
        Family(qk_norm=True),
    ),
    (
        """
        qwen3_next qwen3_5 qwen3_5_text qwen3_5_moe qwen3_5_moe_text qwen3_6 qwen3_6_moe qwen3_6_text
        qwen3_6_moe_text qwen3_8 qwen3_8_text qwen3_8_moe qwen3_8_moe_text
        """,
        Family(qk_norm=True, recurrent="gdn", output_gate=True, shared_expert_gate=True, islands="state"),
    ),
    ("kimi_linear kimi_k3", Family(islands="state")),
    ("olmo_hybrid", Family(qk_norm=True, recurrent="gdn", islands="state")),
    ("gpt_neo bloom mpt codegen falcon refinedweb refinedwebmodel", Family(gated=False, tied=True)),
    ("phi phi-msft gptj gpt_neox nemotron persimmon arcee", Family(gated=False)),
    ("gpt_bigcode gpt2 opt", Family(gated=False, tied=True, learned_positions=True)),
    ("starcoder2", Family(gated=False, tied=True, qkv_bias=True)),
    ("apertus", Family(gated=False, qk_norm=True)),
    ("gemma paligemma cohere command_r minicpm minicpm3", Family(tied=True)),
    ("gemma2", Family(tied=True, sandwich=True, window_every=2)),
    ("gemma3 gemma3_text", Family(tied=True, sandwich=True, qk_norm=True, window_every=6)),
    ("gemma3n gemma3n_text", Family(tied=True, sandwich=True, qk_norm=True, window_every=5)),
    (
        "gemma4 gemma4_text gemma4_unified gemma4_unified_text",
        Family(tied=True, sandwich=True, qk_norm=True, dense_beside_experts=True),
    ),
    ("cohere2 cohere2_vision", Family(tied=True, window_every=4)),
    ("gpt_oss", Family(window_every=2, qkv_bias=True)),
    ("exaone4 exaone_moe olmo3", Family(qk_norm=True, window_every=4)),
    ("afmoe", Family(qk_norm=True, sandwich=True, window_every=4, output_gate=True)),
    ("llama4 llama4_text", Family(ignore_window=True, islands="attention")),
    (
        "nemotron_h nemotron_h_moe nemotron_nano_vl nemotronh_nano_vl_v2",
        Family(gated=False, recurrent="mamba2", islands="attention and before"),
    ),
    ("granitemoehybrid bamba", Family(recurrent="mamba2")),
    ("mamba2", Family(recurrent="mamba2", mixer_only=True)),
    ("falcon_h1", Family(recurrent="mamba2", parallel_state=True)),
    ("jamba", Family(recurrent="mamba1")),
    ("mamba falcon_mamba", Family(recurrent="mamba1", mixer_only=True)),
    ("lfm2 lfm2_moe", Family(tied=True, qk_norm=True, recurrent="conv")),
    (
        "minimax minimax_text_01 minimax_m1 bailing_moe_linear bailing_hybrid",
        Family(recurrent="lightning"),
    ),
)

FAMILIES: dict[str, Family] = {name: family for names, family in _ROWS for name in names.split()}

# Nested configs leave out what equals the default of their class, by model type.
# Source: the configuration classes of transformers 4.57.
CLASS_DEFAULTS: dict[str, dict[str, int]] = {
    "gemma3_text": {
        "vocab_size": 262_208,
        "hidden_size": 2304,
        "intermediate_size": 9216,
        "num_hidden_layers": 26,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
        "max_position_embeddings": 131_072,
        "sliding_window": 4096,
    },
    "llama": {
        "vocab_size": 32_000,
        "hidden_size": 4096,
        "intermediate_size": 11_008,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
    },
    "mistral": {
        "vocab_size": 32_000,
        "hidden_size": 4096,
        "intermediate_size": 14_336,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
        "num_key_value_heads": 8,
    },
}

_ENCODER = "encoder: it keeps no KV cache, and its activations are not modelled"
_COMPRESSED = "compressed and windowed attention: a conversation's memory is not linear in its length"

# Models whose published FP8 checkpoint keeps more than its family, by (type, layers, hidden size).
# Llama 3.1 405B: modules_to_not_convert of meta-llama/Llama-3.1-405B-Instruct-FP8 (fbgemm_fp8) lists all
# attention and the first and the last layer.
PUBLISHED_ISLANDS: dict[tuple[str, int, int], str] = {("llama", 126, 16384): "attention and ends"}

# Towers that configs of a family leave out, by model type. Llama 4: the two models share one. Molmo: the
# defaults of its modeling code.
DEFAULT_TOWERS: dict[str, dict[str, object]] = {
    "llama4": {
        "hidden_size": 1408,
        "intermediate_size": 5632,
        "num_hidden_layers": 34,
        "patch_size": 14,
        "model_type": "llama4_vision_model",
    },
    "molmo": {"hidden_size": 1024, "intermediate_size": 4096, "num_hidden_layers": 23, "patch_size": 14},
}

# Attention that stores something else than its fields suggest: why no figure is given.
NOT_UNDERSTOOD: dict[str, str] = {
    "deepseek_v4": _COMPRESSED,
    "deepseek_ref": _COMPRESSED,
    "minimax_m3": "block-sparse attention with an index cache whose engine layout is not published",
    "rwkv": "recurrent state whose size the config does not give",
    "rwkv7": "recurrent state whose size the config does not give",
    "recurrent_gemma": "RG-LRU state whose layout is not modelled",
    "recurrentgemma": "RG-LRU state whose layout is not modelled",
    "zamba": "attention blocks shared between layers",
    "zamba2": "attention blocks shared between layers with adapters of their own",
    "phi4flash": "differential attention with a cache shared across the decoder",
    "mllama": "cross-attention layers cache image tokens, not text",
    "longcat_flash": "two attention blocks a layer",
    "whisper": "encoder-decoder: the cross-attention cache is not modelled",
    "t5": "encoder-decoder: the cross-attention cache is not modelled",
    "bart": "encoder-decoder: the cross-attention cache is not modelled",
    **dict.fromkeys(("bert", "roberta", "xlm-roberta", "distilbert", "modernbert", "nomic_bert"), _ENCODER),
}
