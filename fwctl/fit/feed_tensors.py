"""Weights of feed-forward parts, embeddings, towers and draft layers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fwctl.fit.architecture import Kind, Split, Tensor
from fwctl.fit.errors import ArchitectureError
from fwctl.fit.families import Family
from fwctl.fit.fields import ACTIVE, EXPERTS, HIDDEN, INTERMEDIATE, VOCAB, Fields, block_number, whole
from fwctl.fit.layers import Feed

MXFP4_BITS = 4.25  # 4 bits and a shared exponent for 32 weights
_UNGATED_ACTIVATIONS = ("relu2", "squared_relu", "xielu")
_SHARED_WIDTH = (
    "shared_expert_intermediate_size",
    "moe_shared_expert_intermediate_size",
    "share_expert_dim",
    "shared_intermediate_size",
)
_SHARED_COUNT = ("n_shared_experts", "num_shared_experts", "num_shared_expert", "moe_num_shared_experts")


def is_gated(fields: Fields, family: Family) -> bool:
    """Whether the feed-forward part has three matrices instead of two."""
    activation = fields.text("mlp_hidden_act", "hidden_act", "hidden_activation", "activation_function")
    return family.gated and activation not in _UNGATED_ACTIVATIONS


def feed_forward(fields: Fields, family: Family, layer: int, feed: Feed) -> list[Tensor]:
    """Tensors of one layer's feed-forward part."""
    if feed is Feed.NONE:
        return []
    if feed is Feed.EXPERTS:
        tensors = experts(fields, family, layer)
        if family.dense_beside_experts:
            tensors += dense(fields, family, layer)
        return tensors
    return dense(fields, family, layer)


def dense(fields: Fields, family: Family, layer: int) -> list[Tensor]:
    hidden = fields.integer(*HIDDEN)
    width = _dense_width(fields, family, layer, hidden)
    return _matrices(Kind.MLP, hidden, width, is_gated(fields, family), "mlp")


def _dense_width(fields: Fields, family: Family, layer: int, hidden: int) -> int:
    width = fields.at(
        layer,
        "block_ff_dim",
        "intermediate_size_mlp",
        "dense_intermediate_size",
        *INTERMEDIATE,
        default=4 * hidden,
        minimum=1,
    )
    multiple = block_number(fields, layer, "ffn", "ffn_mult")
    if multiple is not None:
        width = _rounded_up(2 * multiple * hidden / 3, 256)
    if fields.flag("block_auto_adjust_ff_dim"):  # LFM2
        width = _rounded_up(2 * width / 3, fields.integer("block_multiple_of", default=256))
    if family.fused_width:
        width //= 2
    if fields.flag("use_double_wide_mlp") and layer >= first_shared(fields):
        width *= 2
    return width


