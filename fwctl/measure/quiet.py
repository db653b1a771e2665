"""The garbage collector, kept out of the way while stamps are taken."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager

COLLECT_EVERY = 20_000


@contextmanager
def quiet() -> Iterator[None]:
    """Everything that exists by now is set aside, and nothing is collected until the end."""
    enabled = gc.isenabled()
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield
    finally:
        gc.unfreeze()
        if enabled:
            gc.enable()


class Sweeper:
    """One short collection of what is new after this many requests, so that a long run does not grow."""

    def __init__(self, every: int = COLLECT_EVERY) -> None:
        self.every = every
        self.waiting = 0

    def count(self) -> None:
        """Call it when a request has ended."""
        self.waiting += 1
        if self.waiting >= self.every:
            self.waiting = 0
            gc.collect(1)
