"""Exact binomial arithmetic, the tests built on it, and intervals of proportions."""

from __future__ import annotations

from math import erfc, exp, lgamma, log, log1p, sqrt
from statistics import NormalDist

# Relative slack when outcomes of equal probability are compared, as R's binom.test does it.
_SLACK = 1 + 1e-7


def z_value(probability: float) -> float:
    """The standard normal quantile: 1.96 for 0.975."""
    return NormalDist().inv_cdf(probability)


def pmf(successes: int, n: int, p: float) -> float:
    """Probability of exactly `successes` out of `n`."""
    if not 0 <= successes <= n:
        return 0.0
    if p in (0.0, 1.0):
        return float(successes == n * p)
    ways = lgamma(n + 1) - lgamma(successes + 1) - lgamma(n - successes + 1)
    return exp(ways + successes * log(p) + (n - successes) * log1p(-p))


def cdf(successes: int, n: int, p: float) -> float:
    """Probability of at most `successes` out of `n`."""
    return min(1.0, sum(pmf(k, n, p) for k in range(min(successes, n) + 1)))


def binomial_test(successes: int, n: int, p: float = 0.5) -> float:
    """Two-sided exact p-value: all outcomes no likelier than the observed one. 1.0 for n = 0."""
    if n == 0:
        return 1.0
    limit = pmf(successes, n, p) * _SLACK
    return min(1.0, sum(chance for k in range(n + 1) if (chance := pmf(k, n, p)) <= limit))


def mcnemar(only_base: int, only_candidate: int) -> float:
    """Exact McNemar p-value from the two counts of discordant pairs."""
    return binomial_test(only_base, only_base + only_candidate)


def wilson(successes: float, n: float, confidence: float = 0.95) -> tuple[float, float]:
    """Wilson's score interval of a proportion; (0, 1) for n = 0. Effective counts may have fractions.

    Source: Wilson 1927.
    """
    if n == 0:
        return 0.0, 1.0
    z = z_value((1 + confidence) / 2)
    share = successes / n
    centre = (share + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * sqrt(share * (1 - share) / n + z * z / (4 * n * n))
    return max(0.0, centre - half), min(1.0, centre + half)


def two_proportions(successes_a: int, n_a: int, successes_b: int, n_b: int) -> float:
    """Two-sided p-value of the pooled z test for two independent proportions; 1.0 without samples."""
    if not n_a or not n_b:
        return 1.0
    pooled = (successes_a + successes_b) / (n_a + n_b)
    spread = sqrt(pooled * (1 - pooled) * (1 / n_a + 1 / n_b))
    if not spread:
        return 1.0
    return erfc(abs(successes_a / n_a - successes_b / n_b) / spread / sqrt(2))
