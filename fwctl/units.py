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
_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h|d)")
_WHOLE = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h|d))+")


def parse_duration(text: str) -> float:
    """Seconds of a duration such as `90s`, `5m`, `1h30m`, `5m0s`, `7d` or `0`.

    Raises ValueError on anything else, a number without a unit included (except 0).
    """
    text = text.strip()
    if text == "0":
        return 0.0
    if not _WHOLE.fullmatch(text):
        raise ValueError(
            f"{text!r} is not a duration; write a number with a unit, for example 30s, 5m or 1h30m"
        )
    return sum(float(number) * _UNIT_SECONDS[unit] for number, unit in _PART.findall(text))


def format_duration(seconds: float) -> str:
    """Go's spelling of a duration: `30s`, `5m0s`, `1h0m0s`; firectl prints and accepts this form."""
    whole = int(seconds)
    hours, rest = divmod(whole, 3600)
    minutes, secs = divmod(rest, 60)
    fraction = f"{seconds - whole:.9f}".rstrip("0").rstrip(".")[1:] if seconds != whole else ""
    if hours:
        return f"{hours}h{minutes}m{secs}{fraction}s"
    if minutes:
        return f"{minutes}m{secs}{fraction}s"
    return f"{secs}{fraction}s"


def short_duration(seconds: float) -> str:
    """The shortest exact spelling for people: `5m`, `1h30m`, `45s`."""
    text = format_duration(seconds)
    text = re.sub(r"(?<=[hm])0s$", "", text)
    return re.sub(r"(?<=h)0m$", "", text)


def format_gib(size_bytes: float) -> str:
    """Binary gibibytes with two decimals, for example `69.54 GiB`."""
    return f"{size_bytes / GIB:.2f} GiB"


def format_usd(amount: float | None, per: str = "") -> str:
    """Dollars with two decimals; `unknown` when the price is not known."""
    if amount is None:
        return "unknown"
    sign = "-" if amount < 0 else ""
    return f"{sign}${abs(amount):,.2f}{per}"
