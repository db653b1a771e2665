"""A firectl of a few lines of shell, so that tests start real processes."""

from __future__ import annotations

import io
import os
from datetime import UTC, datetime
from pathlib import Path

from fwctl.env import Env
from fwctl.firectl.client import Firectl
from fwctl.firectl.retry import RetryPolicy
from fwctl.firectl.runner import Runner
from fwctl.process import Graces

SAMPLES = Path(__file__).parent.parent / "data" / "samples"
GRACES = Graces(interrupt_s=0.2, terminate_s=0.2, pipe_s=0.1)
STEADY = RetryPolicy(jitter=lambda: 0.0)
KEY = "fw_canary_key_0123456789"


class FakeClock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.slept: list[float] = []

    def now(self) -> datetime:
        return datetime(2026, 12, 1, tzinfo=UTC)

    def monotonic(self) -> float:
        return sum(self.slept)

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)


def sample(name: str) -> str:
    return (SAMPLES / name).read_text(encoding="utf-8")


def make_env(tmp_path: Path, **variables: str) -> Env:
    """An environment with its own home, cache and folder for private files below tmp_path."""
    environ = {
        "PATH": os.environ.get("PATH", ""),
        "HOME": str(tmp_path / "home"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
        "XDG_RUNTIME_DIR": str(tmp_path / "runtime"),
        "FIREWORKS_API_KEY": KEY,
        **variables,
    }
    streams = [io.StringIO() for _ in range(3)]
    return Env(environ, tmp_path, streams[0], streams[1], streams[2], clock=FakeClock())


def script(tmp_path: Path, body: str, name: str = "firectl") -> Path:
    """An executable shell script; `$LOG` names a file to which it may write what it was asked."""
    path = tmp_path / name
    path.write_text(f"#!/bin/sh\nLOG={tmp_path}/log\n{body}\n")
    path.chmod(0o755)
    return path


def calls_of(tmp_path: Path) -> list[str]:
    log = tmp_path / "log"
    return log.read_text().splitlines() if log.exists() else []


def make_runner(
    tmp_path: Path, body: str, *, variables: dict[str, str] | None = None, **options: object
) -> Runner:
    env = make_env(tmp_path, **(variables or {}))
    options = {"timeout_s": 20.0, "graces": GRACES, **options}
    return Runner([str(script(tmp_path, body))], "acme", env, **options)  # type: ignore[arg-type]


def make_client(tmp_path: Path, body: str, **options: object) -> Firectl:
    return Firectl(make_runner(tmp_path, body, **options), retry=STEADY)  # type: ignore[arg-type]
