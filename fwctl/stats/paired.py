"""Comparing two arms that answered the same prompts: ratio of quantiles, with a verdict."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import ceil, log, sqrt
from random import Random

from fwctl.stats.quantiles import quantile, quantile_sorted, samples_needed
from fwctl.stats.resample import Arm, Pairs, drawn_clusters

MOST_PAIRS = 5000
FEWEST_CLUSTERS = 6  # resampling fewer prompts says little about others


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


@dataclass(frozen=True, slots=True)
class _Limits:
    tolerance: float
    confidence: float


def compare(
    pairs: Sequence[tuple[float, float]],
    q: float,
    *,
    tolerance: float = 0.10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 1,
) -> Ratio:
    """Judge pairs (base, candidate) of a metric where lower is better, each of a prompt of its own.

    `tolerance` is the relative difference that counts as no difference: 0.10 is 10 %.
    """
    one = Pairs([item[0] for item in pairs], [item[1] for item in pairs], range(len(pairs)))
    found = compare_all(
        {"": one}, (q,), tolerance=tolerance, confidence=confidence, resamples=resamples, seed=seed
    )
    return found["", q]


def compare_all(
    series: Mapping[str, Pairs],
    quantiles: Sequence[float],
    *,
    tolerance: float = 0.10,
    confidence: float = 0.95,
    resamples: int = 1000,
    seed: int = 1,
) -> dict[tuple[str, float], Ratio]:
    """Judge every quantile of every metric, lower is better; the cluster of a pair is its prompt.

    A prompt is drawn as a whole with its repeats, so that what it adds to both arms cancels out and
    repeats do not count as new prompts. Of more than 5,000 pairs a sample is resampled and the interval
    narrowed by the root of the share.
    """
    samples = {name: _sample(pairs, seed) for name, pairs in series.items()}
    arms = {
        name: (Arm(pairs.base, pairs.clusters), Arm(pairs.candidate, pairs.clusters))
        for name, pairs in samples.items()
    }
    n_clusters = 1 + max((max(pairs.clusters, default=-1) for pairs in samples.values()), default=-1)
    drawn: dict[tuple[str, float], list[float]] = {(name, q): [] for name in arms for q in quantiles}
    for weights in drawn_clusters(n_clusters, resamples, seed):
        for name, (base, candidate) in arms.items():
            both = zip(
                quantiles,
                base.quantiles(weights, quantiles),
                candidate.quantiles(weights, quantiles),
                strict=True,
            )
            for q, first, second in both:
                if first > 0:
                    drawn[name, q].append(second / first)
    return {
        (name, q): _ratio(series[name], samples[name], q, sorted(ratios), _Limits(tolerance, confidence))
        for (name, q), ratios in drawn.items()
    }


def _sample(pairs: Pairs, seed: int) -> Pairs:
    """At most MOST_PAIRS pairs of whole clusters, in random order of clusters."""
    if len(pairs) <= MOST_PAIRS:
        return pairs
    random = Random(seed)  # noqa: S311 - reproducible, not a secret
    share = MOST_PAIRS / len(pairs)
    kept = {cluster for cluster in sorted(set(pairs.clusters)) if random.random() < share}
    rows = [at for at, cluster in enumerate(pairs.clusters) if cluster in kept]
    number = {cluster: at for at, cluster in enumerate(sorted(kept))}
    return Pairs(
        [pairs.base[at] for at in rows],
        [pairs.candidate[at] for at in rows],
        [number[pairs.clusters[at]] for at in rows],
    )


def _ratio(pairs: Pairs, sample: Pairs, q: float, ratios: Sequence[float], limits: _Limits) -> Ratio:
    n = len(pairs)
    missing = _too_few(pairs, q, limits.confidence)
    base = quantile(pairs.base, q) if n else 0.0
    if missing is not None or base <= 0 or not ratios:
        return Ratio(None, None, None, Verdict.INCONCLUSIVE, n, missing or n + 1)
    value = quantile(pairs.candidate, q) / base
    low = quantile_sorted(ratios, (1 - limits.confidence) / 2)
    high = quantile_sorted(ratios, (1 + limits.confidence) / 2)
    if sample is not pairs:
        centre, shrink = quantile(sample.candidate, q) / quantile(sample.base, q), sqrt(len(sample) / n)
        low, high = value * (low / centre) ** shrink, value * (high / centre) ** shrink
    verdict = _verdict(low, high, limits.tolerance)
    needed = _needed(n, low, high, limits.tolerance) if verdict is Verdict.INCONCLUSIVE else None
    return Ratio(value, low, high, verdict, n, needed)


def _too_few(pairs: Pairs, q: float, confidence: float) -> int | None:
    """Pairs that it takes, when there are too few of them or of their prompts; else None."""
    n, least = len(pairs), samples_needed(q, confidence)
    clusters, fewest = len(set(pairs.clusters)), max(FEWEST_CLUSTERS, ceil(least / 4))
    if n >= least and clusters >= fewest:
        return None
    return max(least, ceil(fewest * n / clusters) if 0 < clusters < fewest else 0)


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
