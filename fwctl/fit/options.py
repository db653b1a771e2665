"""Requests from what people type and from spec entries, live snapshots and models, as plain values."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from fwctl.catalog import accelerators as catalogue
from fwctl.catalog.accelerators import Accelerator
from fwctl.fit.architecture import Architecture
from fwctl.fit.errors import ArchitectureError, RequestError
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.request import DEFAULT_CONTEXT, Adapters, Drafter, FitRequest, Offer, Workload
from fwctl.units import GB, GIB


def accelerator(name: str, memory_gib: float | None = None) -> Accelerator:
    """The accelerator of a name; an unknown one needs `memory_gib`, the memory its runtime shows.

    Bandwidth and rates of an accelerator made up here are not known; they count as an H100's, and the
    roofline is as good as that. RequestError when the name is unknown and there is no memory.
    """
    known = catalogue.find(name)
    if known is not None and memory_gib is None:
        return known
    if memory_gib is None:
        names = ", ".join(item.name for item in catalogue.ACCELERATORS)
        raise RequestError(
            "accelerator", f"{name[:60]!r} is not known (give its memory too); known are {names}"
        )
    if not 0 < memory_gib < 1e6:
        raise RequestError("accelerator_memory_gib", "must be above 0")
    model = known or catalogue.ACCELERATORS[2]
    return Accelerator(
        name=known.name if known else name.strip()[:60].upper(),
        nominal_gb=memory_gib * GIB / GB,
        visible_gib=memory_gib,
        bandwidth_gb_s=model.bandwidth_gb_s,
        tflops_16bit=model.tflops_16bit,
        tflops_fp8=model.tflops_fp8,
        tflops_fp4=model.tflops_fp4,
        vendor="amd" if name.strip().upper().startswith("AMD") else "nvidia",
        source="given by the user",
        date="",
    )


def understand(
    config: Mapping[str, Any] | None, hf_quant_config: Mapping[str, Any] | None = None
) -> tuple[Architecture | None, tuple[str, ...]]:
    """(architecture, reasons): a config that is not understood gives None and the field's name."""
    if config is None:
        return None, ()
    try:
        return architecture_from_config(config, hf_quant_config), ()
    except ArchitectureError as error:
        return None, (str(error),)


def fit_request_from_options(
    *,
    accelerator: str | Accelerator,
    count: int,
    precision: str,
    model: str = "",
    config: Mapping[str, Any] | None = None,
    hf_quant_config: Mapping[str, Any] | None = None,
    architecture: Architecture | None = None,
    kv_precision: str | None = None,
    context_tokens: int | None = None,
    concurrency: float | None = None,
    engine: str = "fireworks",
    engine_utilization: float | None = None,
    kv_pool_gib: float | None = None,
    parameters: float | None = None,
    weights_bytes: float | None = None,
    accelerator_memory_gib: float | None = None,
    offers: Sequence[Offer] | None = None,
    usd_per_gpu_hour: Mapping[str, float] | None = None,
    name: str | None = None,
    pipeline: int = 1,
    attention: str = "auto",
    missing: Sequence[str] = (),
) -> FitRequest:
    """The request behind `fwctl fit-check --config … --accelerator … --count …`.

    Either a parsed config.json (`config`) or an `architecture`; `missing` says why there is neither.
    RequestError names an option that
    makes no sense.
    """
    if architecture is None and config is not None:
        architecture, missing = understand(config, hf_quant_config)
    assumed = []
    if context_tokens is None:
        limit = architecture.max_context if architecture else None
        context_tokens = limit or DEFAULT_CONTEXT
        assumed.append(
            f"context {context_tokens:,} tokens ({'the model maximum' if limit else 'no context given'})"
        )
    if concurrency is None:
        assumed.append("concurrency 1")
    return FitRequest(
        model=model or (architecture.model_type if architecture else ""),
        accelerator=accelerator
        if isinstance(accelerator, Accelerator)
        else globals()["accelerator"](accelerator, accelerator_memory_gib),
        accelerator_count=count,
        precision=precision,
        architecture=architecture,
        workload=Workload(context_tokens, 1.0 if concurrency is None else concurrency),
        name=name,
        kv_precision=kv_precision,
        engine=engine,
        utilization=engine_utilization,
        kv_pool_bytes=None if kv_pool_gib is None else kv_pool_gib * GIB,
        parameters=parameters,
        weights_bytes=weights_bytes,
        offers=None if offers is None else tuple(offers),
        usd_per_gpu_hour=usd_per_gpu_hour,
        assumed=tuple(assumed),
        missing=tuple(missing),
        pipeline=pipeline,
        attention=attention,
    )


def _number(values: Mapping[str, Any], path: str) -> int | None:
    value = values.get(path)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if math.isfinite(value) and value > 0 else None


