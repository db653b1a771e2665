"""Embeddings of texts from an OpenAI-compatible server, over httpx."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from fwctl.errors import NetworkError
from fwctl.inference.client import Endpoint
from fwctl.inference.failures import from_status

BATCH = 64
ANSWER_LIMIT_BYTES = 64 * 2**20


def embed(texts: Sequence[str], model: str, endpoint: Endpoint) -> list[list[float]]:
    """One vector for each text, in order. Raises NetworkError when the server gives anything else."""
    import httpx

    headers = {"authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}
    timeouts = endpoint.timeouts
    phases = httpx.Timeout(timeouts.total_s, connect=timeouts.connect_s)
    found: list[list[float]] = []
    try:
        with httpx.Client(timeout=phases, headers=headers) as client:
            for start in range(0, len(texts), BATCH):
                part = list(texts[start : start + BATCH])
                url = endpoint.url.rstrip("/") + "/embeddings"
                answer = client.post(url, json={"model": model, "input": part})
                if failure := from_status(answer.status_code, answer.content[:ANSWER_LIMIT_BYTES]):
                    raise NetworkError(f"embeddings: {failure.message}")
                found += _vectors(answer.json(), len(part))
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        raise NetworkError(f"embeddings: the request failed ({type(error).__name__})") from None
    except (ValueError, RecursionError):
        raise NetworkError("embeddings: the answer is not JSON") from None
    return found


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """From -1 to 1; 0 when one of the vectors is null. Raises ValueError for different lengths."""
    product = sum(a * b for a, b in zip(left, right, strict=True))
    size = sqrt(sum(a * a for a in left) * sum(b * b for b in right))
    return product / size if size else 0.0


def _vectors(document: Any, count: int) -> list[list[float]]:
    rows = document.get("data") if isinstance(document, dict) else None
    if not isinstance(rows, list) or len(rows) != count or not all(isinstance(row, dict) for row in rows):
        raise NetworkError(f"embeddings: the server did not answer with {count} vectors")
    ordered = sorted(rows, key=lambda row: row["index"]) if all(_numbered(row) for row in rows) else rows
    vectors = [row.get("embedding") for row in ordered]
    if not all(_is_vector(vector) for vector in vectors) or len({len(vector) for vector in vectors}) > 1:
        raise NetworkError("embeddings: the vectors are not lists of numbers of one length")
    return vectors


def _numbered(row: dict[str, Any]) -> bool:
    return isinstance(row.get("index"), int)


def _is_vector(value: object) -> bool:
    return (
        isinstance(value, list)
        and bool(value)
        and all(isinstance(item, int | float) and not isinstance(item, bool) for item in value)
    )
