"""Nearness of meaning, by the embeddings of a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from fwctl.errors import NetworkError
from fwctl.inference.embeddings import cosine, embed
from fwctl.quality.graders.means import Means
from fwctl.quality.model import Item, Mark, Spec

# Depends on the embedding model; calibrate it on answers known to be right and wrong.
THRESHOLD = 0.8


def check(spec: Spec, response_format: object) -> str | None:  # noqa: ARG001 - all graders share it
    if not _wanted(spec):
        return "`expected` is a text or a list of texts, none of them empty"
    if not -1 <= spec.options.get("threshold", THRESHOLD) <= 1:
        return "`threshold` is a cosine, from -1 to 1"
    return None


def grade(items: Sequence[Item], means: Means) -> Iterator[Mark]:
    """The nearest of several expected texts counts. A server that fails leaves answers ungraded."""
    assert means.embeddings is not None
    texts = list(dict.fromkeys(text for item in items for text in (item.text, *_wanted(item.spec))))
    try:
        vectors = embed(texts, means.embeddings.model, means.embeddings.endpoint)
    except NetworkError as error:
        yield from (Mark(None, None, error.message) for _ in items)
        return
    by_text = dict(zip(texts, vectors, strict=True))
    for item in items:
        near = max(cosine(by_text[item.text], by_text[text]) for text in _wanted(item.spec))
        limit = item.spec.options.get("threshold", THRESHOLD)
        note = None if near >= limit else f"cosine {near:.3f}, below {limit:g}"
        yield Mark(near >= limit, max(0.0, near), note)


def _wanted(spec: Spec) -> list[str]:
    texts = spec.expected if isinstance(spec.expected, list) else [spec.expected]
    return texts if all(isinstance(text, str) and text.strip() for text in texts) else []
