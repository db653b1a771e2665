"""Shares and rates as a file writes them: `10%`, `10/s`, `p95`."""

from __future__ import annotations

import re

_SHARE = re.compile(r"(\d{1,3}(?:\.\d{1,6})?)\s?%", re.ASCII)
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)\s?/\s?(s|min)", re.ASCII)
_QUANTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,3})?)", re.ASCII)
_SECONDS = {"s": 1.0, "min": 60.0}


def share(text: str) -> float | None:
    """0.1 of `10%`; None when it is no share from 0 to 100 %."""
    found = _SHARE.fullmatch(text.strip())
    value = float(found.group(1)) / 100 if found else 2.0
    return value if value <= 1 else None


def per_second(text: str) -> float | None:
    """10.0 of `10/s`, 0.5 of `30/min`; None when it is no rate."""
    found = _RATE.fullmatch(text.strip())
    return float(found.group(1)) / _SECONDS[found.group(2)] if found else None


def quantile(text: str) -> float | None:
    """0.95 of `p95`; None when it is no quantile between 0 and 1."""
    found = _QUANTILE.fullmatch(text.strip())
    value = float(found.group(1)) / 100 if found else 0.0
    return value if 0 < value < 1 else None
