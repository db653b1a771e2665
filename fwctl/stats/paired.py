"""Comparing two arms that answered the same prompts: ratio of quantiles, with a verdict."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log
from random import Random

from fwctl.stats.quantiles import quantile, quantile_sorted, samples_needed


class Verdict(StrEnum):
    """What a comparison shows. `SAME` means that a difference above the tolerance is ruled out."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    INCONCLUSIVE = "inconclusive"
    INVALID = "invalid"


@dataclass(frozen=True, slots=True)
class Ratio:
    """Quantile of the candidate over that of the base, with a bootstrap interval; lower is better.

    All None when there are too few pairs. `n_needed`: pairs that would give a verdict, None when there
    is one already.
    """

    value: float | None
    low: float | None
    high: float | None
    verdict: Verdict
    n_pairs: int
    n_needed: int | None


def bootstrap_ratios(
    pairs: Sequence[tuple[float, float]], q: float, *, resamples: int, seed: int
) -> list[float]:
    """Ascending ratios candidate/base of the quantile over resampled pairs.

    A pair is drawn as a whole, so that what a prompt adds to both arms cancels out.
    """
    random = Random(seed)  # noqa: S311 - reproducible resampling, not a secret
    ratios = []
    for _ in range(resamples):
        drawn = random.choices(pairs, k=len(pairs))
        base = quantile_sorted(sorted(item[0] for item in drawn), q)
        if base > 0:
            ratios.append(quantile_sorted(sorted(item[1] for item in drawn), q) / base)
    return sorted(ratios)


def compare(
    pairs: Sequence[tuple[float, float]],
    q: float,
    *,
    tolerance: float = 0.10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 1,
) -> Ratio:
    """Judge pairs (base, candidate) of a metric where lower is better.

    `tolerance` is the relative difference that counts as no difference: 0.10 is 10 %.
    """
    n = len(pairs)
    least = samples_needed(q, confidence)
    base = quantile([item[0] for item in pairs], q) if pairs else 0.0
    if n < least or base <= 0:
        return Ratio(None, None, None, Verdict.INCONCLUSIVE, n, max(least, n + 1))
    ratios = bootstrap_ratios(pairs, q, resamples=resamples, seed=seed)
    low = quantile_sorted(ratios, (1 - confidence) / 2)
    high = quantile_sorted(ratios, (1 + confidence) / 2)
    value = quantile([item[1] for item in pairs], q) / base
    verdict = _verdict(low, high, tolerance)
    needed = _needed(n, low, high, tolerance) if verdict is Verdict.INCONCLUSIVE else None
    return Ratio(value, low, high, verdict, n, needed)


def _verdict(low: float, high: float, tolerance: float) -> Verdict:
    """Ruling out a difference comes first: a real one of 1 % is still `same` under 10 %."""
    if low >= 1 / (1 + tolerance) and high <= 1 + tolerance:
        return Verdict.SAME
    if high < 1:
        return Verdict.BETTER
    return Verdict.WORSE if low > 1 else Verdict.INCONCLUSIVE


def _needed(n: int, low: float, high: float, tolerance: float) -> int:
    """Pairs at which the interval, shrinking with the root of n, is as wide as the tolerance."""
    half = (log(high) - log(low)) / 2 if low > 0 else log(1 + tolerance) * 2
    return max(n + 1, ceil(n * (half / log(1 + tolerance)) ** 2))
