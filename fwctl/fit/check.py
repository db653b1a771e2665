"""One question answered: weights, cache, pool, conversations, verdict."""

from __future__ import annotations

from fwctl.fit.architecture import Architecture, CacheKind
from fwctl.fit.engines import Band, accelerator_class, budget, find_engine
from fwctl.fit.errors import RequestError
from fwctl.fit.kvcache import bytes_per_token, fixed_bytes, latent_layout
from fwctl.fit.precision import (
    Precision,
    as_stored,
    find_kv_precision,
    find_precision,
    same_width,
    scheme_for,
)
from fwctl.fit.request import FitRequest
from fwctl.fit.result import Evidence, FitResult, Verdict
from fwctl.fit.setting import Setting
from fwctl.fit.sizing import Sizes, layouts, pool_of, sizes

_UNLIMITED_CONTEXT = 2**31 - 1


def check(request: FitRequest) -> FitResult:
    """Answer the request. Raises RequestError for a question that makes no sense; everything that is
    not known gives the verdict `unknown` with the reason."""
    result = assess(request, _validated(request))
    if result.verdict in (Verdict.DOES_NOT_FIT, Verdict.TIGHT):
        from fwctl.fit import alternatives

        found = alternatives.search(request, result, quick)
        result = result._replace(alternatives=found)
    return result


def quick(request: FitRequest) -> FitResult:
    """`check` without alternatives, roofline and explanations, for matrices."""
    return assess(request, _validated(request), details=False)


def _validated(request: FitRequest) -> Setting:
    for name, value, most in (
        ("accelerator_count", request.accelerator_count, 1024),
        ("context_tokens", request.workload.context_tokens, 2**31),
        ("pipeline", request.pipeline, 1024),
    ):
        if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
            raise RequestError(name, f"must be a whole number from 1 to {most}")
    if not 0 < request.workload.concurrency <= 1e9:
        raise RequestError("concurrency", "must be above 0")
    if request.utilization is not None and not 0 < request.utilization <= 1:
        raise RequestError("engine_utilization", "must be above 0 and at most 1")
    if request.kv_pool_bytes is not None and not 0 <= request.kv_pool_bytes < 2**60:
        raise RequestError("kv_pool_gib", "must not be negative")
    if request.parameters is not None and not 0 < request.parameters < 1e16:
        raise RequestError("parameters", "must be above 0")
    if request.accelerator_count % request.pipeline:
        raise RequestError("pipeline", f"does not divide {request.accelerator_count} GPUs")
    if not isinstance(request.draft_tokens, int) or not 0 <= request.draft_tokens <= 64:
        raise RequestError("draft_tokens", "must be a whole number from 0 to 64")
    if request.attention not in ("auto", "tensor", "data"):
        raise RequestError("attention", "must be auto, tensor or data")
    precision = find_precision(request.precision)
    engine = find_engine(request.engine)
    kv = find_kv_precision(request.kv_precision or precision.kv)
    indexed = request.architecture is not None and any(c.index_layers for c in request.architecture.caches)
    kv = latent_layout(kv, indexed, accelerator_class(request.accelerator), engine.name)
    return Setting(precision, kv, engine)


def assess(request: FitRequest, setting: Setting, *, details: bool = True) -> FitResult:
    """The figures and the verdict of one combination."""
    architecture = request.architecture
    if architecture is None:
        return _without_architecture(request, setting)
    precision = setting.precision
    first, *others = [sizes(request, architecture, setting, layout) for layout in layouts(request)]
    concurrency = _widest([first, *others])
    reasons = [*request.reasons, *_reasons(request, architecture, precision, first)]
    verdict = _verdict(request, architecture, [first, *others])
    tokens = request.workload.context_tokens
    per_token = bytes_per_token(first.growths)
    block = first.plan.block_bytes if not first.plan.linear else 1.0
    result = FitResult(
        name=request.name,
        model=request.model,
        accelerator=request.accelerator.name,
        accelerator_count=request.accelerator_count,
        precision=precision.name,
        kv_precision=setting.kv,
        engine=setting.engine.name,
        context_tokens=tokens,
        concurrency=request.workload.concurrency,
        verdict=verdict,
        evidence=_evidence(request, architecture, precision),
        weights_bytes_per_gpu=first.weights_bytes,
        weights_bytes_total=first.weights_total,
        padding_bytes_per_gpu=sum(size for _, size in first.added),
        state_bytes_per_sequence_per_gpu=fixed_bytes(first.growths) / request.pipeline,
        kv_bytes_per_token_per_gpu=per_token / request.pipeline,
        kv_bytes_per_token_total=per_token * first.layout.tensor,
        kv_bytes_per_sequence_per_gpu=first.plan.need(tokens) * block / request.pipeline,
        usable_bytes_per_gpu=first.budget.usable_bytes,
        overhead=first.budget.overhead,
        kv_pool=first.pool,
        max_concurrency=concurrency,
        p50_concurrency=first.p50_concurrency,
        kv_cache_tokens=_tokens(first, concurrency, tokens),
        assumed=request.assumed,
        reasons=tuple(reasons),
    )
    return _with_details(result, request, setting, first) if details else result


def _with_details(result: FitResult, request: FitRequest, setting: Setting, found: Sizes) -> FitResult:
    """Largest context, roofline, memory bar and formulas: what a matrix does not show."""
    from fwctl.fit.explaining import explain
    from fwctl.fit.roofline import bounds

    architecture = request.architecture
    assert architecture is not None
    scheme = scheme_for(architecture, setting.precision)
    return result._replace(
        max_context_tokens=_largest_context(request, architecture, found),
        roofline=bounds(request, architecture, scheme, found.growths),
        parts=_parts(found, request),
        explain=explain(request, architecture, setting.kv, found),
        sources=found.budget.sources,
    )


