"""Ctrl-C in two steps: the first stops the start of new work, the second kills what is running."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from fwctl.env import Clock
from fwctl.exitcodes import Exit

_SLICE_S = 0.2  # a sleep is cut into these, so that Ctrl-C is answered at once


class Interrupt:
    """`stop`: start nothing more. `kill`: end the running firectl calls too."""

    def __init__(self) -> None:
        self.stop = threading.Event()
        self.kill = threading.Event()
        self.exit_code = Exit.INTERRUPTED

    def request(self, signal_number: int = signal.SIGINT) -> None:
        """One press of Ctrl-C, or one SIGTERM."""
        if signal_number == signal.SIGTERM:
            self.exit_code = Exit.TERMINATED
        if self.stop.is_set():
            self.kill.set()
        self.stop.set()

    def sleep(self, clock: Clock, seconds: float) -> None:
        """Sleeps on the clock and returns early once a stop is requested."""
        end = clock.monotonic() + seconds
        while not self.stop.is_set():
            left = end - clock.monotonic()
            if left <= 0:
                return
            clock.sleep(min(left, _SLICE_S))

    @contextmanager
    def installed(self) -> Iterator[None]:
        """Turns SIGINT and SIGTERM into `request` while the block runs (main thread only)."""

        def handle(number: int, frame: FrameType | None) -> None:  # noqa: ARG001
            self.request(number)

        before = {number: signal.signal(number, handle) for number in (signal.SIGINT, signal.SIGTERM)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
