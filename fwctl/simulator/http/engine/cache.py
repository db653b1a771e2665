"""The prompt cache of one replica: which leading blocks of a prompt it has seen."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence

BLOCK_TOKENS = 16


class PrefixCache:
    """Least recently used blocks go first. Blocks of different isolation keys never match."""

    def __init__(self, capacity_tokens: int) -> None:
        self._capacity = max(1, capacity_tokens // BLOCK_TOKENS)
        self._blocks: OrderedDict[int, None] = OrderedDict()

    def lookup(self, pieces: Sequence[str], isolation: str) -> int:
        """Tokens of the prompt that the cache holds; the prompt is entered. At least one token is always
        left to compute.
        """
        matched, key = 0, hash(isolation)
        unbroken = True
        for start in range(0, len(pieces) - BLOCK_TOKENS + 1, BLOCK_TOKENS):
            key = hash((key, tuple(pieces[start : start + BLOCK_TOKENS])))
            if key in self._blocks:
                self._blocks.move_to_end(key)
                matched += BLOCK_TOKENS * unbroken
            else:
                unbroken = False
                self._blocks[key] = None
        while len(self._blocks) > self._capacity:
            self._blocks.popitem(last=False)
        return min(matched, max(0, len(pieces) - 1))

    def clear(self) -> None:
        self._blocks.clear()
