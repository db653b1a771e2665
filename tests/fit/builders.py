"""Small model configs and questions about them."""

from __future__ import annotations

from typing import Any

from fwctl.fit.architecture import Architecture, CacheKind, CacheLayers, Kind, Tensor
from fwctl.fit.check import check
from fwctl.fit.options import fit_request_from_options
from fwctl.fit.parse import architecture_from_config
from fwctl.fit.result import FitResult


def config(**changes: Any) -> dict[str, Any]:
    """A Llama of 4 layers, 8 heads × 16, 2 KV heads; None removes a field."""
    values = {
        "model_type": "llama",
        "num_hidden_layers": 4,
        "hidden_size": 128,
        "intermediate_size": 512,
        "num_attention_heads": 8,
        "num_key_value_heads": 2,
        "vocab_size": 1000,
        "max_position_embeddings": 4096,
        **changes,
    }
    return {key: value for key, value in values.items() if value is not None}


def model(**changes: Any) -> Architecture:
    return architecture_from_config(config(**changes))


def ask(values: dict[str, Any] | None = None, **options: Any) -> FitResult:
    """A check on one H100 under the vLLM policy unless the options say otherwise."""
    return check(
        fit_request_from_options(
            **{
                "config": config() if values is None else values,
                "accelerator": "H100",
                "count": 1,
                "precision": "BF16",
                "context_tokens": 1024,
                "concurrency": 1,
                "engine": "vllm",
                **options,
            }
        )
    )


def caches(architecture: Architecture, kind: CacheKind) -> list[CacheLayers]:
    return [cache for cache in architecture.caches if cache.kind is kind]


def tensors(architecture: Architecture, kind: Kind) -> list[Tensor]:
    return [tensor for tensor in architecture.tensors if tensor.kind is kind]


def elements(architecture: Architecture, *kinds: Kind) -> int:
    return sum(tensor.elements for tensor in architecture.tensors if tensor.kind in kinds)
