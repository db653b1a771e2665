"""The largest open-loop rate that meets the objectives: bracket, bisect, decide each level by intervals.

Pure: the load is a function that is handed in. A level is extended until the interval of each objective
lies on one side of its limit, or the looks are used up; then it stays open, and open is no pass. Because a
level may be looked at several times, each look uses a stricter interval (Bonferroni), so that the chance of
a wrong word about a level stays at 5 %.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import sqrt
from typing import Any

from fwctl.measure.objectives import Judged, Objective, Verdict, judge, overall, time_of
from fwctl.stats.quantiles import estimate, quantile, samples_needed

Row = Mapping[str, Any]
ALPHA = 0.05
CLEAR = 2.0  # a time this far from its limit needs no second run
FACTOR = 2.0  # between two rates while the limit is not enclosed yet


class Sizes:
    """How a search spends its requests.

    precision: of the rate, relative (0.05: the limit is enclosed within 5 %). looks: most runs of one level.
    least, most: rates per second that are tried. levels: most levels in all.
    """

    def __init__(
        self,
        precision: float = 0.05,
        looks: int = 4,
        least: float = 0.01,
        most: float = 1000.0,
        levels: int = 24,
    ) -> None:
        self.precision = precision
        self.looks = looks
        self.least = least
        self.most = most
        self.levels = levels

    @property
    def confidence(self) -> float:
        return 1 - ALPHA / self.looks

    @property
    def requests(self) -> int:
        """Fewest requests of a look that can decide about a 95th percentile."""
        return samples_needed(0.95, self.confidence) + 10


@dataclass(frozen=True, slots=True)
class Sent:
    """One run at one rate: the measured records in order of arrival, how long they arrived (seconds), and
    why the run does not count, if so."""

    rows: Sequence[Row]
    seconds: float
    invalid: tuple[str, ...] = ()


# Rate per second and the number of the look (from 0) -> what came back.
Load = Callable[[float, int], Sent]


class Limit(StrEnum):
    """What ended a level that was not met."""

    OBJECTIVE = "objective"
    QUEUE = "queue_grows"
    OPEN = "open"
    HARNESS = "harness"


@dataclass(frozen=True, slots=True)
class Level:
    """One rate. looks: runs that were made. in_flight_p50, in_flight_p95: requests that an arriving one met,
    itself included. tokens_per_s: output of the whole level."""

    rate_per_s: float
    verdict: Verdict
    limit: Limit | None
    looks: int
    n: int
    judged: tuple[Judged, ...]
    in_flight_p50: float | None = None
    in_flight_p95: float | None = None
    tokens_per_s: float | None = None
    invalid: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        return {
            "rate_per_s": self.rate_per_s,
            "verdict": self.verdict.value,
            "limit": self.limit.value if self.limit else None,
            "looks": self.looks,
            "n": self.n,
            "objectives": [item.to_json() for item in self.judged],
            "in_flight_p50": self.in_flight_p50,
            "in_flight_p95": self.in_flight_p95,
            "output_tokens_per_s": self.tokens_per_s,
            "invalid_reasons": list(self.invalid),
        }


@dataclass(frozen=True, slots=True)
class Capacity:
    """best: the largest level that was shown to meet everything, None when none was. missed_per_s: the
    smallest rate that was shown to miss something. levels: in the order in which they ran."""

    best: Level | None
    missed_per_s: float | None
    levels: tuple[Level, ...] = field(default_factory=tuple)

    @property
    def rate_per_s(self) -> float | None:
        return self.best.rate_per_s if self.best else None

    @property
    def limited_by(self) -> str:
        """What stood in the way above `best`, in words."""
        above = [item for item in self.levels if self.best is None or item.rate_per_s > self.best.rate_per_s]
        nearest = min(above, key=lambda item: item.rate_per_s, default=None)
        if nearest is None:
            return "nothing up to the highest rate that was tried"
        if nearest.limit is Limit.HARNESS:
            return f"this machine: {'; '.join(nearest.invalid)}"
        if nearest.limit is Limit.QUEUE:
            return f"the queue, which grows without end at {nearest.rate_per_s:.3g}/s"
        worst = [item for item in nearest.judged if item.verdict is not Verdict.MET]
        names = ", ".join(item.objective.key for item in worst)
        word = "missed" if nearest.verdict is Verdict.MISSED else "not shown to be met"
        return f"{names}, {word} at {nearest.rate_per_s:.3g}/s"


def search(
    load: Load,
    objectives: Sequence[Objective],
    start_per_s: float,
    sizes: Sizes | None = None,
    watch: Callable[[Level], None] | None = None,
) -> Capacity:
    """Find the limit, beginning at `start_per_s`. watch: sees every level when it ends."""
    sizes = sizes or Sizes()
    levels: list[Level] = []

    def tried(rate: float) -> bool:
        level = decide(load, objectives, rate, sizes)
        levels.append(level)
        if watch is not None:
            watch(level)
        return level.verdict is Verdict.MET

    low, high = _bracket(tried, min(max(start_per_s, sizes.least), sizes.most), sizes)
    while low is not None and high is not None and high / low > 1 + sizes.precision:
        if len(levels) >= sizes.levels:
            break
        middle = sqrt(low * high)
        low, high = (middle, high) if tried(middle) else (low, middle)
    met = [item for item in levels if item.verdict is Verdict.MET]
    missed = [item.rate_per_s for item in levels if item.verdict is Verdict.MISSED]
    best = next((item for item in met if item.rate_per_s == low), None)
    return Capacity(best, min(missed, default=None), tuple(levels))


def _bracket(tried: Callable[[float], bool], rate: float, sizes: Sizes) -> tuple[float | None, float | None]:
    """A rate that is met and one that is not; None for the side that was not found within the bounds."""
    low: float | None = None
    high: float | None = None
    while low is None or high is None:
        if tried(rate):
            low = rate
            following = min(rate * FACTOR, sizes.most)
        else:
            high = rate
            following = max(rate / FACTOR, sizes.least)
        if following == rate or (low is not None and high is not None):
            break
        rate = following
    return low, high


def decide(load: Load, objectives: Sequence[Objective], rate: float, sizes: Sizes) -> Level:
    """One level: run, look, and run again while it is open, or decided by a little after one run only.

    The times of one run hang together, because its requests stand in one queue; only another run is
    independent of it.
    """
    runs: list[Sent] = []
    judged: tuple[Judged, ...] = ()
    verdict, limit = Verdict.OPEN, Limit.OPEN
    for look in range(sizes.looks):
        sent = load(rate, look)
        if sent.invalid:
            return Level(rate, Verdict.OPEN, Limit.HARNESS, look + 1, 0, (), invalid=sent.invalid)
        runs.append(sent)
        rows = [row for run in runs for row in run.rows]
        judged = judge(rows, objectives, confidence=sizes.confidence)
        verdict = overall(judged)
        growing = [growth(run, sizes.confidence) > sizes.precision / 2 for run in runs]
        limit = Limit.OPEN if verdict is Verdict.OPEN else Limit.OBJECTIVE
        if all(growing):
            verdict, limit = Verdict.MISSED, Limit.QUEUE
        elif any(growing) and verdict is Verdict.MET:
            verdict, limit = Verdict.OPEN, Limit.OPEN
        if verdict is not Verdict.OPEN and (look or _is_clear(judged, verdict)):
            break
    return _level(rate, runs, judged, verdict, limit)


def _is_clear(judged: Sequence[Judged], verdict: Verdict) -> bool:
    """True when one run is enough: every time is below half of its limit, or one is beyond twice of it."""
    shares = [
        item.value / item.objective.limit
        for item in judged
        if item.objective.metric is not None and item.value is not None and item.objective.limit
    ]
    if verdict is Verdict.MET:
        return all(share <= 1 / CLEAR for share in shares)
    return any(share >= CLEAR for share in shares)


def _level(
    rate: float, runs: Sequence[Sent], judged: tuple[Judged, ...], verdict: Verdict, limit: Limit
) -> Level:
    flights = [count for run in runs for count in in_flight(run.rows)]
    seconds = sum(run.seconds for run in runs)
    tokens = sum(int(row.get("output_tokens") or 0) for run in runs for row in run.rows)
    return Level(
        rate,
        verdict,
        None if verdict is Verdict.MET else limit,
        len(runs),
        sum(len(run.rows) for run in runs),
        judged,
        quantile(flights, 0.5) if flights else None,
        quantile(flights, 0.95) if flights else None,
        tokens / seconds if seconds and tokens else None,
    )


def growth(sent: Sent, confidence: float) -> float:
    """Seconds that the wait grows in a second; 0 where that is not shown.

    A server that takes in more than it gives out lets a request wait (arrivals / service - 1) seconds
    longer for each second that passes. Compared are the medians of the first and of the last third, whose
    intervals must lie apart, so that noise is not taken for growth.
    """
    waits = [wait for row in sent.rows if (wait := _wait(row)) is not None]
    third = len(waits) // 3
    first, last = estimate(waits[:third], 0.5, confidence), estimate(waits[-third:], 0.5, confidence)
    if first.value is None or last.value is None or first.high is None or last.low is None:
        return 0.0
    if last.low <= first.high:
        return 0.0
    return (last.value - first.value) / (sent.seconds * 2 / 3)


def _wait(row: Row) -> float | None:
    return time_of(row, "ttft_s") if row.get("error_class") is None else None


def in_flight(rows: Sequence[Row]) -> list[int]:
    """How many requests each arrival met, itself included. Records need `arrived_s` and `total_s`."""
    spans = [
        (row["arrived_s"], row["arrived_s"] + total)
        for row in rows
        if row.get("arrived_s") is not None and (total := time_of(row, "total_s")) is not None
    ]
    events = sorted([*((begin, 1) for begin, _ in spans), *((end, -1) for _, end in spans)])
    found, running = [], 0
    for _, step in events:
        running += step
        if step > 0:
            found.append(running)
    return found
