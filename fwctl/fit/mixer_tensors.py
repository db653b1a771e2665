"""Weights and caches of attention and recurrent layers, from a config's dimensions."""

from __future__ import annotations

from fwctl.fit.architecture import CacheKind, CacheLayers, Kind, Split, State, Tensor
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.families import Family
from fwctl.fit.fields import HEAD_DIM, HEADS, HIDDEN, KV_HEADS, Fields, block_number
from fwctl.fit.layers import Mixer

Built = tuple[list[Tensor], CacheLayers | None]
_ONCE = Split.REPLICATED  # a copy on every rank


def head_dim(fields: Fields) -> int:
    """The explicit head size, or hidden size over heads; never the latter when the former is there."""
    explicit = fields.optional(*HEAD_DIM)
    if explicit is not None:
        return explicit
    hidden, heads = fields.integer(*HIDDEN), fields.integer(*HEADS)
    if hidden < heads:
        raise ArchitectureError("head_dim", f"is missing and hidden_size {hidden} is below {heads} heads")
    return hidden // heads


def kv_heads(fields: Fields, layer: int, heads: int) -> int:
    """Key-value heads of a layer; absent means one per attention head, multi_query means one."""
    group = block_number(fields, layer, "attention", "n_heads_in_group")
    if group is not None:
        return max(1, heads // int(group))
    if fields.raw(*KV_HEADS) is not None:
        if fields.flag("multi_query") and fields.raw("new_decoder_architecture") is False:
            return 1
        return fields.at(layer, *KV_HEADS)
    if fields.flag("multi_query") and not fields.flag("new_decoder_architecture"):
        return 1
    return heads


def attention(fields: Fields, family: Family, layer: int, mixer: Mixer) -> Built:
    """Grouped-query attention of one layer, in the dimensions that its kind of layer uses.

    `attention_k_eq_v` (Gemma 4) changes nothing: engines load the shared projection twice and cache both.
    """
    hidden = fields.integer(*HIDDEN)
    heads = fields.at(layer, *HEADS)
    keys = kv_heads(fields, layer, heads)
    if heads % keys:
        raise ArchitectureError(fields.name_of(*KV_HEADS), f"is {keys}, which does not divide {heads} heads")
    dim = head_dim(fields)
    value_dim = fields.integer("v_head_dim", default=dim)
    if mixer is Mixer.WINDOW:
        heads = fields.integer("swa_num_attention_heads", default=heads)
        keys = fields.integer("swa_num_key_value_heads", default=keys)
        dim = fields.integer("swa_head_dim", default=dim)
        value_dim = fields.integer("swa_v_head_dim", default=value_dim)
    elif fields.raw("global_head_dim", "num_global_key_value_heads") is not None:
        keys = fields.integer("num_global_key_value_heads", default=keys)
        dim = value_dim = fields.integer("global_head_dim", default=dim)
    gate = 2 if fields.flag("attn_output_gate", family.output_gate) else 1
    tensors = [
        *_queries(hidden, heads * dim * gate, fields.optional("share_q_dim")),
        Tensor(Kind.ATTENTION, keys * dim, hidden, split=Split.HEADS, heads=keys, module="self_attn.k_proj"),
        Tensor(
            Kind.ATTENTION, keys * value_dim, hidden, split=Split.HEADS, heads=keys, module="self_attn.v_proj"
        ),
        Tensor(Kind.ATTENTION, heads * value_dim, hidden, module="self_attn.o_proj"),
    ]
    if family.qk_norm:
        tensors.append(Tensor(Kind.NORM, 2 * dim, split=Split.REPLICATED))
    if fields.flag("attention_bias", family.qkv_bias):
        tensors.append(Tensor(Kind.NORM, heads * dim + 2 * keys * dim))
    window = fields.optional("sliding_window", "sliding_window_size", "attention_chunk_size")
    if mixer is Mixer.WINDOW and window is None:
        raise ArchitectureError("sliding_window", "is missing although some layers are windowed")
    kind = CacheKind.WINDOW if mixer is Mixer.WINDOW else CacheKind.FULL
    return tensors, CacheLayers(
        kind,
        1,
        heads=keys,
        key_dim=dim,
        value_dim=value_dim,
        window=window if mixer is Mixer.WINDOW else None,
    )


def _queries(hidden: int, width: int, rank: int | None) -> list[Tensor]:
    """The query projection; in two steps where a config names their common width (Step-3)."""
    if rank is None:
        return [Tensor(Kind.ATTENTION, width, hidden, module="self_attn.q_proj")]
    return [
        Tensor(Kind.ATTENTION, rank, hidden, split=_ONCE, module="self_attn.q_proj"),
        Tensor(Kind.ATTENTION, width, rank, module="self_attn.wq"),
    ]


def latent_attention(fields: Fields, layer: int) -> Built:
    """MLA: down-projections are replicated on every rank, one latent is cached for all heads.

    With an indexer (DSA) each layer of its own kind caches one more key of index_head_dim.
    """
    hidden = fields.integer(*HIDDEN)
    heads = fields.at(layer, *HEADS)
    rank = fields.integer("kv_lora_rank")
    rope = fields.integer("qk_rope_head_dim")
    nope = fields.integer("qk_nope_head_dim")
    value = fields.integer("v_head_dim")
    query_rank = fields.optional("q_lora_rank")
    tensors = [
        Tensor(Kind.LATENT_DOWN, rank + rope, hidden, split=_ONCE, module="self_attn.kv_a_proj_with_mqa"),
        Tensor(Kind.LATENT_UP, heads * (nope + value), rank, module="self_attn.kv_b_proj"),
        Tensor(Kind.ATTENTION, hidden, heads * value, module="self_attn.o_proj"),
        Tensor(Kind.NORM, rank + (query_rank or 0), split=_ONCE),
        *_latent_queries(hidden, heads * (nope + rope), query_rank),
    ]
    if fields.flag("mla_use_output_gate"):
        tensors.append(Tensor(Kind.ATTENTION, heads * value, hidden, module="self_attn.g_proj"))
    index_dim = fields.integer("index_head_dim", default=0, minimum=0)
    indexed = bool(index_dim) and has_indexer(fields, layer)
    if indexed:
        tensors += _indexer(fields.integer("index_n_heads"), index_dim, hidden, query_rank or hidden)
    return tensors, CacheLayers(
        CacheKind.LATENT,
        1,
        latent_dim=rank,
        rope_dim=rope,
        index_layers=int(indexed),
        index_dim=index_dim if indexed else 0,
    )


def _latent_queries(hidden: int, width: int, rank: int | None) -> list[Tensor]:
    """Queries of all heads, through a latent of their own where the config has one."""
    if rank is None:
        return [Tensor(Kind.ATTENTION, width, hidden, module="self_attn.q_proj")]
    return [
        Tensor(Kind.LATENT_DOWN, rank, hidden, split=_ONCE, module="self_attn.q_a_proj"),
        Tensor(Kind.LATENT_UP, width, rank, module="self_attn.q_b_proj"),
    ]


def _indexer(heads: int, dim: int, hidden: int, queries: int) -> list[Tensor]:
    """What picks the tokens that sparse attention looks at (DSA)."""
    module = "self_attn.indexer"
    return [
        Tensor(Kind.INDEXER, heads * dim, queries, split=_ONCE, module=f"{module}.wq_b"),
        Tensor(Kind.INDEXER, dim, hidden, split=_ONCE, module=f"{module}.wk"),
        Tensor(Kind.ROUTER, heads, hidden, split=_ONCE, module=f"{module}.weights_proj"),
    ]


def has_indexer(fields: Fields, layer: int) -> bool:
    """True unless `indexer_types` says that the layer borrows another one's selection."""
    types = fields.sequence("indexer_types")
    if types is None:
        return True
    if layer >= len(types):
        raise ArchitectureError("indexer_types", f"has {len(types)} entries, layer {layer} has none")
    if types[layer] not in ("full", "shared"):
        raise ArchitectureError(
            "indexer_types", f"has a kind that is not understood: {str(types[layer])[:20]!r}"
        )
    return bool(types[layer] == "full")


def gated_delta(fields: Fields) -> Built:
    """GatedDeltaNet (Qwen3-Next, Qwen3.5 and later)."""
    hidden = fields.integer(*HIDDEN)
    keys, values = fields.integer("linear_num_key_heads"), fields.integer("linear_num_value_heads")
    key_dim, value_dim = fields.integer("linear_key_head_dim"), fields.integer("linear_value_head_dim")
    width = fields.integer("linear_conv_kernel_dim", default=4)
    qkv = 2 * keys * key_dim + values * value_dim
    tensors = [
        Tensor(Kind.STATE, qkv, hidden, module="linear_attn.in_proj_qkv"),
        Tensor(Kind.STATE, values * value_dim, hidden, module="linear_attn.in_proj_z"),
        Tensor(Kind.STATE_PARAMETER, 2 * values, hidden, module="linear_attn.in_proj_ba"),
        Tensor(Kind.STATE, hidden, values * value_dim, module="linear_attn.out_proj"),
        Tensor(Kind.STATE_PARAMETER, qkv, width, module="linear_attn.conv1d"),
        Tensor(Kind.STATE_PARAMETER, 2 * values + value_dim),
    ]
    state = State(
        values,
        key_dim * value_dim,
        state_bytes(fields, default=2),
        ((keys, key_dim, 2), (values, value_dim, 1)),
        width,
    )
    return tensors, CacheLayers(CacheKind.STATE, 1, state=state)


def delta_attention(fields: Fields) -> Built:
    """Kimi Delta Attention: like the above with one gate per channel, always kept in 32 bits."""
    hidden = fields.integer(*HIDDEN)
    inner = Fields(fields.mapping("linear_attn_config") or {})
    heads, dim = inner.integer("num_heads"), inner.integer("head_dim")
    width = inner.integer("short_conv_kernel_size", default=4)
    size = heads * dim
    tensors = [Tensor(Kind.STATE, size, hidden, copies=3, module="self_attn.q_proj")]
    tensors += [
        Tensor(Kind.STATE, hidden, size, module="self_attn.o_proj"),
        Tensor(Kind.STATE, dim, hidden, split=Split.REPLICATED, module="self_attn.f_a_proj"),
        Tensor(Kind.STATE, size, dim, module="self_attn.f_b_proj"),
        Tensor(Kind.STATE_PARAMETER, heads, hidden, module="self_attn.b_proj"),
        Tensor(Kind.STATE_PARAMETER, size, 3 * width, module="self_attn.conv1d"),
        Tensor(Kind.STATE_PARAMETER, size + heads + dim),
    ]
    if inner.flag("use_full_rank_gate"):
        tensors.append(Tensor(Kind.STATE, size, hidden, module="self_attn.g_proj"))
    else:
        tensors += [
            Tensor(Kind.STATE, dim, hidden, split=Split.REPLICATED, module="self_attn.g_a_proj"),
            Tensor(Kind.STATE, size, dim, module="self_attn.g_b_proj"),
        ]
    state = State(heads, dim * dim, 4, ((heads, dim, 3),), width)
    return tensors, CacheLayers(CacheKind.STATE, 1, state=state)


def mamba2(fields: Fields) -> Built:
    """Mamba-2 in the spellings of Nemotron-H, Granite, Bamba, Falcon-H1 and plain Mamba-2."""
    hidden = fields.integer(*HIDDEN)
    heads = fields.integer("mamba_num_heads", "mamba_n_heads", "n_mamba_heads", "num_heads")
    expand = fields.integer("mamba_expand", "expand", default=2)
    inner = fields.optional("mamba_d_ssm")
    dim = fields.optional("mamba_head_dim", "mamba_headdim")
    if dim is None and isinstance(fields.raw("mamba_d_head"), int):
        dim = fields.integer("mamba_d_head")
    if dim is None:
        dim = fields.optional("head_dim") if fields.raw(*HEADS[:1]) is None else None
    dim = dim or max(1, (inner or expand * hidden) // heads)
    groups = fields.integer("mamba_n_groups", "n_groups", "mamba_ngroups", default=1)
    size = fields.integer("ssm_state_size", "mamba_d_state", "state_size")
    width = fields.integer("conv_kernel", "mamba_d_conv", "mamba_conv_kernel", default=4)
    inner = heads * dim
    tensors = [
        Tensor(Kind.STATE, 2 * inner + 2 * groups * size + heads, hidden, module="mixer.in_proj"),
        Tensor(Kind.STATE, hidden, inner, module="mixer.out_proj"),
        Tensor(Kind.STATE_PARAMETER, inner + 2 * groups * size, width + 1, module="mixer.conv1d"),
        Tensor(Kind.STATE_PARAMETER, 3 * heads + inner),
    ]
    state = State(
        heads, dim * size, state_bytes(fields, default=2), ((heads, dim, 1), (groups, size, 2)), width
    )
    return tensors, CacheLayers(CacheKind.STATE, 1, state=state)


def mamba1(fields: Fields) -> Built:
    """Mamba-1 (Jamba, Falcon-Mamba)."""
    hidden = fields.integer(*HIDDEN)
    inner = fields.optional("intermediate_size") if fields.raw("mamba_expand") is None else None
    inner = inner or fields.integer("mamba_expand", "expand", default=2) * hidden
    size = fields.integer("mamba_d_state", "state_size", "ssm_state_size")
    width = fields.integer("mamba_d_conv", "conv_kernel", default=4)
    rank = fields.raw("mamba_dt_rank", "time_step_rank")
    rank = rank if isinstance(rank, int) and not isinstance(rank, bool) and rank > 0 else -(-hidden // 16)
    tensors = [
        Tensor(Kind.STATE, 2 * inner, hidden, module="mamba.in_proj"),
        Tensor(Kind.STATE, hidden, inner, module="mamba.out_proj"),
        Tensor(Kind.STATE, rank + 2 * size, inner, module="mamba.x_proj"),
        Tensor(Kind.STATE, inner, rank, module="mamba.dt_proj"),
        Tensor(Kind.STATE_PARAMETER, inner, width + size + 3, module="mamba.conv1d"),
    ]
    state = State(inner, size, state_bytes(fields, default=2), ((inner, 1, 1),), width)
    return tensors, CacheLayers(CacheKind.STATE, 1, state=state)


def short_convolution(fields: Fields) -> Built:
    """LFM2: a gated convolution; its state is the last inputs."""
    hidden = fields.integer("conv_dim", *HIDDEN)
    width = fields.integer("conv_L_cache", default=3)
    tensors = [
        Tensor(Kind.STATE, 3 * hidden, hidden, module="conv.in_proj"),
        Tensor(Kind.STATE, hidden, hidden, module="conv.out_proj"),
        Tensor(Kind.STATE_PARAMETER, hidden, width, module="conv.conv"),
    ]
    state = State(0, 0, 2, ((hidden, 1, 1),), width)
    return tensors, CacheLayers(CacheKind.STATE, 1, state=state)


def lightning(fields: Fields) -> Built:
    """Lightning attention (MiniMax-01, Ling linear): one d × d state a head, in the model's type."""
    hidden, heads, dim = fields.integer(*HIDDEN), fields.integer(*HEADS), head_dim(fields)
    tensors = [
        Tensor(Kind.STATE, 3 * heads * dim, hidden, module="self_attn.qkv_proj"),
        Tensor(Kind.STATE, heads * dim, hidden, module="self_attn.output_gate"),
        Tensor(Kind.STATE, hidden, heads * dim, module="self_attn.out_proj"),
        Tensor(Kind.NORM, heads * dim),
    ]
    return tensors, CacheLayers(
        CacheKind.STATE, 1, state=State(heads, dim * dim, state_bytes(fields, default=2))
    )


RECURRENT = {
    "gdn": gated_delta,
    "mamba2": mamba2,
    "mamba1": mamba1,
    "conv": short_convolution,
    "lightning": lightning,
    "kda": delta_attention,
}


def state_bytes(fields: Fields, *, default: int) -> int:
    """Bytes of a recurrent element: 4 when the config asks for float32, else the model's 2."""
    name = fields.text("mamba_ssm_cache_dtype", "mamba_ssm_dtype", "ssm_cache_dtype").removeprefix("torch.")
    known = {"": default, "auto": default, "float32": 4, "fp32": 4, "bfloat16": 2, "float16": 2, "bf16": 2}
    if name not in known:
        raise ArchitectureError(
            fields.name_of("mamba_ssm_cache_dtype", "mamba_ssm_dtype"),
            f"names a type not understood: {name[:20]!r}",
        )
    return known[name]
