"""The noise floor: how far two measurements of the same thing lie apart."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import exp, log
from typing import Any

from fwctl.measure.arm import RunArm
from fwctl.measure.pairing import Matched, Options, matched, series_of
from fwctl.stats.paired import Ratio, Verdict, compare_all
from fwctl.stats.resample import Pairs


@dataclass(frozen=True, slots=True)
class Floor:
    """Factor by metric and quantile that the same thing differed by beyond what chance explains.

    1.0 when the two measurements were no different. source: None when there was nothing to learn from.
    """

    source: str | None = None
    ratios: Mapping[tuple[str, float], Ratio] = field(default_factory=dict)

    def of(self, metric: str, q: float) -> float:
        """At least 1."""
        ratio = self.ratios.get((metric, q))
        if ratio is None or ratio.value is None or ratio.low is None or ratio.high is None:
            return 1.0
        return exp(abs(log(ratio.value))) if ratio.low > 1 or ratio.high < 1 else 1.0

    def to_json(self) -> dict[str, Any]:
        """`source`, and what was seen by metric and quantile."""
        seen = [
            {"metric": metric, "q": q, "ratio": ratio.value, "low": ratio.low, "high": ratio.high}
            for (metric, q), ratio in self.ratios.items()
        ]
        return {"source": self.source, "seen": seen}


def floor_of_run(base: RunArm, again: RunArm, options: Options) -> Floor:
    """From a second run of the base."""
    series = series_of(base, again, matched(base, again, good=True))
    return Floor(again.name, _ratios(series, options))


def floor_of_repeats(base: RunArm, options: Options) -> Floor:
    """From the even and odd repeats of the base; nothing when it has one repeat."""
    rows: dict[tuple[int, int, int], int] = {}
    load = base.table.words["load"]
    for row in base.table.good(base.table.all()):
        rows[base.prompts[row], base.repeats[row], load[row]] = row
    numbers: dict[int, int] = {}
    both = Matched()
    for (prompt, repeat, at), row in rows.items():
        other = rows.get((prompt, repeat + 1, at))
        if repeat % 2 == 0 and other is not None:
            both.add(row, other, numbers.setdefault(prompt, len(numbers)))
    if not both.base:
        return Floor()
    return Floor("repeats of the base", _ratios(series_of(base, base, both), options))


def _ratios(series: Mapping[str, Pairs], options: Options) -> dict[tuple[str, float], Ratio]:
    return compare_all(series, options.quantiles, resamples=options.resamples, seed=options.seed)


def over_floor(ratio: Ratio, floor: Floor, metric: str, q: float) -> Ratio:
    """The same ratio; a difference whose interval does not clear the floor shows nothing."""
    factor = floor.of(metric, q)
    if ratio.low is None or ratio.high is None or factor == 1.0:
        return ratio
    clears = ratio.low > factor if ratio.verdict is Verdict.WORSE else ratio.high < 1 / factor
    if ratio.verdict in (Verdict.BETTER, Verdict.WORSE) and not clears:
        return replace(ratio, verdict=Verdict.INCONCLUSIVE, n_needed=None)
    return ratio
