"""The answer, in bytes and conversations, with its stable JSON form."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, NamedTuple

from fwctl.fit.engines import Band


class Verdict(StrEnum):
    FITS = "fits"
    TIGHT = "tight"
    DOES_NOT_FIT = "does-not-fit"
    UNKNOWN = "unknown"


class Evidence(StrEnum):
    """Where the figures come from, best first."""

    MEASURED = "measured"
    HEADERS = "headers"
    CONFIG = "config"
    PARAMETERS = "parameter count"
    ASSUMED = "assumed"


class Alternative(NamedTuple):
    """A change that would fit. changes: what differs, in words."""

    accelerator: str
    accelerator_count: int
    precision: str
    kv_precision: str
    shape: str | None
    max_concurrency: Band
    usd_per_hour: float | None
    changes: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        return {
            "accelerator": self.accelerator,
            "accelerator_count": self.accelerator_count,
            "precision": self.precision,
            "kv_precision": self.kv_precision,
            "shape": self.shape,
            "max_concurrency": self.max_concurrency.to_json(),
            "usd_per_hour": self.usd_per_hour,
            "changes": list(self.changes),
        }


class FitResult(NamedTuple):
    """Bytes are per GPU unless the name says total. In a band, low is the pessimistic end.

    parts: what fills a GPU, in order, for a memory bar. explain: each formula with the numbers put in.
    None stands for what is not known.
    """

    name: str | None
    model: str
    accelerator: str
    accelerator_count: int
    precision: str
    kv_precision: str
    engine: str
    context_tokens: int
    concurrency: float
    verdict: Verdict
    evidence: Evidence
    weights_bytes_per_gpu: float | None = None
    weights_bytes_total: float | None = None
    padding_bytes_per_gpu: float = 0.0
    state_bytes_per_sequence_per_gpu: float | None = None
    kv_bytes_per_token_per_gpu: float | None = None
    kv_bytes_per_token_total: float | None = None
    kv_bytes_per_sequence_per_gpu: float | None = None
    usable_bytes_per_gpu: float | None = None
    overhead: Band | None = None
    kv_pool: Band | None = None
    max_concurrency: Band | None = None
    p50_concurrency: Band | None = None
    kv_cache_tokens: Band | None = None
    max_context_tokens: int | None = None
    assumed: tuple[str, ...] = ()
    reasons: tuple[str, ...] = ()
    roofline: dict[str, Any] | None = None
    alternatives: tuple[Alternative, ...] = ()
    parts: tuple[tuple[str, float], ...] = ()
    explain: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The stable object of docs/json.md."""
        return {
            "name": self.name,
            "model": self.model,
            "accelerator": self.accelerator,
            "accelerator_count": self.accelerator_count,
            "precision": self.precision,
            "kv_precision": self.kv_precision,
            "engine": self.engine,
            "context_tokens": self.context_tokens,
            "concurrency": self.concurrency,
            "weights_bytes_per_gpu": _whole(self.weights_bytes_per_gpu),
            "weights_bytes_total": _whole(self.weights_bytes_total),
            "padding_bytes_per_gpu": _whole(self.padding_bytes_per_gpu),
            "state_bytes_per_sequence_per_gpu": _whole(self.state_bytes_per_sequence_per_gpu),
            "kv_bytes_per_token_per_gpu": _whole(self.kv_bytes_per_token_per_gpu),
            "kv_bytes_per_token_total": _whole(self.kv_bytes_per_token_total),
            "kv_bytes_per_sequence_per_gpu": _whole(self.kv_bytes_per_sequence_per_gpu),
            "usable_bytes_per_gpu": _whole(self.usable_bytes_per_gpu),
            "overhead_bytes_per_gpu": _whole_band(self.overhead),
            "kv_pool_bytes_per_gpu": _whole_band(self.kv_pool),
            "max_concurrency": None if self.max_concurrency is None else self.max_concurrency.to_json(),
            "max_concurrency_p50": None if self.p50_concurrency is None else self.p50_concurrency.to_json(),
            "kv_cache_tokens": _whole_band(self.kv_cache_tokens),
            "max_context_tokens": self.max_context_tokens,
            "verdict": self.verdict.value,
            "evidence": self.evidence.value,
            "assumed": list(self.assumed),
            "reasons": list(self.reasons),
            "roofline": self.roofline,
            "alternatives": [alternative.to_json() for alternative in self.alternatives],
            "memory": [{"part": part, "bytes": _whole(size)} for part, size in self.parts],
            "explain": list(self.explain),
            "sources": list(self.sources),
        }


def _whole(value: float | None) -> int | None:
    return None if value is None else round(value)


def _whole_band(band: Band | None) -> dict[str, int] | None:
    if band is None:
        return None
    return {"low": round(band.low), "mid": round(band.mid), "high": round(band.high)}
