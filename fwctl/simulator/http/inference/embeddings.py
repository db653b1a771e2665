"""Embeddings: unit vectors from hashed words, so that texts sharing words lie near each other."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import Any

from fwctl.simulator.http.engine.fields import RequestError
from fwctl.simulator.http.engine.seeds import rng
from fwctl.simulator.http.engine.tokens import Tokenizer

DEFAULT_DIMENSIONS = 768
_MOST_DIMENSIONS = 8192
_WORD = re.compile(r"\w+")
# Vectors of words are drawn once.
_MEMORY = 20_000


class Embedder:
    def __init__(self, tokenizer: Tokenizer) -> None:
        self._tokenizer = tokenizer
        self._words: dict[tuple[str, int], list[float]] = {}

    def _word(self, word: str, dimensions: int) -> list[float]:
        key = (word, dimensions)
        found = self._words.get(key)
        if found is None:
            draw = rng("embedding", word)
            found = [draw.gauss(0, 1) for _ in range(dimensions)]
            if len(self._words) < _MEMORY:
                self._words[key] = found
        return found

    def vector(self, text: str, dimensions: int) -> list[float]:
        """The sum of the vectors of the words, of length 1."""
        words = _WORD.findall(text.lower()) or [text]
        total = [math.fsum(parts) for parts in zip(*(self._word(w, dimensions) for w in words), strict=True)]
        norm = math.sqrt(math.fsum(value * value for value in total)) or 1.0
        return [value / norm for value in total]

    def answer(self, body: dict[str, Any], model: str) -> dict[str, Any]:
        """The answer to `{input, dimensions?}`. Raises RequestError."""
        inputs = self._inputs(body.get("input"))
        dimensions = body.get("dimensions", DEFAULT_DIMENSIONS)
        if (
            isinstance(dimensions, bool)
            or not isinstance(dimensions, int)
            or not 0 < dimensions <= _MOST_DIMENSIONS
        ):
            raise RequestError(f"dimensions must be between 1 and {_MOST_DIMENSIONS}", "dimensions")
        if body.get("encoding_format", "float") != "float":
            raise RequestError("encoding_format must be float", "encoding_format")
        tokens = sum(len(self._tokenizer.split(text)) for text in inputs)
        return {
            "object": "list",
            "model": model,
            "data": [
                {"object": "embedding", "index": i, "embedding": self.vector(text, dimensions)}
                for i, text in enumerate(inputs)
            ],
            "usage": {"prompt_tokens": tokens, "total_tokens": tokens},
        }

    def _inputs(self, given: Any) -> Sequence[str]:
        if isinstance(given, str):
            return [given]
        if isinstance(given, list) and given and all(isinstance(text, str) for text in given):
            return given
        if isinstance(given, list) and given and all(isinstance(n, int) for n in given):
            return [self._tokenizer.text_of(given)]
        raise RequestError("input must be a string, a list of strings or token IDs", "input")
