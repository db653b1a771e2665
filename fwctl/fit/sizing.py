"""Sizes of one layout of one request: weights, cache plan, pool, conversations."""

from __future__ import annotations

from typing import NamedTuple

from fwctl.fit.architecture import Architecture, CacheKind
from fwctl.fit.engines import Band, Budget, budget
from fwctl.fit.extras import Extras, extras_for
from fwctl.fit.kvcache import Growth, growths
from fwctl.fit.loading import added_bytes
from fwctl.fit.paging import CachePlan, linear_plan, paged_plan
from fwctl.fit.precision import as_stored, scheme_for
from fwctl.fit.request import FitRequest
from fwctl.fit.setting import Setting
from fwctl.fit.weights import Layout, Weights, weigh


class Sizes(NamedTuple):
    """Everything that one layout of one request takes, per GPU."""

    layout: Layout
    weights_bytes: float
    weights_total: float
    by_kind: Weights | None
    added: tuple[tuple[str, float], ...]
    extras: Extras
    growths: tuple[Growth, ...]
    plan: CachePlan
    budget: Budget
    pool: Band
    concurrency: Band
    p50_concurrency: Band | None


def layouts(request: FitRequest) -> list[Layout]:
    """Tensor parallel; for the platform's engine also data-parallel attention where it changes the
    cache (a latent or fewer KV heads than GPUs), because a shape does not say which one it runs."""
    ranks = request.accelerator_count // request.pipeline
    if request.attention != "auto":
        return [Layout(ranks, request.pipeline, data_attention=request.attention == "data")]
    layouts = [Layout(ranks, request.pipeline)]
    architecture = request.architecture
    if request.engine == "fireworks" and ranks > 1 and architecture is not None:
        heads = min((c.heads for c in architecture.caches if c.kind is CacheKind.FULL), default=ranks)
        if architecture.latent or heads < ranks:
            layouts.append(Layout(ranks, request.pipeline, data_attention=True))
    return layouts


def sizes(request: FitRequest, architecture: Architecture, setting: Setting, layout: Layout) -> Sizes:
    """Weights, cache plan and pool of one layout."""
    weights = _weighed(request, architecture, setting, layout)
    ranks = 1 if layout.data_attention else layout.tensor
    extras = extras_for(request, architecture, setting, layout)
    items = growths(architecture.caches, setting.kv, ranks) + extras.growths
    available = budget(
        setting.engine,
        request.accelerator,
        request.accelerator_count,
        vocabulary=architecture.vocab_size,
        latent=architecture.latent,
        head_dim=max((cache.key_dim for cache in architecture.caches), default=0),
        utilization=request.utilization,
    )
    plan = _plan(items, available, request.draft_tokens)
    pool = pool_of(request, available, weights.per_gpu + extras.weights_bytes)
    copies = layout.tensor if layout.data_attention else 1
    work = request.workload
    return Sizes(
        layout,
        weights.per_gpu,
        weights.total,
        weights.by_kind,
        weights.added,
        extras,
        items,
        plan,
        available,
        pool,
        _concurrency(request, plan, pool, work.context_tokens, copies),
        None if work.p50_tokens is None else _concurrency(request, plan, pool, work.p50_tokens, copies),
    )


class _Weighed(NamedTuple):
    per_gpu: float
    total: float
    by_kind: Weights | None
    added: tuple[tuple[str, float], ...]


def _weighed(request: FitRequest, architecture: Architecture, setting: Setting, layout: Layout) -> _Weighed:
    """Bytes of the weights: of the config's tensors, corrected by the exact size of the checkpoint where that
    is known, or of a bare number of parameters; with what the engine adds while loading."""
    precision = setting.precision
    if request.parameters is not None:
        total = request.parameters * precision.bits / 8
        return _Weighed(total / layout.gpus, total, None, ())
    scheme = scheme_for(architecture, precision)
    weighed = weigh(architecture, scheme, layout)
    per_gpu, total = weighed.per_gpu, weighed.total
    if request.weights_bytes is not None and as_stored(architecture, precision):
        per_gpu *= request.weights_bytes / total
        total = request.weights_bytes
    added = () if setting.engine.name == "ideal" else added_bytes(request, architecture, scheme, layout)
    return _Weighed(per_gpu + sum(size for _, size in added), total, weighed, added)


def _plan(items: tuple[Growth, ...], available: Budget, drafted: int) -> CachePlan:
    if available.paged:
        return paged_plan(items, available.block_tokens, available.chunk, available.alignment, drafted)
    return linear_plan(items, available.chunk)


def pool_of(request: FitRequest, available: Budget, weights: float) -> Band:
    if request.kv_pool_bytes is not None:
        return Band(request.kv_pool_bytes, request.kv_pool_bytes, request.kv_pool_bytes)
    room = available.usable_bytes - weights
    over = available.overhead
    return Band(room - over.low, room - over.mid, room - over.high)


def _concurrency(request: FitRequest, plan: CachePlan, pool: Band, tokens: int, copies: int) -> Band:
    prefix = request.workload.shared_prefix_tokens
    pipeline = request.pipeline

    def at(size: float) -> float:
        return copies * plan.concurrency(size * pipeline, tokens, prefix)

    return Band(at(pool.low), at(pool.mid), at(pool.high))
