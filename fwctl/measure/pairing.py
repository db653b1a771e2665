"""Which requests of two runs belong together."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
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

    base: list[int]
    candidate: list[int]
    clusters: list[int]


def matched(left: RunArm, right: RunArm, *, good: bool) -> Matched:
    """Rows with the same key on both sides, in the order of the base."""
    first, second = left.by_key(good=good), right.by_key(good=good)
    keys = [key for key in first if key in second]
    numbers: dict[int, int] = {}
    clusters = [numbers.setdefault(left.prompts[first[key]], len(numbers)) for key in keys]
    return Matched([first[key] for key in keys], [second[key] for key in keys], clusters)


def series_of(left: RunArm, right: RunArm, both: Matched) -> dict[str, Pairs]:
    """Pairs of every metric; a metric that one side does not know is left out of that pair."""
    found = {}
    metrics = (*METRICS, SCHEDULED) if left.table.open_loop(both.base) else METRICS
    for metric in metrics:
        one, two = left.table.numbers[metric], right.table.numbers[metric]
        rows = [
            (one[a], two[b], cluster)
            for a, b, cluster in zip(both.base, both.candidate, both.clusters, strict=True)
            if not isnan(one[a]) and not isnan(two[b])
        ]
        if rows or metric != SCHEDULED:
            found[metric] = Pairs(
                [row[0] for row in rows], [row[1] for row in rows], [row[2] for row in rows]
            )
    return found
