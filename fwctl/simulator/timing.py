"""Simulated time and the two spellings of it: RFC 3339 instants and Go durations.

Seconds are floats: instants since the Unix epoch, durations as lengths.
"""

from __future__ import annotations

import re
import time
from datetime import UTC, datetime
from typing import NamedTuple

_GO_UNIT_S = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_GO_PART = re.compile(r"(\d+\.?\d*|\.\d+)(ns|us|µs|μs|ms|s|m|h)")
_GO_WHOLE = re.compile(r"[-+]?(?:(?:\d+\.?\d*|\.\d+)(?:ns|us|µs|μs|ms|s|m|h))+")
_GO_NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)")
_GO_UNKNOWN_UNIT = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)([^\d.]+)")


def parse_go_duration(text: str) -> float:
    """Seconds of a Go duration; ValueError carries the words of Go's time.ParseDuration."""
    if text in {"0", "+0", "-0"}:
        return 0.0
    if _GO_WHOLE.fullmatch(text):
        total = sum(float(number) * _GO_UNIT_S[unit] for number, unit in _GO_PART.findall(text))
        return -total if text.startswith("-") else total
    if _GO_NUMBER.fullmatch(text):
        raise ValueError(f'time: missing unit in duration "{text}"')
    unknown = _GO_UNKNOWN_UNIT.match(text)
    if unknown and unknown[1] not in _GO_UNIT_S:
        raise ValueError(f'time: unknown unit "{unknown[1]}" in duration "{text}"')
    raise ValueError(f'time: invalid duration "{text}"')


def format_go_duration(seconds: float) -> str:
    """Go's spelling: `30s`, `5m0s`, `1h0m0s`."""
    whole = int(abs(seconds))
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    fraction = f"{abs(seconds) - whole:.9f}".rstrip("0").rstrip(".")[1:]
    head = f"{hours}h{minutes}m" if hours else f"{minutes}m" if minutes else ""
    return f"{'-' if seconds < 0 else ''}{head}{secs}{fraction}s"


def wire_duration(seconds: float) -> str:
    """Protobuf JSON spelling of a duration: `300s`."""
    return f"{seconds:.9f}".rstrip("0").rstrip(".") + "s"


def parse_wire_duration(text: str) -> float:
    """Seconds of `300s` or `1.5s`; ValueError on anything else."""
    if not re.fullmatch(r"-?\d+(?:\.\d{1,9})?s", text):
        raise ValueError(f'invalid google.protobuf.Duration value "{text}"')
    return float(text[:-1])


def rfc3339(instant_s: float) -> str:
    """UTC with microseconds, as the platform writes it."""
    return datetime.fromtimestamp(instant_s, UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def parse_rfc3339(text: str) -> float:
    """Epoch seconds of an RFC 3339 instant or a `YYYY-MM-DD[ HH:MM:SS]` date in UTC."""
    parsed = datetime.fromisoformat(text)
    return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).timestamp()


def local_text(instant: str) -> str:
    """An RFC 3339 instant as firectl prints it: local time, no zone."""
    return datetime.fromtimestamp(parse_rfc3339(instant)).strftime("%Y-%m-%d %H:%M:%S")


def log_prefix(instant_s: float) -> str:
    """The prefix of Go's log package, in local time."""
    return datetime.fromtimestamp(instant_s).strftime("%Y/%m/%d %H:%M:%S")


class Anchor(NamedTuple):
    """Ties simulated to real time: at `real_s` it was `sim_s`, running `speed` times as fast."""

    real_s: float
    sim_s: float
    speed: float

    def at(self, real_s: float) -> float:
        return self.sim_s + (real_s - self.real_s) * self.speed


class Clock(NamedTuple):
    """Simulated time. With `fixed_s` set it stands still, and waiting moves `anchor.sim_s` on instead."""

    anchor: Anchor
    fixed_s: float | None = None

    def now(self) -> float:
        if self.fixed_s is not None:
            return self.fixed_s + self.anchor.sim_s
        return self.anchor.at(time.time())

    def real_seconds(self, sim_s: float) -> float:
        """Real seconds in which `sim_s` simulated ones pass; 0 on a fixed clock."""
        return 0.0 if self.fixed_s is not None else sim_s / self.anchor.speed
