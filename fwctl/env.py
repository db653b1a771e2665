"""What the outside world offers a command: clock, environment, folder, streams.

Everything that does I/O receives an `Env`, so tests hand in another one instead of patching globals.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Protocol, TextIO

from fwctl.errors import UsageError
from fwctl.redact import Redactor

FIREWORKS_KEY = "FIREWORKS_API_KEY"  # the variable; firectl and the inference API know it too


class Clock(Protocol):
    """Time as fwctl sees it; tests replace it by one that does not sleep."""

    def now(self) -> datetime:
        """Current time, aware, in UTC."""

    def monotonic(self) -> float:
        """Seconds on a clock that never goes back."""

    def sleep(self, seconds: float) -> None: ...


class SystemClock:
    def now(self) -> datetime:
        return datetime.now(UTC)

    def monotonic(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        time.sleep(seconds)


@dataclass(slots=True)
class Env:
    """start_firectl: what takes the place of `process.run` for calls of firectl; None: nothing does."""

    environ: Mapping[str, str] = field(repr=False)
    cwd: Path
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    clock: Clock = field(default_factory=SystemClock)
    redactor: Redactor = field(default_factory=Redactor)
    start_firectl: Callable[..., Any] | None = None

    @classmethod
    def system(cls, cwd: Path | None = None) -> Env:
        """The real process environment; its API key is registered as a secret. cwd: by default the
        current folder.

        Raises UsageError when the current folder is gone.
        """
        try:
            folder = cwd or Path.cwd()
        except OSError as error:
            raise UsageError("the current folder does not exist any more", next_steps=["cd ~"]) from error
        env = cls(os.environ, folder, sys.stdin, sys.stdout, sys.stderr)
        env.redactor.register(env.environ.get(FIREWORKS_KEY))
        return env

    @property
    def interactive(self) -> bool:
        """True when a person can answer a question."""
        return _is_terminal(self.stdin) and _is_terminal(self.stderr)


def _is_terminal(stream: TextIO | None) -> bool:
    """False for a stream that is closed, too; Python has none at all for a closed descriptor."""
    return stream is not None and not stream.closed and stream.isatty()
