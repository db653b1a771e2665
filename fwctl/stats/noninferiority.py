"""Ruling out a loss of quality larger than a margin, from paired right/wrong answers."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, sqrt

from fwctl.stats.binomial import z_value


@dataclass(frozen=True, slots=True)
class NonInferiority:
    """`loss`: share of prompts lost, as a fraction; `upper`: its one-sided upper bound.

    `passed` only when the bound is below the margin: not seeing a regression is not ruling one out.
    """

    loss: float
    upper: float
    margin: float
    passed: bool
    n_pairs: float


def pairs_needed(margin: float, discordance: float, *, power: float = 0.8, alpha: float = 0.05) -> int:
    """Pairs that rule out a loss of `margin` when the arms differ on a share `discordance` of prompts.

    n = (z_alpha + z_power)^2 * discordance / margin^2 for equal arms and a one-sided alpha.
    Raises ValueError for shares outside (0, 1].
    """
    if not 0 < margin <= 1 or not 0 < discordance <= 1:
        raise ValueError("margin and discordance are shares between 0 and 1")
    reach = z_value(1 - alpha) + z_value(power)
    return ceil(reach * reach * discordance / (margin * margin))


def smallest_margin(n_pairs: int, discordance: float, *, power: float = 0.8, alpha: float = 0.05) -> float:
    """The smallest loss that `n_pairs` can rule out, as a fraction; 1.0 without pairs."""
    if n_pairs <= 0:
        return 1.0
    return min(1.0, (z_value(1 - alpha) + z_value(power)) * sqrt(discordance / n_pairs))


def assess(
    n_pairs: float, only_base: float, only_candidate: float, *, margin: float, alpha: float = 0.05
) -> NonInferiority:
    """Judge by Tango's score bound, which stays right with few or no discordant pairs.

    `only_base`: prompts that only the base answered right. The counts may be effective ones, with
    fractions. Source: Tango 1998, Statistics in Medicine 17.
    """
    if n_pairs <= 0:
        return NonInferiority(0.0, 1.0, margin, False, 0)
    loss = (only_base - only_candidate) / n_pairs
    z = z_value(1 - alpha)
    low, high = loss, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        if _score(n_pairs, only_base, only_candidate, middle) > -z:
            low = middle
        else:
            high = middle
    return NonInferiority(loss, high, margin, high < margin, n_pairs)


def _score(n: float, b: float, c: float, delta: float) -> float:
    """Tango's statistic for a true difference `delta`, with the restricted estimate of the c cell."""
    first = 2 * n
    second = -b - c + (2 * n - b + c) * delta
    third = -c * delta * (1 - delta)
    cell = (sqrt(max(0.0, second * second - 4 * first * third)) - second) / (2 * first)
    spread = n * (2 * cell + delta * (1 - delta))
    return (b - c - n * delta) / sqrt(spread) if spread > 0 else 0.0
