"""From a deployment's documents to the size of its model and the speed of its replicas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from fwctl.catalog import architectures
from fwctl.catalog.accelerators import ACCELERATORS, Accelerator
from fwctl.fit.check import quick
from fwctl.fit.errors import FitError
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.request import FitRequest, Workload
from fwctl.simulator.http.engine.hardware import LEAST_POOL_TOKENS, Device, ModelSize, Speed, replica_speed
from fwctl.simulator.http.engine.speculation import Drafter
from fwctl.simulator.http.knobs import KnobError, Knobs
from fwctl.simulator.platform import models
from fwctl.simulator.platform.tuning import closeness

Doc = dict[str, Any]

_DEVICES = {gpu.name: gpu for gpu in ACCELERATORS}
# What serverless runs on, here.
_SERVERLESS = ("NVIDIA_H200_141GB", 8)
# `-a22b` in a name says that 22 billion parameters work on a token.
_ACTIVE_IN_NAME = re.compile(r"a(\d+(?:p\d+)?)b(?:-|$)")
# Share of a mixture's parameters that work on one token, where the name does not say.
_ACTIVE_SHARE = 0.08
_DEFAULT_CONTEXT = 131_072
# The pool hardly depends on the length asked about; a model is dense above this share of active weights.
_FIT_CONTEXT = 8192
_DENSE = 0.85
# KV cache of an 8-billion model with grouped heads: 32 layers x 8 heads x 128 x 2 x 2 bytes.
_KV_8B = 131_072
# Conditional acceptance by position of a drafter that nobody tuned; it rises with depth, as in public
# tables of draft models (speculators #761: 0.71 to 0.79).
_DRAFT_ACCEPTANCE = (0.71, 0.75, 0.77, 0.79)
# A drafter tuned on exactly this traffic accepts this share; on other traffic this part of an untuned
# one's. Tuning on production alone has made public drafters worse elsewhere. The simulator's own figures.
_TUNED_HERE = 0.93
_TUNED_ELSEWHERE = 0.85


def active_parameters(model: Doc) -> float:
    """Parameters that work on one token."""
    total = float(models.parameter_count(model) or 8e9)
    found = _ACTIVE_IN_NAME.search(str(model.get("name", "")).rsplit("/", 1)[-1].lower())
    if found:
        return min(total, float(found[1].replace("p", ".")) * 1e9)
    return total * _ACTIVE_SHARE if model.get("baseModelDetails", {}).get("moe") else total


class _Served(NamedTuple):
    """What the figures depend on; hashable, so that they are computed once."""

    model: str
    hub: str
    parameters: float
    active: float
    precision: str
    accelerator: str
    gpus: int
    context: int


def _by_rule(served: _Served) -> tuple[ModelSize, int | None]:
    """Figures of a model whose architecture is not known, from its parameter count."""
    bits = models.BITS.get(served.precision, 8)
    kv = _KV_8B * (served.parameters / 8e9) ** 0.4
    size = ModelSize(
        served.parameters * bits / 8, served.active * bits / 8, served.active, kv, served.context
    )
    return size, None


def _by_fit(served: _Served, gpu: Accelerator) -> tuple[ModelSize, int | None]:
    """Figures of the fit check: weights, KV bytes a token, the pool in tokens."""
    config = architectures.find(served.model) or architectures.find(served.hub)
    if config is None:
        return _by_rule(served)
    try:
        architecture = architecture_from_config(config)
        workload = Workload(context_tokens=min(served.context, _FIT_CONTEXT))
        request = FitRequest(
            served.model, gpu, served.gpus, served.precision, architecture, workload, engine="fireworks"
        )
        found = quick(request)
    except FitError:
        return _by_rule(served)
    if not found.weights_bytes_total or not found.kv_bytes_per_token_total or found.kv_cache_tokens is None:
        return _by_rule(served)
    active = float(architecture.active_parameters)
    share = min(1.0, active / max(1.0, served.parameters))
    weights = found.weights_bytes_total
    touched = weights if share > _DENSE else weights * share
    size = ModelSize(weights, touched, active, found.kv_bytes_per_token_total, served.context)
    return size, max(0, int(found.kv_cache_tokens.mid))


@lru_cache(maxsize=512)
def _speed(served: _Served) -> Speed:
    gpu = _DEVICES.get(served.accelerator, _DEVICES["NVIDIA_H100_80GB"])
    size, pool = _by_fit(served, gpu)
    bits = models.BITS.get(served.precision, 8)
    device = Device(gpu.visible_bytes, gpu.bandwidth_gb_s * 1e9, gpu.tflops(bits) * 1e12)
    speed = replica_speed(size, device, served.gpus)
    return speed if pool is None else speed._replace(kv_pool_tokens=max(LEAST_POOL_TOKENS, pool))


def context_of(deployment: Doc | None, model: Doc) -> int:
    """Tokens that prompt and answer may have together."""
    limit = (deployment or {}).get("maxContextLength") or 0
    return int(limit or model.get("contextLength") or _DEFAULT_CONTEXT)


def speed_of(deployment: Doc | None, model: Doc) -> Speed:
    """The speed of one replica of a deployment, or of serverless."""
    precision = str(
        (deployment or {}).get("precision")
        or model.get("baseModelDetails", {}).get("defaultPrecision", "FP8")
    )
    name, count = _SERVERLESS
    if deployment is not None:
        name, count = deployment.get("acceleratorType", ""), deployment.get("acceleratorCount", 1)
    total = float(models.parameter_count(model) or 8e9)
    served = _Served(
        str(model.get("name", "")),
        str(model.get("huggingFaceUrl", "")),
        total,
        active_parameters(model),
        precision,
        name,
        max(1, int(count)),
        context_of(deployment, model),
    )
    return _speed(served)


def drafter_of(deployment: Doc | None, base: Doc, draft: Doc | None, knobs: Knobs) -> Drafter | None:
    """What drafts tokens on this deployment. draft: its draft model. Raises KnobError on a malformed
    acceptance.
    """
    if deployment is None:
        return None
    tokens, ngram = deployment.get("draftTokenCount", 0), deployment.get("ngramSpeculationLength", 0)
    if tokens and ngram:
        return Drafter(tokens, ngram, cost=0.0)
    if not tokens or draft is None:
        return None
    cost = active_parameters(draft) / active_parameters(base)
    return Drafter(tokens, 0, _acceptance(knobs["acceptance"]), min(0.5, max(0.02, cost)))


def tuned(
    drafter: Drafter | None, sketch: Sequence[int], output: Sequence[str], knobs: Knobs
) -> Drafter | None:
    """The drafter as it does on this output: one tuned on data like it accepts more, one tuned on other
    data less than an untuned one.
    """
    if drafter is None or drafter.ngram or not sketch or knobs["acceptance"] is not None:
        return drafter
    near = closeness(list(sketch), "".join(output))
    low = (value * _TUNED_ELSEWHERE for value in drafter.acceptance)
    return drafter._replace(acceptance=tuple(value + (_TUNED_HERE - value) * near for value in low))


def _acceptance(text: str | None) -> tuple[float, ...]:
    if text is None:
        return _DRAFT_ACCEPTANCE
    try:
        values = tuple(float(part) for part in text.split(","))
    except ValueError:
        raise KnobError(f"acceptance is {text[:40]!r}; write for example 0.8,0.7,0.6") from None
    if not all(0 <= value <= 1 for value in values):
        raise KnobError("acceptance values lie between 0 and 1")
    return values
