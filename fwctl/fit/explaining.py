"""Every formula of a result with the numbers put in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fwctl.fit.architecture import Architecture, CacheKind, CacheLayers
from fwctl.fit.engines import Band
from fwctl.fit.precision import KV_BYTES
from fwctl.fit.request import FitRequest
from fwctl.units import format_gib

if TYPE_CHECKING:
    from fwctl.fit.sizing import Sizes


def explain(request: FitRequest, architecture: Architecture, kv: str, found: Sizes) -> tuple[str, ...]:
    """Lines for `--explain`, weights first, verdict last."""
    ranks = 1 if found.layout.data_attention else found.layout.tensor
    return (
        *_weights(request, found),
        *(_cache(cache, kv, ranks) for cache in architecture.caches),
        _pool(request, found),
        *_conversations(request, found),
    )


def _weights(request: FitRequest, found: Sizes) -> list[str]:
    if request.parameters is not None:
        each = found.weights_total / request.parameters
        text = f"weights = {request.parameters:,.0f} parameters × {each:g} bytes / {found.layout.gpus} GPUs"
        return [f"{text} = {found.weights_bytes:,.0f} bytes per GPU"]
    by_kind = found.by_kind.by_kind if found.by_kind is not None else {}
    lines = [f"weights of {kind.value}: {format_gib(size)} per GPU" for kind, size in by_kind.items() if size]
    lines += [f"{name}: {format_gib(size)} per GPU" for name, size in found.added]
    return [*lines, f"weights = {format_gib(found.weights_bytes)} per GPU ({found.layout.name})"]


def _cache(cache: CacheLayers, kv: str, ranks: int) -> str:
    if cache.kind is CacheKind.STATE:
        return (
            f"state: {cache.layers} layers keep a fixed state per sequence, heads divided among {ranks} GPUs"
        )
    if cache.kind is CacheKind.LATENT:
        text = (
            f"KV: {cache.layers} layers × one latent of ({cache.latent_dim} + {cache.rope_dim}) in {kv},"
            " whole on every GPU"
        )
        if cache.index_layers:
            text += f"; + {cache.index_layers} × ({cache.index_dim} + 4) bytes of indexer keys"
        return text
    heads = max(1, -(-cache.heads // ranks))
    width = cache.key_dim + cache.value_dim
    text = (
        f"KV: {cache.layers} layers × {heads} of {cache.heads} heads × ({cache.key_dim} + {cache.value_dim}) "
        f"× {KV_BYTES[kv]:g} bytes = {cache.layers * heads * width * KV_BYTES[kv]:,.0f} bytes a token per GPU"
    )
    return f"{text}, at most {cache.window:,} tokens and the chunk in flight" if cache.window else text


def _pool(request: FitRequest, found: Sizes) -> str:
    if request.kv_pool_bytes is not None:
        return f"pool = {format_gib(request.kv_pool_bytes)} per GPU, measured"
    beside = found.extras.weights_bytes
    return (
        f"pool = {format_gib(found.budget.usable_bytes)} usable − {format_gib(found.weights_bytes)} weights "
        f"− {format_gib(beside)} beside them − overhead {_ends(found.budget.overhead)} = {_ends(found.pool)} "
        "(pessimistic / middle / optimistic)"
    )


def _ends(band: Band) -> str:
    return " / ".join(format_gib(value) for value in (band.low, band.mid, band.high))


def _conversations(request: FitRequest, found: Sizes) -> list[str]:
    tokens, plan, ends = request.workload.context_tokens, found.plan, found.concurrency
    unit = "bytes" if plan.linear else f"blocks of {plan.block_bytes:,.0f} bytes"
    room, need = plan.capacity(found.pool.mid), plan.need(tokens)
    return [
        f"one conversation of {tokens:,} tokens takes {need:,.0f} {unit} per GPU",
        f"conversations = {room:,.0f} / {need:,.0f} = {ends.mid:,.2f} ({ends.low:,.2f} to {ends.high:,.2f})",
    ]
