"""Reading a model config: aliases, nested text configs, and values that are what they claim to be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.fit.errors import ArchitectureError
from fwctl.fit.families import CLASS_DEFAULTS

NESTED = ("text_config", "llm_config", "language_config", "thinker_config", "language_model", "text_model")
_SECTIONS = ("attn_config", "ffn_config")  # DBRX and MPT keep heads and experts one level down
MAX_LAYERS = 4096
MAX_DIMENSION = 2**31

LAYERS = ("num_hidden_layers", "n_layer", "num_layers", "n_layers")
HIDDEN = ("hidden_size", "n_embd", "d_model")
HEADS = ("num_attention_heads", "n_head", "n_heads", "num_heads")
KV_HEADS = (
    "num_key_value_heads",
    "num_kv_heads",
    "n_head_kv",
    "multi_query_group_num",
    "kv_n_heads",
    "num_attention_groups",
    "n_kv_heads",
)
VOCAB = ("vocab_size", "padded_vocab_size")
HEAD_DIM = ("head_dim", "attention_head_dim", "kv_channels", "d_kv")
INTERMEDIATE = ("intermediate_size", "n_inner", "ffn_dim", "ffn_hidden_size", "d_ff")
CONTEXT = ("max_position_embeddings", "n_positions", "max_sequence_length", "model_max_length", "seq_length")
EXPERTS = ("n_routed_experts", "num_local_experts", "num_experts", "moe_num_experts", "num_moe_experts")
ACTIVE = (
    "num_experts_per_tok",
    "num_experts_per_token",
    "experts_per_token",
    "moe_topk",
    "moe_top_k",
    "top_k_experts",
    "moe_k",
    "num_selected_experts",
)


class Fields:
    """A config's text part, with what it inherits from the levels around it."""

    def __init__(self, values: Mapping[str, Any]) -> None:
        self.values = values

    def raw(self, *names: str) -> Any:
        """The first value among the names that is present and not null."""
        for name in names:
            value = self.values.get(name)
            if value is not None:
                return value
        return None

    def name_of(self, *names: str) -> str:
        """The spelling that this config uses, for messages; the first one when it uses none."""
        return next((name for name in names if self.values.get(name) is not None), names[0])

    def integer(self, *names: str, default: int | None = None, minimum: int = 1) -> int:
        """A whole number; ArchitectureError names the field when it is absent, no number or absurd."""
        value = self.raw(*names)
        if value is None:
            if default is None:
                raise ArchitectureError(names[0], "is missing from the config")
            return default
        return whole(value, self.name_of(*names), minimum=minimum)

    def optional(self, *names: str, minimum: int = 1) -> int | None:
        """Like integer, but None when the field is absent."""
        return None if self.raw(*names) is None else self.integer(*names, minimum=minimum)

    def at(self, layer: int, *names: str, default: int | None = None, minimum: int = 1) -> int:
        """A number that may be given per layer as a list."""
        value = self.raw(*names)
        if isinstance(value, Sequence) and not isinstance(value, str | bytes):
            name = self.name_of(*names)
            if layer >= len(value):
                raise ArchitectureError(name, f"has {len(value)} entries, layer {layer} has none")
            return whole(value[layer], f"{name}[{layer}]", minimum=minimum)
        return self.integer(*names, default=default, minimum=minimum)

    def flag(self, name: str, default: bool = False) -> bool:
        value = self.values.get(name)
        if isinstance(value, str):
            raise ArchitectureError(name, f"is not true or false: {value[:40]!r}")
        return default if value is None else bool(value)

    def text(self, *names: str) -> str:
        value = self.raw(*names)
        return value if isinstance(value, str) else ""

    def sequence(self, name: str) -> Sequence[Any] | None:
        """A list of at most one entry a layer, None when absent."""
        value = self.values.get(name)
        if value is None:
            return None
        if isinstance(value, str | bytes) or not isinstance(value, Sequence):
            raise ArchitectureError(name, "is not a list")
        if len(value) > MAX_LAYERS:
            raise ArchitectureError(name, f"has {len(value)} entries, more than {MAX_LAYERS}")
        return value

    def mapping(self, name: str) -> Mapping[str, Any] | None:
        value = self.values.get(name)
        return value if isinstance(value, Mapping) else None


def block_number(fields: Fields, layer: int, part: str, name: str) -> float | None:
    """A positive number of `block_configs[layer].part.name` (Nemotron-NAS), None when it is not said."""
    blocks = fields.sequence("block_configs")
    if blocks is None:
        return None
    entry = blocks[layer].get(part) if layer < len(blocks) and isinstance(blocks[layer], Mapping) else None
    value = entry.get(name) if isinstance(entry, Mapping) else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not 1e-3 <= value <= MAX_DIMENSION:
        raise ArchitectureError(f"block_configs[{layer}].{part}.{name}", f"is no size: {str(value)[:40]!r}")
    return float(value)


def whole(value: Any, field: str, *, minimum: int = 1) -> int:
    """An int within bounds, or ArchitectureError naming the field."""
    if isinstance(value, float) and math.isfinite(value) and value == int(value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArchitectureError(field, f"is not a whole number: {str(value)[:60]!r}")
    if not minimum <= value <= MAX_DIMENSION:
        raise ArchitectureError(field, f"is {str(value)[:24]}, outside {minimum}..{MAX_DIMENSION}")
    return value


def text_fields(config: Mapping[str, Any]) -> Fields:
    """The language model's own fields.

    Vision-language configs nest them, sometimes twice; the inner level wins, and what it lacks
    (quantization_config, tie_word_embeddings, vocab_size) comes from around it, else from its class.
    """
    merged: dict[str, Any] = {k: v for k, v in config.items() if k not in NESTED}
    level: Mapping[str, Any] = config
    for _ in range(4):
        inner = next((level[name] for name in NESTED if isinstance(level.get(name), Mapping)), None)
        if inner is None:
            break
        merged.update({k: v for k, v in inner.items() if k not in NESTED and v is not None})
        level = inner
    if level is not config:
        merged = {**CLASS_DEFAULTS.get(str(level.get("model_type")), {}), **merged}
    for part in _SECTIONS:
        inner = merged.get(part)
        if isinstance(inner, Mapping):
            merged = {**inner, **merged}
    return Fields(merged)