def _widest(found: list[Sizes]) -> Band:
    """Both layouts are possible: the worst pessimistic and the best optimistic end; mid is the first."""
    return Band(
        min(s.concurrency.low for s in found),
        found[0].concurrency.mid,
        max(s.concurrency.high for s in found),
    )


def _verdict(request: FitRequest, architecture: Architecture, found: list[Sizes]) -> Verdict:
    if architecture.unknown or request.missing:
        return Verdict.UNKNOWN
    wanted = request.workload.concurrency
    if min(s.concurrency.low for s in found) >= wanted:
        return Verdict.FITS
    best = max((s.p50_concurrency or s.concurrency).high for s in found)
    return Verdict.DOES_NOT_FIT if best < wanted else Verdict.TIGHT


def _tokens(found: Sizes, concurrency: Band, tokens: int) -> Band:
    """Tokens that the pool holds: blocks × tokens of a block when all layers share one page table, else
    sequences × length."""
    plan = found.plan
    if not plan.linear and len(plan.groups) == 1 and plan.groups[0].kind is not CacheKind.STATE:
        block = plan.groups[0].block_tokens
        return Band(
            *(plan.capacity(size) * block for size in (found.pool.low, found.pool.mid, found.pool.high))
        )
    return Band(concurrency.low * tokens, concurrency.mid * tokens, concurrency.high * tokens)


def _largest_context(request: FitRequest, architecture: Architecture, found: Sizes) -> int:
    """At the pessimistic end, and never above what the model was trained for."""
    limit = architecture.max_context or _UNLIMITED_CONTEXT
    copies = found.layout.tensor if found.layout.data_attention else 1
    return found.plan.largest_context(
        found.pool.low * request.pipeline,
        request.workload.concurrency / copies,
        limit,
        request.workload.shared_prefix_tokens,
    )


def _evidence(request: FitRequest, architecture: Architecture, precision: Precision) -> Evidence:
    if request.kv_pool_bytes is not None:
        return Evidence.MEASURED
    if request.parameters is not None:
        return Evidence.PARAMETERS
    if request.weights_bytes is not None and as_stored(architecture, precision):
        return Evidence.HEADERS
    return Evidence.CONFIG


def _reasons(
    request: FitRequest, architecture: Architecture, precision: Precision, found: Sizes
) -> list[str]:
    reasons = [f"{field}: {reason}" for field, reason in architecture.unknown]
    reasons += list(request.missing)
    own = architecture.quantization
    if own is not None and not same_width(own, precision):
        reasons.append(
            f"the checkpoint is {own.family} ({own.method}); {precision.name} was asked for and is used"
        )
    if found.pool.high <= 0:
        reasons.append("weights and the engine's overhead alone exceed a GPU")
    limit = architecture.max_context
    if limit is not None and request.workload.context_tokens > limit:
        tokens = request.workload.context_tokens
        reasons.append(f"context {tokens:,} is above the model's own maximum of {limit:,} tokens")
    heads = architecture.attention_heads
    if heads % found.layout.tensor:
        reasons.append(f"{heads} attention heads do not divide among {found.layout.tensor} GPUs")
    return reasons + list(found.extras.reasons)


def _parts(found: Sizes, request: FitRequest) -> tuple[tuple[str, float], ...]:
    """What fills one GPU, for the memory bar; it adds up to the accelerator's visible memory."""
    parts = [("weights", found.weights_bytes - sum(size for _, size in found.added))]
    parts += [*found.added, *found.extras.parts]
    parts.append(("overhead", found.budget.overhead.mid))
    parts.append(("kv pool", max(0.0, found.pool.mid)))
    total = max(request.accelerator.visible_bytes, found.budget.usable_bytes)
    parts.append(("left outside", max(0.0, total - sum(size for _, size in parts))))
    return tuple(parts)


def _without_architecture(request: FitRequest, setting: Setting) -> FitResult:
    """Weights from a parameter count at most; no cache, so no verdict, unless weights alone are too big."""
    precision = setting.precision
    available = budget(
        setting.engine, request.accelerator, request.accelerator_count, utilization=request.utilization
    )
    total = request.weights_bytes
    if request.parameters is not None:
        total = request.parameters * precision.bits / 8
    per_gpu = None if total is None else total / request.accelerator_count
    pool = None if per_gpu is None else pool_of(request, available, per_gpu)
    impossible = pool is not None and pool.high <= 0
    reasons = [*request.reasons, *(request.missing or ("no architecture: config.json is not known",))]
    if impossible:
        reasons.append("weights alone exceed the GPUs")
    evidence = Evidence.ASSUMED
    if request.parameters is not None:
        evidence = Evidence.PARAMETERS
    elif total is not None:
        evidence = Evidence.HEADERS
    return FitResult(
        name=request.name,
        model=request.model,
        accelerator=request.accelerator.name,
        accelerator_count=request.accelerator_count,
        precision=precision.name,
        kv_precision=setting.kv,
        engine=setting.engine.name,
        context_tokens=request.workload.context_tokens,
        concurrency=request.workload.concurrency,
        verdict=Verdict.DOES_NOT_FIT if impossible else Verdict.UNKNOWN,
        evidence=evidence,
        weights_bytes_per_gpu=per_gpu,
        weights_bytes_total=total,
        usable_bytes_per_gpu=available.usable_bytes,
        overhead=available.overhead,
        kv_pool=pool,
        assumed=request.assumed,
        reasons=tuple(reasons),
        sources=available.sources,
    )