def _rounded_up(width: float, multiple: int) -> int:
    return -(-int(width) // multiple) * multiple


def first_shared(fields: Fields) -> int:
    """Index of the first layer that reads another layer's cache; past the end when none does."""
    shared = fields.integer("num_kv_shared_layers", default=0, minimum=0)
    return fields.integer("num_hidden_layers", default=2**31 - 1) - shared


def _matrices(kind: Kind, hidden: int, width: int, gated: bool, module: str) -> list[Tensor]:
    up = Tensor(kind, width, hidden, copies=2 if gated else 1, module=f"{module}.up_proj")
    return [up, Tensor(kind, hidden, width, module=f"{module}.down_proj")]


def expert_width(fields: Fields, layer: int) -> int:
    return fields.at(
        layer, "moe_intermediate_size", "expert_ffn_hidden_size", "expert_intermediate_size", *INTERMEDIATE
    )


def experts(fields: Fields, family: Family, layer: int) -> list[Tensor]:
    """Router, routed experts (on a narrower latent where the config has one) and shared experts."""
    hidden = fields.integer(*HIDDEN)
    width = expert_width(fields, layer)
    latent = fields.integer("moe_latent_size", "routed_expert_hidden_size", default=hidden)
    count = fields.integer(*EXPERTS)
    bits = 32.0 if wide_router(fields) else None
    router = Tensor(Kind.ROUTER, count, hidden, split=Split.REPLICATED, module="mlp.gate", fixed_bits=bits)
    tensors = [router, *_routed(fields, family, layer, width=width, latent=latent)]
    if latent != hidden:
        tensors.append(
            Tensor(
                Kind.SHARED_EXPERT,
                latent,
                hidden,
                copies=2,
                split=Split.REPLICATED,
                module="mlp.fc1_latent_proj",
            )
        )
    return tensors + _shared(fields, family, hidden, shared_width(fields, layer, width))


def _routed(fields: Fields, family: Family, layer: int, *, width: int, latent: int) -> list[Tensor]:
    """Up (and gate) and down projections of the experts that the router picks from."""
    count = fields.integer(*EXPERTS)
    active = min(fields.at(layer, *ACTIVE), count)
    module = "experts" if family.dense_beside_experts else "mlp.experts"
    stored = MXFP4_BITS if fields.text("expert_dtype") == "fp4" else None

    def matrix(rows: int, columns: int, copies: int, name: str) -> Tensor:
        return Tensor(
            Kind.EXPERT,
            rows,
            columns,
            copies=copies,
            experts=count,
            active=active,
            module=f"{module}.0.{name}",
            stored_bits=stored,
        )

    ups = count * (2 if is_gated(fields, family) else 1)
    return [matrix(width, latent, ups, "up_proj"), matrix(latent, width, count, "down_proj")]


def _shared(fields: Fields, family: Family, hidden: int, width: int) -> list[Tensor]:
    """Experts that every token passes, and the gate before them; none for width 0."""
    if not width:
        return []
    tensors = _matrices(Kind.SHARED_EXPERT, hidden, width, is_gated(fields, family), "mlp.shared_experts")
    if family.shared_expert_gate:
        tensors.append(
            Tensor(Kind.ROUTER, 1, hidden, split=Split.REPLICATED, module="mlp.shared_expert_gate")
        )
    return tensors


def wide_router(fields: Fields) -> bool:
    """Routers of DeepSeek's kind are kept in 32 bits: R1 loads 79.74 GiB a GPU, 79.53 with 16-bit ones."""
    return fields.text("moe_router_dtype") == "float32" or fields.text("topk_method") == "noaux_tc"


def shared_width(fields: Fields, layer: int, expert: int) -> int:
    """Width of all shared experts of a layer together; 0 when there is none."""
    total = fields.raw(*_SHARED_WIDTH)
    if total is not None:
        return fields.integer(*_SHARED_WIDTH, minimum=0)
    if fields.raw(*_SHARED_COUNT) is not None:
        return expert * fields.at(layer, *_SHARED_COUNT, minimum=0)
    return expert if fields.text("model_type").startswith("llama4") else 0


def embeddings(fields: Fields, family: Family, tied: bool, layers: int) -> list[Tensor]:
    """Token embedding, output head when it is a tensor of its own, positions, per-layer inputs."""
    hidden, vocabulary = fields.integer(*HIDDEN), fields.integer(*VOCAB)
    tensors = [Tensor(Kind.EMBEDDING, vocabulary, hidden, module="embed_tokens")]
    if not tied:
        tensors.append(Tensor(Kind.HEAD, vocabulary, hidden, module="lm_head"))
    if family.learned_positions:
        positions = fields.integer("n_positions", "max_position_embeddings", default=2048)
        tensors.append(
            Tensor(Kind.EMBEDDING, positions, hidden, split=Split.REPLICATED, module="embed_positions")
        )
    per_layer = fields.integer("hidden_size_per_layer_input", default=0, minimum=0)
    if per_layer:
        rows = fields.integer("vocab_size_per_layer_input", default=vocabulary)
        tensors += [
            Tensor(Kind.EMBEDDING, rows, per_layer * layers, module="embed_tokens_per_layer"),
            Tensor(Kind.MLP, per_layer * layers, 3 * hidden, module="per_layer_projection"),
        ]
    return tensors


def _first(config: Mapping[str, Any], *names: str) -> int:
    for name in names:
        value = config.get(name)
        if value is not None and not isinstance(value, list):
            return whole(value, name, minimum=0)
    return 0


def tower(config: Mapping[str, Any], name: str, text_hidden: int) -> list[Tensor]:
    """A vision or audio encoder and its projector, counted from the encoder's own dimensions.

    Raises ArchitectureError when the encoder has layers but no width.
    """
    hidden = _first(
        config, "hidden_size", "vt_hidden_size", "embed_dim", "d_model", "width", "mm_hidden_size"
    )
    depth = _first(
        config,
        "num_hidden_layers",
        "depth",
        "vt_num_hidden_layers",
        "num_layers",
        "layers",
        "encoder_layers",
    )
    if not depth:
        return []
    if not hidden:
        raise ArchitectureError(f"{name}.hidden_size", "is missing although the encoder has layers")
    if name == "vision_config" and config.get("embed_dim") and config.get("hidden_size") == text_hidden:
        hidden = _first(config, "embed_dim")
    width = _first(config, "intermediate_size", "vt_intermediate_size", "encoder_ffn_dim", "mlp_dim")
    if not width:
        ratio = config.get("mlp_ratio")
        width = int(hidden * ratio) if isinstance(ratio, int | float) and 0 < ratio < 64 else 4 * hidden
    gated = config.get("hidden_act") == "silu" or str(config.get("model_type", "")).startswith("gemma4")
    patch = _first(config, "patch_size") or 14
    patches = patch * patch * (_first(config, "in_channels", "num_channels") or 3)
    patches *= _first(config, "temporal_patch_size") or 1
    merged = hidden * (_first(config, "spatial_merge_size") or 1) ** 2
    projector = merged * merged + merged * text_hidden
    if str(config.get("model_type", "")).startswith("glm4v"):  # the merger, not the layers, has this width
        out = _first(config, "out_hidden_size") or text_hidden
        projector = out * (merged + out + 3 * width)
        width = out
    extra = config.get("deepstack_visual_indexes")
    projectors = 1 + (len(extra) if isinstance(extra, list) else 0)
    per_layer = 4 * hidden * hidden + (3 if gated else 2) * hidden * width
    positions = _first(config, "num_position_embeddings", "position_embedding_size") * hidden
    return [
        Tensor(
            Kind.TOWER, depth * per_layer + positions + patches * hidden, split=Split.REPLICATED, module=name
        ),
        Tensor(Kind.TOWER, projector * projectors, split=Split.REPLICATED, module=f"{name}.projector"),
    ]
