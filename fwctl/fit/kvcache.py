"""Bytes that a sequence keeps, per layer and per GPU."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import CacheKind, CacheLayers, State
from fwctl.fit.precision import KV_BYTES

INDEX_SCALE_BYTES = 4


class Growth(NamedTuple):
    """What one kind of layer keeps on one GPU.

    per_token: bytes for one token in one layer (0 for a recurrent layer). fixed: bytes per sequence in
    one layer. window: tokens that a windowed layer keeps.
    """

    kind: CacheKind
    layers: int
    per_token: float
    fixed: float
    window: int | None = None
    index_per_token: float = 0.0
    index_layers: int = 0


def latent_layout(kv_precision: str, indexed: bool, accelerator_class: str, engine: str) -> str:
    """What `fp8` means for an MLA cache: the engine's flag is one word for two layouts.

    Models with a sparse-attention indexer run on FlashMLA's sparse kernels on Hopper, which store
    fp8_ds_mla (656 B for DeepSeek); FlashInfer on Blackwell, ROCm and dense MLA store plain fp8 (576 B).
    Source: vLLM 0.33 model_executor/models/config.py and the cache sizes in its logs.
    """
    if indexed and engine != "ideal" and accelerator_class == "nvidia" and kv_precision.startswith("fp8"):
        return "fp8_ds_mla"
    return kv_precision


def latent_bytes(cache: CacheLayers, kv_precision: str) -> float:
    """Bytes of one token's latent in one layer.

    fp8: one byte each (FlashInfer, 576 B for DeepSeek). fp8_ds_mla: fp8 latent, scales and a 16-bit
    rope part (FlashMLA, 656 B). nvfp4_ds_mla: 4-bit latent with a scale per 16, 16-bit rope... 352 B.
    """
    if kv_precision == "fp8_ds_mla":
        return cache.latent_dim + cache.latent_dim / 128 * 4 + cache.rope_dim * 2
    if kv_precision == "nvfp4_ds_mla":
        return cache.latent_dim / 2 + cache.latent_dim / 16 + cache.rope_dim
    return (cache.latent_dim + cache.rope_dim) * KV_BYTES[kv_precision]


def state_bytes(state: State, ranks: int) -> float:
    """Fixed bytes per sequence and layer on one rank; heads and groups are divided whole."""
    recurrent = _units(state.heads, ranks) * state.per_head * state.recurrent_bytes
    conv = sum(_units(units, ranks) * size * copies for units, size, copies in state.conv)
    return recurrent + conv * (state.conv_width - 1) * 2


def _units(units: int, ranks: int) -> int:
    return -(-units // ranks) if units else 0


def growth(cache: CacheLayers, kv_precision: str, ranks: int) -> Growth:
    """What a group of equal layers keeps on one GPU of `ranks` that share attention.

    Key-value heads are divided whole and replicated when there are more ranks than heads; a latent and
    an indexer key exist once for all heads, so every rank holds them whole.
    """
    if cache.kind is CacheKind.STATE:
        assert cache.state is not None
        return Growth(cache.kind, cache.layers, 0.0, state_bytes(cache.state, ranks))
    if cache.kind is CacheKind.LATENT:
        index = cache.index_dim + INDEX_SCALE_BYTES if cache.index_layers else 0
        return Growth(
            cache.kind,
            cache.layers,
            latent_bytes(cache, kv_precision),
            0.0,
            index_per_token=float(index),
            index_layers=cache.index_layers,
        )
    heads = max(1, -(-cache.heads // ranks))
    size = heads * (cache.key_dim + cache.value_dim) * KV_BYTES[kv_precision]
    return Growth(cache.kind, cache.layers, size, 0.0, cache.window)


def growths(caches: tuple[CacheLayers, ...], kv_precision: str, ranks: int) -> tuple[Growth, ...]:
    return tuple(growth(cache, kv_precision, ranks) for cache in caches)


def merged(items: tuple[Growth, ...]) -> tuple[Growth, ...]:
    """Layers that keep the same thing become one, a draft layer with the target's for example."""
    found: dict[Growth, Growth] = {}
    for item in items:
        key = item._replace(layers=0, index_layers=0)
        known = found.get(key)
        found[key] = (
            item
            if known is None
            else known._replace(
                layers=known.layers + item.layers, index_layers=known.index_layers + item.index_layers
            )
        )
    return tuple(found.values())


def bytes_per_token(items: tuple[Growth, ...]) -> float:
    """Bytes that one more token adds on one GPU while every layer still grows."""
    return sum(item.per_token * item.layers + item.index_per_token * item.index_layers for item in items)


def fixed_bytes(items: tuple[Growth, ...]) -> float:
    """Recurrent state of one sequence on one GPU."""
    return sum(item.fixed * item.layers for item in items)


def bytes_per_sequence(items: tuple[Growth, ...], tokens: float, chunk: int = 0) -> float:
    """Bytes that a sequence of `tokens` keeps on one GPU, unpaged.

    A windowed layer keeps its window and the prefill chunk in flight, never more than the sequence.
    """
    total = 0.0
    for item in items:
        kept = tokens if item.window is None else min(tokens, item.window - 1 + max(chunk, 1))
        total += item.layers * (item.per_token * kept + item.fixed)
        total += item.index_layers * item.index_per_token * tokens
    return total
