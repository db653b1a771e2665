"""Seeds: every answer and every delay is drawn from a generator named by what was asked."""

from __future__ import annotations

import hashlib
import random


def rng(*parts: object) -> random.Random:
    """A generator that depends on the parts alone: same parts, same draws, in every process."""
    digest = hashlib.blake2b(repr(parts).encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return random.Random(int.from_bytes(digest, "big"))  # noqa: S311