def _percentile(own: Mapping[str, Any], path: str, which: str) -> int | None:
    """`workload.input_tokens.p50`, whether the spec keeps it flat or as a mapping."""
    nested = own.get(path)
    if isinstance(nested, Mapping):
        return _number(nested, which)
    return _number(own, f"{path}.{which}")


def workload_of(
    own: Mapping[str, Any], fields: Mapping[str, Any], snapshot: Mapping[str, Any], model_context: int | None
) -> tuple[Workload, list[str]]:
    """Lengths and concurrency of a deployment, and what had to be assumed.

    `workload.context_tokens` and `workload.concurrency`, or the percentiles of input plus output;
    absent: max_context_length, the shape's, the model's maximum, and one conversation.
    """
    assumed: list[str] = []
    context = _number(own, "workload.context_tokens")
    middle = None
    if context is None:
        p95 = [_percentile(own, f"workload.{part}_tokens", "p95") for part in ("input", "output")]
        p50 = [_percentile(own, f"workload.{part}_tokens", "p50") for part in ("input", "output")]
        if any(p95):
            context = sum(value or 0 for value in p95)
            middle = sum(value or 0 for value in p50) or None
    if context is None:
        sources = (
            (_number(fields, "max_context_length"), "max_context_length"),
            (_number(snapshot, "max_context_length"), "the shape's max_context_length"),
            (model_context, "the model's maximum"),
        )
        context, origin = next(
            ((value, origin) for value, origin in sources if value), (DEFAULT_CONTEXT, "no context given")
        )
        assumed.append(f"context {context:,} tokens ({origin})")
    concurrency = _number(own, "workload.concurrency") or _number(own, "workload.concurrency_per_replica")
    if concurrency is None:
        assumed.append("concurrency 1")
    return (
        Workload(
            context,
            float(concurrency or 1),
            middle,
            _number(own, "workload.shared_prefix_tokens") or 0,
        ),
        assumed,
    )


def request_for(
    deployment_fields: Mapping[str, Any],
    own: Mapping[str, Any],
    snapshot: Mapping[str, Any] | None,
    architecture: Architecture | None,
    *,
    name: str | None = None,
    missing: Sequence[str] = (),
    parameters: float | None = None,
    weights_bytes: float | None = None,
    model_context: int | None = None,
    drafter: Drafter | None = None,
    kv_pool_bytes: float | None = None,
    offers: Sequence[Offer] | None = None,
    usd_per_gpu_hour: Mapping[str, float] | None = None,
    engine: str = "fireworks",
) -> FitRequest:
    """The request of one spec entry.

    deployment_fields and snapshot hold canonical values by spec path (`spec.Deployment.fields`, a
    shape version's snapshot); own holds fwctl's keys by path (`workload.concurrency` …). The
    deployment's pins win over the snapshot. parameters counts only when there is no architecture.
    RequestError when accelerator, count or precision are in neither.
    """
    shape = snapshot or {}

    def pick(path: str) -> Any:
        value = deployment_fields.get(path)
        return shape.get(path) if value is None else value

    chip, count, precision = pick("accelerator.type"), pick("accelerator.count"), pick("precision")
    for value, path in ((chip, "accelerator.type"), (count, "accelerator.count"), (precision, "precision")):
        if value is None:
            raise RequestError(path, "is neither in the spec nor in the shape's snapshot")
    limit = architecture.max_context if architecture is not None else None
    workload, assumed = workload_of(own, deployment_fields, shape, model_context or limit)
    addons = pick("addons.load") or ()
    cached = _number(own, "workload.adapters_cached") or len(addons)
    mode = pick("speculation.mode")
    draft = pick("speculation.draft_model")
    drafting = mode != "disabled" and (drafter or draft)
    if drafter is None and draft and mode != "disabled":
        drafter = Drafter(str(draft), None)
    return FitRequest(
        model=str(deployment_fields.get("model", "")),
        accelerator=accelerator(str(chip)),
        accelerator_count=count,
        precision=str(precision),
        architecture=architecture,
        workload=workload,
        name=name,
        engine=engine,
        kv_pool_bytes=kv_pool_bytes,
        parameters=parameters if architecture is None else None,
        weights_bytes=weights_bytes,
        drafter=drafter,
        mtp=bool(pick("speculation.mtp") or pick("enable_mtp")),
        adapters=Adapters(cached) if cached and pick("addons.mode") != "live_merge" else None,
        offers=None if offers is None else tuple(offers),
        usd_per_gpu_hour=usd_per_gpu_hour,
        assumed=tuple(assumed),
        missing=tuple(missing),
        draft_tokens=(pick("speculation.draft_tokens") or 0) if drafting else 0,
        shape=deployment_fields.get("shape"),
    )
