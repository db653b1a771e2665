"""Which requests of two runs belong together."""

from __future__ import annotations

from array import array
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from math import isnan

from fwctl.measure.arm import RunArm
from fwctl.measure.table import METRICS, SCHEDULED
from fwctl.stats.resample import Pairs

QUANTILES = (0.50, 0.95)


@dataclass(frozen=True, slots=True)
class Options:
    """How to compare. tolerance: relative difference that counts as none. floor: a run of the base
    against itself. expected: what was meant to differ."""

    tolerance: float = 0.10
    quantiles: Sequence[float] = QUANTILES
    expected: Collection[str] = ()
    floor: str | None = None
    seed: int = 1
    resamples: int = 1000


@dataclass(frozen=True, slots=True)
class Matched:
    """Rows of both arms that belong together; clusters number the prompts from 0."""

    base: array[int] = field(default_factory=lambda: array("L"))
    candidate: array[int] = field(default_factory=lambda: array("L"))
    clusters: array[int] = field(default_factory=lambda: array("L"))

    def add(self, base: int, candidate: int, cluster: int) -> None:
        """Take one pair."""
        self.base.append(base)
        self.candidate.append(candidate)
        self.clusters.append(cluster)


def matched(left: RunArm, right: RunArm, *, good: bool) -> Matched:
    """Rows with the same key on both sides, in the order of the base."""
    second = right.by_key(good=good)
    numbers: dict[int, int] = {}
    both = Matched()
    for key, row in left.by_key(good=good).items():
        other = second.get(key)
        if other is not None:
            both.add(row, other, numbers.setdefault(left.prompts[row], len(numbers)))
    return both


def series_of(left: RunArm, right: RunArm, both: Matched) -> dict[str, Pairs]:
    """Pairs of every metric; a metric that one side does not know is left out of that pair."""
    metrics = (*METRICS, SCHEDULED) if left.table.open_loop(both.base) else METRICS
    return {
        metric: _pairs(left.table.numbers[metric], right.table.numbers[metric], both) for metric in metrics
    }


def _pairs(first: Sequence[float], second: Sequence[float], both: Matched) -> Pairs:
    base, candidate, clusters = array("d"), array("d"), array("L")
    for a, b, cluster in zip(both.base, both.candidate, both.clusters, strict=True):
        one, two = first[a], second[b]
        if not isnan(one) and not isnan(two):
            base.append(one)
            candidate.append(two)
            clusters.append(cluster)
    return Pairs(base, candidate, clusters)
