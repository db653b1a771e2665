"""Durations, sizes and money as people and Go programs write them."""

from __future__ import annotations

import re

GIB = 2**30
GB = 10**9

_UNIT_SECONDS = {
    "ns": 1e-9,
    "us": 1e-6,
    "µs": 1e-6,
    "ms": 1e-3,
    "s": 1.0,
    "m": 60.0,
    "h": 3600.0,
    "d": 86400.0,
}
_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ns|us|µs|ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:[0-9]+(?:\.[0-9]+)?(?:ns|us|µs|ms|s|m|h|d))+")
_LONGEST_S = 2**63 / 1e9  # Go counts nanoseconds in an int64: about 292 years


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `90s`, `5m`, `1h30m`, `5m0s`, `7d` or `0`.

    Raises ValueError on anything else, a number without a unit included (except 0).
    """
    text = text.strip()
    if text == "0":
        return 0.0
    if not _WHOLE.fullmatch(text):
        raise ValueError(
            f"{text[:40]!r} is not a duration; write a number with a unit, for example 30s, 5m or 1h30m"
        )
    total = sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))
    if not total < _LONGEST_S:
        raise ValueError(f"{text[:40]!r} is too long for a duration")
    return total


def format_duration(seconds: float) -> str:
    """Go's spelling of a duration: `30s`, `5m0s`, `1h0m0s`; firectl prints and accepts this form.

    Under a second it is `0.3s` where Go prints `300ms`, which Go reads just as well.
    """
    nanoseconds = round(abs(seconds) * 1e9)
    whole, rest = divmod(nanoseconds, 10**9)
    hours, whole = divmod(whole, 3600)
    minutes, secs = divmod(whole, 60)
    fraction = f".{rest:09}".rstrip("0").rstrip(".")
    sign = "-" if seconds < 0 and nanoseconds else ""
    if hours:
        return f"{sign}{hours}h{minutes}m{secs}{fraction}s"
    if minutes:
        return f"{sign}{minutes}m{secs}{fraction}s"
    return f"{sign}{secs}{fraction}s"


def short_duration(seconds: float) -> str:
    """The shortest exact spelling for people: `5m`, `1h30m`, `45s`."""
    text = format_duration(seconds)
    text = re.sub(r"(?<=[hm])0s$", "", text)
    return re.sub(r"(?<=h)0m$", "", text)


def format_gib(size_bytes: float) -> str:
    """Binary gibibytes with two decimals, for example `69.54 GiB`."""
    return f"{size_bytes / GIB:.2f} GiB"


def counted(number: int, noun: str) -> str:
    """`1 prompt`, `1,200 prompts`; the noun is one that takes an s."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def format_usd(amount: float | None, per: str = "") -> str:
    """Dollars with two decimals; `unknown` when the price is not known."""
    if amount is None:
        return "unknown"
    sign = "-" if round(amount, 2) < 0 else ""
    return f"{sign}${abs(amount):,.2f}{per}"
