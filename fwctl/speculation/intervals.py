"""Projected speed-ups with intervals, from the counts of a replay. Pure; random numbers have a fixed seed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate
from math import exp, log, sqrt
from operator import itemgetter
from random import Random
from statistics import NormalDist

from fwctl.speculation.arithmetic import Costs
from fwctl.speculation.verify import Histogram, Spent
from fwctl.stats.quantiles import quantile_sorted

CONFIDENCE = 0.95
RESAMPLES = 2000
SEED = 1
MIN_GROUPS = 8  # fewer conversations carry no interval worth a decision


@dataclass(frozen=True, slots=True)
class Interval:
    """A projected speed-up; low and high are None with fewer than MIN_GROUPS groups of conversations."""

    value: float
    low: float | None
    high: float | None

    def to_json(self) -> dict[str, float | None]:
        return {"value": self.value, "low": self.low, "high": self.high}


def cost(spent: Spent, costs: Costs) -> float:
    """Time in plain passes."""
    return spent.passes + costs.verify * (spent.free + spent.paid) + costs.draft * spent.paid


def gain(rows: Sequence[Spent], costs: Costs) -> float:
    """Speed-up over all groups together: the ratio of the sums, so that long answers count as they last."""
    return sum(row.tokens for row in rows) / sum(cost(row, costs) for row in rows)


def break_even_verify_cost(rows: Sequence[Spent], costs: Costs) -> float | None:
    """The cost of verifying a token at which the gain is gone; None when nothing was drafted.

    Verification costs more the fuller the batches are, so this says how much load the gain survives.
    """
    drafted = sum(row.free + row.paid for row in rows)
    saved = sum(row.tokens - row.passes - costs.draft * row.paid for row in rows)
    return max(0.0, saved / drafted) if drafted else None


def interval(rows: Sequence[Spent], costs: Costs, confidence: float = CONFIDENCE) -> Interval:
    """Bootstrap over groups of conversations: percentiles of the logarithm, widened for few groups.

    The widening is that of Student's t against the normal distribution (first term of the expansion,
    Abramowitz and Stegun 26.7.5) and of the root of n / (n - 1), since percentiles are too narrow.
    """
    value, count = gain(rows, costs), len(rows)
    if count < MIN_GROUPS:
        return Interval(value, None, None)
    tokens, spent = [row.tokens for row in rows], [cost(row, costs) for row in rows]
    logs = sorted(log(sum(draw(tokens)) / sum(draw(spent))) for draw in _draws(count))
    z = NormalDist().inv_cdf((1 + confidence) / 2)
    wider = (1 + (z * z + 1) / (4 * (count - 1))) * sqrt(count / (count - 1))
    middle = log(value)
    low, high = (quantile_sorted(logs, q) - middle for q in ((1 - confidence) / 2, (1 + confidence) / 2))
    return Interval(value, exp(middle + min(low, 0.0) * wider), exp(middle + max(high, 0.0) * wider))


@lru_cache(maxsize=8)
def _draws(count: int) -> tuple[Callable[[Sequence[float]], tuple[float, ...]], ...]:
    """The same resamples of `count` groups for every source, so that they are compared like with like."""
    random, groups = Random(SEED), range(count)  # noqa: S311 - reproducible resampling, not a secret
    return tuple(itemgetter(*random.choices(groups, k=count)) for _ in range(RESAMPLES))


def acceptance(histogram: Histogram) -> list[float]:
    """Share of passes whose positions 1..i were all accepted, for i from 1 to k; 1 + its sum is E.

    Passes in which the source drafted nothing count too.
    """
    total = sum(histogram.accepted)
    behind = list(accumulate(reversed(histogram.accepted[1:])))
    return [count / total for count in reversed(behind)] if total else []
