"""Which mixer and which feed-forward part each layer of a model has.

Configs say it in a dozen ways; the first one that is present decides, in the order of `_PLANS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from fwctl.fit.errors import ArchitectureError
from fwctl.fit.families import Family
from fwctl.fit.fields import EXPERTS, LAYERS, MAX_LAYERS, Fields


class Mixer(StrEnum):
    FULL = "full"
    WINDOW = "window"
    RECURRENT = "recurrent"
    BOTH = "attention and state"
    NONE = "none"


class Feed(StrEnum):
    DENSE = "dense"
    EXPERTS = "experts"
    NONE = "none"


_TYPE_NAMES: dict[str, Mixer] = {
    "full_attention": Mixer.FULL,
    "attention": Mixer.FULL,
    "global": Mixer.FULL,
    "global_attention": Mixer.FULL,
    "full": Mixer.FULL,
    "deepseek_sparse_attention": Mixer.FULL,
    "chunked_attention": Mixer.FULL,
    "sliding_attention": Mixer.WINDOW,
    "sliding_window": Mixer.WINDOW,
    "sliding_window_attention": Mixer.WINDOW,
    "local": Mixer.WINDOW,
    "local_attention": Mixer.WINDOW,
    "swa": Mixer.WINDOW,
    "linear_attention": Mixer.RECURRENT,
    "gated_deltanet": Mixer.RECURRENT,
    "kda": Mixer.RECURRENT,
    "mamba": Mixer.RECURRENT,
    "mamba1": Mixer.RECURRENT,
    "mamba2": Mixer.RECURRENT,
    "conv": Mixer.RECURRENT,
    "hybrid": Mixer.BOTH,
}
_PATTERN_LETTERS: dict[str, tuple[Mixer, Feed]] = {
    "M": (Mixer.RECURRENT, Feed.NONE),
    "*": (Mixer.FULL, Feed.NONE),
    "-": (Mixer.NONE, Feed.DENSE),
    "E": (Mixer.NONE, Feed.EXPERTS),
}
_BLOCK_NAMES: dict[str, tuple[Mixer, Feed]] = {
    "mlp": (Mixer.NONE, Feed.DENSE),
    "moe": (Mixer.NONE, Feed.EXPERTS),
}

Plan = list[tuple[Mixer, Feed]]


def layer_count(fields: Fields) -> int:
    """Number of decoder layers; a pattern says it when there is no count."""
    if fields.raw(*LAYERS) is None:
        for name in ("hybrid_override_pattern", "layers_block_type", "layer_types", "block_configs"):
            pattern = fields.text(name) or fields.sequence(name)
            if pattern:
                return _bounded(len(pattern), name)
    return _bounded(fields.integer(*LAYERS), fields.name_of(*LAYERS))


def _bounded(count: int, name: str) -> int:
    if not 1 <= count <= MAX_LAYERS:
        raise ArchitectureError(name, f"means {count} layers, outside 1..{MAX_LAYERS}")
    return count


def layer_plan(fields: Fields, family: Family, count: int) -> Plan:
    """(mixer, feed-forward) of each layer. ArchitectureError names a value that is not understood."""
    separate = _separate_blocks(fields, count) or _searched_blocks(fields, count)
    if separate is not None:
        return separate
    mixers = next(
        (found for plan in _PLANS if (found := plan(fields, family, count)) is not None), [Mixer.FULL] * count
    )
    feeds = [Feed.NONE] * count if family.mixer_only else feed_plan(fields, count)
    return list(zip(mixers, feeds, strict=True))


def _separate_blocks(fields: Fields, count: int) -> Plan | None:
    """Nemotron-H: each layer is one block, a mixer or a feed-forward part."""
    pattern = fields.text("hybrid_override_pattern")
    if pattern:
        if len(pattern) != count:
            raise ArchitectureError(
                "hybrid_override_pattern", f"has {len(pattern)} letters for {count} layers"
            )
        return [_lookup(_PATTERN_LETTERS, letter, "hybrid_override_pattern") for letter in pattern]
    blocks = fields.sequence("layers_block_type")
    if blocks is None or not any(block in _BLOCK_NAMES for block in blocks if isinstance(block, str)):
        return None
    _same_length(blocks, count, "layers_block_type")
    return [
        _BLOCK_NAMES[block]
        if isinstance(block, str) and block in _BLOCK_NAMES
        else (_lookup(_TYPE_NAMES, block, "layers_block_type"), Feed.NONE)
        for block in blocks
    ]


def _searched_blocks(fields: Fields, count: int) -> Plan | None:
    """Nemotron-NAS: each block says which of its two parts were searched away."""
    blocks = fields.sequence("block_configs")
    if blocks is None:
        return None
    _same_length(blocks, count, "block_configs")
    return [
        (
            Mixer.NONE if _removed(block, "attention", index) else Mixer.FULL,
            Feed.NONE if _removed(block, "ffn", index) else Feed.DENSE,
        )
        for index, block in enumerate(blocks[:count])
    ]


def _removed(block: Any, part: str, index: int) -> bool:
    entry = block.get(part) if isinstance(block, Mapping) else None
    if not isinstance(entry, Mapping):
        raise ArchitectureError(f"block_configs[{index}].{part}", "is missing or no object")
    if entry.get("replace_with_linear"):
        raise ArchitectureError(f"block_configs[{index}].{part}", "is a linear replacement, not understood")
    return bool(entry.get("no_op"))


def _lookup(table: dict[str, Any], key: Any, field: str) -> Any:
    if not isinstance(key, str) or key not in table:
        raise ArchitectureError(field, f"names a kind of layer that is not understood: {str(key)[:40]!r}")
    return table[key]


def _same_length(values: Sequence[Any], count: int, field: str) -> None:
    if len(values) < count:
        raise ArchitectureError(field, f"has {len(values)} entries for {count} layers")


def _named_types(fields: Fields, _family: Family, count: int) -> list[Mixer] | None:
    for name in ("layer_types", "layers_block_type", "layer_block_types"):
        values = fields.sequence(name)
        if values is not None:
            _same_length(values, count, name)
            return [_lookup(_TYPE_NAMES, value, name) for value in values[:count]]
    return None


def _listed_linear(fields: Fields, _family: Family, count: int) -> list[Mixer] | None:
    """Kimi: 1-based lists of the two kinds."""
    config = fields.mapping("linear_attn_config")
    if config is None:
        return None
    kda = config.get("kda_layers")
    full = config.get("full_attn_layers")
    if not isinstance(kda, list) or not isinstance(full, list):
        raise ArchitectureError("linear_attn_config", "lacks kda_layers or full_attn_layers")
    kinds = {
        **{i: Mixer.RECURRENT for i in kda if isinstance(i, int)},
        **{i: Mixer.FULL for i in full if isinstance(i, int)},
    }
    missing = [i for i in range(1, count + 1) if i not in kinds]
    if missing:
        raise ArchitectureError("linear_attn_config", f"says nothing about layer {missing[0]}")
    return [kinds[i] for i in range(1, count + 1)]


def _coded(name: str, codes: dict[int, Mixer]) -> Callable[[Fields, Family, int], list[Mixer] | None]:
    def plan(fields: Fields, _family: Family, count: int) -> list[Mixer] | None:
        values = fields.sequence(name)
        if values is None:
            return None
        _same_length(values, count, name)
        for value in values[:count]:
            if not isinstance(value, int) or value not in codes:
                raise ArchitectureError(name, f"has a code that is not understood: {str(value)[:20]!r}")
        return [codes[value] for value in values[:count]]

    return plan


def _full_interval(fields: Fields, family: Family, count: int) -> list[Mixer] | None:
    """Every n-th layer is full attention, the others are recurrent."""
    name = next((n for n in ("full_attention_interval", "layer_group_size") if fields.raw(n)), None)
    if name is None or not family.recurrent:
        return None
    every = fields.integer(name)
    return [Mixer.FULL if (i + 1) % every == 0 else Mixer.RECURRENT for i in range(count)]


def _period(fields: Fields, _family: Family, count: int) -> list[Mixer] | None:
    """Jamba: attention at `offset` of every `period` layers."""
    if fields.raw("attn_layer_period") is None:
        return None
    period = fields.integer("attn_layer_period")
    offset = fields.integer("attn_layer_offset", default=0, minimum=0)
    return [Mixer.FULL if i % period == offset else Mixer.RECURRENT for i in range(count)]


def _indices(fields: Fields, _family: Family, count: int) -> list[Mixer] | None:
    """Bamba and LFM2: the indices of the attention layers."""
    for name in ("attn_layer_indices", "full_attn_idxs"):
        values = fields.sequence(name)
        if values is not None:
            chosen = {value for value in values if isinstance(value, int)}
            return [Mixer.FULL if i in chosen else Mixer.RECURRENT for i in range(count)]
    return None


def _window_pattern(fields: Fields, family: Family, count: int) -> list[Mixer] | None:
    """A window on all layers, on all but every n-th, or on the last ones (Qwen2)."""
    window = fields.optional("sliding_window", "sliding_window_size", minimum=0)
    if not window or family.ignore_window or not fields.flag("use_sliding_window", True):
        return None
    pattern = fields.raw("sliding_window_pattern")
    if isinstance(pattern, str) and pattern:
        letters = [pattern[i % len(pattern)] for i in range(count)]
        return [Mixer.WINDOW if letter == "L" else Mixer.FULL for letter in letters]
    every = family.window_every if pattern is None else fields.integer("sliding_window_pattern")
    if every > 1:
        return [Mixer.FULL if (i + 1) % every == 0 else Mixer.WINDOW for i in range(count)]
    first = fields.integer("max_window_layers", default=0, minimum=0)
    if first and fields.raw("use_sliding_window"):
        return [Mixer.WINDOW if i >= first else Mixer.FULL for i in range(count)]
    return [Mixer.WINDOW] * count


def _all_recurrent(fields: Fields, family: Family, count: int) -> list[Mixer] | None:
    """Pure state-space models name no attention at all."""
    if family.parallel_state:
        return [Mixer.BOTH] * count
    if family.recurrent.startswith("mamba") and fields.raw("num_attention_heads") is None:
        return [Mixer.RECURRENT] * count
    if family.recurrent:
        raise ArchitectureError(
            "layer_types", "is missing: which layers are attention and which are recurrent"
        )
    return None


_PLANS: tuple[Callable[[Fields, Family, int], list[Mixer] | None], ...] = (
    _named_types,
    _listed_linear,
    _coded("attn_type_list", {0: Mixer.RECURRENT, 1: Mixer.FULL}),
    _coded("hybrid_layer_pattern", {0: Mixer.FULL, 1: Mixer.WINDOW}),
    _full_interval,
    _period,
    _indices,
    _window_pattern,
    _all_recurrent,
)


def feed_plan(fields: Fields, count: int) -> list[Feed]:
    """Which layers route to experts."""
    if not fields.optional(*EXPERTS, minimum=0):
        return [Feed.DENSE] * count
    for name in ("mlp_layer_types", "moe_layer_freq", "moe_layers_enum"):
        value = fields.raw(name)
        if value is not None and not isinstance(value, int | float):
            return _listed_feed(fields, name, value, count)
    first = fields.integer(
        "first_k_dense_replace", "moe_layer_start_index", "num_dense_layers", default=0, minimum=0
    )
    if fields.raw("expert_layer_period") is not None:
        period = fields.integer("expert_layer_period")
        offset = fields.integer("expert_layer_offset", default=0, minimum=0)
        return [Feed.EXPERTS if i % period == offset else Feed.DENSE for i in range(count)]
    if fields.raw("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval") is not None:
        every, shift = (
            fields.integer("interleave_moe_layer_step", "decoder_sparse_step", "moe_layer_interval"),
            1,
        )
    else:
        every, shift = fields.integer("moe_layer_freq", default=1), 0
    dense = set(fields.sequence("mlp_only_layers") or ())
    return [
        Feed.EXPERTS if i >= first and (i + shift) % every == 0 and i not in dense else Feed.DENSE
        for i in range(count)
    ]


def _listed_feed(fields: Fields, name: str, value: Any, count: int) -> list[Feed]:
    if name == "moe_layers_enum":
        parts = value.split(",") if isinstance(value, str) else fields.sequence(name) or ()
        chosen = {int(part) for part in parts if str(part).strip().isdigit()}
        return [Feed.EXPERTS if i in chosen else Feed.DENSE for i in range(count)]
    values = fields.sequence(name) or ()
    _same_length(values, count, name)
    return [Feed.EXPERTS if item in ("sparse", "moe", 1) else Feed.DENSE for item in values[:count]]
