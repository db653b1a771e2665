"""From a deployment's documents to the size of its model and the speed of its replicas."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from fwctl.catalog.accelerators import ACCELERATORS
from fwctl.simulator.http.engine.hardware import Device, ModelSize, Speed, replica_speed
from fwctl.simulator.http.engine.speculation import Drafter
from fwctl.simulator.http.knobs import KnobError, Knobs
from fwctl.simulator.platform import models

Doc = dict[str, Any]

_DEVICES = {gpu.name: gpu for gpu in ACCELERATORS}
# What serverless runs on, here.
_SERVERLESS = ("NVIDIA_H200_141GB", 8)
# `-a22b` in a name says that 22 billion parameters work on a token.
_ACTIVE_IN_NAME = re.compile(r"a(\d+(?:p\d+)?)b(?:-|$)")
# Share of a mixture's parameters that work on one token, where the name does not say.
_ACTIVE_SHARE = 0.08
_DEFAULT_CONTEXT = 131_072
# KV cache of an 8-billion model with grouped heads: 32 layers x 8 heads x 128 x 2 x 2 bytes.
_KV_8B = 131_072
# Acceptance by position of a drafter that nobody tuned, and of an n-gram where the texts do not decide.
_DRAFT_ACCEPTANCE = (0.72, 0.76, 0.78, 0.79)
_DRAFT_COST = 0.08


def active_parameters(model: Doc) -> float:
    """Parameters that work on one token."""
    total = float(models.parameter_count(model) or 8e9)
    found = _ACTIVE_IN_NAME.search(str(model.get("name", "")).rsplit("/", 1)[-1].lower())
    if found:
        return min(total, float(found[1].replace("p", ".")) * 1e9)
    return total * _ACTIVE_SHARE if model.get("baseModelDetails", {}).get("moe") else total


def model_size(model: Doc, precision: str, context: int) -> ModelSize:
    """Bytes and FLOPs of a model as served; the KV cache by a rule of thumb from its size."""
    total = float(models.parameter_count(model) or 8e9)
    active = active_parameters(model)
    bits = models.BITS.get(precision, 8)
    kv = _KV_8B * (total / 8e9) ** 0.4
    return ModelSize(total * bits / 8, active * bits / 8, active, kv, context)


@lru_cache(maxsize=256)
def _speed(name: str, count: int, size: ModelSize, bits: int) -> Speed:
    gpu = _DEVICES.get(name, _DEVICES["NVIDIA_H100_80GB"])
    device = Device(gpu.visible_bytes, gpu.bandwidth_gb_s * 1e9, gpu.tflops(bits) * 1e12)
    return replica_speed(size, device, count)


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
    size = model_size(model, precision, context_of(deployment, model))
    return _speed(name, max(1, int(count)), size, models.BITS.get(precision, 8))


def drafter_of(deployment: Doc | None, knobs: Knobs) -> Drafter | None:
    """What drafts tokens on this deployment. Raises KnobError on a malformed acceptance."""
    if deployment is None:
        return None
    tokens, ngram = deployment.get("draftTokenCount", 0), deployment.get("ngramSpeculationLength", 0)
    if not tokens or not (ngram or deployment.get("draftModel")):
        return None
    if ngram:
        return Drafter(tokens, ngram, cost=0.0)
    return Drafter(tokens, 0, _acceptance(knobs["acceptance"]), _DRAFT_COST)


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
