"""Resampling of paired samples whose pairs come in clusters (a prompt with its repeats).

Values are sorted once; a resample only changes how often each counts, so that a thousand resamples of a
thousand pairs take about a second in plain Python.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import floor
from random import Random


@dataclass(frozen=True, slots=True)
class Pairs:
    """Values of both arms and the cluster of each pair, numbered from 0; all of one length."""

    base: Sequence[float]
    candidate: Sequence[float]
    clusters: Sequence[int]

    def __len__(self) -> int:
        return len(self.base)


class Arm:
    """One arm, sorted. `quantile(weights, q)`: type 7 when cluster k occurs weights[k] times."""

    __slots__ = ("_clusters", "_values")

    def __init__(self, values: Sequence[float], clusters: Sequence[int]) -> None:
        order = sorted(range(len(values)), key=values.__getitem__)
        self._values = [values[at] for at in order]
        self._clusters = [clusters[at] for at in order]

    def quantiles(self, weights: Sequence[int], qs: Sequence[float]) -> list[float]:
        """One for each of `qs`; NaN when nothing has a weight."""
        return at_ranks(self._values, list(accumulate(map(weights.__getitem__, self._clusters))), qs)


def at_ranks(values: Sequence[float], upto: Sequence[int], qs: Sequence[float]) -> list[float]:
    """Type-7 quantiles of ascending values, `upto[i]` of which are values[0] to values[i]."""
    total = upto[-1] if upto else 0
    if not total:
        return [float("nan")] * len(qs)
    found = []
    for q in qs:
        place = (total - 1) * q
        below = floor(place)
        low = values[bisect_right(upto, below)]
        high = values[bisect_right(upto, min(below + 1, total - 1))]
        found.append(low + (high - low) * (place - below))
    return found


def drawn_clusters(n_clusters: int, resamples: int, seed: int) -> Iterator[list[int]]:
    """How often each cluster is drawn, once for each resample."""
    random = Random(seed)  # noqa: S311 - reproducible resampling, not a secret
    everyone = range(n_clusters)
    for _ in range(resamples):
        weights = [0] * n_clusters
        for cluster in random.choices(everyone, k=n_clusters):
            weights[cluster] += 1
        yield weights
