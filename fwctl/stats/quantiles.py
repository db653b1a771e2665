"""Quantiles of raw values and their order-statistic intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, floor, log, sqrt
from typing import Any

from fwctl.stats.binomial import pmf


@dataclass(frozen=True, slots=True)
class Estimate:
    """A quantile with a two-sided interval, or None for all three when `n` is below `n_needed`."""

    value: float | None
    low: float | None
    high: float | None
    n: int
    n_needed: int

    def to_json(self) -> dict[str, Any]:
        """Keys as in summary.json."""
        return {
            "value": self.value,
            "low": self.low,
            "high": self.high,
            "n": self.n,
            "n_needed": self.n_needed,
        }

    def __str__(self) -> str:
        if self.value is None:
            return f"n/a (n={self.n}, needs {self.n_needed})"
        return f"{self.value:.3f} [{self.low:.3f}, {self.high:.3f}]"


def quantile_sorted(ordered: Sequence[float], q: float) -> float:
    """Type-7 quantile (numpy's and R's default) of ascending values. Raises ValueError when empty."""
    if not ordered:
        raise ValueError("a quantile needs at least one value")
    place = (len(ordered) - 1) * q
    below = floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (ordered[above] - ordered[below]) * (place - below)


def quantile(values: Sequence[float], q: float) -> float:
    """Type-7 quantile of values in any order."""
    return quantile_sorted(sorted(values), q)


def samples_needed(q: float, confidence: float = 0.95) -> int:
    """Fewest samples for which a finite two-sided, equal-tailed interval of the quantile exists."""
    return ceil(log((1 - confidence) / 2) / log(max(q, 1 - q)))


def interval_ranks(n: int, q: float, confidence: float = 0.95) -> tuple[int, int] | None:
    """Ranks (from 1) of the order statistics that enclose the quantile, or None with too few samples.

    The interval holds for any distribution: the number of values below the quantile is binomial.
    Source: David and Nagaraja, Order Statistics, section 7.1.
    """
    tail = (1 - confidence) / 2
    low = high = 0
    below = 0.0
    # Nine standard deviations below the place the binomial has less than 1e-18 of its mass.
    start = max(1, floor(n * q - 9 * sqrt(n * q * (1 - q))))
    for rank in range(start, n + 1):
        # `below` is P(Bin(n, q) <= rank - 1), the chance that the quantile lies below value `rank`.
        below += pmf(rank - 1, n, q)
        if below <= tail:
            low = rank
        if below >= 1 - tail:
            high = rank
            break
    return (low, high) if low and high else None


def estimate(values: Sequence[float], q: float, confidence: float = 0.95) -> Estimate:
    """The quantile with its interval; without a value when the samples cannot carry an interval."""
    needed = samples_needed(q, confidence)
    ranks = interval_ranks(len(values), q, confidence)
    if ranks is None:
        return Estimate(None, None, None, len(values), needed)
    ordered = sorted(values)
    return Estimate(
        quantile_sorted(ordered, q), ordered[ranks[0] - 1], ordered[ranks[1] - 1], len(ordered), needed
    )
